"""Connects the window with what can be done with pictures: looking at them, and models that cannot."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from PySide6.QtCore import QLocale, QObject
from PySide6.QtGui import QImage

from app.controllers.attachments import AttachmentController
from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.settings import STARTER_EYES
from app.theme import Theme
from app.view_models.installed_list import best_that_sees
from app.view_models.transcript import Attachment
from app.views.models.model_facts import coming_text
from app.views.shell.picture_viewer import PictureViewer
from app.views.shell.window_parts import WindowParts
from app.words.notices import NoticeAction


class PictureWiring(QObject):
    def __init__(
        self,
        parts: WindowParts,
        theme: Theme,
        chats: ChatController,
        models: ModelController,
        attached: AttachmentController,
        find_model: Callable[[], None],
    ) -> None:
        super().__init__(parts.window)
        self._window, self._composer, self._theme = parts.window, parts.composer, theme
        self._chats, self._models, self.attached = chats, models, attached
        note = parts.composer.unseen_note
        note.use_requested.connect(models.use)
        note.install_requested.connect(models.install)
        note.find_requested.connect(find_model)
        models.pair_changed.connect(self._show_sight)
        models.library.changed.connect(self._show_sight)
        models.downloads.changed.connect(self._show_sight)
        attached.model.changed.connect(self._show_sight)
        shown = chats.transcript
        for rows in (shown.was_reset, shown.message_inserted, shown.messages_prepended, shown.messages_removed):
            rows.connect(self._show_sight)
        self._show_sight()

    def _has_picture(self) -> bool:
        """In the chat so far, or with the message that is being written."""
        sent = (each for message in self._chats.transcript.messages for each in message.attachments)
        waiting = (row.attachment for row in self.attached.model.rows if row.attachment is not None)
        return any(each.is_picture for each in chain(sent, waiting))

    def _used_before(self) -> tuple[str, str]:
        """Name and folder of the main model of the pair before the chosen one; of its kind there is only one."""
        here = {each.folder: each.name for each in self._models.models if each.error is None and not each.is_main}
        folders = (each for each in self._models.last_drafts.mains() if each in here)
        return next(((here[each], each) for each in folders), ("", ""))

    def follow(self, message_id: int, action: NoticeAction) -> None:
        """Of the notice of a reply that could not begin because its model does not see."""
        if action is NoticeAction.WITHOUT_PICTURES:
            self._chats.options.go_without_pictures()
            self._chats.exchanges.regenerate(message_id)

    def show(self, picture: Attachment, *, can_remove: bool) -> PictureViewer:
        viewer = PictureViewer(self._theme, picture, self._window, can_remove=can_remove)
        is_open = [True]
        viewer.destroyed.connect(is_open.clear)

        def read(image: QImage | None, file: str) -> None:
            if is_open:
                viewer.show_image(image, file)

        viewer.open()
        self.attached.stored.read(picture.digest, read)
        return viewer

    def _show_sight(self) -> None:
        """What was attached is judged by the present model, not by the one that it was attached for."""
        models, note, chosen = self._models, self._composer.unseen_note, self._models.main_info()
        lacks_picture = models.main_setting == STARTER_EYES and not self._has_picture()
        self._composer.set_sees(chosen is None or chosen.sees, lacks_picture)
        if lacks_picture:
            note.set_models(models.pair.main_name, self._used_before(), only_sees=True)
            return
        if not self._composer.attached.unseen:
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
