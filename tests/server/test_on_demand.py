"""Models that clients name: loaded when it is their turn, unloaded after a while, and refused where nobody has them."""

from __future__ import annotations

import json
import queue
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

from engine import (
    ChatEngine,
    DraftVocabularyDiffers,
    Engine,
    EngineError,
    Event,
    ModelReady,
    ModelTooLarge,
    RepliesUnderWay,
    ServedModel,
)
from engine.hub.library import scan_folders
from engine.server.command import EngineShelf, served_models
from engine.server.fields import Fields
from engine.server.ollama import keep_alive_of
from engine.server.problems import Problem
from tests.helpers.engine_client import EngineClient
from tests.helpers.fake_engine import DRAFT, MAIN, FakeEngine, model_info
from tests.helpers.served import PATIENCE_S, Served, chat_body, post_bytes, serving
from tests.helpers.tiny_models import build, noised, qwen3_config, save

LESSER = model_info("/models/Lesser-1B", parameters=900_000_000)
MISFIT = replace(LESSER, name="Misfit-1B", folder="/models/Misfit-1B", vocabulary_digest="x", vocabulary_tokens=9)
CHAT = "/v1/chat/completions"
OTHER = model_info("/models/Other-4B", parameters=4_000_000_000)
SHORT: dict[str, Any] = {"max_tokens": 4, "temperature": 0}
ASKED = {"prompt": "x", "messages": [{"role": "user", "content": "x"}], "input": "x", "max_tokens": 4}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """With the first of two tiny models, which somebody chose; the other one has a draft."""
    folder = tmp_path_factory.mktemp("models")
    config = qwen3_config()
    save(build(config), config, folder / "Alpha")
    beta = build(config, seed=5)
    save(beta, config, folder / "Beta")
    save(noised(beta, config, 0.05), config, folder / "Beta-draft")
    engine = Engine()
    assert isinstance(EngineClient(engine).load(folder / "Alpha"), ModelReady)
    yield engine
    assert engine.close()


@pytest.fixture(scope="module")
def loft(engine: Engine) -> Iterator[Served]:
    main = engine.state().main
    assert main is not None
    folder = Path(main.folder).parent
    drafts: dict[Path, Path | None] = {folder / "Beta": folder / "Beta-draft", folder / "Beta-draft": None}
    infos = [model.info for model in scan_folders([folder]) if model.info is not None]
    with serving(engine, shelf=EngineShelf(engine, served_models(engine.state(), infos, drafts))) as served:
        yield served


def loaded(engine: Engine) -> str:
    main = engine.state().main
    return "" if main is None else main.name


@contextmanager
def until_none_is_loaded(engine: ChatEngine) -> Iterator[None]:
    """At the end of the block waits for that."""
    heard: queue.SimpleQueue[Event] = queue.SimpleQueue()
    stop = engine.subscribe(heard.put)
    yield
    while engine.state().main is not None:
        heard.get(timeout=PATIENCE_S)
    stop()


def states_of(served: Served) -> dict[str, str]:
    return {each["id"]: each["status"]["value"] for each in served.http.get("/v1/models").json()["data"]}


def test_a_model_that_is_named_is_loaded_with_its_draft(loft: Served, engine: Engine) -> None:
    alpha = loft.chat("x", **SHORT)
    assert states_of(loft) == {"Alpha": "loaded", "Beta": "unloaded", "Beta-draft": "unloaded"}
    beta = loft.chat("x", **SHORT, model="Beta")
    assert (alpha["model"], beta["model"], beta["hunch"]["draft_model"]) == ("Alpha", "Beta", "Beta-draft")
    assert loaded(engine) == "Beta"
    assert beta["choices"][0]["message"] != alpha["choices"][0]["message"]
    assert states_of(loft)["Beta"] == "loaded"
    assert 'hunch_model_info{draft="' in (figures := loft.http.get("/metrics").text)
    assert 'model="Beta"} 1.0' in figures
    assert "hunch_model_loads_total 1.0" in figures
    again = loft.chat("x", **SHORT)  # of the one that was chosen, whatever others had loaded
    assert (again["model"], again["choices"]) == ("Alpha", alpha["choices"])


def test_what_is_not_installed_is_refused_with_what_is(loft: Served) -> None:
    for path in (CHAT, "/v1/completions", "/v1/messages", "/v1/responses", "/api/chat", "/v1/messages/count_tokens"):
        answer = loft.post(path, ASKED | {"model": "Gamma"})
        assert answer.status_code == 404
        assert "'Gamma' does not exist here. Installed: " in answer.text
        assert all(name in answer.text for name in ("Alpha", "Beta", "Beta-draft"))
    assert loft.http.get("/v1/models/Gamma").status_code == 404
    assert loft.http.get("/v1/models/Beta").json()["id"] == "Beta"


