"""The documents of projects and of chats: their list, reading them in the background, and searching them.

A place is a project's folder (its id), or a chat that has documents of its own (its negative id). Each
has a database (`app/storage/project_files`), changed by two threads: one for what the user does, one that reads files a
slice at a time, never while a reply is written. Searches run on threads of their own. Here are the latest lists, which
these threads make: the window's takes them as they are, whatever their length.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from threading import Lock
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.controllers.projects import Projects
from app.controllers.replies import RunningReplies
from app.documents.indexing import Indexing, files_within
from app.documents.problems import WhyNot
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
    free_name,
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
Named = Mapping[str, tuple[int, ProjectFile]]  # files that can be searched, by the name that a chat knows: place, file


@dataclass(frozen=True, slots=True, eq=False)
class FileList:
    """The files of a place, and what of them is asked for often. A file that has not changed is the same object."""

    files: Files = ()
    named: Named = field(default_factory=dict)
    ready: Files = ()
    is_reading: bool = False

    @classmethod
    def of(cls, placed: Collection[tuple[int, ProjectFile]]) -> FileList:
        files = tuple(file for _, file in placed)
        named = {each[1].name: each for each in placed if _has_text(each[1])}
        ready = tuple(each for each in files if each.state is FileState.READY)
        return cls(files, named, ready, any(each.state is FileState.READING for each in files))


class FileLists:
    """Makes the lists, on any thread; of a list that it has made before, only what has changed is read again."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._rows: dict[int, dict[int, tuple[int, ProjectFile]]] = {}  # by place and id
        self._numbers = count(1)

    def make(self, place: int, files: ProjectFiles) -> tuple[int, FileList]:
        """With a number: later lists have higher ones."""
        with self._lock:
            touched = files.touched()
            if place not in self._rows:
                self._rows[place] = {each.id: (place, each) for each in files.all()}
                touched = set()
            rows = self._rows[place]
            for file_id in sorted(touched):
                file = files.get(file_id)
                if file is None:
                    rows.pop(file_id, None)
                else:
                    rows[file_id] = place, file
            return next(self._numbers), FileList.of(rows.values())

    def number(self) -> int:
        return next(self._numbers)

    def forget(self, place: int) -> None:
        """Its database is another one now."""
        with self._lock:
            self._rows.pop(place, None)


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


_NONE = FileList()


def _ignore_place(_path: str, _text: str) -> None:
    """For a document that is not needed."""


