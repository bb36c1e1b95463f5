"""The open chat with all that belongs to chats: their list, options, replies, edits, the Trash.

An ordinary chat is read at once. Of a long one the newest messages are; once these are painted, those before them are
read by the storage's thread, a hundred at a time, and are put before them.

Everything that the user does is stored first and shown when it is on disk. What the disk refuses is reported by
`changes` (a message by `Asking.message_refused`) with a call that tries it again; nothing has changed then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from app.bridge import EngineBridge
from app.controllers.asking import Asking
from app.controllers.changes import Keeping, StorageChanges
from app.controllers.chat_lists import Folders, ScrollPlaces, Unseen, Visibility, folder_of, list_chats
from app.controllers.chat_options import ChatOptions
from app.controllers.deletions import Deletions
from app.controllers.exchange import ExchangeController
from app.controllers.message_changes import MessageChanges
from app.controllers.models import ModelController
from app.controllers.project_files import ProjectFilesController
from app.controllers.projects import Projects
from app.controllers.prompts import Prompts
from app.controllers.quick_ask import QuickQuestions
from app.controllers.replies import RunningReplies
from app.controllers.shared_text import SharedText
from app.controllers.summaries import Summaries
from app.controllers.titles import Titles
from app.controllers.tools import ToolsController
from app.settings import Settings
from app.storage import Asked, ChatSummary, NotStored, Reason, Storage, StoredMessage
from app.storage.codec import LONGEST_TITLE, storable
from app.system.worker import ignore
from app.view_models.attached import AttachedRow
from app.view_models.chat_options import Scope
from app.view_models.conversation_list import ConversationListModel
from app.view_models.request_table import RequestTableModel
from app.view_models.transcript import TranscriptMessage, TranscriptModel
from app.words.chat_groups import copy_titles
from engine import ChatEngine, RequestStats

AT_ONCE = 50  # messages of a long chat that are shown first
_SLICE = 100  # earlier messages read at a time
_REST_MS = 4  # pause between two slices, so that scrolling stays smooth
_PAINTED_MS = 50  # by then the newest messages are painted

Show = Callable[[Iterable[TranscriptMessage]], None]


class ChatController(QObject):
    """The open chat is stored with its first message, under the number that it has from the beginning."""

    chat_left = Signal(int)  # the open chat is about to leave the screen
    chat_opening = Signal(int)  # another one comes; its messages are read next
    chat_opened = Signal(int)  # they are shown
    current_chat_changed = Signal(int, str)  # chat, title
    chat_wanted = Signal()  # the user goes to a chat, even if it is the open one
    branch_chosen = Signal(int, int)  # chat, the branch's last message
    context_changed = Signal(int, int)  # tokens used, tokens that the model holds; 0, 0: not known
    generating_changed = Signal(bool)  # of the open chat
    problem_raised = Signal(object)  # EngineError
    chats_deleted = Signal(object)  # their titles; deletions.undo brings them back

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
        super().__init__(parent)
        self._new_chats = storage.new_chats
        self.chat_id = self._new_chats.latest
        self.title = ""
        self.transcript = TranscriptModel(self)
        self.generating = False
        self._storage = storage
        self._models = models
        self._chats = storage.read.chats
        self._messages = storage.read.messages
        self._turn = 0  # increments with each branch shown, so that late answers are dropped
        self.conversations = ConversationListModel(
            partial(list_chats, storage), self, folder_of=partial(folder_of, storage)
        )
        self.requests = RequestTableModel(self)
        self.replies = RunningReplies(engine, bridge, storage, self.transcript, self.requests, self)
        self.changes = StorageChanges(storage, self)
        self.keeping = Keeping(storage, self)
        self.deletions = Deletions(storage, self.changes, self)
        self.projects = Projects(storage, self.keeping, self)
        self.folders = Folders(storage, self.changes, self.deletions, self.keeping, self.conversations, self)
        self.unseen = Unseen(storage, self.replies, self.conversations, self._on_screen, sight, self)
        self.documents = ProjectFilesController(storage, self.projects, self.replies, self)
        self.options = ChatOptions(storage, self.changes, settings, self.projects, lambda: models.main_setting, self)
        self.shared = SharedText(storage, self.projects, self.documents, self.options, models, self)
        self.prompts = Prompts(settings)
        self.tools = ToolsController(engine, storage, self.changes, self.options, self.documents, models)
        self.asking = Asking(storage, self.changes, models, self.shared, self.replies, self.tools, self)
        self.exchanges = ExchangeController(storage, self.replies, self.asking, self.tools, self)
        self.quick_questions = QuickQuestions(self.asking, self.replies, storage, self.keeping, self)
        self.edits = MessageChanges(
            self.transcript, self.asking, storage, self.changes, self.keeping, self.deletions, self
        )
        self.places = ScrollPlaces(storage)
        self.titles = Titles(engine, bridge, storage, settings, models, self)
        self.summaries = Summaries(engine, bridge, storage, models, self.options, self.replies, self)
        self._connect()
        self.conversations.refresh()

    def _connect(self) -> None:
        self.chat_opening.connect(self.options.open)
        self.chat_opening.connect(self.edits.open_chat)
        self.chat_opened.connect(self._update_generating)
        self.chat_opened.connect(self.unseen.see)
        self.branch_chosen.connect(self._keep_branch)
        self.chat_opened.connect(lambda chat_id: self.documents.look(chat_id, self.options.folder_of(chat_id)))
        self.documents.refused.connect(self._on_documents_refused)
        self.deletions.emptied.connect(self._on_emptied)
        self.replies.changed.connect(self._update_generating)
        self.replies.changed.connect(lambda: self._models.note_replies(bool(self.replies.live)))
        self.replies.stats_changed.connect(self.show_context)
        self.replies.stored.connect(self.titles.on_reply)
        self.deletions.restored.connect(self._on_restored)
        self.conversations.refreshed.connect(self.options.forget_folders)
        self.folders.changed.connect(self._on_folders)
        self.deletions.chats_gone.connect(self._leave)
        self.quick_questions.looked_at.connect(self.unseen.see)
        self.asking.problem_raised.connect(self.problem_raised)
        self.asking.requested.connect(self.show_message)
        self.asking.requested.connect(self._refresh_titles)  # a first question that is asked differently names its chat
        self.edits.branch_changed.connect(self.update_branch)
        self.titles.titled.connect(self._refresh_titles)
        self.summaries.written.connect(self.update_branch)

    def new_chat(self) -> None:
        self.new_chat_in(None)

    def new_chat_in(self, folder_id: int | None) -> None:
        """In a folder, with its models where they are installed; None: in none, with those that are loaded."""
        self.show(self._new_chats.other_than(self.asking.is_storing))
        self.options.begin_in(folder_id)
        pair = self.projects.pair(folder_id)
        if pair is not None:
            self._models.use_in_project(*pair)

    def open_chat(self, chat_id: int) -> None:
        if chat_id == self.chat_id:
            self.chat_wanted.emit()
        elif self._chats.summary(chat_id) is not None:
            self.show(chat_id)

    @property
    def is_new(self) -> bool:
        """Whether the open chat has no message."""
        return self.chat_id in self._new_chats

    def show(self, chat_id: int) -> None:
        """A new chat where there is none of that number."""
        self.chat_left.emit(self.chat_id)
        summary = self._chats.summary(chat_id)
        is_there = summary is not None or chat_id in self._new_chats
        self.chat_id = chat_id if is_there else self._new_chats.other_than(self.asking.is_storing)
        self.title = summary.title if summary else ""
        self.chat_opening.emit(self.chat_id)
        self.show_branch()
        self.chat_opened.emit(self.chat_id)
        self.current_chat_changed.emit(self.chat_id, self.title)
        self.chat_wanted.emit()

    def show_branch(self) -> None:
        """Of a chat that was not on the screen."""
        self._show(None, self.transcript.set_messages, self.transcript.set_messages)

    def update_branch(self, chat_id: int, end_id: int | None = None) -> None:
        """Show the chat's branch as stored, to its end or to this message, if it is the open chat."""
        if chat_id == self.chat_id:
            self._show(end_id, self.transcript.show_branch, self.transcript.show_end)

    def show_branch_with(self, message_id: int) -> None:
        """The newest one of the chat on the screen with a message. At once: looking needs no room on the disk."""
        chat_id = self.chat_id

        def show(turn: int, end_id: int | None) -> None:
            if turn == self._turn and end_id is not None:
                self.update_branch(chat_id, end_id)
                self.branch_chosen.emit(chat_id, end_id)

        if self._messages.is_long(chat_id):
            self._storage.count(lambda stores: stores.messages.other_end(message_id), partial(show, self._turn))
        else:
            show(self._turn, self._messages.latest_leaf(message_id))

    def _show_question(self, asked: Asked) -> None:
        """That was stored just now; the first of a chat has made it."""
        if asked.chat_id == self.chat_id and not self.transcript.messages:
            summary = self._chats.summary(asked.chat_id)
            self.title = summary.title if summary else ""
            self.current_chat_changed.emit(self.chat_id, self.title)
        self.show_message(asked.chat_id, asked.user_id)

    def show_message(self, chat_id: int, message_id: int) -> None:
        """Show a message that was just stored. Another branch may be shown, or this message already."""
        if chat_id != self.chat_id:
            return
        stored = self._messages.message(message_id)
        rows = self.transcript.messages
        if stored is not None and stored.parent_id == (rows[-1].id if rows else None):
            self.transcript.append(self.row(stored))
        else:
            self.update_branch(chat_id)

    def _show(self, end_id: int | None, whole: Show, end: Show) -> None:
        """`whole` shows all of a branch, `end` its newest messages."""
        self._turn += 1
        chat_id = self.chat_id
        if is_long := self._messages.is_long(chat_id):
            newest = (
                partial(self._messages.newest, chat_id) if end_id is None else partial(self._messages.up_to, end_id)
            )
            branch = newest(AT_ONCE)
            end([self.row(stored) for stored in branch])
        else:
            branch = self._messages.shown_branch(chat_id) if end_id is None else self._messages.branch(end_id)
            whole([self.row(stored) for stored in branch])
        self.transcript.has_earlier = is_long and bool(branch)
        self.show_context(self.chat_id, next((each.stats for each in reversed(branch) if each.stats), RequestStats()))
        if self.transcript.has_earlier:
            QTimer.singleShot(_PAINTED_MS, self.transcript, partial(self._read_before, self._turn, branch[0].id))

    def _read_before(self, turn: int, message_id: int) -> None:
        if turn == self._turn:
            shown = partial(self._show_before, turn, message_id)
            self._storage.count(lambda stores: stores.messages.before(message_id, _SLICE), shown)

    def _show_before(self, turn: int, message_id: int, branch: list[StoredMessage]) -> None:
        end = self.transcript.row_of(message_id)
        if turn != self._turn or end is None:
            return
        rows = [row for stored in branch if (row := self.transcript.row_of(stored.id)) is not None]
        if max(rows, default=-1) >= end:
            branch = []  # parents form a cycle: damaged data
        self.transcript.show_before(message_id, [self.row(stored) for stored in branch])
        self.transcript.has_earlier = bool(branch)
        if branch:
            QTimer.singleShot(_REST_MS, self.transcript, partial(self._read_before, turn, branch[0].id))

    def show_context(self, chat_id: int, stats: RequestStats) -> None:
        if chat_id == self.chat_id:
            self.context_changed.emit(stats.context_tokens, stats.context_limit_tokens)

    def row(self, stored: StoredMessage) -> TranscriptMessage:
        """A message as the transcript shows it."""
        return self.edits.row(self.replies.row(stored))

    def rename(self, chat_id: int, title: str) -> None:
        if title := storable(title).strip()[:LONGEST_TITLE]:
            self.changes.write(
                lambda stores: stores.chats.rename(chat_id, title),
                lambda _: self._refresh_titles(chat_id),
                what=("title", chat_id),
            )

    def is_pinned(self, chat_id: int) -> bool:
        summary = self._chats.summary(chat_id)
        return summary is not None and summary.pinned

    def pin(self, chat_id: int, pinned: bool) -> None:
        self.changes.write(
            lambda stores: stores.chats.pin(chat_id, pinned),
            lambda _: self._refresh_titles(chat_id),
            what=("pinned chat", chat_id),
        )

    def keep(self) -> None:
        """Store what is on the screen and not on its way to the disk, before it is copied or exported."""
        self.replies.save(at_once=True)
        self.options.keep()
        self.keeping.keep_due()

    def duplicate(self, chat_id: int, end_id: int | None = None) -> None:
        """With all its branches, or only to the message `end_id`; shown where nothing else was opened meanwhile."""
        summary = self._chats.summary(chat_id)
        if summary is None:
            return
        titles = copy_titles(summary.title)
        open_id = self.chat_id
        self.keep()

        def copied(copy: int) -> None:
            self.documents.copy(-chat_id, -copy)
            self.conversations.refresh()
            if open_id == self.chat_id:
                self.show(copy)

        self.changes.write(lambda stores: stores.chats.duplicate(chat_id, titles, end_id), copied)

    def delete_chats(self, chats: Sequence[int]) -> None:
        """To the Trash, where they stay for 30 days; undone as one."""
        opened = self.chat_id if self.chat_id in chats else 0
        self.deletions.delete_chats(chats, opened, self._on_deleted)

    def has(self, chat_id: int) -> bool:
        """Whether there is that chat, or will be with its first message, and it is not in the Trash."""
        return chat_id in self._new_chats or self._chats.summary(chat_id) is not None

    def send(self, text: str, attached: Sequence[AttachedRow] = (), chat_id: int | None = None) -> bool:
        """In the open chat, or in another one. False: it is refused at once, see `Asking.send`."""
        to_id = self.chat_id if chat_id is None else chat_id

        def again() -> None:
            """In the chat that it was written for."""
            if to_id != self.chat_id:
                self.show(to_id)
            self.send(text, attached)

        self.keeping.try_again()  # before the message, which takes what waits with it
        return self.asking.send(to_id, self.shown_end(to_id), text, attached, self._show_question, again)

    def shown_end(self, chat_id: int) -> int | None:
        """The last message of the branch that is shown, or was last."""
        if chat_id != self.chat_id:
            return self._messages.shown_end(chat_id)
        rows = self.transcript.messages
        return rows[-1].id if rows else None

    def stop(self) -> None:
        self.replies.stop(self.chat_id)

    def shorten(self, message_id: int, how: str) -> None:
        """Have the oldest messages of the open chat left out, now and later, so that this reply can be written."""
        self.options.put(Scope.CHAT, "long_chats", how)
        reply = self.transcript.message(message_id)
        if reply is not None and reply.can_continue:
            self.asking.continue_reply(message_id)
        else:
            self.asking.regenerate(message_id)

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
        self.changes.write(lambda stores: stores.chats.set_leaf(chat_id, leaf), ignore, what=("branch", chat_id))

    @property
    def has_unsaved(self) -> bool:
        """Whether text on the screen is not on the disk: refused, or not written yet."""
        return self.replies.has_unstored or self.keeping.has_refused

    def close(self) -> None:
        """Store everything, and running replies as interrupted. Call it before the engine closes."""
        self.chat_left.emit(self.chat_id)
        self.options.keep()
        self.keeping.close()
        self.titles.close()
        self.summaries.close()
        self.exchanges.close()
        self.replies.close()
        self.shared.close()
        self.documents.close()

    def _on_screen(self) -> tuple[int, int]:
        return self.chat_id, self.quick_questions.shown_id

    def _on_deleted(self, chats: Sequence[ChatSummary]) -> None:
        self._leave([chat.id for chat in chats])
        self.conversations.refresh()
        self.chats_deleted.emit([chat.title for chat in chats])

    def _leave(self, chats: Iterable[int]) -> None:
        for chat_id in chats:
            self.replies.stop(chat_id)
            if chat_id == self.chat_id:
                self.new_chat()

    def _on_restored(self, chat_id: int, open_it: bool) -> None:
        self.conversations.refresh()
        self._on_folders()
        if chat_id and chat_id == self.chat_id:
            self.update_branch(chat_id)
        elif open_it:
            self.open_chat(chat_id)

    def _on_emptied(self, chats: Iterable[int]) -> None:
        self.documents.delete_own(chats)
        self.requests.name_chats(dict.fromkeys(chats, ""))

    def _on_documents_refused(self, _place: int, reason: Reason) -> None:
        self.problem_raised.emit(NotStored(reason, str(self._storage.path.parent)))

    def _on_folders(self) -> None:
        """What is in force in the open chat may have changed."""
        self.options.forget_folders()
        self.options.changed.emit()

    def _refresh_titles(self, chat_id: int) -> None:
        self.conversations.refresh()
        summary = self._chats.summary(chat_id)
        if summary is not None:
            self.requests.name_chats({chat_id: summary.title})
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
