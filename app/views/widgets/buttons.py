"""Buttons painted in the theme: icon, pill, choice with a menu, round. Form controls are in `widgets.fields`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAction,
    QColor,
    QFont,
    QFontMetrics,
    QHideEvent,
    QIcon,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractButton, QComboBox, QSizePolicy, QWidget

from app.theme import RADIUS_ROW, Theme
from app.views.icons import icon
from app.views.widgets.focus import FocusRing
from app.views.widgets.held_keys import RETURN_KEYS, is_held, popup_menu, presses
from app.views.widgets.mixins import BeforeButton
from app.views.widgets.plain_words import PlainWords
from app.views.widgets.roles import tell_shows_more
from app.views.widgets.tooltips import set_tooltip
from app.words.formats import listed

STOP = "square"  # drawn solid: an outline in a disc reads as a window
_DISABLED = 0.45  # of the usual strength
_DOT_PX = 6


class MeantClicks(BeforeButton):
    """A mixin that ignores clicks which were meant for something else.

    A click applies to what the button did when it was pressed, a double click to what it did at the first click. If the
    button has another function by then (Stop in place of Start), or another button took its place (after a row was
    removed), the click is ignored. A press by keyboard or screen reader always counts.
    """

    takes_every_click = False  # set where all clicks mean the same, such as stepping through versions
    _pressed_as: str | None = None

    def meaning(self) -> str:
        """The present function of the button; its text may change without it."""
        return ""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed_as = self.meaning()
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.takes_every_click or self._pressed_as == self.meaning():
            super().mouseDoubleClickEvent(event)  # a press
        else:
            event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        is_meant = self._pressed_as == self.meaning()
        if not is_meant:
            self.setDown(False)
        super().mouseReleaseEvent(event)
        if not is_meant:
            event.accept()

    def hideEvent(self, event: QHideEvent) -> None:
        """What it is shown for next may be something else of the same name."""
        self._pressed_as = None
        super().hideEvent(event)


class Emphasis(StrEnum):
    PRIMARY = "primary"
    DANGER = "danger"  # as PRIMARY, for what cannot be undone
    PLAIN = "plain"
    QUIET = "quiet"  # no background until the pointer is over it


_FILLED = (Emphasis.PRIMARY, Emphasis.DANGER)


class PaintedButton(FocusRing, PlainWords, MeantClicks, QAbstractButton):
    """Paints hover, press and focus ring; subclasses paint the rest in `paint_content`."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        # A click must not take the focus from the composer; Tab reaches the button.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.changed.connect(self._restyle)

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def set_name(self, name: str) -> None:
        set_tooltip(self, name)
        self.setAccessibleName(name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not presses(event, self.click):
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setFont(self.font())
            self.paint_content(painter)
            if self.has_ring:
                self._paint_ring(painter)

    def _paint_ring(self, painter: QPainter) -> None:
        """On a ground of the accent colour it is of the colour of the words, and a little further in."""
        colors = self.theme.palette
        inset = 3 if self.is_filled else 1
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colors.on_ink if self.is_filled else colors.ink, 2))
        radius = self.corner_radius() - (inset - 1)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), radius, radius)

    @property
    def is_filled(self) -> bool:
        return False

    def corner_radius(self) -> float:
        return RADIUS_ROW

    def fill(self, painter: QPainter, color: QColor) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(QRectF(self.rect()), self.corner_radius(), self.corner_radius())

    def paint_content(self, painter: QPainter) -> None:
        raise NotImplementedError


class NamedButton(PaintedButton):
    """Its words say what it does."""

    def meaning(self) -> str:
        return f"{self.text()}\n{self.accessibleName()}"

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


class IconButton(NamedButton):
    """A square with one line icon, and a dot where something differs from the usual."""

    has_dot = False

    def __init__(self, theme: Theme, icon_name: str, side_px: int = 30, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._icon_name = icon_name
        self._side_px = side_px

    def set_icon(self, icon_name: str) -> None:
        self._icon_name = icon_name
        self.update()

    def sizeHint(self) -> QSize:
        side = self.theme.px(self._side_px)
        return QSize(side, side)

    def paint_content(self, painter: QPainter) -> None:
        colors = self.theme.palette
        if self.isEnabled() and (self.underMouse() or self.isDown() or self.isChecked()):
            self.fill(painter, colors.hover)
        color = colors.text if self.underMouse() and self.isEnabled() else colors.secondary
        side = self.theme.px(16)
        place = QRect(0, 0, side, side)
        place.moveCenter(self.rect().center())
        painter.setOpacity(1.0 if self.isEnabled() else 0.4)
        icon(self._icon_name, color).paint(painter, place)
        painter.setOpacity(1.0)
        if self.has_dot:
            side = self.theme.px(_DOT_PX)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.ink)
            painter.drawEllipse(QRectF(self.width() - side - 3, 3, side, side))


