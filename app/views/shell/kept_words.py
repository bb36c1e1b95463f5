"""Notices about text that is not stored, not sent, or deleted, so that none is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QCoreApplication, QObject

from app.controllers.chat import ChatController
from app.controllers.deletions import Undo
from app.views.shell.composer import Composer
from app.views.shell.menu import MenuBar
from app.views.shell.menu_editing import FieldKeys, undo_in_focused_field
from app.views.widgets.banner import Banner, BannerText, problem_text
from app.words.formats import fill
from app.words.notices_for_errors import Problem

_PATIENCE_S = 1.0  # with the disk, while the window closes


class KeptWords(QObject):
    def __init__(
        self, chats: ChatController, composer: Composer, banner: Banner, menu: MenuBar, window: QObject
    ) -> None:
        super().__init__(window)
        self._chats = chats
        self._banner = banner
        self._warned = False
        self._refusals: dict[int, Callable[[], BannerText]] = {}  # refused questions, by chat
        self._end_refusal: Callable[[], BannerText] | None = (
            None  # refused ends of replies, which are retried automatically
        )
        self._deletion_notice: tuple[Callable[[], BannerText], Undo] | None = None  # of the latest deletion
        self._deleted_last = False  # whether Undo restores a deletion, or undoes typing
        composer.edit.textChanged.connect(self.note_typing)
        FieldKeys(self.undoes_deletion, self).typed.connect(self.note_typing)
        chats.asking.message_sent.connect(self._withdraw_refusal)
        chats.asking.message_refused.connect(self._on_refused)
        chats.changes.not_stored.connect(self._show_refusal)
        chats.replies.not_stored.connect(self._on_end_refused)
        chats.replies.stored.connect(self._withdraw_end_refusal)
        chats.chats_deleted.connect(self._on_chats_deleted)
        chats.folders.deleted.connect(self._on_folder_deleted)
        chats.folders.moved.connect(self._on_chats_moved)
        chats.edits.deleted.connect(self._on_message_deleted)
        chats.deletions.changed.connect(self._on_trash_changed)
        menu.undo.triggered.connect(self._undo)

    def warn_before_closing(self) -> bool:
        """Warn, once until more is typed, that text is not stored; True if it did."""
        if self._warned:
            return False
        self._chats.replies.save(at_once=True)
        warns = not self._chats.keeping.try_now(_PATIENCE_S) or self._chats.has_unsaved
        if warns:
            self._warned = True
            self._banner.show_warning(unsaved)
        return warns

    def _on_refused(self, chat_id: int, problem: Problem, again: Callable[[], None]) -> None:
        self._withdraw_refusal(chat_id)
        self._refusals[chat_id] = self._show_refusal(problem, again)

    def _on_end_refused(self, problem: Problem) -> None:
        self._withdraw(self._end_refusal)
        self._end_refusal = self._show_refusal(problem, self._chats.replies.ends.try_again)

    def _show_refusal(self, problem: Problem, again: Callable[[], None]) -> Callable[[], BannerText]:
        """Returns the key of the notice in the banner."""
        text = partial(problem_text, problem)
        self._banner.show_refusal(text, again)
        return text

    def _withdraw_refusal(self, chat_id: int) -> None:
        """A question was stored: trying again would ask it twice."""
        self._withdraw(self._refusals.pop(chat_id, None))

    def _withdraw_end_refusal(self) -> None:
        if not self._chats.replies.ends.has_refused:
            self._withdraw(self._end_refusal)
            self._end_refusal = None

    def _withdraw(self, text: Callable[[], BannerText] | None) -> None:
        if text is not None:
            self._banner.withdraw(text)

    def note_typing(self) -> None:
        """Undo undoes typing from here on, and closing warns again."""
        self._deleted_last = self._warned = False

    def _on_chats_deleted(self, titles: Sequence[str]) -> None:
        def text() -> BannerText:
            kept = self.tr("Kept in Recently Deleted for 30 days.")
            several = self.tr("%Ln chat(s) deleted.", "", len(titles))
            deleted = fill(self.tr("Deleted “%1”."), titles[0]) if len(titles) == 1 else several
            return BannerText(deleted, hint=kept, button=self.tr("Undo"))

        self._on_deleted(text)

    def _on_message_deleted(self, _message_id: int, gone: int) -> None:
        self._on_deleted(lambda: BannerText(self.tr("%Ln message(s) deleted.", "", gone), button=self.tr("Undo")))

    def _on_folder_deleted(self, name: str) -> None:
        self._on_deleted(lambda: BannerText(fill(self.tr("Deleted the folder “%1”."), name), button=self.tr("Undo")))

    def _on_chats_moved(self, chats: int, folder_id: int) -> None:
        folder = self._chats.conversations.tree.folders.get(folder_id)

        def text() -> BannerText:
            out = self.tr("%Ln chat(s) moved out of folders.", "", chats)
            into = fill(self.tr("%Ln chat(s) moved to “%1”.", "", chats), folder.name if folder else "")
            return BannerText(into if folder else out, button=self.tr("Undo"))

        self._on_deleted(text)

    def _on_deleted(self, text: Callable[[], BannerText]) -> None:
        self._deleted_last = True
        deletions = self._chats.deletions
        if (undo := deletions.last) is not None:
            self._deletion_notice = text, undo
            self._banner.show_info(text, lambda: deletions.undo(undo))

    def _on_trash_changed(self) -> None:
        """The deletion was restored, or is final: remove its notice. What a deleted chat was refused stays with it."""
        for chat_id in [each for each in self._refusals if not self._chats.has(each)]:
            self._withdraw_refusal(chat_id)
        if self._deletion_notice is not None and not self._chats.deletions.holds(self._deletion_notice[1]):
            self._banner.withdraw(self._deletion_notice[0])
            self._deletion_notice = None

    def undoes_deletion(self) -> bool:
        """Whether Undo restores a deletion rather than undoing typing."""
        return self._deleted_last and self._chats.deletions.last is not None

    def _undo(self) -> None:
        """Undo the last deletion, or typing in the focused field."""
        if self.undoes_deletion() or not undo_in_focused_field():
            self._chats.deletions.undo()


def unsaved() -> BannerText:
    sentence = QCoreApplication.translate("KeptWords", "Quitting now may lose unsaved text.")
    hint = QCoreApplication.translate("KeptWords", "Free some space and wait, or quit again.")
    return BannerText(sentence, QCoreApplication.translate("KeptWords", "Not everything is saved"), hint)
