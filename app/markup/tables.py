"""Tables of a document: formats, cells, and columns from right to left."""

import unicodedata
from collections.abc import Iterator, Sequence

from markdown_it.token import Token
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import (
    QBrush,
    QTextBlock,
    QTextFrameFormat,
    QTextLayout,
    QTextLength,
    QTextTable,
    QTextTableCellFormat,
    QTextTableFormat,
)

from app.markup.document_style import DocumentStyle
from app.markup.lines import fragments, line_segments, rect_of

_STRONG = frozenset({"L", "R", "AL"})


def table_format(columns: int, *, from_right: bool) -> QTextTableFormat:
    result = QTextTableFormat()
    result.setAlignment(Qt.AlignmentFlag.AlignRight if from_right else Qt.AlignmentFlag.AlignLeft)
    result.setBorder(0)
    result.setBorderCollapse(True)
    result.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_None)
    result.setCellSpacing(0)
    result.setColumnWidthConstraints([QTextLength()] * columns)
    result.setHeaderRowCount(1)
    return result


def cell_format(style: DocumentStyle, *, header: bool, first: bool) -> QTextTableCellFormat:
    result = QTextTableCellFormat()
    result.setTopPadding(round(5 * style.scale))
    result.setBottomPadding(round(5 * style.scale))
    result.setLeftPadding(0 if first else round(10 * style.scale))
    result.setRightPadding(round(10 * style.scale))
    result.setBottomBorder(1)
    result.setBottomBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    result.setBottomBorderBrush(QBrush(style.secondary if header else style.hairline))
    return result


def table_rows(tokens: Sequence[Token]) -> list[list[Token]]:
    """Each row's inline tokens, carrying their cell's alignment."""
    rows: list[list[Token]] = []
    style = ""
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            style = str(token.attrGet("style") or "")
        elif token.type == "inline":
            rows[-1].append(token.copy(meta={"style": style}))
    return rows


def alignment_of(token: Token, head: Qt.LayoutDirection) -> Qt.AlignmentFlag:
    """`head` is how the column's name is read: figures below one that is read from the right are there, too."""
    style = token.meta.get("style", "")
    if style.endswith("center"):
        return Qt.AlignmentFlag.AlignHCenter
    if style.endswith("right") or (not style and head == Qt.LayoutDirection.RightToLeft):
        return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
    return Qt.AlignmentFlag.AlignLeft | (Qt.AlignmentFlag.AlignAbsolute if style else Qt.AlignmentFlag(0))


def reads_from_right(rows: Sequence[Sequence[Token]]) -> bool:
    """Whether the first letter of the table that has a direction is read from the right, as paragraphs are judged."""
    texts = (child.content for row in rows for cell in row for child in cell.children or ())
    kinds = (unicodedata.bidirectional(char) for text in texts for char in text)
    return next((kind for kind in kinds if kind in _STRONG), "L") != "L"


def runs_from_right(table: QTextTable) -> bool:
    return bool(table.format().alignment() & Qt.AlignmentFlag.AlignRight)


def place_from_right(table: QTextTable) -> None:
    """Moves the words of a table that is laid out to where they are when the first column is the rightmost.

    WORKAROUND: Qt lays all tables out from left to right. It finds characters by point where it has put them, so
    `char_near` and `address_at` do that.
    """
    place = table.document().documentLayout().frameBoundingRect(table)
    for column in range(table.columns()):
        head = table.cellAt(0, column).firstCursorPosition().block()
        left = rect_of(head).x() - head.layout().position().x()
        shift = place.left() + place.right() - 2 * left - head.layout().lineAt(0).width()
        for row in range(table.rows()):
            layout = table.cellAt(row, column).firstCursorPosition().block().layout()
            layout.setPosition(QPointF(shift, layout.position().y()))


def char_near(table: QTextTable, at: QPointF) -> int:
    """The place in the document that is nearest to a point of it."""
    block = min(_cells(table), key=lambda each: _distance(each, at))
    return block.position() + _place_in(block.layout(), at - rect_of(block).topLeft())


def address_at(table: QTextTable, at: QPointF) -> str:
    """Where the link at a point of the document leads; empty where there is none."""
    block = min(_cells(table), key=lambda each: _distance(each, at))
    if _distance(block, at) != (0, 0):
        return ""
    for fragment in fragments(block):
        start = fragment.position() - block.position()
        for line, left, right in line_segments(block, start, start + fragment.length()):
            inside = at - rect_of(block).topLeft()
            if left <= inside.x() <= right and line.y() <= inside.y() <= line.y() + line.height():
                return fragment.charFormat().anchorHref()
    return ""


def _cells(table: QTextTable) -> Iterator[QTextBlock]:
    for row in range(table.rows()):
        for column in range(table.columns()):
            yield table.cellAt(row, column).firstCursorPosition().block()


def _distance(block: QTextBlock, at: QPointF) -> tuple[float, float]:
    """Down and across: a row first, a cell of it then."""
    place = rect_of(block)
    down = max(place.top() - at.y(), at.y() - place.bottom(), 0.0)
    return down, max(place.left() - at.x(), at.x() - place.right(), 0.0)


def _place_in(layout: QTextLayout, at: QPointF) -> int:
    lines = [layout.lineAt(number) for number in range(layout.lineCount())]
    line = next((each for each in lines if at.y() < each.y() + each.height()), lines[-1])
    return int(line.xToCursor(at.x()))