def test_time_unloads_only_what_was_loaded_for_a_client(loft: Served, engine: Engine) -> None:
    with until_none_is_loaded(engine):
        loft.chat("x", **SHORT, model="Beta", ttl=0)
    assert loft.http.get("/health").status_code == 200
    loft.chat("x", **SHORT, model="Alpha", ttl=0)
    assert loft.http.get("/api/ps").json()["models"][0]["expires_at"].startswith("2318")
    refused = loft.post("/api/generate", {"model": "Alpha", "keep_alive": 0})
    assert (refused.status_code, "stays loaded" in refused.json()["error"]) == (409, True)
    assert loaded(engine) == "Alpha"


def test_a_count_of_tokens_is_the_named_models(loft: Served, engine: Engine) -> None:
    assert loft.post("/v1/messages/count_tokens", ASKED | {"model": "Beta"}).json()["input_tokens"] > 0
    assert loaded(engine) == "Beta"


def test_ollamas_empty_prompts_load_and_unload(loft: Served, engine: Engine) -> None:
    loft.chat("x", **SHORT, model="Alpha")
    answer = loft.post("/api/generate", {"model": "Beta:latest", "keep_alive": "5m"}).json()
    assert (answer["response"], answer["done_reason"]) == ("", "load")
    (running,) = loft.http.get("/api/ps").json()["models"]
    left_s = time.mktime(time.strptime(running["expires_at"], "%Y-%m-%dT%H:%M:%SZ")) - time.mktime(time.gmtime())
    assert running["name"] == "Beta:latest"
    assert 0 < left_s <= 300
    asked = {"model": "Beta", "messages": [], "keep_alive": 0}
    with until_none_is_loaded(engine):
        assert loft.post("/api/chat", asked).json()["done_reason"] == "unload"
    assert loft.http.get("/api/ps").json()["models"] == []
    assert loft.post("/api/chat", asked).json()["done_reason"] == "unload"  # it is not loaded for that


@pytest.mark.parametrize(
    ("given", "seconds"),
    [(300, 300.0), (0, 0.0), (-1, inf), ("5m", 300.0), ("1h30m", 5400.0), ("1.5s", 1.5), ("-1m", inf), ("0", 0.0)],
)
def test_ollamas_durations(given: object, seconds: float) -> None:
    assert keep_alive_of(Fields({"keep_alive": given})) == seconds


@pytest.mark.parametrize("given", ["", "5", "m", "5m!", "1" * 50 + "m", True, [5]], ids=str)
def test_what_is_no_duration_is_refused(given: object) -> None:
    with pytest.raises(Problem, match="keep_alive"):
        keep_alive_of(Fields({"keep_alive": given}))


# Whose turn it is, over a script


@pytest.fixture
def two() -> Iterator[FakeEngine]:
    engine = FakeEngine({MAIN.folder: MAIN, DRAFT.folder: DRAFT, OTHER.folder: OTHER})
    EngineClient(engine).load(Path(MAIN.folder), Path(DRAFT.folder))
    yield engine
    engine.gate.open()
    engine.close()


def shelf_of(engine: FakeEngine, **changes: Any) -> EngineShelf:
    return EngineShelf(engine, [ServedModel(MAIN, DRAFT, chosen=True), ServedModel(OTHER, **changes)])


def begin(served: Served, model: str, stream: bool = True) -> socket.socket:
    """A request whose answer is read later."""
    connection = served.connect()
    body = chat_body("x", model=model, stream=stream)
    connection.sendall(post_bytes(CHAT, json.dumps(body).encode(), connection="close"))
    return connection


def rest(connection: socket.socket) -> str:
    with connection:
        return b"".join(iter(lambda: connection.recv(1 << 16), b"")).decode()


