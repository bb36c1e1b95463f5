"""Plain-text tooltips. Qt takes text that looks like HTML for rich text, which loads what it names."""

from __future__ import annotations

import re
from functools import cache
from html import escape

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QListWidgetItem, QToolTip, QWidget

from app.theme import FOOTER_PX, UI_PX
from app.views.widgets.roles import announce

_MOST = 3000  # characters; more do not fit on a screen, and errors may be of any length
_NO_BREAK = re.compile(r"\S{40}")
_MOST_IN_LINE = 84  # letters; a longer line is wrapped
_WIDE = "\u2e80"  # from here on a character is as wide as two letters
_ZERO_WIDTH_SPACE = "\u200b"  # where a line may end


def set_tooltip(at: QWidget | QListWidgetItem, text: str) -> None:
    """Show `text` unchanged: titles come from models, names of files from elsewhere."""
    if isinstance(at, QWidget) and text and not at.toolTip():
        at.installEventFilter(_asked())
    at.setToolTip(text)


def show_item_tooltips(view: QAbstractItemView) -> None:
    """Show the model's `ToolTipRole`."""
    view.viewport().installEventFilter(_asked())


def show_tooltip(position: QPoint, text: str, at: QWidget, around: QRect | None = None) -> None:
    """Show at once, near a point of the screen, until the pointer leaves `around`, or `at`."""
    font = QApplication.font()
    font.setPointSizeF(font.pointSizeF() * FOOTER_PX / UI_PX)
    QToolTip.setFont(font)
    QToolTip.setPalette(QApplication.palette())
    QToolTip.showText(position, _as_html(text), at, around or QRect())


def show_hint(at: QWidget, text: str) -> None:
    """Show at once why something was not done; screen readers say it."""
    show_tooltip(at.mapToGlobal(at.rect().center()), text, at)
    announce(at, text)


def _as_html(text: str) -> str:
    """`text` as HTML that looks the same, with line breaks; Qt would wrap early, and within "tok/s"."""
    shown = text if len(text) <= _MOST else f"{text[:_MOST]}…"
    breaking = _NO_BREAK.sub(lambda run: run[0] + _ZERO_WIDTH_SPACE, shown)
    wraps = any(sum(1 + (char > _WIDE) for char in line) > _MOST_IN_LINE for line in breaking.splitlines())
    return f'<div style="white-space: {"pre-wrap" if wraps else "pre"}">{escape(breaking)}</div>'


class _Asked(QObject):
    """A mixin for widgets with tooltips: Qt would guess whether their text is HTML."""

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
