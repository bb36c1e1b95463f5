"""Tables of a document: their formats, and which text stands in which cell."""

from collections.abc import Sequence

from markdown_it.token import Token
from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QTextFrameFormat, QTextLength, QTextTableCellFormat, QTextTableFormat

from app.markup.document_style import DocumentStyle


def table_format(columns: int) -> QTextTableFormat:
    result = QTextTableFormat()
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
    """`head` is how the column's name is read: figures below one that is read from the right stand there too."""
    style = token.meta.get("style", "")
    if not style and head == Qt.LayoutDirection.RightToLeft:
        return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
    if style.endswith("right"):
        return Qt.AlignmentFlag.AlignRight
    return Qt.AlignmentFlag.AlignHCenter if style.endswith("center") else Qt.AlignmentFlag.AlignLeft
