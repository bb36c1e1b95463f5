"""Importing chats: a preview of files, then an import in steps that can be cancelled and undone."""

from __future__ import annotations

import base64
import binascii
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.controllers.chat import ChatController
from app.documents.pictures import MOST_BYTES, kind_of, picture_of
from app.documents.problems import Refused, WhyNot
from app.documents.reading import Keep, Progress, kept
from app.portable import own
from app.portable.json_stream import loads
from app.portable.reading import FoundChats, find_chats
from app.storage import Attachment, AttachmentKind, NotStored, Storage, Stores, portable
from app.storage.database import reason_of
from app.storage.portable import Grown, Importing, Known, PortableChat, with_files
from app.system.limited_child import ChildStopped, Stop
from app.system.worker import JobThread, ignore

_CLOSE_S = 5.0
_PREFIX = "import-"
_PREFIX_ELSEWHERE = "hunch-import-"  # of folders with what waits to be imported
_OLD_S = 86_400
_SIGN = b'"kind": "picture"'  # as our own files have it


@dataclass(frozen=True, slots=True)
class Preview:
    """What an import would add. `here`: existing chats; `presets`: new ones; `lost`: missing or damaged pictures."""

    found: FoundChats
    here: int
    presets: int = 0
    lost: int = 0

    @property
    def chats(self) -> int:
        return len(self.found.origins)


@dataclass(frozen=True, slots=True)
class Imported:
    ids: tuple[int, ...]
    grown: tuple[Grown, ...] = ()
    presets: tuple[str, ...] = ()  # their ids
    folders: Collection[int] = ()  # that it made


@dataclass(eq=False, slots=True)
class _Reading:
    """Files that are read into a folder of their own, where their chats wait to be imported."""

    paths: tuple[str, ...]
    stop: Stop = field(default_factory=Stop)
    folder: Path | None = None  # set by the thread
    pictures: set[str] = field(default_factory=set)  # stored for it, by the thread
    is_over: bool = False  # the thread is done with it


