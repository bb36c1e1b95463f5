"""The row under a message: figures, version switch, action icons, and the menu. Its height is constant, so that nothing
moves when icons appear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from PySide6.QtCore import QCoreApplication, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QFont, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.markup import json_text
from app.system.energy import Slowdown
from app.theme import FOOTER_PX, Theme
from app.view_models.transcript import ReplyStatus, RequestStats, TranscriptMessage
from app.views.icons import icon
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part, PartWidget
from app.views.widgets.buttons import IconButton, PaintedButton
from app.views.widgets.focus import chain
from app.views.widgets.held_keys import Menu, popup_menu
from app.views.widgets.labels import details_in_lines, say
from app.views.widgets.tooltips import set_tooltip
from app.words import formats
from app.words.notices import NoticeAction
from app.words.replies import SEPARATOR, FooterLine, Tone, reply_footer

ROW_PX = 28
_BUTTON_PX = 26
_TWO_VERSIONS = "2/2"
_STEP_PX = 22  # width of a button of the version switch
_AFTER_VERSIONS_PX = 8
_LINK_SIDE_PX = 8
_LEAST_NAME_PX = 48  # of a model's name; less says nothing
_ICONS = {  # from left to right, as Tab goes through them
    "earlier": "chevron-left",
    "later": "chevron-right",
    "continue": "play",
    "copy": "copy",
    "edit": "pencil",
    "regenerate": "refresh-cw",
    "delete": "trash-2",
    "more": "more-horizontal",
}


# Actions without a signal of their own.
COPY_PLAIN = "copy_plain"
COPY_CSV = "copy_csv"
SHOW_JSON = "show_json"  # or the table or tree again
INSERT_BEFORE = "insert_before"
INSERT_AFTER = "insert_after"
SWITCH_ROLE = "switch_role"
DELETE_FOLLOWING = "delete_following"
NEW_CHAT = "new_chat"
PIN = "pin"
UNPIN = "unpin"
INSPECT = "inspect"
RACE = "race"

_SIDES_PX = 64
_PIN_PX = 14

Entry = tuple[str, str, bool]  # action ("": a separator), text, enabled


def message_menu(context: PartContext, message: TranscriptMessage, parent: QWidget) -> Menu:
    """From its icon or by the keyboard."""
    menu = popup_menu(parent, context.theme)
    add_message_acts(menu, context, message)
    return menu


def add_message_acts(menu: QMenu, context: PartContext, message: TranscriptMessage) -> None:
    for act, words, possible in _entries(message):
        if not act:
            menu.addSeparator()
            continue
        action = menu.addAction(words)
        action.setEnabled(possible)
        action.setObjectName(f"message {act}")  # the same in every language
        action.triggered.connect(lambda _checked=False, act=act: ask_for(context, act, message.id))
    # Qt measures entries in fonts of several scripts too narrow.
    widest = max(menu.fontMetrics().horizontalAdvance(action.text()) for action in menu.actions())
    menu.setMinimumWidth(widest + context.theme.px(_SIDES_PX))


def ask_for(context: PartContext, act: str, message_id: int) -> None:
    signal = {
        "copy": context.copy_requested,
        "edit": context.edit_requested,
        "continue": context.continue_requested,
        "regenerate": context.regenerate_requested,
        "delete": context.delete_requested,
    }.get(act)
    if signal is not None:
        signal.emit(message_id)
    else:
        context.act_requested.emit(message_id, act)


def can_change(message: TranscriptMessage) -> bool:
    """Whether it is not running, being edited, or damaged."""
    damaged = message.status in (ReplyStatus.UNREADABLE, ReplyStatus.UNSAVED)
    return not (message.under_way or message.edit is not None or damaged)


def _entries(message: TranscriptMessage) -> Iterator[Entry]:
    has_words = bool(message.written.strip())
    value = None if message.from_user or message.under_way else json_text.read(message.text)
    markdown = QCoreApplication.translate("MessageActs", "Copy as Markdown")
    yield "copy", markdown if value is None else QCoreApplication.translate("MessageActs", "Copy as JSON"), has_words
    yield COPY_PLAIN, QCoreApplication.translate("MessageActs", "Copy as Plain Text"), has_words
    if value is not None:
        table = json_text.table_of(value)
        if table is not None:
            yield COPY_CSV, QCoreApplication.translate("MessageActs", "Copy as CSV"), True
        shown = QCoreApplication.translate("MessageActs", "Show as Table")
        if table is None:
            shown = QCoreApplication.translate("MessageActs", "Show as Tree")
        yield SHOW_JSON, shown if message.raw else QCoreApplication.translate("MessageActs", "Show JSON"), True
    yield "", "", False
    yield from _changes(message, has_words=has_words)


def _changes(message: TranscriptMessage, *, has_words: bool) -> Iterator[Entry]:
    free = can_change(message)
    yield "edit", QCoreApplication.translate("MessageActs", "Edit"), free
    again = QCoreApplication.translate("MessageActs", "Regenerate")
    answer = QCoreApplication.translate("MessageActs", "Generate Reply")
    yield "regenerate", answer if message.from_user else again, message.edit is None and not message.summary
    if not message.from_user:
        yield (
            "continue",
            QCoreApplication.translate("MessageActs", "Continue"),
            free and has_words and not message.summary,
        )
        yield "", "", False
        yield INSPECT, QCoreApplication.translate("MessageActs", "Show in Inspector"), message.stats is not None
        yield RACE, QCoreApplication.translate("MessageActs", "Race…"), free
    if message.pinned:
        yield UNPIN, QCoreApplication.translate("MessageActs", "Unpin"), True
    else:
        yield PIN, QCoreApplication.translate("MessageActs", "Pin"), not message.under_way
    yield NEW_CHAT, QCoreApplication.translate("MessageActs", "New Chat from Here"), not message.under_way
    yield "", "", False
    yield INSERT_BEFORE, QCoreApplication.translate("MessageActs", "Insert Before"), free
    yield INSERT_AFTER, QCoreApplication.translate("MessageActs", "Insert After"), free
    yours = QCoreApplication.translate("MessageActs", "Change to My Message")
    model_s = QCoreApplication.translate("MessageActs", "Change to Model's Reply")
    yield SWITCH_ROLE, model_s if message.from_user else yours, free and not message.summary
    yield "", "", False
    yield "delete", QCoreApplication.translate("MessageActs", "Delete"), True
    yield DELETE_FOLLOWING, QCoreApplication.translate("MessageActs", "Delete This and Later Messages…"), True


@dataclass(frozen=True, slots=True)
class FooterContent:
    """`highlighted`: it has the pointer or focus, so that icons are shown."""

    from_user: bool = False
    status: ReplyStatus = ReplyStatus.DONE
    stats: RequestStats | None = None
    empty: bool = False
    slowdown: Slowdown = Slowdown.NONE
    can_continue: bool = False
    sibling: int = 1
    siblings: int = 1
    highlighted: bool = False
    model: str = ""  # who wrote it
    summary: bool = False
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class _Words:
    """One piece of the row's text, as it is painted."""

    text: str
    row: QRect
    font: QFont
    color: QColor
    end_px: int


