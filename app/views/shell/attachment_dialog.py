"""A window that shows the text of an attachment, to read only. Nothing in it opens or runs anything."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QPalette, QShortcut, QShowEvent, QTextOption
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.theme import CODE_PX, Theme
from app.view_models.transcript import Attachment, AttachmentKind
from app.views.shell.found_in_attachment import FoundInAttachment
from app.views.widgets.attachment_chip import AttachmentChip, content_of
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.long_text import LongText
from app.views.widgets.plain_words import set_window_title
from app.views.widgets.scrolling import ThinScrollBars
from app.views.widgets.translated import Translated

_STEP_CHARACTERS = 100_000  # laid out at one go


class AttachmentDialog(Translated, QDialog):
    put_back_requested = Signal()
    remove_requested = Signal()

    def __init__(
        self,
        theme: Theme,
        attachment: Attachment,
        parent: QWidget,
        *,
        can_put_back: bool = False,
        can_remove: bool = False,
        words: Sequence[str] = (),
    ) -> None:
        """`words` are lit in it, and the first of them is in sight."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._theme = theme
        self._attachment = attachment
        self._shown = 0  # characters of the text
        self.facts = TextLabel(theme, TextStyle.SECONDARY, self)
        self.text = LongText(self)
        self._found = FoundInAttachment(theme, self.text, words)
        self.put_back = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.put_back.setVisible(can_put_back)
        self.remove = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.remove.setVisible(can_remove)
        self.close_button = PillButton(theme, Emphasis.PRIMARY, parent=self)
        self._more = QTimer(self, interval=0)
        self._more.timeout.connect(self._show_more)
        self._arrange()
        self.put_back.clicked.connect(self._put_back)
        self.remove.clicked.connect(self._remove)
        self.close_button.clicked.connect(self.accept)
        for key, direction in (
            (QKeySequence.StandardKey.FindNext, 1),
            (QKeySequence.StandardKey.FindPrevious, -1),
        ):
            QShortcut(key, self).activated.connect(lambda direction=direction: self._found.step(direction))
        theme.changed.connect(self._restyle)
        self._restyle()
        self._retranslate()
        self._show_more()
        self._more.start()

    def _arrange(self) -> None:
        self.resize(self._theme.px(720), self._theme.px(560))
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setUndoRedoEnabled(False)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        ThinScrollBars(self.text, self._theme)
        buttons = QHBoxLayout()
        buttons.addWidget(self.put_back)
        buttons.addWidget(self.remove)
        buttons.addStretch(1)
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 14, 18, 14)
        column.setSpacing(10)
        column.addWidget(self.facts)
        column.addWidget(self.text, 1)
        column.addLayout(buttons)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._found.step(0)  # to the middle of a page whose height is known only now

    def _show_more(self) -> None:
        """A long text comes in steps, so that nothing stands still; the first is there at once."""
        text = self._attachment.text
        end = min(len(text), self._shown + _STEP_CHARACTERS)
        self.text.append(text[self._shown : end])
        self._shown = end
        if end == len(text):
            self._more.stop()
        self._found.read_on(is_whole=end == len(text))

    def _put_back(self) -> None:
        self.put_back_requested.emit()
        self.accept()

    def _remove(self) -> None:
        self.remove_requested.emit()
        self.accept()

    def _retranslate(self) -> None:
        chip = AttachmentChip(self._theme, content_of(self._attachment), self, removable=False)
        title, detail = chip.title(), chip.detail()
        chip.deleteLater()
        chip.hide()
        set_window_title(self, title)
        missing = self._attachment.kind is AttachmentKind.NOTE
        self.facts.setText(self.tr("This file was not part of the chats that were imported.") if missing else detail)
        self.text.setAccessibleName(title)
        self.put_back.setText(self.tr("Put into the Message"))
        self.remove.setText(self.tr("Remove from the Message"))
        self.close_button.setText(self.tr("Close"))

    def _restyle(self) -> None:
        colors = self._theme.palette
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Window, colors.window)
        self.setPalette(palette)
        inner = QPalette(self.text.palette())
        inner.setColor(QPalette.ColorRole.Base, colors.surface)
        inner.setColor(QPalette.ColorRole.Text, colors.text)
        self.text.setPalette(inner)
        self.text.setFont(self._theme.mono_font(CODE_PX))
