"""What a later start may ask of the running copy, and what anything else on its socket gets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtNetwork import QLocalSocket
from pytestqt.qtbot import QtBot

from app.system.only_instance import FRONT, QUICK_ASK, OnlyInstance
from app.views.shell import start_notices
from app.views.shell.start_notices import WaitingStart


@pytest.fixture
def instance(tmp_path: Path, qtbot: QtBot) -> Iterator[OnlyInstance]:
    instance = OnlyInstance(tmp_path / "lock")
    assert instance.take()
    yield instance
    instance.release()


def say(instance: OnlyInstance, words: bytes, qtbot: QtBot) -> bytes:
    """What it answers until it hangs up."""
    socket = QLocalSocket()
    heard = bytearray()
    socket.readyRead.connect(lambda: heard.extend(socket.readAll().data()))
    socket.connectToServer(instance._name)
    socket.write(words)
    qtbot.waitUntil(lambda: socket.state() == QLocalSocket.LocalSocketState.UnconnectedState)
    return bytes(heard)


def test_each_wish_is_heard_as_such(instance: OnlyInstance, qtbot: QtBot) -> None:
    heard: list[str] = []
    instance.called.connect(lambda: heard.append("front"))
    instance.quick_ask_called.connect(lambda: heard.append("ask"))
    assert say(instance, FRONT, qtbot) == b"here"
    assert say(instance, QUICK_ASK, qtbot) == b"here"
    assert heard == ["front", "ask"]


def test_a_socket_that_the_system_has_removed_is_there_again(tmp_path: Path, qtbot: QtBot) -> None:
    """As macOS does with what lies among temporary files for three days."""
    instance = OnlyInstance(tmp_path / "lock")
    instance.look.setInterval(1)
    assert instance.take()
    socket = Path(instance._server.fullServerName())
    socket.unlink()
    qtbot.waitUntil(socket.exists)
    assert say(instance, FRONT, qtbot) == b"here"
    instance.release()
    assert not instance.look.isActive()


def test_without_a_window_nobody_is_answered(tmp_path: Path, qtbot: QtBot) -> None:
    instance = OnlyInstance(tmp_path / "lock", lambda: False)
    assert instance.take()
    assert say(instance, FRONT, qtbot) == b""
    instance.release()


@pytest.mark.parametrize("words", [b"\n", b"open /etc/passwd\n", b"\0\xff\n", b"x" * 10_000 + b"\n", b"x" * 10_000])
def test_rubbish_gets_no_answer_and_does_nothing(instance: OnlyInstance, qtbot: QtBot, words: bytes) -> None:
    heard: list[str] = []
    instance.called.connect(lambda: heard.append("front"))
    instance.quick_ask_called.connect(lambda: heard.append("ask"))
    assert say(instance, words, qtbot) == b""
    assert heard == []


def test_silent_callers_are_few(instance: OnlyInstance, qtbot: QtBot) -> None:
    silent = [QLocalSocket() for _ in range(20)]
    for each in silent:
        each.connectToServer(instance._name)
    assert say(instance, FRONT, qtbot) == b"here"
    connected = QLocalSocket.LocalSocketState.ConnectedState
    qtbot.waitUntil(lambda: sum(each.state() == connected for each in silent) < 8)
    for each in silent:
        each.abort()


def put_text(text: bytes) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(text)


@pytest.mark.parametrize(
    "put",
    [
        put_text(b""),
        put_text(b"\0" * 512),
        put_text(f"{os.getpid()}\nHunch\nanother-mac\n{'a' * 32}\n{'b' * 32}\n".encode()),  # a restored backup
        put_text(f"{os.getpid()}\nHunch\n".encode()),
        os.mkfifo,
        Path.mkdir,
        lambda file: file.symlink_to("/dev/null"),
        lambda file: file.symlink_to(file.parent / "nowhere" / "else"),
    ],
    ids=["empty", "zeros", "of another machine", "of this process", "pipe", "folder", "device", "leads nowhere"],
)
def test_no_odd_lock_keeps_a_start_out(tmp_path: Path, qtbot: QtBot, put: Callable[[Path], object]) -> None:
    put(tmp_path / "lock")
    instance = OnlyInstance(tmp_path / "lock")
    assert instance.take()
    instance.release()


@pytest.fixture
def other_machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the call on this process is on another machine."""
    return lambda: monkeypatch.setattr("app.system.only_instance.machine_id", lambda: "f" * 32)


