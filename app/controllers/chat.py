"""Chats. Asking the models is in `exchanges`, changing messages in `message_changes`, running replies in `replies`.

Everything that the user does is stored first and shown when it is on disk. What the disk refuses is reported by
`not_stored`, together with a call that tries it again; nothing has changed then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from app.bridge import EngineBridge
from app.controllers.changes import Changes, Keeping
from app.controllers.chat_lists import ChatActs, Folders, Places, Sight, Unseen, folder_of, list_chats
from app.controllers.chat_options import ChatOptions
from app.controllers.deletions import Deletions, TrashReading
from app.controllers.exchanges import Exchanges
from app.controllers.message_changes import MessageChanges
from app.controllers.models import ModelController
from app.controllers.quick_ask import Asides
from app.controllers.replies import Replies
from app.controllers.titles import Titles
from app.settings import Settings
from app.storage import Asked, ChatSummary, Storage, StoredMessage
from app.system.worker import ignore
from app.view_models.attached import AttachedRow
from app.view_models.conversation_list import ConversationListModel
from app.view_models.request_table import RequestTableModel
from app.view_models.transcript import TranscriptMessage, TranscriptModel
from engine import ChatEngine, RequestStats

AT_ONCE = 50  # messages of a long chat
_SLICE = 100  # that come before them at a time
_REST_MS = 4  # between two of these: more than one in a frame would hold up scrolling
_PAINTED_MS = 50  # the newest ones are on the screen by then

Show = Callable[[Iterable[TranscriptMessage]], None]


class ChatController(QObject):
    """`chat_id` is 0 while the open chat has no message: it is stored with its first one."""

    current_chat_changed = Signal(int, str)  # chat, title
    chat_wanted = Signal()  # the user goes to a chat, be it the open one
    generating_changed = Signal(bool)  # of the open chat
    context_changed = Signal(int, int)  # tokens used, tokens that the model holds; 0, 0: not known
    problem_raised = Signal(object)  # EngineError
    not_stored = Signal(object, object)  # NotStored, a call that tries again
    chat_made = Signal(int)  # the open chat, which had no message, is stored now
    chat_left = Signal(int)  # the open chat is about to leave the screen
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
        sight: Callable[[], Sight] = Sight,
    ) -> None:
        super().__init__(parent)
        self._chats, self._messages = storage.read.chats, storage.read.messages
        self.chat_id = 0
        self.visit = 0  # counts what was shown, so that late answers know whether they are still wanted
        self.title = ""
        self.generating = False
        self.transcript = TranscriptModel(self)
        shown_stats = lambda stats: self._emit_context(self.chat_id, stats)  # noqa: E731
        self._shown = ShownBranch(storage, self.transcript, self._row, shown_stats)
        self.conversations = ConversationListModel(
            partial(list_chats, storage), self, folder_of=partial(folder_of, storage)
        )
        self.requests = RequestTableModel(self)
        self.replies = self._replies = Replies(engine, bridge, storage, self.transcript, self.requests, self)
        self.changes = Changes(storage, self)
        self.keeping = Keeping(storage, self)
        self.deletions = Deletions(storage, self.changes, self)
        self.reading = TrashReading(self, storage, self.deletions)
        self.folders = Folders(storage, self.changes, self.deletions, self.conversations, self)
        self.unseen = Unseen(storage, self._replies, self.conversations, self._on_screen, sight, self)
        self.options = ChatOptions(storage, self.changes, settings, lambda: models.main_setting, self)
        self.exchanges = Exchanges(self, storage, self.changes, models, self.options, self._replies, self)
        self.asides = Asides(self.changes, self._replies, storage, self.exchanges.question_aside, self.keeping, self)
        parts = storage, self.changes, self.keeping, self.deletions
        self.edits = MessageChanges(self, self.exchanges, *parts, self)
        self.acts, self.places = ChatActs(storage, self.changes, self._save_all, self), Places(storage)
        self.titles = Titles(engine, bridge, storage, settings, models, self)
        self._connect()
        self.conversations.refresh()

    def _connect(self) -> None:
        replies = self._replies
        replies.changed.connect(self._update_generating)
        replies.stats_changed.connect(self._emit_context)
        replies.ended.connect(self.reply_ended)
        replies.not_stored.connect(lambda problem: self.not_stored.emit(problem, replies.ends.try_again))
        replies.stored.connect(self.titles.on_reply)
        self.changes.not_stored.connect(self.not_stored)
        self.deletions.restored.connect(self._on_restored)
        self.deletions.chats_gone.connect(self._leave)
        self.asides.looked_at.connect(self.unseen.see)
        self.asides.begin_requested.connect(self.exchanges.begin)
        self.exchanges.problem_raised.connect(self.problem_raised)
        self.acts.changed.connect(self._refresh_titles)
        self.acts.copied.connect(self._show_copy)
        self.titles.titled.connect(self._refresh_titles)

    # Chats

    @property
    def shown_id(self) -> int:
        """The chat on the screen: the open one, or one that is read in the Trash."""
        return self.chat_id or self.reading.chat_id

    def new_chat(self) -> None:
        self.show(0)

    def open_chat(self, chat_id: int) -> None:
        if chat_id != self.chat_id and self._chats.summary(chat_id) is not None:
            self.show(chat_id)
        elif chat_id == self.chat_id:
            self.chat_wanted.emit()

    def delete_chat(self, chat_id: int) -> None:
        """To the Trash, where it stays for 30 days."""
        if (summary := self._chats.summary(chat_id)) is not None:
            self.deletions.delete_chat(summary, chat_id == self.chat_id, lambda: self._on_deleted(summary))

    # Messages

    def send(self, text: str, attached: Sequence[AttachedRow] = ()) -> bool:
        """In the open chat; not while one is read in the Trash. False: it is refused at once."""
        return not self.reading.chat_id and self.exchanges.send(self.chat_id, text, attached)

    def stop(self) -> None:
        self.exchanges.stop(self.chat_id)

    def show_version(self, message_id: int, step: int) -> None:
        """Shows the version `step` places from the one shown, and the branch that follows it."""
        message = self._messages.message(message_id)
        other = self._messages.sibling(message, step) if message else None
        if message is not None and other is not None:
            self._show_branch_with(other)

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
            self._show_branch_with(message_id)
        return True

    def _show_branch_with(self, message_id: int) -> None:
        """Shown at once: looking needs no room on the disk."""
        chat_id = self.shown_id

        def keep(leaf: int) -> None:
            self.changes.write(lambda stores: stores.chats.set_leaf(chat_id, leaf), ignore)

        self._shown.show_with(chat_id, message_id, keep)

    # End

    @property
    def has_unsaved(self) -> bool:
        """Whether the disk has refused words that are on the screen, or has not come to them yet."""
        return self._replies.has_unstored or self.keeping.has_refused

    def _on_screen(self) -> tuple[int, int]:
        return self.chat_id, self.asides.shown_id

    def close(self) -> None:
        """Has stored what is not kept yet, and running replies as interrupted. Call it before the engine closes."""
        self.chat_left.emit(self.shown_id)
        self.options.keep()
        self.edits.keep()
        self.keeping.close()
        self.titles.close()
        self._replies.close()

    # What the parts show

    def show_sent(self, asked: Asked, title: str) -> None:
        if not self.chat_id:
            self.chat_id, self.title = asked.chat_id, title
            self.chat_made.emit(self.chat_id)
            self.current_chat_changed.emit(self.chat_id, self.title)
        self._append(asked.user_id)

    def show_reply(self, asked: Asked) -> None:
        """Where its chat is on the screen, again perhaps."""
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

    def show(self, chat_id: int) -> None:
        self.chat_left.emit(self.shown_id)
        summary = self._chats.summary(chat_id)
        self.visit += 1
        self.reading.left()
        self.chat_id, self.title = (summary.id, summary.title) if summary else (0, "")
        self.options.open(self.chat_id)
        self.edits.open_chat(self.chat_id)
        self._shown.open(self.chat_id)
        self._update_generating()
        self.unseen.see(self.chat_id)
        self.current_chat_changed.emit(self.chat_id, self.title)
        self.chat_wanted.emit()

    def show_read(self, title: str) -> None:
        """The chat that is read in the Trash, in place of a new one."""
        self.title = title
        self._shown.open(self.shown_id)
        self.current_chat_changed.emit(self.chat_id, title)

    def _save_all(self) -> int:
        self._replies.save()
        self.options.keep()
        return self.visit

    def _show_copy(self, visit: int, chat_id: int) -> None:
        """Where nothing else was opened meanwhile."""
        self.conversations.refresh()
        if visit == self.visit:
            self.show(chat_id)

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
                self.show(0)

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


class ShownBranch:
    """The branch on the screen as rows of the transcript.

    An ordinary chat is read at once. Of a long one the newest messages are; once these are painted, those before them
    are read by the storage's thread, a hundred at a time, and are put before them.
    """

    def __init__(
        self,
        storage: Storage,
        transcript: TranscriptModel,
        row: Callable[[StoredMessage], TranscriptMessage],
        report: Callable[[RequestStats], None],
    ) -> None:
        """`report` gets the numbers of the newest reply, once it is shown."""
        self._storage = storage
        self._transcript = transcript
        self._row = row
        self._report = report
        self._turn = 0  # counts what was shown: an answer to an earlier question is of no use

    def open(self, chat_id: int) -> None:
        """Shows a chat in place of another."""
        self._show(chat_id, None, self._transcript.set_messages, self._transcript.set_messages)

    def update(self, chat_id: int, end_id: int | None = None) -> None:
        """Shows the same chat as it is now, to its end or to this message."""
        self._show(chat_id, end_id, self._transcript.show_branch, self._transcript.show_end)

    def show_with(self, chat_id: int, message_id: int, shown: Callable[[int], None]) -> None:
        """Shows another branch of the same chat, the newest one with a message; `shown` gets its end."""

        def show(turn: int, end_id: int | None) -> None:
            if turn == self._turn and end_id is not None:
                self.update(chat_id, end_id)
                shown(end_id)

        messages = self._storage.read.messages
        if messages.is_long(chat_id):
            self._storage.count(lambda stores: stores.messages.other_end(message_id), partial(show, self._turn))
        else:
            show(self._turn, messages.latest_leaf(message_id))

    def _show(self, chat_id: int, end_id: int | None, whole: Show, end: Show) -> None:
        self._turn += 1
        messages = self._storage.read.messages
        if messages.is_long(chat_id):
            branch = messages.newest(chat_id, AT_ONCE) if end_id is None else messages.up_to(end_id, AT_ONCE)
            end([self._row(stored) for stored in branch])
            self._transcript.has_earlier = bool(branch)
        else:
            branch = messages.shown_branch(chat_id) if end_id is None else messages.branch(end_id)
            whole([self._row(stored) for stored in branch])
            self._transcript.has_earlier = False
        self._report(next((stored.stats for stored in reversed(branch) if stored.stats), RequestStats()))
        if self._transcript.has_earlier:
            read = partial(self._read_before, self._turn, branch[0].id)
            QTimer.singleShot(_PAINTED_MS, self._transcript, read)

    def _read_before(self, turn: int, message_id: int) -> None:
        if turn != self._turn:
            return
        shown = partial(self._show_before, turn, message_id)
        self._storage.count(lambda stores: stores.messages.before(message_id, _SLICE), shown)

    def _show_before(self, turn: int, message_id: int, branch: list[StoredMessage]) -> None:
        end = self._transcript.row_of(message_id)
        if turn != self._turn or end is None:
            return
        rows = [row for stored in branch if (row := self._transcript.row_of(stored.id)) is not None]
        if max(rows, default=-1) >= end:
            branch = []  # damaged numbers go round in a circle
        self._transcript.show_before(message_id, [self._row(stored) for stored in branch])
        self._transcript.has_earlier = bool(branch)
        if branch:
            QTimer.singleShot(_REST_MS, self._transcript, partial(self._read_before, turn, branch[0].id))
