"""One-line parts: the fold over a reply's thinking, progress before it starts, what went wrong, attachments."""

import math
from dataclasses import dataclass
from itertools import zip_longest

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QAccessible, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import RADIUS_CARD, UI_PX
from app.view_models.attached import row_of
from app.view_models.transcript import Attachments, EngineError, ReplyStatus
from app.views.icons import icon
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part, PartWidget
from app.views.widgets.attachment_chip import AttachmentChip
from app.views.widgets.buttons import Emphasis, OpeningLine, PillButton
from app.views.widgets.flow import in_lines, put_in_lines
from app.views.widgets.labels import TextLabel, TextStyle, say
from app.views.widgets.painting import paint_card
from app.views.widgets.tooltips import set_tooltip
from app.words import formats
from app.words.formats import listed
from app.words.notices import NoticeAction, action_text
from app.words.replies import install_notice, reply_notice

ANSWER_NOW = "answer_now"  # what a click on it asks for
_MINUTE_S = 60
_GAP_PX = 6
_AMONG_OTHERS_PX = 96  # height of one of several pictures
_BELOW_PX = 6
_SHARE = 0.8  # of the column's width, as of bubbles


@dataclass(frozen=True, slots=True)
class Fold:
    seconds: float
    opened: bool
    thinking: bool  # still at it
    can_end: bool = False  # on command
    key: tuple[int, int] = (1, 0)  # by which its message knows what is open


class FoldPart(PartWidget, QWidget):
    """“Thought for 12 s”, with the thinking after it; while it thinks, a button that ends it."""

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = context.theme
        self._message_id = 0
        self._key = (1, 0)
        self.fold = OpeningLine(context.theme, self)
        self.fold.clicked.connect(lambda: context.opening_requested.emit(self._message_id, self._key))
        self.answer_now = PillButton(context.theme, Emphasis.QUIET, parent=self)
        self.answer_now.setText(self.tr("Answer now"))
        self.answer_now.setAccessibleName(self.answer_now.text())
        self.answer_now.clicked.connect(lambda: context.act_requested.emit(self._message_id, ANSWER_NOW))

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, Fold)
        content = part.content
        self._message_id = part.message_id
        self._key = content.key
        self.fold.setText(self._words(content))
        self.fold.setAccessibleName(self.fold.text())
        self.fold.setAccessibleDescription(self.tr("Hide thinking") if content.opened else self.tr("Show thinking"))
        self.fold.set_opened(content.opened)
        if self.answer_now.hasFocus() and not content.can_end:
            self.fold.setFocus(Qt.FocusReason.OtherFocusReason)
        self.answer_now.setVisible(content.can_end)
        height = self._theme.px(26)
        fold_px = width_px
        if content.can_end:
            size = self.answer_now.sizeHint()
            fold_px = min(self.fold.sizeHint().width(), width_px - size.width())
            self.answer_now.setGeometry(fold_px, 0, size.width(), height)
        self.fold.setGeometry(0, 0, fold_px, height)
        return height

    def _words(self, fold: Fold) -> str:
        if fold.thinking and fold.seconds < 1:
            return self.tr("Thinking…")
        words = self.tr("Thinking for %1…") if fold.thinking else self.tr("Thought for %1")
        return formats.fill(words, self._duration(max(1, round(fold.seconds))))

    def _duration(self, seconds: int) -> str:
        if seconds < _MINUTE_S:
            return formats.fill(self.tr("%1 s"), formats.count(seconds))
        minutes, rest = divmod(seconds, _MINUTE_S)
        return formats.fill(self.tr("%1 min %2 s"), formats.count(minutes), formats.count(rest))


@dataclass(frozen=True, slots=True)
class ProgressContent:
    """Of a reply without words."""

    status: ReplyStatus = ReplyStatus.QUEUED
    share: float | None = None  # of its prompt that is read
    waits_for: int = 0  # replies before it in the line


