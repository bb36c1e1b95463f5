"""Selecting by keyboard and mouse.

Shift with arrows, Home, End and page keys moves an end of the selection, across parts and messages, and scrolls to it;
Escape clears. A new selection begins at the last click, else at the focused message, else at the top of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QScrollBar, QWidget

from app.views.transcript.layout import Layout
from app.views.transcript.message_column import MARGIN_PX
from app.views.transcript.message_keys import Highlights
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part, Selectable
from app.views.transcript.selection import TextPlace, TranscriptSelection, Unit
from app.views.transcript.visible_parts import VisibleParts
from app.views.widgets.held_keys import modifiers_of

_Key = QKeySequence.StandardKey
_Move = QTextCursor.MoveOperation
_MOVES = {
    _Key.SelectNextChar: _Move.NextCharacter,
    _Key.SelectPreviousChar: _Move.PreviousCharacter,
    _Key.SelectNextWord: _Move.NextWord,
    _Key.SelectPreviousWord: _Move.PreviousWord,
    _Key.SelectNextLine: _Move.Down,
    _Key.SelectPreviousLine: _Move.Up,
    _Key.SelectStartOfLine: _Move.StartOfLine,
    _Key.SelectEndOfLine: _Move.EndOfLine,
    _Key.SelectStartOfBlock: _Move.StartOfBlock,
    _Key.SelectEndOfBlock: _Move.EndOfBlock,
    _Key.SelectStartOfDocument: _Move.Start,
    _Key.SelectEndOfDocument: _Move.End,
}
_PAGES = {_Key.SelectNextPage: _Move.Down, _Key.SelectPreviousPage: _Move.Up}
_BACK = frozenset(
    {_Move.PreviousCharacter, _Move.PreviousWord, _Move.Up, _Move.StartOfLine, _Move.StartOfBlock, _Move.Start}
)
_ALONG_LINES = frozenset({_Move.StartOfLine, _Move.EndOfLine})
_BY_LINES = frozenset({_Move.Up, _Move.Down})
_END = 1 << 40  # stands for the end of a text of unknown length
_SCROLL_MS = 30
_MOST_SCROLL_PX = 60


@dataclass(frozen=True, slots=True)
class _Caret:
    """A place in a part of the transcript."""

    row: int
    part: Part
    char: int

    @property
    def place(self) -> TextPlace:
        assert self.part.address is not None
        return TextPlace(self.part.message_id, self.part.address, self.char)

    @property
    def text(self) -> Selectable:
        """Of a part that was brought into sight."""
        assert self.part.selectable is not None
        return self.part.selectable

    @property
    def rect(self) -> QRect:
        """The caret's rectangle on the page."""
        return self.part.rect_of(self.char)


