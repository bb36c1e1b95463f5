"""The Nth call to the disk fails, once or from then on, or kills the process: while opening, rescuing and writing."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from itertools import product
from pathlib import Path

import pytest

from app.storage import (
    Attachment,
    AttachmentKind,
    Database,
    Edit,
    EditKind,
    ReplyStatus,
    ReplyText,
    Stores,
    copies,
    portable,
)
from app.storage.database import ReadConnection, address_of
from app.storage.portable import PortableChat, PortableMessage
from engine import MessageRole, RequestStats
from tests.helpers.chat_files import PAGE_BYTES, fill, look, wipe
from tests.helpers.faulty_disk import EVERYTHING, READS, SYNCS, WRITES, Fault, dies, failing, is_possible
from tests.helpers.samples import drilled

pytestmark = [
    pytest.mark.skipif(not is_possible(), reason="Python's SQLite is not a shared library here"),
    pytest.mark.expect_log("the database was damaged"),
]

_ROOT = Path(__file__).resolve().parents[2]
_CAN_TRACE = (
    shutil.which("strace") is not None
    and subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], capture_output=True, check=False).returncode == 0
)
_MOST = 3000  # calls; no run here makes as many
_SESSION = """
import json, sqlite3, sys
from pathlib import Path
from tests.drills.test_failing_disk import write_a_session
stored = []
try:
    write_a_session(Path(sys.argv[1]), stored)
except (sqlite3.Error, OSError):
    pass
