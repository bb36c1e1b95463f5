"""What all chats of a project begin with: its instructions, and those of its files that are read whole.

Small files are: from the first on, as many as take a part of the context. The others are searched.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import is_
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.controllers.chat_options import ChatOptions
from app.controllers.models import ModelController
from app.controllers.project_files import ProjectFilesController
from app.controllers.projects import Projects
from app.markup.fences import fenced
from app.storage import Storage
from app.storage.database import is_damage
from app.storage.project_files import ProjectFile, reading
from app.system.worker import JobThread

_CLOSE_S = 5.0
_PART_OF_CONTEXT = 4
_MOST_TOKENS = 16_384  # however large the context is: they are read before the first word of the first chat
_ASCII_PER_TOKEN = 3  # at the least, in the texts of most languages; other characters may be a token each

_log = logging.getLogger(__name__)

_Key = tuple[int, tuple[ProjectFile, ...]]  # room in tokens, the project's files


@dataclass(frozen=True, slots=True)
class WholeFiles:
    """Files that are read whole, and their text in the prompt."""

    ids: frozenset[int] = frozenset()
    text: str = ""


class SharedText(QObject):
    changed = Signal(int)  # folder

    def __init__(
        self,
        storage: Storage,
        projects: Projects,
        documents: ProjectFilesController,
        options: ChatOptions,
        models: ModelController,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._reader = JobThread("project texts", storage.deliver)
        self._projects = projects
        self._documents = documents
        self.options = options
        self._models = models
        self._known: dict[int, tuple[_Key, WholeFiles]] = {}  # by folder
        self._under_way: dict[
            int, tuple[_Key, list[Callable[[WholeFiles], None]]]
        ] = {}  # what is read, who waits for it
        documents.changed.connect(self._on_files)

    def whole_files(self, folder_id: int | None) -> WholeFiles:
        """Those that were read whole when it was looked at last."""
        return self._known[folder_id][1] if folder_id in self._known else WholeFiles()

    def get(self, folder_id: int | None, done: Callable[[str], None], chat_id: int | None = None) -> None:
        """At once, unless files have changed. `chat_id`: if not the open chat; its context may be another."""
        if folder_id is None:
            done("")
            return
        key = self._key(folder_id, self.options.chat_id if chat_id is None else chat_id)
        if not key[1] or (folder_id in self._known and _same(self._known[folder_id][0], key)):
            done(self._joined(folder_id, self.whole_files(folder_id) if key[1] else WholeFiles()))
        else:
            self._read(folder_id, key, lambda whole: done(self._joined(folder_id, whole)))

    def _read(self, folder_id: int, key: _Key, answer: Callable[[WholeFiles], None]) -> None:
        if folder_id in self._under_way and _same(self._under_way[folder_id][0], key):
            self._under_way[folder_id][1].append(answer)
            return
        under_way = self._under_way[folder_id] = key, [answer]

        def end(whole: WholeFiles) -> None:
            if self._under_way.get(folder_id) is under_way:
                del self._under_way[folder_id]
            for each in under_way[1]:
                each(whole)

        def found(whole: WholeFiles | None) -> None:
            if whole is not None:
                before = self.whole_files(folder_id)
                self._known[folder_id] = key, whole
                if whole != before:
                    self.changed.emit(folder_id)
            end(whole or WholeFiles())

        def failed(error: Exception) -> None:
            """For this time without them."""
            end(WholeFiles())
            self._on_failed(path, error)

        path = self._documents.database(folder_id)
        self._reader.ask(partial(_read_whole, path, key[1], key[0]), found, failed)

    def _on_failed(self, path: Path, error: Exception) -> None:
        if not isinstance(error, sqlite3.Error):
            raise error  # our own mistake, reported like any other
        _log.warning("the files of a project cannot be read for a prompt: %s", type(error).__name__)
        if is_damage(error):
            self._documents.hear_failed(path, error)

    def close(self) -> bool:
        return self._reader.close(_CLOSE_S)

    def _on_files(self, folder_id: int) -> None:
        """Look at once which are read whole, so that the page and the context meter say so."""
        if folder_id > 0 and not self._documents.listed(folder_id).is_reading:
            self.get(folder_id, lambda _text: None)

    def _key(self, folder_id: int, chat_id: int) -> _Key:
        return self._room(chat_id), self._documents.listed(folder_id).ready

    def _room(self, chat_id: int) -> int:
        """In tokens, of the chat's context."""
        info = self._models.main_info()
        if info is None:
            return 0
        limit = self.options.generation(chat_id).values["context_tokens"] or info.context_tokens
        return min(limit, info.context_tokens, _PART_OF_CONTEXT * _MOST_TOKENS) // _PART_OF_CONTEXT

    def _joined(self, folder_id: int | None, whole: WholeFiles) -> str:
        return "\n\n".join(filter(None, (self._projects.instructions(folder_id), whole.text)))


def _same(one: _Key, other: _Key) -> bool:
    """By identity: a file that has not changed is the same object, and thousands of them are compared often."""
    return one[0] == other[0] and len(one[1]) == len(other[1]) and all(map(is_, one[1], other[1]))


def _read_whole(path: Path, files: Sequence[ProjectFile], room: int) -> WholeFiles | None:
    """On a thread of its own; None where one is not as it was listed, and will be again. Raises sqlite3.Error."""
    ids: list[int] = []
    blocks: list[str] = []
    with reading(path) as found:
        if found is None:
            raise sqlite3.OperationalError
        for each in files:
            if not each.characters or each.characters > room * _ASCII_PER_TOKEN:
                continue
            if found.get(each.id) != each:
                return None
            text = found.text_of(each.id)
            tokens = tokens_at_most(text)
            if tokens <= room:
                room -= tokens
                ids.append(each.id)
                blocks.append(f"File of this project: {each.name}\n{fenced(text)}")
    return WholeFiles(frozenset(ids), "\n\n".join(blocks))


def tokens_at_most(text: str) -> int:
    """About how many tokens a text is, by its characters."""
    ascii_characters = len(text.encode("ascii", "ignore"))
    return ascii_characters // _ASCII_PER_TOKEN + len(text) - ascii_characters + 1
