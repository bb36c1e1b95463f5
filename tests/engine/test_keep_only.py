"""What is kept of a conversation goes with it: in memory and on disk, of the main model, the draft and a drafter."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import Engine, Event, Finished, ModelReady, Queued, Request, RequestId, Sampling, Speculation, TextDelta
from engine.decoding.sequence import Sequence
from engine.prefix.file import SUFFIX
from engine.prefix.memory import PrefixStore
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import PATIENCE_S, EngineClient

PROMPT = tuple(range(30, 70))
OTHER = tuple(range(90, 130))
NEXT = (51, 52, 53)
GREEDY = Sampling(temperature=0)


def asked(tokens: tuple[int, ...], conversation: str, max_tokens: int = 6) -> Request:
    drafts = Speculation.fixed(2)
    return Request(tokens=tokens, sampling=GREEDY, max_tokens=max_tokens, speculation=drafts, conversation=conversation)


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob(f"*{SUFFIX}"))


def settle(client: EngineClient) -> None:
    """Until the engine has done what it was told before."""
    done = threading.Event()
    client.engine.count_tokens("a", lambda _event: done.set())
    assert done.wait(60)


def test_a_conversation_that_goes_as_its_request_is_queued_leaves_nothing(client: EngineClient) -> None:
    """Who hears that it is queued says so: the request is not on its way to the engine's thread yet."""
    ends: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def sink(event: Event) -> None:
        if isinstance(event, Queued):
            client.engine.keep_only(["2"])
        ends.put(event)

    client.engine.submit(asked(PROMPT, "1"), sink)
    while not isinstance(ends.get(timeout=60), Finished):
        pass
    assert client.run(asked((*PROMPT, *NEXT), "1")).stats.cached_tokens == 0


@pytest.fixture
def own(zoo: Zoo, tmp_path: Path) -> Iterator[EngineClient]:
    """Keeps its caches in a folder of this test."""
    client = EngineClient(Engine(tmp_path))
    assert isinstance(client.load(zoo.main, zoo.drafts["close"]), ModelReady)
    yield client
    assert client.engine.close()


@pytest.mark.parametrize("restarted", [False, True])
def test_a_conversation_that_is_gone_leaves_nothing(zoo: Zoo, tmp_path: Path, *, restarted: bool) -> None:
    engine = Engine(tmp_path)
    client = EngineClient(engine)
    assert isinstance(client.load(zoo.main, zoo.drafts["close"]), ModelReady)
    replies = {
        name: client.run(asked(tokens, name)) for name, tokens in (("1", PROMPT), ("2", OTHER), ("", (7, *OTHER)))
    }
    if restarted:
        assert engine.close()
        assert len(files(tmp_path)) == 6
        engine = Engine(tmp_path)
        client = EngineClient(engine)
        assert isinstance(client.load(zoo.main, zoo.drafts["close"]), ModelReady)

    engine.keep_only(["2"])
    settle(client)

    if restarted:
        assert len(files(tmp_path)) == 4
    again = {
        name: client.run(asked((*tokens, *replies[name].tokens, *NEXT), name)).stats.cached_tokens
        for name, tokens in (("1", PROMPT), ("2", OTHER), ("", (7, *OTHER)))
    }
    assert again["1"] == 0
    assert min(again["2"], again[""]) >= len(OTHER)
    assert engine.close()
    assert len(files(tmp_path)) >= 6


def test_what_is_kept_is_written_while_nothing_is_asked(own: EngineClient, tmp_path: Path) -> None:
    """A process that is killed later has it."""
    own.run(asked(PROMPT, "1"))
    gives_up_at_s = time.monotonic() + PATIENCE_S
    while len(files(tmp_path)) < 2:  # of the main model and of the draft
        assert time.monotonic() < gives_up_at_s
        settle(own)


def test_a_reply_under_way_of_a_conversation_that_is_gone_is_written_and_leaves_nothing(
    own: EngineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    put: list[str] = []
    whole = PrefixStore.put

    def noted(store: PrefixStore, sequence: Sequence) -> None:
        put.append(sequence.conversation)
        whole(store, sequence)

    monkeypatch.setattr(PrefixStore, "put", noted)

    def forget(_request: RequestId, event: Event) -> None:
        if isinstance(event, TextDelta) and not told:
            told.append(event)
            own.engine.keep_only([])

    told: list[Event] = []
    reply = own.run(asked(PROMPT, "1", 40), forget)

    assert told
    assert len(reply.tokens) == 40
    assert put == ["1", "1"]
    assert own.run(asked((*PROMPT, *reply.tokens, *NEXT), "1")).stats.cached_tokens == 0


def test_a_reply_that_waits_of_a_conversation_that_is_gone_is_written_and_leaves_nothing(
    own: EngineClient,
) -> None:
    ended: queue.SimpleQueue[Finished] = queue.SimpleQueue()

    def note(event: Event) -> None:
        if isinstance(event, Finished):
            ended.put(event)

    def ask_and_forget(_request: RequestId, event: Event) -> None:
        """On the engine's thread, which so hears of both before it begins the reply."""
        if isinstance(event, TextDelta) and not asked_for:
            asked_for.append(own.engine.submit(asked(OTHER, "2"), note))
            own.engine.keep_only(["1"])

    asked_for: list[RequestId] = []
    first = own.run(asked(PROMPT, "1", 40), ask_and_forget)
    second = ended.get(timeout=60)

    assert (len(first.tokens), len(second.tokens)) == (40, 6)
    assert own.run(asked((*PROMPT, *first.tokens, *NEXT), "1")).stats.cached_tokens > len(PROMPT)
    assert own.run(asked((*OTHER, *second.tokens, *NEXT), "2")).stats.cached_tokens == 0


def test_a_conversation_may_begin_as_one_that_is_gone(own: EngineClient, zoo: Zoo) -> None:
    """It reads anew what was written for the other, and its text is the same."""
    texts = []
    for name in ("1", "2", "2"):
        assert isinstance(own.load(zoo.main, zoo.drafts["close"]), ModelReady)  # what is kept is written, and read
        texts.append(own.run(asked((*PROMPT, *NEXT), name)).tokens)
        if name == "2":
            own.engine.keep_only(["2"])
    assert texts[0] == texts[1] == texts[2]


def test_a_reply_is_queued_under_any_name(zoo: Zoo, tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    client = EngineClient(engine)
    assert isinstance(client.load(zoo.main), ModelReady)
    outcome = client.run(asked(PROMPT, "../한 글\ud800\n" * 500))
    assert isinstance(outcome.events[0], Queued)
    assert engine.close()
    assert files(tmp_path)
    assert all(file.is_relative_to(tmp_path) for file in files(tmp_path))


@pytest.mark.expect_log("could not be removed")
def test_a_file_that_cannot_be_removed_keeps_no_other(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(tmp_path)
    client = EngineClient(engine)
    assert isinstance(client.load(zoo.main), ModelReady)
    for name, tokens in (("1", PROMPT), ("2", OTHER), ("3", (7, *OTHER))):
        client.run(asked(tokens, name))
    assert isinstance(client.load(zoo.main), ModelReady)  # what is kept is written
    kept = files(tmp_path)
    assert len(kept) == 3
    stuck, unlink = kept[0], Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path == stuck:
            raise PermissionError(13, "Permission denied")
        unlink(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        engine.keep_only([])
        settle(client)
        assert files(tmp_path) == [stuck]
    assert engine.close()
