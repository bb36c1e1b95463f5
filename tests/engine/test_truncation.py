"""Chats that do not fit the context: which exchanges are left out, that later turns are read from caches, same text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import (
    ContextTooLong,
    Engine,
    Failed,
    Message,
    MessageRole,
    ModelReady,
    Picture,
    PromptTruncated,
    Request,
    Sampling,
    Speculation,
    ToolCall,
    Truncation,
)
from engine.decoding.prompt import prompt_tokens
from engine.decoding.truncation import Fitted, fitted
from engine.models.loading import LoadedModel
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import EngineClient, Outcome
from tests.helpers.family_chats import FAMILIES, as_family
from tests.helpers.loading import load_model
from tests.helpers.tiny_eyes import picture, save_seeing

SYSTEM, USER, ASSISTANT, TOOL = MessageRole.SYSTEM, MessageRole.USER, MessageRole.ASSISTANT, MessageRole.TOOL
LIMIT = 600
NO_END = ((257, -100.0),)
PLAIN = Speculation.off()


@pytest.fixture(scope="module")
def families(base: LoadedModel) -> dict[str, LoadedModel]:
    return {name: as_family(base, name) for name in FAMILIES}


def oldest_left_out(messages: Sequence[Message], kept: Sequence[int], model: LoadedModel, limit: int, room: int) -> int:
    """By trying each number of exchanges: how many go until the rest takes half of the context."""
    if tokens_of(messages, model) + room <= limit:
        return 0
    gone = 0
    while (rest := without_oldest(messages, kept, gone + 1)) is not None:
        gone += 1
        if tokens_of(rest, model) <= limit // 2:
            break
    return gone


def tokens_of(messages: Sequence[Message], model: LoadedModel) -> int:
    return len(prompt_tokens(Request(messages=tuple(messages)), model))


def without_oldest(messages: Sequence[Message], kept: Sequence[int], count: int) -> list[Message] | None:
    """None: there are not so many that may go."""
    turns: list[list[int]] = []
    for at, message in enumerate(messages):
        if message.role is SYSTEM and not turns:
            continue
        if message.role is USER or not turns:
            turns.append([])
        turns[-1].append(at)
    may_go = [turn for turn in turns[:-1] if not set(turn) & set(kept)]
    if count > len(may_go):
        return None
    gone = {at for turn in may_go[:count] for at in turn}
    return [message for at, message in enumerate(messages) if at not in gone]


WORDS = st.text("ab e1ß안日\n|>", min_size=1, max_size=60).map(lambda text: text * 2)


@st.composite
def chats(draw: st.DrawFn) -> tuple[tuple[Message, ...], tuple[int, ...]]:
    messages = [Message(SYSTEM, draw(WORDS))] if draw(st.booleans()) else []
    if draw(st.booleans()):
        messages.append(Message(ASSISTANT, draw(WORDS)))
    for number in range(draw(st.integers(1, 14))):
        messages.append(Message(USER, draw(WORDS)))
        if draw(st.integers(0, 4)) == 0:
            call = ToolCall(f"call{number:05}", "look", '{"at": "it"}')
            messages.append(Message(ASSISTANT, draw(WORDS), tool_calls=(call,)))
            messages.append(Message(TOOL, draw(WORDS), tool_call_id=call.id, name="look"))
        messages.append(Message(ASSISTANT, draw(WORDS)))
    if messages[-2].role is USER or draw(st.booleans()):
        messages.append(Message(USER, draw(WORDS)))
    kept = draw(st.sets(st.integers(0, len(messages) - 1), max_size=2))
    return tuple(messages), tuple(kept)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chat=chats(), limit=st.integers(60, 900), room=st.sampled_from([None, 1, 40]), name=st.sampled_from([*FAMILIES]))
def test_what_goes_is_what_trying_one_after_another_finds(
    families: dict[str, LoadedModel],
    chat: tuple[tuple[Message, ...], tuple[int, ...]],
    limit: int,
    room: int | None,
    name: str,
) -> None:
    model = families[name]
    messages, kept = chat
    request = Request(messages=messages, kept=kept, max_tokens=room, truncation=Truncation.OLDEST)
    gone = oldest_left_out(messages, kept, model, limit, min(room or limit, limit // 4))
    found = fitted(request, replace(model, beside={}), limit)
    left = messages if not gone else tuple(without_oldest(messages, kept, gone) or ())
    assert found.request.messages == left
    assert found.tokens == prompt_tokens(Request(messages=left), model)
    assert messages[found.first :] == left[len(left) - (len(messages) - found.first) :]
    assert (found.first > 0) == (gone > 0)


def told(number: int) -> str:
    return f"{number}: what of the {'sea ' * (number % 5 + 2)}?"


def asking(messages: Sequence[Message], speculation: Speculation = PLAIN, limit: int = LIMIT) -> Request:
    sampling = Sampling(temperature=0.8, seed=3, logit_bias=NO_END)
    return Request(
        messages=tuple(messages),
        sampling=sampling,
        speculation=speculation,
        max_tokens=24,
        context_tokens=limit,
        truncation=Truncation.OLDEST,
    )


def turns(
    client: EngineClient,
    count: int,
    speculation: Speculation = PLAIN,
    system: str = "Be brief.",
    limit: int = LIMIT,
) -> list[Outcome]:
    """A chat that a client sends as a whole with each of its questions."""
    messages = [Message(SYSTEM, system)]
    outcomes = []
    for number in range(count):
        messages.append(Message(USER, told(number)))
        outcomes.append(client.run(asking(messages, speculation, limit)))
        messages.append(Message(ASSISTANT, outcomes[-1].text()))
    return outcomes


def first_read(outcome: Outcome) -> int:
    return next((event.first for event in outcome.events if isinstance(event, PromptTruncated)), 0)


def check_turns(outcomes: Sequence[Outcome]) -> None:
    """Each has its words; those after a cut are read from the same place, and only what is new."""
    firsts = [first_read(each) for each in outcomes]
    assert len(set(firsts)) > 2
    assert firsts == sorted(firsts)
    for number, (before, now) in enumerate(pairwise(outcomes), start=1):
        assert len(now.tokens) == 24
        new = now.stats.prompt_tokens - before.stats.prompt_tokens
        if firsts[number] == firsts[number - 1]:
            assert now.stats.cached_tokens >= before.stats.prompt_tokens - 32
            assert 0 < new < LIMIT // 4
        else:
            assert now.stats.prompt_tokens <= LIMIT // 2


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["dense", "window", "hybrid"])
def test_a_chat_goes_on_from_kept_caches_whatever_is_left_out(folders: dict[str, Path], kind: str) -> None:
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(folders[kind]), ModelReady)
    check_turns(turns(client, 24))
    assert engine.close()


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["dense", "window", "hybrid"])
def test_a_long_system_prompt_is_read_once(folders: dict[str, Path], kind: str) -> None:
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(folders[kind]), ModelReady)
    outcomes = turns(client, 14, system="Be brief. " * 105, limit=1500)
    cuts = [now for before, now in pairwise(outcomes) if first_read(now) != first_read(before)]
    assert len(cuts) > 1
    assert all(each.stats.cached_tokens >= 1050 for each in outcomes[1:])
    assert all(each.stats.cached_tokens < 1100 for each in cuts)
    assert engine.close()


def test_the_same_text_with_any_draft(client: EngineClient, zoo: Zoo) -> None:
    plain = turns(client, 9)
    assert len({first_read(each) for each in plain}) > 1
    for speculation in (Speculation.fixed(3), Speculation.auto()):
        assert [each.tokens for each in turns(client, 9, speculation)] == [each.tokens for each in plain]
    client.set_draft(None)  # lookup is left
    assert [each.tokens for each in turns(client, 9, Speculation.fixed(3))] == [each.tokens for each in plain]


def test_what_may_not_be_left_out_fails(client: EngineClient) -> None:
    messages = [Message(USER, told(0)), Message(ASSISTANT, "Yes."), Message(USER, "x" * LIMIT)]
    whole = replace(asking(messages), truncation=Truncation.NONE)
    for request in (whole, asking(messages), replace(asking(messages), kept=(0,))):
        failed = client.run(request).events[-1]
        assert isinstance(failed, Failed)
        assert isinstance(failed.error, ContextTooLong)


def test_kept_exchanges_stay_though_they_take_more_than_half(client: EngineClient) -> None:
    asked = [Message(USER, "x" * 300), *(Message(ASSISTANT, "Yes."), Message(USER, told(0))) * 2]
    request = asking([*asked[:-1], Message(USER, "y" * 430)], limit=830)
    left, kept = client.run(request), client.run(replace(request, kept=(1,)))
    assert first_read(left) == first_read(kept) == 4
    assert kept.stats.prompt_tokens - left.stats.prompt_tokens > 300
    assert kept.stats.prompt_tokens > 415


def test_steps_of_an_exchange_go_on_where_it_was_cut(families: dict[str, LoadedModel]) -> None:
    """What the next step sends is read as the cut one was: by its tokens."""
    model = families["qwen3"]
    old = [each for at in range(8) for each in (Message(USER, told(at)), Message(ASSISTANT, "So it is. " * 4))]
    request = replace(asking([*old, Message(USER, "Look.")]), max_tokens=24)
    cut = fitted(request, model, LIMIT)
    assert 0 < cut.first < len(old)
    call = ToolCall("abcdefghi", "look", '{"at": "it"}')
    after = (Message(ASSISTANT, "", tool_calls=(call,)), Message(TOOL, "blue", tool_call_id=call.id, name="look"))
    whole = replace(request, messages=(*request.messages, *after))
    assert fitted(whole, model, LIMIT).request.messages == (*cut.request.messages, *after)


def test_the_tokens_of_pictures_count(tmp_path: Path) -> None:
    model = load_model(save_seeing("qwen3_vl", tmp_path))
    large = picture(120, 120)
    messages = [each for at in range(9) for each in (shown(f"{at}?", large), Message(ASSISTANT, "Grey."))]
    request = asking([*messages, shown("And this?", large)])
    alone = tokens_of(messages[:1], model)
    assert alone > 40
    cut = fitted(request, model, 8 * alone)
    assert len(cut.tokens) <= 4 * alone
    assert 3 <= sum(bool(each.pictures) for each in cut.request.messages) < 5


def test_pictures_that_alone_fill_the_context(tmp_path: Path) -> None:
    """Older ones are left out; kept and newest ones that do not fit are said to be too long."""
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(save_seeing("qwen3_vl", tmp_path)), ModelReady)
    large = picture(120, 120)
    old = [each for at in range(3) for each in (shown(f"{at}?", large), Message(ASSISTANT, "Grey."))]
    limit = 2 * tokens_of(old[:1], load_model(tmp_path)) - 20
    request = replace(asking([*old, Message(USER, "And now?")], limit=limit), max_tokens=8)
    left = client.run(request)
    assert first_read(left) == 6
    assert len(left.tokens) == 8
    for too_long in (
        replace(request, kept=(0, 2)),
        replace(request, messages=(Message(USER, "?", pictures=(large, large, large)),)),
    ):
        failed = client.run(too_long).events[-1]
        assert isinstance(failed, Failed)
        assert isinstance(failed.error, ContextTooLong)
        assert not failed.error.can_truncate
    assert client.run(request).tokens == left.tokens
    assert engine.close()


def shown(text: str, each: Picture) -> Message:
    return Message(USER, text, pictures=(each,))


def test_a_very_long_chat_is_not_encoded(base: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(request: Request, *others: object) -> list[int]:
        read.append(len(request.messages))
        return prompt_tokens(request, *others)  # type: ignore[arg-type]

    monkeypatch.setattr("engine.decoding.truncation.prompt_tokens", counted)
    old = [each for at in range(2500) for each in (Message(USER, told(at)), Message(ASSISTANT, "So it is. " * 4))]
    found: Fitted = fitted(asking([*old, Message(USER, "Yes?")]), base, LIMIT)
    assert found.first > 4900
    assert sum(read) < 400
