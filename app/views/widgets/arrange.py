"""Puts widgets and layouts into a layout."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QLayout, QWidget

_EVERYWHERE = Qt.AlignmentFlag(0)
_L = TypeVar("_L", bound=QBoxLayout)
_Item = QWidget | QLayout
Part = _Item | int | tuple[_Item, int] | tuple[_Item, int, Qt.AlignmentFlag]


def arrange(
    layout: _L, *parts: Part, spacing: int | None = None, margins: tuple[int, int, int, int] | None = None
) -> _L:
    """Adds the parts in order: a widget or layout, alone or with its factor and alignment; a number is empty room.

    A factor is Qt's share of the room that is left.
    """
    if margins is not None:
        layout.setContentsMargins(*margins)
    if spacing is not None:
        layout.setSpacing(spacing)
    for part in parts:
        if isinstance(part, int):
            layout.addStretch(part)
        elif isinstance(part, tuple):
            _add(layout, *part)
        else:
            _add(layout, part)
    return layout


def _add(
    layout: QBoxLayout, item: QWidget | QLayout, factor: int = 0, alignment: Qt.AlignmentFlag = _EVERYWHERE
) -> None:
    if isinstance(item, QLayout):
        layout.addLayout(item, factor)
    else:
        layout.addWidget(item, factor, alignment)