class _Layout:
    """Places texts and icons of a row, in one or more lines."""

    def __init__(self, theme: Theme, content: FooterContent, line: FooterLine | None, link_px: int, acts: int) -> None:
        """`link_px`: width of the link, or 0; `acts`: most icons of the row."""
        self._theme = theme
        self._content = content
        self._line = line
        self._link_px = link_px
        medium = line is not None and line.tone in (Tone.GAIN, Tone.COST)
        weight = QFont.Weight.DemiBold if medium else QFont.Weight.Normal
        self.plain = theme.ui_font(FOOTER_PX, tabular=True)
        self._bold = theme.ui_font(FOOTER_PX, weight, tabular=True)
        self._metrics = QFontMetrics(self.plain)
        self.row_px = theme.px(ROW_PX)
        self.side_px = theme.px(_BUTTON_PX)
        self._gain_px = QFontMetrics(self._bold).horizontalAdvance(line.gain) if line else 0
        self._figures_px = self._gain_px + self._metrics.horizontalAdvance(self._rest) if line else 0
        self.count_words = f"{formats.count(content.sibling)}/{formats.count(content.siblings)}"
        has_versions = content.siblings > 1
        words = self.count_words if has_versions else _TWO_VERSIONS
        self.count_px = self._metrics.horizontalAdvance(words) + theme.px(4)
        self.step_px = theme.px(_STEP_PX)
        self.versions_px = 2 * self.step_px + self.count_px if has_versions else 0
        # The version switch is at the message's own edge, where it stays when the icons beside it are hidden.
        self.left_px = 0 if content.from_user else self.versions_px + theme.px(_AFTER_VERSIONS_PX) * has_versions
        self.text_px = self.left_px + self._figures_px + link_px
        self._icons_px = self.side_px * (acts + 1) + (self.versions_px if content.from_user else 0)

    @property
    def _rest(self) -> str:
        """The details as they follow the gain."""
        line = self._line
        if line is None:
            return ""
        return SEPARATOR + line.details if line.gain and line.details else line.details

    @property
    def _line_px(self) -> int:
        """From one line of the text to the next."""
        return round(self.row_px * 0.75)

    def icons_top(self, width_px: int) -> int:
        """Below the text, where one row cannot hold both."""
        if not self._wraps(width_px):
            return self.row_px if self._is_narrow(width_px) else 0
        assert self._line is not None
        lines = len(self._details_in_lines(width_px)) + bool(self._line.gain)
        return 2 * self.row_px + (lines - 2) * self._line_px

    def link_left(self, width_px: int) -> int:
        """After the text, or after the gain where the details go below it."""
        text_px = self._gain_px if self._wraps(width_px) else self._figures_px
        return min(self.left_px + text_px, width_px - self._link_px)

    def words(self, width_px: int) -> list[_Words]:
        figures = self._figures(self._line, width_px) if self._line is not None else []
        return [*figures, *self._model(figures[-1].end_px if figures else self.left_px, width_px)]

    def _figures(self, line: FooterLine, width_px: int) -> list[_Words]:
        row = QRect(self.left_px, 0, width_px - self.left_px, self.row_px)
        placed = [_placed(row, line.gain, self._bold, self._tone_color(line.tone))]
        if not self._wraps(width_px):
            row.setLeft(placed[0].end_px)
            return [*placed, self._faint(row, self._rest)]
        row.translate(0, self._line_px if line.gain else 0)
        for words in self._details_in_lines(width_px):
            placed.append(self._faint(row, words))
            row.translate(0, self._line_px)
        return placed

    def _model(self, left: int, width_px: int) -> list[_Words]:
        """Who wrote it: after the statistics, or left of the icons where those are below and it does not fit."""
        model = self._content.model
        if not (model and self._theme.reply_figures):
            return []
        left = max(left, self.link_left(width_px) + self._link_px if self._link_px else 0)
        below = self._is_narrow(width_px)
        separator = SEPARATOR if left > self.left_px else ""
        icons_px = self._icons_px if self._content.highlighted else 0
        row = QRect(left, 0, width_px - left - (0 if below else icons_px), self.row_px)
        fits = row.width() >= self._metrics.horizontalAdvance(separator + model)
        if below and (self._wraps(width_px) or not fits):
            separator = ""
            row = QRect(0, self.icons_top(width_px), width_px - icons_px, self.row_px)
        if row.width() < self._metrics.horizontalAdvance(separator) + self._theme.px(_LEAST_NAME_PX):
            return []
        return [self._faint(row, separator + model)]

    def _wraps(self, width_px: int) -> bool:
        """Whether the details do not fit beside the gain and go below it."""
        return self.text_px > width_px

    def _is_narrow(self, width_px: int) -> bool:
        """Whether icons have to be below the text."""
        return self.text_px > 0 and self.text_px + self._icons_px > width_px

    def _details_in_lines(self, width_px: int) -> list[str]:
        """Details broken between figures, so that the last one is readable."""
        details = self._line.details if self._line is not None else ""
        return details_in_lines(details, self._metrics, width_px - self.left_px).split("\n")

    def _faint(self, row: QRect, words: str) -> _Words:
        return _placed(row, words, self.plain, self._theme.palette.faint)

    def _tone_color(self, tone: Tone) -> QColor:
        colors = self._theme.palette
        return {Tone.GAIN: colors.gain, Tone.COST: colors.cost}.get(tone, colors.faint)


