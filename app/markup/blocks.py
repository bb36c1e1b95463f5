"""Splits replies into top-level blocks (text, code, tables, formulas), incrementally while they grow. No Qt.

Only the tail is parsed again, and what may still change its look is held back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from io import IncrementalNewlineDecoder
from itertools import accumulate, takewhile

from markdown_it.token import Token

from app.markup.block import APART, LIST, NOTE, QUOTE, Block, BlockKind
from app.markup.cuts import LONGEST_PIECE, cut_before, pieces, reach
from app.markup.open_fence import OpenFence, language
from app.markup.parser import parse
from app.markup.plain_growth import grown

# What is longer is cut while it grows, or reading it again would cost more every time. MEASURED: 2 ms for 1,000
# characters of list, 0.3 ms of paragraph.
LONG_LIST_CHARS = 800
LONG_LIST_LINES = 40
LONG_TABLE_CHARS = 2500
LONG_TABLE_LINES = 30
LONG_TABLE_CELLS = 600  # MEASURED: 70 µs each
LONG_PARAGRAPH_CHARS = 4000
LONG_PARAGRAPH_LINES = 80
MANY_FORMULA_MARKS = 200
# Code in a list or quote is cut as late as that, because the second half of it is not seen to be code.
LONG_NESTED_CODE = 2
# Longer texts are not searched for link definitions at their end.
LONGEST_READ_AGAIN = 16_000

_TOP_FENCE = re.compile(r"(?P<indent> {0,3})(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)\n")
_FORMULA_MARK = re.compile(r"\$|\\\(")
_TABLE_HEAD = re.compile(r" {0,3}(?=[^\n|]*\|)[^\n]{1,1500}\n {0,3}(?=[|:\- ]*-)[|:\- ]{1,1500}\n")
_LIST_START = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])\s")
_REFERENCE = re.compile(r"^[ \t>*+\-\d.)]*\[(?!\^)[^\]\n]+\]:\s*\S", re.MULTILINE)  # also in lists and quotes
_CONTAINERS = ("blockquote", "bullet_list", "ordered_list", "list_item", "footnote_reference")
_MARKED = ("list_item_open", "footnote_reference_open")

Where = tuple[str, int]  # what encloses a block, and how much of that also encloses the block above
# No part of these can match what the next one matches, or rows of marks and blank lines would take quadratic time.
_MARKS_ONLY = re.compile(r"[-+*=_~`#|$\\:>\s\[\]]*$|[\s>]*(?:\d{1,9}[.)]?|(?:\d{1,9}[.)]|[-+*])\s+\[[xX]\]?)\s*$")
_FENCE_START = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(?:```|~~~|\$\$|\\\[)")
_FENCE_LINE = re.compile(r"^[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(?:```|~~~)", re.MULTILINE)
_MAY_END_CODE = re.compile(r"[ \t>]*(?:`+|~+)[ \t]*$")
_EMPHASIS_MARKS = "*_~`"
_NO_MARKS = re.compile(r"`[^`]*`|(?<!\S)(?:\*\*|~~)(?!\S)")  # code, and marks between spaces
_LONE_STAR = re.compile(r"(?:^|[\s(])\*(?=[^\s*])[^*]*$")
_OPEN_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*(?:\)[^()\s]*|$))*(?:\s+\"[^\"]*\"?)?$")
_OPEN_BREAK = re.compile(r"\s?<(?:br?)?\s*/?$", re.IGNORECASE)
_OPEN_NOTE_MARK = re.compile(r"\[\^[\w-]{0,31}$")
# The start of a note: a mark until its colon comes.
_NOTE_START = re.compile(r" {0,3}\[\^[^\]\s]{0,40}\]?:?[ \t]*$")
# What is in the group stays: a `$` in code, after a backslash, or of a formula that is closed opens none.
_OPEN_FORMULA = re.compile(
    r"(`[^`]*(?:`|$)|\\[^(]|\$\$[^$]+\$\$|(?<!\d)\$(?=[^\s$])(?:[^$\\`]|\\.)+(?<!\s)\$(?!\d))"
    r"|(?<![0-9A-Za-z_$])\$(?:(?=[^\s\d$])[^$]{0,300}|\$(?=[^\s\d$])[^$]{0,300}\$?|\$?)$|\\\((?:(?!\\[()]).){0,300}$"
)
_NOT_YET = (_MARKS_ONLY, _FENCE_START, _NOTE_START)
_ZWJ = "\u200d"
_KINDS = {
    "bullet_list_open": LIST,
    "ordered_list_open": LIST,
    "blockquote_open": QUOTE,
    "footnote_reference_open": NOTE,
}
_CONTAINER_TYPES = frozenset(f"{name}_{end}" for name in _CONTAINERS for end in ("open", "close"))


def split(source: str, *, streaming: bool = False) -> list[Block]:
    """All blocks of `source`."""
    return [block for block, _ in _split_with_lines(_line_feeds().decode(source, final=True), streaming=streaming)]


def _line_feeds() -> IncrementalNewlineDecoder:
    """Makes every line end a line feed. A carriage return waits for what follows, and at the end it is of no use."""
    return IncrementalNewlineDecoder(None, translate=True)


class Splitter:
    """The blocks of a reply that grows. INVARIANT: blocks before `frozen` never change again until `finish`."""

    def __init__(self, fence: OpenFence | None = None) -> None:
        """`fence`: of code that was opened above."""
        self.blocks: list[Block] = []
        self.frozen = 0
        self._source: list[str] = []
        self._tail = ""
        self._taken = 0  # characters of the text that the tail ends with
        self._fence = fence
        self._joined = False
        self._line_feeds = _line_feeds()
        self._glue = APART  # of the next block
        self._shown = (0, 0, "")  # the tail as it was read last: after how many blocks, from where on

    @property
    def source(self) -> str:
        return "".join(self._source)

    def append(self, text: str, *, shown: bool = True) -> int:
        """Append text; returns the index of the first block that may have changed.

        `shown`: whether to include the last, incomplete block; not needed if `finish` follows.
        """
        first = self.frozen
        text = self._line_feeds.decode(text)
        self._source.append(text)
        for piece in _slices(text):
            self._take(piece)
        if shown and self._fence is None:
            self._show_tail()
        elif shown:
            self._show_code()
        return first

    def _take(self, text: str) -> None:
        self._tail += text
        self._taken += len(text)
        grew_by_line = "\n" in text
        while self._fence is None or self._extend_fence():
            self._freeze_complete_lines(grew_by_line=grew_by_line)
            if self._fence is None:
                return
            grew_by_line = True

    def finish(self) -> int:
        """The text is complete: parse the tail, or everything if the end changes earlier blocks."""
        source = self.source
        unclosed = any(not block.closed for block in self.blocks[self.frozen :] if block.kind is BlockKind.FORMULA)
        if len(source) <= LONGEST_READ_AGAIN and (unclosed or _REFERENCE.search(source)):
            first = 0
            self.frozen = 0
            self._joined = False
            self._tail = source
            self._fence = None
            self._glue = APART
        else:
            first = self.frozen
        if self._fence is not None:
            self.blocks[self.frozen :] = [self._fence.finished(self._tail)]
        else:
            self.blocks[self.frozen :] = self._read(self._tail, streaming=False)
        self.frozen = len(self.blocks)
        self._tail = ""
        self._fence = None
        return first

    def _read(self, source: str, *, streaming: bool) -> list[Block]:
        return self._placed(split(source, streaming=streaming))

    @property
    def _tail_start(self) -> int:
        """Index of the tail in the text; that of a cut table begins with a copy of its head."""
        return self._taken - len(self._tail)

    def _placed(self, blocks: list[Block]) -> list[Block]:
        """Blocks of the tail, on their place in the text."""
        blocks = [replace(block, start=self._tail_start + block.start) for block in blocks]
        if self._joined and blocks and blocks[0].kind in (BlockKind.TEXT, BlockKind.TABLE):
            blocks[0] = replace(blocks[0], joined=True, glue=self._glue)
        return blocks

    def _show_tail(self) -> None:
        shown = presentable(self._tail[: whole_graphemes(self._tail)])
        *place, before = self._shown
        is_longer = place == [self.frozen, self._tail_start] and bool(before) and shown.startswith(before)
        longer = grown(self.blocks[-1], before, shown[len(before) :]) if is_longer and self.blocks else None
        if longer is not None:
            self.blocks[-1] = longer
        else:
            self.blocks[self.frozen :] = self._read(shown, streaming=True)
        self._shown = (self.frozen, self._tail_start, shown)

    def _freeze_complete_lines(self, *, grew_by_line: bool) -> None:
        """Freeze blocks before the last one of the complete lines: they cannot change."""
        complete = self._tail[: self._tail.rfind("\n") + 1]
        if not complete.strip(" \t\n"):  # Python takes more for a space than Markdown does
            self._tail = self._tail[len(complete) :]
            complete = ""
        if complete and grew_by_line:
            parts = _split_with_lines(complete, streaming=True)
            last_line = parts[-1][1] if parts else 0
            self._freeze([block for block, line in parts if line < last_line], last_line, joined=False)
            self._fence = self._open_fence()
        if grew_by_line and self._fence is None and _LIST_START.match(self._tail):
            self._cut_list()
        while self._fence is None and self._cut_long_tail():
            pass

    def _freeze(self, blocks: list[Block], lines: int, *, joined: bool) -> None:
        if not lines:
            return
        self.blocks[self.frozen :] = self._placed(blocks)
        self.frozen = len(self.blocks)
        self._tail = self._tail.split("\n", lines)[lines]
        self._joined = joined
        self._glue = "\n" if joined else APART

    def _cut_list(self) -> None:
        """A long list is cut before its last item."""
        complete = self._tail[: self._tail.rfind("\n") + 1]
        if len(complete) < LONG_LIST_CHARS and complete.count("\n") < LONG_LIST_LINES:
            return
        tokens = parse(complete, streaming=True)
        items = [token.map[0] for token in tokens if token.type == "list_item_open" and token.level == 1 and token.map]
        if len(items) > 1:
            kept = complete.removesuffix(complete.split("\n", items[-1])[-1])
            self._freeze(split(kept, streaming=True), items[-1], joined=True)

    def _cut_long_tail(self) -> bool:
        """Freeze the first part of a long tail; returns whether it did."""
        head = _TABLE_HEAD.match(self._tail)
        if head is not None and self._cut_table(head):
            return True
        times = LONG_NESTED_CODE if in_nested_code(self._tail) else 1
        most_chars = times * LONG_PARAGRAPH_CHARS
        most_lines = times * LONG_PARAGRAPH_LINES
        if len(_FORMULA_MARK.findall(self._tail)) > MANY_FORMULA_MARKS:
            most_chars //= 4
        if reach(self._tail, 0, most_chars) == len(self._tail) and self._tail.count("\n") <= most_lines:
            return False
        half = _after_lines(self._tail, most_lines // 2, most_chars // 2)
        cut = self._tail.rfind("\n", half // 2, half) + 1 or cut_before(self._tail, half, half // 2)
        above = self._tail[:cut]
        below = self._tail[cut:]
        self._cut(above, below, above[-1] if above[-1].isspace() else "")
        return True

    def _cut_table(self, head: re.Match[str]) -> bool:
        """The rows below the cut get the same head."""
        columns = head[0].partition("\n")[0].count("|")
        most_lines = min(LONG_TABLE_LINES, max(1, LONG_TABLE_CELLS // columns))
        end = _after_lines(self._tail, most_lines, LONG_TABLE_CHARS, head.end())
        cut = self._tail.rfind("\n", head.end(), end) + 1
        if cut <= head.end() or cut == len(self._tail) or end == len(self._tail):
            return False
        self._cut(self._tail[:cut], head[0] + self._tail[cut:], "\n")
        return True

    def _cut(self, above: str, below: str, glue: str) -> None:
        self.blocks[self.frozen :] = self._read(above, streaming=True)
        self.frozen = len(self.blocks)
        self._joined = True
        self._glue = glue
        self._tail = below

    def _open_fence(self) -> OpenFence | None:
        found = _TOP_FENCE.match(self._tail)
        if found is None or (found["mark"][0] == "`" and "`" in found["info"]):
            return None
        fence = OpenFence(found["mark"], len(found["indent"]), found["info"].strip(), self._tail_start)
        self._tail = self._tail[found.end() :]
        return fence

    def _extend_fence(self) -> bool:
        """Append code without parsing. Returns whether the fence was closed."""
        assert self._fence is not None
        fence = self._fence
        while (line_end := self._tail.find("\n")) >= 0:
            line = self._tail[: line_end + 1]
            self._tail = self._tail[line_end + 1 :]
            if fence.is_end(line):
                self._freeze_code(replace(fence.block, closed=True))
                self._fence = None
                self._joined = False
                self._glue = APART
                return True
            self._add_code(line)
        if len(self._tail) > LONGEST_PIECE:
            line = self._tail
            self._tail = ""
            self._add_code(line)
        return False

    def _add_code(self, line: str) -> None:
        """Takes a line that was the beginning of the tail."""
        assert self._fence is not None
        start = self._tail_start - len(line)
        for piece in pieces(line):
            if self._fence.is_full:
                self._freeze_code(replace(self._fence.block, closed=True, goes_on=True))
                self._fence.start_piece(start)
            self._fence.add(piece)
            start += len(piece)

    def _freeze_code(self, block: Block) -> None:
        self.blocks[self.frozen :] = [block]
        self.frozen = len(self.blocks)

    def _show_code(self) -> None:
        assert self._fence is not None
        block = self._fence.block
        shown = "" if self._fence.is_end(self._tail) or self._fence.may_end(self._tail) else self._tail
        self.blocks[self.frozen :] = [replace(block, text=block.text + shown[: whole_graphemes(shown)])]


def _slices(text: str) -> Iterator[str]:
    """Slices that are small enough to be parsed with the tail each time."""
    start = 0
    while len(text) - start > LONG_PARAGRAPH_CHARS:
        end = start + LONG_PARAGRAPH_CHARS
        end = text.rfind("\n", start + LONG_PARAGRAPH_CHARS // 2, end) + 1 or end
        yield text[start:end]
        start = end
    yield text[start:]


def _split_with_lines(source: str, *, streaming: bool) -> list[tuple[Block, int]]:
    """Blocks with the line on which the top-level thing that they come from starts."""
    lines = source.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    result: list[tuple[Block, int]] = []
    for group in _top_level(parse(source, streaming=streaming)):
        first = group[0].map[0] if group[0].map else 0
        pieces_of_group = _pieces(group, lines)
        result.extend((replace(block, start=starts[line]), first) for block, line in pieces_of_group)
    return result


def _top_level(tokens: list[Token]) -> Iterator[list[Token]]:
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield group
            group = []


def _pieces(group: list[Token], lines: list[str]) -> Iterator[tuple[Block, int]]:
    """Text with code, tables and formulas taken out, since each has a widget of its own; with their lines."""
    opened: list[Token] = []
    above: list[Token] = []  # what the last words, code, table or formula are in
    text: list[Token] = []
    where: Where | None = None  # of the text, from its first word on
    joined = False
    position = 0
    while position < len(group):
        token = group[position]
        island, length = _island(group, position, lines)
        if island is not None:
            if text and text[-1].type in _MARKED and "continued" not in text[-1].meta:
                text += _empty_paragraph(text[-1])  # for the marker
                where = where or _where(opened, above)
                above = list(opened)
            yield from _text_piece(text, opened, where, joined=joined)
            inside, shared = _where(opened, above)
            yield replace(island, inside=inside, shared=shared, joined=joined), _line_of([token])
            joined = True
            text = [_continued(each) for each in opened]
            above = list(opened)
            where = None
        elif token.type in _CONTAINER_TYPES:
            _track(opened, token)
            text.append(token)
        else:
            if not text or text[-1].type in _CONTAINER_TYPES:
                where = where or _where(opened, above)
                above = list(opened)
            text.append(token)
        position += length
    yield from _text_piece(text, opened, where, joined=joined)


def _empty_paragraph(item: Token) -> tuple[Token, Token, Token]:
    inline = Token("inline", "", 0, map=item.map, children=[])
    return Token("paragraph_open", "p", 1, map=item.map), inline, Token("paragraph_close", "p", -1)


def _where(opened: list[Token], above: list[Token]) -> Where:
    """Of something with `opened` around it."""
    same = takewhile(lambda pair: pair[0] is pair[1], zip(opened, above, strict=False))
    inside = "".join(_KINDS.get(each.type, "") for each in opened)
    return inside, sum(each.type in _KINDS for each, _ in same)


def _island(group: list[Token], position: int, lines: list[str]) -> tuple[Block | None, int]:
    token = group[position]
    if token.type == "fence":
        closed = _is_closed(token, lines)
        return Block(BlockKind.CODE, text=token.content, language=language(token.info), closed=closed), 1
    if token.type == "code_block":
        return Block(BlockKind.CODE, text=token.content), 1
    if token.type == "math_block":
        return Block(BlockKind.FORMULA, text=token.content, closed=bool(token.meta.get("closed", True))), 1
    if token.type == "table_open":
        length = next(i for i, each in enumerate(group[position:]) if each.type == "table_close") + 1
        return Block(BlockKind.TABLE, tuple(group[position : position + length])), length
    return None, 1


def _text_piece(
    text: list[Token], opened: list[Token], where: Where | None, *, joined: bool
) -> Iterator[tuple[Block, int]]:
    if where is not None:
        inside, shared = where
        ends = ((token.type.replace("_open", "_close"), token) for token in reversed(opened))
        closers = [Token(end, token.tag, -1, level=token.level) for end, token in ends]
        block = Block(BlockKind.TEXT, (*text, *closers), inside=inside, shared=shared, joined=joined)
        yield block, _line_of([token for token in text if token.type not in _CONTAINER_TYPES])


def _line_of(tokens: list[Token]) -> int:
    return next((token.map[0] for token in tokens if token.map), 0)


def _track(opened: list[Token], token: Token) -> None:
    if token.nesting > 0:
        opened.append(token)
    else:
        opened.pop()


def _continued(token: Token) -> Token:
    """The same container once more, without a marker: its item or note began above."""
    return token.copy(meta={**token.meta, "continued": True}) if token.type in _MARKED else token


def _is_closed(fence: Token, lines: list[str]) -> bool:
    if fence.map is None or fence.map[1] - fence.map[0] < 2:
        return False
    last = lines[fence.map[1] - 1].strip().lstrip("> ")
    return len(last) >= len(fence.markup) and not last.strip(fence.markup[0])


def _after_lines(text: str, lines: int, most_chars: int, start: int = 0) -> int:
    """After that many lines or characters, whichever is less."""
    end = start
    most = reach(text, start, most_chars)
    for _ in range(lines):
        end = text.find("\n", end) + 1
        if not 0 < end <= most:
            return most
    return end


# The part of a growing reply's tail that can be shown without changing later: whole grapheme clusters, and no open
# marks or incomplete lines.


def whole_graphemes(text: str) -> int:
    """Characters of `text` that can be shown: the last cluster waits if it may grow."""
    end = len(text)
    while end > 0 and (text[end - 1] == _ZWJ or _may_grow(text[end - 1])):
        end -= 1
        if len(text) - end > 12:  # a line of emoji is not one cluster
            return len(text)
    return end


def _may_grow(char: str) -> bool:
    """Emoji, flags' halves, variation selectors, skin tones and conjoining jamo."""
    code = ord(char)
    return (
        0x1F000 <= code <= 0x1FAFF
        or 0x1100 <= code <= 0x11FF
        or 0xFE00 <= code <= 0xFE0F
        or (0x2600 <= code <= 0x27BF and unicodedata.category(char) == "So")
    )


