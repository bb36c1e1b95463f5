"""The tail of a growing reply: the part of it that can be shown now and will not look different later.

Here: whole grapheme clusters, marks that wait for their partner, lines that wait for their end.
Not here: parsing. Pure functions over strings.
"""

import re
import unicodedata

# No part of these can match what the next one matches, or rows of marks and blank lines would take quadratic time.
_MARKS_ONLY = re.compile(r"[-+*=_~`#|$\\:>\s\[\]]*$|[\s>]*\d{1,9}[.)]?\s*$")
_FENCE_START = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(?:```|~~~|\$\$|\\\[)")
_FENCE_LINE = re.compile(r"^[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(?:```|~~~)", re.MULTILINE)
_MAY_END_CODE = re.compile(r"[ \t>]*(?:`+|~+)[ \t]*$")
_EMPHASIS_MARKS = "*_~`"
_CODE_SPAN = re.compile(r"`[^`]*`")
_LONE_STAR = re.compile(r"(?:^|[\s(])\*(?=[^\s*])[^*]*$")
_OPEN_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*$")
_OPEN_NOTE_MARK = re.compile(r"\[\^[\w-]{0,31}$")
# The start of a note: a mark until its colon comes.
_NOTE_START = re.compile(r" {0,3}\[\^[^\]\s]{0,40}\]?:?[ \t]*$")
_OPEN_FORMULA = re.compile(r"(?:(?<![\w$\\])\$(?=[^\s\d$])[^$]{0,300}|\\\((?:(?!\\\)).){0,300})$")
_NOT_YET = (_MARKS_ONLY, _FENCE_START, _NOTE_START)
_ZWJ = "\u200d"


def whole_graphemes(text: str) -> int:
    """How many characters of `text` can be shown: the last cluster waits when more of it may come."""
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
    """`tail` without what would be shown as something else a moment later, and with open emphasis closed."""
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
    line = _OPEN_FORMULA.sub("", _without_trailing_marks(line))
    line = _OPEN_NOTE_MARK.sub("", line)
    line = _OPEN_LINK.sub(r"\1", line)
    if line.count("`") % 2:
        return line + "`"
    prose = _CODE_SPAN.sub("", line)
    for mark in ("**", "~~"):
        if prose.count(mark) % 2:
            return line.rstrip() + mark
    return line.rstrip() + "*" if _LONE_STAR.search(prose) else line
