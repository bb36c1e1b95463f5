"""Text that the database has not accepted when the app ends: stored in a small file, and restored at the next start."""

from __future__ import annotations

import errno
import json
import logging
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.storage.chats import NEW_CHAT
from app.storage.parts import (
    Attachments,
    Call,
    Part,
    Parts,
    Text,
    Thinking,
    all_parts,
    attachments_from_json,
    parts_from_json,
    parts_to_json,
)
from app.storage.records import Edit, EditKind, Project, ReplyText
from app.storage.storage import Stores
from app.system.small_file import is_in_the_way, read_small
from engine import MessageRole, sync_file, write_atomically

_MOST_BYTES = 256 << 20
# Exceptions of a damaged file.
_DAMAGE = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Left:
    """By chat, message or folder; `replies`: running ones, or those whose end was refused."""

    unsent: Mapping[int, str] = field(default_factory=dict)
    attachments: Mapping[int, Attachments] = field(default_factory=dict)
    edits: Mapping[int, Edit] = field(default_factory=dict)
    replies: Sequence[ReplyText] = ()
    projects: Mapping[int, Project] = field(default_factory=dict)
    new_chats: Sequence[int] = ()  # of the chats, those without a message

    def __bool__(self) -> bool:
        return any((self.unsent, self.attachments, self.edits, self.replies, self.projects))


class LeftWords:
    def __init__(self, file: Path) -> None:
        self._file = file

    def leave(self, left: Left) -> bool:
        """Write the file. Returns whether it has the text, or there is none."""
        try:
            if left:
                write_atomically(self._file, _to_json(left), most_bytes=_MOST_BYTES)
        except OSError:
            return False
        return True

    @property
    def is_there(self) -> bool:
        return os.path.lexists(self._file)

    def put_back(self, stores: Stores) -> None:
        """Restore text of an earlier run. The file stays until its text is in the database, or if it is damaged."""
        if not self.is_there:
            return
        try:
            number, left = _from_json(read_small(self._file, _MOST_BYTES))
            restored = "SELECT 1 FROM notes WHERE name = 'left' AND value = ?"  # from a file that could not be deleted
            if stores.database.row(restored, (number,)) is None:
                _put_back(stores, number, left)
        except _DAMAGE as error:
            _log.warning("what an earlier run has left cannot be read: %s", type(error).__name__)
            return
        with suppress(OSError):
            self._file.unlink()


def _put_back(stores: Stores, number: str, left: Left) -> None:
    stores.messages.save_texts([reply for reply in left.replies if _goes_on(stores, reply)])
    with stores.database.transaction():
        for chat_id, text in left.unsent.items():
            if _was_taken(stores, left, chat_id):
                stores.unsent.add(text)
            elif stores.unsent.can_wait_in(chat_id, (NEW_CHAT, *left.new_chats)):
                stores.unsent.put(chat_id, text)
        for chat_id, attachments in left.attachments.items():
            if _was_taken(stores, left, chat_id):
                waiting = stores.unsent.attachments().get(NEW_CHAT, ())
                stores.unsent.put_attachments(NEW_CHAT, (*waiting, *attachments))
            elif stores.unsent.can_wait_in(chat_id, (NEW_CHAT, *left.new_chats)):
                stores.unsent.put_attachments(chat_id, attachments)
        for edit in left.edits.values():
            if _is_there(stores, "messages", edit.message_id):
                (stores.edits.put if edit.attachments is None else stores.edits.put_with_attachments)(edit)
        for folder_id, project in left.projects.items():
            stores.folders.put_project(folder_id, project)
        stores.database.execute("INSERT OR REPLACE INTO notes VALUES ('left', ?)", (number,))


def _was_taken(stores: Stores, left: Left, chat_id: int) -> bool:
    """Whether a new chat's number is another one's by now, as after a start whose disk refused to take these words."""
    return chat_id in left.new_chats and _is_there(stores, "chats", chat_id)


