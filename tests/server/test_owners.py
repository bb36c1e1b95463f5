"""What one program asked, and the user of the app, shows in no figure of another program's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine import Engine, Finished, Message, MessageRole, ModelReady, Request, Sampling
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from tests.helpers.engine_client import EngineClient
from tests.helpers.fake_engine import FakeEngine, Script
from tests.helpers.served import Served, chat_body, serving
from tests.server.conftest import STARTER

SECRET = "Remember this and tell nobody: the word that opens the door is hunter-7431."
GUESSES = [SECRET, SECRET.replace("7431", "7430"), SECRET.replace("hunter", "farmer"), "Something else entirely."]
SHORT = {"max_tokens": 2, "temperature": 0, "num_draft_tokens": 2}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def house(folder: Path) -> Iterator[Served]:
    engine = Engine(folder)
    assert isinstance(EngineClient(engine).load(STARTER / "main", STARTER / "draft"), ModelReady)
    with serving(engine, guests=True) as served:
        yield served
    assert engine.close()


def figures(house: Served, text: str, key: str) -> tuple[int, int]:
    """Cached tokens as a program with this key is told them, by OpenAI's name and by llama.cpp's."""
    headers = {"authorization": f"Bearer {key}"}
    answer = house.post("/v1/chat/completions", chat_body(text, **SHORT), headers).json()
    return answer["usage"]["prompt_tokens_details"]["cached_tokens"], answer["timings"]["cache_n"]


def by_user(house: Served, text: str) -> int:
    """Cached tokens of the user's own chat."""
    asked = Request((Message(MessageRole.USER, text),), sampling=Sampling(temperature=0), max_tokens=2)
    last = EngineClient(house.server._engine).run(asked).events[-1]
    assert isinstance(last, Finished)
    return last.stats.cached_tokens


@pytest.mark.parametrize("whose", ["the user's", "a program's"])
def test_a_right_guess_looks_like_a_wrong_one(house: Served, folder: Path, whose: str) -> None:
    """In memory, and on disk after the models were exchanged; the drafts' caches as well."""
    positions: list[tuple[str, int]] = []
    take = PrefixStore.take

    def noted(store: PrefixStore, model: LoadedModel, tokens: list[int], *further: Any, **named: Any) -> Any:
        sequence = take(store, model, tokens, *further, **named)
        positions.append((model.info.name, sequence.caches.position))
        return sequence

    def ask_own() -> int:
        return by_user(house, SECRET) if whose == "the user's" else figures(house, SECRET, "own")[0]

    assert ask_own() == 0
    for stored in (False, True):
        if stored:
            client = EngineClient(house.server._engine)
            assert isinstance(client.load(STARTER / "main", STARTER / "draft"), ModelReady)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PrefixStore, "take", noted)
            found = {figures(house, guess, f"{stored} {at}") for at, guess in enumerate(GUESSES)}
        assert found == {(0, 0)}
        assert len({name for name, _ in positions}) == 2
        assert {position for _, position in positions} == {0}
        positions.clear()
        assert ask_own() > 20
    assert list(folder.rglob("*.safetensors"))


def test_who_asks_is_told_by_key_name_user_and_salt(house: Served) -> None:
    """Each of them alone keeps programs apart; the same in all of them goes on from its own."""
    said: list[tuple[dict[str, str], dict[str, Any]]] = [
        ({}, {}),
        ({"user-agent": "other"}, {}),
        ({"authorization": "Bearer other"}, {}),
        ({"x-api-key": "another"}, {}),
        ({"origin": f"http://127.0.0.1:{house.port}"}, {}),
        ({}, {"user": "other"}),
        ({}, {"cache_salt": "other"}),
    ]
    for expected in (False, True):
        for headers, fields in said:
            answer = house.post("/v1/chat/completions", chat_body(SECRET, **SHORT, **fields), headers)
            cached = answer.json()["usage"]["prompt_tokens_details"]["cached_tokens"]
            assert (cached > 20) is expected, (headers, fields)
            assert "x-hunch-ignored" not in answer.headers


def test_sums_over_programs_leave_out_the_user_and_need_a_key_in_the_app(scripted: FakeEngine) -> None:
    with serving(scripted, guests=True) as served:
        assert served.http.get("/metrics").status_code == 403
    scripted.scripts.append(Script())
    scripted.gate.hold()
    with serving(scripted, guests=True, key="secret") as served:
        scripted.submit(Request(text="mine"), lambda _event: None)
        running = len(scripted.state().running) + len(scripted.state().queued)
        text = served.http.get("/metrics", headers={"x-api-key": "secret"}).text
        scripted.gate.open()
    assert running == 1
    assert "hunch_requests_running 0.0" in text
    assert "hunch_requests_waiting 0.0" in text
