"""How well one colour can be told from another."""

from __future__ import annotations

from PySide6.QtGui import QColor


def contrast(one: QColor, other: QColor) -> float:
    """As the WCAG has it: 4.5 is needed to read text."""
    lights = sorted(luminance(color) + 0.05 for color in (one, other))
    return lights[1] / lights[0]


def luminance(color: QColor) -> float:
    channels = (color.redF(), color.greenF(), color.blueF())
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
