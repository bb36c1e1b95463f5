"""Splits a long text into sections, which are parsed when they become visible. No Qt, no parsing.

Replies are cut between blocks and inside of code, user messages between lines.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from app.markup.cuts import cut_before, reach
from app.markup.open_fence import OpenFence

LONGEST_WHOLE = 16_000  # a shorter text is one section,
MOST_LINES_WHOLE = 1_000  # unless it has more lines: each may be a block of its own
_SECTION_CHARS = 4_000
_SECTION_LINES = 250
_PLAIN_CHARS = 4_000
_PLAIN_LINES = 500
_MOST_FENCES = 10_000  # above that fences are not taken for code
_WORDS = re.compile(r"\S|.\Z", re.DOTALL)  # or the end, which is in a section


class Fence(NamedTuple):
    """The line that opens code."""

    mark: str
    indent: int
    info: str


@dataclass(frozen=True, slots=True)
class Section:
    """A range of a text. `fence`: the code block that it begins in."""

    start: int
    end: int
    fence: Fence | None = None
    glue: str = ""  # separator from the section above; part of neither

    def open_fence(self) -> OpenFence | None:
        if self.fence is None:
            return None
        fence = OpenFence(self.fence.mark, self.fence.indent, self.fence.info)
        fence.start_piece()
        return fence


def sections(text: str) -> list[Section]:
    """A reply's text, cut between paragraphs if possible."""
    if len(text) <= LONGEST_WHOLE and text.count("\n") <= MOST_LINES_WHOLE:
        return [Section(0, len(text))]
    lines = _fence_lines(text)
    ahead = next(lines, None)
    fence: Fence | None = None
    result: list[Section] = []
    start = 0
    while start < len(text):
        end = _end_of_section(text, start)
        if end == len(text) or not text[start:end].isspace():
            result.append(Section(start, end, fence))
        elif words := _WORDS.search(text, end):  # to their line, or to themselves where that is half over
            end = text.rfind("\n", end, words.start()) + 1 or words.start()
        while ahead is not None and ahead[0] < end:
            fence = _after(fence, ahead[1])
            ahead = next(lines, None)
        start = end
    return result


def _end_of_section(text: str, start: int) -> int:
    end = _end_within(text, start, _SECTION_CHARS, _SECTION_LINES)
    if end == len(text):
        return end
    least = start + (end - start) // 2
    for separator in ("\n\n", "\n"):
        found = text.rfind(separator, least, end)
        if found >= 0:
            return found + len(separator)
    return cut_before(text, end, least)


def _fence_lines(text: str) -> Iterator[tuple[int, Fence]]:
    """The lines that may open or close code, with where their marks start."""
    for start, end in sorted(_rows(text, "```") + _rows(text, "~~~"))[:_MOST_FENCES]:
        _, newline, indent = text[max(0, start - 4) : start].rpartition("\n")
        if (newline or start < 4) and not indent.strip(" "):
            line_end = text.find("\n", end)
            info = text[end : line_end if line_end >= 0 else len(text)]
            yield start, Fence(text[start:end], len(indent), info.strip())


def _rows(text: str, mark: str) -> list[tuple[int, int]]:
    """Where rows of these characters, at least as long as `mark`, start and end."""
    rows: list[tuple[int, int]] = []
    row = re.compile(f"{mark[0]}*")
    end = 0
    while len(rows) < _MOST_FENCES and (start := text.find(mark, end)) >= 0:
        end = start + len(mark)
        if text.startswith(mark[0], end):  # longer ones are rare, and a match takes as long as all else here
            found = row.match(text, end)
            end = found.end() if found else end
        rows.append((start, end))
    return rows


def _after(fence: Fence | None, line: Fence) -> Fence | None:
    """The fence that is open below `line`, where `fence` is open above it."""
    if fence is None:
        return None if line.mark[0] == "`" and "`" in line.info else line
    closes = line.mark.startswith(fence.mark) and not line.info
    return None if closes else fence


def plain_sections(text: str) -> Iterator[Section]:
    """A user message, cut at line ends if possible; the line end belongs to neither side."""
    start = 0
    glue = ""
    while True:
        end, skipped = _end_of_plain(text, start)
        yield Section(start, end, glue=glue)
        glue = text[end : end + skipped]
        start = end + skipped
        if end >= len(text):
            return


def _end_of_plain(text: str, start: int) -> tuple[int, int]:
    end = _end_within(text, start, _PLAIN_CHARS, _PLAIN_LINES)
    if end == len(text):
        return end, 0
    line_end = text.rfind("\n", start + (end - start) // 4, end)
    if line_end >= 0:
        return line_end, 1
    return cut_before(text, end, start + (end - start) // 2), 0


def _end_within(text: str, start: int, chars: int, lines: int) -> int:
    """The end of at most so many characters with at most so many line ends; shorter where lines are uneven."""
    end = reach(text, start, chars)
    while (found := text.count("\n", start, end)) > lines:
        end = start + (end - start) * lines // found
    return end
