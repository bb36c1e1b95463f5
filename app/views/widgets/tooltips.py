"""Qt's tooltips, of plain text. Qt reads one that looks like HTML as rich text, which loads what it names."""

from __future__ import annotations

import re
from functools import cache
from html import escape

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QListWidgetItem, QToolTip, QWidget

from app.theme import FOOTER_PX, UI_PX

_MOST = 3000  # letters; a whole screen has no room for more, and an error's text may be of any length
_NO_BREAK = re.compile(r"\S{40}")
_ZERO_WIDTH_SPACE = "\u200b"  # where a line may end


def set_tooltip(at: QWidget | QListWidgetItem, text: str) -> None:
    """Shows `text` as it is: titles of chats are often a model's, names of files not ours."""
    if isinstance(at, QWidget) and text and not at.toolTip():
        at.installEventFilter(_asked())
    at.setToolTip(text)


def show_item_tooltips(view: QAbstractItemView) -> None:
    """What its model has for `ToolTipRole`."""
    view.viewport().installEventFilter(_asked())


def show_tooltip(position: QPoint, text: str, at: QWidget, around: QRect | None = None) -> None:
    """At once, near a place of the screen. It ends where the pointer leaves `around`, or `at`."""
    font = QApplication.font()
    font.setPointSizeF(font.pointSizeF() * FOOTER_PX / UI_PX)
    QToolTip.setFont(font)
    QToolTip.setPalette(QApplication.palette())
    QToolTip.showText(position, _as_html(text), at, around or QRect())


def _as_html(text: str) -> str:
    """Shown as `text` is, in lines that break."""
    shown = text if len(text) <= _MOST else f"{text[:_MOST]}…"
    breaking = _NO_BREAK.sub(lambda run: run[0] + _ZERO_WIDTH_SPACE, shown)
    return f'<div style="white-space: pre-wrap">{escape(breaking)}</div>'


class _Asked(QObject):
    """Comes before the widgets that have a tooltip, which would have Qt guess what their text is."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ToolTip or not isinstance(event, QHelpEvent) or not isinstance(watched, QWidget):
            return False
        text = watched.toolTip()
        around = None
        view = watched.parent()
        if isinstance(view, QAbstractItemView):
            index = view.indexAt(event.pos())
            text = str(index.data(Qt.ItemDataRole.ToolTipRole) or "")
            around = view.visualRect(index)
        if text:
            show_tooltip(event.globalPos(), text, watched, around)
        return bool(text)


@cache
def _asked() -> _Asked:
    return _Asked()
