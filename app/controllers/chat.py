"""Chats, and sending messages. Changing them is in `message_changes`, running replies are in `replies`.

Everything that a person does is stored first and shown when it is on disk. What the disk refuses is told with
`not_stored`, together with a call that tries it again; nothing has changed then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.asides import Asides
from app.controllers.chat_lists import Folders, Places, Unseen, folder_of, list_chats
from app.controllers.chat_options import ChatOptions
from app.controllers.deletions import Deletions
from app.controllers.keeping import Changes, Keeping
from app.controllers.message_changes import MessageChanges
from app.controllers.messages import storable
from app.controllers.models import ModelController
from app.controllers.replies import Replies
from app.controllers.reply_requests import ReplyRequests
from app.controllers.shown_branch import ShownBranch
from app.controllers.titles import Titles
from app.controllers.trash_reading import TrashReading
from app.settings import Settings
from app.storage import Asked, ChatSummary, Question, Storage, StoredMessage, Stores, exchange
from app.storage.codec import LONGEST_TITLE
from app.view_models.attached import AttachedRow, attachments_of
from app.view_models.conversation_list import ConversationListModel
from app.view_models.request_table import RequestTableModel
from app.view_models.transcript import TranscriptMessage, TranscriptModel
from app.words.chat_groups import copy_titles
from engine import ChatEngine, EmptyConversation, MessageRole, NoModelLoaded, RequestStats


class ChatController(QObject):
    """`chat_id` is 0 while the open chat has no message: it is stored with its first one."""

    current_chat_changed = Signal(int, str)  # chat, title
    chat_wanted = Signal()  # somebody goes to a chat, be it the open one
    generating_changed = Signal(bool)  # of the open chat
    context_changed = Signal(int, int)  # tokens used, tokens that the model holds; 0, 0: not known
    problem_raised = Signal(object)  # EngineError
    not_stored = Signal(object, object)  # NotStored, a call that tries again
    message_sent = Signal(int, str, object)  # the chat (0: a new one), text and rows of `send`, now on disk
    chat_made = Signal(int)  # the open chat, which had no message, is stored now
    message_refused = Signal(int, str)  # chat and text; it is not on disk
    message_homeless = Signal(int)  # likewise, because the chat that it was written in is in the Trash
    chat_left = Signal(int)  # the open chat is about to leave the screen
    chat_deleted = Signal(int, str)  # chat, title; undo_delete brings it back
    reply_ended = Signal(int, int, object)  # chat, message, ReplyStatus

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        storage: Storage,
        settings: Settings,
        models: ModelController,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._storage = storage
        self._models = models
        self._chats, self._messages = storage.read.chats, storage.read.messages
        self.chat_id = 0
        self.title = ""
        self.generating = False
        self.transcript = TranscriptModel(self)
        self._shown = ShownBranch(
            storage, self.transcript, self._row, lambda stats: self._emit_context(self.chat_id, stats)
        )
        self.conversations = ConversationListModel(
            partial(list_chats, storage), self, folder_of=partial(folder_of, storage)
        )
        self.requests = RequestTableModel(self)
        self.replies = self._replies = Replies(engine, bridge, storage, self.transcript, self.requests, self)
        self._replies.changed.connect(self._update_generating)
        self._replies.stats_changed.connect(self._emit_context)
        self._replies.ended.connect(self.reply_ended)
        self._replies.not_stored.connect(lambda problem: self.not_stored.emit(problem, self._replies.ends.try_again))
        self.changes = Changes(storage, self)
        self.changes.not_stored.connect(self.not_stored)
        self.keeping = Keeping(storage, self)
        self.deletions = Deletions(storage, self.changes, self)
        self.deletions.restored.connect(self._on_restored)
        self.deletions.chats_gone.connect(self._leave)
        self.reading = TrashReading(self, storage, self.deletions)
        self.folders = Folders(storage, self.changes, self.deletions, self.conversations, self)
        self._unseen = Unseen(storage, self._replies, self.conversations, self._is_in_sight, self)
        self.asides = Asides(self.changes, self._replies, storage, self._ask_aside, self.keeping, self)
        self.asides.looked_at.connect(self._unseen.see)
        self.asides.begin_requested.connect(self.begin)
        self.options = ChatOptions(storage, self.changes, settings, lambda: models.main_setting, self)
        self.requests_for_replies = ReplyRequests(storage, models, self.options, self._replies)
        self.edits = MessageChanges(
            self, storage, self.changes, self.keeping, self.deletions, self.requests_for_replies, self
        )
        self.places = Places(storage)
        self.titles = Titles(engine, bridge, storage, settings, models, self)
        self.titles.titled.connect(self._refresh_titles)
        self.replies.stored.connect(self.titles.on_reply)
        self.visit = 0  # counts what was shown, so that late answers know whether they are still wanted
        self.conversations.refresh()

    # Chats

    @property
    def shown_id(self) -> int:
        """The chat on the screen: the open one, or one that is read in the Trash."""
        return self.chat_id or self.reading.chat_id

    def new_chat(self) -> None:
        self._show(0)

    def open_chat(self, chat_id: int) -> None:
        if chat_id != self.chat_id and self._chats.summary(chat_id) is not None:
            self._show(chat_id)
        elif chat_id == self.chat_id:
            self.chat_wanted.emit()

    def rename_chat(self, chat_id: int, title: str) -> None:
        if title := storable(title)[:LONGEST_TITLE]:
            self.changes.write(
                lambda stores: stores.chats.rename(chat_id, title), lambda _: self._refresh_titles(chat_id)
            )

    @property
    def pinned(self) -> bool:
        """Whether the open chat is."""
        summary = self._chats.summary(self.chat_id)
        return summary is not None and summary.pinned

    def pin_chat(self, chat_id: int, pinned: bool) -> None:
        self.changes.write(lambda stores: stores.chats.pin(chat_id, pinned), lambda _: self.conversations.refresh())

    def duplicate_chat(self, chat_id: int) -> None:
        """Copies a chat with all its branches, and opens the copy where nothing else was opened meanwhile."""
        if (summary := self._chats.summary(chat_id)) is not None:
            self._replies.save()
            self.options.keep()
            titles = copy_titles(summary.title)
            self.changes.write(
                lambda stores: stores.chats.duplicate(chat_id, titles), partial(self._show_copy, self.visit)
            )

    def delete_chat(self, chat_id: int) -> None:
        """To the Trash, where it stays for 30 days."""
        if (summary := self._chats.summary(chat_id)) is not None:
            was_open = chat_id == self.chat_id
            self.deletions.delete_chat(summary, was_open, lambda: self._on_deleted(summary))

    def undo_delete(self) -> None:
        """Brings back the chat or message that was deleted last; again, the one before it."""
        self.deletions.undo()

    # Messages

    def send(self, text: str, attached: Sequence[AttachedRow] = ()) -> bool:
        """Asks for the message to be stored, and for a reply to it then. False: it is refused at once.

        `message_sent`, `message_refused` or `message_homeless` says what became of it.
        """
        if self.reading.chat_id:
            return False
        return self._ask(self.chat_id, self.shown_end(self.chat_id), text, attached)

    def send_in(self, chat_id: int, text: str, attached: Sequence[AttachedRow] = ()) -> bool:
        """Likewise, in a chat that need not be open."""
        if chat_id == self.chat_id:
            return self.send(text, attached)
        return self._ask(chat_id, self.shown_end(chat_id), text, attached)

    def shown_end(self, chat_id: int) -> int | None:
        """The last message of the branch that is shown, or was last."""
        if chat_id != self.chat_id:
            return self._messages.shown_end(chat_id)
        rows = self.transcript.messages
        return rows[-1].id if rows else None

    def _ask(self, chat_id: int, parent_id: int | None, text: str, attached: Sequence[AttachedRow]) -> bool:
        visit = self.visit
        text, attachments = storable(text), attachments_of(attached)
        if not (text or attachments) or chat_id in self._replies.chats():
            return False
        if self.changes.is_asking(chat_id) or not self.can_reply():
            return False
        question = self.requests_for_replies.question(chat_id, parent_id, text, attachments)

        if not chat_id:
            self.options.ask()

        def stored(asked: Asked) -> None:
            if not chat_id:
                self.options.became(asked.chat_id)
            self.message_sent.emit(chat_id, text, attached)
            if chat_id == self.chat_id and (chat_id or visit == self.visit):
                self._show_sent(asked, question.title)
            self.begin(asked)

        self.changes.ask(
            lambda stores: exchange.ask(stores, question),
            stored,
            lambda: self._on_refused(chat_id, text),
            lambda: self._send_again(chat_id, text, attached),
            chat_id=chat_id,
            gone=lambda: self.message_homeless.emit(chat_id),
        )
        return True

    def stop(self) -> None:
        self.stop_in(self.chat_id)

    def stop_in(self, chat_id: int) -> None:
        self._replies.stop(chat_id)

    def stop_deleted(self, chat_id: int) -> None:
        """The replies of this chat whose rows are gone."""
        self._replies.stop(chat_id, lambda message_id: self._messages.message(message_id) is None)

    def regenerate(self, message_id: int) -> bool:
        """Requests another version of a reply, or another reply to a person's message. False: nothing will change."""
        message = self._messages.message(message_id)
        if message is None or self.changes.is_asking(message.chat_id) or not self.can_reply():
            return False
        replied_to = message.id if message.role is MessageRole.USER else message.parent_id
        if replied_to is None:
            self.problem_raised.emit(EmptyConversation())
            return False
        chat_id, user_id, names = message.chat_id, replied_to, self.requests_for_replies.names

        def stored(asked: Asked) -> None:
            self._replies.stop(chat_id)
            self.begin(asked)

        self.changes.ask(lambda stores: exchange.ask_again(stores, chat_id, user_id, *names), stored, chat_id=chat_id)
        return True

    def show_version(self, message_id: int, step: int) -> None:
        """Shows the version `step` places from the one shown, and the branch that follows it."""
        message = self._messages.message(message_id)
        other = self._messages.sibling(message, step) if message else None
        if message is not None and other is not None:
            self._show_branch_with(other)

    def open_at(self, chat_id: int, message_id: int) -> bool:
        """Opens a chat and shows the branch that a message is in; of a long one, its place is gone to when it comes.

        False: there is no such message in it.
        """
        if chat_id != self.chat_id and self._messages.is_long(chat_id):
            self.places.put(chat_id, (message_id, 0.0))
        self.open_chat(chat_id)
        message = self._messages.message(message_id)
        if message is None or message.chat_id != self.chat_id:
            return False
        if self.transcript.row_of(message_id) is None:
            self._show_branch_with(message_id)
        return True

    def _show_branch_with(self, message_id: int) -> None:
        """Shown at once: looking needs no room on the disk."""
        chat_id = self.shown_id

        def keep(leaf: int) -> None:
            self.changes.write(lambda stores: stores.chats.set_leaf(chat_id, leaf), lambda _: None)

        self._shown.show_with(chat_id, message_id, keep)

    def continue_reply(self, message_id: int) -> bool:
        """Requests more text for a reply that was stopped, interrupted or cut; it is appended to the same row."""
        message = self._messages.message(message_id)
        if message is None or message.role is not MessageRole.ASSISTANT or self.generating:
            return False
        if self.changes.is_asking(message.chat_id) or not self.can_reply():
            return False
        store_end = self._replies.ends.storing(message_id)

        def resume(stores: Stores) -> None:
            store_end(stores)
            stores.messages.resume_reply(message_id)

        def stored(_done: None) -> None:
            self._replies.ends.is_stored(message_id)
            self.requests_for_replies.start(message_id)
            self.show_branch_of(message.chat_id)

        again = partial(self.continue_reply, message_id)
        self.changes.ask(resume, stored, again=again, chat_id=message.chat_id)
        return True

    # End

    @property
    def has_unsaved(self) -> bool:
        """Whether there are words on the screen that the disk has refused."""
        return self._replies.ends.has_refused or self.keeping.has_refused

    def _is_in_sight(self, chat_id: int) -> bool:
        return chat_id in (self.chat_id, self.asides.shown_id)

    def close(self) -> None:
        """Has stored what is not kept yet, and running replies as interrupted. Call it before the engine closes."""
        self.chat_left.emit(self.shown_id)
        self.options.keep()
        self.edits.keep()
        self.keeping.close()
        self.titles.close()
        self._replies.close()

    # Small parts

    def _ask_aside(self, text: str) -> Question | None:
        """A question in a new chat; None where nothing can answer it."""
        return self.requests_for_replies.question(0, None, text) if self.can_reply() else None

    def _on_refused(self, chat_id: int, text: str) -> None:
        if not chat_id:
            self.options.refused()
        self.message_refused.emit(chat_id, text)

    def _send_again(self, chat_id: int, text: str, attached: Sequence[AttachedRow]) -> None:
        """In the chat that it was written for."""
        if chat_id != self.shown_id:
            self._show(chat_id)
        self.send(text, attached)

    def can_reply(self) -> bool:
        if not self._models.can_reply:
            self.problem_raised.emit(NoModelLoaded())
        return self._models.can_reply

    def _show_sent(self, asked: Asked, title: str) -> None:
        if not self.chat_id:
            self.chat_id, self.title = asked.chat_id, title
            self.chat_made.emit(self.chat_id)
            self.current_chat_changed.emit(self.chat_id, self.title)
        self._append(asked.user_id)

    def begin(self, asked: Asked) -> None:
        """Requests the reply that was stored, and shows it where its chat is on the screen, again perhaps."""
        self.requests_for_replies.start(asked.reply_id)
        if asked.chat_id == self.chat_id:
            self._append(asked.reply_id)
        self._refresh_titles(asked.chat_id)  # a first question that is asked differently names its chat

    def _append(self, message_id: int) -> None:
        """A message that was stored just now; another branch may be shown, or this one already."""
        stored, rows = self._messages.message(message_id), self.transcript.messages
        if stored is not None and stored.parent_id == (rows[-1].id if rows else None):
            self.transcript.append(self._row(stored))
        else:
            self._shown.update(self.chat_id)

    def _row(self, stored: StoredMessage) -> TranscriptMessage:
        row = self._replies.row(stored)
        return self.reading.row(row) if self.reading.chat_id else self.edits.row(row)

    def _show(self, chat_id: int) -> None:
        self.chat_left.emit(self.shown_id)
        summary = self._chats.summary(chat_id)
        self.visit += 1
        self.reading.left()
        self.chat_id, self.title = (summary.id, summary.title) if summary else (0, "")
        self.options.open(self.chat_id)
        self.edits.open_chat(self.chat_id)
        self._shown.open(self.chat_id)
        self._update_generating()
        self._unseen.see(self.chat_id)
        self.current_chat_changed.emit(self.chat_id, self.title)
        self.chat_wanted.emit()

    def show_read(self, title: str) -> None:
        """The chat that is read in the Trash, in place of a new one."""
        self.title = title
        self._shown.open(self.shown_id)
        self.current_chat_changed.emit(self.chat_id, title)

    def _show_copy(self, visit: int, chat_id: int) -> None:
        self.conversations.refresh()
        if visit == self.visit:
            self._show(chat_id)

    def show_branch_of(self, chat_id: int) -> None:
        """As it is stored now, where it is the open chat's."""
        if chat_id == self.chat_id:
            self._shown.update(self.chat_id)

    def _on_deleted(self, chat: ChatSummary) -> None:
        self._leave([chat.id])
        self.conversations.refresh()
        self.chat_deleted.emit(chat.id, chat.title)

    def _leave(self, chats: Iterable[int]) -> None:
        for chat_id in chats:
            self._replies.stop(chat_id)
            if chat_id == self.chat_id:
                self._show(0)

    def _on_restored(self, chat_id: int, open_it: bool) -> None:
        self.conversations.refresh()
        if chat_id and chat_id == self.chat_id:
            self._shown.update(self.chat_id)
        elif open_it:
            self.open_chat(chat_id)

    def _refresh_titles(self, chat_id: int) -> None:
        self.conversations.refresh()
        summary = self._chats.summary(chat_id)
        if summary is not None and chat_id == self.chat_id and summary.title != self.title:
            self.title = summary.title
            self.current_chat_changed.emit(self.chat_id, self.title)

    def _update_generating(self) -> None:
        chats = self._replies.chats()
        self.conversations.set_generating(chats)
        generating = self.chat_id in chats
        if generating != self.generating:
            self.generating = generating
            self.generating_changed.emit(generating)

    def _emit_context(self, chat_id: int, stats: RequestStats) -> None:
        if chat_id == self.chat_id:
            self.context_changed.emit(stats.context_tokens, stats.context_limit_tokens)
