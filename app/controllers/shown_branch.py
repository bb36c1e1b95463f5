"""The branch on the screen as rows of the transcript.

An ordinary chat is read at once. Of a long one the newest messages are; once these are painted, those before them are
read by the storage's thread, a few hundred at a time, and are put before them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QTimer

from app.storage import Storage, StoredMessage
from app.view_models.transcript import TranscriptMessage, TranscriptModel
from engine import RequestStats

AT_ONCE = 50  # messages of a long chat
_SLICE = 200  # that come before them at a time
_PAINTED_MS = 50  # the newest ones are on the screen by then

Show = Callable[[Iterable[TranscriptMessage]], None]


class ShownBranch:
    def __init__(
        self,
        storage: Storage,
        transcript: TranscriptModel,
        row: Callable[[StoredMessage], TranscriptMessage],
        tell: Callable[[RequestStats], None],
    ) -> None:
        """`tell` gets the numbers of the newest reply, once it is shown."""
        self._storage = storage
        self._transcript = transcript
        self._row = row
        self._tell = tell
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
            branch = messages.newest(chat_id, AT_ONCE) if end_id is None else messages.stretch(end_id, AT_ONCE)
            end([self._row(stored) for stored in branch])
            self._transcript.has_earlier = bool(branch)
        else:
            branch = messages.shown_branch(chat_id) if end_id is None else messages.branch(end_id)
            whole([self._row(stored) for stored in branch])
            self._transcript.has_earlier = False
        self._tell(next((stored.stats for stored in reversed(branch) if stored.stats), RequestStats()))
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
            self._read_before(turn, branch[0].id)