class ImportController(QObject):
    progress = Signal(float)  # share done: of reading, then of pictures, then of storing
    previewed = Signal(object)  # Preview
    imported = Signal(object)  # Imported
    not_stored = Signal(object)  # NotStored; `try_again` goes on, `cancel` undoes the import
    cancelled = Signal()

    def __init__(self, storage: Storage, chats: ChatController) -> None:
        super().__init__(chats)
        self._storage = storage
        self._chats = chats
        self._worker = JobThread("importer", storage.deliver)
        self._reading: _Reading | None = None  # what is read, or previewed
        self._importing: Importing | None = None
        self._is_stepping = False  # a step is being stored
        self._is_taking_back = False  # what was cancelled is being undone; `cancelled` follows
        self._presets: tuple[dict[str, Any], ...] = ()  # presets to import
        self._total = 0
        self._wants_end = False
        self._worker.ask(lambda: _remove_unfinished(storage.path.parent), ignore, ignore)

    def ask_whether_ours(self, path: str, answer: Callable[[bool], None]) -> None:
        """Whether a file has chats that Hunch exported."""
        self._worker.ask(lambda: own.is_export(Path(path)), answer, lambda _error: answer(False))

    def look(self, paths: Sequence[str]) -> None:
        """Read files and folders; emits `previewed`, `not_stored` or `cancelled`."""
        self.discard()
        self._reading = reading = _Reading(tuple(paths))
        self._worker.ask(
            lambda: self._read(reading), partial(self._on_read, reading), partial(self._on_not_read, reading)
        )

    def _read(self, reading: _Reading) -> Preview:
        """Runs on the thread."""

        def keep(png: bytes) -> str:
            digest = self._storage.pictures.put(png)
            reading.pictures.add(digest)
            return digest

        reading.stop.check()
        reading.folder = new_folder(self._storage.path.parent)
        paths = [Path(path) for path in reading.paths]
        found = find_chats(paths, reading.folder / "chats", reading.stop, self._report)
        unread = keep_pictures(found.spool, keep, reading.stop, self._report)
        with self._storage.another_reader() as stores:
            here = _count_here(found, Known(stores)) if found.origins else 0
            return Preview(found, here, lost=found.missing + unread)

    def _report(self, share: float) -> None:
        self._storage.deliver(lambda: self.progress.emit(share))

    def _on_read(self, reading: _Reading, preview: Preview) -> None:
        reading.is_over = True
        if reading is not self._reading:  # it was cancelled
            self._forget(reading)
            return
        new = self._chats.options.presets.unknown(preview.found.presets)
        self.previewed.emit(replace(preview, presets=len(new)))

    def _on_not_read(self, reading: _Reading, error: Exception) -> None:
        reading.is_over = True
        self._forget(reading)
        if reading is self._reading:
            if isinstance(error, OSError | sqlite3.Error):
                beside = reading.folder or self._storage.path
                self.not_stored.emit(NotStored(reason_of(error, beside), str(beside.parent)))
                return
            self.cancel()
        if not isinstance(error, ChildStopped | OSError | sqlite3.Error):
            raise error  # our own mistake, reported like any other

    def run(self, preview: Preview, *, again: bool) -> None:
        """Import; emits `imported`, `not_stored` or `cancelled`. `again`: existing chats too, as copies."""
        self._importing = Importing(preview.found.spool, chat_of, again=again)
        self._total = max(1, preview.chats)
        self._wants_end = False
        self._presets = preview.found.presets
        self.go_on()

    def go_on(self) -> None:
        importing = self._importing
        if importing is not None and not self._is_stepping:
            self._is_stepping = True
            self._storage.write(importing.step, self._on_step, self._on_refused)

    def _on_step(self, has_more: bool) -> None:
        self._is_stepping = False
        importing = self._importing
        assert importing is not None
        self.progress.emit(min(1.0, importing.done / self._total))
        if self._wants_end:
            self._take_back(importing)
        elif has_more:
            self.go_on()
        else:
            self._importing = None
            importing.close()
            self.discard()
            self._chats.conversations.refresh()
            for each in importing.grown:
                self._chats.update_branch(each.chat_id)
            for chat_id, name, text in importing.documents:
                self._chats.documents.add_text(-chat_id, name, text)
            presets = self._chats.options.presets.add(self._presets)
            folders = importing.folders
            self.imported.emit(Imported(tuple(importing.ids), tuple(importing.grown), presets, folders))

    def _on_refused(self, problem: NotStored) -> None:
        self._is_stepping = False
        if self._wants_end and self._importing is not None:
            self._take_back(self._importing)
        else:
            self._wants_end = True  # until `go_on`
            self.not_stored.emit(problem)

    def try_again(self) -> None:
        self._wants_end = False
        if self._importing is None and self._reading is not None:
            self.look(self._reading.paths)
        else:
            self.go_on()

    def cancel(self) -> None:
        """Stop reading, or undo the import after the current step."""
        if self._importing is not None:
            self._wants_end = True
            if not self._is_stepping:
                self._take_back(self._importing)
        elif not self._is_taking_back:
            self.discard()
            self.cancelled.emit()

    def _take_back(self, importing: Importing) -> None:
        self._importing = None
        importing.close()
        self.discard()
        ids = list(importing.ids)
        grown = list(importing.grown)

        def forget(stores: Stores) -> None:
            with stores.database.transaction():
                portable.forget(stores, ids, importing.folders)
                portable.shrink(stores, grown)

        def ended(_outcome: object) -> None:
            self._is_taking_back = False
            self._chats.conversations.refresh()
            self.cancelled.emit()

        def refused(problem: NotStored) -> None:
            again = partial(self._chats.changes.write, forget, lambda _: self._chats.conversations.refresh())
            self._chats.changes.not_stored.emit(problem, again)
            ended(problem)

        self._is_taking_back = True
        self._storage.write(forget, ended, refused)

    def open(self, chat_id: int) -> None:
        self._chats.open_chat(chat_id)

    def undo(self, imported: Imported) -> None:
        """Undo an import: new chats go to the Trash, chats that grew get their former state."""

        def take_back(stores: Stores) -> None:
            with stores.database.transaction():
                portable.put_in_trash(stores, imported.ids, imported.folders)
                portable.shrink(stores, imported.grown)

        def done(_outcome: object) -> None:
            self._chats.conversations.refresh()
            for preset_id in imported.presets:
                self._chats.options.delete_preset(preset_id)
            self._chats.deletions.chats_gone.emit(imported.ids)
            self._chats.deletions.changed.emit()
            self._chats.deletions.emptied.emit(())  # messages, perhaps with documents
            for each in imported.grown:
                self._chats.asking.stop_deleted(each.chat_id)
                self._chats.update_branch(each.chat_id)

        self._chats.changes.write(take_back, done)

    def discard(self) -> None:
        """Drop what is read or previewed; its pictures are deleted at the next start."""
        if self._reading is not None:
            self._reading.stop.ask()
            if self._reading.is_over:  # else the thread is using its folder
                self._forget(self._reading)
            self._reading = None

    def _forget(self, reading: _Reading) -> None:
        self._storage.pictures.give_up(*reading.pictures)
        if reading.folder is not None:
            self._worker.ask(partial(shutil.rmtree, reading.folder, ignore_errors=True), ignore, ignore)

    def close(self) -> None:
        reading = self._reading
        self.discard()
        self._worker.close(_CLOSE_S)
        if reading is not None:
            self._storage.pictures.give_up(*reading.pictures)
            if reading.folder is not None:
                shutil.rmtree(reading.folder, ignore_errors=True)


