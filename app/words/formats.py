"""Values inside translated sentences: placeholders, numbers, sizes and marks as the interface language writes them.

The sentences themselves live where they are shown; this file only fills them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from unicodedata import east_asian_width

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QLocale

_PLACEHOLDER = re.compile(r"%([1-9])")
_ENDS = ".!?…。！？"
_MENU_COLUMNS = 60  # of which a wide character takes two
_QUOTES = {QLocale.Language.Korean: ("‘", "’"), QLocale.Language.Japanese: ("「", "」")}


def fill(sentence: str, *values: str) -> str:
    """Replaces %1, %2 … in one pass, so that a "%2" in a value stays."""
    return _PLACEHOLDER.sub(lambda found: values[int(found[1]) - 1], sentence)


def in_menu(name: str) -> str:
    """A name for a menu: shortened, with "&" escaped, and without tabs, after which menus show a shortcut."""
    name = " ".join(name.split())
    ends = list(accumulate(2 if east_asian_width(char) in "WF" else 1 for char in name))
    shown = bisect_right(ends, _MENU_COLUMNS)
    kept = name if shown == len(name) else name[: shown - 1].rstrip() + "…"
    return kept.replace("&", "&&")


def sentences(*texts: str) -> str:
    """One after the other; a full-width full stop brings its own space."""
    result = ""
    for text in filter(None, texts):
        result += f" {text}" if result and result[-1] not in "。！？" else text
    return result


def spoken(*texts: str) -> str:
    """Titles and sentences one after the other, each with a full stop, so that none runs into the next."""
    stop = "。" if _is_wide() else "."
    return sentences(*(text if text[-1] in _ENDS else text + stop for text in filter(None, texts)))


def listed(*parts: str) -> str:
    """Parts of equal rank: "a, b"."""
    return ("、" if _is_wide() else ", ").join(filter(None, parts))


def labelled(name: str, said: str) -> str:
    """ "name: said" """
    return f"{name}：{said}" if _is_wide() else f"{name}: {said}"


def quoted(name: str) -> str:
    """A name in the quotation marks of the language."""
    first, last = _QUOTES.get(QLocale().language(), ("“", "”"))
    return f"{first}{name}{last}"


def _is_wide() -> bool:
    """Whether the language has full-width punctuation, which includes its space."""
    return QLocale().language() in (QLocale.Language.Japanese, QLocale.Language.Chinese)


def times(factor: float) -> str:
    """ "1.6×" or "0.85×"; never 0."""
    return exact_times(max(factor, 0.01), 1 if factor >= 1 else 2)


def exact_times(factor: float, decimals: int = 2) -> str:
    """ "1.62×" """
    return fill(QCoreApplication.translate("Formats", "%1×"), number(factor, decimals))


def moment(when_s: float) -> str:
    """The time of today, else the day; "" for 0."""
    when = QDateTime.fromSecsSinceEpoch(int(when_s))
    shown = when.time() if when.date() == QDate.currentDate() else when.date()
    return QLocale().toString(shown, QLocale.FormatType.ShortFormat) if when_s else ""


def number(value: float, decimals: int = 0) -> str:
    return QLocale().toString(float(value), "f", decimals)


def count(value: int) -> str:
    return QLocale().toString(value)


def percent(share: float) -> str:
    """A share of 1 as "71%": none of our languages has a space there."""
    return f"{number(share * 100)}%"


def size(size_bytes: int) -> str:
    """ "8.8 GB", "290 MB": no more than three digits, and no line ends between them and the unit."""
    digits = len(str(size_bytes))
    if digits > 3:
        size_bytes = round(size_bytes, 3 - digits)
        digits = len(str(size_bytes))
    text = QLocale().formattedDataSize(size_bytes, int(digits % 3 != 0), QLocale.DataSizeFormat.DataSizeSIFormat)
    return text.replace(" ", "\N{NO-BREAK SPACE}")
