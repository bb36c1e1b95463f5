"""Connects what is attached to messages with the window: button, paste, drop, menu, chips and their dialog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog

from app.controllers.attachments import AttachmentController
from app.controllers.chat import ChatController
from app.controllers.message_changes import can_drop
from app.documents import NotAttached
from app.theme import Theme
from app.view_models.transcript import Attachment
from app.views.shell.attachment_dialog import AttachmentDialog
from app.views.shell.composer import Composer
from app.views.widgets.banner import Banner, BannerText
from app.views.widgets.drop_target import DropTarget, TakesDrops
from app.words.notices_for_files import not_attached

if TYPE_CHECKING:
    from app.views.transcript import TranscriptView


class AttachmentWiring(QObject):
    def __init__(
        self,
        window: TakesDrops,
        theme: Theme,
        composer: Composer,
        transcript: TranscriptView,
        banner: Banner,
        chats: ChatController,
        attached: AttachmentController,
    ) -> None:
        super().__init__(window)
        self._window, self._theme, self._composer, self._banner = window, theme, composer, banner
        self._chats, self._attached = chats, attached
        self.model = attached.model
        self.drop_target = DropTarget(theme, window)
        self._connect_composer()
        for given in (self.drop_target.files_dropped, composer.edit.files_given):
            given.connect(self._take_files)
        for image in (self.drop_target.image_dropped, composer.edit.image_given):
            image.connect(attached.refuse_image)
        transcript.attachment_requested.connect(self._open_sent)
        attached.refused.connect(self._show_refused)

    def _connect_composer(self) -> None:
        composer, attached = self._composer, self._attached
        composer.bind_attachments(attached.model)
        composer.attach_requested.connect(self.choose_files)
        composer.edit.long_text_given.connect(attached.add_text)
        composer.attached.open_requested.connect(self._open_waiting)
        composer.attached.remove_requested.connect(attached.remove)
        composer.attached.put_back_requested.connect(attached.put_into_message)
        attached.tokens_changed.connect(composer.show_attached_tokens)
        attached.put_back.connect(self._put_back)
        attached.model.changed.emit()

    def _take_files(self, paths: list[str]) -> None:
        self._attached.add_files(paths)
        self._composer.take_focus()

    def _put_back(self, text: str) -> None:
        self._composer.edit.insert_text(text)
        self._composer.take_focus()

    def choose_files(self) -> None:
        dialog = QFileDialog(self._window, self.tr("Attach Files"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self._take_files)
        dialog.open()

    def _open_waiting(self, number: int) -> None:
        row = self._attached.model.row(number)
        if row is not None and row.attachment is not None:
            dialog = self._show(row.attachment, can_put_back=True)
            dialog.put_back_requested.connect(lambda: self._attached.put_into_message(number))

    def _open_sent(self, message_id: int, index: int) -> None:
        message = self._chats.transcript.message(message_id)
        if message is not None and index < len(message.attachments):
            can_remove = can_drop(message.text, len(message.attachments))
            dialog = self._show(message.attachments[index], can_remove=can_remove)
            dialog.remove_requested.connect(lambda: self._chats.edits.drop_attachment(message_id, index))

    def _show(
        self, attachment: Attachment, *, can_put_back: bool = False, can_remove: bool = False
    ) -> AttachmentDialog:
        dialog = AttachmentDialog(
            self._theme, attachment, self._window, can_put_back=can_put_back, can_remove=can_remove
        )
        dialog.open()
        return dialog

    def _show_refused(self, problems: list[NotAttached]) -> None:
        def text() -> BannerText:
            notice = not_attached(problems)
            return BannerText(notice.sentence, notice.title, notice.hint)

        self._banner.show_warning(text)
