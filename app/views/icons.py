"""Line icons in any colour.

Here: reading an icon's SVG, recolouring it, and keeping the result. The drawings are Lucide's (`resources/icons`).
Not here: which icon a button shows, or in which colour.
"""

from functools import cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

ICON_FOLDER = Path(__file__).resolve().parents[2] / "resources" / "icons"

# Every side in device pixels that 14 to 36 px icons need on one- and two-times screens; Qt picks the nearest.
_SIDES_PX = (14, 16, 18, 20, 24, 28, 32, 36, 40, 48, 64, 72)
_DRAWN_STROKE = 'stroke-width="2"'
_STROKE = 'stroke-width="1.75"'


def icon(name: str, color: QColor) -> QIcon:
    """The icon called `name` ("copy", "chevron-right") drawn in `color`."""
    return _icon(name, color.name(QColor.NameFormat.HexArgb))


@cache
def _icon(name: str, argb: str) -> QIcon:
    drawn = (ICON_FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    recoloured = drawn.replace("currentColor", QColor(argb).name()).replace(_DRAWN_STROKE, _STROKE)
    renderer = QSvgRenderer(QByteArray(recoloured.encode()))
    result = QIcon()
    for side_px in _SIDES_PX:
        result.addPixmap(_pixmap(renderer, side_px, QColor(argb).alphaF()))
    return result


def _pixmap(renderer: QSvgRenderer, side_px: int, opacity: float) -> QPixmap:
    pixmap = QPixmap(side_px, side_px)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(opacity)
        renderer.render(painter, QRectF(0, 0, side_px, side_px))
    return pixmap
