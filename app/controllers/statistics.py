"""Statistics over all chats and of one reply: the table of requests, totals, and the inspector."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from app.controllers.replies import RunningReplies
from app.settings import STARTER_NAME
from app.storage import Grouping, Storage, StoredRequest, Stores, Total
from app.storage.requests import RequestStore
from app.view_models.request_table import RequestRow, RequestTableModel
from app.view_models.transcript import RequestStats, TranscriptMessage, TranscriptModel

# Re-exported for views, which must not import the storage.
__all__ = ["Grouping", "Statistics", "Total"]

PAGE_ROWS = 200
LIVE_INTERVAL_MS = 100


class Statistics(QObject):
    """Recent requests for the table, totals by pair, language and content; clearing them."""

    totals_changed = Signal()
    older_changed = Signal()
    not_cleared = Signal(object)  # NotStored

    def __init__(
        self, storage: Storage, table: RequestTableModel, replies: RunningReplies, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._storage = storage
        self._table = table
        self.totals: dict[Grouping, list[Total]] = {}
        self.older = 0  # requests on disk older than the table's
        self._last = 0  # the table's oldest request of an earlier run
        self._bottom = 0  # the message of the table's oldest request, if it is of this run
        self._watched = False
        replies.stored.connect(self._count)
        table.trimmed.connect(self._on_trimmed)
        self.show_more()

    def show_more(self) -> None:
        """Add the next page of older requests."""
        last = self._last
        bottom = self._bottom

        def read(stores: Stores) -> tuple[list[StoredRequest], int]:
            return _page(stores.requests, stores.requests.last_of(bottom) if bottom else last)

        self._storage.count(read, lambda page: self._show_page((last, bottom), *page))

    def _on_trimmed(self) -> None:
        below = (row for row in reversed(self._table.rows) if not row.of_program)
        bottom = next(below, None)
        if bottom is None:
            self._last = 0
            self._bottom = 0
        else:
            self._last, self._bottom = (-bottom.key, 0) if bottom.key < 0 else (0, bottom.message_id)
        self._set_older(self.older + 1)

    def _show_page(self, below: tuple[int, int], stored: list[StoredRequest], older: int) -> None:
        """Requests that ended before the first page was read are in the table already."""
        if below != (self._last, self._bottom):
            return  # requested twice, or cleared meanwhile
        known = set() if any(below) else {row.message_id for row in self._table.rows if row.key > 0}
        self._table.add_older([_row(each) for each in stored if each.message_id not in known])
        if stored:
            self._last = stored[-1].id
            self._bottom = 0
        self._set_older(older)

    def _set_older(self, older: int) -> None:
        self.older = older
        self.older_changed.emit()

    def watch(self, watched: bool) -> None:
        """Count totals while they are shown."""
        self._watched = watched
        self._count()

    def clear(self) -> None:
        """Delete all finished requests. Replies keep their footers."""
        self._storage.write(lambda stores: stores.requests.clear(), lambda _: self._on_cleared(), self.not_cleared.emit)

    def _on_cleared(self) -> None:
        self._table.remove_ended()
        self._last = 0
        self._bottom = 0
        self._set_older(0)
        self._count()

    def _count(self) -> None:
        if not self._watched:
            return
        self._storage.count(
            lambda stores: {grouping: stores.requests.totals(grouping) for grouping in Grouping}, self._show
        )

    def _show(self, totals: dict[Grouping, list[Total]]) -> None:
        if totals != self.totals:
            self.totals = totals
            self.totals_changed.emit()


def _page(requests: RequestStore, before: int) -> tuple[list[StoredRequest], int]:
    found = requests.recent(PAGE_ROWS, before)
    return found, requests.older(found[-1].id) if found else 0


def _row(stored: StoredRequest) -> RequestRow:
    """Keys are positive for requests of this run, negative for earlier ones."""
    names = f"{stored.main_name} ← {stored.draft_name}" if stored.draft_name else stored.main_name
    return RequestRow(
        key=-stored.id,
        chat=stored.title,
        pair=names,
        status=stored.status,
        stats=stored.stats,
        chat_id=stored.chat_id if stored.title else 0,
        message_id=stored.message_id,
        at_s=stored.at_s,
    )


class Inspector(QObject):
    """Figures of the focused or latest reply, updated ten times a second while it runs. Idle while not watched."""

    changed = Signal()

    def __init__(self, transcript: TranscriptModel, replies: RunningReplies, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._replies = replies
        self._focused: int | None = None  # a message
        self._watched = False
        self.stats: RequestStats | None = None
        self.message_id = 0  # of the reply that they are of
        self.running = False
        self.of_starter = False
        self.model = ""  # that wrote the reply
        self._timer = QTimer(self, interval=LIVE_INTERVAL_MS)
        self._timer.timeout.connect(self._update)
        for signal in (
            transcript.was_reset,
            transcript.message_inserted,
            transcript.message_changed,
            transcript.messages_removed,
        ):
            signal.connect(self._update)

    def watch(self, watched: bool) -> None:
        self._watched = watched
        self._update()

    def focus(self, message_id: int | None) -> None:
        """Focus on a reply; None, or a message that is no reply: the latest reply."""
        if message_id != self._focused:
            self._focused = message_id
            self._update()

    def _update(self) -> None:
        if not self._watched:
            self._timer.stop()
            return
        message = self._message()
        self.message_id = 0 if message is None else message.id
        running = message is not None and message.under_way
        self.model = "" if message is None else message.model
        self.of_starter = self.model == STARTER_NAME
        stats = None if message is None else self._replies.stats_of(message.id) or message.stats
        if running != self._timer.isActive():
            (self._timer.start if running else self._timer.stop)()
        if (stats, running) != (self.stats, self.running):
            self.stats = stats
            self.running = running
            self.changed.emit()

    def _message(self) -> TranscriptMessage | None:
        focused = None if self._focused is None else self._transcript.message(self._focused)
        if focused is not None and not focused.from_user:
            return focused
        return next((each for each in reversed(self._transcript.messages) if not each.from_user), None)