class OpeningLine(PaintedButton):
    """Words after an arrow: right while collapsed, down while expanded."""

    opened = False

    def shows_more(self) -> bool:
        return self.opened

    def set_opened(self, opened: bool) -> None:
        if opened != self.opened:
            self.opened = opened
            self.update()
            tell_shows_more(self)

    def sizeHint(self) -> QSize:
        words = QFontMetrics(self.theme.ui_font(tabular=True)).horizontalAdvance(self.text())
        return QSize(self.theme.px(14 + 6 + 4) + words, self.theme.px(26))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paint_content(self, painter: QPainter) -> None:
        color = self.theme.palette.text if self.underMouse() else self.theme.palette.secondary
        side = self.theme.px(14)
        arrow = icon("chevron-down" if self.opened else "chevron-right", color)
        arrow.paint(painter, QRect(0, (self.height() - side) // 2, side, side))
        painter.setFont(self.theme.ui_font(tabular=True))
        painter.setPen(color)
        self.paint_words(painter, self.rect().adjusted(side + self.theme.px(6), 0, 0, 0))

    def paint_words(self, painter: QPainter, area: QRect) -> None:
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text())


class OpeningButton(IconButton):
    """An arrow that expands something in place: right while collapsed, down while expanded."""

    def __init__(self, theme: Theme, side_px: int) -> None:
        super().__init__(theme, "chevron-right", side_px)
        self._opened = False

    def shows_more(self) -> bool:
        return self._opened

    def set_opened(self, opened: bool) -> None:
        self.set_icon("chevron-down" if opened else "chevron-right")
        if opened != self._opened:
            self._opened = opened
            tell_shows_more(self)


class PillButton(NamedButton):
    """Words on a rounded ground, with an icon in front where one helps."""

    def __init__(
        self,
        theme: Theme,
        emphasis: Emphasis = Emphasis.PLAIN,
        icon_name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, parent)
        self._emphasis = emphasis
        self._icon_name = icon_name
        self._row_name = ""
        self.left_aligned = False

    def name_after(self, row: str) -> None:
        """In a row with this name, which its own words follow for screen readers."""
        self._row_name = row
        self.setText(self.text())

    def setText(self, text: str) -> None:  # noqa: N802 - Qt's name
        super().setText(text)
        if self._row_name:
            self.setAccessibleName(listed(self._row_name, text))

    def set_words(self, words: str, name: str) -> None:
        """`name`: for screen readers, which do not see what it is beside."""
        self.setText(words)
        self.setAccessibleName(name)

    def set_emphasis(self, emphasis: Emphasis) -> None:
        self._emphasis = emphasis
        self._restyle()

    def set_icon(self, icon_name: str) -> None:
        self._icon_name = icon_name
        self._restyle()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._face())
        icon_width = self.theme.px(16 + 8) if self._icon_name else 0
        width = metrics.horizontalAdvance(self.text()) + icon_width + self.theme.px(24)
        return QSize(width, max(self.theme.px(30), metrics.height() + self.theme.px(10)))

    def _face(self) -> QFont:
        return self.theme.ui_font(weight=QFont.Weight.Medium if self._emphasis in _FILLED else QFont.Weight.Normal)

    def paint_content(self, painter: QPainter) -> None:
        self._paint_ground(painter)
        color = self.theme.palette.on_ink if self.is_filled else self.theme.palette.text
        painter.setFont(self._face())
        painter.setOpacity(1.0 if self.isEnabled() else _DISABLED)
        area = self.rect().adjusted(self.theme.px(12), 0, -self.theme.px(12), 0)
        if self._icon_name:
            area = self._paint_icon(painter, area, color)
        alignment = (
            Qt.AlignmentFlag.AlignLeft if self.left_aligned or self._icon_name else Qt.AlignmentFlag.AlignHCenter
        )
        text = QFontMetrics(self._face()).elidedText(self.text(), Qt.TextElideMode.ElideRight, area.width() + 1)
        painter.setPen(color)
        painter.drawText(area, alignment | Qt.AlignmentFlag.AlignVCenter, text)
        painter.setOpacity(1.0)

    def _paint_icon(self, painter: QPainter, area: QRect, color: QColor) -> QRect:
        side = self.theme.px(16)
        words = QFontMetrics(self._face()).horizontalAdvance(self.text())
        start = (
            area.left() if self.left_aligned else area.left() + max(0, (area.width() - words - self.theme.px(24)) // 2)
        )
        icon(self._icon_name, color).paint(painter, QRect(start, (self.height() - side) // 2, side, side))
        return QRect(QPoint(start + self.theme.px(24), area.top()), area.bottomRight())

    @property
    def is_filled(self) -> bool:
        return self._emphasis in _FILLED

    def _paint_ground(self, painter: QPainter) -> None:
        colors = self.theme.palette
        over = self.isEnabled() and (self.underMouse() or self.isDown())
        if self.is_filled:
            ink = QColor(colors.fault if self._emphasis == Emphasis.DANGER else colors.ink)
            strength = 0.88 if over else 1.0
            ink.setAlphaF(strength if self.isEnabled() else 0.4)
            self.fill(painter, ink)
            return
        for _ in range((self._emphasis != Emphasis.QUIET) + over):
            self.fill(painter, colors.hover)


class ChoiceButton(FocusRing, QComboBox):
    """Shows the chosen one of several and opens them as a menu. Letters go to the choice that begins with them."""

    chosen = Signal(object)
    accessible_role = QAccessible.Role.ComboBox

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.value: object = None
        self._values: list[object] = []
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.activated.connect(self._on_activated)
        theme.changed.connect(self._restyle)

    def set_choices(self, choices: Sequence[tuple[object, str]]) -> None:
        self._values = [value for value, _ in choices]
        self.clear()
        self.addItems([text for _, text in choices])
        self.set_value(self.value)

    def set_value(self, value: object) -> None:
        self.value = value
        self.setCurrentIndex(self._values.index(value) if value in self._values else -1)
        self._restyle()

    def set_name(self, name: str) -> None:
        set_tooltip(self, name)
        self.setAccessibleName(name)

    def text(self) -> str:
        return self.currentText()

    accessible_value = text

    @property
    def choices(self) -> list[str]:
        return [self.itemText(index) for index in range(self.count())]

    def click(self) -> None:
        self.showPopup()

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def _on_activated(self, index: int) -> None:
        self.choose(self._values[index])

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        menu = popup_menu(self, self.theme)
        for index in range(self.count()):
            action = menu.addAction(self.itemText(index).replace("&", "&&"))
            if sys.platform == "darwin":
                action.setCheckable(True)
                action.setChecked(index == self.currentIndex())
            elif index == self.currentIndex():  # other systems show an empty box for each that is not checked
                action.setIcon(self._check())
            action.setData(index)
        menu.triggered.connect(self._on_chosen)  # a lambda would own this button, and the button its menu
        menu.popup(self.mapToGlobal(QPoint(0, self.height() + 2)))
        if (now := self.currentIndex()) >= 0:
            menu.setActiveAction(menu.actions()[now])

    def _on_chosen(self, action: QAction) -> None:
        self._on_activated(action.data())

    def _check(self) -> QIcon:
        """In the colour of the words, also in the row that has the pointer."""
        colors = self.theme.palette
        check = QIcon(icon("check", colors.text))
        side = self.theme.px(16)
        check.addPixmap(icon("check", colors.on_ink).pixmap(side, side), QIcon.Mode.Active)
        return check

    def choose(self, value: object) -> None:
        if value != self.value:
            self.set_value(value)
            self.chosen.emit(value)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.theme.ui_font())
        widest = max((metrics.horizontalAdvance(self.itemText(index)) for index in range(self.count())), default=0)
        height = max(self.theme.px(30), metrics.height() + self.theme.px(10))
        return QSize(widest + self.theme.px(46), height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        opens = (Qt.Key.Key_Down, Qt.Key.Key_Up, *RETURN_KEYS, Qt.Key.Key_Space)
        if is_held(event):
            event.accept()
        elif event.key() in opens:
            self.showPopup()
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The page scrolls; the choice stays."""
        event.ignore()

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors = self.theme.palette
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setOpacity(1.0 if self.isEnabled() else _DISABLED)
            painter.setPen(QPen(colors.ink, 2) if self.has_ring else Qt.PenStyle.NoPen)
            place = QRectF(self.rect()).adjusted(1, 1, -1, -1) if self.has_ring else QRectF(self.rect())
            for _ in range(2 if self.underMouse() and self.isEnabled() else 1):
                painter.setBrush(colors.hover)
                painter.drawRoundedRect(place, RADIUS_ROW, RADIUS_ROW)
            self._paint_words(painter)

    def _paint_words(self, painter: QPainter) -> None:
        side = self.theme.px(14)
        arrow = QRect(self.width() - side - self.theme.px(8), (self.height() - side) // 2, side, side)
        area = self.rect().adjusted(self.theme.px(12), 0, arrow.left() - self.width() - self.theme.px(4), 0)
        painter.setFont(self.theme.ui_font())
        painter.setPen(self.theme.palette.text)
        words = painter.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, area.width() + 1)
        painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
        icon("chevron-down", self.theme.palette.secondary).paint(painter, arrow)


class RoundButton(IconButton):
    """The composer's send and stop: a disc in the accent colour."""

    def __init__(self, theme: Theme, icon_name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, icon_name, 32, parent)

    def corner_radius(self) -> float:
        return self.height() / 2

    @property
    def is_filled(self) -> bool:
        return self.isEnabled()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.EnabledChange:
            self.update()
        super().changeEvent(event)

    def paint_content(self, painter: QPainter) -> None:
        colors = self.theme.palette
        ground = QColor(colors.ink if self.isEnabled() else colors.bubble)
        if self.isEnabled() and self.underMouse():
            ground.setAlphaF(0.88)
        self.fill(painter, ground)
        side = self.theme.px(16 if self._icon_name != STOP else 11)
        place = QRect(0, 0, side, side)
        place.moveCenter(self.rect().center())
        if self._icon_name == STOP:
            painter.setBrush(colors.on_ink)
            painter.drawRoundedRect(place, 2, 2)
            return
        icon(self._icon_name, colors.on_ink if self.isEnabled() else colors.faint).paint(painter, place)
