"""A long text as sections that can be read one by one, when they come into sight. No Qt, no parsing.

Here: cutting replies between blocks and inside of code, and what the user wrote between lines.
Not here: reading a section (`blocks.Splitter`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import islice

from app.markup.cuts import cut_before
from app.markup.open_fence import OpenFence

LONGEST_WHOLE = 16_000  # a shorter text is one section,
MOST_LINES_WHOLE = 1_000  # unless it has more lines: each may be a block of its own
_SECTION_CHARS = 4_000
_SECTION_LINES = 250
_PLAIN_CHARS = 4_000
_PLAIN_LINES = 1000
_MOST_FENCES = 20_000  # a text with more of them is no code
_FENCE = re.compile(r"(?P<indent> {0,3})(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)")
_ROW = re.compile("`+|~+")


@dataclass(frozen=True, slots=True)
class Fence:
    """The line that opens code."""

    mark: str
    indent: int
    info: str


@dataclass(frozen=True, slots=True)
class Section:
    """One range of a text. `fence` opened the code that it begins in."""

    start: int
    end: int
    fence: Fence | None = None
    glue: str = ""  # what was between it and the one above; part of neither

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
        while ahead is not None and ahead[0] < end:
            fence = _after(fence, ahead[1])
            ahead = next(lines, None)
        start = end
    return result


def _end_of_section(text: str, start: int) -> int:
    end = min(len(text), start + _SECTION_CHARS)
    line_end = _end_of_lines(text, start, end, _SECTION_LINES)
    if line_end < 0 and end == len(text):
        return end
    end = line_end + 1 if line_end >= 0 else end
    least = start + (end - start) // 2
    for separator in ("\n\n", "\n"):
        found = text.rfind(separator, least, end)
        if found >= 0:
            return found + len(separator)
    return cut_before(text, end, least)


def _fence_lines(text: str) -> Iterator[tuple[int, Fence]]:
    """The lines that may open or close code, with where they start."""
    for start in islice(merge(_places(text, "```"), _places(text, "~~~")), _MOST_FENCES):
        line = _FENCE.match(text, text.rfind("\n", max(0, start - 4), start) + 1)
        if line is not None and line.start("mark") == start:
            yield line.start(), Fence(line["mark"], len(line["indent"]), line["info"].strip())


def _places(text: str, mark: str) -> Iterator[int]:
    """Where rows of these characters start."""
    place = text.find(mark)
    while place >= 0:
        yield place
        row = _ROW.match(text, place)
        place = text.find(mark, row.end() if row else place + 1)


def _after(fence: Fence | None, line: Fence) -> Fence | None:
    """The fence that is open below `line`, where `fence` is open above it."""
    if fence is None:
        return None if line.mark[0] == "`" and "`" in line.info else line
    closes = line.mark.startswith(fence.mark) and not line.info
    return None if closes else fence


def plain_sections(text: str) -> Iterator[Section]:
    """What the user wrote, cut at line ends if possible; the line end belongs to neither side."""
    start = 0
    glue = ""
    while True:
        end, skipped = _end_of_plain(text, start)
        yield Section(start, end, glue=glue)
        glue, start = text[end : end + skipped], end + skipped
        if end >= len(text):
            return


def _end_of_plain(text: str, start: int) -> tuple[int, int]:
    end = min(len(text), start + _PLAIN_CHARS)
    line_end = _end_of_lines(text, start, end, _PLAIN_LINES)
    if line_end >= 0:
        return line_end, 1
    if end == len(text):
        return len(text), 0
    line_end = text.rfind("\n", start + _PLAIN_CHARS // 4, end)
    if line_end >= 0:
        return line_end, 1
    return cut_before(text, end, start + _PLAIN_CHARS // 2), 0


def _end_of_lines(text: str, start: int, end: int, lines: int) -> int:
    """Where the last of so many lines ends, or -1 if that is not before `end`."""
    while lines:
        found = text.find("\n", start + lines - 1, end)  # each line that is missing takes a character at least
        if found < 0:
            return -1
        lines -= text.count("\n", start, found + 1)
        start = found + 1
    return start - 1
