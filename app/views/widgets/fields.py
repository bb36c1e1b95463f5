"""Fields in the theme's style: text, numbers, segments, switch.

They keep Qt's behaviour (input methods, undo, keys, accessibility). Each emits `chosen` when the user sets it, and
shows a value by `set_value`, which emits nothing and keeps text that is being typed in a number field.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, QRectF, QSignalBlocker, QSize, Qt, QVariantAnimation, Signal
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QValidator,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QLineEdit,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from app.theme import RADIUS_ROW, Theme
from app.views.widgets.arrange import arrange
from app.views.widgets.composing import Composing
from app.views.widgets.focus import FocusRing
from app.views.widgets.held_keys import is_held_return, presses
from app.views.widgets.plain_words import PlainWords
from app.views.widgets.tooltips import set_tooltip

NUMBER_PX = 116  # a number's field; wide enough for what an empty one says in any language
_DISABLED = 0.45  # of the usual strength


_PADDING = 8, 5  # of a field, within its line


def field_style(theme: Theme) -> str:
    colors = theme.palette
    border = f"rgba({colors.text.red()}, {colors.text.green()}, {colors.text.blue()}, 0.16)"
    return (
        f"QLineEdit, QSpinBox, QDoubleSpinBox, QPlainTextEdit {{"
        f" background: {colors.surface.name()}; color: {colors.text.name()}; border: 1px solid {border};"
        f" placeholder-text-color: {colors.faint.name()};"
        f" border-radius: {RADIUS_ROW}px; padding: {theme.px(_PADDING[1])}px {theme.px(_PADDING[0])}px;"
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
        control.setAttribute(Qt.WidgetAttribute.WA_MacShowFocusRect, False)  # the style has a ring
        theme.follow(self._restyle)

    def _restyle(self) -> None:
        self._control.setFont(self._theme.ui_font())
        self._control.setStyleSheet(field_style(self._theme))
        if self._width_px:
            self._control.setFixedWidth(self._theme.px(self._width_px))


class NumberEdit(QObject):
    """Places the text of a spin box without buttons.

    WORKAROUND: since 6.11.3 Qt leaves one pixel for it where a style sheet has padding.
    """

    def __init__(self, field: QSpinBox | QDoubleSpinBox, theme: Theme) -> None:
        super().__init__(field)
        self._field = field
        self._theme = theme
        field.lineEdit().installEventFilter(self)

    def eventFilter(self, _edit: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            across, down = (1 + self._theme.px(padding) for padding in _PADDING)
            self._field.lineEdit().setGeometry(self._field.rect().adjusted(across, down, -across, -down))
        return False


class LineField(Composing, QLineEdit):
    def __init__(self, theme: Theme, width_px: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        FieldStyler(self, theme, width_px)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if is_held_return(event) or (event.key() == Qt.Key.Key_Escape and self.is_composing):
            event.accept()
        else:
            super().keyPressEvent(event)


class WheelPasses:
    """For a field in a page that scrolls: the wheel never changes it."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class WholeField(WheelPasses, QSpinBox):
    """A whole number; arrow keys step it. One beyond the limits can be typed, and becomes the nearest when entered."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, minimum: int, maximum: int, width_px: int) -> None:
        super().__init__()
        self.setRange(minimum, maximum)
        _make_plain(self)
        NumberEdit(self, theme)
        FieldStyler(self, theme, width_px)
        self.valueChanged.connect(self.chosen.emit)

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        return _with_numbers_beyond(self, super().validate(narrow(text), position))

    def fixup(self, text: str) -> str:
        return _nearest(self, text) or super().fixup(text)

    def set_value(self, value: int) -> None:
        if value != self.value():
            with QSignalBlocker(self):
                self.setValue(value)


class NumberField(WheelPasses, QDoubleSpinBox):
    """As WholeField, with two decimals."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, limits: tuple[float, float], step: float, width_px: int) -> None:
        super().__init__()
        self.setRange(*limits)
        self.setSingleStep(step)
        self.setDecimals(2)
        _make_plain(self)
        NumberEdit(self, theme)
        FieldStyler(self, theme, width_px)
        self.valueChanged.connect(lambda value: self.chosen.emit(round(value, 2)))

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Comma and point are both the decimal mark: a silent 0 for "0,5" would be another number."""
        mark = self.locale().decimalPoint()
        text = narrow(text).replace("," if mark == "." else ".", mark)
        return _with_numbers_beyond(self, super().validate(text, position))

    def fixup(self, text: str) -> str:
        return _nearest(self, text) or super().fixup(text)

    def set_value(self, value: float) -> None:
        if value != self.value():
            with QSignalBlocker(self):
                self.setValue(value)


def narrow(text: str) -> str:
    """Japanese and Chinese input methods also type wide digits and marks."""
    return unicodedata.normalize("NFKC", text)


def _with_numbers_beyond(
    field: QSpinBox | QDoubleSpinBox, judged: tuple[QValidator.State, str, int]
) -> tuple[QValidator.State, str, int]:
    state, text, position = judged
    may_be_one = text == field.locale().negativeSign() or bool(_nearest(field, text))
    is_beyond = state is QValidator.State.Invalid and may_be_one
    return QValidator.State.Intermediate if is_beyond else state, text, position


def _nearest(field: QSpinBox | QDoubleSpinBox, text: str) -> str:
    """The nearest value to the number in a text; "": there is none."""
    number, is_one = field.locale().toDouble(text)
    if not is_one or not math.isfinite(number):
        return ""
    nearest = min(max(number, field.minimum()), field.maximum())
    if isinstance(field, QSpinBox):
        return field.textFromValue(round(nearest))
    return field.textFromValue(nearest)


def take_typed(place: QWidget) -> None:
    """What is typed there counts now, as if the focus left its field; a click on a button does not move the focus."""
    field = place.focusWidget()
    if isinstance(field, Composing):
        field.commit()
    if isinstance(field, LineField):
        field.editingFinished.emit()
    elif isinstance(field, QAbstractSpinBox):
        field.interpretText()


def _make_plain(field: QAbstractSpinBox) -> None:
    field.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
    field.setAlignment(Qt.AlignmentFlag.AlignRight)
    field.setKeyboardTracking(False)
    field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # not by the wheel either


class Segments(QWidget):
    """A few exclusive choices side by side. Tab goes to the chosen one, arrow keys choose another."""

    chosen = Signal(object)
    accessible_role = QAccessible.Role.Grouping

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._choices: list[tuple[object, str]] = []
        self.buttons: list[SegmentButton] = []
        self.value: object = None
        self._row = arrange(QHBoxLayout(self), spacing=0, margins=(2, 2, 2, 2))
        theme.changed.connect(self.updateGeometry)

    def set_choices(self, choices: Sequence[tuple[object, str]]) -> None:
        """New words for the same choices, as after a change of language, leave the focus where it is."""
        if [value for value, _ in choices] != [value for value, _ in self._choices]:
            self._make_buttons(choices)
        self._choices = list(choices)
        for button, (_, text) in zip(self.buttons, choices, strict=True):
            button.setText(text)
            button.updateGeometry()
        self.set_value(self.value)
        self.updateGeometry()

    def _make_buttons(self, choices: Sequence[tuple[object, str]]) -> None:
        for button in self.buttons:
            button.hide()
            button.deleteLater()
        self.buttons = [SegmentButton(self.theme, self) for _ in choices]
        for button, (value, _) in zip(self.buttons, choices, strict=True):
            self._row.addWidget(button, 1)
            button.clicked.connect(lambda _checked=False, value=value: self.choose(value))

    def set_value(self, value: object) -> None:
        self.value = value
        for button, (each, _) in zip(self.buttons, self._choices, strict=True):
            button.setChecked(each == value)
        if self.buttons:
            self.setFocusProxy(next((each for each in self.buttons if each.isChecked()), self.buttons[0]))

    def set_refused(self, reasons: Mapping[object, str]) -> None:
        """Choices that cannot be made now, and why."""
        for button, (value, _) in zip(self.buttons, self._choices, strict=True):
            reason = reasons.get(value, "")
            button.setEnabled(not reason)
            set_tooltip(button, reason)

    def setAccessibleDescription(self, words: str) -> None:  # noqa: N802 - Qt's name
        super().setAccessibleDescription(words)
        for button in self.buttons:
            button.setAccessibleDescription(words)

    def choose(self, value: object) -> None:
        if value != self.value:
            self.set_value(value)
            self.chosen.emit(value)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.palette.hover)
            painter.drawRoundedRect(QRectF(self.rect()), RADIUS_ROW + 2, RADIUS_ROW + 2)


class SegmentButton(FocusRing, PlainWords, QAbstractButton):
    """One of the choices: a radio button."""

    def __init__(self, theme: Theme, parent: Segments) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._theme.ui_font())
        height = max(self._theme.px(30), metrics.height() + self._theme.px(10)) - 4
        return QSize(metrics.horizontalAdvance(self.text()) + self._theme.px(24), height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors = self._theme.palette
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setOpacity(1.0 if self.isEnabled() else _DISABLED)
            if self.isChecked():
                ring = self.has_ring
                painter.setPen(QPen(colors.ink if ring else colors.hairline, 2 if ring else 1))
                painter.setBrush(colors.surface if not self._theme.dark else colors.bubble.lighter(135))
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_ROW, RADIUS_ROW)
            painter.setFont(self._theme.ui_font())
            over = self.underMouse() and self.isEnabled()
            painter.setPen(colors.text if self.isChecked() or over else colors.secondary)
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())


class Switch(FocusRing, QAbstractButton):
    """On or off, as a knob that slides."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.is_partly_on = False
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self._slide = QVariantAnimation(self)
        self._slide.valueChanged.connect(lambda _place: self.update())
        self.toggled.connect(self._move_knob)
        self.toggled.connect(self.chosen.emit)
        theme.changed.connect(self._restyle)

    def _restyle(self) -> None:
        self.updateGeometry()
        self.update()

    def set_value(self, on: bool, *, partly: bool = False) -> None:
        """`partly`: some of what it stands for is on; a click switches all of it on."""
        if on != self.isChecked():
            with QSignalBlocker(self):
                self.setChecked(on)
            self._move_knob(on)
        if partly != self.is_partly_on:
            self.is_partly_on = partly
            self.update()

    def _move_knob(self, on: bool) -> None:
        self.is_partly_on = False
        self._slide.stop()
        if self._theme.motion_ms and self.isVisible():
            self._slide.setDuration(self._theme.motion_ms)
            self._slide.setStartValue(0.0 if on else 1.0)
            self._slide.setEndValue(1.0 if on else 0.0)
            self._slide.start()

    @property
    def knob(self) -> float:
        """Where it is, from 0 (off) to 1 (on)."""
        if self.is_partly_on:
            return 0.5
        if self._slide.state() == QVariantAnimation.State.Running:
            return float(self._slide.currentValue())
        return 1.0 if self.isChecked() else 0.0

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(34), self._theme.px(22))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not presses(event, self.click):
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The focus ring is around the track, so that it is seen whatever colour the track has, which makes room."""
        colors = self._theme.palette
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setOpacity(1.0 if self.isEnabled() else _DISABLED)
            sides = 3 if self.has_ring else 0  # without it the track ends where all else in a card does
            track = QRectF(self.rect()).adjusted(sides, max(1, sides), -sides, -max(1, sides))
            if self.has_ring:
                painter.setPen(QPen(colors.ink, 2))
                painter.drawRoundedRect(track.adjusted(-2, -2, 2, 2), track.height() / 2 + 2, track.height() / 2 + 2)
            self._paint_track(painter, track)

    def _paint_track(self, painter: QPainter, track: QRectF) -> None:
        """Filled while it is on. Off it is an outline with a dark knob: a grey one with a pale knob looks disabled."""
        colors = self._theme.palette
        lit = self.isEnabled() and (self.underMouse() or self.isDown())
        ground = QColor(colors.ink)
        knob = colors.on_ink
        ground.setAlphaF(0.85 if lit else 1.0)
        painter.setPen(Qt.PenStyle.NoPen)
        if not self.isChecked():
            ground = QColor(colors.surface)
            knob = colors.text if lit else colors.secondary
            painter.setPen(QPen(knob, 1.5))
            track = track.adjusted(0.75, 0.75, -0.75, -0.75)
        painter.setBrush(ground)
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        gap = 2.0 if self.isChecked() else 3.0
        side = track.height() - 2 * gap
        left = track.left() + gap + self.knob * (track.width() - side - 2 * gap)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(knob)
        painter.drawEllipse(QRectF(left, track.top() + gap, side, side))
