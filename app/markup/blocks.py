"""Replies as top-level blocks: text, code, tables and formulas. No Qt.

Here: cutting Markdown into blocks, and doing so while it grows so that only the tail is read again.
Not here: how a block looks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from markdown_it.token import Token

from app.markup.parser import parse
from app.markup.tail import presentable, whole_graphemes

# What is longer is cut while it grows, or reading it again would cost more every time. MEASURED: 2 ms for 1,000
# characters of list, 0.3 ms of paragraph.
LONG_LIST_CHARS = 800
LONG_PARAGRAPH_CHARS = 4000

_TOP_FENCE = re.compile(r"(?P<indent> {0,3})(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)\n")
_LIST_START = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])\s")
_REFERENCE = re.compile(r"^ {0,3}\[[^\]\n]+\]:\s*\S", re.MULTILINE)
_CONTAINERS = ("blockquote", "bullet_list", "ordered_list", "list_item")


class BlockKind(StrEnum):
    TEXT = "text"
    CODE = "code"
    TABLE = "table"
    FORMULA = "formula"


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a reply. `tokens` for text and tables; `text` for code and formulas."""

    kind: BlockKind
    tokens: tuple[Token, ...] = ()
    text: str = ""
    language: str = ""
    closed: bool = True
    depth: int = 0  # how many lists and quotes it stands in
    joined: bool = False  # goes on with the list or quote above

    @property
    def heading(self) -> int:
        """1 to 6 for a heading, else 0."""
        is_heading = bool(self.tokens) and self.tokens[0].type == "heading_open"
        return int(self.tokens[0].tag[1]) if is_heading else 0


def split(source: str, *, streaming: bool = False) -> list[Block]:
    """All blocks of `source`."""
    return [block for block, _ in _split_with_lines(source, streaming=streaming)]


