"""A model over two machines in the real window: whichever rank hangs or fails in a reply, the window goes on."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.settings import Settings
from app.system.paths import Paths
from app.view_models.machines import AskingState
from app.view_models.model_list import PairState
from engine.cluster.rank_group import RankGroup
from tests.end2end.person import Person, qt_pointer
from tests.helpers.event_loop import until
from tests.helpers.lent import Lent
from tests.helpers.ranks import processes_below, rank_folder
from tests.helpers.tiny_models import VOCABULARY

FORWARD = 12  # in which it happens: some words are there by then
pytestmark = pytest.mark.drill


@pytest.fixture
def person(tmp_path: Path, qtbot: QtBot) -> Iterator[Person]:
    """With a model that runs over this machine and another one."""
    main, _ = rank_folder("qwen2", tmp_path / "here" / "data" / "models" / "made", vocab_size=VOCABULARY)
    lent = Lent(tmp_path / "there")
    shutil.copytree(main, tmp_path / "there" / "main")
    lent.offer(tmp_path / "there" / "main")
    paths = Paths.for_user(tmp_path / "here")
    settings = Settings(paths.settings, paths.hub_token)
    settings.language, settings.automatic_titles, settings.max_tokens = "en", False, 200
    settings.temperature, settings.seed, settings.main_folder = 0.8, 7, str(main)
    settings.model_folders = (str(main.parent),)
    settings.save()
    made = Person(tmp_path / "here", qt_pointer)
    app = made.application
    helping = lent.paired(paths.machines)
    app.machines.look()
    until(lambda: app.machines.entries)
    app.machines.make_plan(str(main), helping.machine.fingerprint)
    until(lambda: app.machines.plan.state is AskingState.DONE)
    app.machines.run_plan()
    until(lambda: app.models.pair.helper is not None and app.models.pair.state is PairState.READY)
    yield made
    made.leave()
    assert lent.process.stop()
    assert processes_below(os.getpid()) == []


def send(number: signal.Signals) -> Callable[[threading.Event], None]:
    """To the rank on the other machine, which is a process below the one that lends."""

    def act(_over: threading.Event) -> None:
        for lends in processes_below(os.getpid()):
            for rank in processes_below(lends):
                os.kill(rank, number)

    return act


def hang(over: threading.Event) -> None:
    over.wait()


def fail(_over: threading.Event) -> None:
    raise RuntimeError("as a forward fails")


class Fault:
    """Happens on the engine's thread, in a forward of rank 0. What hangs goes on once it is `over`."""

    def __init__(self, act: Callable[[threading.Event], None], monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked, self.began, self.over = threading.Event(), threading.Event(), threading.Event()
        forward, numbers = RankGroup.forward, itertools.count(1)

        def run(*arguments: Any) -> Any:
            if self.asked.is_set() and next(numbers) == FORWARD:  # before, forwards are measured
                self.began.set()
                act(self.over)
            return forward(*arguments)

        monkeypatch.setattr(RankGroup, "forward", run)


@pytest.mark.expect_log("could not load", "RankLost", "RuntimeError", "not whole any more", "MachineUnavailable")
@pytest.mark.parametrize(
    "act",
    [send(signal.SIGSTOP), send(signal.SIGKILL), send(signal.SIGTERM), hang, fail],
    ids=["rank 1 stopped", "rank 1 killed", "rank 1 ended", "rank 0 hangs", "rank 0 fails"],
)
def test_no_rank_that_hangs_or_fails_keeps_the_window_waiting(
    act: Callable[[threading.Event], None], person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = Fault(act, monkeypatch)
    app, edit = person.application, person.application.window.composer.edit
    person.click(edit)
    QTest.keyClicks(edit, "What is a draft model?")
    fault.asked.set()
    QTest.keyClick(edit, Qt.Key.Key_Return)
    until(fault.began.is_set)

    QTest.keyClicks(edit, "The window goes on")
    assert edit.toPlainText() == "The window goes on"
    app.show_settings("machines")
    app.come_to_front()
    fault.over.set()
    until(lambda: not app.chats.generating and not app.storage.pending)
    assert app.chats.transcript.messages[-1].text

    edit.clear()
    until(lambda: app.models.pair.state is PairState.READY)
    person.ask("And now?")
    assert app.chats.transcript.messages[-1].text