def _is_there(stores: Stores, table: str, number: int) -> bool:
    return stores.database.row(f"SELECT 1 FROM {table} WHERE id = ?", (number,)) is not None


def _goes_on(stores: Stores, reply: ReplyText) -> bool:
    """Whether what is stored is a beginning of what was on the screen, as for the same reply."""
    stored = stores.messages.message(reply.message_id)
    if stored is None or stored.role is not MessageRole.ASSISTANT:
        return False
    if reply.parts is None or reply.parts == stored.parts:
        return reply.text.startswith(stored.text) and reply.thinking.startswith(stored.thinking)
    before = all_parts(stored)
    after = all_parts(replace(stored, parts=reply.parts, text=reply.text, thinking=reply.thinking))
    return len(before) <= len(after) and all(map(_began_as, after, before))


def _began_as(part: Part, before: Part) -> bool:
    match part, before:
        case (Text(text), Text(begun)) | (Thinking(text), Thinking(begun)):
            return text.startswith(begun)
        case Call(), Call():
            return (part.id, part.name, part.arguments) == (before.id, before.name, before.arguments)
    return part == before


def _to_json(left: Left) -> bytes:
    content = {
        "number": secrets.token_hex(8),
        "unsent": list(left.unsent.items()),
        "attachments": [(chat_id, parts_to_json(each)) for chat_id, each in left.attachments.items()],
        "edits": [
            (edit.message_id, edit.kind, edit.role, edit.text, _parts_to_json(edit.attachments))
            for edit in left.edits.values()
        ],
        "replies": [
            (each.message_id, each.text, each.thinking, each.thinking_s, _parts_to_json(each.parts))
            for each in left.replies
        ],
        "projects": [(number, each.instructions, dict(each.options)) for number, each in left.projects.items()],
        "new_chats": list(left.new_chats),
    }
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")


def _from_json(words: bytes) -> tuple[str, Left]:
    content: dict[str, Any] = json.loads(words)
    left = Left(
        {int(number): str(text) for number, text in content["unsent"]},
        {int(number): attachments_from_json(each) for number, each in content["attachments"]},
        {int(edit[0]): _edit(*edit) for edit in content["edits"]},
        [_reply(*reply) for reply in content["replies"]],
        {int(number): Project(str(text), dict(options)) for number, text, options in content.get("projects", ())},
        [int(number) for number in content.get("new_chats", ())],
    )
    return str(content["number"]), left


def _reply(number: Any, text: Any, thinking: Any, thinking_s: Any, parts: Any = None) -> ReplyText:
    whole = None if parts is None else parts_from_json(parts)
    return ReplyText(int(number), str(text), str(thinking), float(thinking_s), whole)


def _edit(number: Any, kind: Any, role: Any, text: Any, attached: Any) -> Edit:
    attachments = None if attached is None else attachments_from_json(attached)
    return Edit(int(number), EditKind(kind), MessageRole(role), str(text), attachments)


def _parts_to_json(parts: Parts | None) -> str | None:
    return None if parts is None else parts_to_json(parts) or "[]"


class UnsentFile:
    """Text typed in a run without a database, for the next start that has one.

    Text of an earlier run stays until `forget`, readable or not. Changes raise OSError.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, words: str) -> None:
        """Append to the file; on disk when this returns. OSError with EFBIG for more than `words` would read."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        if is_in_the_way(self._file):  # writing to a pipe would block
            self._file.unlink()
        with os.fdopen(os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
            here_bytes = os.fstat(file.fileno()).st_size
            data = ("\n\n" * bool(here_bytes) + words).encode("utf-8", "replace")
            if here_bytes + len(data) > _MOST_BYTES:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(self._file))
            file.write(data)
            file.flush()
            sync_file(file.fileno())

    def words(self) -> str:
        """The text; empty if there is none, or it cannot be read."""
        try:
            return read_small(self._file, _MOST_BYTES).decode("utf-8", "replace")
        except (OSError, ValueError):
            return ""

    def forget(self) -> None:
        self._file.unlink(missing_ok=True)
