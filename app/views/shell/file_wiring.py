"""Connects the window with what comes from files and goes to them: attachments, export, import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer
from PySide6.QtWidgets import QFileDialog

from app.controllers.chat import ChatController
from app.controllers.files import FileControllers
from app.controllers.message_changes import can_drop
from app.documents.problems import NotAttached
from app.documents.reading import end_of
from app.system.qt_application import HunchApplication
from app.theme import Theme
from app.view_models.transcript import Attachment
from app.views.shell.attachment_dialog import AttachmentDialog
from app.views.shell.composer import Composer
from app.views.shell.export_dialog import ExportDialog
from app.views.shell.import_dialog import ImportDialog
from app.views.shell.main_window import MainWindow
from app.views.shell.opened import Opener
from app.views.shell.picture_viewer import PictureViewer
from app.views.shell.picture_wiring import PictureWiring
from app.views.widgets.banner import Banner, BannerText
from app.views.widgets.drop_target import DropTarget, TakesDrops
from app.words.notices_for_files import not_attached

if TYPE_CHECKING:
    from app.views.transcript import TranscriptView
    from app.views.transcript.editing import Editing

_OF_ROOM = 0.8  # that the end of an attachment takes; the rest is left for the reply
_LEAST_ROOM = 100  # tokens; in a chat with less, the end would be no more than some words


class AttachmentWiring(QObject):
    """Attachments of messages: button, paste, drop, menu, chips and their dialog."""

    def __init__(
        self,
        window: TakesDrops,
        theme: Theme,
        composer: Composer,
        transcript: TranscriptView,
        banner: Banner,
        chats: ChatController,
        pictures: PictureWiring,
    ) -> None:
        super().__init__(window)
        self._window, self._theme, self._composer, self._banner = window, theme, composer, banner
        self._chats, self._attached, self._transcript, self.pictures = chats, pictures.attached, transcript, pictures
        attached = pictures.attached
        self.model = attached.model
        self._folder = str(Path.home())  # where files were chosen last
        self.drop_target = DropTarget(theme, window, lambda: not composer.isHidden())
        self._told: Callable[[], BannerText] = self._end_text  # the banner knows it by its identity
        self._connect_composer()
        for given in (self.drop_target.files_dropped, composer.edit.files_given):
            given.connect(self.take_files)
        for image in (self.drop_target.image_dropped, composer.edit.image_given):
            image.connect(self._take_image)
        transcript.attachment_requested.connect(self._open_sent)
        self._connect_fields(transcript.editing)
        attached.refused.connect(self._show_refused)
        self._withdraw_refused: Callable[[], None] = lambda: None
        for gone_on in (chats.current_chat_changed, chats.exchanges.message_sent):
            gone_on.connect(lambda *_: self._withdraw_refused())

    def _connect_composer(self) -> None:
        composer, attached = self._composer, self._attached
        composer.bind_attachments(attached.model)
        composer.attach_requested.connect(self.choose_files)
        composer.edit.long_text_given.connect(attached.add_text)
        composer.attached.open_requested.connect(self._open_waiting)
        composer.attached.remove_requested.connect(attached.remove)
        composer.attached.put_back_requested.connect(attached.put_into_message)
        attached.set_changed.connect(composer.unsent.leave_queue)
        composer.excess_changed.connect(self._offer_end)
        attached.tokens_changed.connect(composer.show_attached_tokens)
        attached.put_back.connect(self._put_back)
        attached.model.changed.emit()

    def _connect_fields(self, editing: Editing) -> None:
        """Those of messages that are being edited, or written beside others."""
        attached = self._attached
        editing.bind_attachments(attached.in_field)
        editing.attach_requested.connect(self.choose_files)
        editing.files_given.connect(lambda message_id, paths: attached.add_files(paths, message_id))
        editing.text_given.connect(lambda message_id, text: attached.add_text(text, message_id))
        editing.image_given.connect(lambda message_id, image: attached.add_image(image, message_id))
        editing.attached_opened.connect(self._open_in_field)
        editing.attached_removed.connect(lambda message_id, number: attached.remove(number, message_id))

    def take_files(self, paths: list[str]) -> None:
        self._attached.add_files(paths)
        self._composer.take_focus()

    def _take_image(self, image: object) -> None:
        self._attached.add_image(image)
        self._composer.take_focus()

    def _put_back(self, text: str) -> None:
        self._composer.edit.insert_text(text)
        self._composer.take_focus()

    def _offer_end(self) -> None:
        """What matters of a long text, such as a log, is often its end."""
        if not self._composer.excess or self._room() < _LEAST_ROOM:
            self._banner.withdraw(self._told)
        elif not self._banner.shows(self._told):
            self._banner.show_info(self._told, self._keep_end, stays=True)

    def _end_text(self) -> BannerText:
        return BannerText(self.tr("Attachment too long for this model."), button=self.tr("Keep only its end"))

    def _room(self) -> int:
        """What the longest attachment may take beside all else, in tokens."""
        longest = self.model.longest
        return (longest.tokens or 0) - self._composer.excess - self._composer.used_tokens if longest is not None else 0

    def _keep_end(self) -> None:
        longest, room = self.model.longest, self._room()
        if longest is not None and longest.attachment is not None and longest.tokens and room >= _LEAST_ROOM:
            whole = longest.attachment
            text = end_of(whole.text, round(_OF_ROOM * room / longest.tokens * len(whole.text)))
            self._attached.remove(longest.number)
            self._attached.add(replace(whole, text=text, size_bytes=len(text.encode()), tokens=0))

    def choose_where_typed(self) -> None:
        """As the menu does: for the field of a message where one is typed in."""
        place = self._transcript.editing.typing_place()
        self.choose_files(0 if place is None else place.message_id)

    def choose_files(self, message_id: int = 0) -> None:
        """For the composer, or for the field of a message."""
        dialog = QFileDialog(self._window, self.tr("Attach Files"), self._folder)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        take = partial(self._attached.add_files, message_id=message_id) if message_id else self.take_files
        dialog.filesSelected.connect(take)
        dialog.filesSelected.connect(self._remember_folder)
        dialog.open()

    def _remember_folder(self, files: list[str]) -> None:
        self._folder = str(Path(files[0]).parent)

    def _open_waiting(self, number: int) -> None:
        row = self._attached.model.row(number)
        if row is None or row.attachment is None:
            return
        dialog = self._show(row.attachment, can_put_back=True, can_remove=row.attachment.is_picture)
        dialog.remove_requested.connect(lambda: self._attached.remove(number))
        if isinstance(dialog, AttachmentDialog):
            dialog.put_back_requested.connect(lambda: self._attached.put_into_message(number))

    def _open_in_field(self, message_id: int, number: int) -> None:
        row = self._attached.in_field(message_id).row(number)
        if row is not None and row.attachment is not None:
            dialog = self._show(row.attachment, can_remove=True)
            dialog.remove_requested.connect(lambda: self._attached.remove(number, message_id))

    def _open_sent(self, message_id: int, index: int) -> None:
        message = self._chats.transcript.message(message_id)
        if message is not None and index < len(message.attachments):
            can_remove = not message.read_only and can_drop(message.text, len(message.attachments))
            words = self._transcript.finder.words_in_attachment(message_id, index)
            dialog = self._show(message.attachments[index], can_remove=can_remove, words=words)
            dialog.remove_requested.connect(lambda: self._chats.edits.drop_attachment(message_id, index))

    def _show(
        self,
        attachment: Attachment,
        *,
        can_put_back: bool = False,
        can_remove: bool = False,
        words: Sequence[str] = (),
    ) -> AttachmentDialog | PictureViewer:
        if attachment.is_picture:
            return self.pictures.show(attachment, can_remove=can_remove)
        dialog = AttachmentDialog(
            self._theme, attachment, self._window, can_put_back=can_put_back, can_remove=can_remove, words=words
        )
        dialog.open()
        return dialog

    def _show_refused(self, problems: list[NotAttached]) -> None:
        def text() -> BannerText:
            notice = not_attached(problems)
            button = self.tr("Attach only its end") if path else ""
            return BannerText(notice.sentence, notice.title, notice.hint, button)

        path = problems[0].path if len(problems) == 1 else ""
        act = partial(self._attached.add_files, [path], only_end=True) if path else None
        self._banner.show_warning(text, act)
        self._withdraw_refused = partial(self._banner.withdraw, text)


class FileWiring(QObject):
    def __init__(self, window: MainWindow, theme: Theme, files: FileControllers) -> None:
        super().__init__(window)
        assert window.chats is not None
        assert window.transcript is not None
        assert window.models is not None
        composer, transcript, banner = window.composer, window.transcript, window.banner
        pictures = PictureWiring(
            window.parts,
            theme,
            window.chats,
            window.models,
            files.attachments,
            lambda: window.models_view.show("find"),
        )
        transcript.notice_action_requested.connect(pictures.follow)
        self.attachments = AttachmentWiring(window, theme, composer, transcript, banner, window.chats, pictures)
        self.typed = files.typed
        composer.unsent.settled.connect(self.typed.count)
        self.typed.changed.connect(composer.show_typed_tokens)
        self.typed.count(composer.text())
        self._window, self._theme, self._files = window, theme, files
        self._importing: ImportDialog | None = None  # while it is open
        menu, chats = window.menu, window.chats
        self.opener = Opener(composer, chats, self._take_opened, files.attachments.add_text)
        application = QCoreApplication.instance()
        if isinstance(application, HunchApplication):
            application.open_with(self.opener.open)
        menu.attach.triggered.connect(self.attachments.choose_where_typed)
        menu.import_chats.triggered.connect(self.import_chats)
        menu.export_chat.triggered.connect(lambda: self.export(chats.chat_id, chats.title))
        window.sidebar.chats.export_requested.connect(self.export)
        menu.export_all.triggered.connect(lambda: self.export(None, ""))
        chats.current_chat_changed.connect(lambda chat_id, _title: menu.export_chat.setEnabled(chat_id != 0))
        menu.export_chat.setEnabled(chats.chat_id != 0)

    def _take_opened(self, path: str) -> None:
        """Chats that Hunch exported are imported, after a question; any other file is attached."""

        def answer(is_ours: bool) -> None:
            if is_ours:
                self._import(path)
            else:
                self.attachments.take_files([path])

        if path.lower().endswith(".json"):
            self._files.imports.ask_whether_ours(path, answer)
        else:
            answer(False)

    def export(self, chat_id: int | None, title: str) -> ExportDialog:
        """One chat, or all (None)."""
        dialog = ExportDialog(self._theme, self._window, self._files.exports, self._window.banner, chat_id, title)
        dialog.open()
        return dialog

    def import_chats(self) -> ImportDialog:
        """One dialog at a time: a look at other files discards what waits to be imported, or is."""
        if self._importing is None:
            self._importing = ImportDialog(self._theme, self._window, self._files.imports, self._window.banner)
            self._importing.finished.connect(self._on_import_ended)
            self._importing.open()
        return self._importing

    def _on_import_ended(self) -> None:
        self._importing = None

    def _import(self, path: str) -> None:
        """Of several files, each after the one before it."""
        dialog = self.import_chats()
        if dialog.is_choosing:
            dialog.look([path])
        else:
            again = partial(QTimer.singleShot, 0, self, partial(self._import, path))
            dialog.finished.connect(lambda _result: again())
