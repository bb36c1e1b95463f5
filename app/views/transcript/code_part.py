"""Code blocks: a card with the language, a copy button, and lines that do not wrap. Streaming code is appended."""

from PySide6.QtCore import QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QWidget

from app.markup import long_lines
from app.markup.block import Block
from app.theme import CODE_LEADING, CODE_PX, FOOTER_PX, RADIUS_CARD
from app.views.transcript.code_colors import CodeColors
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part, PartWidget
from app.views.transcript.text_parts import ReadOnlyText
from app.views.widgets import clipboard
from app.views.widgets.buttons import IconButton
from app.views.widgets.painting import paint_card

_COPIED_MS = 1400
_TOLD_MS = 6000
_LONGEST_LABEL = 100  # characters: it is measured whenever it is painted


class CodePart(PartWidget, QWidget):
    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._block: Block | None = None
        self._part: Part | None = None
        self._left_out: int | None = None  # characters left out of the last copy, while that is shown
        self._shown = ""
        self.text = ReadOnlyText(context, self)
        for each in (self, self.text, self.text.viewport()):
            each.setAttribute(Qt.WidgetAttribute.WA_StaticContents)  # appending repaints new lines only
        self.colors = CodeColors(self.text.document(), context.theme.palette, context.slice, self)
        self.text.setLineWrapMode(ReadOnlyText.LineWrapMode.NoWrap)
        self.text.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.text.horizontalScrollBar().setStyleSheet(context.theme.scroll_bar_style())
        self.copy_button = IconButton(context.theme, "copy", 26, self)
        self.copy_button.set_name(self.tr("Copy code"))
        self.copy_button.clicked.connect(self._copy)
        self._copied_timer = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._copied_timer.timeout.connect(self._end_copied)

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, Block)
        if part is not self._part:
            self._part = part
            self._end_copied()
        only_grew = part.measured_width_px < 0 and self._show_block(part.content)
        height = self._height_at(width_px)
        stays = only_grew and self.text.height() == self._text_px(width_px)
        if not stays and self.size() == QSize(width_px, height):
            self._place_inside()  # there will be no resizing
        return height

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Repaint the new lines and the card's former bottom edge.
        self.update(QRect(0, event.oldSize().height() - RADIUS_CARD, self.width(), RADIUS_CARD))
        self._place_inside()

    def _show_block(self, block: Block) -> bool:
        """Returns whether text was only appended."""
        code = block.text.removesuffix("\n")
        grows = self._block is not None and bool(self._shown) and code.startswith(self._shown)
        goes_on = grows and self._block is not None and not self._block.closed
        added = code[len(self._shown) :] if goes_on else code
        complete = code if block.closed else block.text[: block.text.rfind("\n") + 1]
        if goes_on:
            self._grow(added, "" if block.closed else complete)
        else:
            self._replace(code)
            self.colors.begin(block.language)
            self.update()
        self._shown = code
        self._block = block
        if not goes_on or block.closed:
            self.colors.color(complete, block.language)
        return goes_on

    def _replace(self, code: str) -> None:
        self.text.document().clear()
        self.text.write_plain(code, self._context.theme.mono_font(), self._line_px)

    def _grow(self, added: str, complete: str) -> None:
        """Append lines, with colours for complete ones."""
        cursor = QTextCursor(self.text.document())
        cursor.beginEditBlock()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        long_lines.insert(cursor, added)
        self.colors.grow(complete)
        cursor.endEditBlock()

    @property
    def _line_px(self) -> int:
        return round(CODE_PX * CODE_LEADING * self._context.theme.scale)

    def _height_at(self, width_px: int) -> int:
        """Measures without moving children: Qt copies scrolled pixels only if nothing was moved."""
        theme = self._context.theme
        assert self._block is not None
        head = 0 if self._block.continues_code else theme.px(32)
        overflows = self._bar_px(width_px) > 0
        foot = 0 if self._block.goes_on else theme.px(4 if overflows else 12)
        return head + self._text_px(width_px) + foot

    def _text_px(self, width_px: int) -> int:
        lines = self.text.document().blockCount() + self._shown.count(long_lines.LINE_SEPARATOR)
        return lines * self._line_px + self._bar_px(width_px)

    def _bar_px(self, width_px: int) -> int:
        overflows = self.text.document().idealWidth() > width_px - 2 * self._context.theme.px(14)
        return self.text.horizontalScrollBar().sizeHint().height() + 2 if overflows else 0

    def _place_inside(self) -> None:
        if self._block is None:
            return
        theme = self._context.theme
        width_px = self.width()
        pad = theme.px(14)
        side = self.copy_button.sizeHint().width()
        head = 0 if self._block.continues_code else theme.px(32)
        self.text.setGeometry(pad, head, width_px - 2 * pad, self._text_px(width_px))
        self.copy_button.setVisible(head > 0)
        self.copy_button.setGeometry(width_px - side - theme.px(5), (head - side) // 2 + 1, side, side)

    def _copy(self) -> None:
        if self._part is None:
            return
        self._left_out = clipboard.copy(self._context.code_of(self._part), self, with_tooltip=False)
        self.copy_button.set_icon("check")
        self._copied_timer.start(_COPIED_MS if not self._left_out else _TOLD_MS)
        self.update()

    def _end_copied(self) -> None:
        self._left_out = None
        self._copied_timer.stop()
        self.copy_button.set_icon("copy")
        self.update()

    def _label(self) -> str:
        if self._left_out:
            return clipboard.left_out_words(self._left_out)
        return self._block.language[:_LONGEST_LABEL] if self._block and self._block.language else self.tr("text")

    def paintEvent(self, event: QPaintEvent) -> None:
        colors = self._context.theme.palette
        with QPainter(self) as painter:
            assert self._block is not None
            inside = self.rect().adjusted(RADIUS_CARD, RADIUS_CARD, -RADIUS_CARD, -RADIUS_CARD)
            if inside.contains(event.rect()) and event.rect().top() >= self.text.y():  # a line that grows
                painter.fillRect(event.rect(), colors.surface)
                return
            # The rounded corners between two pieces lie outside of both.
            above = RADIUS_CARD * self._block.continues_code
            below = RADIUS_CARD * self._block.goes_on
            paint_card(painter, self.rect().adjusted(0, -above, 0, below), RADIUS_CARD, colors.surface, colors.hairline)
            if not self._block.continues_code and event.rect().top() < self.text.y():
                self._paint_head(painter)

    def _paint_head(self, painter: QPainter) -> None:
        theme = self._context.theme
        colors = self._context.theme.palette
        painter.setFont(theme.ui_font(FOOTER_PX))
        painter.setPen(colors.cost if self._left_out else colors.secondary)
        room = self.width() - theme.px(14) - self.copy_button.width() - theme.px(12)
        label = QFontMetricsF(painter.font()).elidedText(self._label(), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(theme.px(14), 1, room, theme.px(32)), Qt.AlignmentFlag.AlignVCenter, label)