print(json.dumps(stored))
"""
_REFUSALS = (sqlite3.Error, OSError)

_CHAT = PortableChat(
    "x:1",
    "Taken in",
    tuple(PortableMessage(at, at - 1 or None, "user", f"taken in {at} " + "word " * 900) for at in range(1, 9)),
)
_ATTACHED = Attachment("a.txt", AttachmentKind.TEXT, "text " * 3000, 15_000)
Prepare = Callable[[Path], frozenset[str]]


def whole(path: Path) -> frozenset[str]:
    return fill(path)


def damaged(path: Path) -> frozenset[str]:
    """Half of it is cut off; a copy has nearly all."""
    texts = fill(path)
    copies.copy_if_due(path)
    with closing(Database(path)) as database:
        stores = Stores(database)
        stores.messages.add_user(1, stores.chats.leaf(1), "zebra newest")
    with path.open("r+b") as file:
        file.seek(5 * PAGE_BYTES)
        file.write(b"\xa5" * 100)
    return texts | {"zebra newest"}


def kept(path: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in path.parent.rglob("*") if file.is_file()}


def put_back(files: dict[Path, bytes], path: Path) -> None:
    wipe(path)
    for file, data in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


@pytest.mark.parametrize(
    ("calls", "prepare", "persistent", "step"),
    [
        *drilled(product([EVERYTHING], [whole, damaged], [False, True], [1])),
        *product([EVERYTHING], [whole, damaged], [False], [9]),
        # Of what Python syncs, and of what SQLite maps; SQLite's own syncs are no call that can be replaced.
        *product([SYNCS], [whole, damaged], [False, True], [1]),
        (READS, whole, False, 1),  # no read that fails once sets a sound file aside
    ],
)
def test_calls_fail_while_opening(
    tmp_path: Path, calls: frozenset[str], prepare: Prepare, persistent: bool, step: int
) -> None:
    """A start that is refused leaves everything as it was; the next one has every message."""
    path = tmp_path / "chats.db"
    texts = prepare(path)
    files = kept(path)
    for at in range(1, _MOST, step):
        put_back(files, path)
        with failing(Fault(calls, at, errno.EIO, persistent), path.parent) as fault, suppress(*_REFUSALS):
            Database(path).close()
        with closing(Database(path)) as database:
            if prepare is whole:
                assert database.rescued is None, f"set aside after call {at}"
        assert texts <= look(path).texts, f"call {at}"
        if not fault.was_met:
            return
    pytest.fail("it never got through")


@pytest.mark.parametrize("step", [*drilled([(1,)]), 47])
def test_the_process_dies_at_calls_of_a_rescue(tmp_path: Path, step: int) -> None:
    path = tmp_path / "chats.db"
    texts = damaged(path)
    files = kept(path)
    for at in range(1, _MOST, step):
        put_back(files, path)
        killed = dies(Fault(EVERYTHING, at, kills=True), path.parent, lambda: Database(path).close())
        assert texts <= look(path).texts, f"killed at call {at}"
        if not killed:
            return
    pytest.fail("it never got through")


def write_a_session(path: Path, stored: list[str]) -> None:
    """Sends, streams, ends and edits; what is acknowledged goes to `stored`."""
    with closing(Database(path)) as database:
        stores = Stores(database)
        for number in range(4):
            with suppress(*_REFUSALS):
                _exchange(stores, f"question {number} " + "word " * 300, stored)


def _exchange(stores: Stores, text: str, stored: list[str]) -> None:
    with stores.database.transaction():
        asked = stores.messages.add_user(1, stores.chats.leaf(1), text)
        reply = stores.messages.begin_reply(1, asked, "Main", "")
    stored.append(text)
    answer = text.replace("question", "answer")
    stores.messages.save_texts([ReplyText(reply, answer[:600], "", 0.0)])
    with stores.database.transaction():
        stores.messages.set_end(ReplyText(reply, answer, "", 0.0), ReplyStatus.DONE, RequestStats(), None, None)
    stored.append(answer)
    stores.database.execute("PRAGMA wal_checkpoint(PASSIVE)")


@pytest.mark.parametrize(
    ("number", "persistent", "step"),
    [*drilled(product([errno.ENOSPC, errno.EIO], [False, True], [1])), (errno.ENOSPC, True, 7)],
)
def test_writes_of_a_session_fail(tmp_path: Path, number: int, persistent: bool, step: int) -> None:
    """What was acknowledged is there, and what was there before."""
    path = tmp_path / "chats.db"
    texts = fill(path)
    files = kept(path)
    for at in range(1, _MOST, step):
        put_back(files, path)
        stored: list[str] = []
        with failing(Fault(WRITES, at, number, persistent), path.parent) as fault, suppress(*_REFUSALS):
            write_a_session(path, stored)
        assert texts | set(stored) <= look(path).texts, f"call {at}"
        if not fault.was_met:
            return
    pytest.fail("it never got through")


def change_everything(path: Path, done: list[str]) -> None:
    """A folder, an edit under way, other words, an import, an attachment; what is acknowledged goes to `done`."""
    with closing(Database(path)) as database:
        stores = Stores(database)

        def take_in() -> None:
            with database.transaction():
                portable.add(stores, _CHAT)

        message = stores.messages.message(2)
        assert message is not None
        steps: dict[str, Callable[[], object]] = {
            "folder": lambda: stores.folders.make_with("drilled", None, (1,)),
            "edit": lambda: stores.edits.put(Edit(1, EditKind.EDIT, MessageRole.USER, "edited " * 2000)),
            "words": lambda: stores.messages.replace(message, "other words " * 2000),
            "import": take_in,
            "attachment": lambda: stores.unsent.put_attachments(1, (_ATTACHED,)),
        }
        for name, step in steps.items():
            with suppress(*_REFUSALS):
                step()
                done.append(name)


def what_is_there(path: Path) -> set[str]:
    """Of those steps; an import is there as a whole or not at all."""
    with closing(Database(path)) as database:
        stores = Stores(database)
        taken_in = len(database.rows("SELECT id FROM messages WHERE text LIKE 'taken in%'"))
        assert taken_in in (0, len(_CHAT.messages))
        found = {
            "folder": [each.name for each in stores.folders.all()] == ["drilled"]
            and database.row("SELECT 1 FROM chats WHERE id = 1 AND folder_id IS NOT NULL") is not None,
            "edit": stores.edits.of_chat(1).get(1) is not None,
            "words": database.row("SELECT 1 FROM messages WHERE text LIKE 'other words%'") is not None,
            "import": bool(taken_in),
            "attachment": stores.unsent.attachments().get(1) == (_ATTACHED,),
        }
    return {name for name, is_there in found.items() if is_there}


@pytest.mark.parametrize(
    ("number", "persistent", "step"),
    [*drilled(product([errno.ENOSPC, errno.EIO], [False, True], [1])), (errno.EIO, False, 17)],
)
def test_writes_fail_while_everything_is_changed(tmp_path: Path, number: int, persistent: bool, step: int) -> None:
    path = tmp_path / "chats.db"
    texts = fill(path)
    files = kept(path)
    for at in range(1, _MOST, step):
        put_back(files, path)
        done: list[str] = []
        with failing(Fault(WRITES, at, number, persistent), path.parent) as fault, suppress(*_REFUSALS):
            change_everything(path, done)
        assert set(done) <= what_is_there(path), f"call {at}"
        assert texts <= look(path).texts | _replaced(path), f"call {at}"
        if not fault.was_met:
            assert len(done) == 5
            return
    pytest.fail("it never got through")


def _replaced(path: Path) -> set[str]:
    """What has other words now is a version beside them."""
    with closing(Database(path)) as database:
        return {row["text"] for row in database.rows("SELECT text FROM messages WHERE id = 2")}


@pytest.mark.skipif(not _CAN_TRACE, reason="needs strace")
@pytest.mark.parametrize(("persistent", "step"), [*drilled([(False, 1), (True, 1)]), (True, 13)])
def test_syncs_of_a_session_fail(tmp_path: Path, persistent: bool, step: int) -> None:
    """What SQLite has acknowledged is there, whichever of its syncs the system refuses."""
    path = tmp_path / "chats.db"
    texts = fill(path)
    files, told = kept(path), path.with_name("trace")
    for at in range(1, _MOST, step):
        put_back(files, path)
        injected = f"inject=fsync,fdatasync:error=EIO:when={at}{'+' if persistent else ''}"
        trace = ["strace", "-f", "-qq", "-o", str(told), "-e", "trace=fsync,fdatasync", "-e", injected]
        done = subprocess.run(
            [*trace, sys.executable, "-c", _SESSION, str(path)], cwd=_ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-1000:]
        assert texts | set(json.loads(done.stdout)) <= look(path).texts, f"sync {at}"
        if "INJECTED" not in told.read_text():
            return
    pytest.fail("it never got through")


def test_what_is_on_the_screen_is_read_again_where_the_disk_fails_once(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    fill(path)
    with closing(Database(path)):
        for at in range(1, _MOST):
            with closing(ReadConnection(address_of(path))) as reader:
                stores = Stores(reader)
                with failing(Fault(READS, at), path.parent) as fault:
                    listed, shown = stores.chats.find(), stores.messages.shown_branch(1)
                assert (len(listed), len(shown)) == (2, 6), f"read {at}"
            if not fault.was_met:
                assert at > 1
                return
    pytest.fail("it never got through")
