"""Parts with text: reply blocks, tables, and the user's messages. Read-only, load nothing, scroll only sideways."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from markdown_it.token import Token
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt, QUrl, Signal
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetricsF,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
    QTextTable,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from app.markup import long_lines
from app.markup.block import Block
from app.markup.copying import length_of, table_of
from app.markup.document import CODE, OBJECT, QUOTE_BAR_PX, QUOTE_BARS, RULE, DocumentBuilder, nothing_to_load
from app.markup.document_style import DocumentStyle
from app.markup.formula import FormulaKey
from app.markup.inline_formula import FIXED_HEIGHT, TINT, FormulaObject
from app.markup.lines import blocks_in, fragments, keep_shapes, line_segments, rect_of
from app.markup.plain_growth import added_text, may_have_address
from app.markup.tables import address_at, char_near, place_from_right, runs_from_right
from app.theme import RADIUS_BUBBLE, REPLY_LEADING, REPLY_PX, Palette
from app.views.transcript.found_words import FoundWords
from app.views.transcript.part_context import PartContext, Pointed
from app.views.transcript.parts import Bubble, Part, PartWidget, Selectable
from app.views.transcript.selection import TextRange, Unit
from app.views.widgets.held_keys import modifiers_of
from app.views.widgets.painting import paint_card

BUBBLE_SHARE = 0.8
_MOST_TINTED = 100  # formulas
_WHEEL_PX = 60
_WHEEL_NOTCH = 120
_Move = QTextCursor.MoveOperation
_BY_LINES = frozenset({_Move.Up, _Move.Down})
_BESIDE_BLOCK = {_Move.StartOfBlock: _Move.PreviousBlock, _Move.EndOfBlock: _Move.NextBlock}

_CODE_RADIUS = 4
_CODE_MARGIN_PX = 2


def paint_decorations(
    painter: QPainter, document: QTextDocument, clip: QRectF, style: DocumentStyle, colors: Palette
) -> None:
    """Paint what QTextDocument cannot: tints, quote bars, rules; within `clip`, since there may be thousands."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    for block in blocks_in(document):
        place = rect_of(block)
        _paint_bars(painter, block, place, colors.hairline)
        for rect in _code_rects(block, place.topLeft(), clip, style):
            painter.setBrush(colors.hover)
            painter.drawRoundedRect(rect, _CODE_RADIUS, _CODE_RADIUS)


def _paint_bars(painter: QPainter, block: QTextBlock, place: QRectF, color: QColor) -> None:
    form = block.blockFormat()
    if form.property(RULE):
        painter.fillRect(QRectF(0, math.floor(place.top()), place.right(), 1), color)
    bars = _bars(block)
    above = block.previous()
    bars_above = _bars(above)
    last = not block.next().isValid()  # its bars reach the edge of the part, which is a whole pixel
    bottom = math.ceil(block.document().size().height()) if last else math.floor(place.bottom())
    for start in bars:
        # The bar goes on through the space between two paragraphs of the same quote: the margin, and what the font
        # has above its letters, which is in the rectangle of neither.
        top = math.floor(rect_of(above).bottom() if start in bars_above else place.top())
        from_right = block.textDirection() == Qt.LayoutDirection.RightToLeft
        x = round(block.document().textWidth() - start - QUOTE_BAR_PX if from_right else start)
        painter.fillRect(x, top, QUOTE_BAR_PX, bottom - top, color)


def _bars(block: QTextBlock) -> list[float]:
    return block.blockFormat().property(QUOTE_BARS) or [] if block.isValid() else []


def _code_rects(block: QTextBlock, corner: QPointF, clip: QRectF, style: DocumentStyle) -> list[QRectF]:
    first, last = _chars_within(block, clip.translated(-corner))
    metrics = QFontMetricsF(style.mono)
    result: list[QRectF] = []
    for fragment in fragments(block):
        start = fragment.position() - block.position()
        if start >= last:
            break
        if start + fragment.length() > first and fragment.charFormat().property(CODE):
            result.extend(_fragment_rects(block, start, start + fragment.length(), corner, metrics))
    return result


