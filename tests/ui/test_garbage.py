"""Cycles with Qt objects in them die on the GUI thread, and they do die."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.system.qt_application import GuiThreadGarbage
from tests.helpers.garbage_child import Knot


def _allocate_much() -> None:
    for _ in range(20):
        _ = [[number] for number in range(10 * gc.get_threshold()[0])]


@pytest.fixture
def python_collects_by_itself() -> Iterator[None]:
    """As in a process that just started; tests run without."""
    gc.enable()
    yield
    gc.disable()


@pytest.mark.usefixtures("python_collects_by_itself")
def test_other_threads_leave_garbage_to_the_gui_thread(qtbot: QtBot) -> None:
    parent = QObject()
    GuiThreadGarbage(parent)
    died_on: list[int] = []
    knots = [Knot() for _ in range(2 * gc.get_threshold()[0])]
    weakref.finalize(knots[0], lambda: died_on.append(threading.get_ident()))
    del knots
    thread = threading.Thread(target=_allocate_much)
    thread.start()
    thread.join()
    assert died_on == []
    qtbot.waitUntil(lambda: died_on == [threading.get_ident()])


def test_what_was_set_aside_dies_once_another_program_is_in_front() -> None:
    """What was there when imports came to rest is set aside; for good it would be kept for ever, and more each time."""
    command = [sys.executable, "-m", "tests.helpers.garbage_child"]
    child = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
