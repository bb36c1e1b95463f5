"""Values inside translated sentences: placeholders, numbers and sizes as the interface language writes them.

The sentences themselves live where they are shown; this file only fills them.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QLocale

_PLACEHOLDER = re.compile(r"%([1-9])")


def fill(sentence: str, *values: str) -> str:
    """Replaces %1, %2 … in one pass, so that a value that itself contains "%2" stays as it is."""
    return _PLACEHOLDER.sub(lambda found: values[int(found[1]) - 1], sentence)


def sentences(*texts: str) -> str:
    """One after the other; a full-width full stop brings its own space."""
    result = ""
    for text in filter(None, texts):
        result += f" {text}" if result and result[-1] not in "。！？" else text
    return result


def number(value: float, decimals: int = 0) -> str:
    return QLocale().toString(float(value), "f", decimals)


def count(value: int) -> str:
    return QLocale().toString(value)


def percent(share: float) -> str:
    """A share of 1 as "71%": none of our languages has a space there."""
    return f"{number(share * 100)}%"


def size(size_bytes: int) -> str:
    return QLocale().formattedDataSize(size_bytes, 1, QLocale.DataSizeFormat.DataSizeSIFormat)
