"""Marks in a reply's text: what a draft foresaw and where it was overruled, from the engine's own rounds."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import pytest

from engine import DraftMark, Request, Sampling, SpanKind, Speculation, TextDelta
from engine.api.stats import StatsRecorder
from engine.decoding.accept import Draft
from engine.decoding.round import Round
from engine.decoding.sources import Sources
from engine.decoding.text import TextSpan
from engine.runtime.output import DraftMarks
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import EngineClient, Outcome

PROMPT = tuple(range(40, 80))


def request(speculation: Speculation, length: int = 60) -> Request:
    return Request(
        tokens=PROMPT, sampling=Sampling(temperature=0), max_tokens=length, speculation=speculation, trace=True
    )


def marks_of(outcome: Outcome) -> list[DraftMark]:
    return [mark for event in outcome.events if isinstance(event, TextDelta) for mark in event.marks]


@pytest.mark.costly
@pytest.mark.parametrize("draft", ["close", "poor", "itself"])
def test_marks_tell_what_the_rounds_did(client: EngineClient, zoo: Zoo, draft: str) -> None:
    client.set_draft(zoo.drafts[draft])
    outcome = client.run(request(Speculation.fixed(4)))
    rounds, marks = outcome.finished.rounds, marks_of(outcome)
    overruled = {
        (number, each.accepted + 1, len(each.drafted))
        for number, each in enumerate(rounds, start=1)
        if each.accepted < len(each.drafted)
    }
    told = {(mark.round, mark.position, mark.drafted) for mark in marks if not mark.accepted}
    assert told <= overruled  # some tokens are part of a character only
    assert len(told) > len(overruled) // 3 or draft == "itself"
    assert any(mark.accepted for mark in marks) == any(each.accepted for each in rounds)
    assert all(one.start < one.end <= other.start for one, other in pairwise(marks))
    assert marks[-1].end <= len(outcome.text())


@pytest.mark.parametrize("rounds", [1, 2, 41, 42, 400, 1000])
def test_stretches_stay_few_and_hold_every_token(rounds: int) -> None:
    recorder = StatsRecorder(0.0)
    for number in range(rounds):
        recorder.count_round(3, number % 4, number % 4 + 1, 0.01)
    stats = recorder.freeze()
    assert len(stats.emitted_by_stretch) <= 40
    assert sum(stats.emitted_by_stretch) == stats.generated_tokens - 1
    assert len(stats.tokens_per_pass_over_time) == len(stats.emitted_by_stretch)
    assert all(1 <= each <= 4 for each in stats.tokens_per_pass_over_time)


# Marks beside what they say of each character, told one by one from scripted rounds.


END = 99
LONG = 98
WORDS = {token: f" {'abcdefghij'[token]}{token}"[: 1 + token % 3] for token in range(10)} | {LONG: " " + "x" * 300}
Origin = tuple[str | None, int, int, int]  # wanted, position, drafted, round
FORESEEN: Origin = (None, 0, 0, 0)


def decode(tokens: list[int]) -> str:
    """As many tokenizers do it, without the space at the start of a text."""
    return "".join(WORDS[token] for token in tokens).removeprefix(" ")


def marks_for(decode: Any = decode) -> DraftMarks:
    model: Any = SimpleNamespace(ends={END}, tokenizer=SimpleNamespace(decode=decode))
    return DraftMarks(model)


def origin_of(mark: DraftMark) -> Origin:
    return mark.wanted, mark.position, mark.drafted, mark.round


@pytest.mark.parametrize("seed", range(6))
def test_each_character_is_marked_by_the_tokens_that_made_it(seed: int) -> None:
    """Foreseen where all of them were, overruled where one was; each kind of text counts its own characters."""
    coin, marks, sources = Random(seed), marks_for(), Sources()
    origins: list[Origin | None] = []  # by token
    written: dict[SpanKind, list[Origin | None]] = {kind: [] for kind in SpanKind}  # by character
    told: dict[SpanKind, list[Origin | None]] = {kind: [] for kind in SpanKind}
    last, kind, made = 0, SpanKind.ANSWER, 0
    for number in range(1, 60):
        drafted = [coin.randrange(10) for _ in range(coin.choice([0, 1, 3, 5]))]
        accepted = coin.randint(0, len(drafted))
        verdict, first = coin.randrange(10), len(origins)
        ahead = [last, *drafted][accepted]
        done = Round((*drafted[:accepted], verdict), 1.0, len(drafted), accepted, draft=Draft(mx.array(drafted)))
        marks.note(done, first, number, ahead)
        origins += [FORESEEN] * accepted
        overruled = accepted < len(drafted)
        origins.append((WORDS[drafted[accepted]], accepted + 1, len(drafted), number) if overruled else None)
        last = verdict

        silent = first
        for token in range(first, len(origins)):
            sources.count_token()
            chars = coin.choice([0, 1, 2]) if token < len(origins) - 1 else 1
            sources.add(chars)
            if chars:
                of = origins[silent : token + 1]
                wrong = next((each for each in of if each not in (None, FORESEEN)), None)
                written[kind] += [wrong or (FORESEEN if all(of) else None)] * chars
                made, silent = made + chars, token + 1
        if number < 59 and coin.random() < 0.6:
            continue  # the text of some rounds is held back
        cut = coin.randint(0, made)
        placed = marks.place(kind, [TextSpan(kind, "x" * chars, sources.take(chars)) for chars in (cut, made - cut)])
        assert not [1 for a, b in pairwise(placed) if a.end == b.start and origin_of(a) == origin_of(b)]
        for mark in placed:
            assert len(told[kind]) <= mark.start < mark.end
            told[kind] += [None] * (mark.start - len(told[kind])) + [origin_of(mark)] * (mark.end - mark.start)
        kind, made = coin.choice(list(SpanKind)), 0
    for kind, expected in written.items():
        assert told[kind] + [None] * (len(expected) - len(told[kind])) == expected
    assert len(marks._origins) < 12 < len(origins)


def overruled_by(wanted: int, marks: DraftMarks) -> str | None:
    sources = Sources()
    sources.count_token()
    sources.add(1)
    marks.note(Round((4,), 1.0, 1, 0, draft=Draft(mx.array([wanted]))), 0, 1, 3)
    (mark,) = marks.place(SpanKind.ANSWER, [TextSpan(SpanKind.ANSWER, "x", sources.take(1))])
    return mark.wanted


def test_what_was_wanted_is_told_as_it_would_have_read() -> None:
    assert overruled_by(5, marks_for()) == WORDS[5]
    assert overruled_by(END, marks_for()) == ""
    assert overruled_by(LONG, marks_for()) == WORDS[LONG][:40]


@pytest.mark.parametrize(
    ("decode", "told"),
    [
        (lambda tokens: "ab\ufffd" if len(tokens) > 1 else "a", "b"),
        (lambda tokens: "a" + "\ufffd" * (len(tokens) - 1), "\ufffd"),
        (lambda tokens: "a", "\ufffd"),
        (lambda tokens: str(1 // 0), "\ufffd"),
    ],
)
def test_part_of_a_character_is_told_as_such(decode: Any, told: str) -> None:
    assert overruled_by(5, marks_for(decode)) == told
