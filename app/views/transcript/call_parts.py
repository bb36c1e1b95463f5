"""A tool call in a reply: one line that unfolds, its arguments and its result as plain text, its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from PySide6.QtCore import QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.markup.calls import readable, table_of_json
from app.markup.sections import plain_sections
from app.theme import CODE_LEADING, CODE_PX, FOOTER_PX, RADIUS_CARD
from app.view_models.tools import CallState, CallView
from app.views.transcript.call_words import CallWords, call_words
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part, PartContent, PartKind, PartWidget
from app.views.transcript.status_parts import AttachmentsPart
from app.views.transcript.text_parts import ReadOnlyText
from app.views.widgets import clipboard
from app.views.widgets.buttons import IconButton, OpeningLine
from app.views.widgets.painting import paint_card
from app.views.widgets.tooltips import set_tooltip

_COPIED_MS = 1400
_HEAD_PX = 32
_PAD_PX = 14
_FOOT_PX = 12


@dataclass(frozen=True, slots=True)
class CallLine:
    call: CallView
    opened: bool
    key: tuple[int, int]  # by which its message knows what is open

    @property
    def title(self) -> str:
        return call_words(self.call).title


class TextRole(StrEnum):
    ARGUMENTS = "arguments"
    RESULT = "result"
    FAULT = "fault"  # what went wrong, in the tool's words


@dataclass(frozen=True, slots=True)
class CallText:
    """Arguments or a result, or a section of a long one."""

    text: str
    role: TextRole
    whole: str = field(compare=False)  # to copy
    first: bool = True
    last: bool = True
    glue: str = "\n\n"  # what is between it and the section above


class CallContents:
    """What calls show below their lines, made once for each."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[CallView, list[PartContent]]] = {}

    def of(self, call: CallView) -> list[PartContent]:
        known = self._made.get(call.id)
        if known is None or known[0] is not call:
            known = self._made[call.id] = (call, _contents(call))
        return known[1]


def _contents(call: CallView) -> list[PartContent]:
    result = _texts(readable(call.arguments), TextRole.ARGUMENTS) if call.arguments.strip("{} \n") else []
    table = table_of_json(call.result) if call.state is not CallState.FAILED else None
    if table is not None:
        result.append((PartKind.TABLE, table, 12))
    elif call.result:
        result += _texts(call.result, TextRole.FAULT if call.state is CallState.FAILED else TextRole.RESULT)
    if call.pictures:
        result.append((PartKind.CALL_PICTURES, call.pictures, 8))
    return result


def _texts(text: str, role: TextRole) -> list[PartContent]:
    text = text.replace("\r\n", "\n").strip("\n")
    cuts = list(plain_sections(text))
    last = len(cuts) - 1
    return [
        (
            PartKind.CALL_TEXT,
            CallText(
                text[cut.start : cut.end], role, text, number == 0, number == last, cut.glue if number else "\n\n"
            ),
            0 if number else 8,
        )
        for number, cut in enumerate(cuts)
    ]