class Splitter:
    """The blocks of a reply that grows. INVARIANT: blocks before `frozen` never change again until `finish`."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.frozen = 0
        self.parsed_chars = 0  # in all, by every parse so far
        self._source: list[str] = []
        self._tail = ""
        self._fence: _OpenFence | None = None
        self._joined = False

    @property
    def source(self) -> str:
        return "".join(self._source)

    def append(self, text: str) -> int:
        """Takes more text; returns the index of the first block that may have changed."""
        first = self.frozen
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self._source.append(text)
        self._tail += text
        if self._fence is None:
            self._freeze_complete_lines(grew_by_line="\n" in text)
        if self._fence is not None:
            self._extend_fence()
        if self._fence is None:
            self._show_tail()
        return first

    def finish(self) -> int:
        """The text is complete; reads the tail for good, or everything when the end changes what stands above it."""
        unclosed = any(not block.closed for block in self.blocks[self.frozen :] if block.kind is BlockKind.FORMULA)
        if unclosed or _REFERENCE.search(self.source):
            first, self.frozen, self._joined = 0, 0, False
            self._tail, self._fence = self.source, None
        else:
            first = self.frozen
        if self._fence is not None:
            self.blocks[self.frozen :] = [self._fence.finished(self._tail)]
        else:
            self.blocks[self.frozen :] = self._read(self._tail, streaming=False)
        self.frozen, self._tail, self._fence = len(self.blocks), "", None
        return first

    def _read(self, source: str, *, streaming: bool) -> list[Block]:
        self.parsed_chars += len(source)
        blocks = split(source, streaming=streaming)
        if self._joined and blocks and blocks[0].kind is BlockKind.TEXT:
            blocks[0] = replace(blocks[0], joined=True)
        return blocks

    def _show_tail(self) -> None:
        shown = presentable(self._tail[: whole_graphemes(self._tail)])
        self.blocks[self.frozen :] = self._read(shown, streaming=True)

    def _freeze_complete_lines(self, *, grew_by_line: bool) -> None:
        """Everything above the last block of the complete lines can never be read differently."""
        complete = self._tail[: self._tail.rfind("\n") + 1]
        if complete and grew_by_line:
            self.parsed_chars += len(complete)
            parts = _split_with_lines(complete, streaming=True)
            last_line = parts[-1][1] if parts else 0
            self._freeze([block for block, line in parts if line < last_line], last_line, joined=False)
            self._fence = self._open_fence()
        if self._fence is None and _LIST_START.match(self._tail):
            self._cut_list()
        elif self._fence is None and len(self._tail) > LONG_PARAGRAPH_CHARS:
            self._cut_paragraph()

    def _freeze(self, blocks: list[Block], lines: int, *, joined: bool) -> None:
        if not lines:
            return
        if self._joined and blocks and blocks[0].kind is BlockKind.TEXT:
            blocks[0] = replace(blocks[0], joined=True)
        self.blocks[self.frozen :] = blocks
        self.frozen = len(self.blocks)
        self._tail = _without_lines(self._tail, lines)
        self._joined = joined

    def _cut_list(self) -> None:
        """A long list is cut before its last item."""
        complete = self._tail[: self._tail.rfind("\n") + 1]
        if len(complete) < LONG_LIST_CHARS:
            return
        self.parsed_chars += len(complete)
        tokens = parse(complete, streaming=True)
        items = [token.map[0] for token in tokens if token.type == "list_item_open" and token.level == 1 and token.map]
        if len(items) > 1:
            kept = "".join(complete.splitlines(keepends=True)[: items[-1]])
            self._freeze(split(kept, streaming=True), items[-1], joined=True)

    def _cut_paragraph(self) -> None:
        """A very long paragraph is cut after a space."""
        if parse(self._tail[:LONG_PARAGRAPH_CHARS])[0].type != "paragraph_open":
            return
        half = LONG_PARAGRAPH_CHARS // 2
        cut = self._tail.rfind(" ", 0, half) + 1 or half
        head, self._tail = self._tail[:cut], self._tail[cut:]
        self.blocks[self.frozen :] = self._read(head, streaming=True)
        self.frozen, self._joined = len(self.blocks), True

    def _open_fence(self) -> "_OpenFence | None":
        found = _TOP_FENCE.match(self._tail)
        if found is None or (found["mark"][0] == "`" and "`" in found["info"]):
            return None
        fence = _OpenFence(found["mark"], len(found["indent"]), found["info"].strip())
        self._tail = self._tail[found.end() :]
        return fence

    def _extend_fence(self) -> None:
        """Code only grows: complete lines are appended, nothing is parsed."""
        assert self._fence is not None
        fence = self._fence
        while (line_end := self._tail.find("\n")) >= 0:
            line, self._tail = self._tail[: line_end + 1], self._tail[line_end + 1 :]
            if fence.is_end(line):
                self.blocks[self.frozen :] = [replace(fence.block, closed=True)]
                self.frozen, self._fence, self._joined = len(self.blocks), None, False
                return self._freeze_complete_lines(grew_by_line=True)
            fence.add(line)
        shown = "" if fence.may_end(self._tail) else self._tail[: whole_graphemes(self._tail)]
        self.blocks[self.frozen :] = [replace(fence.block, text=fence.code + shown)]
        return None


class _OpenFence:
    """A code block at the top level whose end has not come yet."""

    def __init__(self, mark: str, indent: int, info: str) -> None:
        self.code = ""
        self._mark = mark
        self._indent = indent
        self._language = _language(info)
        self._end = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*\n?$")
        self._start_of_end = re.compile(rf" {{0,3}}{re.escape(mark[0])}*[ \t]*$")

    @property
    def block(self) -> Block:
        return Block(BlockKind.CODE, text=self.code, language=self._language, closed=False)

    def finished(self, last_line: str) -> Block:
        if self.is_end(last_line):
            return replace(self.block, closed=True)
        self.add(last_line)
        return self.block

    def is_end(self, line: str) -> bool:
        return bool(self._end.match(line))

    def may_end(self, partial_line: str) -> bool:
        return bool(self._start_of_end.match(partial_line))

    def add(self, line: str) -> None:
        indent = len(line) - len(line.lstrip(" "))
        self.code += line[min(indent, self._indent) :]


def _split_with_lines(source: str, *, streaming: bool) -> list[tuple[Block, int]]:
    """Blocks with the line on which the top-level thing that they come from starts."""
    lines = source.split("\n")
    result: list[tuple[Block, int]] = []
    for group in _top_level(parse(source, streaming=streaming)):
        start = group[0].map[0] if group[0].map else 0
        result.extend((block, start) for block in _pieces(group, lines))
    return result


def _top_level(tokens: list[Token]) -> Iterator[list[Token]]:
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield group
            group = []


def _pieces(group: list[Token], lines: list[str]) -> Iterator[Block]:
    """Text with code, tables and formulas lifted out, so that each can have a widget of its own."""
    opened: list[Token] = []
    text: list[Token] = []
    joined = False
    position = 0
    while position < len(group):
        token = group[position]
        island, length = _island(group, position, lines)
        if island is not None:
            yield from _text_piece(text, opened, joined=joined)
            yield replace(island, depth=len([each for each in opened if each.type != "list_item_open"]), joined=joined)
            joined, text = True, [_continued(each) for each in opened]
        else:
            _track(opened, token)
            text.append(token)
        position += length
    yield from _text_piece(text, opened, joined=joined)


def _island(group: list[Token], position: int, lines: list[str]) -> tuple[Block | None, int]:
    token = group[position]
    if token.type == "fence":
        closed = _is_closed(token, lines)
        return Block(BlockKind.CODE, text=token.content, language=_language(token.info), closed=closed), 1
    if token.type == "math_block":
        return Block(BlockKind.FORMULA, text=token.content, closed=bool(token.meta.get("closed", True))), 1
    if token.type == "table_open":
        length = next(i for i, each in enumerate(group[position:]) if each.type == "table_close") + 1
        return Block(BlockKind.TABLE, tuple(group[position : position + length])), length
    return None, 1


def _text_piece(text: list[Token], opened: list[Token], *, joined: bool) -> Iterator[Block]:
    if any(token.type not in _CONTAINER_TYPES for token in text):
        closers = [_closer(token) for token in reversed(opened)]
        yield Block(BlockKind.TEXT, (*text, *closers), joined=joined)


_CONTAINER_TYPES = frozenset(f"{name}_{end}" for name in _CONTAINERS for end in ("open", "close"))


def _track(opened: list[Token], token: Token) -> None:
    if token.type in _CONTAINER_TYPES:
        if token.nesting > 0:
            opened.append(token)
        else:
            opened.pop()


def _continued(token: Token) -> Token:
    """The same container once more, without a marker: its item began above."""
    return token.copy(meta={**token.meta, "continued": True}) if token.type == "list_item_open" else token


def _closer(token: Token) -> Token:
    return Token(token.type.replace("_open", "_close"), token.tag, -1, level=token.level)


def _is_closed(fence: Token, lines: list[str]) -> bool:
    if fence.map is None or fence.map[1] - fence.map[0] < 2:
        return False
    last = lines[fence.map[1] - 1].strip().lstrip("> ")
    return len(last) >= len(fence.markup) and not last.strip(fence.markup[0])


def _language(info: str) -> str:
    return info.split(maxsplit=1)[0].strip("{}.") if info.split() else ""


def _without_lines(text: str, count: int) -> str:
    position = 0
    for _ in range(count):
        position = text.index("\n", position) + 1
    return text[position:]
