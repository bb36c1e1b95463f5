"""Thin scroll bars for every scroll area."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QAbstractScrollArea, QStyle

from app.theme import Theme


def keep_room_for_bar(area: QAbstractScrollArea) -> None:
    """So that nothing shifts when a bar comes. Bars that float over the content, as the Mac's do, need no room."""
    floats = area.style().styleHint(QStyle.StyleHint.SH_ScrollBar_Transient, None, area)
    if not floats:
        area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)


class ThinScrollBars(QObject):
    """Sets the style of an area's scroll bars, now and after each change of theme. A child of the area."""

    def __init__(self, area: QAbstractScrollArea, theme: Theme) -> None:
        super().__init__(area)
        self._bars = (area.verticalScrollBar(), area.horizontalScrollBar())
        self._theme = theme
        theme.changed.connect(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        for bar in self._bars:
            bar.setStyleSheet(self._theme.scroll_bar_style())
