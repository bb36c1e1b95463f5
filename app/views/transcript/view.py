"""The transcript: a scrolling column of messages with widgets for visible parts only.

Here: scrolling, following the end, keyboard and menu. See `message_item.py` (parts of a message), `message_column.py`
(positions), `visible_parts.py` (widgets), `selection.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QLocale, QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QAbstractSlider, QApplication, QFrame, QScrollBar, QWidget

from app.markup.links import leads_out
from app.theme import Theme
from app.view_models.transcript import TranscriptModel
from app.views.icons import icon
from app.views.transcript.backdrop import SideLines, paint_edge_ring, paint_ring, set_ground
from app.views.transcript.copier import Copier
from app.views.transcript.editing import Editing
from app.views.transcript.finder import Finder
from app.views.transcript.formula_part import FormulaPart
from app.views.transcript.layout import STICK_PX, Layout
from app.views.transcript.link_keys import FocusedLink, LinkKeys
from app.views.transcript.message_column import MessageColumn
from app.views.transcript.message_footer import SHOW_JSON, add_message_acts
from app.views.transcript.message_item import MessageItem
from app.views.transcript.message_keys import Highlights, MessageKeys
from app.views.transcript.part_context import PartContext, Pointed
from app.views.transcript.parts import Part
from app.views.transcript.reading_places import ReadingPlace, ReadingPlaces
from app.views.transcript.selection import TranscriptSelection
from app.views.transcript.selection_keys import SelectionKeys, SelectionPointer
from app.views.transcript.status_parts import NoticePart
from app.views.transcript.text_parts import ReadOnlyText, TextPart
from app.views.transcript.visible_parts import VisibleParts
from app.views.widgets.buttons import PaintedButton
from app.views.widgets.focus import FocusRing, PaintsFocus
from app.views.widgets.held_keys import Menu, modifiers_of
from app.views.widgets.scrolling import keep_room_for_bar
from app.views.widgets.translated import Translated

_MOST_FREED = 2000  # items freed at a time
_SIDE_PX = 34
_ABOVE_FOOT_PX = 14
_BESIDE_PX = 56  # the room beside the messages that it is in the middle of


_STEP_PX = 60
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class TranscriptMenu(Menu):
    """The context menu: possible actions at the pointer and on its message."""

    def __init__(self, view: TranscriptView, at: QPoint) -> None:
        super().__init__(view)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copier = self._copier = view.copier
        has_selection = not view.selection.is_empty
        if has_selection:
            self._add(self.tr("Copy"), lambda: copier.copy_selection(markdown=False))
            self._add(self.tr("Copy as Markdown"), lambda: copier.copy_selection(markdown=True))
            self._add(self.tr("Quote"), view.quote_requested.emit)
        for part, place in view.visible_parts.shown():
            if place.contains(at):
                self._add_for(part, at - place.topLeft(), alone=not has_selection)
        self._add(self.tr("Select All"), view.selection.select_all)

    def _add_for(self, part: Part, at: QPoint, *, alone: bool) -> None:
        widget = part.widget
        if isinstance(widget, FormulaPart):
            self._add_text(self.tr("Copy as TeX"), widget.tex)
        elif isinstance(widget, NoticePart):
            self._add_text(self.tr("Copy"), widget.words)
        elif isinstance(widget, TextPart) and (link := widget.anchorAt(at)) and leads_out(link):
            self._add_text(self.tr("Copy Link"), link)
        message = self._copier.context.message_of(part.message_id)
        if alone and message is not None:
            add_message_acts(self, self._copier.context, message)
            self.addSeparator()

    def _add_text(self, words: str, text: str) -> None:
        self._add(words, lambda: self._copier.copy_text(text))

    def _add(self, words: str, act: Callable[[], None]) -> None:
        # Without the argument of the signal, whether it is checked.
        self.addAction(words).triggered.connect(lambda _checked=False: act())


def _wide(
    parts: VisibleParts, page: QRect, focused_message: int | None
) -> Iterator[tuple[tuple[bool, int], QScrollBar]]:
    """The bars of tables and code that are too wide, each with how much else comes first."""
    for part, place in parts.shown():
        bar = part.selectable.horizontalScrollBar() if isinstance(part.selectable, ReadOnlyText) else None
        if bar is not None and bar.maximum() > 0 and place.intersects(page):
            away = abs(place.intersected(page).center().y() - page.center().y())
            yield (part.message_id != focused_message, away), bar


@dataclass(frozen=True, slots=True)
class _Place:
    message_id: int
    part: int  # which of its message
    kind: type[QWidget]
    number: int  # which of that kind in its part


def kept_focus(editing: Editing, column: MessageColumn) -> Callable[[], None]:
    """Keep focus and caret while all widgets are recreated; call the result afterwards."""
    typing = editing.typing_place()
    place = _focused(column)

    def focus_again() -> None:
        if typing is not None:
            editing.type_on(typing)
        if place is not None:
            _focus(column, place)

    return focus_again


def _focused(column: MessageColumn) -> _Place | None:
    focused = QApplication.focusWidget()
    if focused is None:
        return None
    for _, item in column.read_items():
        for index, part in enumerate(item.parts):
            if focused in (inside := _inside(part, type(focused))):
                return _Place(item.message.id, index, type(focused), inside.index(focused))
    return None


def _focus(column: MessageColumn, place: _Place) -> None:
    """On what is there now; nothing where it is out of sight."""
    parts = next((item.parts for _, item in column.read_items() if item.message.id == place.message_id), [])
    inside = _inside(parts[place.part], place.kind) if place.part < len(parts) else []
    if place.number < len(inside):
        inside[place.number].setFocus(Qt.FocusReason.OtherFocusReason)


def _inside(part: Part, kind: type[QWidget]) -> list[QWidget]:
    """In the order in which they were made, which is the same each time."""
    return [] if part.widget is None else part.widget.findChildren(kind)


class JumpButton(Translated, PaintedButton):
    """The round button that scrolls to the end.

    A child of the scrolled viewport: Qt repaints all of that if a widget of another parent covers it.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._retranslate()
        self.hide()

    def set_wanted(self, wanted: bool, area: QRect) -> None:
        """Show it at the bottom of `area`, which is beside the messages. Call it again after scrolling, which moves
        it."""
        if wanted:
            side = min(self.theme.px(_SIDE_PX), area.width())
            place = QRect(0, area.bottom() - side - _ABOVE_FOOT_PX, side, side)
            place.moveLeft(area.left() + (area.width() - side) // 2)
            self.setGeometry(place)
        if wanted == self.isHidden():
            self.setVisible(wanted)
            self.raise_()

    def _retranslate(self) -> None:
        self.set_name(self.tr("Jump to end"))

    def corner_radius(self) -> float:
        return self.width() / 2

    def paint_content(self, painter: QPainter) -> None:
        colors = self.theme.palette
        painter.setBrush(colors.surface)
        painter.setPen(QPen(colors.hairline, 1))
        painter.drawEllipse(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        if self.underMouse():
            self.fill(painter, colors.hover)
        side = min(self.theme.px(16), self.width() - 6)
        place = QRect(0, 0, side, side)
        place.moveCenter(self.rect().center())
        icon("arrow-down", colors.text).paint(painter, place)


def _code_of(model: TranscriptModel, column: MessageColumn, part: Part) -> str:
    row = model.row_of(part.message_id)
    return "" if row is None else column.items[row].code_of(part)


class TranscriptView(FocusRing, PaintsFocus, Pointed, QAbstractScrollArea):
    """Shows a TranscriptModel. The signals of its `context` are requests, by message id."""

    accessible_role = QAccessible.Role.Document
    quote_requested = Signal()  # of what is selected
    resized = Signal()

    def __init__(self, theme: Theme, model: TranscriptModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model
        self.column = MessageColumn()
        self.context = PartContext(theme, self, model.message, partial(_code_of, model, self.column))
        viewport = self.viewport()
        self.visible_parts = VisibleParts(self.context, viewport)
        self._layout = Layout(self, theme, model, self.column, self.visible_parts)
        self.editing = Editing(self.context, self._layout)
        self.selection = TranscriptSelection(model, self)
        self._side_lines = SideLines(viewport)
        bar = self.verticalScrollBar()
        self.pointer = SelectionPointer(self.context, self.visible_parts, self.selection, bar, viewport)
        self.copier = Copier(self.context, self._layout, self.selection)
        self._highlights = Highlights(self._layout, viewport)
        self._selection_keys = SelectionKeys(self.context, self.selection, self._layout, self._highlights)
        self.link = FocusedLink(theme, viewport)
        self._link_keys = LinkKeys(self.context, self._layout, self._highlights, self.link, self)
        self._places = ReadingPlaces(self._layout)
        self.finder = Finder(self.context, self._layout, self.copier.item)
        self._built_in = QLocale()  # the language of the words that are shown
        self._highlights.changed.connect(self._layout.settle)
        self._highlights.changed.connect(viewport.update)
        self.message_keys = MessageKeys(self.context, self, self._layout, self._highlights)
        self.jump_button = JumpButton(theme, viewport)
        self._leaving: list[MessageItem] = []
        self._free_later = QTimer(self, interval=0)
        self._set_up()
        self._connect_model()
        self._connect_context()
        self._restyle()
        self._on_reset()

    def _set_up(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        keep_room_for_bar(self)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(True)
        self.verticalScrollBar().actionTriggered.connect(self._on_slider_action)
        self.jump_button.clicked.connect(self.jump_to_end)

    def _connect_model(self) -> None:
        model = self._model
        model.was_reset.connect(self._on_reset)
        model.message_inserted.connect(self._on_inserted)
        model.messages_prepended.connect(self._on_prepended)
        model.text_appended.connect(self._on_appended)
        model.message_changed.connect(self._on_changed)
        model.messages_removed.connect(self._on_removed)
        self._free_later.timeout.connect(self._free_some)
        for changed in (model.message_inserted, model.messages_prepended, model.messages_removed, model.was_reset):
            changed.connect(self.visible_parts.name_anew)  # each says which of how many it is

    def _connect_context(self) -> None:
        context = self.context
        context.copy_requested.connect(self.copier.copy_message)
        context.fold_requested.connect(self.toggle_thinking)
        context.opening_requested.connect(self._toggle)
        context.act_requested.connect(self._on_act)
        bar = self.verticalScrollBar()
        context.begin_requested.connect(lambda y_px: bar.setValue(bar.value() + y_px))
        context.hovered.connect(self._highlights.hover)
        context.selecting.connect(self._layout.let_go)
        self.selection.changed.connect(lambda: self.visible_parts.light(self.selection))
        context.formulas.drawn.connect(self.visible_parts.forget_waiting_for)
        self._layout.settled.connect(self._on_settled)
        self._theme.changed.connect(self._restyle)
        self._theme.changed.connect(self._rebuild)

    @property
    def items(self) -> list[MessageItem]:
        return self.column.items

    # The items, kept as the model's messages are

    def _on_reset(self) -> None:
        """Another chat opens at its end; another branch keeps the scroll position."""
        count = len(self._model.messages)
        width_px = self._layout.column_px()
        if len(self.column.items) > _MOST_FREED:
            self._leaving += self.column.items
            self._free_later.start()
        kept = self.column.keep_same(self._model.messages, width_px)
        self.column.put(kept, [self._layout.make_item(row, width_px) for row in range(kept, count)])
        self._highlights.forget()
        self.selection.drop_lost()
        self._layout.follows_end = not kept or (self._layout.follows_end and kept >= count - 1)
        self._layout.drop_lost()
        self._layout.arrange()
        self.visible_parts.keep_few_spare()

    def _on_changed(self, row: int) -> None:
        """Another message, or a change of this one."""
        item = self.column.items[row]
        item.message = self._model.messages[row]
        item.segment.is_stale = True
        if item.is_read:
            item.sync(self._layout.column_px())
        self._layout.arrange()

    def _on_inserted(self, row: int) -> None:
        if row == len(self.column.items) and self._model.messages[row].from_user:
            self._layout.follow_end()  # a new question is always scrolled into view
        self.column.put(row, [self._layout.make_item(row)])
        self._layout.arrange()

    def _on_prepended(self, count: int) -> None:
        """Earlier messages of a long chat; the reader's text stays in place."""
        width_px = self._layout.column_px()
        self.column.put(0, [self._layout.make_item(row, width_px) for row in range(count)])
        self._layout.arrange()
        if self._layout.follows_end and self._places.awaited is not None:
            self._places.show(self._places.awaited)

    def _on_appended(self, row: int) -> None:
        """Most appended words fit into the last line: nothing has to be placed then."""
        item = self.column.items[row]
        width_px = self._layout.column_px()
        if not item.is_read or item.grow(width_px) or self.visible_parts.show_grown(item, width_px):
            self._layout.arrange()
        else:
            self._light()

    def _on_removed(self, first: int, count: int) -> None:
        for item in self.column.items[first : first + count]:
            item.release_all()
        self.column.drop(first, first + count)
        self.selection.drop_lost()
        self._layout.drop_lost()
        self._layout.arrange()

    def _free_some(self) -> None:
        """Free items in slices: very many take as long to free as to make."""
        del self._leaving[-_MOST_FREED:]
        if not self._leaving:
            self._free_later.stop()

    def toggle_thinking(self, message_id: int) -> None:
        """Shows the thinking and the calls of a message, or folds them up."""
        item = self._layout.item(message_id)
        if item is not None:
            self._open_in(item, set() if item.opened else item.keys())

    def _toggle(self, message_id: int, key: tuple[int, int]) -> None:
        item = self._layout.item(message_id)
        if item is not None:
            self._open_in(item, item.opened ^ {key})

    def _on_act(self, message_id: int, act: str) -> None:
        message = self._model.message(message_id)
        if act == SHOW_JSON and message is not None:
            self._layout.let_go()
            self._model.change(message_id, raw=not message.raw)

    def _open_in(self, item: MessageItem, opened: set[tuple[int, int]]) -> None:
        row = self._model.row_of(item.message.id)
        if row is not None and opened != item.opened:
            item.opened = opened
            self._layout.let_go()
            self._on_changed(row)

    def _rebuild(self) -> None:
        """Creates every item and widget again, for new colours, sizes or words."""
        self._built_in = QLocale()
        self.message_keys.describe()
        focus_again = kept_focus(self.editing, self.column)
        make_anew = partial(self.column.make_anew, self._layout.make_item, self.visible_parts.clear, self._theme.scale)
        self._places.change(make_anew)
        focus_again()

    def _restyle(self) -> None:
        set_ground(self.viewport(), self._theme.palette)
        self.verticalScrollBar().setStyleSheet(self._theme.scroll_bar_style())
        self.verticalScrollBar().setSingleStep(self._theme.px(40))

    def _light(self) -> None:
        """What is selected, and the link in focus, where they are now."""
        self.visible_parts.light(self.selection)
        self._link_keys.place()

    def _on_settled(self, top: int) -> None:
        self._light()
        self._side_lines.place(self.visible_parts.shown(), self._layout.left_px + self._theme.px(6), self._theme)
        is_above = self._layout.bottom_px - top > STICK_PX and not self._layout.follows_end
        beside = self.viewport().rect()
        beside.setLeft(self._layout.left_px + self._layout.column_px())
        beside.setWidth(min(beside.width(), self._theme.px(_BESIDE_PX)))
        self.jump_button.set_wanted(is_above, beside)
        if self._highlights.focused is not None or self.has_ring:
            self.viewport().update()

    def scrollContentsBy(self, _dx: int, dy: int) -> None:  # the parts are moved where they are placed
        if not self._layout.is_settling:
            self._layout.scrolled(up=dy > 0)

    def _on_slider_action(self, action: int) -> None:
        """Dragging the scroll bar stops following the end, also before the bar has moved."""
        if action == QAbstractSlider.SliderAction.SliderMove.value:
            self._layout.let_go()

    def place(self) -> ReadingPlace | None:
        """The reader's position, for `go_to` in a later run; None at the end, which is followed."""
        return self._places.here()

    def go_to(self, place: ReadingPlace | None) -> None:
        """Go to a position; to the end for None or an unknown message."""
        if place is None or not self._places.show(place):
            self.jump_to_end()

    def show_message(self, message_id: int) -> bool:
        """Brings the beginning of a message into sight; returns whether it is in this chat."""
        return self._places.show_message(message_id)

    def set_covered(self, height_px: int) -> None:
        """A notice covers so much of the foot of the page. Nothing moves; one can scroll further."""
        if height_px != self._layout.covered_px:
            self._layout.covered_px = height_px
            self._layout.settle()

    def jump_to_end(self) -> None:
        self._layout.follow_end()
        self._layout.settle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._places.resize()
        self.resized.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._highlights.hover(self.column.message_at(round(event.position().y()) + self._layout.top_px()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._highlights.follow_pointer()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._by_key = False  # no ring until the keyboard is used again
        self._highlights.focus(None)
        self.viewport().update()
        super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if not self.message_keys.takes_menu(event):
            TranscriptMenu(self, event.pos()).popup(event.globalPos())

    def focused_row(self) -> int | None:
        return self._highlights.focused

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes through links, then through the buttons in sight, before it leaves.

        Qt also asks for this where what has the focus is hidden, as of a message that goes: nothing scrolls then.
        """
        focused = QApplication.focusWidget()
        if focused is not None and not focused.isVisible():
            return super().focusNextPrevChild(forward)
        if self._link_keys.tab(forward=forward):
            return True
        self.visible_parts.put_in_tab_order()
        moved = super().focusNextPrevChild(forward)
        if moved:
            self._link_keys.show_focused()
        return moved

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() == Qt.FocusReason.BacktabFocusReason:
            self._link_keys.enter_at_end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() == Qt.Key.Key_Escape and self.link.hasFocus():
            self.setFocus(Qt.FocusReason.TabFocusReason)
        elif self.message_keys.takes(event) or self._selection_keys.press(event) or self._scrolls_sideways(event):
            event.accept()
        elif event.key() == Qt.Key.Key_End:
            self.jump_to_end()
        elif event.key() == Qt.Key.Key_Home:
            self.verticalScrollBar().triggerAction(QAbstractSlider.SliderAction.SliderToMinimum)
        elif event.key() == Qt.Key.Key_Escape and self._highlights.focused is not None:
            self._highlights.focus(None)
        else:
            super().keyPressEvent(event)

    def _scrolls_sideways(self, event: QKeyEvent) -> bool:
        """Left and right scroll what is wide and nearest to the middle of the page, in the focused message if any.

        Wheel and trackpad scroll the one under the pointer (`ReadOnlyText.wheelEvent`).
        """
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None or modifiers_of(event):
            return False
        wide = _wide(self.visible_parts, self.viewport().rect(), self._highlights.focused_message())
        _, bar = min(wide, key=lambda each: each[0], default=(None, None))
        if bar is not None:
            bar.setValue(bar.value() + step * self._theme.px(_STEP_PX))
        return bar is not None

    def copy(self) -> None:
        """What is selected, or else the message in focus. The Edit menu calls it by this name."""
        self.copier.copy(self._highlights.focused_message())

    def selectAll(self) -> None:  # noqa: N802  the Edit menu calls it by Qt's name
        self.selection.select_all()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not (self._side_lines or self._highlights.focused is not None or self.has_ring):
            return  # as for most of what a growing reply has painted
        with QPainter(self.viewport()) as painter:
            self._side_lines.paint(painter, self._theme.palette)
            if self._highlights.focused is not None and self.hasFocus():
                item = self.column.items[self._highlights.focused]
                place = QRect(
                    self._layout.left_px, item.top_px - self._layout.top_px(), self._layout.column_px(), item.height_px
                )
                paint_ring(painter, place, self._theme.palette)
            elif self.has_ring:
                paint_edge_ring(painter, self.viewport().rect(), self._theme.palette)

    def changeEvent(self, event: QEvent) -> None:
        # A switch of language changes the theme's fonts first, and that rebuild has the new words already.
        if event.type() == QEvent.Type.LanguageChange and self._built_in != QLocale():
            self._rebuild()
        super().changeEvent(event)