def _placed(row: QRect, words: str, font: QFont, color: QColor) -> _Words:
    metrics = QFontMetrics(font)
    elided = metrics.elidedText(words, Qt.TextElideMode.ElideRight, row.width())
    return _Words(elided, QRect(row), font, color, row.left() + metrics.horizontalAdvance(elided))


class MessageFooter(PartWidget, QWidget):
    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self.message_id = 0
        self._content = FooterContent()
        self._line: FooterLine | None = None
        self.setMouseTracking(True)
        self._layout = _Layout(context.theme, self._content, None, link_px=0, acts=0)
        self._pressed_at = QPointF()
        self._words: list[_Words] | None = None  # None until it is painted at this width
        self.link = FooterLink(context, self)
        self.link.clicked.connect(
            lambda: context.notice_action_requested.emit(self.message_id, NoticeAction.TURN_OFF_PAIR)
        )

    @cached_property
    def buttons(self) -> dict[str, IconButton]:
        """Created when the first is shown: most rows scroll by without."""
        context = self._context
        made = {act: IconButton(context.theme, name, _BUTTON_PX, self) for act, name in _ICONS.items()}
        made["earlier"].clicked.connect(lambda: context.sibling_requested.emit(self.message_id, -1))
        made["later"].clicked.connect(lambda: context.sibling_requested.emit(self.message_id, 1))
        for step in ("earlier", "later"):  # through many versions, each with a row of its own
            made[step].takes_every_click = True
        made["more"].clicked.connect(self._open_menu)
        for act in ("copy", "edit", "continue", "regenerate", "delete"):
            made[act].clicked.connect(lambda _=False, act=act: ask_for(context, act, self.message_id))
        self._name(made)
        self.link.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # Qt puts nothing after what takes no focus
        chain([self.link, *made.values()])  # or what is made last would be the last of the window
        return made

    @property
    def accessible_role(self) -> QAccessible.Role:
        """Words alone, or what has buttons; where there is neither, screen readers have nothing to say."""
        if self._shown_acts() or not self.link.isHidden():
            return QAccessible.Role.Grouping
        return QAccessible.Role.StaticText if self.accessibleName() else QAccessible.Role.Client

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, FooterContent)
        self._content = part.content
        self.message_id = part.message_id
        content = self._content
        footer = reply_footer(content.stats, content.status, empty=content.empty, slowdown=content.slowdown)
        footer = None if content.from_user else footer
        with_figures = self._context.theme.reply_figures
        if footer is not None:
            shown = SEPARATOR.join(filter(None, (footer.note, footer.details if with_figures else "")))
            self._line = replace(footer, details=shown, note="")
        else:
            self._line = None
        set_tooltip(self, "\n".join(words for words in (content.model, footer.tooltip if footer else "") if words))
        pinned = self.tr("Pinned") if content.pinned else ""
        self.setAccessibleName(SEPARATOR.join(filter(None, (footer.text if footer else "", content.model, pinned))))
        say(self.link, footer.link if footer else "")
        link_px = self.link.sizeHint().width() if footer and footer.link else 0
        acts = len(self._possible_acts())
        self._layout = _Layout(self._context.theme, content, self._line, link_px=link_px, acts=acts)
        if "buttons" in self.__dict__ or self._shown_acts():
            self._show_buttons(width_px)
        self.link.setFocusPolicy(self._focus_policy)
        self._arrange_link(width_px)
        self._words = None
        self.update()
        return self._layout.icons_top(width_px) + self._layout.row_px

    def _show_buttons(self, width_px: int) -> None:
        shown = self._shown_acts()
        for act, button in self.buttons.items():
            button.setVisible(act in shown)
            button.setEnabled(not self._content.status.under_way or act != "edit")
            button.setFocusPolicy(self._focus_policy)
        self._arrange(width_px)

    @property
    def _focus_policy(self) -> Qt.FocusPolicy:
        """Tab stops at buttons of the focused message only."""
        return Qt.FocusPolicy.TabFocus if self._content.highlighted else Qt.FocusPolicy.NoFocus

    def _possible_acts(self) -> list[str]:
        """Possible actions in the order of the row, hidden ones too."""
        content = self._content
        if content.status is ReplyStatus.UNREADABLE:
            return ["copy", "delete"]
        again = [] if content.from_user or content.summary else ["regenerate"]
        onward = ["continue"] if content.can_continue else []
        return [*onward, "copy", "edit", *again, "delete", "more"]

    def _shown_acts(self) -> list[str]:
        versions = ["earlier", "later"] if self._content.siblings > 1 else []
        return versions + (self._possible_acts() if self._content.highlighted else [])

    def _arrange(self, width_px: int) -> None:
        """Place actions at the right edge, and the version switch at the edge that the message has. None moves while a
        reply is rewritten.
        """
        layout = self._layout
        side = layout.side_px
        step = layout.step_px
        y = (layout.row_px - side) // 2
        left = width_px - layout.versions_px if self._content.from_user else 0
        self.buttons["earlier"].setGeometry(left, y, step, side)
        self.buttons["later"].setGeometry(left + layout.versions_px - step, y, step, side)
        y += layout.icons_top(width_px)
        x = width_px - side * len(self._possible_acts()) - (layout.versions_px if self._content.from_user else 0)
        for act in self._possible_acts():
            self.buttons[act].setGeometry(x, y, side, side)
            x += side
        self.buttons["earlier"].setEnabled(self._content.sibling > 1)
        self.buttons["later"].setEnabled(self._content.sibling < self._content.siblings)

    def _arrange_link(self, width_px: int) -> None:
        if self._line is not None and self._line.link:
            place = QRect(QPoint(self._layout.link_left(width_px), 0), self.link.sizeHint())
            self.link.setGeometry(place.translated(0, (self._layout.row_px - place.height()) // 2))

    def _name(self, buttons: dict[str, IconButton]) -> None:
        for act, words in {
            "earlier": self.tr("Previous version"),
            "later": self.tr("Next version"),
            "copy": self.tr("Copy message"),
            "edit": self.tr("Edit message"),
            "continue": self.tr("Continue reply"),
            "regenerate": self.tr("Regenerate reply"),
            "delete": self.tr("Delete message"),
            "more": self.tr("More"),
        }.items():
            buttons[act].set_name(words)

    def _open_menu(self) -> None:
        message = self._context.message_of(self.message_id)
        button = self.buttons["more"]
        if message is not None:
            # Not a child of this row: a change of theme makes that again, and the menu stays open.
            menu = message_menu(self._context, message, self.window())
            menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

    def _is_on_figures(self, event: QMouseEvent) -> bool:
        return self._line is not None and event.position().x() <= self._layout.text_px

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.setCursor(Qt.CursorShape.PointingHandCursor if self._is_on_figures(event) else Qt.CursorShape.ArrowCursor)
        super().mouseMoveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed_at = event.globalPosition()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on the figures opens the inspector; a drag that began there selects text."""
        moved = (event.globalPosition() - self._pressed_at).manhattanLength() >= QApplication.startDragDistance()
        if self._is_on_figures(event) and not moved and event.button() is Qt.MouseButton.LeftButton:
            self._context.act_requested.emit(self.message_id, INSPECT)
        super().mouseReleaseEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._words = None

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Below a reply that grows it is painted at each new line: the words are placed once."""
        with QPainter(self) as painter:
            if self._words is None:
                self._words = self._layout.words(self.width())
            for words in self._words:
                painter.setFont(words.font)
                painter.setPen(words.color)
                painter.drawText(words.row, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words.text)
            if self._content.siblings > 1:
                self._paint_count(painter)
            if self._content.pinned and not self._content.highlighted:
                self._paint_pin(painter)

    def _paint_pin(self, painter: QPainter) -> None:
        """Where the icons of a highlighted message end."""
        theme = self._context.theme
        side = theme.px(_PIN_PX)
        versions_px = self._layout.versions_px if self._content.from_user else 0
        left = self.width() - versions_px - (self._layout.side_px + side) // 2
        top = self._layout.icons_top(self.width()) + (self._layout.row_px - side) // 2
        icon("pin", theme.palette.faint).paint(painter, QRect(left, top, side, side))

    def _paint_count(self, painter: QPainter) -> None:
        between = self.buttons["earlier"].geometry()
        area = QRect(between.right() + 1, between.top(), self._layout.count_px, between.height())
        painter.setFont(self._layout.plain)
        painter.setPen(self._context.theme.palette.secondary)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self._layout.count_words)


class FooterLink(PaintedButton):
    """The link after the statistics, shown where drafting costs time."""

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(context.theme, parent)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.theme.ui_font(FOOTER_PX))
        width = metrics.horizontalAdvance(self.text()) + 2 * self.theme.px(_LINK_SIDE_PX)
        return QSize(width, metrics.height() + self.theme.px(4))

    def paint_content(self, painter: QPainter) -> None:
        font = self.theme.ui_font(FOOTER_PX)
        font.setUnderline(self.underMouse())
        painter.setFont(font)
        painter.setPen(self.theme.palette.ink)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())