def _chars_within(block: QTextBlock, area: QRectF) -> tuple[int, int]:
    """The first and the last character on the lines that this reaches into, the ones above and below included."""
    layout = block.layout()
    tops = range(layout.lineCount())
    first = max(0, bisect_left(tops, area.top(), key=lambda number: layout.lineAt(number).y()) - 2)
    last = bisect_right(tops, area.bottom(), key=lambda number: layout.lineAt(number).y()) + 1
    end = layout.lineAt(last).textStart() if last < len(tops) else block.length()
    return (layout.lineAt(first).textStart() if tops else 0), end


def _fragment_rects(block: QTextBlock, start: int, end: int, corner: QPointF, metrics: QFontMetricsF) -> list[QRectF]:
    """One rectangle for each line that the fragment is on."""
    result: list[QRectF] = []
    for line, left, right in line_segments(block, start, end):
        top = corner.y() + line.y() + line.ascent() - metrics.ascent() - 1
        rect = QRectF(corner.x() + left, top, right - left, metrics.height() + 2)
        result.append(rect.adjusted(-_CODE_MARGIN_PX, 0, _CODE_MARGIN_PX, 0))
    return result


class ReadOnlyText(Selectable, Pointed, QTextEdit):
    """Read-only text, selected by the transcript. INVARIANT: it never loads or opens anything.

    No text browser: VoiceOver reads only the name of one, not its words.
    """

    painted_below = Signal(object)  # a QPainter, before the words

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self.context = context
        self._lit: TextRange | None = None
        self.lit_cursors: list[QTextCursor] = []
        self.found = FoundWords(context.theme)
        self._pressed = ""  # the link there
        # Neither Qt's own selection nor its focus: the transcript has one of each.
        self.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.pointer = context.pointer
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # A fixed width, because Qt gives a hidden widget its size only when it is shown, and we measure before.
        self.setLineWrapMode(QTextEdit.LineWrapMode.FixedPixelWidth)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        self.document().setUndoRedoEnabled(False)
        self._set_colors()

    def _set_colors(self) -> None:
        colors = self.context.theme.palette
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Base, Qt.GlobalColor.transparent)
        palette.setColor(QPalette.ColorRole.Text, colors.text)
        self.setPalette(palette)

    def set_document_font(self, font: QFont) -> None:
        """Sets the widget's font too: otherwise Qt gives the document the interface's font whenever that changes."""
        self.setFont(font)
        self.document().setDefaultFont(font)

    def height_at(self, width_px: int) -> int:
        if width_px != self.lineWrapColumnOrWidth():  # Qt lays out all of it even for the same
            self.setLineWrapColumnOrWidth(width_px)
        return math.ceil(self.document().size().height())

    def clear_for(self, width_px: int) -> None:
        """So that what is written next is laid out once, at this width."""
        self.document().clear()
        self.setLineWrapColumnOrWidth(width_px)

    def write_plain(self, text: str, font: QFont, line_px: float) -> None:
        """Into the empty document, in lines of one height."""
        self.set_document_font(font)
        self.setTabStopDistance(4 * QFontMetricsF(self.context.theme.mono_font()).horizontalAdvance(" "))
        lines = QTextBlockFormat()
        lines.setLineHeight(round(line_px), FIXED_HEIGHT)
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        cursor.setBlockFormat(lines)
        long_lines.insert(cursor, text)
        self.end_writing(cursor)

    def end_writing(self, cursor: QTextCursor) -> None:
        """All of the document is there, and is laid out now."""
        keep_shapes(self.document())
        cursor.endEditBlock()
        self.forget_light()
        self.go_to_start()

    def follow(self, link: QUrl) -> None:
        """Request to open a link, or go to a footnote or its mark; nothing is opened here."""
        self.context.follow(self, link.toString())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = self.anchorAt(event.position().toPoint())
        self._is_taken(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._is_taken(event):
            over_link = bool(self.anchorAt(event.position().toPoint()))
            shape = Qt.CursorShape.PointingHandCursor if over_link else Qt.CursorShape.IBeamCursor
            self.viewport().setCursor(shape)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not self._is_taken(event) and event.button() is Qt.MouseButton.LeftButton:
            link = self.anchorAt(event.position().toPoint())
            if link and link == self._pressed:
                self.follow(QUrl(link))

    def loadResource(self, _kind: int, _name: QUrl | str) -> QImage:
        return nothing_to_load()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Vertical scrolling is left to the transcript; with Shift it is sideways, as the Mac makes it by itself."""
        bar = self.horizontalScrollBar()
        keys = modifiers_of(event)
        delta = event.pixelDelta() if not event.pixelDelta().isNull() else event.angleDelta()
        if bar.maximum() == 0 or keys & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
        elif abs(delta.x()) > abs(delta.y()):
            super().wheelEvent(event)
        elif keys & Qt.KeyboardModifier.ShiftModifier and delta.y():
            bar.setValue(bar.value() - round(delta.y() * _WHEEL_PX / _WHEEL_NOTCH))
        else:
            event.ignore()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The menu is the transcript's."""
        event.ignore()

    @property
    def text(self) -> ReadOnlyText:
        return self

    @property
    def length(self) -> int:
        return length_of(self.document())

    def char_at(self, at: QPoint) -> int:
        return self.cursorForPosition(self.viewport().mapFrom(self, at)).position()

    def unit_at(self, char: int, unit: Unit) -> tuple[int, int]:
        cursor = self._cursor_at(char)
        if unit is Unit.WORD:
            cursor.select(QTextCursor.SelectionType.WordUnderCursor)
            return cursor.selectionStart(), cursor.selectionEnd()
        return long_lines.line_around(cursor.block()) if unit is Unit.LINE else (cursor.position(), cursor.position())

    def moved(self, char: int, move: QTextCursor.MoveOperation, goal_x_px: int) -> int | None:
        cursor = self._cursor_at(char)
        start = cursor.position()
        top = self.cursorRect(cursor).top()
        cursor.setVerticalMovementX(goal_x_px + self.horizontalScrollBar().value())
        cursor.movePosition(move)
        if cursor.position() == start and move in _BESIDE_BLOCK:
            cursor.movePosition(_BESIDE_BLOCK[move])
        stays_in_line = move in _BY_LINES and self.cursorRect(cursor).top() == top
        return None if cursor.position() == start or stays_in_line else cursor.position()

    def line_end(self, goal_x_px: int, *, last: bool) -> int:
        return self.char_at(QPoint(goal_x_px, self.rect_of(self.length if last else 0).center().y()))

    def rect_of(self, char: int) -> QRect:
        return self.cursorRect(self._cursor_at(char))

    def show_char(self, char: int) -> None:
        bar = self.horizontalScrollBar()
        rect = self.rect_of(char)
        beyond = min(0, rect.left()) + max(0, rect.right() - self.viewport().width())
        if beyond and bar.maximum() > 0:
            bar.setValue(bar.value() + beyond)

    def _cursor_at(self, char: int) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(min(char, self.length))
        return cursor

    def light(self, text_range: TextRange | None) -> None:
        if text_range == self._lit:
            return
        self._lit = text_range
        last = self.length if text_range is None or text_range[1] is None else min(text_range[1], self.length)
        first = last if text_range is None else min(text_range[0], last)
        self.lit_cursors = list(self._cursors(first, last))
        self._tell_screen_readers(self._cursor_over(first, last) if text_range is not None else self._cursor_over(0, 0))
        self.viewport().update()

    def light_found(self, ranges: Sequence[tuple[int, int]], current: int | None) -> None:
        if self.found.show(self.document(), ranges, current):
            self.viewport().update()

    def _tell_screen_readers(self, selected: QTextCursor) -> None:
        """They read Qt's own selection, which is never painted (see `paintEvent`)."""
        scrolled = self.horizontalScrollBar().value()
        self.setTextCursor(selected)
        self.horizontalScrollBar().setValue(scrolled)  # Qt would show its cursor

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the text and what is lit, but not Qt's own selection, which would hide colours and lights columns."""
        scrolled = self.horizontalScrollBar().value()
        context = QAbstractTextDocumentLayout.PaintContext()
        context.palette = self.palette()
        context.clip = self.clip_of(QRectF(event.rect().translated(scrolled, 0)))
        # What was found comes last: on the ground of a selection its words could not be read.
        cursors = (each for each in self.lit_cursors if self._is_within(each, context.clip))
        lit = [selection for cursor in cursors for selection in self.lit_selections(cursor)]
        context.selections = [*lit, *self.found.selections()]
        with QPainter(self.viewport()) as painter:
            painter.setClipRect(event.rect())
            painter.translate(-scrolled, 0)
            self.painted_below.emit(painter)
            self.found.paint_grounds(painter, context.clip)
            self.document().documentLayout().draw(painter, context)

    def clip_of(self, area: QRectF) -> QRectF:
        """What of the document is drawn where this has to be painted."""
        return area

    def _cursors(self, first: int, last: int) -> Iterator[QTextCursor]:
        """One for each cell of a table, or Qt lights whole columns."""
        if first == last:
            return
        table = table_of(self.document())
        if table is None:
            yield self._cursor_over(first, last)
            return
        for row in range(table.rows()):
            for column in range(table.columns()):
                cell = table.cellAt(row, column)
                start = max(first, cell.firstPosition())
                end = min(last, cell.lastPosition())
                if start < end:
                    yield self._cursor_over(start, end)

    def _is_within(self, cell: QTextCursor, clip: QRectF) -> bool:
        """Qt looks at each selection for each cell that it paints."""
        return len(self.lit_cursors) == 1 or rect_of(cell.block()).intersects(clip)

    def _cursor_over(self, first: int, last: int) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(first)
        cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def lit_selections(self, cursor: QTextCursor) -> Iterator[QAbstractTextDocumentLayout.Selection]:
        """Formulas tint themselves, unless they are many: Qt paints over an object with a background once more, half
        opaque, but a line once for each selection on it.
        """
        place = cursor.selectionStart()
        last = cursor.selectionEnd()
        if cursor.selectedText().count(OBJECT) > _MOST_TINTED:
            yield self._lit_selection(cursor)
            return
        found = self.document().find(OBJECT, place)
        while not found.isNull() and found.selectionEnd() <= last:
            yield self._lit_selection(self._cursor_over(place, found.selectionStart()))
            yield self._lit_selection(found, is_object=True)
            place = found.selectionEnd()
            found = self.document().find(OBJECT, place)
        yield self._lit_selection(self._cursor_over(place, last))

    def _lit_selection(self, cursor: QTextCursor, *, is_object: bool = False) -> QAbstractTextDocumentLayout.Selection:
        form = QTextCharFormat()
        if is_object:
            form.setProperty(TINT, self.context.selection_color())
        else:
            form.setBackground(self.context.selection_color())
        result = QAbstractTextDocumentLayout.Selection()
        result.cursor = cursor
        result.format = form
        return result

    def forget_light(self) -> None:
        """The document was written again, and nothing in it is lit."""
        self._lit = None
        self.lit_cursors = []
        self.found.clear()

    def go_to_start(self) -> None:
        """Reset Qt's cursor, which inserted text has moved: Qt scrolls to it when the text is first shown."""
        cursor = self.textCursor()
        cursor.setPosition(0)
        self.setTextCursor(cursor)
        self.horizontalScrollBar().setValue(0)


class TextPart(PartWidget, ReadOnlyText):
    """A block of a reply: paragraph, heading, list or quote."""

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(context, parent)
        self.pending: set[FormulaKey] = set()
        self._has_marks = False
        self._overhang_px = 0.0
        self._tokens: tuple[Token, ...] = ()  # that the document was written from
        self._formula_object = FormulaObject(self.document())

    def height_at(self, width_px: int) -> int:
        return super().height_at(width_px) + math.ceil(self._overhang_px)

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, Block)
        if part.measured_width_px < 0 and not self._grow(part.content):
            self.clear_for(width_px)
            self._write(part.content, secondary=part.secondary)
        self._tokens = part.content.tokens
        return self.height_at(width_px)

    def _grow(self, block: Block) -> bool:
        """Adds what is new where that is only more of the last text; returns whether it was."""
        more = added_text(self._tokens, block.tokens)
        if not more or self.pending or may_have_address(block.tokens):
            return False
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(more)
        if self._lit is not None:
            self.go_to_start()  # the cursor has moved
        self.forget_light()
        return True

    def _write(self, block: Block, *, secondary: bool) -> None:
        style = self.context.document_style(secondary=secondary)
        self.set_document_font(style.font)
        builder = DocumentBuilder(self.document(), style, self.context.formulas)
        builder.write(block.tokens)
        self.pending = builder.pending
        self._overhang_px = builder.overhang_px
        self._has_marks = any(_has_mark(token) for token in block.tokens)
        self.forget_light()
        self.go_to_start()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._has_marks:
            self._paint_marks(event.rect())
        super().paintEvent(event)

    def _paint_marks(self, area: QRect) -> None:
        scrolled = self.horizontalScrollBar().value()
        with QPainter(self.viewport()) as painter:
            painter.translate(-scrolled, 0)
            clip = QRectF(area.translated(scrolled, 0))
            style = self.context.document_style()
            paint_decorations(painter, self.document(), clip, style, self.context.theme.palette)


