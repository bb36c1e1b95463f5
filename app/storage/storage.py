"""The chats for the app: small reads at once, changes and searches on their own threads.

One thread writes. A change is answered by `done` when it is on disk, or by `refused` when nothing of it is. Reads on
the owner's thread see answered changes, and never wait for a writer.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import TypeVar

from app.storage import copies, rescue
from app.storage.chats import QUICK_ASK, ChatStates, ChatStore, UnsentStore
from app.storage.consents import ConsentStore
from app.storage.database import Connection, NotOpened, NotStored, ReadConnection, address_of, reason_of
from app.storage.folders import FolderStore
from app.storage.messages import EditStore, MessageStore
from app.storage.new_chats import NewChats
from app.storage.opening import Database, MemoryDatabase
from app.storage.pictures import Pictures
from app.storage.records import Asked, ChatSummary, Purged, Question, ReplyStatus, ReplyText, StoredMessage
from app.storage.requests import RequestStore
from app.storage.search_index import KeptIndex, Progress, SearchIndex, can_be_damage
from app.storage.searching import KnownChats, Searching
from app.storage.trash import KEPT_S, Ages, Trash
from app.system.worker import Deliver, JobThread, ignore
from engine import EngineError, RequestStats

log = logging.getLogger(__name__)

_CLOSE_S = 10.0
_REPORT_S = 0.2  # between two reports of a running search

T = TypeVar("T")
ChatsFound = Callable[[list[ChatSummary]], None]


class Stores:
    """All stores over one connection, and transactions that change several of their tables."""

    def __init__(self, database: Connection) -> None:
        self.database = database
        self.chats = ChatStore(database)
        self.messages = MessageStore(database, self.chats)
        self.folders = FolderStore(database)
        self.trash = Trash(database)
        self.unsent = UnsentStore(database)
        self.requests = RequestStore(database)
        self.edits = EditStore(database)
        self.states = ChatStates(database)
        self.consents = ConsentStore(database)

    def ask(self, question: Question, *, aside: bool = False) -> Asked:
        """A message, the empty reply to it, and its chat if it is new. It waits there no longer to be sent, or in Quick
        Ask if it was written `aside`.
        """
        with self.database.transaction():
            chat_id = question.chat_id
            if question.is_new or not chat_id:
                chat_id = self.chats.create(question.title, question.folder_id, chat_id or None)
            if question.folder_id is not None:
                self.folders.set_opened(question.folder_id, True)
            if question.options:
                self.states.put_options(chat_id, question.options)
            self.unsent.drop_sent(QUICK_ASK if aside else question.chat_id, question.text, question.attachments)
            return self._add(question, chat_id)

    def ask_differently(self, original: StoredMessage, question: Question) -> Asked:
        """Store another version of a user's message with an empty reply; a first message names the chat."""
        with self.database.transaction():
            if original.parent_id is None:
                self.chats.set_title_from_text(original.chat_id, question.title)
            self.edits.drop(original.id)
            return self._add(question, original.chat_id)

    def _add(self, question: Question, chat_id: int) -> Asked:
        user_id = self.messages.add_user(chat_id, question.parent_id, question.text, question.attachments)
        reply_id = self.messages.begin_reply(chat_id, user_id, question.main_name, question.draft_name)
        return Asked(chat_id, user_id, reply_id)

    def ask_again(self, chat_id: int, user_id: int, main_name: str, draft_name: str) -> Asked:
        with self.database.transaction():
            return Asked(chat_id, user_id, self.messages.begin_reply(chat_id, user_id, main_name, draft_name))

    def end_reply(
        self,
        reply: ReplyText,
        status: ReplyStatus,
        stats: RequestStats,
        error: EngineError | None,
        drafting: str | None,
    ) -> None:
        """Store the end of a reply, and a row of its request unless it was stored before."""
        with self.database.transaction():
            under_way = self.database.row(
                "SELECT 1 FROM messages WHERE id = ? AND status = 'streaming'", (reply.message_id,)
            )
            self.messages.set_end(reply, status, stats, error, drafting)
            if under_way:
                self.requests.add(reply, status, stats)

    def forget_rewritten(self, covered: Iterable[tuple[int, int]]) -> None:
        """The search index has these changes; later ones of the same messages stay noted."""
        sql = "DELETE FROM rewritten WHERE message_id = ? AND times = ?"
        self.database.connection.executemany(sql, list(covered))

    def forget_rescue(self) -> None:
        """A notice has shown the rescue."""
        self.database.execute("DELETE FROM notes WHERE name = 'rescued'")


