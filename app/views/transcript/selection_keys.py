"""Selecting by keyboard: Shift with arrows, Home, End and the page keys moves an end of the selection; Escape clears.

It goes from part to part and from message to message, and brings the place that it reaches into sight. Where nothing is
selected yet it begins at the last click, or else at the message in focus, or at the top of what is in sight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QTextCursor

from app.views.transcript.body import Unread
from app.views.transcript.message_column import MARGIN_PX, Anchor, MessageColumn
from app.views.transcript.message_item import MessageItem
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part, PartKind, Selectable, as_widget
from app.views.transcript.selection import Place, TranscriptSelection
from app.views.transcript.sight import Sight

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
_END = 1 << 40  # of a text whose length is not known yet


@dataclass(frozen=True, slots=True)
class _Caret:
    """A place in a part of the transcript."""

    row: int
    part: Part
    char: int

    @property
    def place(self) -> Place:
        assert self.part.address is not None
        return Place(self.part.message_id, self.part.address, self.char)

    @property
    def text(self) -> Selectable:
        """Of a part that was brought into sight."""
        assert self.part.selectable is not None
        return self.part.selectable


class SelectionKeys:
    def __init__(
        self, context: PartContext, selection: TranscriptSelection, column: MessageColumn, sight: Sight
    ) -> None:
        self._context = context
        self._selection = selection
        self._column = column
        self._sight = sight
        self._goal_x_px: int | None = None  # where lines are entered, as long as only lines are gone through

    def press(self, event: QKeyEvent) -> bool:
        """Whether the key changes the selection; then that is done."""
        if event.matches(_Key.SelectAll):
            self._selection.select_all()
            return True
        if event.key() == Qt.Key.Key_Escape and not self._selection.is_empty:
            self._selection.clear()
            return True
        for key, move in _MOVES.items():
            if event.matches(key):
                self._extend(move)
                return True
        for key, move in _PAGES.items():
            if event.matches(key):
                self._extend(move, self._sight.page_px() - 2 * MARGIN_PX)
                return True
        return False

    def _extend(self, move: QTextCursor.MoveOperation, distance_px: int = 0) -> None:
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

    # Moving

    def _moved(self, caret: _Caret, move: QTextCursor.MoveOperation) -> _Caret:
        if move in (_Move.Start, _Move.End):
            return self._end_of_all(last=move is _Move.End) or caret
        if move in _BY_LINES and self._goal_x_px is None:
            self._goal_x_px = self._rect(caret).x()
        within = caret.text.moved(caret.char, move, self._goal_x(caret.part))
        if within is not None:
            return _Caret(caret.row, caret.part, within)
        if move in _ALONG_LINES:
            return caret
        return self._entered(caret, move)

    def _entered(self, caret: _Caret, move: QTextCursor.MoveOperation) -> _Caret:
        """The text behind or before, at its near end; where there is none, this one's own end."""
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
            before, caret = caret, self._moved(caret, move)
            if caret == before:
                break
        return caret

    def _goal_x(self, part: Part) -> int:
        """In the part's own text."""
        assert part.widget is not None
        return (self._goal_x_px or 0) - as_widget(part.widget).x()

    # Places

    def _here(self, *, back: bool) -> _Caret | None:
        place = self._selection.cursor
        if place is not None:
            return self._found(place)
        row = self._sight.focused_row()
        if row is not None:
            return next(self._in_row(row, back=back), None)
        top = self._sight.top_px()
        rows = self._column.rows_between(top, top + self._sight.page_px())
        in_sight = (caret for row in rows for caret in self._in_row(row, back=False))
        return next((caret for caret in in_sight if self._bottom_of(caret) > top), None)

    def _found(self, place: Place) -> _Caret | None:
        """The part that has the place now; where it is gone, the nearest one before."""
        row = next((row for row, item in enumerate(self._column.items) if item.message.id == place.message_id), None)
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
        onward = range(row - 1, -1, -1) if back else range(row + 1, len(self._column.items))
        return next((caret for each in onward for caret in self._in_row(each, back=back)), None)

    def _end_of_all(self, *, last: bool) -> _Caret | None:
        caret = self._beside_row(len(self._column.items) if last else -1, back=last)
        return None if caret is None else self._brought_into_sight(caret)

    def _in_row(self, row: int, *, back: bool) -> Iterator[_Caret]:
        """The near end of each part of a message that has text; with `back` from the last one on."""
        item = self._column.items[row]
        if not item.is_read:
            item.sync(self._sight.column_px())
            self._sight.arrange(row)
        for part in reversed(item.parts) if back else item.parts:
            if part.address is not None:
                yield _Caret(row, part, _END if back else 0)

    # Sight

    def _brought_into_sight(self, caret: _Caret) -> _Caret:
        """With a widget, and its own character shown. A section that nobody had read yet is read for it."""
        item = self._column.items[caret.row]
        if caret.part.kind is PartKind.UNREAD or caret.part.selectable is None:
            caret = self._shown(item, caret)
        caret = _Caret(caret.row, caret.part, min(caret.char, caret.text.length))
        rect, page = self._rect(caret), self._sight.page_px()
        if rect.top() < 0 or rect.bottom() > page:
            below_top = MARGIN_PX if rect.top() < 0 else page - rect.height() - MARGIN_PX
            part_top = item.top_px + item.top_of(item.parts.index(caret.part))
            inside = rect.top() + self._sight.top_px() - part_top
            self._sight.show_at(Anchor(item, item.parts.index(caret.part), inside - below_top, caret.part))
        caret.text.show_char(caret.char)
        return caret

    def _shown(self, item: MessageItem, caret: _Caret) -> _Caret:
        address, at_end = caret.part.address, caret.char == _END
        while isinstance(caret.part.content, Unread):
            index = item.parts.index(caret.part)
            behind = len(item.parts) - index
            item.read_section(range(index, index + 1), self._sight.column_px())
            self._sight.arrange(caret.row)
            part = item.parts[len(item.parts) - behind if at_end else index]
            caret = _Caret(caret.row, part, caret.char)
        assert address is not None
        index = item.parts.index(caret.part)
        self._sight.show_at(Anchor(item, index, -self._sight.page_px() // 3, caret.part))
        return caret

    def _rect(self, caret: _Caret) -> QRect:
        """Of the character, on the page."""
        assert caret.part.widget is not None
        return caret.text.rect_of(caret.char).translated(as_widget(caret.part.widget).pos())

    def _y_in_column(self, caret: _Caret) -> int:
        return self._rect(caret).top() + self._sight.top_px()

    def _bottom_of(self, caret: _Caret) -> int:
        item = self._column.items[caret.row]
        return item.top_px + item.top_of(item.parts.index(caret.part) + 1)