class ProgressPart(PartWidget, QWidget):
    """“Reading the chat… 40 %” over a thin bar, until the first token."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._content = ProgressContent()

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, ProgressContent)
        self._content = part.content
        self.setAccessibleName(self._words())
        self.update()
        return self._context.theme.px(28)

    def _words(self) -> str:
        content = self._content
        if content.status is ReplyStatus.STOPPING:
            return self.tr("Stopping…")
        if content.status is ReplyStatus.QUEUED and content.waits_for:
            return self.tr("Waiting for %Ln other reply(ies)…", "", content.waits_for)
        if content.share is None:
            return self.tr("Reading the chat…")
        return formats.fill(self.tr("Reading the chat… %1"), formats.percent(content.share))

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = self._context.theme
        colors = self._context.theme.palette
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setFont(theme.ui_font(UI_PX, tabular=True))
            painter.setPen(colors.secondary)
            painter.drawText(QRectF(0, 0, self.width(), theme.px(20)), Qt.AlignmentFlag.AlignVCenter, self._words())
            share = self._content.share
            if share is not None and self._content.status is not ReplyStatus.STOPPING:
                track = QRectF(0, theme.px(25), min(self.width(), theme.px(180)), 3)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colors.hairline)
                painter.drawRoundedRect(track, 1.5, 1.5)
                track.setWidth(track.width() * max(0.0, min(1.0, share)))
                painter.setBrush(colors.ink)
                painter.drawRoundedRect(track, 1.5, 1.5)


@dataclass(frozen=True, slots=True)
class NoticeContent:
    status: ReplyStatus
    error: EngineError | None
    empty: bool
    needs_larger_model: bool = False  # nothing went wrong: the starter pair cannot answer it


class NoticePart(PartWidget, QWidget):
    """A notice in the chat: what failed, why, and what to do."""

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._is_fault = True
        self.words = ""  # all of it, to copy
        self._message_id = 0
        styles = (TextStyle.HEADING, TextStyle.BODY, TextStyle.SECONDARY)
        self._labels = [TextLabel(context.theme, style, self) for style in styles]
        self.buttons: list[PillButton] = []
        self._actions: list[NoticeAction] = []  # of the buttons

    def _add_button(self, number: int) -> None:
        button = PillButton(self._context.theme, parent=self)
        button.clicked.connect(
            lambda: self._context.notice_action_requested.emit(self._message_id, self._actions[number])
        )
        self.buttons.append(button)

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, NoticeContent)
        content = part.content
        self._is_fault = not content.needs_larger_model
        notice = (
            reply_notice(content.status, content.error, empty=content.empty) if self._is_fault else install_notice()
        )
        assert notice is not None
        self._message_id = part.message_id
        for label, words in zip(self._labels, (notice.title, notice.sentence, notice.hint), strict=True):
            say(label, words)
        self._is_fault = self._is_fault and not notice.others
        self._actions = [action for action in (notice.action, *notice.others) if action is not None]
        while len(self.buttons) < len(self._actions):
            self._add_button(len(self.buttons))
        for button, action in zip_longest(self.buttons, self._actions):
            button.setVisible(action is not None)
            button.setText(action_text(action))
            button.setAccessibleName(button.text())
        self.words = formats.spoken(notice.title, notice.sentence, notice.hint)
        self.setAccessibleName(self.words)
        set_tooltip(self, notice.detail)
        return self._arrange(width_px)

    def _arrange(self, width_px: int) -> int:
        theme = self._context.theme
        left = theme.px(40)
        pad = theme.px(12)
        y = pad
        wanted = width_px - left - pad
        for label in self._labels:
            if label.isVisibleTo(self):
                height = label.heightForWidth(wanted)
                label.setGeometry(left, y, wanted, height)
                y += height + theme.px(3)
        if not self._actions:
            return y + pad - theme.px(3)
        shown = self.buttons[: len(self._actions)]
        return put_in_lines(shown, QPoint(left, y + theme.px(6)), wanted, theme.px(_GAP_PX), theme.px(9)) + pad

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = self._context.theme
        colors = self._context.theme.palette
        with QPainter(self) as painter:
            paint_card(painter, self.rect(), RADIUS_CARD, colors.surface, colors.hairline)
            side = theme.px(16)
            line = math.ceil(QFontMetricsF(theme.ui_font(UI_PX)).height())
            shown = icon("alert-triangle", colors.fault) if self._is_fault else icon("info", colors.secondary)
            shown.paint(painter, QRect(theme.px(14), theme.px(12) + (line - side) // 2, side, side))


class AttachmentsPart(PartWidget, QWidget):
    """Chips at the right, like the bubble of their message; each opens its attachment."""

    from_left = False

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._message_id = 0
        self._shown: Attachments = ()
        self.chips: list[AttachmentChip] = []

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, tuple)
        self._message_id = part.message_id
        if part.content != self._shown:
            self._shown = part.content
            self._make_chips()
        self.setAccessibleName(listed(*(chip.accessibleName() for chip in self.chips)))
        return self._lay(width_px)

    def _make_chips(self) -> None:
        for chip in self.chips:
            chip.hide()
            chip.deleteLater()
        most_px = _AMONG_OTHERS_PX if len(self._shown) > 1 else 0
        rows = (row_of(each, tokens=each.tokens or None) for each in self._shown)
        theme = self._context.theme
        self.chips = [AttachmentChip(theme, row, self, removable=False, most_px=most_px) for row in rows]
        for number, chip in enumerate(self.chips):
            chip.clicked.connect(lambda _checked=False, number=number: self._open(number))
            chip.setCursor(Qt.CursorShape.PointingHandCursor)
            chip.show()

    def light_found(self, number: int | None) -> None:
        """Shows that a search has found something in this one, and in no other."""
        for each, chip in enumerate(self.chips):
            chip.set_found(each == number)

    def _open(self, number: int) -> None:
        self._context.attachment_requested.emit(self._message_id, number)

    def _lay(self, width_px: int) -> int:
        """Lines of chips, each at the right; the height of all."""
        gap = self._context.theme.px(_GAP_PX)
        y = 0
        most_px = round(width_px * _SHARE)
        sized = ((chip, min(chip.sizeHint().width(), most_px)) for chip in self.chips)
        for line in in_lines(sized, lambda each: each[1], most_px, gap):
            line_px = sum(width for _, width in line) + gap * (len(line) - 1)
            x = 0 if self.from_left else width_px - line_px
            heights = [chip.height_at(width) for chip, width in line]
            for (chip, width), height in zip(line, heights, strict=True):
                chip.setGeometry(QRect(x, y + max(heights) - height, width, height))
                x += width + gap
            y += max(heights) + gap
        return y - gap + self._context.theme.px(_BELOW_PX)