def _has_mark(token: Token) -> bool:
    if token.type in ("blockquote_open", "hr"):
        return True
    return any(child.type.startswith(("code_inline", "math_inline")) for child in token.children or ())


class BubblePart(PartWidget, QWidget):
    """The user's own message, or a section of it: plain text in a bubble at the right."""

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._bubble = Bubble("")
        self.text = ReadOnlyText(context, self)

    def show_part(self, part: Part, width_px: int) -> int:
        theme = self._context.theme
        assert isinstance(part.content, Bubble)
        self._bubble = part.content
        across = theme.px(14)
        down = theme.px(9)
        widest = int(width_px * BUBBLE_SHARE) - 2 * across
        if part.measured_width_px < 0:
            self.text.clear_for(widest)
            line_px = REPLY_PX * REPLY_LEADING * theme.scale
            self.text.write_plain(part.content.text, theme.reply_font(), line_px)
        self.text.height_at(widest)
        alone = self._bubble.first and self._bubble.last
        wanted = min(widest, math.ceil(self.text.document().idealWidth()) + 1) if alone else widest
        height = self.text.height_at(wanted)
        above = down * self._bubble.first
        below = down * self._bubble.last
        self.text.setGeometry(width_px - across - wanted, above, wanted, height)
        self.update()
        return height + above + below

    def paintEvent(self, _event: QPaintEvent) -> None:
        across = self._context.theme.px(14)
        down = self._context.theme.px(9)
        # The rounded corners between two sections lie outside of both.
        above, below = (down if end else RADIUS_BUBBLE for end in (self._bubble.first, self._bubble.last))
        bubble = self.text.geometry().adjusted(-across, -above, across, below)
        with QPainter(self) as painter:
            paint_card(painter, bubble, RADIUS_BUBBLE, self._context.theme.palette.bubble)


