"""Thin scroll bars for every scroll area, the room that they take, and what scrolls out of a field."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QAccessible, QColor, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QScrollArea, QScrollBar, QStyle, QWidget

from app.theme import Theme
from app.views.widgets.focus import FocusRing, PaintsFocus
from app.views.widgets.painting import paint_row_ground

_FADE_PX = 10
_REST_AFTER_MS = 900


def keep_room_for_bar(area: QAbstractScrollArea) -> None:
    """Reserve room for a scroll bar, so that nothing moves when it appears. Floating bars, as on the Mac, need none."""
    floats = area.style().styleHint(QStyle.StyleHint.SH_ScrollBar_Transient, None, area)
    if not floats:
        area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)


def bar_room_px(theme: Theme, widget: QWidget) -> int:
    """How much a permanent bar takes from the width of what scrolls."""
    if widget.style().styleHint(QStyle.StyleHint.SH_ScrollBar_Transient, None, widget):
        return 0
    bar = QScrollBar(Qt.Orientation.Vertical)
    bar.setStyleSheet(theme.scroll_bar_style())
    return bar.sizeHint().width()


class EdgeFade(QWidget):
    """Fades lines at a field's edges. It lies over the field, and takes no clicks."""

    def __init__(self, area: QAbstractScrollArea, theme: Theme) -> None:
        super().__init__(area)
        self._area = area
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        area.viewport().installEventFilter(self)
        for changed in (area.verticalScrollBar().valueChanged, area.verticalScrollBar().rangeChanged):
            changed.connect(self._follow)
        theme.changed.connect(self.update)
        self._follow()

    def eventFilter(self, _viewport: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._follow()
        return False

    def _follow(self) -> None:
        bar = self._area.verticalScrollBar()
        off = self._area.verticalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff  # all of it is in sight
        self.setVisible(not off and bar.maximum() > bar.minimum())
        self.setGeometry(self._area.viewport().geometry())
        self.raise_()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        bar = self._area.verticalScrollBar()
        height = self._theme.px(_FADE_PX)
        with QPainter(self) as painter:
            if bar.value() > bar.minimum():
                self._fade(painter, QRect(0, 0, self.width(), height), strongest_at_top=True)
            if bar.value() < bar.maximum():
                self._fade(painter, QRect(0, self.height() - height, self.width(), height), strongest_at_top=False)

    def _fade(self, painter: QPainter, place: QRect, *, strongest_at_top: bool) -> None:
        ground = QColor(self._theme.palette.surface)
        nothing = QColor(ground)
        nothing.setAlpha(0)
        colors = (ground, nothing) if strongest_at_top else (nothing, ground)
        gradient = QLinearGradient(place.topLeft(), place.bottomLeft())
        gradient.setColorAt(0.0, colors[0])
        gradient.setColorAt(1.0, colors[1])
        painter.fillRect(place, gradient)


class RestingBar(QObject):
    """Shows a scroll bar only while it moves or has the pointer, as those of a Mac. A child of the bar."""

    def __init__(self, bar: QScrollBar) -> None:
        super().__init__(bar)
        self._bar = bar
        self._later = QTimer(self, singleShot=True, interval=_REST_AFTER_MS)
        self._later.timeout.connect(self.finish)
        bar.valueChanged.connect(self._on_moved)
        self.finish()

    def _on_moved(self) -> None:
        self._rest(False)
        self._later.start()

    def finish(self) -> None:
        self._rest(True)

    def _rest(self, rests: bool) -> None:
        if self._bar.property("rests") is not rests:
            self._bar.setProperty("rests", rests)
            self._bar.style().polish(self._bar)
            self._bar.update()


class ThinScrollBars(QObject):
    """Sets the style of an area's scroll bars, now and after each change of theme. A child of the area."""

    def __init__(self, area: QAbstractScrollArea, theme: Theme) -> None:
        super().__init__(area)
        self._bars = (area.verticalScrollBar(), area.horizontalScrollBar())
        area.setCornerWidget(QWidget(area))  # where both meet; the system's style paints a small square there
        self._theme = theme
        theme.follow(self._restyle)

    def _restyle(self) -> None:
        for bar in self._bars:
            bar.setStyleSheet(self._theme.scroll_bar_style())


def set_up_scroll_area(area: QScrollArea, theme: Theme, content: QWidget) -> None:
    """Scrolls `content`, as wide as the area, up and down; no frame and no background of its own."""
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(content)
    area.viewport().setAutoFillBackground(False)
    content.setAutoFillBackground(False)
    ThinScrollBars(area, theme)


class ScrolledText(FocusRing, PaintsFocus, QScrollArea):
    """Arrow keys scroll it where it has the focus."""

    accessible_role = QAccessible.Role.Document

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.has_ring:
            with QPainter(self.viewport()) as painter:
                paint_row_ground(painter, self.viewport().rect(), self._theme.palette, filled=False, ring=True)
