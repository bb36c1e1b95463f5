"""What a later start may ask of the running copy, and what anything else on its socket gets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalSocket
from pytestqt.qtbot import QtBot

from app.system.only_instance import FRONT, QUICK_ASK, OnlyInstance


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


def test_without_a_window_nobody_is_answered(instance: OnlyInstance, qtbot: QtBot) -> None:
    instance.has_window = lambda: False
    assert say(instance, FRONT, qtbot) == b""


@pytest.mark.parametrize("words", [b"\n", b"open /etc/passwd\n", b"\0\xff\n", b"x" * 10_000 + b"\n"])
def test_rubbish_gets_no_answer_and_does_nothing(instance: OnlyInstance, qtbot: QtBot, words: bytes) -> None:
    heard: list[str] = []
    instance.called.connect(lambda: heard.append("front"))
    instance.quick_ask_called.connect(lambda: heard.append("ask"))
    assert say(instance, words, qtbot) == b""
    assert heard == []