def test_another_machine_that_has_not_ended_is_told_to_a_start(
    tmp_path: Path, other_machine: Callable[[], None]
) -> None:
    """On a shared disk, where the lock of one holds nobody else up."""
    first = OnlyInstance(tmp_path / "lock")
    assert first.take()
    first.claim()
    first_mark = (tmp_path / "lock").read_bytes()
    first.release()
    (tmp_path / "lock").write_bytes(first_mark)  # it runs, or was killed
    here = OnlyInstance(tmp_path / "lock")
    assert here.take()
    assert here.other_machine == ""
    here.release()
    other_machine()
    there = OnlyInstance(tmp_path / "lock")
    assert there.take()
    assert there.other_machine in first_mark.decode().splitlines()
    there.release()
    assert (tmp_path / "lock").read_bytes() == first_mark  # it has not opened anything


def test_a_machine_that_has_ended_is_told_to_nobody(tmp_path: Path, other_machine: Callable[[], None]) -> None:
    first = OnlyInstance(tmp_path / "lock")
    assert first.take()
    first.claim()
    first.release()
    other_machine()
    there = OnlyInstance(tmp_path / "lock")
    assert there.take()
    assert there.other_machine == ""
    there.release()


def test_a_lock_of_another_machine_names_it(
    instance: OnlyInstance, tmp_path: Path, other_machine: Callable[[], None]
) -> None:
    instance.claim()
    other_machine()
    there = OnlyInstance(tmp_path / "lock")
    assert not there.take()
    assert there.other_machine


def test_one_has_the_lock_until_it_lets_go_of_it(instance: OnlyInstance, tmp_path: Path) -> None:
    second = OnlyInstance(tmp_path / "lock")
    assert not second.take()
    instance.release()
    assert second.take()
    second.release()


@pytest.fixture
def second(instance: OnlyInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OnlyInstance]:
    """A later start, whose call the first one does not answer: it is ending, or hangs."""
    monkeypatch.setattr(start_notices, "_SILENT_MS", 0)
    second = OnlyInstance(tmp_path / "lock")
    assert not second.take()
    yield second
    second.release()


def when_shown(waiting: WaitingStart, act: Callable[[], object]) -> None:
    """Does it once the window says what is wrong."""
    look = QTimer(waiting, interval=10)

    def do() -> None:
        if waiting.dialog is not None and waiting.dialog.isVisible():
            assert "not responding" in waiting.dialog.sentence.text()
            look.stop()
            act()

    look.timeout.connect(do)
    look.start()


def test_a_start_waits_for_one_that_is_ending(instance: OnlyInstance, second: OnlyInstance) -> None:
    waiting = WaitingStart(second)
    when_shown(waiting, instance.release)
    assert waiting.wait()
    assert second.is_first


def test_a_start_beside_one_that_hangs_can_be_given_up(second: OnlyInstance) -> None:
    waiting = WaitingStart(second)

    def give_up() -> None:
        assert waiting.dialog is not None
        waiting.dialog.cancel_button.click()

    when_shown(waiting, give_up)
    assert not waiting.wait()


def test_one_that_answers_late_is_shown_instead(
    instance: OnlyInstance, second: OnlyInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its event loop stood still while it was called."""
    monkeypatch.setattr("app.system.only_instance._CALL_MS", 1)
    heard: list[str] = []
    instance.quick_ask_called.connect(lambda: heard.append("ask"))
    assert not second.call_the_other(QUICK_ASK)
    assert not WaitingStart(second).wait()
    assert heard == ["ask"]
