"""The documents of projects and of chats: their list, reading them in the background, and searching them.

A place is a project's folder (its id), or a chat that has documents of its own (its negative id; 0: the new chat). Each
has a database (`app/storage/project_files`), changed by two threads: one for what the user does, one that reads files a
slice at a time, never while a reply is written. Searches run on threads of their own. Here are the latest lists.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.controllers.replies import RunningReplies
from app.documents.indexing import Indexing, files_within
from app.storage import Storage, Stores
from app.storage.database import Reason, is_damage, reason_of
from app.storage.project_files import (
    Added,
    FileState,
    Passage,
    ProjectFile,
    ProjectFiles,
    copy_database,
    delete_database,
    make_anew,
    open_files,
    reading,
    rename_database,
    search_in,
)
from app.system.worker import JobThread, ask_once, ignore

_FOLDER = "projects"
_SHOWN_AGAIN_S = 0.3  # between two lists of a project that is being read
_CLOSE_S = 5.0
_KEY = re.compile(r"(chat-)?([0-9]+)\.db")

_log = logging.getLogger(__name__)
T = TypeVar("T")

Files = tuple[ProjectFile, ...]


def database_of(chats: Path, place: int) -> Path:
    """Beside the database of the chats."""
    return chats.parent / _FOLDER / (f"{place}.db" if place > 0 else f"chat-{-place}.db")


def files_in(database: Path) -> Files:
    """() where it cannot be read: that is met again as soon as it is opened."""
    try:
        with reading(database) as files:
            return () if files is None else tuple(files.all())
    except sqlite3.Error:
        return ()


class ProjectFilesController(QObject):
    changed = Signal(int)  # the place: its files, or how far they are read
    left_out = Signal(int, int)  # place, how many files exceed the limits of a project
    refused = Signal(int, object)  # place, Reason: the disk does not take a change

    def __init__(self, storage: Storage, replies: RunningReplies, parent: QObject) -> None:
        super().__init__(parent)
        self._storage = storage
        self._replies = replies
        self._folder = storage.path.parent / _FOLDER
        self._known: dict[int, Files] = {}
        self._work: dict[int, bool] = {}  # places that may have something to read; whether to look for changes first
        self._is_reading = False
        self._opened: dict[int, ProjectFiles] = {}  # used by the changes' thread
        self._indexing: dict[int, Indexing] = {}  # used by the reader's thread
        self._listed_at = 0.0
        self._numbers: dict[int, int] = {}  # of the list that is known, by place
        self._count = count(1)
        self._held: dict[int, list[Callable[[], None]]] = {}  # places whose database nothing may open, and what waits
        self._changes = JobThread("project files", storage.deliver)
        self._reader = JobThread("project reader", storage.deliver)
        replies.changed.connect(self._turn)

    def start(self) -> None:
        """Know all places, delete those whose project or chat is deleted, and go on reading."""
        if self._storage.keeps:
            self._storage.count(_living, self._sweep)

    def files(self, place: int) -> Files:
        """() also where they are not known yet."""
        return self._known.get(place, ())

    def has_text(self, place: int) -> bool:
        """Whether there is something to search."""
        return any(map(_has_text, self.files(place)))

    def places_of(self, chat_id: int, folder_id: int | None) -> tuple[int, ...]:
        """Where the documents of a chat in that folder are: its own, those of the folder and of the ones around it."""
        return tuple(filter(self.has_text, self._around(chat_id, folder_id)))

    def _around(self, chat_id: int, folder_id: int | None) -> tuple[int, ...]:
        if not any(self._known.values()):
            return ()
        return -chat_id, *reversed(self._storage.read.folders.around(folder_id))

    def by_name(self, places: Iterable[int]) -> dict[str, tuple[Path, int]]:
        """The database and the id of each that can be searched; of two with a name the first."""
        found: dict[str, tuple[Path, int]] = {}
        for place in places:
            database = self.database(place)
            for file in self.files(place):
                if _has_text(file):
                    found.setdefault(file.name, (database, file.id))
        return found

    def database(self, place: int) -> Path:
        return database_of(self._storage.path, place)

    def look(self, chat_id: int, folder_id: int | None) -> None:
        """Read what has changed since of the documents of a chat in that folder."""
        self._work |= dict.fromkeys(self._known.keys() & self._around(chat_id, folder_id), True)
        self._turn()

    def add(self, place: int, paths: Iterable[str | Path]) -> None:
        """Files, and those in folders among them."""
        chosen = [Path(each) for each in paths]

        def added(outcome: Added) -> None:
            if outcome.left_out:
                self.left_out.emit(place, outcome.left_out)

        self._change(place, lambda files: files.add(files_within(chosen)), added)

    def add_text(self, place: int, name: str, text: str) -> None:
        self._change(place, lambda files: files.add_text(name, text))

    def add_one(
        self, place: int, path: str, name: str, text: str, done: Callable[[ProjectFile | None, bool], None]
    ) -> None:
        """A file; or its text, if it is not there. `done`: what it is here (None: refused), and whether that is new."""

        def add(files: ProjectFiles) -> tuple[ProjectFile | None, bool]:
            if text and not (path and Path(path).is_file()):
                return files.get(files.add_text(name, text)), True
            new = bool(files.add([Path(path)]).ids)
            return files.at(Path(path)), new

        self._change(place, add, lambda found: done(*found), lambda: done(None, False))

    def remove(self, place: int, ids: Iterable[int]) -> None:
        gone = frozenset(ids)
        if (indexing := self._indexing.get(place)) is not None:
            indexing.stop_reading(gone)
        self._change(place, lambda files: files.remove(gone))

    def search(self, places: Sequence[int], question: str, limit: int, done: Callable[[list[Passage]], None]) -> None:
        """The best passages of all these places."""
        paths = [self.database(place) for place in places]

        def failed(error: Exception) -> None:
            done([])
            raise error

        self._read(lambda: search_in(paths, question, limit, self.hear_failed), done, failed)

    def hear_failed(self, path: Path, error: sqlite3.Error) -> None:
        """A database could not be read, on any thread: a damaged one is made again."""
        if (place := _place_of(path)) is not None:
            self._storage.deliver(partial(self._on_failed, place, error))

    def text(self, place: int, file_id: int, done: Callable[[str], None], page: int | None = None) -> None:
        """All of a file, or a page of it; "" if it is not there."""
        path = self.database(place)

        def read() -> str:
            with reading(path) as files:
                return "" if files is None else files.text_of(file_id, page)

        def failed(error: Exception) -> None:
            done("")
            self._on_failed(place, error)

        self._read(read, done, failed)

    def move(self, place: int, to: int) -> None:
        """The new chat is stored: its documents go with it."""
        if place in self._known:
            self._known[to] = self._forget(place)
            self._work[to] = False
            self._alone((place, to), partial(rename_database, self.database(place), self.database(to)))

    def copy(self, place: int, to: int) -> None:
        """A copy of a chat has its documents, too."""
        if files := self.files(place):
            self._known[to] = files
            self._work[to] = False
            self._alone((to,), partial(copy_database, self.database(place), self.database(to)))

    def delete_own(self, chats: Iterable[int]) -> None:
        """Of chats that were deleted for good."""
        for chat_id in chats:
            self.delete(-chat_id)

    def delete(self, place: int) -> None:
        """With all that was read."""
        if place in self._known:
            self._forget(place)
            self._alone((place,), partial(delete_database, self.database(place)))
            self.changed.emit(place)

    def _forget(self, place: int) -> Files:
        self._work.pop(place, None)
        return self._known.pop(place)

    def close(self) -> bool:
        self._work.clear()
        for indexing in list(self._indexing.values()):
            indexing.stop_reading()
        self._reader.ask(lambda: self._close_indexing(list(self._indexing)), ignore, _warn)
        self._changes.ask(lambda: self._close_files(list(self._opened)), ignore, _warn)
        return all([self._reader.close(_CLOSE_S), self._changes.close(_CLOSE_S)])

    # On the owner's thread

    def _read(self, job: Callable[[], T], done: Callable[[T], None], failed: Callable[[Exception], None]) -> None:
        ask_once("project search", self._storage.deliver, job, done, failed)

    def _alone(self, places: Sequence[int], job: Callable[[], None], then: Callable[[], None] = lambda: None) -> None:
        """Does it once no thread has one of these databases open, `then` that; what is wanted of them meanwhile waits.

        INVARIANT: the last connection to a database that was deleted or renamed would take the files beside the new one
        for its own.
        """
        held = next((place for place in places if place in self._held), None)
        if held is not None:
            self._held[held].append(partial(self._alone, places, job, then))
            return
        self._held |= {place: [] for place in places}
        for place in places:
            if (indexing := self._indexing.get(place)) is not None:
                indexing.stop_reading()

        def close_and_do() -> None:
            self._close_files(places)
            job()

        def done(outcome: object) -> None:
            for again in chain.from_iterable(self._held.pop(place, ()) for place in places):
                again()
            if not isinstance(outcome, Exception):
                then()
            self._turn()
            if isinstance(outcome, Exception):
                self._refuse(places[-1], outcome)

        close = partial(self._close_indexing, places)
        self._reader.ask(close, lambda _: self._changes.ask(close_and_do, done, done), _warn)

    def _change(
        self,
        place: int,
        change: Callable[[ProjectFiles], T],
        done: Callable[[T], None] = ignore,
        failed: Callable[[], None] = lambda: None,
        *,
        again: bool = True,
    ) -> None:
        """`again`: also where the database is damaged, in a new one."""
        if not self._storage.keeps:
            self.refused.emit(place, Reason.READ_ONLY)
            failed()
            return
        self._known.setdefault(place, ())
        if place in self._held:
            self._held[place].append(partial(self._change, place, change, done, failed, again=again))
            return

        def run() -> tuple[T, int, Files]:
            if place not in self._opened:
                self._opened[place] = open_files(self.database(place))
            files = self._opened[place]
            outcome = change(files)
            return outcome, *self._list(files)

        def changed(answer: tuple[T, int, Files]) -> None:
            self._put(place, *answer[1:])
            self._go_on(place)
            done(answer[0])
            self._turn()

        def on_failed(error: Exception) -> None:
            if again and _is_damaged(error):
                self._on_failed(place, error)
                self._change(place, change, done, failed, again=False)
            else:
                failed()
                self._on_failed(place, error)

        self._changes.ask(run, changed, on_failed)

    def _turn(self) -> None:
        """Have the next slice read, unless a reply is being written."""
        place = next((place for place in self._work if place not in self._held), None)
        if self._is_reading or place is None or self._replies.chats():
            return
        looks = self._work.pop(place)
        self._is_reading = True

        def read(answer: tuple[bool, int, Files | None]) -> None:
            self._is_reading = False
            more, number, files = answer
            if files is not None:
                self._put(place, number, files)
            if more:
                self._go_on(place)
            self._turn()

        def failed(error: Exception) -> None:
            self._is_reading = False
            self._on_failed(place, error)
            self._turn()

        self._reader.ask(partial(self._step, place, looks), read, failed)

    def _go_on(self, place: int) -> None:
        """With reading, unless the place is deleted or moved."""
        if place in self._known:
            self._work.setdefault(place, False)

    def _put(self, place: int, number: int, files: Files) -> None:
        """Unless another thread has made a later list, or it is one of what was there before."""
        if place not in self._held and number > self._numbers.get(place, 0) and files != self._known.get(place):
            self._numbers[place] = number
            self._known[place] = files
            self.changed.emit(place)

    def _on_failed(self, place: int, error: Exception) -> None:
        if place in self._held or place not in self._known:  # it is being made again, or deleted
            return
        if _is_damaged(error):
            _log.info("documents of a project are read anew: their database is damaged")
            paths = [Path(each.path) for each in self.files(place) if each.path]
            made = partial(self._go_on, place)  # where the disk refuses it, it waits for the next use
            self._alone((place,), partial(make_anew, self.database(place), paths), made)
        else:
            self._refuse(place, error)

    def _refuse(self, place: int, error: Exception) -> None:
        if not isinstance(error, sqlite3.Error | OSError):
            raise error  # our own mistake, reported like any other
        _warn(error)
        self.refused.emit(place, reason_of(error, self.database(place)))

    def _sweep(self, living: set[int]) -> None:
        """`living`: the places that may have documents."""

        def look() -> dict[int, Files]:
            found: dict[int, Files] = {}
            for file in sorted(self._folder.glob("*")) if self._folder.is_dir() else ():
                place = _place_of(file)
                with suppress(OSError):
                    if place in living and place is not None:
                        found[place] = files_in(file)
                    elif place is not None:
                        delete_database(file)
                    elif ".new" in file.name:  # a run that ended before it was whole
                        file.unlink()
            return found

        def known(found: dict[int, Files]) -> None:
            for place, files in found.items():
                self._put(place, next(self._count), files)
                self._work[place] = True
            self._turn()

        self._changes.ask(look, known, _warn)

    # On the two threads

    def _list(self, files: ProjectFiles) -> tuple[int, Files]:
        number = next(self._count)
        return number, tuple(files.all())

    def _step(self, place: int, looks: bool) -> tuple[bool, int, Files | None]:
        if place not in self._indexing:
            self._indexing[place] = Indexing(open_files(self.database(place)))
        indexing = self._indexing[place]
        if looks:
            indexing.look()
        more = indexing.step()
        if more and time.monotonic() < self._listed_at + _SHOWN_AGAIN_S:
            return more, 0, None
        self._listed_at = time.monotonic()
        return more, *self._list(indexing.files)

    def _close_indexing(self, places: Sequence[int]) -> None:
        for place in places:
            if (indexing := self._indexing.pop(place, None)) is not None:
                indexing.close()

    def _close_files(self, places: Sequence[int]) -> None:
        for place in places:
            if (files := self._opened.pop(place, None)) is not None:
                files.close()


def _living(stores: Stores) -> set[int]:
    """Places of folders and chats, also of those in the Trash."""
    rows = stores.database.rows("SELECT id, folder_id FROM chats")
    folders = {each.id for each in stores.folders.all()} | {row["folder_id"] for row in rows}
    return {0, *(-row["id"] for row in rows), *(each for each in folders if isinstance(each, int))}


def _has_text(file: ProjectFile) -> bool:
    """Whether it can be searched."""
    return file.characters > 0 and file.state is not FileState.MISSING


def _place_of(database: Path) -> int | None:
    key = _KEY.fullmatch(database.name)
    if key is None:
        return None
    return -int(key[2]) if key[1] else int(key[2])


def _is_damaged(error: Exception) -> bool:
    return isinstance(error, sqlite3.Error) and is_damage(error)


def _warn(error: Exception) -> None:
    _log.warning("documents of a project: %s", getattr(error, "sqlite_errorname", None) or type(error).__name__)