def in_nested_code(text: str) -> bool:
    return ("```" in text or "~~~" in text) and len(_FENCE_LINE.findall(text)) % 2 == 1


def presentable(tail: str) -> str:
    """`tail` without what might look different a moment later, and with open emphasis closed."""
    kept, last_line = _split_last_line(tail)
    if in_nested_code(kept):
        return kept if _MAY_END_CODE.match(last_line) else tail
    if any(each.match(last_line) for each in _NOT_YET) or last_line.lstrip().startswith("|"):
        last_line = ""
    if not last_line:
        return _without_lone_table_head(kept)
    return kept + _closed(last_line)


def _split_last_line(text: str) -> tuple[str, str]:
    cut = text.rfind("\n") + 1
    return text[:cut], text[cut:]


def _without_lone_table_head(kept: str) -> str:
    """A table's first row is a paragraph until the row of dashes comes."""
    above, head = _split_last_line(kept.removesuffix("\n"))
    before = above.rstrip("\n").rpartition("\n")[2]
    if head.lstrip().startswith("|") and not before.lstrip().startswith("|"):
        return above
    return kept


def _without_trailing_marks(line: str) -> str:
    kept = line.rstrip(_EMPHASIS_MARKS)
    return line[: len(kept) + 1] if kept.endswith("\\") else kept


def _closed(line: str) -> str:
    line = _OPEN_FORMULA.sub(r"\1", _without_trailing_marks(line))
    line = _OPEN_BREAK.sub("", _OPEN_NOTE_MARK.sub("", line))
    line = _OPEN_LINK.sub(r"\1", line)
    if line.count("`") % 2:
        return line + "`"
    prose = _NO_MARKS.sub("", line)
    for mark in ("**", "~~"):
        if prose.count(mark) % 2:
            return line.rstrip() + mark
    return line.rstrip() + "*" if _LONE_STAR.search(prose) else line
