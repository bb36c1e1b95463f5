"""Parts made of running text: reply blocks, tables, and the person's own message.

Here: read-only text widgets that never load anything and scroll only sideways. Not here: writing their documents.
"""

import math

from markdown_it.token import Token
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from app.markup.blocks import Block
from app.markup.document import OBJECT, DocumentBuilder, nothing_to_load
from app.markup.formula import FormulaKey
from app.markup.inline_formula import TEX, FormulaObject
from app.theme import RADIUS_BUBBLE, REPLY_LEADING, REPLY_PX
from app.views.transcript.card import paint_card
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Bubble, Part
from app.views.transcript.text_decorations import paint_decorations

BUBBLE_SHARE = 0.8


class ReadOnlyText(QTextBrowser):
    """Read-only, selectable text. INVARIANT: it never loads or opens anything, whatever the text says."""

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self.context = context
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # A fixed width, because Qt tells a hidden widget of its size only when it is shown, and we measure before.
        self.setLineWrapMode(QTextBrowser.LineWrapMode.FixedPixelWidth)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        self.document().setUndoRedoEnabled(False)
        self.anchorClicked.connect(lambda url: context.link_requested.emit(url.toString()))
        self._set_colors()

    def _set_colors(self) -> None:
        colors = self.context.theme.palette
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Base, Qt.GlobalColor.transparent)
        palette.setColor(QPalette.ColorRole.Text, colors.text)
        selection = QColor(colors.ink)
        selection.setAlphaF(0.28)
        palette.setColor(QPalette.ColorRole.Highlight, selection)
        palette.setColor(QPalette.ColorRole.HighlightedText, colors.text)
        self.setPalette(palette)

    def set_document_font(self, font: QFont) -> None:
        """Sets the widget's font too: otherwise Qt gives the document the interface's font whenever that changes."""
        self.setFont(font)
        self.document().setDefaultFont(font)

    def height_at(self, width_px: int) -> int:
        self.setLineWrapColumnOrWidth(width_px)
        return math.ceil(self.document().size().height())

    def loadResource(self, _kind: int, _name: QUrl | str) -> QImage:
        return nothing_to_load()

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: N802  Qt's name
        """Plain text only, with formulas as the TeX that they were."""
        result = QMimeData()
        result.setText(selected_text(self.textCursor()))
        return result

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Vertical scrolling is left to the transcript."""
        delta = event.pixelDelta() if not event.pixelDelta().isNull() else event.angleDelta()
        sideways = abs(delta.x()) > abs(delta.y()) and self.horizontalScrollBar().maximum() > 0
        if sideways and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
        else:
            event.ignore()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if event.buttons() & Qt.MouseButton.LeftButton and self.textCursor().hasSelection():
            self.context.selecting.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        copies_nothing = event.matches(QKeySequence.StandardKey.Copy) and not self.textCursor().hasSelection()
        if copies_nothing or (event.key() in _SCROLLING_KEYS and not event.modifiers() & _SELECTING):
            event.ignore()
            return
        super().keyPressEvent(event)


_SELECTING = Qt.KeyboardModifier.ShiftModifier
_SCROLLING_KEYS = (
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
    Qt.Key.Key_Space,
    Qt.Key.Key_Escape,
)


def selected_text(cursor: QTextCursor) -> str:
    text = cursor.selection().toPlainText()
    if OBJECT not in text:
        return text
    sources = iter(_selected_formulas(cursor))
    return "".join(next(sources, "") if char == OBJECT else char for char in text)


def _selected_formulas(cursor: QTextCursor) -> list[str]:
    result: list[str] = []
    probe = QTextCursor(cursor)
    for position in range(cursor.selectionStart(), cursor.selectionEnd()):
        probe.setPosition(position + 1)
        tex = probe.charFormat().property(TEX)
        if tex and cursor.document().characterAt(position) == OBJECT:
            result.append(str(tex))
    return result


class TextPart(ReadOnlyText):
    """A block of a reply: paragraph, heading, list or quote."""

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(context, parent)
        self.pending: set[FormulaKey] = set()
        self._has_marks = False
        self._overhang_px = 0.0
        self._formula_object = FormulaObject(self.document())

    def height_at(self, width_px: int) -> int:
        return super().height_at(width_px) + math.ceil(self._overhang_px)

    def show_part(self, part: Part, width_px: int) -> int:
        assert isinstance(part.content, Block)
        self.setAccessibleName(part.name)
        if part.measured_width_px < 0:
            self._write(part.content, secondary=part.secondary)
        return self.height_at(width_px)

    def _write(self, block: Block, *, secondary: bool) -> None:
        chosen = self.textCursor()
        selection = (chosen.anchor(), chosen.position())
        style = self.context.document_style(secondary=secondary)
        self.document().clear()  # or the old text would be laid out once more for the font
        self.set_document_font(style.font)
        builder = DocumentBuilder(self.document(), style, self.context.formulas)
        builder.write(block.tokens)
        self.pending = builder.pending
        self._overhang_px = builder.overhang_px
        self._has_marks = any(_has_mark(token) for token in block.tokens)
        # Without a selection the cursor goes to the start, or Qt scrolls a wide table to its end.
        self._select(*selection) if selection[0] != selection[1] else self._select(0, 0)

    def _select(self, anchor: int, position: int) -> None:
        """Keeps the reader's selection while the text under it grows."""
        end = self.document().characterCount() - 1
        cursor = self.textCursor()
        cursor.setPosition(min(anchor, end))
        cursor.setPosition(min(position, end), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._has_marks:
            self._paint_marks()
        super().paintEvent(event)

    def _paint_marks(self) -> None:
        painter = QPainter(self.viewport())
        painter.translate(-self.horizontalScrollBar().value(), 0)
        paint_decorations(painter, self.document(), self.context.document_style(), self.context.theme.palette)
        painter.end()


def _has_mark(token: Token) -> bool:
    if token.type in ("blockquote_open", "hr"):
        return True
    return any(child.type.startswith(("code_inline", "math_inline")) for child in token.children or ())


class TablePart(TextPart):
    """A table; scrolls sideways when its columns need more room than there is."""

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(context, parent)
        self.setWordWrapMode(QTextOption.WrapMode.WordWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.horizontalScrollBar().setStyleSheet(context.theme.scroll_bar_style())

    def height_at(self, width_px: int) -> int:
        height = super().height_at(width_px)
        overflows = self.document().size().width() > width_px
        return height + (self.horizontalScrollBar().sizeHint().height() + 4 if overflows else 0)


class BubblePart(QWidget):
    """The person's own message, or a section of it: plain text in a bubble at the right."""

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._bubble = Bubble("")
        self.text = ReadOnlyText(context, self)

    def show_part(self, part: Part, width_px: int) -> int:
        theme = self._context.theme
        self.text.setAccessibleName(part.name)
        assert isinstance(part.content, Bubble)
        self._bubble = part.content
        if part.measured_width_px < 0:
            self._write(part.content.text)
        across, down = theme.px(14), theme.px(9)
        widest = int(width_px * BUBBLE_SHARE) - 2 * across
        self.text.height_at(widest)
        alone = self._bubble.first and self._bubble.last
        wanted = min(widest, math.ceil(self.text.document().idealWidth()) + 1) if alone else widest
        height = self.text.height_at(wanted)
        above, below = down * self._bubble.first, down * self._bubble.last
        self.text.setGeometry(width_px - across - wanted, above, wanted, height)
        self.update()
        return height + above + below

    def _write(self, text: str) -> None:
        style = self._context.document_style()
        self.text.set_document_font(style.font)
        self.text.setTabStopDistance(4 * QFontMetricsF(style.mono).horizontalAdvance(" "))
        self.text.setPlainText(text)
        cursor = QTextCursor(self.text.document())
        cursor.select(QTextCursor.SelectionType.Document)
        block = cursor.blockFormat()
        block.setLineHeight(round(REPLY_PX * REPLY_LEADING * self._context.theme.scale), 2)
        cursor.setBlockFormat(block)

    def paintEvent(self, _event: QPaintEvent) -> None:
        across, down = self._context.theme.px(14), self._context.theme.px(9)
        # The rounded corners between two sections lie outside of both.
        above, below = (down if end else RADIUS_BUBBLE for end in (self._bubble.first, self._bubble.last))
        bubble = self.text.geometry().adjusted(-across, -above, across, below)
        painter = QPainter(self)
        paint_card(painter, bubble, RADIUS_BUBBLE, self._context.theme.palette.bubble)
        painter.end()
