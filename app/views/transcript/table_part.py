"""Tables: scrolled sideways where they are too wide, with columns from right to left where their words are read so."""

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, QUrl
from PySide6.QtGui import QMouseEvent, QTextOption, QTextTable
from PySide6.QtWidgets import QWidget

from app.markup.copying import table_of
from app.markup.tables import address_at, char_near, place_from_right, runs_from_right
from app.views.transcript.part_context import PartContext
from app.views.transcript.text_parts import TextPart


class TablePart(TextPart):
    """A table; scrolls sideways when its columns need more room than there is.

    Columns from right to left are elsewhere than Qt has laid them out, so it is not asked what is under the pointer.
    """

    def __init__(self, context: PartContext, parent: QWidget) -> None:
        super().__init__(context, parent)
        self._pressed = ""  # the link there
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
        was_at_start, self._widest = bar.value() >= min(self._widest, most), most
        if was_at_start and self._from_right is not None:
            bar.setValue(most)

    def clip_of(self, stretch: QRectF) -> QRectF:
        """Qt draws no cell that it has laid out beside it."""
        if self._from_right is None:
            return stretch
        return QRectF(0, stretch.top(), self.document().size().width(), stretch.height())

    # The pointer

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

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._from_right is None:
            super().mousePressEvent(event)
        else:
            self._pressed = self.anchorAt(event.position().toPoint())
            self._is_taken(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._from_right is None:
            super().mouseMoveEvent(event)
        elif not self._is_taken(event):
            over_link = bool(self.anchorAt(event.position().toPoint()))
            shape = Qt.CursorShape.PointingHandCursor if over_link else Qt.CursorShape.IBeamCursor
            self.viewport().setCursor(shape)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._from_right is None:
            super().mouseReleaseEvent(event)
        elif not self._is_taken(event) and event.button() is Qt.MouseButton.LeftButton:
            link = self.anchorAt(event.position().toPoint())
            if link and link == self._pressed:
                self.follow(QUrl(link))
