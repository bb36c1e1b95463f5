"""Models that other programs ask for by name, beside the user's own: whose turn it is, and what comes back."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.controllers.server import ServerController
from app.storage import MessageStore
from app.view_models.model_list import DraftState, PairState
from app.views.settings.server import ServerPage
from engine import (
    EngineError,
    Helping,
    Machine,
    ModelRole,
    ModelTooLarge,
    ModelUnloaded,
    RankMode,
    RepliesUnderWay,
    ServerPhase,
)
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import DRAFT, MAIN, model_info
from tests.helpers.fake_model_store import installed
from tests.helpers.served import Asked, chat_body

OTHER, HUGE = model_info("/models/Other-4B", 4_000_000_000), model_info("/models/Huge-70B", 70_000_000_000)
LESSER = model_info("/models/Lesser-1B", 500_000_000)
MODELS = {
    MAIN.folder: MAIN,
    DRAFT.folder: DRAFT,
    LESSER.folder: LESSER,
    OTHER.folder: OTHER,
    HUGE.folder: ModelTooLarge(HUGE.folder, 9, 1),
}
OWN, THEIRS = (MAIN.folder, DRAFT.folder), (OTHER.folder, DRAFT.folder)


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[AppHarness]:
    """With a server that loads other models for programs, as soon as the user's is not used."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    here = [installed(info) for info in (MAIN, DRAFT, LESSER, OTHER, HUGE)]
    put = {"server_port": port, "server_keep_min": 5, "server_on": True}
    with open_app(tmp_path, qtbot, models=MODELS, installed=here, put_settings=put) as harness:
        server = harness.application.server
        server.shelf.quiet_s = 0.0
        qtbot.waitUntil(lambda: server.state.phase is ServerPhase.RUNNING)
        qtbot.waitUntil(lambda: len(server.shelf.models()) == 5)
        yield harness


def test_another_draft_comes_for_a_program(harness: AppHarness, server: ServerController, qtbot: QtBot) -> None:
    asked = asking(server, "default", draft_model="Lesser-1B")
    qtbot.waitUntil(lambda: asked.done)
    assert '"draft_model":"Lesser-1B"' in asked.answer
    assert (harness.engine.loads, harness.engine.drafts) == ([OWN], [LESSER.folder])
    assert (harness.models.pair.state, harness.models.pair.draft_folder) == (PairState.UNLOADED, DRAFT.folder)
    harness.ask(qtbot, "Question")
    assert (harness.engine.loads, harness.engine.drafts) == ([OWN], [LESSER.folder, DRAFT.folder])
    assert (harness.models.pair.state, harness.models.pair.draft_state) == (PairState.READY, DraftState.ACTIVE)
    harness.application.settings.server_keep_min = 0  # none is loaded for programs any more
    qtbot.waitUntil(lambda: server.state.phase is ServerPhase.RUNNING and not server.shelf.drafts())
    asked = asking(server, "default", draft_model="Lesser-1B")
    qtbot.waitUntil(lambda: asked.done)
    assert " 409 " in asked.answer


def asking(server: ServerController, model: str, **fields: object) -> Asked:
    return Asked(server.port, chat_body("x", model=model, **fields))


def test_a_programs_model_comes_while_the_pair_rests(
    harness: AppHarness, server: ServerController, qtbot: QtBot
) -> None:
    asked = asking(server, "Other-4B")
    qtbot.waitUntil(lambda: asked.done)
    assert '"model":"Other-4B"' in asked.answer
    assert harness.engine.loads == [OWN, THEIRS]
    pair = harness.models.pair
    assert (pair.state, pair.main_folder, harness.application.settings.main_folder) == (
        PairState.UNLOADED,
        MAIN.folder,
        MAIN.folder,
    )
    harness.ask(qtbot, "Question")
    assert harness.engine.loads == [OWN, THEIRS, OWN]
    assert (harness.models.pair.state, harness.models.pair.draft_folder) == (PairState.READY, DRAFT.folder)

    asked = asking(server, "Other-4B", ttl=0)
    qtbot.waitUntil(lambda: asked.done and harness.models.pair.state is PairState.READY)
    assert harness.engine.loads == [OWN, THEIRS, OWN, THEIRS, OWN]

    harness.engine.damaged.add(HUGE.folder)
    asked = asking(server, "Huge-70B")
    qtbot.waitUntil(lambda: asked.done and harness.models.pair.state is PairState.READY)
    assert [main for main, _ in harness.engine.loads[5:]] == [HUGE.folder, MAIN.folder]