class ProjectFilesController(QObject):
    changed = Signal(int)  # the place: its files, or how far they are read
    found = Signal()  # all places are known, and nothing of an earlier run is still to be put back
    left_out = Signal(int, int)  # place, how many files exceed the limits of a project
    refused = Signal(int, object)  # place, Reason: the disk does not take a change

    def __init__(self, storage: Storage, projects: Projects, replies: RunningReplies, parent: QObject) -> None:
        super().__init__(parent)
        self._storage = storage
        self._projects = projects
        self._replies = replies
        self._folder = storage.path.parent / _FOLDER
        self._known: dict[int, FileList] = {}
        self._work: dict[int, bool] = {}  # places that may have something to read; whether to look for changes first
        self._is_reading = False
        self._opened: dict[int, ProjectFiles] = {}  # used by the changes' thread
        self._indexing: dict[int, Indexing] = {}  # used by the reader's thread
        self._listed_at = 0.0
        self._lists = FileLists()
        self._numbers: dict[int, int] = {}  # of the list that is known, by place
        self._asked: list[int] = []  # places whose changes the changes' thread is asked for
        self._next: list[Callable[[], None]] = []  # what the changes' thread does once the reader has closed its own
        self._held: dict[int, list[Callable[[], None]]] = {}  # places whose database nothing may open, and what waits
        self._changes = JobThread("project files", storage.deliver)
        self._reader = JobThread("project reader", storage.deliver)
        replies.changed.connect(self._turn)

    def start(self, *, deletes: bool = True) -> None:
        """Know all places and go on reading. `deletes`: those whose project or chat is deleted."""
        if self._storage.keeps:
            new = self.database(-self._storage.new_chats.latest)
            self._changes.ask(partial(_rename_former, database_of(self._storage.path, 0), new), ignore, _warn)
            self._storage.count(_living, partial(self._sweep, deletes))

    def files(self, place: int) -> Files:
        """() also where they are not known yet."""
        return self.listed(place).files

    def listed(self, place: int) -> FileList:
        return self._known.get(place, _NONE)

    def has_text(self, place: int) -> bool:
        """Whether there is something to search."""
        return bool(self.listed(place).named)

    def places_of(self, chat_id: int, folder_id: int | None) -> tuple[int, ...]:
        """Where the documents of a chat in that folder are: its own, those of the folder and of the ones around it."""
        return tuple(filter(self.has_text, self._around(chat_id, folder_id)))

    def _around(self, chat_id: int, folder_id: int | None) -> tuple[int, ...]:
        if not any(each.files for each in self._known.values()):
            return ()
        return -chat_id, *reversed(self._projects.folders_around(folder_id))

    def by_name(self, places: Sequence[int]) -> Named:
        """Those that can be searched; one whose name another place's has goes by a longer one."""
        lists = [self.listed(place).named for place in places]
        if len(lists) < 2:
            return lists[0] if lists else {}
        found = dict(lists[0])
        numbers: dict[str, int] = {}
        for named in lists[1:]:
            if found.keys().isdisjoint(named):
                found |= named
                continue
            for place, file in named.values():
                free = file.name not in found
                name = file.name if free else free_name(Path(file.path or file.name), found.__contains__, numbers)
                found[name] = place, file
        return found

    def database(self, place: int) -> Path:
        return database_of(self._storage.path, place)

    def of_chats(self) -> dict[int, Files]:
        """By chat, the documents of its own."""
        return {-place: each.files for place, each in self._known.items() if place <= 0}

    def have_files(self, chats: Iterable[tuple[int, int | None]] | None) -> bool:
        """Whether these chats, each with its folder, or the folders around them have documents; None: any."""
        if chats is None:
            return any(each.files for each in self._known.values())
        return any(self.files(place) for chat in chats for place in self._around(*chat))

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
        """One without a file; nothing where one of that name is there."""
        self._change(place, lambda files: None if files.named(name) else files.add_text(name, text))

    def add_one(
        self,
        place: int,
        path: str,
        name: str,
        text: str,
        taken: Collection[str],
        done: Callable[[ProjectFile | None], None],
    ) -> None:
        """A file; or its text, if it is not there. `taken`: names that it does not get. `done` gets None if refused."""

        def add(files: ProjectFiles) -> ProjectFile | None:
            if text and not (path and Path(path).is_file()):
                return files.get(files.add_text(name, text, taken))
            files.add([Path(path)], taken)
            return files.at(Path(path))

        self._change(place, add, done, lambda: done(None))

    def take(self, place: int, name: str, done: Callable[[str, str], None] = _ignore_place) -> None:
        """The one of that name out of the place; `done` gets its path, or its text where it has none."""

        def take(files: ProjectFiles) -> tuple[int, str, str] | None:
            if (file := files.named(name)) is None:
                return None
            text = "" if file.path else files.text_of(file.id)
            files.remove([file.id])
            return file.id, file.path, text

        def taken(found: tuple[int, str, str] | None) -> None:
            if found is not None:
                self._stop_reading(place, found[:1])
                done(*found[1:])

        self._change(place, take, taken)

    def _stop_reading(self, place: int, ids: Iterable[int]) -> None:
        if (indexing := self._indexing.get(place)) is not None:
            indexing.stop_reading(frozenset(ids))

    def remove(self, place: int, ids: Iterable[int]) -> None:
        gone = frozenset(ids)
        self._stop_reading(place, gone)
        self._change(place, lambda files: files.remove(gone))

    def search(self, places: Sequence[int], question: str, limit: int, done: Callable[[list[Passage]], None]) -> None:
        """The best passages of all these places, with the names of `by_name`."""
        if self._waits(places, partial(self.search, places, question, limit, done)):
            return
        paths = {place: self.database(place) for place in places}
        named = self.by_name(places) if len(places) > 1 else {}
        names = {(paths[place], file.id): name for name, (place, file) in named.items() if name != file.name}

        def failed(error: Exception) -> None:
            done([])
            raise error

        job = partial(search_in, paths.values(), question, limit, self.hear_failed, names)
        ask_once("project search", self._storage.deliver, job, done, failed)

    def once_open(self, places: Sequence[int], then: Callable[[], None]) -> None:
        """`then` at once, or as soon as these databases are where they belong."""
        if not self._waits(places, partial(self.once_open, places, then)):
            then()

    def hear_failed(self, path: Path, error: sqlite3.Error) -> None:
        """A database could not be read, on any thread: a damaged one is made again."""
        if (place := _place_of(path)) is not None:
            self._storage.deliver(partial(self._on_failed, place, error))

    def text(self, place: int, file_id: int, done: Callable[[str], None], page: int | None = None) -> None:
        """All of a file, or a page of it; "" if it is not there."""
        if self._waits((place,), partial(self.text, place, file_id, done, page)):
            return
        path = self.database(place)

        def read() -> str:
            with reading(path) as files:
                return "" if files is None else files.text_of(file_id, page)

        def failed(error: Exception) -> None:
            done("")
            self._on_failed(place, error)

        ask_once("project text", self._storage.deliver, read, done, failed)

    def copy(self, place: int, to: int) -> None:
        """A copy of a chat has its documents, too."""
        files = self.files(place)
        if files or place in self._asked:
            self._known[to] = FileList.of([(to, each) for each in files])
            self._work[to] = False
            self._alone(to, partial(copy_database, self.database(place), self.database(to)))

    def delete_own(self, chats: Iterable[int]) -> None:
        """Of chats that were deleted for good."""
        for chat_id in chats:
            self.delete(-chat_id)

    def delete(self, place: int) -> None:
        """With all that was read."""
        if place in self._known:
            self._work.pop(place, None)
            del self._known[place]
            self._alone(place, partial(delete_database, self.database(place)))
            self.changed.emit(place)

    def close(self) -> bool:
        self._work.clear()
        for indexing in list(self._indexing.values()):
            indexing.stop_reading()
        self._reader.ask(lambda: self._close_indexing(list(self._indexing)), ignore, _warn)
        is_read = self._reader.close(_CLOSE_S)
        for job in self._next if is_read else ():
            self._changes.ask(job, ignore, _warn)
        self._changes.ask(lambda: self._close_files(list(self._opened)), ignore, _warn)
        return self._changes.close(_CLOSE_S) and is_read

    # On the owner's thread

    def _waits(self, places: Sequence[int], again: Callable[[], None]) -> bool:
        """Whether nothing may open one of these databases: then `again` follows."""
        held = next((place for place in places if place in self._held), None)
        if held is not None:
            self._held[held].append(again)
        return held is not None

    def _alone(self, place: int, job: Callable[[], None], then: Callable[[], None] = lambda: None) -> None:
        """Does it once no thread has the database open, `then` that; what is wanted of it meanwhile waits.

        INVARIANT: the last connection to a database that was deleted would take the files beside a new one for its own.
        """
        if self._waits((place,), partial(self._alone, place, job, then)):
            return
        self._held[place] = []
        if (indexing := self._indexing.get(place)) is not None:
            indexing.stop_reading()

        def close_and_do() -> None:
            self._close_files([place])
            job()
            self._lists.forget(place)

        def done(outcome: object) -> None:
            for again in self._held.pop(place, ()):
                again()
            if not isinstance(outcome, Exception):
                then()
            self._turn()
            if isinstance(outcome, Exception):
                self._refuse(place, outcome)

        def begin(_closed: None) -> None:
            self._next.remove(close_and_do)
            self._changes.ask(close_and_do, done, done)

        self._next.append(close_and_do)
        self._reader.ask(partial(self._close_indexing, [place]), begin, _warn)

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
        self._known.setdefault(place, _NONE)
        if self._waits((place,), partial(self._change, place, change, done, failed, again=again)):
            return
        self._asked.append(place)

        def run() -> tuple[T, int, FileList]:
            if place not in self._opened:
                self._opened[place] = open_files(self.database(place))
            files = self._opened[place]
            outcome = change(files)
            return outcome, *self._lists.make(place, files)

        def changed(answer: tuple[T, int, FileList]) -> None:
            self._asked.remove(place)
            self._put(place, *answer[1:])
            self._go_on(place)
            done(answer[0])
            self._turn()

        def on_failed(error: Exception) -> None:
            self._asked.remove(place)
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

        def read(answer: tuple[bool, int, FileList | None]) -> None:
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
        """With reading, unless the place is deleted."""
        if place in self._known:
            self._work.setdefault(place, False)

    def _put(self, place: int, number: int, files: FileList) -> None:
        """Unless another thread has made a later list, or it is one of what was there before."""
        is_later = place not in self._held and number > self._numbers.get(place, 0)
        if is_later and (place not in self._known or files.files != self.files(place)):
            self._numbers[place] = number
            self._known[place] = files
            self.changed.emit(place)

    def _on_failed(self, place: int, error: Exception) -> None:
        if place in self._held or place not in self._known:  # it is being made again, or deleted
            return
        if _is_damaged(error):
            _log.info("documents of a project are read anew: their database is damaged")
            made = partial(self._go_on, place)  # where the disk refuses it, it waits for the next use
            make = partial(make_anew, self.database(place), self.files(place), WhyNot.DAMAGED)
            self._alone(place, make, made)
        else:
            self._refuse(place, error)

    def _refuse(self, place: int, error: Exception) -> None:
        if not isinstance(error, sqlite3.Error | OSError):
            raise error  # our own mistake, reported like any other
        _warn(error)
        self.refused.emit(place, reason_of(error, self.database(place)))

    def _sweep(self, deletes: bool, living: set[int]) -> None:
        """`living`: the places that may have documents, beside those that have some by now."""
        living |= self._known.keys()

        def look() -> dict[int, FileList]:
            found: dict[int, FileList] = {}
            for file in sorted(self._folder.glob("*")) if self._folder.is_dir() else ():
                place = _place_of(file)
                with suppress(OSError):
                    if place in living and place is not None:
                        found[place] = FileList.of([(place, each) for each in files_in(file)])
                    elif place is not None and deletes:
                        delete_database(file)
                    elif ".new" in file.name:  # a run that ended before it was whole
                        file.unlink()
            return found

        def known(found: dict[int, FileList]) -> None:
            for place, files in found.items():
                self._put(place, self._lists.number(), files)
                self._work[place] = True
            self._turn()
            if deletes:
                self.found.emit()

        self._changes.ask(look, known, _warn)

    # On the two threads

    def _step(self, place: int, looks: bool) -> tuple[bool, int, FileList | None]:
        if place not in self._indexing:
            self._indexing[place] = Indexing(open_files(self.database(place)))
        indexing = self._indexing[place]
        if looks:
            indexing.look()
        more = indexing.step()
        if more and time.monotonic() < self._listed_at + _SHOWN_AGAIN_S:
            return more, 0, None
        self._listed_at = time.monotonic()
        return more, *self._lists.make(place, indexing.files)

    def _close_indexing(self, places: Sequence[int]) -> None:
        for place in places:
            if (indexing := self._indexing.pop(place, None)) is not None:
                indexing.close()

    def _close_files(self, places: Sequence[int]) -> None:
        for place in places:
            if (files := self._opened.pop(place, None)) is not None:
                files.close()


def _rename_former(path: Path, to: Path) -> None:
    """Earlier versions had this one for the chat without a message."""
    if path.exists():
        rename_database(path, to)


def _living(stores: Stores) -> set[int]:
    """Places of folders and chats, also of those in the Trash."""
    rows = stores.database.rows("SELECT id, folder_id FROM chats")
    folders = {each.id for each in stores.folders.all()} | {row["folder_id"] for row in rows}
    chats = (*(row["id"] for row in rows), *stores.unsent.of_new_chats())
    return {*(-each for each in chats), *(each for each in folders if isinstance(each, int))}


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
