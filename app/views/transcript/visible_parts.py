"""Widgets of the visible parts: lending, measuring, placing and taking them back.

`layout.py` decides what is visible, `message_column.py` has positions.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from time import thread_time

from PySide6.QtCore import QObject, QRect, Qt, Signal
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QWidget

from app.markup.formula import FormulaKey
from app.views.transcript.beginning_part import BeginningPart
from app.views.transcript.call_parts import CallPart, CallPicturesPart, CallTextPart
from app.views.transcript.code_part import CodePart
from app.views.transcript.consent_part import ConsentPart
from app.views.transcript.editor_part import EditorPart
from app.views.transcript.formula_part import FormulaPart
from app.views.transcript.message_column import MessageColumn
from app.views.transcript.message_footer import MessageFooter
from app.views.transcript.message_item import MessageItem
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part, PartKind, PartWidget
from app.views.transcript.selection import TranscriptSelection
from app.views.transcript.status_parts import AttachmentsPart, FoldPart, NoticePart, ProgressPart
from app.views.transcript.text_parts import BubblePart, TablePart, TextPart
from app.views.widgets.focus import chain

# Widgets are also made this far above and below the visible range, so that scrolling finds them ready.
MARGIN_PX = 300
# CPU time for showing parts in one turn of the event loop: usually some milliseconds are enough, but a page of
# combining marks takes seconds. The rest waits for another turn.
_MOST_S = 0.05
_MOST_SPARE = 8  # widgets of a kind, for the next chat

_MAKERS: dict[PartKind, Callable[[PartContext, QWidget], PartWidget]] = {
    PartKind.BEGINNING: BeginningPart,
    PartKind.ATTACHMENTS: AttachmentsPart,
    PartKind.BUBBLE: BubblePart,
    PartKind.FOLD: FoldPart,
    PartKind.TEXT: TextPart,
    PartKind.CODE: CodePart,
    PartKind.TABLE: TablePart,
    PartKind.FORMULA: FormulaPart,
    PartKind.CALL: CallPart,
    PartKind.CALL_TEXT: CallTextPart,
    PartKind.CALL_PICTURES: CallPicturesPart,
    PartKind.CONSENT: ConsentPart,
    PartKind.PROGRESS: ProgressPart,
    PartKind.NOTICE: NoticePart,
    PartKind.FOOTER: MessageFooter,
    PartKind.EDITOR: EditorPart,
}


class VisibleParts(QObject):
    placed = Signal()  # what is in sight has its widgets, in their places
    outdated = Signal()  # something in sight has to be shown again

    def __init__(self, context: PartContext, viewport: QWidget) -> None:
        super().__init__(viewport)
        self.context = context
        self._viewport = viewport
        # Unused widgets: filling one is cheaper than making one. A chat may need scores of a kind at once, each of
        # which keeps what it showed last.
        self._spare: dict[PartKind, list[PartWidget]] = defaultdict(list)
        self._is_lit = False
        self._ends_at = 0.0  # of this turn, in CPU time
        self.has_more = False  # something in sight has to wait for the next turn
        self._live: dict[int, Part] = {}  # by identity of the part

    def shown(self) -> Iterator[tuple[Part, QRect]]:
        for part in self._live.values():
            if part.widget is not None:
                yield part, part.widget.geometry()

    def _from_top(self) -> list[tuple[Part, QRect]]:
        return sorted(self.shown(), key=lambda each: each[1].top())

    def begin_turn(self) -> None:
        self._ends_at = thread_time() + _MOST_S
        self.has_more = False

    def _has_time(self) -> bool:
        self.has_more = self.has_more or thread_time() > self._ends_at
        return not self.has_more

    def measure(self, column: MessageColumn, top_px: int, page_px: int, width_px: int) -> int | None:
        """Measure visible parts; returns the first row whose height changed."""
        upper = top_px - MARGIN_PX
        lower = top_px + page_px + MARGIN_PX
        changed: int | None = None
        rows = column.rows_between(upper, lower)
        before_px = {row: column.items[row].height_px for row in rows}
        for row in rows:
            item = column.items[row]
            if not item.is_read:
                item.sync(width_px)
                if abs(item.height_px - before_px[row]) > page_px:  # what is in sight is elsewhere in it
                    return row if changed is None else changed
            indexes = item.indexes_between(upper - item.top_px, lower - item.top_px)
            # One at a time: what it turns out to need may leave no room for the next.
            has_read = self._has_time() and item.read_section(indexes, width_px)
            if has_read:
                indexes = item.indexes_between(upper - item.top_px, lower - item.top_px)
            corrected = [self._measure(item.parts[index], width_px) for index in indexes]
            if any(corrected):
                item.sum_up()
            if (has_read or item.height_px != before_px[row]) and changed is None:
                changed = row
        return changed

    def read_ahead(self, column: MessageColumn, top_px: int, page_px: int, width_px: int) -> None:
        """Cut one message that will soon be visible, so that a scroll step does not both cut and show it."""
        rows = column.rows_between(top_px - 2 * MARGIN_PX, top_px + page_px + 2 * MARGIN_PX)
        row = next((row for row in rows if not column.items[row].is_read), None)
        if row is not None:
            column.items[row].sync(width_px)
            column.arrange(self.context.theme.scale)

    def show_grown(self, item: MessageItem, width_px: int) -> bool:
        """Shows once more what has changed of a message; returns whether it has to be placed again."""
        self.begin_turn()
        number = item.message.id
        before_px = item.height_px
        grown = [each for each in self._live.values() if each.measured_width_px < 0 and each.message_id == number]
        corrected = [self._measure(part, width_px) for part in grown]
        if any(corrected):
            item.sum_up()
        if item.height_px != before_px or self.has_more:
            return True
        self.placed.emit()
        return False

    def _measure(self, part: Part, width_px: int) -> bool:
        """Lends the part a widget and measures it; returns whether its height changed."""
        wanted = width_px - part.inset_px
        is_shown = part.widget is not None and part.measured_width_px == wanted
        if part.kind is PartKind.UNREAD or not (is_shown or self._has_time()):
            return False
        widget = self._lend(part)
        self._live[id(part)] = part
        if part.measured_width_px != wanted:
            before_px = part.height_px
            part.height_px = widget.show_part(part, wanted)
            part.measured_width_px = wanted
            return part.height_px != before_px
        return False

    def place(self, column: MessageColumn, top_px: int, page_px: int, left_px: int, width_px: int) -> None:
        upper = top_px - MARGIN_PX
        lower = top_px + page_px + MARGIN_PX
        wanted: dict[int, Part] = {}
        came: set[QObject] = set()
        all_placed = list(column.placed_between(upper, lower))
        self._move_pixels(all_placed, top_px)
        for part, part_top_px in all_placed:
            if part.widget is None:
                continue
            wanted[id(part)] = part
            widget = part.widget
            if widget.isHidden():
                came.add(widget)
            x = left_px + part.inset_px
            y = part_top_px - top_px
            widget.setGeometry(x, y, width_px - part.inset_px, part.height_px)
            widget.show()
        for key, part in list(self._live.items()):
            if key not in wanted and part.widget is not None and _keeps_focus(part, part.widget):
                wanted[key] = part
                part.widget.move(left_px, -2 * page_px)
            elif key not in wanted:
                self.release(part)
        self._live = wanted
        if QAccessible.isActive():
            self._put_in_reading_order(came)
        self.placed.emit()

    def _put_in_reading_order(self, came: Collection[QObject]) -> None:
        """Screen readers take the lowest widget first; they are made, and used again, in any order.

        What was shown before is in order already, and would be painted again if it was moved.
        """
        in_order = [part.widget for part, _ in self._from_top() if part.widget is not None]
        widgets = (each for each in self._viewport.children() if isinstance(each, QWidget))
        following = next((each for each in widgets if not isinstance(each, PartWidget)), None)  # over the text
        for widget in reversed(in_order):
            if widget in came and following is not None:
                widget.stackUnder(following)
            following = widget
        known: set[QObject] = set(in_order)
        if [each for each in self._viewport.children() if each in known] != in_order:
            for widget in reversed(in_order):
                widget.lower()

    def _move_pixels(self, all_placed: Sequence[tuple[Part, int]], top_px: int) -> None:
        """Scroll painted pixels with the first visible part, so that only new ones are painted."""
        for part, part_top_px in all_placed:
            if part.widget is None or part.widget.isHidden() or part_top_px + part.height_px <= top_px:
                continue
            shift_px = part_top_px - top_px - part.widget.y()
            if shift_px:
                self._viewport.scroll(0, shift_px)
            return

    def put_in_tab_order(self) -> None:
        """Tab goes on from the transcript through what is in sight; widgets are made in any order."""
        view = self._viewport.parentWidget()
        assert view is not None
        chain([view, *self.tab_stops()])

    def tab_stops(self) -> list[QWidget]:
        """All that takes Tab, from the top."""
        outer = (part.widget for part, _ in self._from_top() if part.widget is not None)
        inside = (widget for each in outer for widget in (each, *each.findChildren(QWidget)))
        return [widget for widget in inside if widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value]

    def light(self, selection: TranscriptSelection) -> None:
        """Shows what is selected in each part."""
        if selection.is_empty and not self._is_lit:
            return
        self._is_lit = not selection.is_empty
        for part in self._live.values():
            if (widget := part.selectable) is not None:
                widget.light(selection.range_in(part.message_id, part.address))

    def name_anew(self) -> None:
        for part in self._live.values():
            _name(part)

    def release(self, part: Part) -> None:
        self._live.pop(id(part), None)
        widget = part.widget
        if widget is None:
            return
        if part.selectable is not None:
            part.selectable.light(None)
            part.selectable.light_found((), None)
        part.widget = None
        self._spare[part.kind].append(widget)
        widget.hide()

    def clear(self) -> None:
        self._keep_spare(0)

    def keep_few_spare(self) -> None:
        self._keep_spare(_MOST_SPARE)

    def _keep_spare(self, most: int) -> None:
        """Of each kind."""
        for widgets in self._spare.values():
            for widget in widgets[most:]:
                widget.deleteLater()
            del widgets[most:]

    def forget_waiting_for(self, key: FormulaKey) -> None:
        """Marks the parts that wait for this formula to be shown again."""
        waiting = [part for part in self._live.values() if key in getattr(part.widget, "pending", ())]
        for part in waiting:
            part.measured_width_px = -1
        if waiting:
            self.outdated.emit()

    def _lend(self, part: Part) -> PartWidget:
        if part.widget is None:
            spare = self._spare[part.kind]
            part.widget = spare.pop() if spare else self._make(part.kind)
            part.measured_width_px = -1
            _name(part)
        return part.widget

    def _make(self, kind: PartKind) -> PartWidget:
        widget = _MAKERS[kind](self.context, self._viewport)
        # Hiding a part at the pointer enters the one below it; a reaction would begin in the middle of placing.
        widget.entered.connect(self._on_entered, Qt.ConnectionType.QueuedConnection)
        widget.lower()  # below the button and the cards that lie over the text
        return widget

    def _on_entered(self, widget: PartWidget) -> None:
        part = next((each for each in self._live.values() if each.widget is widget), None)
        if part is not None and widget.underMouse():
            self.context.hovered.emit(part.message_id)


def _name(part: Part) -> None:
    named = part.widget if isinstance(part.widget, FormulaPart) else part.selectable
    if named is not None:
        named.show_name(part.name())


def _keeps_focus(part: Part, widget: QWidget) -> bool:
    """A field or a question with the focus keeps its widget when scrolled out of view."""
    focused = QApplication.focusWidget()
    can_have_it = part.kind in (PartKind.EDITOR, PartKind.CONSENT)
    return can_have_it and focused is not None and widget.isAncestorOf(focused)