@contextmanager
def reader_at(address: str) -> Iterator[Stores]:
    """A reader of its own, for any thread."""
    with closing(ReadConnection(address)) as reader:
        yield Stores(reader)


@dataclass(frozen=True, slots=True)
class Opened:
    """The result of opening. `purged`: something was deleted for good, in this or an earlier run."""

    rescued: rescue.Rescued | None
    purged: bool


class Storage:
    """`deliver` has a call made on the owner's thread, which calls everything here."""

    def __init__(self, path: Path, deliver: Deliver) -> None:
        self.path = path
        self.pictures = Pictures(path)
        self._address = address_of(path)
        self.deliver = deliver
        self._writer = JobThread("storage writer", deliver)
        self._searcher = JobThread("storage reader", deliver)
        self._copier = JobThread("storage copier", deliver)
        self._database: Database | None = None  # used on the thread that writes
        self._searching: _Search | None = None
        self._index = KeptIndex(path)  # used on the searcher's thread
        self._known = KnownChats()  # used on the searcher's thread
        self._read: Stores | None = None
        self._numbers = count(1)  # of chats: those with a message and those without take them on two threads

    def open(self, done: Callable[[Opened], None], refused: Callable[[Exception], None]) -> None:
        """Check, rescue and migrate the file, purge the Trash, and open it for reading. May be repeated."""

        def opened(found: Opened) -> None:
            try:
                self._read = Stores(ReadConnection(self._address))
            except sqlite3.Error as error:
                refused(error)
                return
            if found.purged or found.rescued:
                self._drop_index()
            done(found)

        self._writer.ask(self._open, opened, refused)

    def open_in_memory(self, done: Callable[[Opened], None], refused: Callable[[Exception], None]) -> None:
        """For a run that must not write to the disk: the file stays unchanged, and nothing is kept."""
        self._writer.ask(self._close_database, ignore, ignore)  # it may be open although it refuses changes
        self._address = f"file:/hunch-{id(self)}?vfs=memdb&"
        self.pictures.keep_in_memory()
        self.open(done, refused)

    @property
    def pending(self) -> int:
        """Number of changes and searches without an answer."""
        return self._writer.pending + self._searcher.pending + self._copier.pending

    @property
    def keeps(self) -> bool:
        return self._address == address_of(self.path)

    def refusal(self, error: Exception) -> NotOpened:
        log.warning("the database cannot be opened: %s", _name(error))
        return NotOpened(reason_of(error, self.path), str(self.path.parent))

    def close(self, timeout_s: float = _CLOSE_S) -> bool:
        """Make every requested change, and close the file. False: the disk is too slow."""
        deadline = time.monotonic() + timeout_s
        self.stop_search()
        if self._read is not None:  # before the writer, which then can truncate the log
            self._read.database.close()
            self._read = None
        self._writer.ask(self._close_database, ignore, ignore)
        self._searcher.ask(self._index.close, ignore, ignore)
        workers = (self._searcher, self._copier, self._writer)
        ended = [worker.close(max(0.0, deadline - time.monotonic())) for worker in workers]
        return all(ended)

    def _open(self) -> Opened:
        if self._database is None:
            self._database = Database(self.path) if self.keeps else MemoryDatabase(self._address)
        stores = Stores(self._database)
        with self._database.waiting():
            self._database.execute("UPDATE messages SET status = 'interrupted' WHERE status = 'streaming'")
            stores.unsent.attach_long()
            self._take_numbers(stores)
            _forget_old(stores, self.path if self.keeps else None)
        self._known.note_change()
        return Opened(self._database.rescued, stores.trash.leaves_traces)

    def begin_new_chats(self, stores: Stores) -> None:
        """On the thread that writes, once words of earlier runs are back: a new chat gets what waits for one."""
        stores.unsent.attach_long()
        self._take_numbers(stores)
        stores.unsent.give_to_new_chat(self._numbers)

    def _take_numbers(self, stores: Stores) -> None:
        self._numbers = count(stores.chats.first_free())
        stores.database.chat_numbers = self._numbers

    @cached_property
    def new_chats(self) -> NewChats:
        return NewChats(self.read.unsent.of_new_chats(), self._numbers)

    def forget_traces(self) -> None:
        """At a start: delete from the copies what was deleted for good, once nothing else has it."""

        def cleaned(_outcome: None) -> None:
            self.write(lambda stores: stores.trash.forget_traces(), ignore, ignore)

        self._copier.ask(self._clean_copies, cleaned, _warn_of_copies)

    def _clean_copies(self) -> None:
        """On the thread that makes copies, so that none is being made."""
        if self.keeps:
            with self.another_reader() as stores:
                copies.forget_in_copies(self.path, stores.trash.traces)

    def _close_database(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _read_anew(self) -> None:
        if self._read is not None and isinstance(self._read.database, ReadConnection):
            self._read.database.open_anew()

    @property
    def read(self) -> Stores:
        """For small reads; SQLite refuses changes through it."""
        assert self._read is not None, "the storage is not open"
        return self._read

    def another_reader(self) -> AbstractContextManager[Stores]:
        """For another thread."""
        return reader_at(self._address)

    def search(self, query: str, limit: int, done: ChatsFound, so_far: ChatsFound = lambda _chats: None) -> None:
        """Search; ends an earlier search, which is then never answered. Unreadable rows are skipped.

        `so_far` is called now and then with the first results of a long search.
        """

        def report(chats: list[ChatSummary]) -> None:
            self.deliver(lambda: None if search.cancelled else so_far(chats))

        self.stop_search()
        search = self._searching = _Search(self._address, query, limit, self._known, report)

        def found(chats: list[ChatSummary]) -> None:
            if search.met_damage:
                self._drop_index()
            if not search.cancelled:
                done(chats)

        def failed(error: Exception) -> None:
            if not search.cancelled:
                log.warning("a search failed: %s", _name(error))
                done([])

        self._searcher.ask(lambda: search.run(self._index.get() if self.keeps else None), found, failed)

    def stop_search(self) -> None:
        if self._searching is not None:
            self._searching.cancel()

    # The search index: only the searcher's thread touches it

    def _know_chats(self) -> None:
        """Read chats and blocks of the index before the first search."""
        with self.another_reader() as stores:
            self._known.follow(stores.database)
        if (index := self._index.get()) is not None:
            index.know_blocks()

    def _drop_index(self) -> None:
        self._searcher.ask(self._index.drop, ignore, ignore)

    def _read_for_index(self) -> None:
        """Index a few messages at a time, so that searches need not wait."""

        def read(progress: Progress) -> None:
            if progress.rewritten:
                forget = progress.rewritten
                self._writer.ask(lambda: self._forget_rewritten(forget), ignore, ignore)
            if progress.more and self._read is not None:
                self._read_for_index()

        def failed(error: Exception) -> None:
            log.info("the search index is not up to date: %s", _name(error))
            if can_be_damage(error):
                self._drop_index()

        self._searcher.ask(self._catch_up, read, failed)

    def _catch_up(self) -> Progress:
        index = self._index.get()
        if index is None:
            return Progress()
        with self.another_reader() as stores:
            return index.catch_up(stores.database)

    def _forget_rewritten(self, covered: Iterable[tuple[int, int]]) -> None:
        if self._database is not None:
            Stores(self._database).forget_rewritten(covered)

    def count(
        self, question: Callable[[Stores], T], done: Callable[[T], None], failed: Callable[[], None] = lambda: None
    ) -> None:
        """For reads of all rows, on the searcher's thread. `failed` is called instead if a row cannot be read."""

        def run() -> T:
            with self.another_reader() as stores:
                return question(stores)

        def on_failed(error: Exception) -> None:
            log.warning("a count failed: %s", _name(error))
            failed()

        self._searcher.ask(run, done, on_failed)

    def write(
        self, change: Callable[[Stores], T], done: Callable[[T], None], refused: Callable[[NotStored], None]
    ) -> None:
        def change_it() -> T:
            if self._database is None:
                raise sqlite3.OperationalError("not open")
            if not self._database.is_in_place():
                self._database = self._database.put_back()
                self._database.chat_numbers = self._numbers
                self.deliver(self._read_anew)
                log.warning("the database was gone and was written anew")
            try:
                return change(Stores(self._database))
            finally:
                self._known.note_change()

        def failed(error: Exception) -> None:
            log.warning("a change was not stored: %s", _name(error))
            refused(NotStored(reason_of(error, self.path), str(self.path.parent)))
            if not isinstance(error, sqlite3.Error | OSError):
                raise error  # our own mistake, reported like any other

        self._writer.ask(change_it, done, failed)

    def forget(
        self, choose: Callable[[Trash], Purged], done: Callable[[Purged], None], refused: Callable[[NotStored], None]
    ) -> None:
        """Delete for good what `choose` takes out of the Trash, also in the log and the copies."""

        def change(stores: Stores) -> Purged:
            purged = choose(stores.trash)
            if self._database is not None:
                self._database.empty_log()
            return purged

        self.write(change, lambda purged: self._forget_in_index(partial(done, purged)), refused)

    def _forget_in_index(self, done: Callable[[], None]) -> None:
        then = partial(self._forget_in_copies, done)
        self._searcher.ask(self._index.drop, then, then)

    def _forget_in_copies(self, done: Callable[[], None], _outcome: object) -> None:
        then = partial(self._forget_pictures, done)
        self._copier.ask(self._clean_copies, then, then)

    def _forget_pictures(self, done: Callable[[], None], outcome: object) -> None:
        if isinstance(outcome, Exception):
            _warn_of_copies(outcome)
        self._writer.ask(lambda: self.pictures.sweep(self._database), lambda _: done(), ignore)

    def settle(self) -> None:
        """Checkpoint the log, update the search index, and make a copy if one is due."""
        self._writer.ask(self._checkpoint, ignore, ignore)
        if self.keeps:
            self._searcher.ask(self._know_chats, ignore, ignore)
            self._read_for_index()
            self._copier.ask(
                partial(copies.copy_if_due, self.path),
                ignore,
                lambda error: log.warning("a copy could not be made: %s", _name(error)),
            )

    def _checkpoint(self) -> None:
        if self._database is not None:
            self._database.checkpoint()


def _forget_old(stores: Stores, path: Path | None) -> None:
    """Delete old contents of the Trash, and old damaged files. `path`: of the database, if it is on the disk."""
    try:
        stores.trash.purge()
        if path is not None:
            rescue.forget_old(path, lambda moments: Ages(stores.database, "damaged").overdue(moments, KEPT_S))
    except (OSError, sqlite3.OperationalError) as error:
        log.warning("what was kept for its time stays until the next start: %s", _name(error))


class _Search:
    """A search, which any thread may interrupt."""

    def __init__(self, address: str, query: str, limit: int, known: KnownChats, report: ChatsFound) -> None:
        self.cancelled = False
        self.met_damage = False
        self._address = address
        self._query = query
        self._limit = limit
        self._known = known
        self._report = report
        self._reported = 0
        self._reports_at = 0.0
        self._read: list[Connection] = []
        self._lock = threading.Lock()

    def cancel(self) -> None:
        self.cancelled = True
        with self._lock:
            for each in self._read:
                each.connection.interrupt()

    def run(self, index: SearchIndex | None) -> list[ChatSummary]:
        if self.cancelled:
            return []
        self._reports_at = time.monotonic() + _REPORT_S
        reader = ReadConnection(self._address)
        with self._lock:
            self._read = [reader] if index is None else [reader, index.database]
        try:
            return self._find(reader, index)
        finally:
            with self._lock:
                self._read = []
            reader.close()

    def _goes_on(self, found: Sequence[ChatSummary]) -> bool:
        if len(found) > self._reported and time.monotonic() >= self._reports_at:
            self._reported = len(found)
            self._reports_at = time.monotonic() + _REPORT_S
            self._report(list(found))
        return not self.cancelled

    def _find(self, reader: ReadConnection, index: SearchIndex | None) -> list[ChatSummary]:
        try:
            return Searching(reader, index, self._goes_on, self._known).find(self._query, self._limit)
        except sqlite3.DatabaseError as error:
            if self.cancelled:
                return []
            found = Searching(reader, None, self._goes_on, self._known).find(self._query, self._limit)
            # The index was at fault, which is optional.
            self.met_damage = index is not None and not self.cancelled and can_be_damage(error)
            return found


def _warn_of_copies(error: Exception) -> None:
    log.warning("what was deleted for good may still be in a copy: %s", _name(error))


def _name(error: Exception) -> str:
    """For the log: messages of SQLite and the system, never a chat's text."""
    code = getattr(error, "sqlite_errorname", None)
    return str(code or (error.strerror if isinstance(error, OSError) else None) or type(error).__name__)
