"""How words that a search found look in a text document."""

from __future__ import annotations

from PySide6.QtGui import QTextCharFormat

from app.theme import Theme


def found_format(theme: Theme, current: bool) -> QTextCharFormat:
    colors = theme.palette
    form = QTextCharFormat()
    form.setBackground(colors.cost if current else colors.found)
    if current:
        form.setForeground(colors.window)
        form.setFontUnderline(True)
    return form