class CallPart(PartWidget, OpeningLine):
    """“Read notes.md · 0.2 s”; opens what was asked and answered."""

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(context.theme, parent)
        self._key = (0, 0)
        self._message_id = 0
        self._words = CallWords("")
        self._found: tuple[tuple[int, int], ...] = ()  # of the title
        self._current: int | None = None
        self.clicked.connect(lambda: context.opening_requested.emit(self._message_id, self._key))

    def show_part(self, part: Part, _width_px: int) -> int:
        assert isinstance(part.content, CallLine)
        self._key = part.content.key
        self._message_id = part.message_id
        self._words = call_words(part.content.call)
        self.setAccessibleName(self._words.text)
        self.setAccessibleDescription(self.tr("Hide the call") if part.content.opened else self.tr("Show the call"))
        self.set_opened(part.content.opened)
        self.update()
        return self.theme.px(26)

    def light_found(self, ranges: Sequence[tuple[int, int]], current: int | None) -> None:
        if (tuple(ranges), current) != (self._found, self._current):
            self._found = tuple(ranges)
            self._current = current
            self.update()

    def meaning(self) -> str:
        return f"{self._message_id} {self._key}"

    def paint_words(self, painter: QPainter, area: QRect) -> None:
        colors = self.theme.palette
        metrics = QFontMetrics(painter.font())
        words = self._words
        detail = f" · {words.detail}" if words.detail else ""
        least = min(metrics.horizontalAdvance(detail), area.width() // 2)
        title = metrics.elidedText(words.title, Qt.TextElideMode.ElideMiddle, area.width() - least)
        alignment = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(area, alignment, title)
        for number, (start, end) in enumerate(self._found):
            left = area.left() + metrics.horizontalAdvance(title[:start])
            word = QRect(left, area.top() + 3, metrics.horizontalAdvance(title[start:end]), area.height() - 6)
            painter.fillRect(word, colors.cost if number == self._current else colors.found)
            painter.setPen(colors.window if number == self._current else colors.text)
            painter.drawText(word, alignment, title[start:end])
        area.setLeft(area.left() + metrics.horizontalAdvance(title))
        painter.setPen(colors.fault if words.is_fault else colors.faint)
        shown = metrics.elidedText(detail, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, alignment, shown)
        set_tooltip(self, f"{words.title}{detail}" if (title, shown) != (words.title, detail) else "")


class CallTextPart(PartWidget, QWidget):
    """Plain text in a card, with its lines wrapped; its first section has a button that copies all of it."""

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._content: CallText | None = None
        self.text = ReadOnlyText(context, self)
        self.copy_button = IconButton(context.theme, "copy", 26, self)
        self.copy_button.clicked.connect(self._copy)
        self._copied = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._copied.timeout.connect(lambda: self.copy_button.set_icon("copy"))

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, CallText)
        theme = self._context.theme
        content = self._content = part.content
        pad = theme.px(_PAD_PX)
        wanted = width_px - 2 * pad
        if part.measured_width_px < 0:
            self.text.clear_for(wanted)
            self.text.write_plain(content.text, theme.mono_font(), CODE_PX * CODE_LEADING * theme.scale)
        above = theme.px(_HEAD_PX) if content.first else 0
        height = self.text.height_at(wanted)
        self.text.setGeometry(pad, above, wanted, height)
        side = self.copy_button.sizeHint().width()
        self.copy_button.setVisible(content.first)
        self.copy_button.setGeometry(width_px - side - theme.px(5), (above - side) // 2 + 1, side, side)
        is_result = content.role is not TextRole.ARGUMENTS
        self.copy_button.set_name(self.tr("Copy result") if is_result else self.tr("Copy arguments"))
        self.update()
        return above + height + (theme.px(_FOOT_PX) if content.last else 0)

    def _copy(self) -> None:
        if self._content is not None:
            clipboard.copy(self._content.whole, self)
            self.copy_button.set_icon("check")
            self._copied.start()

    def _label(self) -> str:
        assert self._content is not None
        return {
            TextRole.ARGUMENTS: self.tr("Arguments"),
            TextRole.RESULT: self.tr("Result"),
            TextRole.FAULT: self.tr("What went wrong"),
        }[self._content.role]

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._content is None:
            return
        theme = self._context.theme
        colors = theme.palette
        # The rounded corners between two sections lie outside of both.
        above = 0 if self._content.first else RADIUS_CARD
        below = 0 if self._content.last else RADIUS_CARD
        with QPainter(self) as painter:
            paint_card(painter, self.rect().adjusted(0, -above, 0, below), RADIUS_CARD, colors.surface, colors.hairline)
            if self._content.first:
                is_fault = self._content.role is TextRole.FAULT
                painter.setFont(theme.ui_font(FOOTER_PX))
                painter.setPen(colors.fault if is_fault else colors.secondary)
                head = QRectF(theme.px(_PAD_PX), 1, self.copy_button.x() - theme.px(_PAD_PX), theme.px(_HEAD_PX))
                painter.drawText(head, Qt.AlignmentFlag.AlignVCenter, self._label())


class CallPicturesPart(AttachmentsPart):
    """Pictures of a result: at the left, as the text above them."""

    from_left = True

    def _open(self, number: int) -> None:
        self._context.picture_requested.emit(self._shown[number])
