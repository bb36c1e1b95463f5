"""Cycles with Qt objects in them die on the GUI thread, and they do die."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.system.gui_gc import GuiThreadGarbage


class Knot:
    """Holds itself, and a QObject."""

    def __init__(self) -> None:
        self.self = self
        self.qt = QObject()


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


def test_nothing_is_done_while_nothing_is_due() -> None:
    parent = QObject()
    garbage = GuiThreadGarbage(parent)
    gc.collect()
    collections = [stats["collections"] for stats in gc.get_stats()]
    garbage.collect()
    assert [stats["collections"] for stats in gc.get_stats()] == collections


def test_what_was_there_when_imports_came_to_rest_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = QObject()
    garbage = GuiThreadGarbage(parent)
    garbage.collect()
    kept = [[number] for number in range(1000)]
    frozen = gc.get_freeze_count()
    garbage.collect()
    assert gc.get_freeze_count() >= frozen + len(kept)
    frozen = gc.get_freeze_count()
    later = [[number] for number in range(1000)]
    garbage.collect()
    assert gc.get_freeze_count() == frozen
    monkeypatch.setitem(sys.modules, "one.more", sys)
    garbage.collect()  # more may follow
    assert gc.get_freeze_count() == frozen
    garbage.collect()
    assert gc.get_freeze_count() >= frozen + len(later)
