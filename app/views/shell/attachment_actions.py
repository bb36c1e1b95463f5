"""Attachments of messages: files, long pasted texts, pictures; and the note that the model cannot see pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

from app.controllers.attachments import AttachmentController
from app.controllers.chat import ChatController
from app.controllers.message_changes import can_drop
from app.controllers.models import ModelController
from app.documents.problems import NotAttached
from app.documents.reading import beginning_of
from app.markup.links import Cited, cited
from app.settings import STARTER_EYES
from app.theme import Theme
from app.view_models.installed_list import best_that_sees
from app.view_models.transcript import Attachment, AttachmentKind
from app.views.files.attachment_dialog import AttachmentDialog, Place
from app.views.files.picture_viewer import PictureViewer
from app.views.models.model_facts import coming_text
from app.views.shell.shell_window import ShellWindow
from app.views.widgets.banner import BannerText
from app.views.widgets.drop_target import DropTarget
from app.words.notices import NoticeAction
from app.words.notices_for_errors import not_attached

if TYPE_CHECKING:
    from app.views.transcript import TranscriptView
    from app.views.transcript.editing import Editing

_OF_ROOM = 0.8  # share of the free context for the end of a text; the rest is left for the reply
_LEAST_ROOM = 100  # tokens; with less, the end would be only some words


class AttachmentActions(QObject):
    """Attaching to messages that are written or edited: button, paste, drop, menu, chips and their dialogs."""

    def __init__(
        self,
        window: ShellWindow,
        theme: Theme,
        attached: AttachmentController,
        chats: ChatController,
        models: ModelController,
        transcript: TranscriptView,
        find_model: Callable[[], None],
    ) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._composer = window.composer
        self._banner = window.banner
        self._chats = chats
        self._models = models
        self._attached = attached
        self._transcript = transcript
        self.model = attached.model
        self._folder = str(Path.home())  # where files were chosen last
        self.drop_target = DropTarget(theme, window, lambda: window.shows_project or not window.composer.isHidden())
        # The banner knows each by its identity.
        self._search_offer: Callable[[], BannerText] = partial(self._too_long_text, with_end=False)
        self._end_offer: Callable[[], BannerText] = partial(self._too_long_text, with_end=True)
        self._refused: list[Callable[[], BannerText]] = []
        self._connect_composer()
        self._connect_fields(transcript.editing)
        self._connect_note(find_model)
        self.drop_target.files_dropped.connect(self._take_dropped)
        window.composer.edit.files_given.connect(self.take_files)
        for image in (self.drop_target.image_dropped, window.composer.edit.image_given):
            image.connect(self._take_image)
        window.menu.attach.triggered.connect(self.choose_where_typed)
        transcript.context.attachment_requested.connect(self._open_sent)
        transcript.context.picture_requested.connect(partial(self._show_picture, can_remove=False))
        transcript.context.notice_action_requested.connect(self._follow)
        transcript.context.link_requested.connect(self._show_cited)
        chats.tools.changed.connect(lambda: transcript.context.cite(chats.tools.documents()))
        attached.refused.connect(self._show_refused)
        for gone_on in (chats.current_chat_changed, chats.asking.message_sent):
            gone_on.connect(self._withdraw_refused)

    def _connect_composer(self) -> None:
        composer = self._composer
        attached = self._attached
        composer.bind_attachments(attached.model)
        composer.attach_button.clicked.connect(lambda: self.choose_files())  # noqa: PLW0108  without Qt's own argument
        composer.edit.long_text_given.connect(attached.add_text)
        composer.edit.textChanged.connect(lambda: attached.show_passages_for(composer.text()))
        composer.attached.open_requested.connect(self._open_waiting)
        composer.attached.remove_requested.connect(attached.remove)
        composer.attached.put_back_requested.connect(attached.put_into_message)
        attached.set_changed.connect(composer.unsent.leave_queue)
        composer.unsent.took_over.connect(attached.take_over)
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
        editing.attached_removed.connect(lambda _message_id, number: attached.remove(number))

    def _take_dropped(self, paths: list[str]) -> None:
        """Into the project that is shown, or the composer."""
        if self._window.shows_project:
            self._window.project_files_dropped.emit(paths)
        else:
            self.take_files(paths)

    def take_files(self, paths: list[str], chat_id: int | None = None) -> None:
        """`chat_id`: the chat that they were chosen for, which may have been left; None: the open one."""
        self._attached.add_files(paths, chat_id=chat_id)
        if chat_id in (None, self._chats.chat_id):
            self._composer.take_focus()

    def _take_image(self, image: object) -> None:
        if self._window.shows_project:
            return  # there is no file
        self._attached.add_image(image)
        self._composer.take_focus()

    def _put_back(self, text: str) -> None:
        self._composer.edit.insert_text(text)
        self._composer.take_focus()

    def _offer_end(self) -> None:
        """Offer to search in a text that is too long, or to attach its beginning where there is room for that."""
        is_too_long = self.model.longest is not None and self.model.tokens >= self._composer.excess > 0
        has_room = self._room() >= _LEAST_ROOM
        wanted = self._end_offer if has_room else self._search_offer
        for offer in (self._end_offer, self._search_offer):
            if offer is not wanted or not is_too_long:
                self._banner.withdraw(offer)
        if is_too_long and not self._banner.shows(wanted):
            keep = (self._keep_beginning,) if has_room else ()
            self._banner.show_info(wanted, self._search_in_longest, *keep, stays=True)

    def _too_long_text(self, *, with_end: bool) -> BannerText:
        sentence = self.tr("Attachment too long for this model.")
        other = self.tr("Keep only its beginning") if with_end else ""
        return BannerText(sentence, button=self.tr("Search in it"), other_button=other)

    def _room(self) -> int:
        """Tokens that the longest attachment may have."""
        longest = self.model.longest
        return (longest.tokens or 0) - self._composer.excess - self._composer.used_tokens if longest is not None else 0

    def _search_in_longest(self) -> None:
        if (longest := self.model.longest) is not None:
            self._attached.search_in(longest.number)

    def _keep_beginning(self) -> None:
        longest = self.model.longest
        room = self._room()
        if longest is not None and longest.attachment is not None and longest.tokens and room >= _LEAST_ROOM:
            whole = longest.attachment
            text = beginning_of(whole.text, round(_OF_ROOM * room / longest.tokens * len(whole.text)))
            self._attached.remove(longest.number)
            self._attached.add(replace(whole, text=text, size_bytes=len(text.encode()), tokens=0))

    def choose_where_typed(self) -> None:
        """From the menu: attach to the edit field that has the focus, else to the composer."""
        place = self._transcript.editing.typing_place()
        self.choose_files(0 if place is None else place.message_id)

    def choose_files(self, message_id: int = 0) -> None:
        """For the composer, or for the field of a message."""
        dialog = QFileDialog(self._window, self.tr("Attach Files"), self._folder)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        in_field = partial(self._attached.add_files, message_id=message_id)
        in_chat = partial(self.take_files, chat_id=self._chats.chat_id)
        dialog.filesSelected.connect(in_field if message_id else in_chat)
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
            dialog.remove_requested.connect(lambda: self._attached.remove(number))

    def _open_sent(self, message_id: int, index: int) -> None:
        message = self._chats.transcript.message(message_id)
        if message is not None and index < len(message.attachments):
            can_remove = can_drop(message.text, len(message.attachments))
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
            return self._show_picture(attachment, can_remove=can_remove)
        dialog = AttachmentDialog(
            self._theme, attachment, self._window, can_put_back=can_put_back, can_remove=can_remove, words=words
        )
        dialog.open()
        return dialog

    def _show_cited(self, link: str) -> None:
        """A place in a document that a reply cites."""
        if (wanted := cited(link)) is not None:
            self._chats.tools.read_cited(wanted.name, wanted.page, partial(self._show_place, wanted))

    def _show_place(self, wanted: Cited, text: str, path: str, page: int) -> None:
        if text:
            attachment = Attachment(wanted.name, AttachmentKind.TEXT, text, len(text.encode()))
            place = Place(path, page, 0 if page else wanted.line)
            AttachmentDialog(self._theme, attachment, self._window, place=place).open()

    def _show_refused(self, problems: list[NotAttached]) -> None:
        def text() -> BannerText:
            notice = not_attached(problems)
            words = [(searches, self.tr("Search in it")), (ends, self.tr("Attach only its end"))]
            buttons = [each for is_possible, each in words if is_possible]
            return BannerText(notice.sentence, notice.title, notice.hint, *buttons)

        path = problems[0].path if len(problems) == 1 else ""
        searches = bool(path) and problems[0].can_search
        ends = bool(path) and problems[0].has_end
        search = partial(self._attached.search_in_file, path)
        attach_end = partial(self._attached.add_files, [path], only_end=True)
        self._banner.show_warning(text, *([search] if searches else []), *([attach_end] if ends else []))
        self._refused.append(text)

    def _withdraw_refused(self) -> None:
        while self._refused:
            self._banner.withdraw(self._refused.pop())

    def _connect_note(self, find_model: Callable[[], None]) -> None:
        models = self._models
        note = self._composer.unseen_note
        note.use_button.clicked.connect(lambda: models.use(note.installed_folder))
        note.install_button.clicked.connect(self._install_offered)
        note.find_button.clicked.connect(find_model)
        self._chats.chat_opened.connect(self._on_opened)
        models.pair_changed.connect(self._show_unseen)
        models.library.changed.connect(self._show_unseen)
        models.downloads.changed.connect(self._show_unseen)
        self.model.changed.connect(self._show_unseen)
        self._chats.options.changed.connect(self._show_unseen)
        shown = self._chats.transcript
        for rows in (shown.was_reset, shown.message_inserted, shown.messages_prepended, shown.messages_removed):
            rows.connect(self._show_unseen)
        self._show_unseen()

    def _install_offered(self) -> None:
        if (offer := self._composer.unseen_note.offer) is not None:
            self._models.install(offer.repository)

    def _has_picture(self) -> bool:
        """Whether the chat or the new message has a picture."""
        waiting = (row.attachment for row in self.model.rows if row.attachment is not None)
        return self._has_sent_picture() or any(each.is_picture for each in waiting)

    def _has_sent_picture(self) -> bool:
        return any(each.is_picture for message in self._chats.transcript.messages for each in message.attachments)

    def _on_opened(self) -> None:
        if not self._has_picture():
            self._models.leave_eyes()

    def _follow(self, message_id: int, action: NoticeAction) -> None:
        """The buttons of the notice that the model cannot see pictures."""
        if action is NoticeAction.WITHOUT_PICTURES:
            self._chats.options.go_without_pictures()
            self._chats.asking.regenerate(message_id)

    def _show_picture(self, picture: Attachment, *, can_remove: bool) -> PictureViewer:
        viewer = PictureViewer(self._theme, picture, self._window, can_remove=can_remove)
        is_open = [True]
        viewer.destroyed.connect(is_open.clear)

        def read(image: QImage | None, file: str) -> None:
            if is_open:
                viewer.show_image(image, file)

        viewer.open()
        self._attached.read_picture(picture.digest, read)
        return viewer

    def _show_unseen(self) -> None:
        """What was attached is judged by the present model, not by the one that it was attached for."""
        models = self._models
        note = self._composer.unseen_note
        chosen = models.main_info()
        lacks_picture = models.main_setting == STARTER_EYES and not self._has_picture()
        sees = chosen is None or chosen.sees
        options = self._chats.options
        has_unseen = not sees and self._has_sent_picture() and not options.goes_without_pictures(options.chat_id)
        self._composer.set_sees(sees, lacks_picture or has_unseen)
        if lacks_picture:
            note.set_models(models.pair.main_name, models.used_before(), only_sees=True)
            return
        if not (self._composer.attached.unseen or has_unseen):
            return
        some_see = any(each.info is not None and each.info.sees for each in models.library.installed)
        here = best_that_sees(models.models) if some_see else None
        installed = ("", "") if here is None else (here.name, here.folder)
        if here is not None and not here.comes_with_app:
            note.set_models(models.pair.main_name, installed)
        else:
            offer = models.library.offer_that_sees(QLocale().name())
            coming = coming_text(models.downloads.coming.get(offer.repository)) if offer is not None else ""
            note.set_models(models.pair.main_name, installed, offer, coming)