def test_a_draft_that_is_named_is_loaded_and_the_former_comes_back(two: FakeEngine) -> None:
    two.models[LESSER.folder] = LESSER
    shelf = EngineShelf(two, [ServedModel(MAIN, DRAFT, chosen=True), ServedModel(OTHER)], [DRAFT, LESSER, MAIN, MISFIT])
    with serving(two, shelf=shelf, stay_s=0.0) as served:

        def drafts(name: str, **fields: Any) -> Any:
            return served.chat("x", draft_model=name, **fields)["hunch"]["draft_model"]

        assert drafts("Lesser-1B") == "Lesser-1B"
        assert two.loads == [(MAIN.folder, DRAFT.folder)]  # the main model stays
        assert drafts("Lesser-1B", model="Other-4B") == "Lesser-1B"
        assert two.loads[1:] == [(OTHER.folder, LESSER.folder)]
        assert served.chat("x", model="Other-4B")["hunch"]["draft_model"] == "Lesser-1B"  # as it is loaded
        assert drafts("Draft-1B", model="Main-8B") == "Draft-1B"
        heard: queue.SimpleQueue[Event] = queue.SimpleQueue()
        two.subscribe(heard.put)
        assert drafts("Lesser-1B", model="Main-8B", ttl=0) == "Lesser-1B"
        while two.state().draft != DRAFT:
            heard.get(timeout=PATIENCE_S)
        assert two.state().main == MAIN
        two.models[LESSER.folder] = DraftVocabularyDiffers(LESSER.folder, 1, 2, 0)
        codes = {}
        for name in ("Main-8B", "Misfit-1B", "Lesser-1B", "none"):
            answer = served.post(CHAT, chat_body("x", draft_model=name))
            codes[name] = (answer.status_code, answer.json()["error"]["code"], answer.json()["error"]["param"])
        misfit = (400, "draft_misfit", "draft_model")
        assert codes.pop("none") == (409, "model_busy", "draft_model")
        assert set(codes.values()) == {misfit}
        assert served.chat("x")["hunch"]["draft_model"] == "Draft-1B"


def test_who_waits_for_another_model_is_told_so_and_has_its_turn(two: FakeEngine) -> None:
    two.gate.hold()
    with until_none_is_loaded(two), serving(two, shelf=shelf_of(two), silence_s=0.05, begin_s=0.05) as served:
        first = begin(served, "Main-8B")
        served.wait_for_requests(1)
        second = begin(served, "Other-4B")
        heard = b""
        while b": prefill 0/0" not in heard:
            heard += second.recv(1 << 16)
        assert two.loads == [(MAIN.folder, DRAFT.folder)]
        two.gate.open()
        assert "[DONE]" in rest(first)
        assert '"model":"Other-4B"' in heard.decode() + rest(second)
    assert two.loads[1:] == [(OTHER.folder, None)]  # and it goes with the server


@pytest.mark.parametrize(
    ("stay_s", "order"),
    [(0.0, [MAIN, OTHER, MAIN]), (3600.0, [MAIN, MAIN, OTHER])],
    ids=["in the order of coming", "those of the loaded model first"],
)
def test_models_take_turns(two: FakeEngine, stay_s: float, order: list[Any]) -> None:
    two.gate.hold()
    with serving(two, shelf=shelf_of(two), stay_s=stay_s) as served:
        waiting = []
        for number, model in enumerate(("Main-8B", "Other-4B", "default"), 1):
            waiting.append(begin(served, model, stream=False))
            served.wait_for_requests(number)
        two.gate.open()
        assert all("200 OK" in rest(each) for each in waiting)
    assert [request.model for request in two.requests] == [model.folder for model in order]


def test_a_client_that_leaves_the_line_has_nothing_loaded(two: FakeEngine) -> None:
    two.gate.hold()
    with serving(two, shelf=shelf_of(two)) as served:
        first = begin(served, "Main-8B")
        served.wait_for_requests(1)
        second = begin(served, "Other-4B")
        served.wait_for_requests(2)
        second.close()
        served.wait_for_requests(1)
        two.gate.open()
        assert "[DONE]" in rest(first)
        assert served.chat("x")["model"] == "Main-8B"
    assert len(two.loads) == 1


def test_whoever_waits_when_the_server_ends_is_told(two: FakeEngine) -> None:
    two.gate.hold()
    with serving(two, shelf=shelf_of(two)) as served:
        first = begin(served, "Main-8B")
        served.wait_for_requests(1)
        second = begin(served, "Other-4B", stream=False)
        served.wait_for_requests(2)
    assert "shutting_down" in rest(first)
    assert "503" in (answer := rest(second))
    assert "shutting_down" in answer


def test_a_model_that_cannot_be_loaded_fails_those_who_wait_for_it_alone() -> None:
    engine = FakeEngine({MAIN.folder: MAIN, OTHER.folder: ModelTooLarge(OTHER.folder, 9, 1)})
    EngineClient(engine).load(Path(MAIN.folder))
    shelf = EngineShelf(engine, [ServedModel(MAIN, chosen=True), ServedModel(OTHER)])
    with serving(engine, shelf=shelf) as served:
        refused = served.post(CHAT, chat_body("x", model="Other-4B"))
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "out_of_memory")
        assert served.chat("x")["model"] == "Main-8B"
    engine.close()


