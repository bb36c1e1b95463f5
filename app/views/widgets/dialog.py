"""A question or message over a window, or without one: a sheet on the Mac, a card over the window elsewhere.

Return presses the default button; if its action cannot be undone Cancel has the focus. Escape cancels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.theme import RADIUS_CARD, Theme
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.held_keys import presses
from app.views.widgets.labels import TextLabel, TextStyle, say
from app.views.widgets.plain_words import set_window_title
from app.views.widgets.translated import Translated

_WIDTH_PX = 420
_FROM_TOP_PX = 64  # of its window


@dataclass(frozen=True, slots=True)
class DialogText:
    """`act`, `other` and `cancel` are the words on its buttons; without one there is no such button."""

    title: str
    sentence: str = ""
    detail: str = ""
    act: str = ""
    cancel: str = ""
    other: str = ""  # a second thing that can be done


def ask(
    theme: Theme,
    parent: QWidget,
    text: Callable[[], DialogText],
    act: Callable[[], object],
    *,
    danger: bool = True,
) -> Dialog:
    """Opens a question over `parent`; `act` is done when it is answered with its button."""
    dialog = Dialog(theme, parent, text, danger=danger)
    dialog.accepted.connect(act)
    dialog.open()
    return dialog


class Dialog(Translated, QDialog):
    """`text` is called again when the language changes. Emits `accepted` or `rejected`, as any dialog of Qt; for the
    second thing, `other_chosen` and `rejected`.
    """

    other_chosen = Signal()

    def __init__(
        self,
        theme: Theme,
        parent: QWidget | None,
        text: Callable[[], DialogText],
        danger: bool = False,
        width_px: int = _WIDTH_PX,
    ) -> None:
        super().__init__(parent)
        self.theme = theme
        self._text = text
        self._width_px = width_px
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self._choose_frame()
        self.title = TextLabel(theme, TextStyle.TITLE, self)
        self.sentence = TextLabel(theme, TextStyle.BODY, self)
        self.detail = TextLabel(theme, TextStyle.SECONDARY, self)
        self.cancel_button = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.other_button = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.act_button = PillButton(theme, Emphasis.DANGER if danger else Emphasis.PRIMARY, parent=self)
        self._first = self.cancel_button if danger else self.act_button
        self._arrange()
        self.act_button.clicked.connect(self.accept)
        self.cancel_button.clicked.connect(self.reject)
        self.other_button.clicked.connect(self._choose_other)
        theme.changed.connect(self._fit)
        self._retranslate()

    def _choose_frame(self) -> None:
        if self.parentWidget() is None:
            self.setWindowFlags(Qt.WindowType.Dialog)
        elif sys.platform == "darwin":
            self.setWindowFlags(Qt.WindowType.Sheet)
        else:
            self.setWindowFlags(Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
            self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)

    def _arrange(self) -> None:
        self.content = QVBoxLayout()  # for what comes between the words and the buttons
        buttons = arrange(QHBoxLayout(), 1, self.cancel_button, self.other_button, self.act_button, spacing=8)
        self._column = arrange(
            QVBoxLayout(self), self.title, self.sentence, self.detail, self.content, spacing=8, margins=(24, 22, 24, 18)
        )
        self._column.addSpacing(8)
        self._column.addLayout(buttons)

    def put_above(self, widget: QWidget) -> None:
        """Before the title."""
        self._column.insertWidget(0, widget, 0, Qt.AlignmentFlag.AlignLeft)
        self._fit()

    def _retranslate(self) -> None:
        text = self._text()
        set_window_title(self, text.title)
        self.setAccessibleName(text.title)
        self.setAccessibleDescription(" ".join(filter(None, (text.sentence, text.detail))))
        for widget, words in (
            (self.title, text.title),
            (self.sentence, text.sentence),
            (self.detail, text.detail),
            (self.act_button, text.act),
            (self.other_button, text.other),
            (self.cancel_button, text.cancel),
        ):
            say(widget, words)
        self._fit()

    def _choose_other(self) -> None:
        self.other_chosen.emit()
        self.reject()

    def _fit(self) -> None:
        """As wide as asked, and as high as its words need then; never larger than the screen."""
        room = self.screen().availableSize()
        width = min(self.theme.px(self._width_px), room.width() - 40)
        self._column.activate()
        height = self._column.totalHeightForWidth(width) if self._column.hasHeightForWidth() else 0
        self.resize(width, min(max(height, self._column.totalMinimumSize().height()), room.height() - 40))
        self.update()

    def setVisible(self, visible: bool) -> None:  # noqa: N802 - Qt's name
        """Its place is known before it is shown: X11 may get a later one too late."""
        if visible and not self.isVisible():
            self._place()
        super().setVisible(visible)

    def _place(self) -> None:
        self._fit()
        parent = self.parentWidget()
        if parent is not None and sys.platform != "darwin":
            window = parent.window()
            self.move(window.mapToGlobal(QPoint((window.width() - self.width()) // 2, self.theme.px(_FROM_TOP_PX))))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        for button in (self.cancel_button, self.other_button, self.act_button):
            button.raise_()  # screen readers come to them last
        first = self._first if self._first.isVisibleTo(self) else self.cancel_button
        first.setFocus(Qt.FocusReason.TabFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not presses(event, self._first.click):
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors = self.theme.palette
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setBrush(colors.surface)
            painter.setPen(QPen(colors.hairline, 1))
            radius = 0 if sys.platform == "darwin" else RADIUS_CARD
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
