"""Formulas inside a line of text.

Here: the text object that draws one with its baseline on that of its text, and how tall lines have to be around it.
WORKAROUND: Qt's own images cannot do this. None of their alignments lets one reach below the baseline by a given depth.
"""

from PySide6.QtCore import QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QImage,
    QPainter,
    QPyTextObject,
    QTextBlockFormat,
    QTextCharFormat,
    QTextDocument,
    QTextFormat,
)

from app.markup.formula import Drawing

OBJECT_TYPE = QTextFormat.ObjectTypes.UserObject.value + 1
TEX = QTextFormat.Property.UserProperty.value + 3  # the formula's source
_IMAGE = QTextFormat.Property.UserProperty.value + 5
TINT = QTextFormat.Property.UserProperty.value + 20  # the ground of one that is selected
_WIDTH = QTextFormat.Property.UserProperty.value + 6
_ASCENT = QTextFormat.Property.UserProperty.value + 7

# How Qt divides a line of fixed height, and what the letters of the next line leave free.
_ABOVE_BASELINE = 0.8
_LETTERS_SHARE = 0.65

FIXED_HEIGHT = QTextBlockFormat.LineHeightTypes.FixedHeight.value


class FormulaObject(QPyTextObject):
    """Is on the baseline and draws below it as far as the formula reaches. One for each document."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        document.documentLayout().registerHandler(OBJECT_TYPE, self)

    def intrinsicSize(self, _doc: QTextDocument, _position: int, form: QTextFormat) -> QSizeF:  # noqa: N802
        return QSizeF(form.doubleProperty(_WIDTH), form.doubleProperty(_ASCENT))

    def drawObject(  # noqa: N802
        self, painter: QPainter, rect: QRectF | QRect, _doc: QTextDocument, _position: int, form: QTextFormat
    ) -> None:
        drawn = form.property(_IMAGE)
        tint = form.property(TINT)
        if isinstance(tint, QColor):
            below = drawn.deviceIndependentSize().height() if isinstance(drawn, QImage) else 0.0
            painter.fillRect(QRectF(rect.x(), rect.y(), rect.width(), max(rect.height(), below)), tint)
        if isinstance(drawn, QImage):
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(QPointF(rect.left(), QRectF(rect).bottom() - form.doubleProperty(_ASCENT)), drawn)


def formula_format(tex: str, drawing: Drawing, image: QImage | None) -> QTextCharFormat:
    result = place_format(tex, drawing.width_px, drawing.height_px - drawing.depth_px)
    result.setProperty(_IMAGE, image)
    return result


def place_format(tex: str, width_px: float, ascent_px: float) -> QTextCharFormat:
    """Room for a formula, which may not be drawn yet."""
    result = QTextCharFormat()
    result.setObjectType(OBJECT_TYPE)
    result.setProperty(TEX, tex)
    result.setProperty(_WIDTH, width_px)
    result.setProperty(_ASCENT, ascent_px)
    result.setForeground(Qt.GlobalColor.transparent)
    return result


def make_room(block: QTextBlockFormat, drawing: Drawing) -> QTextBlockFormat:
    """The block's lines, tall enough that the formula meets neither its neighbours nor the block's edges."""
    line_px = block.lineHeight()
    ascent_px = drawing.height_px - drawing.depth_px
    wanted_px = max(line_px, ascent_px / _ABOVE_BASELINE, drawing.depth_px + _LETTERS_SHARE * line_px)
    result = QTextBlockFormat(block)
    result.setLineHeight(wanted_px, FIXED_HEIGHT)
    result.setBottomMargin(max(block.bottomMargin(), drawing.depth_px - (1 - _ABOVE_BASELINE) * wanted_px))
    return result
