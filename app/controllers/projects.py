"""Folders as projects: instructions that all their chats begin with, and options of these.

A change applies at once, and is stored like unsent text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.controllers.changes import Keeping
from app.storage import Project, Storage, Stores
from app.storage.codec import storable
from app.storage.portable import FOREIGN

PROJECT = "project"  # a kind of thing for `Keeping`
MAIN = "main"  # beside the options: the main model of new chats, as the settings name it
DRAFT = "draft"  # and the draft that goes with it; "": none


class Projects(QObject):
    changed = Signal(int)  # folder

    def __init__(self, storage: Storage, keeping: Keeping, parent: QObject) -> None:
        super().__init__(parent)
        self._storage = storage
        self._keeping = keeping
        self._stored: dict[int, Project | None] = {}  # by folder, loaded on demand
        self._around: dict[int, list[int]] = {}  # by folder, the folders that it is in, and it
        self._unkept: dict[int, Project] = {}  # by folder, what is not on disk yet

    def get(self, folder_id: int) -> Project:
        """An empty one if there is no such folder."""
        return self._unkept.get(folder_id) or self._load(folder_id) or Project()

    def is_there(self, folder_id: int) -> bool:
        return self._load(folder_id) is not None

    def _load(self, folder_id: int) -> Project | None:
        if folder_id not in self._stored:
            self._stored[folder_id] = self._storage.read.folders.project(folder_id)
        return self._stored[folder_id]

    def forget(self) -> None:
        """Folders have changed: load again what is asked for next."""
        self._stored.clear()
        self._around.clear()

    def around(self, folder_id: int | None) -> list[Project]:
        """What chats in that folder have: of it and of the folders that it is in, the outermost first."""
        return [self.get(each) for each in self.folders_around(folder_id)]

    def folders_around(self, folder_id: int | None) -> Sequence[int]:
        """The folders that it is in, the outermost first, and it."""
        if folder_id is None:
            return ()
        if folder_id not in self._around:
            self._around[folder_id] = self._storage.read.folders.around(folder_id)
        return self._around[folder_id]

    def instructions(self, folder_id: int | None) -> str:
        """What chats in that folder begin with, those of the outermost folder first."""
        return "\n\n".join(filter(None, (each.instructions.strip() for each in self.around(folder_id))))

    def has_options(self, folder_id: int | None) -> bool:
        """Whether chats in that folder begin with options, or models, of a project."""
        return any(each.options.keys() - {FOREIGN} for each in self.around(folder_id))

    def pair(self, folder_id: int | None) -> tuple[str, str] | None:
        """The main model and the draft that new chats in that folder begin with; None: those that are loaded."""
        for project in reversed(self.around(folder_id)):
            found = project.options.get(MAIN), project.options.get(DRAFT, "")
            if isinstance(found[0], str) and isinstance(found[1], str):
                return found[0], found[1]
        return None

    def put_instructions(self, folder_id: int, text: str) -> None:
        """Instructions of the user's own: once none are left, none came from elsewhere."""
        project = self.get(folder_id)
        options = {name: value for name, value in project.options.items() if name != FOREIGN or text.strip()}
        self._put(folder_id, Project(storable(text), options))

    def put_options(self, folder_id: int, values: Mapping[str, Any], dropped: Iterable[str] = ()) -> None:
        """Change these, drop others, and keep the rest."""
        project = self.get(folder_id)
        kept = {name: value for name, value in project.options.items() if name not in set(dropped)}
        self._put(folder_id, replace(project, options=kept | dict(values)))

    def _put(self, folder_id: int, project: Project) -> None:
        self._unkept[folder_id] = project
        self._keeping.keep_soon((PROJECT, folder_id), partial(self._store, folder_id, project), project)
        self.changed.emit(folder_id)

    def _store(self, folder_id: int, project: Project, stores: Stores) -> None:
        """On the thread that writes."""
        stores.folders.put_project(folder_id, project)
        self._storage.deliver(partial(self._kept, folder_id, project))

    def _kept(self, folder_id: int, project: Project) -> None:
        self._stored.pop(folder_id, None)
        if self._unkept.get(folder_id) is project:
            del self._unkept[folder_id]
