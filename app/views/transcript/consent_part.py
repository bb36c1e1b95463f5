"""The question whether a tool may be called: who asks, what, with which arguments. A part of the chat, never a dialog.

Its words are one text, so that they are selected, found and read aloud as any; what cannot be seen in them is named.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QPoint, QRect, Qt, QTimer
from PySide6.QtGui import (
    QFont,
    QHideEvent,
    QMoveEvent,
    QPainter,
    QPaintEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QWidget

from app.markup import long_lines
from app.theme import CODE_LEADING, CODE_PX, FOOTER_PX, RADIUS_CARD, UI_PX
from app.tools.definitions import Answer
from app.view_models.tools import ConsentView
from app.views.icons import icon
from app.views.transcript.call_words import (
    ConsentLine,
    ConsentSpan,
    answer_explained,
    answer_text,
    consent_lines,
    consent_title,
    consent_why,
)
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part, PartWidget
from app.views.transcript.text_parts import ReadOnlyText
from app.views.widgets.buttons import PillButton
from app.views.widgets.flow import put_in_lines
from app.views.widgets.labels import TextLabel, TextStyle, say
from app.views.widgets.painting import paint_card
from app.views.widgets.tooltips import set_tooltip
from app.words.formats import spoken

_EARLY_MS = 500  # in which no key and no click answers: it may have been meant for what was here before
_PAD_PX = 16
_ICON_PX = 16
_GAP_PX = 8
_TOOL_GAP_PX = 14
_VALUE_LEFT_PX = 12
_UI_LEADING = 1.4
_MONO = (ConsentSpan.VALUE, ConsentSpan.UNSEEN)


@dataclass(frozen=True, slots=True)
class ConsentContent:
    view: ConsentView
    lines: tuple[ConsentLine, ...] = field(compare=False)
    text: str = field(compare=False)

    @classmethod
    def of(cls, view: ConsentView) -> ConsentContent:
        lines = consent_lines(view)
        return cls(view, lines, "\n".join("".join(span.text for span in line) for line in lines))


class ConsentText(ReadOnlyText):
    def show_name(self, name: str) -> None:
        """It has its own: what the buttons below it allow."""


class ConsentPart(PartWidget, QWidget):
    """Nothing answers it in its first moment, by key or click, and the button that refuses comes first.

    One that is higher than the page is shown from its end: the first button that allows it leads to its beginning then.
    """

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._content: ConsentContent | None = None
        self._message_id = 0
        self._begin_was_seen = False
        self.title = TextLabel(context.theme, TextStyle.HEADING, self)
        self.why = TextLabel(context.theme, TextStyle.BODY, self)
        self.text = ConsentText(context, self)
        self.answers = {answer: PillButton(context.theme, parent=self) for answer in Answer}
        self.early = QTimer(self, singleShot=True, interval=_EARLY_MS)
        for answer, button in self.answers.items():
            button.clicked.connect(lambda _checked=False, answer=answer: self._give(answer))

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, ConsentContent)
        content = part.content
        before = None if self._content is None else (self._message_id, self._content.view)
        is_new = before != (part.message_id, content.view)
        self._content = content
        self._message_id = part.message_id
        if is_new:
            self._begin_was_seen = False
            self.early.start()
            self._context.consent_shown.emit(part.message_id, self.answers[Answer.DONT])
        self._say(content.view)
        wanted = self._words_px(width_px)
        if part.measured_width_px < 0:
            self.text.clear_for(wanted)
            self._write(content.lines)
        return self._arrange(width_px)

    def hideEvent(self, event: QHideEvent) -> None:
        """What it is shown for next may be another question with the same words."""
        super().hideEvent(event)
        if self.isHidden():  # and not only its window
            self._content = None

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self._look()

    def _look(self) -> None:
        page = self.parentWidget()
        assert page is not None
        self._begin_was_seen |= -self.title.y() <= self.y() < page.height()

    def _give(self, answer: Answer) -> None:
        self._look()
        if self._content is None or self.early.isActive():
            return
        if answer is not Answer.DONT and not self._begin_was_seen:
            self._context.begin_requested.emit(self.y())
        else:
            self._context.consent_answered.emit(self._message_id, answer, self._content.view)

    @property
    def buttons(self) -> list[PillButton]:
        """In the order in which they are offered; the one that refuses is the first."""
        assert self._content is not None
        offers = (answer for answer in self._content.view.offers if answer is not Answer.DONT)
        return [self.answers[answer] for answer in (Answer.DONT, *offers)]

    def _say(self, view: ConsentView) -> None:
        self.title.setText(consent_title(view))
        say(self.why, consent_why(view))
        for answer, button in self.answers.items():
            button.setVisible(button in self.buttons)
            button.setText(answer_text(answer, view.reason))
            button.setAccessibleName(button.text())
            button.setAccessibleDescription(answer_explained(answer, view))
            set_tooltip(button, answer_explained(answer, view))
        self.text.setAccessibleName(self.tr("What it would do"))
        self.setAccessibleName(spoken(self.title.text(), self.why.text()))

    def _write(self, lines: tuple[ConsentLine, ...]) -> None:
        theme = self._context.theme
        self.text.set_document_font(theme.ui_font(UI_PX))
        cursor = QTextCursor(self.text.document())
        cursor.beginEditBlock()
        for number, line in enumerate(lines):
            form = self._line_format(line, is_first=number == 0)
            if number:
                cursor.insertBlock(form)
            else:
                cursor.setBlockFormat(form)
            for span in line:
                cursor.setCharFormat(self._span_format(span.kind))
                long_lines.insert(cursor, span.text)
        self.text.end_writing(cursor)

    def _line_format(self, line: ConsentLine, *, is_first: bool) -> QTextBlockFormat:
        theme = self._context.theme
        kind = line[0].kind
        result = QTextBlockFormat()
        px, leading = {
            ConsentSpan.NAME: (FOOTER_PX, _UI_LEADING),
            ConsentSpan.SENTENCE: (UI_PX, _UI_LEADING),
            ConsentSpan.TOOL: (UI_PX, _UI_LEADING),
        }.get(kind, (CODE_PX, CODE_LEADING))
        result.setLineHeight(round(px * leading * theme.scale), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        if kind is ConsentSpan.TOOL and not is_first:
            result.setTopMargin(theme.px(_TOOL_GAP_PX))
        if kind is ConsentSpan.NAME:
            result.setTopMargin(theme.px(6))
        if kind in _MONO:  # a line of a value must not look like a name, nor be reordered
            result.setLeftMargin(theme.px(_VALUE_LEFT_PX))
            result.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        return result

    def _span_format(self, kind: ConsentSpan) -> QTextCharFormat:
        theme = self._context.theme
        colors = theme.palette
        result = QTextCharFormat()
        weight = QFont.Weight.DemiBold if kind is ConsentSpan.TOOL else QFont.Weight.Normal
        small = kind is ConsentSpan.NAME
        font = theme.mono_font(CODE_PX) if kind in _MONO else theme.ui_font(FOOTER_PX if small else UI_PX, weight)
        result.setFont(font)
        color = {
            ConsentSpan.SENTENCE: colors.secondary,
            ConsentSpan.NAME: colors.secondary,
            ConsentSpan.UNSEEN: colors.cost,
        }.get(kind, colors.text)
        result.setForeground(color)
        return result

    @property
    def _left_px(self) -> int:
        """Of all words and buttons: beside the icon."""
        return self._context.theme.px(_PAD_PX + _ICON_PX + _GAP_PX)

    def _words_px(self, width_px: int) -> int:
        return width_px - self._left_px - self._context.theme.px(_PAD_PX)

    def _arrange(self, width_px: int) -> int:
        theme = self._context.theme
        pad = theme.px(_PAD_PX)
        wanted = self._words_px(width_px)
        y = pad
        for label in (self.title, self.why):
            if label.isVisibleTo(self):
                height = label.heightForWidth(wanted)
                label.setGeometry(self._left_px, y, wanted, height)
                y += height + theme.px(4)
        y += theme.px(4)
        height = self.text.height_at(wanted) if self._content is not None and self._content.lines else 0
        self.text.setGeometry(self._left_px, y, wanted, height)
        gap = theme.px(_GAP_PX)
        return put_in_lines(self.buttons, QPoint(self._left_px, y + height + theme.px(12)), wanted, gap, gap) + pad

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = self._context.theme
        colors = theme.palette
        with QPainter(self) as painter:
            paint_card(painter, self.rect(), RADIUS_CARD, colors.surface, colors.hairline)
            side = theme.px(_ICON_PX)
            top = self.title.y() + max(0, (self.title.fontMetrics().height() - side) // 2)
            icon("wrench", colors.secondary).paint(painter, QRect(theme.px(_PAD_PX), top, side, side))