class TablePart(TextPart):
    """A table; scrolls sideways when its columns need more room than there is.

    Columns from right to left are elsewhere than Qt has laid them out, so it is not asked what is under the pointer.
    """

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(context, parent)
        self._widest = 0  # of the scroll bar
        self.setWordWrapMode(QTextOption.WrapMode.WordWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.horizontalScrollBar().setStyleSheet(context.theme.scroll_bar_style())
        self.horizontalScrollBar().rangeChanged.connect(self._stay_at_start)

    @property
    def _from_right(self) -> QTextTable | None:
        table = table_of(self.document())
        return table if table is not None and runs_from_right(table) else None

    def height_at(self, width_px: int) -> int:
        height = super().height_at(width_px)
        if (table := self._from_right) is not None:
            place_from_right(table)
        overflows = self.document().size().width() > width_px
        return height + (self.horizontalScrollBar().sizeHint().height() + 4 if overflows else 0)

    def go_to_start(self) -> None:
        table = self._from_right
        if table is None:
            super().go_to_start()
            return
        self.setTextCursor(table.cellAt(0, 0).firstCursorPosition())  # the empty line before the table is at its left
        self.horizontalScrollBar().setValue(self.horizontalScrollBar().maximum())

    def _stay_at_start(self, _least: int, most: int) -> None:
        bar = self.horizontalScrollBar()
        was_at_start = bar.value() >= min(self._widest, most)
        self._widest = most
        if was_at_start and self._from_right is not None:
            bar.setValue(most)

    def clip_of(self, area: QRectF) -> QRectF:
        """Qt draws no cell that it has laid out beside it."""
        if self._from_right is None:
            return area
        return QRectF(0, area.top(), self.document().size().width(), area.height())

    def _in_document(self, at: QPoint) -> QPointF:
        return QPointF(at) + QPointF(self.horizontalScrollBar().value(), 0)

    def char_at(self, at: QPoint) -> int:
        table = self._from_right
        if table is None:
            return super().char_at(at)
        return char_near(table, self._in_document(self.viewport().mapFrom(self, at)))

    def anchorAt(self, at: QPoint) -> str:  # noqa: N802
        table = self._from_right
        return super().anchorAt(at) if table is None else address_at(table, self._in_document(at))
