"""The open chat: which it is, and the branch of it that the transcript shows.

An ordinary chat is read at once. Of a long one the newest messages are; once these are painted, those before them are
read by the storage's thread, a hundred at a time, and are put before them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from app.controllers.messages import transcript_row
from app.storage import Asked, Storage, StoredMessage
from app.view_models.transcript import TranscriptMessage, TranscriptModel
from engine import RequestStats

AT_ONCE = 50  # messages of a long chat
_SLICE = 100  # that come before them at a time
_REST_MS = 4  # between two of these: more than one in a frame would hold up scrolling
_PAINTED_MS = 50  # the newest ones are on the screen by then

Show = Callable[[Iterable[TranscriptMessage]], None]


class OpenChat(QObject):
    """`chat_id` is 0 while the open chat has no message: it is stored with its first one."""

    chat_left = Signal(int)  # the open chat is about to leave the screen
    chat_opening = Signal(int)  # another one comes; its messages are read next
    chat_opened = Signal(int)  # they are shown
    chat_made = Signal(int)  # the open chat, which had no message, is stored now
    current_chat_changed = Signal(int, str)  # chat, title
    chat_wanted = Signal()  # the user goes to a chat, be it the open one
    branch_chosen = Signal(int, int)  # chat, the branch's last message
    context_changed = Signal(int, int)  # tokens used, tokens that the model holds; 0, 0: not known

    def __init__(self, storage: Storage, parent: QObject | None) -> None:
        super().__init__(parent)
        self.chat_id = 0
        self.title = ""
        self.visit = 0  # counts the chats that were opened, so that late answers know whether they are still wanted
        self.transcript = TranscriptModel(self)
        self._storage = storage
        self._chats = storage.read.chats
        self._messages = storage.read.messages
        self._turn = 0  # counts the branches that were shown: an answer to an earlier question is of no use

    def row(self, stored: StoredMessage) -> TranscriptMessage:
        """A message as the transcript shows it."""
        return transcript_row(stored)

    # Which chat

    def new_chat(self) -> None:
        self.show(0)

    def open_chat(self, chat_id: int) -> None:
        if chat_id == self.chat_id:
            self.chat_wanted.emit()
        elif self._chats.summary(chat_id) is not None:
            self.show(chat_id)

    def show(self, chat_id: int) -> None:
        """A new chat where there is none of that number."""
        self.chat_left.emit(self.chat_id)
        summary = self._chats.summary(chat_id)
        self.visit += 1
        self.chat_id = summary.id if summary else 0
        self.title = summary.title if summary else ""
        self.chat_opening.emit(self.chat_id)
        self.show_branch()
        self.chat_opened.emit(self.chat_id)
        self.current_chat_changed.emit(self.chat_id, self.title)
        self.chat_wanted.emit()

    # Which branch

    def show_branch(self) -> None:
        """Of a chat that was not on the screen."""
        self._show(None, self.transcript.set_messages, self.transcript.set_messages)

    def update_branch(self, chat_id: int, end_id: int | None = None) -> None:
        """As it is stored now, to its end or to this message, where this is the chat on the screen."""
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

    def show_question(self, asked: Asked, title: str) -> None:
        """A question that was stored just now; the first of a chat makes it, and names it."""
        if not self.chat_id:
            self.chat_id = asked.chat_id
            self.title = title
            self.chat_made.emit(self.chat_id)
            self.current_chat_changed.emit(self.chat_id, self.title)
        self.show_message(asked.chat_id, asked.user_id)

    def show_message(self, chat_id: int, message_id: int) -> None:
        """One that was stored just now. Another branch may be shown, or this message already."""
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
            branch = []  # damaged numbers go round in a circle
        self.transcript.show_before(message_id, [self.row(stored) for stored in branch])
        self.transcript.has_earlier = bool(branch)
        if branch:
            QTimer.singleShot(_REST_MS, self.transcript, partial(self._read_before, turn, branch[0].id))

    def show_context(self, chat_id: int, stats: RequestStats) -> None:
        if chat_id == self.chat_id:
            self.context_changed.emit(stats.context_tokens, stats.context_limit_tokens)
