"""Form controls in the theme's style: text lines, numbers, segments, a switch.

They keep Qt's behaviour (input methods, undo, keys, accessibility).
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QDoubleSpinBox, QLineEdit, QSpinBox, QWidget

from app.theme import RADIUS_ROW, Theme
from app.views.widgets.composing import Composing


def field_style(theme: Theme) -> str:
    colors = theme.palette
    border = f"rgba({colors.text.red()}, {colors.text.green()}, {colors.text.blue()}, 0.16)"
    return (
        f"QLineEdit, QSpinBox, QDoubleSpinBox, QPlainTextEdit {{"
        f" background: {colors.surface.name()}; color: {colors.text.name()}; border: 1px solid {border};"
        f" placeholder-text-color: {colors.faint.name()};"
        f" border-radius: {RADIUS_ROW}px; padding: {theme.px(5)}px {theme.px(8)}px;"
        f" selection-background-color: {colors.ink.name()}; selection-color: {colors.on_ink.name()}; }}"
        f" QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QPlainTextEdit:focus"
        f" {{ border: 1px solid {colors.ink.name()}; }}"
        f" QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled {{ color: {colors.faint.name()}; }}"
    )


class FieldStyler(QObject):
    """Sets a control's style, and its width if given, now and after each change of theme. A child of the control."""

    def __init__(self, control: QWidget, theme: Theme, width_px: int) -> None:
        super().__init__(control)
        self._control = control
        self._theme = theme
        self._width_px = width_px
        theme.changed.connect(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        self._control.setFont(self._theme.ui_font())
        self._control.setStyleSheet(field_style(self._theme))
        if self._width_px:
            self._control.setFixedWidth(self._theme.px(self._width_px))


class LineField(Composing, QLineEdit):
    def __init__(self, theme: Theme, width_px: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        FieldStyler(self, theme, width_px)


class WheelPasses:
    """For a field in a page that scrolls: the wheel never changes it."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class WholeField(WheelPasses, QSpinBox):
    """A whole number; arrow keys step it."""

    def __init__(self, theme: Theme, minimum: int, maximum: int, width_px: int) -> None:
        super().__init__()
        self.setRange(minimum, maximum)
        _make_plain(self)
        FieldStyler(self, theme, width_px)


class NumberField(WheelPasses, QDoubleSpinBox):
    def __init__(self, theme: Theme, limits: tuple[float, float], step: float, width_px: int) -> None:
        super().__init__()
        self.setRange(*limits)
        self.setSingleStep(step)
        self.setDecimals(2)
        _make_plain(self)
        FieldStyler(self, theme, width_px)


def _make_plain(field: QAbstractSpinBox) -> None:
    field.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
    field.setAlignment(Qt.AlignmentFlag.AlignRight)
    field.setKeyboardTracking(False)
    field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # not by the wheel either


class Segments(QWidget):
    """A few exclusive choices side by side; arrow keys move between them."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._choices: list[tuple[object, str]] = []
        self.value: object = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.changed.connect(self.updateGeometry)

    def set_choices(self, choices: Sequence[tuple[object, str]]) -> None:
        self._choices = list(choices)
        self.updateGeometry()
        self._describe()

    def set_value(self, value: object) -> None:
        self.value = value
        self._describe()
        self.update()

    def _describe(self) -> None:
        text = next((text for value, text in self._choices if value == self.value), "")
        self.setAccessibleDescription(text)

    def _face(self) -> QFont:
        return self._theme.ui_font()

    def _widths(self) -> list[int]:
        metrics = QFontMetrics(self._face())
        return [metrics.horizontalAdvance(text) + self._theme.px(24) for _, text in self._choices]

    def sizeHint(self) -> QSize:
        height = max(self._theme.px(30), QFontMetrics(self._face()).height() + self._theme.px(10))
        return QSize(sum(self._widths()) + 4, height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _places(self) -> list[QRectF]:
        widths = self._widths()
        spare = max(0.0, (self.width() - 4 - sum(widths)) / max(1, len(widths)))
        places, left = [], 2.0
        for width in widths:
            places.append(QRectF(left, 2, width + spare, self.height() - 4))
            left += width + spare
        return places

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors = self._theme.palette
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.hover)
        painter.drawRoundedRect(QRectF(self.rect()), RADIUS_ROW + 2, RADIUS_ROW + 2)
        painter.setFont(self._face())
        for (value, text), place in zip(self._choices, self._places(), strict=True):
            self._paint_segment(painter, place, text, value == self.value)
        painter.end()

    def _paint_segment(self, painter: QPainter, place: QRectF, text: str, selected: bool) -> None:
        colors = self._theme.palette
        if selected:
            ring = self.hasFocus()
            painter.setPen(QPen(colors.ink if ring else colors.hairline, 2 if ring else 1))
            painter.setBrush(colors.surface if not self._theme.dark else colors.bubble.lighter(135))
            painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_ROW, RADIUS_ROW)
        painter.setPen(colors.text if selected else colors.secondary)
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        for (value, _), place in zip(self._choices, self._places(), strict=True):
            if place.contains(event.position()):
                self._choose(value)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event.key() not in steps or not self._choices:
            super().keyPressEvent(event)
            return
        values = [value for value, _ in self._choices]
        now = values.index(self.value) if self.value in values else 0
        self._choose(values[max(0, min(len(values) - 1, now + steps[Qt.Key(event.key())]))])

    def _choose(self, value: object) -> None:
        if value != self.value:
            self.set_value(value)
            self.chosen.emit(value)


class Switch(QAbstractButton):
    """On or off, as a small sliding knob."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(36), self._theme.px(22))

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors = self._theme.palette
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.setPen(QPen(colors.ink, 2) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(colors.ink if self.isChecked() else colors.faint)
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        side = track.height() - 4
        left = track.right() - side - 2 if self.isChecked() else track.left() + 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor("white") if not self._theme.dark else colors.on_ink)
        painter.drawEllipse(QRectF(left, track.top() + 2, side, side))
        painter.end()
