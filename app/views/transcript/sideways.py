"""Tables and code that are wider than the column, scrolled sideways by the left and right arrow keys.

The one that moves is in the focused message, if there is one, and nearest to the middle of the page. Wheel and trackpad
move the one under the pointer (`ReadOnlyText.wheelEvent`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QScrollBar

from app.theme import Theme
from app.views.transcript.parts import Part
from app.views.transcript.selectable_inside import SelectableInside
from app.views.transcript.text_parts import ReadOnlyText
from app.views.transcript.visible_parts import VisibleParts

_STEP_PX = 60
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
_ANY_KEYBOARD = Qt.KeyboardModifier.KeypadModifier  # which arrow keys have on the Mac


class Sideways:
    def __init__(self, theme: Theme, parts: VisibleParts, page: Callable[[], QRect]) -> None:
        self._theme = theme
        self._parts = parts
        self._page = page

    def press(self, event: QKeyEvent, focused_message: int | None) -> bool:
        """Whether the key scrolled something."""
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None or event.modifiers() & ~_ANY_KEYBOARD:
            return False
        wide = sorted(self._wide(focused_message), key=lambda each: each[0])
        if wide:
            bar = wide[0][1]
            bar.setValue(bar.value() + step * self._theme.px(_STEP_PX))
        return bool(wide)

    def _wide(self, focused_message: int | None) -> Iterator[tuple[tuple[bool, int], QScrollBar]]:
        """The bars of what is too wide, each with how much else comes first."""
        page = self._page()
        for part, place in self._parts.shown():
            bar = _bar_of(part)
            if bar is not None and bar.maximum() > 0 and place.intersects(page):
                away = abs(place.intersected(page).center().y() - page.center().y())
                yield (part.message_id != focused_message, away), bar


def _bar_of(part: Part) -> QScrollBar | None:
    widget: object = part.widget
    text = widget.text if isinstance(widget, SelectableInside) else widget
    return text.horizontalScrollBar() if isinstance(text, ReadOnlyText) else None