def new_folder(data: Path) -> Path:
    """A folder beside the chats, where the next start removes leftovers; a temporary one if that disk is full."""
    try:
        return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=data))
    except OSError:
        return Path(tempfile.mkdtemp(prefix=_PREFIX_ELSEWHERE))


def _remove_unfinished(data: Path) -> None:
    """Remove old leftovers only: another profile may be using newer ones."""
    now = time.time()
    for folder in data.glob(f"{_PREFIX}*"):
        shutil.rmtree(folder, ignore_errors=True)
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX_ELSEWHERE}*"):
        found = folder.lstat()
        if found.st_uid == os.geteuid() and abs(now - found.st_mtime) > _OLD_S:
            shutil.rmtree(folder, ignore_errors=True)


def _count_here(found: FoundChats, known: Known) -> int:
    with found.spool.open("rb") as lines:
        return sum(
            known.may_have(origin) and known.has(chat_of(line))
            for origin, line in zip(found.origins, lines, strict=False)
        )


def keep_pictures(spool: Path, keep: Keep, stop: Stop, progress: Progress = lambda _share: None) -> int:
    """Store the pictures of the chats in `spool`, one a line. Returns the number of damaged pictures."""
    unread = 0
    size = max(1, spool.stat().st_size)
    made = spool.with_name(f"{spool.name}-kept")
    file = spool.with_name("picture")

    def kept_here(attachment: Attachment, of_chat: dict[str, Attachment]) -> Attachment:
        nonlocal unread
        stop.check()
        if not attachment.is_picture:
            return attachment
        if attachment.text or attachment.digest not in of_chat:
            of_chat[attachment.digest] = _kept(attachment, file, keep, stop)
        found = of_chat[attachment.digest]
        unread += not found.is_picture
        return replace(found, name=attachment.name or found.name)

    with spool.open("rb") as lines, made.open("wb") as written:
        for line in lines:
            has_pictures = _SIGN in line
            written.write(_line(line, kept_here) if has_pictures else line)
            if has_pictures:
                progress(lines.tell() / size)
    file.unlink(missing_ok=True)
    made.replace(spool)
    return unread


def chat_of(line: bytes) -> PortableChat:
    """The chat in a line of `spool`."""
    return own.chat_of(loads(line.decode("utf-8")), ours=True)


def _line(line: bytes, kept_here: Callable[[Attachment, dict[str, Attachment]], Attachment]) -> bytes:
    """A line with each picture's bytes once; elsewhere it has their digest."""
    known = dict[str, Attachment]()
    chat = with_files(chat_of(line), lambda attachment: kept_here(attachment, known))
    return own.line_of(chat).encode() + b"\n"


def _kept(attachment: Attachment, file: Path, keep: Keep, stop: Stop) -> Attachment:
    """`file`: a temporary file for decoding. Raises OSError: a full disk is no damaged picture."""
    try:
        data = base64.b64decode(attachment.text, validate=True)
        if 0 < len(data) <= MOST_BYTES:
            file.write_bytes(data)
            return kept(picture_of(file, kind_of(data[:64]) or "", stop), attachment.name, keep)
    except Refused as refused:
        if refused.why is WhyNot.NOT_STORED:
            raise refused.__context__ or refused from None
    except (binascii.Error, ValueError):
        pass
    return Attachment(attachment.name or "image", AttachmentKind.NOTE, "", 0)
