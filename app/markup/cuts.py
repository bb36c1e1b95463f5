"""Where long text may be cut. No Qt.

Qt lays out a line as a whole, and one without spaces in quadratic time; Markdown is read again while it grows.
"""

import re
import unicodedata
from collections.abc import Iterator

LONGEST_PIECE = 4000
_MOST_MARKS = 32  # longer clusters may be cut
# Colour fonts have a picture for each of these, which FreeType decodes whenever it is measured. MEASURED: 64 to 150 µs
# of an emoji, 0.4 of a letter.
_PICTURES = "\u200d\ufe0f\U0001f000-\U0001faff\U000e0000-\U000e007f"
_UNSEEN = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f"  # many in a row find room in one line
_VIRAMAS = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u1039\u17d2"
# It begins with all of them, so that other letters are passed over in a fifth of the time.
_PICTURE = re.compile(
    f"[{_PICTURES}{_UNSEEN}{_VIRAMAS}]"
    f"(?:(?<=[{_PICTURES}])|(?<=[{_UNSEEN}]{{2}})|(?<=[{_VIRAMAS}].[{_VIRAMAS}].[{_VIRAMAS}].[{_VIRAMAS}]))"
)
_PICTURE_AS = 20  # letters: so many does a picture count as


def reach(text: str, start: int, letters: int) -> int:
    """Where a piece that takes as long to lay out as so many letters has to end."""
    end = min(len(text), start + letters)
    if text.isascii():
        return end
    for number, picture in enumerate(_PICTURE.finditer(text, start, end), 1):
        if picture.end() - start + number * (_PICTURE_AS - 1) > letters:
            return max(picture.start(), start + 1)
    return end


def letters_of(text: str) -> int:
    """As many letters take as long to lay out."""
    return len(text) if text.isascii() else len(text) + (_PICTURE_AS - 1) * len(_PICTURE.findall(text))


def long_lines(text: str) -> Iterator[tuple[int, int]]:
    """Where lines of more than LONGEST_PIECE characters begin and end.

    From each place it looks back from as far as a line may reach: a pattern would read a line of 3,900 characters from
    each of them, which took a second a megabyte.
    """
    start = 0
    while (end := reach(text, start, LONGEST_PIECE)) < len(text):
        line_end = text.rfind("\n", start, end + 1)
        if line_end < 0:
            line_end = text.find("\n", start)
            line_end = len(text) if line_end < 0 else line_end
            yield start, line_end
        start = line_end + 1


def pieces(line: str) -> Iterator[str]:
    """Pieces of a line with at most LONGEST_PIECE characters, cut after spaces if there are any."""
    start = 0
    while (most := reach(line, start, LONGEST_PIECE)) < len(line):
        end = cut_before(line, most, (start + most + 1) // 2)
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
