"""Folders of chats: making, naming, moving, deleting, and what they have for their chats. These are in `chats`.

Folders with cyclic or missing parents are shown at the top, so that nothing is out of reach.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from app.storage.codec import as_json_object, as_text, as_title, object_to_json
from app.storage.database import Store
from app.storage.records import Folder, Project
from app.storage.trash import Trash

_BELOW = """
WITH RECURSIVE below (id) AS (
    SELECT ?
    UNION
    SELECT folders.id FROM folders JOIN below ON folders.parent_id = below.id
)
"""


@dataclass(frozen=True, slots=True)
class FolderChange:
    """What a deletion or a move of chats changed, for undoing it."""

    folders: Sequence[tuple[object, ...]]  # deleted rows
    chats: Sequence[tuple[int, int | None]]  # chat and its former folder
    children: Sequence[tuple[int, int]]  # folder that moved up, and its former parent
    mark: float | None  # set if the chats went to the Trash, each with its folder's id
    moved_to: int | None = None  # otherwise: the folder that chats and children moved up to; None: the top


class FolderStore(Store):
    def all(self) -> list[Folder]:
        sql = "SELECT DISTINCT folder_id FROM chats WHERE unseen = 1 AND deleted_at IS NULL"
        unseen = {row[0] for row in self._db.rows(sql)}
        rows = self._db.rows("SELECT id, name, parent_id, opened FROM folders ORDER BY id")
        return [
            Folder(row["id"], as_title(row["name"]), _number(row["parent_id"]), row["opened"] != 0, row["id"] in unseen)
            for row in rows
        ]

    def project(self, folder_id: int) -> Project | None:
        row = self._db.row("SELECT instructions, options FROM folders WHERE id = ?", (folder_id,))
        return None if row is None else Project(as_text(row["instructions"]), as_json_object(row["options"]) or {})

    def put_project(self, folder_id: int, project: Project) -> None:
        sql = "UPDATE folders SET instructions = ?, options = ? WHERE id = ?"
        options = object_to_json(dict(project.options) or None)
        self._db.execute(sql, (project.instructions, options, folder_id))

    def around(self, folder_id: int | None) -> list[int]:
        """It and the folders that it is in, the outermost first."""
        found: list[int] = []
        while folder_id is not None and folder_id not in found:
            row = self._db.row("SELECT parent_id FROM folders WHERE id = ?", (folder_id,))
            if row is None:
                break
            found.insert(0, folder_id)
            folder_id = _number(row["parent_id"])
        return found

    def projects_around(self, folder_id: int | None) -> list[Project]:
        """Of a folder and those that it is in, the outermost first."""
        return [self.project(each) or Project() for each in self.around(folder_id)]

    def make(self, name: str, parent_id: int | None) -> int:
        return self.make_with(name, parent_id, ())[0]

    def make_with(self, name: str, parent_id: int | None, chats: Sequence[int]) -> tuple[int, FolderChange]:
        """Make a folder and move these chats into it, or do neither."""
        with self._db.transaction():
            sql = "INSERT INTO folders (name, parent_id, created_at) VALUES (?, ?, ?)"
            folder_id = self._db.execute(sql, (name, parent_id, time.time()))
            self._open(parent_id)
            return folder_id, self.put_chats(chats, folder_id)

    def rename(self, folder_id: int, name: str) -> None:
        self._db.execute("UPDATE folders SET name = ? WHERE id = ?", (name, folder_id))

    def set_opened(self, folder_id: int, opened: bool) -> None:
        self._db.execute("UPDATE folders SET opened = ? WHERE id = ?", (int(opened), folder_id))

    def move(self, folder_id: int, parent_id: int | None) -> None:
        """Move it into another folder, or to the top; never into itself or a folder below it."""
        if parent_id in self._below(folder_id):
            return
        with self._db.transaction():
            self._db.execute("UPDATE folders SET parent_id = ? WHERE id = ?", (parent_id, folder_id))
            self._open(parent_id)

    def put_chats(self, chats: Sequence[int], folder_id: int | None) -> FolderChange:
        """Move chats into a folder, those that are elsewhere; None: out of all folders."""
        sql = "SELECT id, folder_id FROM chats WHERE id = ? AND folder_id IS NOT ?"
        with self._db.transaction():
            found = [row for chat_id in chats for row in self._db.rows(sql, (chat_id, folder_id))]
            former = [(row["id"], _number(row["folder_id"])) for row in found]
            rows = [(folder_id, number) for number, _ in former]
            self._db.connection.executemany("UPDATE chats SET folder_id = ? WHERE id = ?", rows)
            if former:
                self._open(folder_id)
        return FolderChange((), former, (), None, folder_id)

    def chats_below(self, folder_id: int) -> int:
        sql = f"{_BELOW} SELECT count(*) FROM chats WHERE folder_id IN below AND deleted_at IS NULL"
        row = self._db.row(sql, (folder_id,))
        return 0 if row is None else row[0]

    def folders_below(self, folder_id: int) -> int:
        return len(self._below(folder_id)) - 1

    def delete(self, folder_id: int, with_chats: bool) -> FolderChange:
        """Delete it. Its contents move one level up; `with_chats`: chats and folders below go to the Trash."""
        with self._db.transaction():
            return self._delete_whole(folder_id) if with_chats else self._dissolve(folder_id)

    def put_back(self, deleted: FolderChange) -> None:
        """Undo a deletion. What the user has moved since stays."""
        with self._db.transaction():
            for row in deleted.folders:
                self._db.execute(f"INSERT OR IGNORE INTO folders VALUES ({', '.join('?' * len(row))})", tuple(row))
            if deleted.mark is not None:
                Trash(self._db).restore(deleted.mark)
            else:
                self._move_back(deleted)

    def _move_back(self, dissolved: FolderChange) -> None:
        for moved, sql in (
            (dissolved.chats, "UPDATE chats SET folder_id = ? WHERE id = ? AND folder_id IS ?"),
            (dissolved.children, "UPDATE folders SET parent_id = ? WHERE id = ? AND parent_id IS ?"),
        ):
            rows = [(folder, number, dissolved.moved_to) for number, folder in moved]
            self._db.connection.executemany(sql, rows)

    def _delete_whole(self, folder_id: int) -> FolderChange:
        below = self._db.rows(f"{_BELOW} SELECT folders.* FROM folders WHERE id IN below", (folder_id,))
        inside = f"{_BELOW} SELECT id, folder_id FROM chats WHERE folder_id IN below AND deleted_at IS NULL"
        chats = [(row["id"], row["folder_id"]) for row in self._db.rows(inside, (folder_id,))]
        mark = Trash(self._db).put_chats([number for number, _ in chats])
        self._db.execute(f"{_BELOW} DELETE FROM folders WHERE id IN below", (folder_id,))
        return FolderChange([tuple(row) for row in below], chats, (), mark)

    def _dissolve(self, folder_id: int) -> FolderChange:
        rows = [tuple(row) for row in self._db.rows("SELECT * FROM folders WHERE id = ?", (folder_id,))]
        parent_id = rows[0][2] if rows else None
        inside = [
            [(row[0], folder_id) for row in self._db.rows(f"SELECT id FROM {table} WHERE {column} = ?", (folder_id,))]
            for table, column in (("chats", "folder_id"), ("folders", "parent_id"))
        ]
        self._db.execute("UPDATE chats SET folder_id = ? WHERE folder_id = ?", (parent_id, folder_id))
        self._db.execute("UPDATE folders SET parent_id = ? WHERE parent_id = ?", (parent_id, folder_id))
        self._db.execute("DELETE FROM folders WHERE id = ?", (folder_id,))
        return FolderChange(rows, inside[0], inside[1], None, parent_id)

    def _below(self, folder_id: int) -> set[int]:
        return {row[0] for row in self._db.rows(f"{_BELOW} SELECT id FROM below", (folder_id,))}

    def _open(self, folder_id: int | None) -> None:
        """Open it, to show what was put into it."""
        if folder_id is not None:
            self.set_opened(folder_id, True)


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None
