"""Growing top-level code, in pieces of bounded size. No Qt."""

import re
from dataclasses import replace

from app.markup.block import APART, Block, BlockKind
from app.markup.cuts import letters_of

# Code is cut into pieces of this size, each with a widget of its own.
CODE_PIECE_LINES = 500
CODE_PIECE_CHARS = 20_000


class OpenFence:
    """A code block at the top level whose end has not come yet, in pieces."""

    def __init__(self, mark: str, indent: int, info: str, start: int = 0) -> None:
        self._indent = indent
        self._language = language(info)
        self._end = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*\n?$")
        self._start_of_end = re.compile(rf" {{0,3}}{re.escape(mark[0])}*[ \t]*$")
        self._start = start  # in the text
        self._lines: list[str] = []
        self._chars = 0
        self._in_line = False
        self._joined = False

    @property
    def block(self) -> Block:
        text = "".join(self._lines)
        glue = "" if self._joined else APART
        return Block(
            BlockKind.CODE,
            text=text,
            language=self._language,
            closed=False,
            joined=self._joined,
            glue=glue,
            start=self._start,
        )

    @property
    def is_full(self) -> bool:
        return len(self._lines) >= CODE_PIECE_LINES or self._chars >= CODE_PIECE_CHARS

    def start_piece(self, start: int = 0) -> None:
        """Start a new block at this index of the text."""
        self._lines = []
        self._chars = 0
        self._joined = True
        self._start = start

    def finished(self, last_line: str) -> Block:
        if self.is_end(last_line):
            return replace(self.block, closed=True)
        self.add(last_line)
        return self.block

    def is_end(self, line: str) -> bool:
        return not self._in_line and bool(self._end.match(line))

    def may_end(self, partial_line: str) -> bool:
        return not self._in_line and bool(self._start_of_end.match(partial_line))

    def add(self, text: str) -> None:
        """A line, or a piece of one."""
        if not self._in_line:
            text = text[min(len(text) - len(text.lstrip(" ")), self._indent) :]
        self._lines.append(text)
        self._chars += letters_of(text)
        self._in_line = not text.endswith("\n")


def language(info: str) -> str:
    return info.split(maxsplit=1)[0].strip("{}.") if info.split() else ""
