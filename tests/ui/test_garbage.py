"""Cycles with Qt objects in them die on the GUI thread, and they do die."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.system.qt_application import GuiThreadGarbage


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
    before: list[object] = [[]]
    garbage.collect()
    assert not is_looked_at(before)
    later: list[object] = [[]]
    garbage.collect()
    assert is_looked_at(later)
    monkeypatch.setitem(sys.modules, "one.more", sys)
    garbage.collect()  # more may follow
    assert is_looked_at(later)
    garbage.collect()
    assert not is_looked_at(later)


def is_looked_at(thing: object) -> bool:
    return any(each is thing for each in gc.get_objects())


@pytest.mark.parametrize("inactive", [False, True], ids=["more imports", "another program in front"])
def test_what_was_alive_then_dies_all_the_same(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch, inactive: bool
) -> None:
    """Set aside for good it would be kept for ever, and more of it each time."""
    parent = QObject()
    garbage = GuiThreadGarbage(parent)
    knot = Knot()
    gone = weakref.ref(knot)
    garbage.collect()
    garbage.collect()
    del knot
    gc.collect()
    assert gone() is not None, "it was not set aside"
    if inactive:
        qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationInactive)
    else:
        monkeypatch.setitem(sys.modules, "two.more", sys)
        garbage.collect()
        garbage.collect()
    assert gone() is None
    assert gc.get_freeze_count() > 0
