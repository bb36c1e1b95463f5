"""What a kill leaves beside the place of an export goes at the next start, and nothing else does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.portable.unfinished import Unfinished, locked

_EXPORT = """
import os, signal, sys
from pathlib import Path
from app.portable.unfinished import Unfinished
from app.portable.writing import write_json, write_markdown_folder
from app.system.limited_child import Stop
from tests.helpers.portable_chat import CHAT, WORDS
form, data, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
arguments = target, Unfinished(data), Stop(), lambda done: done < 100 or os.kill(os.getpid(), signal.SIGKILL)
if form == "json":
    write_json([CHAT] * 100, *arguments)
else:
    write_markdown_folder([CHAT] * 100, WORDS, *arguments, lambda digest: None)
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    (tmp_path / "there").mkdir()
    return tmp_path / "there"


def really_killed(form: str, data: Path, target: Path) -> Path:
    """What an export that was killed at its last chat has left beside its target."""
    command = [sys.executable, "-c", _EXPORT, form, str(data), str(target)]
    assert subprocess.run(command, check=False, timeout=120).returncode == -signal.SIGKILL
    (left,) = target.parent.glob(".hunch-export-*")
    return left


_never_ended: list[object] = []  # garbage would be ended


def killed(data: Path, target: Path) -> Path:
    """The same, without a process."""
    export = Unfinished(data).beside(target)
    _never_ended.append(export)
    left = export.__enter__()
    left.write_text("words in clear")
    return left


def words_in(made: Path) -> bytes:
    return b"".join(file.read_bytes() for file in ([made] if made.is_file() else sorted(made.iterdir())))


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_what_a_kill_leaves_goes_at_the_next_start(data: Path, there: Path, form: str) -> None:
    (there / "chats").write_text("before")
    assert b"How many?" in words_in(really_killed(form, data, there / "chats"))
    (there / f".hunch-export-{'0' * 32}").write_text("no note names it")
    Unfinished(data).remove()
    assert sorted(path.name for path in there.iterdir()) == [f".hunch-export-{'0' * 32}", "chats"]
    assert list(data.iterdir()) == []


def test_a_note_that_a_profile_cannot_take(tmp_path: Path, there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    blocked = tmp_path / "file"
    blocked.touch()
    killed(blocked / "data", there / "chats.json")
    Unfinished(blocked / "data").remove()
    assert (list(there.iterdir()), list((tmp_path / "temporary").iterdir())) == ([], [])


def test_on_a_disk_that_is_away_it_goes_when_that_is_back(data: Path, there: Path) -> None:
    left = killed(data, there / "chats.json")
    away = there.rename(there.with_name("away"))
    Unfinished(data).remove()
    assert (away / left.name).exists()
    away.rename(there)
    Unfinished(data).remove()
    assert not left.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_where_the_disk_refuses_it_goes_later(data: Path, there: Path) -> None:
    left = killed(data, there / "chats.json")
    there.chmod(0o500)
    Unfinished(data).remove()
    assert left.exists()
    there.chmod(0o700)
    Unfinished(data).remove()
    assert not left.exists()


def test_what_another_copy_of_the_app_writes_just_now_stays(data: Path, there: Path) -> None:
    """Of a profile that was copied meanwhile, say."""
    left = killed(data, there / "chats.json")
    with locked(left):
        Unfinished(data).remove()
        assert left.exists()
    Unfinished(data).remove()
    assert not left.exists()


def test_the_place_is_known_where_a_link_led_to_it(tmp_path: Path, data: Path, there: Path) -> None:
    (tmp_path / "link").symlink_to(there)
    killed(data, tmp_path / "link" / "chats.json")
    (tmp_path / "link").unlink()
    Unfinished(data).remove()
    assert list(there.iterdir()) == []


def test_what_a_link_in_its_place_leads_to_stays(tmp_path: Path, data: Path, there: Path) -> None:
    for target in (there, there / "file"):
        left = killed(data, tmp_path / "chats.json")
        left.unlink()
        (there / "file").write_text("somebody's")
        left.symlink_to(target)
        Unfinished(data).remove()
        assert (there / "file").read_text() == "somebody's"
        left.unlink()


def test_other_notes_remove_nothing(tmp_path: Path, data: Path, there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder, names = os.fsencode(there), [f"hunch-export-{digit * 32}" for digit in "abcdef"]
    notes = [b"there", folder + b"/\0", folder + b"\n", b"", b"\xff" * 100, b"/" * 100_000]
    for name, words in [*zip(names, notes, strict=True), (f"{names[0]}-2", folder), ("hunch-export-", folder)]:
        (data / name).write_bytes(words)
        (there / f".{name}").write_text("somebody's")
    (there / f".hunch-export-{'1' * 32}").write_text("somebody's")
    (tmp_path / "note").write_bytes(folder)
    (data / f"hunch-export-{'1' * 32}").symlink_to(tmp_path / "note")
    Unfinished(data).remove()
    assert len(list(there.iterdir())) == len(notes) + 3
