"""Thinking ends at its limit, or on command: the text is the same with any draft, alone or among others, and goes on as
plain decoding would from there.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from engine import Request, Sampling, SpanKind, Speculation, TextDelta
from engine.decoding.accept import NO_DRAFT, Draft
from engine.decoding.guide import Guide, ThinkingMarkers
from engine.models.loading import LoadedModel
from tests.engine.batch_harness import GREEDY, Harness, Recorder, written
from tests.engine.conftest import WIDTH
from tests.engine.test_constraints import JSON, is_person
from tests.helpers.loading import load_model
from tests.helpers.round_check import check_rounds
from tests.helpers.tiny_models import rewrite

SAMPLED = Sampling(temperature=0.8, seed=5, top_p=0.9, repetition_penalty=1.2)
NONE = "no draft"
OPENS, CLOSES, LINE = 259, 260, 10


@pytest.fixture
def models(thinkers: dict[str, LoadedModel]) -> dict[str, LoadedModel]:
    assert thinkers["main"].tokenizer.encode("<think></think>") == [OPENS, CLOSES]
    return thinkers


def asking(
    most: int | None,
    sampling: Sampling = GREEDY,
    speculation: Speculation | None = None,
    prompt: tuple[int, ...] = (65, 66, OPENS),
    length: int = 20,
) -> Request:
    return Request(
        tokens=prompt,
        thinking_tokens=most,
        sampling=sampling,
        speculation=speculation or Speculation.off(),
        max_tokens=length,
        trace=True,
    )


def goes_on_plainly(models: dict[str, LoadedModel], reply: Recorder, asked: Request, *, thought: int) -> None:
    """From its end of thinking on."""
    assert reply.tokens[thought] == CLOSES
    assert CLOSES not in reply.tokens[:thought]
    before = (*asked.tokens, *reply.tokens[: thought + 1])
    left = (asked.max_tokens or 0) - thought - 1
    rest = replace(asked, tokens=before, max_tokens=left, speculation=Speculation.off(), thinking_tokens=None)
    (plain,) = written(models, NONE, rest)
    assert reply.tokens[thought + 1 :] == plain.tokens


def said(reply: Recorder, kind: SpanKind) -> str:
    return "".join(each.text for each in reply.events if isinstance(each, TextDelta) and each.kind is kind)


@pytest.mark.costly
@pytest.mark.parametrize(("sampling", "most"), [(SAMPLED, 0), (GREEDY, 1), (SAMPLED, 9)])
def test_thinking_ends_at_its_limit(models: dict[str, LoadedModel], sampling: Sampling, most: int) -> None:
    asked = asking(most, sampling)
    (free,) = written(models, NONE, replace(asked, thinking_tokens=None))
    (plain,) = written(models, NONE, asked)
    assert plain.tokens[:most] == free.tokens[:most]
    assert CLOSES not in free.tokens
    goes_on_plainly(models, plain, asked, thought=most)
    assert bool(said(plain, SpanKind.THINKING)) == (most > 0)
    assert said(plain, SpanKind.ANSWER)
    (drafted,) = written(models, "close", replace(asked, speculation=Speculation.fixed(5)))
    assert drafted.tokens == plain.tokens
    check_rounds(drafted.finished)


@pytest.mark.parametrize("speculation", [Speculation.off(), Speculation.fixed(4)], ids=["plain", "drafted"])
def test_limit_is_the_same_in_company(models: dict[str, LoadedModel], speculation: Speculation) -> None:
    """Beside a reply with another limit, and one without."""
    requests = [
        asking(3, SAMPLED, speculation, length=14),
        asking(8, SAMPLED, speculation, (70, OPENS), length=14),
        asking(None, SAMPLED, speculation, (70, 71), length=14),
    ]
    together = written(models, "close", *requests)
    assert max(each.finished.stats.shared_rounds for each in together) > 3
    for request, beside in zip(requests, together, strict=True):
        (alone,) = written(models, NONE, replace(request, speculation=Speculation.off()))
        assert beside.tokens == alone.tokens
    assert [each.tokens.index(CLOSES) for each in together[:2]] == [3, 8]


@pytest.mark.slow
@pytest.mark.parametrize("speculation", [Speculation.off(), Speculation.fixed(4)], ids=["plain", "drafted"])
def test_answer_keeps_to_its_schema_after_the_limit(models: dict[str, LoadedModel], speculation: Speculation) -> None:
    request = replace(asking(3, SAMPLED, speculation, length=160), constraint=JSON)
    reply, _ = written(models, "close", request, asking(17, SAMPLED, speculation, (70, OPENS)))
    (alone,) = written(models, NONE, replace(request, speculation=Speculation.off()))
    assert reply.tokens == alone.tokens
    assert reply.tokens.index(CLOSES) == 3
    assert is_person(said(reply, SpanKind.ANSWER))


def test_end_is_drafted_for_nothing(models: dict[str, LoadedModel]) -> None:
    """Where no other draft runs across the limit."""
    replies = written(models, NONE, *(asking(most, SAMPLED, Speculation.fixed(1)) for most in (3, 4, 5)))
    forced = [each for reply in replies for each in reply.finished.rounds if each.source == "forced"]
    assert forced
    assert all(each.drafted == (CLOSES,) and each.accepted == 1 for each in forced)


@pytest.mark.parametrize("prompt", [(65, 66, 67), (65, OPENS, 66, CLOSES)], ids=["none", "ended"])
def test_what_does_not_think_is_not_touched(models: dict[str, LoadedModel], prompt: tuple[int, ...]) -> None:
    (free,) = written(models, NONE, asking(None, SAMPLED, Speculation.fixed(3), prompt))
    (held,) = written(models, NONE, asking(0, SAMPLED, Speculation.fixed(3), prompt))
    assert held.tokens == free.tokens
    assert CLOSES not in held.tokens


@pytest.mark.costly
@pytest.mark.parametrize(
    ("sampling", "alone", "speculation"),
    [
        (GREEDY, True, Speculation.off()),
        (SAMPLED, True, Speculation.fixed(4)),
        (SAMPLED, False, Speculation.off()),
        (GREEDY, False, Speculation.fixed(4)),
    ],
    ids=["greedy, alone", "sampled, alone, drafted", "sampled, in company", "greedy, in company, drafted"],
)
def test_answer_on_command_goes_on_as_plain_decoding_would(
    models: dict[str, LoadedModel], sampling: Sampling, alone: bool, speculation: Speculation
) -> None:
    """At most one token later: a forward may be under way."""
    harness = Harness(models["main"], models["close"])
    asked = asking(None, sampling, speculation)
    reply = harness.submit(asked)
    others = [harness.submit(asking(None, sampling, speculation, (70, 71))) for _ in range(0 if alone else 2)]
    harness.until_written(reply, 7)
    so_far = reply.written
    harness.scheduler.answer_now(reply.queued.id)
    harness.run_dry()
    thought = reply.tokens.index(CLOSES)
    assert so_far <= thought <= so_far + 1
    goes_on_plainly(models, reply, asked, thought=thought)
    check_rounds(reply.finished)
    for other in others:
        (plain,) = written(models, NONE, replace(other.queued.request, speculation=Speculation.off()))
        assert other.tokens == plain.tokens


def test_answer_on_command_before_it_begins_and_after_it_thought(models: dict[str, LoadedModel]) -> None:
    assert models["main"].info.ends_thinking
    harness = Harness(models["main"])
    asked = asking(5)
    early, late = harness.submit(asked), harness.submit(asked)
    harness.scheduler.answer_now(early.queued.id)
    harness.until_written(late, 9)
    harness.scheduler.answer_now(late.queued.id)
    harness.run_dry()
    assert early.tokens[0] == CLOSES
    assert late.tokens == written(models, NONE, asked)[0].tokens


def test_thinking_whose_end_ends_the_reply_has_no_limit(models: dict[str, LoadedModel], tmp_path: Path) -> None:
    folder = shutil.copytree(models["main"].info.folder, tmp_path / "ends")
    rewrite(folder / "config.json", eos_token_id=[257, CLOSES])
    assert not load_model(folder).info.ends_thinking


# The guide itself, with markers of several tokens.


def guide(most: int | None, *, begun: bool = True) -> Guide:
    """Of a model whose markers are spelled out."""
    opens, ends = (tuple(map(ord, marker)) for marker in ("<think>", "</think>"))
    thinking = ThinkingMarkers(
        opens, b"</think>", begun, True, ends, lambda token: bytes([token]) if token < 256 else b""
    )
    return Guide(None, thinking, most)


def allowed(follower: Guide, text: str = "") -> list[str | None]:
    """After each character of a draft: the only character that is allowed, or None where several are."""
    draft = Draft(mx.array(list(map(ord, text)), dtype=mx.uint32)) if text else NO_DRAFT
    logits = np.array(follower.masked(mx.zeros((draft.tokens.size + 1, WIDTH)), draft))
    rows = [np.flatnonzero(row == 0).tolist() for row in logits]
    return [chr(row[0]) if len(row) == 1 else None for row in rows]


@pytest.mark.parametrize(
    ("most", "draft", "only"),
    [
        (2, "ab</think>xy", [None, None, *"</think>", None, None, None]),
        (4, "ab</think>xy", [None] * 4 + [*"think>", None, None, None]),
        (4, "a<</think>b", [None] * 4 + [*"think>", None, None]),
        (30, "ab</think>xy", [None] * 13),
        (0, "</think>ab", [*"</think>", None, None, None]),
    ],
)
def test_end_of_several_tokens_goes_on_from_what_is_there(most: int, draft: str, only: list[str | None]) -> None:
    assert allowed(guide(most), draft) == only


def test_masks_of_a_draft_are_those_of_its_tokens_one_by_one() -> None:
    draft = "  <think>ab</think> <think>cd"
    at_once, follower = allowed(guide(2, begun=False), draft), guide(2, begun=False)
    for at, letter in enumerate(draft):
        assert allowed(follower)[0] == at_once[at], at
        follower.commit([ord(letter)])
    assert "".join(each for each in at_once if each) == "</think>"  # once
    assert not follower.acts_within(100)


def test_nothing_is_masked_before_the_limit_comes_near() -> None:
    logits = mx.zeros((5, WIDTH))
    follower = guide(9)
    assert follower.masked(logits, Draft(mx.array(list(b"abcd")))) is logits
    follower.commit(list(b"abcde"))
    assert follower.masked(logits, Draft(mx.array(list(b"abcd")))) is not logits
    assert follower.forced() == []
    follower.end_thinking()
    assert bytes(follower.forced()) == b"</think>"
