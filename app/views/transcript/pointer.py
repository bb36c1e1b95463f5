"""The pointer over the transcript's text: dragging, Shift, double and triple click, scrolling at the edges.

Here: mouse events as changes of the selection. Clicks on links are left to the text that has them.
"""

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QScrollBar, QWidget

from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part
from app.views.transcript.selection import Place, TranscriptSelection, Unit
from app.views.transcript.visible_parts import VisibleParts

_SCROLL_MS = 30
_MOST_SCROLL_PX = 60


class SelectionPointer(QObject):
    def __init__(
        self, context: PartContext, parts: VisibleParts, selection: TranscriptSelection, bar: QScrollBar, area: QWidget
    ) -> None:
        super().__init__(area)
        self._context = context
        self._parts = parts
        self._selection = selection
        self._bar = bar
        self._area = area
        self._unit = Unit.CHARACTER
        self._at = QPoint()
        self.is_pressed = False
        self._third_click = QTimer(self, singleShot=True, interval=QApplication.doubleClickInterval())
        self._scroll = QTimer(self, interval=_SCROLL_MS)
        self._scroll.timeout.connect(self._scroll_on)
        context.pointer = self

    def takes(self, widget: QWidget, event: QMouseEvent) -> bool:
        """Events of texts, and of the area: what other widgets leave alone comes to it in the end."""
        at = widget.mapTo(self._area, event.position().toPoint())
        if event.type() == QEvent.Type.MouseMove:
            if not event.buttons() & Qt.MouseButton.LeftButton:
                self.release()
            return self.is_pressed and self.move(at)
        if event.button() is not Qt.MouseButton.LeftButton:
            return False
        if event.type() == QEvent.Type.MouseButtonDblClick:
            return self.double_click(at)
        if event.type() == QEvent.Type.MouseButtonPress and not self.is_pressed:
            self.press(at, extend=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        return event.type() == QEvent.Type.MouseButtonRelease and self.release()

    def press(self, at: QPoint, *, extend: bool) -> None:
        """`extend` the selection that there is, as with Shift."""
        is_third = self._third_click.isActive() and (at - self._at).manhattanLength() < QApplication.startDragDistance()
        self._unit = Unit.LINE if is_third else Unit.CHARACTER
        self._third_click.stop()
        self.is_pressed, self._at = True, at
        self._select(extend=extend)

    def double_click(self, at: QPoint) -> bool:
        self._unit = Unit.WORD
        self._third_click.start()
        self.is_pressed, self._at = True, at
        self._select(extend=False)
        return True

    def move(self, at: QPoint) -> bool:
        self._at = at
        if self._edge_px():
            self._scroll.start()
        else:
            self._scroll.stop()
        self._select(extend=True)
        self._context.selecting.emit()
        return True

    def release(self) -> bool:
        """Returns whether something was selected, so that the click means nothing else."""
        was_pressed, self.is_pressed = self.is_pressed, False
        self._scroll.stop()
        return was_pressed and not self._selection.is_empty

    def _select(self, *, extend: bool) -> None:
        ends = self._ends_at(self._at)
        if ends is None:
            self._selection.clear()
        elif extend:
            self._selection.extend(*ends)
        else:
            self._selection.begin(*ends)

    # Places

    def _ends_at(self, at: QPoint) -> tuple[Place, Place] | None:
        """The unit at a point, or nearest to it above or below."""
        shown = [(part, place) for part, place in self._parts.shown() if part.selectable is not None]
        y = min(max(at.y(), 0), self._area.height() - 1)
        if not shown:
            return None
        part, place = min(shown, key=lambda each: max(each[1].top() - y, y - each[1].bottom(), 0))
        if y < place.top():
            return self._unit_of(part, 0)
        widget = part.selectable
        assert widget is not None
        char = widget.length if y > place.bottom() else widget.char_at(QPoint(at.x(), y) - place.topLeft())
        return self._unit_of(part, char)

    def _unit_of(self, part: Part, char: int) -> tuple[Place, Place]:
        assert part.selectable is not None
        assert part.address is not None
        first, last = part.selectable.unit_at(char, self._unit)
        return Place(part.message_id, part.address, first), Place(part.message_id, part.address, last)

    # Edges

    def _edge_px(self) -> int:
        """How far outside the pointer is: negative above, positive below."""
        return min(0, self._at.y()) + max(0, self._at.y() - self._area.height() + 1)

    def _scroll_on(self) -> None:
        if not QApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            # Nobody was told: the text that was pressed is out of sight, and Qt sends the end of a drag there.
            self.release()
            return
        step = max(-_MOST_SCROLL_PX, min(_MOST_SCROLL_PX, self._edge_px()))
        self._bar.setValue(self._bar.value() + step)
        self._select(extend=True)
