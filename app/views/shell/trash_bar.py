"""The card that stands in place of the composer while a chat in the Trash is read: where it is, and the ways out.

Here: its words and buttons. Not here: reading such a chat (`controllers/trash_reading.py`).
"""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.theme import COLUMN_PX, RADIUS_BUBBLE, Theme
from app.view_models.trash_list import Deletion
from app.views.icons import icon
from app.views.shell.trash_question import ask_to_forget
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.dialog import Dialog
from app.views.widgets.flow import Flow
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.painting import paint_surface
from app.views.widgets.translated import Translated
from app.words.formats import fill
from app.words.trash import deletion_detail

_GAP_PX = 8  # between the buttons


class TrashBar(Translated, QWidget):
    resized = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chats: ChatController | None = None
        self.sentence = TextLabel(theme, TextStyle.BODY, self)
        self.detail = TextLabel(theme, TextStyle.SECONDARY, self)
        self.restore_button = PillButton(theme, Emphasis.PRIMARY, parent=self)
        self.forget_button = PillButton(theme, parent=self)
        self.restore_button.clicked.connect(self._restore)
        self.forget_button.clicked.connect(self.ask_to_forget)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._arrange()
        theme.changed.connect(self._restyle)
        self._restyle()
        self._retranslate()
        self.hide()

    def _arrange(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.sentence)
        words.addWidget(self.detail)
        self._buttons = QWidget(self)
        flow = Flow(self._buttons)
        for button in (self.restore_button, self.forget_button):
            flow.addWidget(button)
        self._content = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._content.setSpacing(12)
        self._content.addLayout(words, 1)
        self._content.addWidget(self._buttons, 0, Qt.AlignmentFlag.AlignVCenter)

    def bind(self, chats: ChatController) -> None:
        self._chats = chats

    @property
    def deletion(self) -> Deletion | None:
        """Of the chat that is read."""
        return None if self._chats is None else self._chats.reading.deletion

    def _restore(self) -> None:
        if self._chats is not None and self.deletion is not None:
            self._chats.deletions.restore(self.deletion)

    def ask_to_forget(self) -> Dialog | None:
        chats, deletion = self._chats, self.deletion
        if chats is None or deletion is None:
            return None
        return ask_to_forget(
            self._theme,
            self.window(),
            lambda: (fill(self.tr("Delete “%1” for good?"), deletion.title), self.tr("Delete for good")),
            lambda: chats.deletions.forget([deletion]),
        )

    def _retranslate(self) -> None:
        self.sentence.setText(self.tr("This chat is in Recently Deleted. Restore it to go on with it."))
        self.detail.setText("" if self.deletion is None else deletion_detail(self.deletion))
        self.setAccessibleName(self.sentence.text())
        self.restore_button.setText(self.tr("Restore"))
        self.forget_button.setText(self.tr("Delete for good…"))
        self._turn()

    def follow(self) -> None:
        """Another chat is read now."""
        self._retranslate()

    def _turn(self) -> None:
        """Beside words that fit in a line; otherwise the buttons stand below them."""
        buttons_px = _GAP_PX + sum(each.sizeHint().width() for each in (self.restore_button, self.forget_button))
        lines = (label.fontMetrics().horizontalAdvance(label.text()) for label in (self.sentence, self.detail))
        edges = self._content.contentsMargins()
        room_px = self.width() - edges.left() - edges.right() - 2 * self._content.spacing()
        beside = max(lines) + buttons_px <= room_px
        self._buttons.setMinimumWidth(buttons_px if beside else 0)
        direction = QBoxLayout.Direction
        self._content.setDirection(direction.LeftToRight if beside else direction.TopToBottom)

    def _restyle(self) -> None:
        self.setMaximumWidth(self._theme.px(COLUMN_PX))
        side = self._theme.px(14)
        self._content.setContentsMargins(self._theme.px(46), side, side, side)
        self._turn()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()
        self.resized.emit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors, side = self._theme.palette, self._theme.px(18)
        paint_surface(self, colors, RADIUS_BUBBLE)
        painter = QPainter(self)
        top = self.sentence.y() + (self.sentence.fontMetrics().lineSpacing() - side) // 2
        icon("trash-2", colors.secondary).paint(painter, QRect(self._theme.px(16), top, side, side))
        painter.end()