class Needed(EngineShelf):
    """A person needs what is loaded, the first times."""

    times = 3

    def bring(self, model: ServedModel, refuse: Callable[[EngineError], None]) -> None:
        self.times -= 1
        if self.times:
            refuse(RepliesUnderWay(model.main.folder))
        else:
            super().bring(model, refuse)


def test_a_person_is_waited_for(two: FakeEngine) -> None:
    shelf = Needed(two, shelf_of(two).models())
    with serving(two, shelf=shelf, retry_s=0.01) as served:
        assert served.chat("x", model="Other-4B")["model"] == "Other-4B"
    assert shelf.times == 0


class Late(EngineShelf):
    """What it is to do is done by the test, which gets it as a call."""

    def __init__(self, engine: FakeEngine) -> None:
        super().__init__(engine, shelf_of(engine).models())
        self.calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def bring(self, model: ServedModel, refuse: Callable[[EngineError], None]) -> None:
        self.calls.put(lambda: super(Late, self).bring(model, refuse))

    def take_away(self, model: ServedModel) -> None:
        self.calls.put(lambda: super(Late, self).take_away(model))


def test_none_is_let_into_a_model_that_another_is_about_to_replace(two: FakeEngine) -> None:
    shelf = Late(two)
    with serving(two, shelf=shelf) as served:
        first = begin(served, "Other-4B", stream=False)
        bring = shelf.calls.get(timeout=PATIENCE_S)
        second = begin(served, "Main-8B", stream=False)
        served.wait_for_requests(2)
        assert two.requests == []
        bring()
        assert "200 OK" in rest(first)
        shelf.calls.get(timeout=PATIENCE_S)()
        assert "200 OK" in rest(second)
    assert [request.model for request in two.requests] == [OTHER.folder, MAIN.folder]


def test_none_is_let_into_a_model_whose_time_is_over(two: FakeEngine) -> None:
    shelf = Late(two)
    with serving(two, shelf=shelf) as served:
        first = begin(served, "Other-4B", stream=False)
        shelf.calls.get(timeout=PATIENCE_S)()
        rest(first)
        served.post("/api/generate", {"model": "Other-4B", "keep_alive": 0})
        take_away = shelf.calls.get(timeout=PATIENCE_S)
        two.gate.hold()
        second = begin(served, "Other-4B", stream=False)
        bring = shelf.calls.get(timeout=PATIENCE_S)
        assert len(two.requests) == 1
        take_away()
        bring()
        two.gate.open()
        assert "200 OK" in rest(second)


def test_who_waits_for_another_model_keeps_none_from_the_one_that_has_to_stay(two: FakeEngine) -> None:
    shelf = Needed(two, shelf_of(two).models())
    shelf.times = 1 << 30
    with serving(two, shelf=shelf, stay_s=0.0) as served:
        waits = begin(served, "Other-4B", stream=False)
        served.wait_for_requests(1)
        assert served.chat("x", model="Main-8B")["model"] == "Main-8B"
    assert "shutting_down" in rest(waits)


def test_folders_of_models_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loaded model has an absolute one, by which it is known again."""
    save(build(qwen3_config()), qwen3_config(), tmp_path / "models" / "Alpha")
    monkeypatch.chdir(tmp_path)
    (model,) = scan_folders([Path("models")])
    assert model.folder == str(tmp_path / "models" / "Alpha")


def test_a_model_that_its_owner_alone_loads_is_refused_as_such(two: FakeEngine) -> None:
    with serving(two, shelf=shelf_of(two, loads=False)) as served:
        refused = served.post(CHAT, chat_body("x", model="Other-4B"))
        assert (refused.status_code, refused.headers["x-should-retry"]) == (409, "false")
        assert "is installed, but not loaded" in refused.json()["error"]["message"]
        assert list(states_of(served)) == ["Main-8B"]


def test_in_the_app_no_program_keeps_its_model_longer_than_the_user_has_said(two: FakeEngine) -> None:
    with serving(two, shelf=shelf_of(two), guests=True, ttl_s=60.0) as served:
        served.chat("x", model="Other-4B", ttl=-1)
        (running,) = served.http.get("/api/ps").json()["models"]
    assert not running["expires_at"].startswith("2318")


def test_any_name_is_the_chosen_model_unless_it_is_one(two: FakeEngine) -> None:
    with serving(two, shelf=shelf_of(two), any_name=True) as served:
        assert served.chat("x", model="gpt-5")["model"] == "gpt-5"
        served.chat("x", model="Other-4B")
    assert [request.model for request in two.requests] == [MAIN.folder, OTHER.folder]
