"""Exporting chats: one, several or all, as Markdown or JSON, on a thread, all or nothing."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.controllers.chat_options import ChatOptions
from app.controllers.project_files import ProjectFilesController, database_of, files_in
from app.portable import own
from app.portable.documents import Document, Folder, write_documents
from app.portable.markdown import MarkdownWords
from app.portable.problems import NotExported, why_not_written
from app.portable.unfinished import Unfinished
from app.portable.writing import free_place, write_json, write_markdown, write_markdown_folder
from app.storage import NotStored, Pictures, Storage, Stores, portable
from app.storage.database import reason_of
from app.storage.portable import PortableChat
from app.storage.project_files import reading
from app.system.limited_child import ChildStopped, Stop
from app.system.worker import JobThread, ignore

_CLOSE_S = 5.0
_REPORT_S = 0.1
MOST_PICTURE_BYTES = 2 << 30  # in all: with them and its words a file is less than an import reads


class ExportFormat(StrEnum):
    MARKDOWN = "markdown"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """`chats` None: all. `path`: a file; for other than one chat as Markdown a new folder.

    `with_files`: documents of the chats and their projects, too, in a folder beside it, or in that folder.
    """

    chats: Sequence[int] | None
    form: ExportFormat
    path: Path
    with_files: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """The result. `too_many`: pictures over the limit of a chat; `unreadable`: damaged ones; `lost`: documents."""

    chats: int
    path: Path
    too_many: int = 0
    unreadable: int = 0
    lost: int = 0


class _Pictures:
    """Picture files of one export, and which pictures it lacks."""

    def __init__(self, stored: Pictures) -> None:
        self._stored = stored
        self._left_bytes = MOST_PICTURE_BYTES
        self._unreadable = set[str]()
        self._left_out = set[str]()

    def get(self, digest: str) -> bytes | None:
        data = self._stored.get(digest)
        if data is None:
            self._unreadable.add(digest)
        return data

    def _within_limit(self, digest: str) -> bytes | None:
        data = self.get(digest)
        self._left_bytes -= len(data or b"")
        return data if self._left_bytes >= 0 else None

    def put_into(self, chats: Iterable[PortableChat]) -> Iterator[PortableChat]:
        for chat in chats:
            whole = own.with_bytes(chat, self._within_limit)
            self._left_out |= own.without_bytes(whole)
            yield whole

    def counted(self, exported: Exported) -> Exported:
        too_many = len(self._left_out - self._unreadable)
        return replace(exported, too_many=too_many, unreadable=len(self._unreadable))


class ExportController(QObject):
    progress = Signal(int, int)  # chats done, of how many
    finished = Signal(object)  # Exported
    failed = Signal(object)  # NotExported or NotStored
    cancelled = Signal()

    def __init__(
        self,
        storage: Storage,
        options: ChatOptions,
        documents: ProjectFilesController,
        keep: Callable[[], None],
        parent: QObject,
    ) -> None:
        """`keep`: stores what is on the screen and not on its way to the disk."""
        super().__init__(parent)
        self._keep = keep
        self._documents = documents
        self._storage = storage
        self._options = options
        self._worker = JobThread("exporter", storage.deliver)
        self._stop: Stop | None = None
        self._unfinished = Unfinished(storage.path.parent)
        self._worker.ask(self._unfinished.remove, ignore, ignore)

    def have_files(self, chats: Sequence[int] | None) -> bool:
        """Whether these chats, or their projects, have documents."""
        return self._documents.have_files(
            None if chats is None else [(each, self._options.folder_of(each)) for each in chats]
        )

    def export(self, wanted: ExportRequest, words: MarkdownWords) -> None:
        """One at a time."""
        self._stop = stop = Stop()
        self._keep()
        presets = self._options.presets_of(wanted.chats)

        def known(identity: str) -> None:
            self._worker.ask(
                lambda: self._write(wanted, words, presets, identity, stop),
                self.finished.emit,
                lambda error: self._on_failed(error, wanted.path),
            )

        self._storage.write(portable.identity, known, self.failed.emit)

    def cancel(self) -> None:
        if self._stop is not None:
            self._stop.ask()

    def close(self) -> None:
        self.cancel()
        self._worker.close(_CLOSE_S)

    # On the thread

    def _write(
        self, wanted: ExportRequest, words: MarkdownWords, presets: Sequence[dict[str, Any]], identity: str, stop: Stop
    ) -> Exported:
        with self._storage.another_reader() as stores, self._unfinished.beside(wanted.path) as made:
            numbers = portable.chat_ids(stores.database) if wanted.chats is None else wanted.chats
            lost = write_documents(self._documents_of(stores, numbers), made, stop) if wanted.with_files else 0
            exported = self._write_chats(stores, numbers, wanted, words, presets, identity, stop)
            if made.exists():
                made.rename(_beside(exported.path, words.files))
            return replace(exported, lost=lost)

    def _write_chats(
        self,
        stores: Stores,
        numbers: Sequence[int],
        wanted: ExportRequest,
        words: MarkdownWords,
        presets: Sequence[dict[str, Any]],
        identity: str,
        stop: Stop,
    ) -> Exported:
        chats = portable.chats(stores.database, numbers, identity, self._files_of, self._texts_of)
        pictures = _Pictures(self._storage.pictures)
        report = self._reporter(len(numbers))
        if wanted.form is ExportFormat.JSON:
            count = write_json(pictures.put_into(chats), wanted.path, self._unfinished, stop, report, presets)
            return pictures.counted(Exported(count, wanted.path))
        if wanted.chats is not None and len(wanted.chats) == 1:
            chat = next(chats, None)
            if chat is not None:
                write_markdown(chat, words, wanted.path, self._unfinished, pictures.get)
            return pictures.counted(Exported(int(chat is not None), wanted.path))
        made = write_markdown_folder(chats, words, wanted.path, self._unfinished, stop, report, pictures.get)
        return pictures.counted(Exported(len(numbers), made))

    def _documents_of(self, stores: Stores, numbers: Sequence[int]) -> Iterator[Folder]:
        """Of the folders around each chat, then its own; those of a database that cannot be read are left out."""
        names = {each.id: each.name for each in stores.folders.all()}
        titles: dict[int, str] = {}
        for number in numbers:
            chat = stores.chats.summary(number)
            if chat is not None:
                titles |= {each: names.get(each, "") for each in stores.folders.around(chat.folder_id)}
                titles[-number] = chat.title
        for place, title in titles.items():
            with suppress(sqlite3.Error), reading(database_of(self._storage.path, place)) as files:
                if files is not None and (found := files.all()):
                    yield title, [Document(each.name, each.path, partial(files.text_of, each.id)) for each in found]

    def _texts_of(self, chat_id: int) -> dict[str, str]:
        """By name, those of the chat's documents that are in no file."""
        with suppress(sqlite3.Error), reading(database_of(self._storage.path, -chat_id)) as files:
            found = [] if files is None else files.all()
            return {each.name: files.text_of(each.id) for each in found if files is not None and not each.path}
        return {}

    def _files_of(self, folder_id: int) -> list[str]:
        return [each.name for each in files_in(database_of(self._storage.path, folder_id))]

    def _reporter(self, total: int) -> Callable[[int], None]:
        """Reports progress, as often as it can be shown."""
        last_s = 0.0

        def report(done: int) -> None:
            nonlocal last_s
            if time.monotonic() - last_s >= _REPORT_S or done == total:
                last_s = time.monotonic()
                self._storage.deliver(lambda: self.progress.emit(done, total))

        return report

    # Back on the GUI thread

    def _on_failed(self, error: Exception, path: Path) -> None:
        if isinstance(error, OSError):
            self.failed.emit(NotExported(why_not_written(error), str(path.parent)))
            return
        if isinstance(error, sqlite3.Error):
            where = self._storage.path
            self.failed.emit(NotStored(reason_of(error, where), str(where.parent)))
            return
        self.cancelled.emit()
        if not isinstance(error, ChildStopped):
            raise error  # our own mistake, reported like any other


def _beside(exported: Path, word: str) -> Path:
    """Where the documents of an export go."""
    return free_place(exported / word if exported.is_dir() else exported.with_name(f"{exported.stem} - {word}"))