class SelectionKeys:
    def __init__(
        self, context: PartContext, selection: TranscriptSelection, layout: Layout, highlights: Highlights
    ) -> None:
        self._context = context
        self._selection = selection
        self._layout = layout
        self._highlights = highlights
        self._goal_x_px: int | None = None  # x at which lines are entered, while only lines are crossed

    def press(self, event: QKeyEvent) -> bool:
        """Whether the key changes the selection, which is then done."""
        if event.matches(_Key.SelectAll):
            self._selection.select_all()
            return True
        if event.key() == Qt.Key.Key_Escape and not self._selection.is_empty:
            self._selection.clear()
            return True
        for key, move in (*_MOVES.items(), *_PAGES.items()):
            if event.matches(key):
                self._extend(move, self._layout.page_px() - 2 * MARGIN_PX if key in _PAGES else 0)
                return True
        return False

    def _extend(self, move: QTextCursor.MoveOperation, distance_px: int) -> None:
        caret = self._here(back=move in _BACK)
        if caret is None:
            return
        caret = self._brought_into_sight(caret)
        if self._selection.cursor is None:
            self._selection.begin(caret.place, caret.place)
        if move not in _BY_LINES:
            self._goal_x_px = None
        caret = self._moved_by_page(caret, move, distance_px) if distance_px else self._moved(caret, move)
        self._selection.extend(caret.place, caret.place)
        self._context.selecting.emit()
        self._brought_into_sight(caret)

    def _moved(self, caret: _Caret, move: QTextCursor.MoveOperation) -> _Caret:
        if move in (_Move.Start, _Move.End):
            return self._end_of_all(last=move is _Move.End) or caret
        if move in _BY_LINES and self._goal_x_px is None:
            self._goal_x_px = caret.rect.x()
        within = caret.text.moved(caret.char, move, self._goal_x(caret.part))
        if within is not None:
            return _Caret(caret.row, caret.part, within)
        if move in _ALONG_LINES:
            return caret
        return self._entered(caret, move)

    def _entered(self, caret: _Caret, move: QTextCursor.MoveOperation) -> _Caret:
        """The near end of the next text in that direction; without one, this text's end."""
        back = move in _BACK
        beside = self._beside(caret, back=back)
        if beside is None:
            return _Caret(caret.row, caret.part, 0 if back else caret.text.length)
        beside = self._brought_into_sight(beside)
        if move not in _BY_LINES:
            return beside
        return _Caret(beside.row, beside.part, beside.text.line_end(self._goal_x(beside.part), last=back))

    def _moved_by_page(self, caret: _Caret, move: QTextCursor.MoveOperation, distance_px: int) -> _Caret:
        start = self._y_in_column(caret)
        while abs(self._y_in_column(caret) - start) < distance_px:
            before = caret
            caret = self._moved(caret, move)
            if caret == before:
                break
        return caret

    def _goal_x(self, part: Part) -> int:
        """In the part's own text."""
        return (self._goal_x_px or 0) - part.corner().x()

    def _here(self, *, back: bool) -> _Caret | None:
        place = self._selection.cursor
        if place is not None:
            return self._found(place)
        row = self._highlights.focused
        if row is not None:
            return next(self._in_row(row, back=back), None)
        in_sight = (caret for row in self._layout.rows_in_sight() for caret in self._in_row(row, back=False))
        return next((caret for caret in in_sight if self._layout.place_of(caret.part).bottom() >= 0), None)

    def _found(self, place: TextPlace) -> _Caret | None:
        """The part that has the place now; where it was removed, the nearest one before."""
        row = self._layout.model.row_of(place.message_id)
        if row is None:
            return None
        carets = list(self._in_row(row, back=False))
        same = next((caret for caret in carets if caret.part.address == place.address), None)
        if same is not None:
            return _Caret(row, same.part, place.char)
        before = [caret for caret in carets if caret.part.address is not None and caret.part.address < place.address]
        if before:
            return _Caret(row, before[-1].part, _END)
        return carets[0] if carets else self._beside_row(row, back=True) or self._beside_row(row, back=False)

    def _beside(self, caret: _Caret, *, back: bool) -> _Caret | None:
        carets = list(self._in_row(caret.row, back=back))
        index = next(number for number, each in enumerate(carets) if each.part is caret.part)
        if index + 1 < len(carets):
            return carets[index + 1]
        return self._beside_row(caret.row, back=back)

    def _beside_row(self, row: int, *, back: bool) -> _Caret | None:
        onward = range(row - 1, -1, -1) if back else range(row + 1, len(self._layout.column.items))
        return next((caret for each in onward for caret in self._in_row(each, back=back)), None)

    def _end_of_all(self, *, last: bool) -> _Caret | None:
        caret = self._beside_row(len(self._layout.column.items) if last else -1, back=last)
        return None if caret is None else self._brought_into_sight(caret)

    def _in_row(self, row: int, *, back: bool) -> Iterator[_Caret]:
        """The near end of each part of a message that has text; with `back` from the last one on."""
        parts = self._layout.read(self._layout.column.items[row]).parts
        for part in reversed(parts) if back else parts:
            if part.address is not None:
                yield _Caret(row, part, _END if back else 0)

    def _brought_into_sight(self, caret: _Caret) -> _Caret:
        """Scroll to it, so that it has a widget; cuts an uncut section."""
        part = self._layout.read_part(caret.part, last=caret.char == _END)
        self._layout.show_part(part)
        assert part.selectable is not None
        char = min(caret.char, part.selectable.length)
        self._layout.show_char(part, char, barely=True)
        return _Caret(caret.row, part, char)

    def _y_in_column(self, caret: _Caret) -> int:
        return caret.rect.top() + self._layout.top_px()


class SelectionPointer(QObject):
    """Dragging, Shift, double and triple click, scrolling at edges. Clicks on links go to their text."""

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
        self.third_click = QTimer(self, singleShot=True, interval=QApplication.doubleClickInterval())
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
            self.press(at, extend=bool(modifiers_of(event) & Qt.KeyboardModifier.ShiftModifier))
        return event.type() == QEvent.Type.MouseButtonRelease and self.release()

    def press(self, at: QPoint, *, extend: bool) -> None:
        """`extend` the selection that there is, as with Shift."""
        is_third = self.third_click.isActive() and (at - self._at).manhattanLength() < QApplication.startDragDistance()
        self._unit = Unit.LINE if is_third else Unit.CHARACTER
        self.third_click.stop()
        self.is_pressed = True
        self._at = at
        self._select(extend=extend)

    def double_click(self, at: QPoint) -> bool:
        self._unit = Unit.WORD
        self.third_click.start()
        self.is_pressed = True
        self._at = at
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
        was_pressed = self.is_pressed
        self.is_pressed = False
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

    def _ends_at(self, at: QPoint) -> tuple[TextPlace, TextPlace] | None:
        """The unit at a point, or nearest to it above or below."""
        shown = [(part, place) for part, place in self._parts.shown() if part.selectable is not None]
        y = min(max(at.y(), 0), self._area.height() - 1)
        if not shown:
            return None
        part, place = min(shown, key=lambda each: max(each[1].top() - y, y - each[1].bottom(), 0))
        text = part.selectable
        assert text is not None
        assert part.address is not None
        char = 0
        if y > place.bottom():
            char = text.length
        elif y >= place.top():
            char = text.char_at(QPoint(at.x(), y) - part.corner())
        first, last = text.unit_at(char, self._unit)
        return TextPlace(part.message_id, part.address, first), TextPlace(part.message_id, part.address, last)

    def _edge_px(self) -> int:
        """How far outside the pointer is: negative above, positive below."""
        return min(0, self._at.y()) + max(0, self._at.y() - self._area.height() + 1)

    def _scroll_on(self) -> None:
        if not QApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            # Not reported: the text that was pressed is out of sight, and Qt sends the end of a drag there.
            self.release()
            return
        step = max(-_MOST_SCROLL_PX, min(_MOST_SCROLL_PX, self._edge_px()))
        self._bar.setValue(self._bar.value() + step)
        self._select(extend=True)