def test_a_model_that_runs_over_two_macs_does_so_for_a_program(
    harness: AppHarness, server: ServerController, qtbot: QtBot
) -> None:
    helping = Helping(Machine("Studio", "f" * 64, "10.0.0.7:7791"), "here")
    harness.models.helpers.note(OTHER.folder, (helping,), RankMode.PIPELINE)
    asked = asking(server, "Other-4B")
    qtbot.waitUntil(lambda: asked.done)
    assert (harness.engine.loads, harness.engine.helping) == ([OWN, THEIRS], [(), (helping,)])
    assert harness.engine.modes[-1] is RankMode.PIPELINE


def test_the_user_goes_before_a_program(harness: AppHarness, server: ServerController, qtbot: QtBot) -> None:
    harness.engine.gate.hold()
    asked = asking(server, "Other-4B", stream=True)
    qtbot.waitUntil(lambda: len(harness.engine.state().running) == 1)
    assert harness.chats.send("Hello")
    qtbot.waitUntil(lambda: asked.done)
    assert "model_changed" in asked.answer
    harness.engine.gate.open()
    harness.wait_until_quiet(qtbot)
    assert harness.engine.loads == [OWN, THEIRS, OWN]

    harness.engine.gate.hold()
    assert harness.chats.send("Hello")
    qtbot.waitUntil(lambda: bool(harness.engine.state().running))
    asked = asking(server, "Other-4B")
    qtbot.waitUntil(lambda: server.state.requests == 1)
    qtbot.wait(50)
    assert (asked.done, harness.engine.loads) == (False, [OWN, THEIRS, OWN])
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: asked.done)
    assert " 200 " in asked.answer
    assert harness.chats.transcript.messages[-1].text


def test_a_reply_is_the_users_models_though_a_programs_came_while_its_chat_was_being_read(
    harness: AppHarness, server: ServerController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, late = harness.application.storage, list[Callable[[], None]]()
    read = storage.count
    monkeypatch.setattr(MessageStore, "is_long", lambda *_: True)
    monkeypatch.setattr(storage, "count", lambda *given: late.append(partial(read, *given)))
    assert harness.chats.send("Hello")
    qtbot.waitUntil(lambda: bool(late))
    asked = asking(server, "Other-4B")
    qtbot.waitUntil(lambda: asked.done)
    monkeypatch.undo()
    for each in late:
        each()
    harness.wait_until_quiet(qtbot)
    assert harness.engine.loads == [OWN, THEIRS, OWN]
    assert harness.chats.transcript.messages[-1].text


def test_a_model_that_does_not_fit_leaves_the_pair(harness: AppHarness, server: ServerController, qtbot: QtBot) -> None:
    """The pair was there again. Once the user has had it unloaded, a program's model goes without it."""
    asked = asking(server, "Huge-70B")
    qtbot.waitUntil(lambda: asked.done and harness.models.pair.state is PairState.READY)
    assert "out_of_memory" in asked.answer
    harness.ask(qtbot, "Question")
    assert [main for main, _ in harness.engine.loads] == [MAIN.folder, HUGE.folder]
    harness.models.eject()
    qtbot.waitUntil(lambda: harness.engine.state().main is None)
    asked = asking(server, "Other-4B", ttl=0)
    qtbot.waitUntil(lambda: asked.done)
    qtbot.waitUntil(lambda: harness.engine.state().main is None)
    assert harness.models.pair.state is PairState.UNLOADED


def test_a_draft_being_loaded_is_waited_for(harness: AppHarness, server: ServerController, qtbot: QtBot) -> None:
    """A model that does not fit in the end would have ended that, and the pair would be there without it."""
    refused: list[EngineError] = []
    other = next(each for each in server.shelf.models() if each.main == OTHER)
    harness.models.choose_draft(None)
    begins = threading.Event()

    def wait() -> None:
        begins.wait()  # until then the engine does nothing more

    harness.engine.send(wait, lambda _event: None, ModelUnloaded(ModelRole.MAIN))
    harness.models.choose_draft(DRAFT.folder)
    server.shelf.bring(other, refused.append)
    qtbot.waitUntil(lambda: bool(refused))
    begins.set()
    assert isinstance(refused[0], RepliesUnderWay)
    assert harness.engine.loads == [OWN]


def test_by_itself_a_server_loads_no_other_model(harness: AppHarness, server: ServerController, qtbot: QtBot) -> None:
    page = harness.open_page(ServerPage)
    page.others.choose(0)
    assert harness.application.settings.server_keep_min == 0
    assert [each.draft for each in server.shelf.models() if not each.chosen] == [None] * 4  # which take time to find
    qtbot.waitUntil(lambda: server.state.phase is not ServerPhase.RUNNING)
    qtbot.waitUntil(lambda: server.state.phase is ServerPhase.RUNNING)
    asked = asking(server, "Other-4B")
    qtbot.waitUntil(lambda: asked.done)
    assert " 409 " in asked.answer
    assert "is installed, but not loaded" in asked.answer
    assert harness.engine.loads == [OWN]
