"""The round button over the transcript's foot that goes to its end."""

from collections.abc import Iterable

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.views.icons import icon
from app.views.transcript.parts import Part, PartKind
from app.views.widgets.buttons import PaintedButton
from app.views.widgets.translated import Translated

_SIDE_PX = 34
_ABOVE_FOOT_PX = 14


class JumpButton(Translated, PaintedButton):
    """A child of what scrolls: Qt paints all of that anew when something of another parent lies over it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._retranslate()
        self.hide()

    def set_wanted(self, wanted: bool, area: QRect, shown: Iterable[tuple[Part, QRect]]) -> None:
        """Over the foot of this area, but over no message's footer, whose buttons it would hide.

        Also after the area has scrolled, which takes it along.
        """
        if wanted:
            self._place_in(area, [place for part, place in shown if part.kind is PartKind.FOOTER])
        if wanted == self.isHidden():
            self.setVisible(wanted)
            self.raise_()

    def _place_in(self, area: QRect, footers: list[QRect]) -> None:
        side = self.theme.px(_SIDE_PX)
        place = QRect(area.center().x() - side // 2, area.bottom() - side - _ABOVE_FOOT_PX, side, side)
        for footer in sorted(footers, key=QRect.top, reverse=True):
            if footer.intersects(place):
                place.moveBottom(footer.top() - 1)
        self.setGeometry(place)

    def _retranslate(self) -> None:
        self.set_name(self.tr("Jump to the end"))

    def corner_radius(self) -> float:
        return self.width() / 2

    def paint_content(self, painter: QPainter) -> None:
        colors = self.theme.palette
        painter.setBrush(colors.surface)
        painter.setPen(QPen(colors.hairline, 1))
        painter.drawEllipse(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        if self.underMouse():
            self.fill(painter, colors.hover)
        side = self.theme.px(16)
        place = QRect(0, 0, side, side)
        place.moveCenter(self.rect().center())
        icon("arrow-down", colors.text).paint(painter, place)
