"""Where long text may be cut. No Qt.

Qt lays out a line as a whole, and one without spaces in quadratic time; Markdown is read again while it grows.
"""

import unicodedata
from collections.abc import Iterator

LONGEST_PIECE = 4000
_MOST_MARKS = 32  # longer clusters may be cut


def long_lines(text: str, at_most: int = LONGEST_PIECE) -> Iterator[tuple[int, int]]:
    """Where lines of more characters begin and end.

    From each place it looks back from as far as a line may reach: a pattern would read a line of 3,900 characters from
    each of them, which took a second a megabyte.
    """
    start = 0
    while len(text) - start > at_most:
        line_end = text.rfind("\n", start, start + at_most + 1)
        if line_end < 0:
            line_end = text.find("\n", start)
            line_end = len(text) if line_end < 0 else line_end
            yield start, line_end
        start = line_end + 1


def pieces(line: str, at_most: int = LONGEST_PIECE) -> Iterator[str]:
    """Pieces of a line with at most so many characters, cut after spaces if there are any."""
    start = 0
    while len(line) - start > at_most:
        end = cut_before(line, start + at_most, start + at_most // 2)
        yield line[start:end]
        start = end
    yield line[start:]


def cut_before(text: str, end: int, least: int) -> int:
    """Where to cut `text` at `end` or before: after a space beyond `least`, else between two characters."""
    space = text.rfind(" ", least, end)
    if space >= 0:
        return space + 1
    for position in range(end, max(least, end - _MOST_MARKS), -1):
        if not _belongs_to_the_one_before(text, position):
            return position
    return end


def _belongs_to_the_one_before(text: str, position: int) -> bool:
    if not 0 < position < len(text):
        return False
    char = text[position]
    joins = "\u200d" in (char, text[position - 1]) or "\U0001f3fb" <= char <= "\U0001f3ff"
    return joins or unicodedata.category(char) in ("Mn", "Me", "Mc") or "\u1160" <= char <= "\u11ff"
