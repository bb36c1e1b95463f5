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
    """Adds the parts in order: a widget or a layout, alone or with its stretch and alignment, or a stretch."""
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
    layout: QBoxLayout, item: QWidget | QLayout, stretch: int = 0, alignment: Qt.AlignmentFlag = _EVERYWHERE
) -> None:
    if isinstance(item, QLayout):
        layout.addLayout(item, stretch)
    else:
        layout.addWidget(item, stretch, alignment)
