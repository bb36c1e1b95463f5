"""Labels in the theme's text styles: one that wraps, one that wraps names and paths, and one that elides."""

from __future__ import annotations

import re
from enum import StrEnum

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QPlainTextEdit, QSizePolicy, QWidget

from app.theme import FOOTER_PX, TITLE_PX, UI_PX, Palette, Theme
from app.views.widgets.tooltips import set_tooltip

_DOT = " · "
_DOT_AT_END = "\u00a0· "  # no line begins with the dot between two details
# After the marks of a name or path, and anywhere in what is long without one.
_MAY_BREAK = re.compile(r"(?<=[/\\_.\-])(?=\w)|(?<=\w{16})(?=\w)")
_BREAK = "\u200b"
_LONGEST_DRAWN = 1000  # characters of one line


class TextStyle(StrEnum):
    TITLE = "title"
    HEADING = "heading"
    BODY = "body"
    SECONDARY = "secondary"
    FINE = "fine"
    FAULT = "fault"
    COST = "cost"  # of a warning


_SMALL = (TextStyle.FINE, TextStyle.FAULT, TextStyle.COST)


def style_font(theme: Theme, text_style: TextStyle) -> QFont:
    if text_style == TextStyle.TITLE:
        return theme.ui_font(TITLE_PX, QFont.Weight.DemiBold)
    if text_style == TextStyle.HEADING:
        return theme.ui_font(UI_PX, QFont.Weight.DemiBold)
    return theme.ui_font(FOOTER_PX if text_style in _SMALL else UI_PX, tabular=text_style == TextStyle.FINE)


def style_color(colors: Palette, text_style: TextStyle) -> QColor:
    return {
        TextStyle.SECONDARY: colors.secondary,
        TextStyle.FINE: colors.secondary,
        TextStyle.FAULT: colors.fault,
        TextStyle.COST: colors.cost,
    }.get(text_style, colors.text)


def details_in_lines(text: str, metrics: QFontMetrics, width_px: int) -> str:
    """Where a line ends between two details there is no dot: they are cut into lines that fit."""
    lines = [""]
    for detail in text.split(_DOT):
        longer = _DOT.join(filter(None, (lines[-1], detail)))
        if lines[-1] and metrics.horizontalAdvance(longer) > width_px:
            lines.append(detail)
        else:
            lines[-1] = longer
    return "\n".join(lines)


class TextLabel(QLabel):
    """A label with wrapping plain text; never rich text, because some of it comes from models and hubs."""

    def __init__(
        self,
        theme: Theme,
        text_style: TextStyle = TextStyle.BODY,
        parent: QWidget | None = None,
        *,
        text: str = "",
        wraps: bool = True,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text_style = text_style
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wraps)
        self.setText(text)
        theme.follow(self._restyle)

    def text(self) -> str:
        return super().text().replace(_DOT_AT_END, _DOT)

    def setText(self, text: str) -> None:  # noqa: N802 - Qt's name
        super().setText(text.replace(_DOT, _DOT_AT_END))

    @property
    def is_heading(self) -> bool:
        return self._text_style is TextStyle.HEADING

    def set_text_style(self, text_style: TextStyle) -> None:
        self._text_style = text_style
        self._restyle()

    def _restyle(self) -> None:
        self.setFont(style_font(self._theme, self._text_style))
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.WindowText, style_color(self._theme.palette, self._text_style))
        self.setPalette(palette)


def say(widget: QLabel | QAbstractButton, words: str) -> None:
    """Show the words; without any, the widget is hidden."""
    widget.setText(words)
    widget.setVisible(bool(words))


def describe(field: QLineEdit | QPlainTextEdit, hint: str, name: str = "") -> None:
    """`hint`: shown while it is empty; `name`: for screen readers, where that is another one."""
    field.setPlaceholderText(hint)
    field.setAccessibleName(name or hint)


class NameLabel(TextLabel):
    """A name or path, which has no spaces where a line could end."""

    def text(self) -> str:
        return super().text().replace(_BREAK, "")

    def setText(self, text: str) -> None:  # noqa: N802 - Qt's name
        super().setText(_MAY_BREAK.sub(_BREAK, text))
        self.setAccessibleName(text)


class ElidedLabel(QWidget):
    """A label of one line, elided where there is no room; the tooltip then has the whole text."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(
        self,
        theme: Theme,
        text_style: TextStyle = TextStyle.BODY,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text_style = text_style
        self._mode = mode
        self._text = self._tooltip_text = ""
        self.alignment = Qt.AlignmentFlag.AlignLeft
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def text(self) -> str:
        return self._text

    def setText(self, text: str) -> None:  # noqa: N802 - like every other widget with a text
        self._text = text
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    @property
    def _drawn(self) -> str:
        """Qt measures all of it, and the rest is elided."""
        is_short = len(self._text) <= _LONGEST_DRAWN
        return self._text if is_short else f"{self._text[: _LONGEST_DRAWN // 2]}…{self._text[-_LONGEST_DRAWN // 2 :]}"

    def set_tooltip_text(self, words: str) -> None:
        """What the tooltip has, whether it is elided or not."""
        self._tooltip_text = words
        set_tooltip(self, words)

    def _metrics(self) -> QFontMetrics:
        return QFontMetrics(style_font(self._theme, self._text_style))

    def sizeHint(self) -> QSize:
        return QSize(self._metrics().horizontalAdvance(self._drawn) + 2, self._metrics().height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(40), self._metrics().height() + 2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setFont(style_font(self._theme, self._text_style))
            painter.setPen(style_color(self._theme.palette, self._text_style))
            shown = self._metrics().elidedText(self._drawn, self._mode, self.width())
            set_tooltip(self, self._tooltip_text or (self._drawn if shown != self._text else ""))
            painter.drawText(self.rect(), self.alignment | Qt.AlignmentFlag.AlignVCenter, shown)
