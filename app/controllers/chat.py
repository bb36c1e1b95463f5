"""The open chat with all that belongs to chats: their list, options, replies, edits, the Trash.

Everything that the user does is stored first and shown when it is on disk. What the disk refuses is reported by
`not_stored`, together with a call that tries it again; nothing has changed then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.asking import Asking
from app.controllers.changes import Keeping, StorageChanges
from app.controllers.chat_lists import Folders, ScrollPlaces, Unseen, Visibility, folder_of, list_chats
from app.controllers.chat_options import ChatOptions
from app.controllers.deletions import Deletions
from app.controllers.message_changes import MessageChanges
from app.controllers.messages import storable
from app.controllers.models import ModelController
from app.controllers.open_chat import OpenChat
from app.controllers.quick_ask import QuickQuestions
from app.controllers.replies import RunningReplies
from app.controllers.titles import Titles
from app.settings import Settings
from app.storage import ChatSummary, Storage, StoredMessage
from app.storage.codec import LONGEST_TITLE
from app.system.worker import ignore
from app.view_models.attached import AttachedRow
from app.view_models.conversation_list import ConversationListModel
from app.view_models.request_table import RequestTableModel
from app.view_models.transcript import TranscriptMessage
from app.words.chat_groups import copy_titles
from engine import ChatEngine


class ChatController(OpenChat):
    generating_changed = Signal(bool)  # of the open chat
    problem_raised = Signal(object)  # EngineError
    not_stored = Signal(object, object)  # NotStored, a call that tries again
    chat_deleted = Signal(int, str)  # chat, title; deletions.undo brings it back
    reply_ended = Signal(int, int, object)  # chat, message, ReplyStatus

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        storage: Storage,
        settings: Settings,
        models: ModelController,
        parent: QObject | None = None,
        sight: Callable[[], Visibility] = Visibility,
    ) -> None:
        super().__init__(storage, parent)
        self.generating = False
        self.conversations = ConversationListModel(
            partial(list_chats, storage), self, folder_of=partial(folder_of, storage)
        )
        self.requests = RequestTableModel(self)
        self.replies = RunningReplies(engine, bridge, storage, self.transcript, self.requests, self)
        self.changes = StorageChanges(storage, self)
        self.keeping = Keeping(storage, self)
        self.deletions = Deletions(storage, self.changes, self)
        self.folders = Folders(storage, self.changes, self.deletions, self.conversations, self)
        self.unseen = Unseen(storage, self.replies, self.conversations, self._on_screen, sight, self)
        self.options = ChatOptions(storage, self.changes, settings, lambda: models.main_setting, self)
        self.asking = Asking(self, storage, self.changes, models, self.options, self.replies)
        self.quick_questions = QuickQuestions(self.asking, self.replies, storage, self.keeping, self)
        self.edits = MessageChanges(self, self.asking, storage, self.changes, self.keeping, self.deletions)
        self.places = ScrollPlaces(storage)
        self.titles = Titles(engine, bridge, storage, settings, models, self)
        self._connect()
        self.conversations.refresh()

    def _connect(self) -> None:
        self.chat_opening.connect(self.options.open)
        self.chat_opening.connect(self.edits.open_chat)
        self.chat_opened.connect(self._update_generating)
        self.chat_opened.connect(self.unseen.see)
        self.branch_chosen.connect(self._keep_branch)
        self.replies.changed.connect(self._update_generating)
        self.replies.stats_changed.connect(self.show_context)
        self.replies.ended.connect(self.reply_ended)
        self.replies.not_stored.connect(lambda problem: self.not_stored.emit(problem, self.replies.ends.try_again))
        self.replies.stored.connect(self.titles.on_reply)
        self.changes.not_stored.connect(self.not_stored)
        self.deletions.restored.connect(self._on_restored)
        self.deletions.chats_gone.connect(self._leave)
        self.quick_questions.looked_at.connect(self.unseen.see)
        self.asking.problem_raised.connect(self.problem_raised)
        self.asking.requested.connect(self._refresh_titles)  # a first question that is asked differently names its chat
        self.titles.titled.connect(self._refresh_titles)

    def row(self, stored: StoredMessage) -> TranscriptMessage:
        return self.edits.row(self.replies.row(stored))

    # Chats

    def rename(self, chat_id: int, title: str) -> None:
        if title := storable(title)[:LONGEST_TITLE]:
            self.changes.write(
                lambda stores: stores.chats.rename(chat_id, title), lambda _: self._refresh_titles(chat_id)
            )

    def is_pinned(self, chat_id: int) -> bool:
        summary = self._chats.summary(chat_id)
        return summary is not None and summary.pinned

    def pin(self, chat_id: int, pinned: bool) -> None:
        self.changes.write(lambda stores: stores.chats.pin(chat_id, pinned), lambda _: self._refresh_titles(chat_id))

    def duplicate(self, chat_id: int) -> None:
        """With all its branches; the copy is shown where nothing else was opened meanwhile."""
        summary = self._chats.summary(chat_id)
        if summary is None:
            return
        titles = copy_titles(summary.title)
        visit = self.visit
        self.replies.save()
        self.options.keep()

        def copied(copy: int) -> None:
            self.conversations.refresh()
            if visit == self.visit:
                self.show(copy)

        self.changes.write(lambda stores: stores.chats.duplicate(chat_id, titles), copied)

    def delete_chat(self, chat_id: int) -> None:
        """To the Trash, where it stays for 30 days."""
        if (summary := self._chats.summary(chat_id)) is not None:
            self.deletions.delete_chat(summary, chat_id == self.chat_id, lambda: self._on_deleted(summary))

    # Messages

    def send(self, text: str, attached: Sequence[AttachedRow] = ()) -> bool:
        """In the open chat. False: it is refused at once."""
        return self.asking.send(self.chat_id, text, attached)

    def stop(self) -> None:
        self.replies.stop(self.chat_id)

    def show_version(self, message_id: int, step: int) -> None:
        """Shows the version `step` places from the one shown, and the branch that follows it."""
        message = self._messages.message(message_id)
        other = self._messages.sibling(message, step) if message else None
        if other is not None:
            self.show_branch_with(other)

    def open_at(self, chat_id: int, message_id: int) -> bool:
        """Opens a chat and shows the branch that a message is in; of a long one, its place is shown once it is read.

        False: there is no such message in it.
        """
        if chat_id != self.chat_id and self._messages.is_long(chat_id):
            self.places.put(chat_id, (message_id, 0.0))
        self.open_chat(chat_id)
        message = self._messages.message(message_id)
        if message is None or message.chat_id != self.chat_id:
            return False
        if self.transcript.row_of(message_id) is None:
            self.show_branch_with(message_id)
        return True

    def _keep_branch(self, chat_id: int, leaf: int) -> None:
        self.changes.write(lambda stores: stores.chats.set_leaf(chat_id, leaf), ignore)

    # End

    @property
    def has_unsaved(self) -> bool:
        """Whether the disk has refused words that are on the screen, or has not come to them yet."""
        return self.replies.has_unstored or self.keeping.has_refused

    def close(self) -> None:
        """Has stored what is not kept yet, and running replies as interrupted. Call it before the engine closes."""
        self.chat_left.emit(self.chat_id)
        self.options.keep()
        self.edits.keep()
        self.keeping.close()
        self.titles.close()
        self.replies.close()

    # What the parts report

    def _on_screen(self) -> tuple[int, int]:
        return self.chat_id, self.quick_questions.shown_id

    def _on_deleted(self, chat: ChatSummary) -> None:
        self._leave([chat.id])
        self.conversations.refresh()
        self.chat_deleted.emit(chat.id, chat.title)

    def _leave(self, chats: Iterable[int]) -> None:
        for chat_id in chats:
            self.replies.stop(chat_id)
            if chat_id == self.chat_id:
                self.new_chat()

    def _on_restored(self, chat_id: int, open_it: bool) -> None:
        self.conversations.refresh()
        if chat_id and chat_id == self.chat_id:
            self.update_branch(chat_id)
        elif open_it:
            self.open_chat(chat_id)

    def _refresh_titles(self, chat_id: int) -> None:
        self.conversations.refresh()
        summary = self._chats.summary(chat_id)
        if summary is not None and chat_id == self.chat_id and summary.title != self.title:
            self.title = summary.title
            self.current_chat_changed.emit(self.chat_id, self.title)

    def _update_generating(self) -> None:
        chats = self.replies.chats()
        self.conversations.set_generating(chats)
        generating = self.chat_id in chats
        if generating != self.generating:
            self.generating = generating
            self.generating_changed.emit(generating)
