"""The tree of a chat's messages: parents, and versions.

A message that was deleted alone is skipped: its followers follow its parent until it is restored. Damaged ids, such as
cyclic parents, end a walk and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.storage.database import Connection

# Before a row is deleted for good its followers get its parent.
PASS_OVER = (
    "UPDATE messages SET parent_id = (SELECT parent_id FROM messages AS gone WHERE gone.id = ?)"
    " WHERE parent_id = ? AND id != ?"
)


LONG = 200  # messages of a chat, in all its branches
_FOLLOWING = """
WITH RECURSIVE gone (id, top) AS (
    SELECT id, parent_id FROM messages WHERE :of_these AND deleted_at IS NOT NULL
    UNION
    SELECT messages.id, top FROM gone JOIN messages ON messages.parent_id = gone.id
    WHERE chat_id = ? AND deleted_at IS NOT NULL
)
SELECT id, parent_id AS top FROM messages WHERE :of_these AND deleted_at IS NULL
UNION
SELECT messages.id, top FROM gone JOIN messages ON messages.parent_id = gone.id
WHERE chat_id = ? AND deleted_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class Tree:
    """The messages that are not deleted. Versions are in the order of their creation."""

    parents: Mapping[int, int | None]
    versions: Mapping[int | None, Sequence[int]]

    def path(self, leaf_id: int) -> list[int]:
        """Messages from the first one to this one."""
        path: dict[int, None] = {}
        number: int | None = leaf_id
        while number is not None and number in self.parents and number not in path:
            path[number] = None
            number = self.parents[number]
        return list(reversed(path))

    def below(self, message_id: int) -> list[int]:
        below = {message_id: None}
        waiting = [message_id]
        while waiting:
            onward = [number for number in self.versions.get(waiting.pop(), ()) if number not in below]
            below.update(dict.fromkeys(onward))
            waiting += onward
        return list(below)

    def end_below(self, message_id: int) -> int:
        """The end of the branch below a message: its newest descendant, or itself."""
        below = self.below(message_id)
        return max((number for number in below if number not in self.versions), default=max(below))

    def end_shown(self, leaf_id: int | None) -> int | None:
        """The end of the branch on the screen: below the chat's leaf, or the newest message if that is missing.

        A leaf with followers is damaged, or was restored with them.
        """
        leaf = leaf_id if leaf_id in self.parents else max(self.parents, default=None)
        return None if leaf is None else self.end_below(leaf)

    def place(self, message_id: int) -> tuple[int, int]:
        """(number of the version, from 1, number of versions)."""
        versions = self.versions.get(self.parents.get(message_id), ())
        return versions.index(message_id) + 1 if message_id in versions else 1, max(len(versions), 1)


def is_long(database: Connection, chat_id: int) -> bool:
    """Whether the tree is too long to read while a window waits."""
    return bool(database.row("SELECT 1 FROM messages WHERE chat_id = ? LIMIT 1 OFFSET ?", (chat_id, LONG)))


def read_tree(database: Connection, chat_id: int) -> Tree:
    """From an index that has all columns needed: fast, and readable where a message's own row is damaged."""
    sql = "SELECT id, parent_id, deleted_at IS NULL AS kept FROM messages WHERE chat_id = ? ORDER BY id"
    rows = database.rows(sql, (chat_id,))
    before = {row["id"]: row["parent_id"] for row in rows}
    deleted = {row["id"] for row in rows if not row["kept"]}
    numbers = before.keys() - deleted if deleted else before
    return _with_versions({number: _kept_before(number, before, deleted) for number in numbers})


def read_up_to(database: Connection, chat_id: int, end_id: int, count: int) -> Tree:
    """The part of `read_tree` for the `count` messages up to one, their parents, and the followers of each."""
    sql = "SELECT parent_id, deleted_at IS NULL AS kept FROM messages WHERE id = ? AND chat_id = ?"
    kept: dict[int, int | None] = {}  # with their parents, deleted or not
    passed: set[int] = set()
    number: int | None = end_id
    while number is not None and number not in passed and len(kept) <= count:
        if (row := database.row(sql, (number, chat_id))) is None:
            break
        passed.add(number)
        if row["kept"]:
            kept[number] = row["parent_id"]
        number = row["parent_id"]
    above = {number} if len(kept) <= count else set()  # None, or a damaged id
    following = _read_following(database, chat_id, {*kept, *above})
    return _with_versions({**kept, **following})


def _read_following(database: Connection, chat_id: int, numbers: set[int | None]) -> dict[int, int | None]:
    """The next messages that are not deleted, with the message that each follows."""
    listed = ",".join(str(each) for each in numbers if isinstance(each, int))
    of_these = f"chat_id = ? AND (parent_id IN ({listed}){' OR parent_id IS NULL' if None in numbers else ''})"
    rows = database.rows(_FOLLOWING.replace(":of_these", of_these), (chat_id,) * 4)
    return {row["id"]: row["top"] for row in rows}


def _with_versions(parents: dict[int, int | None]) -> Tree:
    versions: dict[int | None, list[int]] = {}
    for number in sorted(parents):
        versions.setdefault(parents[number], []).append(number)
    return Tree(parents, versions)


def _kept_before(number: int, before: Mapping[int, int | None], deleted: set[int]) -> int | None:
    """The nearest ancestor that is not deleted."""
    passed: set[int] = set()
    parent = before[number]
    while parent in deleted and parent not in passed:
        passed.add(parent)
        parent = before[parent]
    return parent
