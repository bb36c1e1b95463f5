"""Marks in a reply's text: what a draft foresaw and where it was overruled, from the engine's own rounds."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine import DraftMark, Request, Sampling, Speculation, TextDelta
from engine.api.stats import StatsRecorder
from tests.engine.conftest import Zoo
from tests.helpers.engine_client import EngineClient, Outcome

PROMPT = tuple(range(40, 80))


def request(speculation: Speculation, length: int = 60) -> Request:
    return Request(
        tokens=PROMPT, sampling=Sampling(temperature=0), max_tokens=length, speculation=speculation, trace=True
    )


def marks_of(outcome: Outcome) -> list[DraftMark]:
    return [mark for event in outcome.events if isinstance(event, TextDelta) for mark in event.marks]


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


def test_marks_stand_in_the_text_one_after_another(client: EngineClient) -> None:
    outcome = client.run(request(Speculation.fixed(4)))
    marks = marks_of(outcome)
    assert marks
    assert all(mark.start < mark.end for mark in marks)
    assert all(one.end <= other.start for one, other in pairwise(marks))
    assert marks[-1].end <= len(outcome.text())


def test_the_draft_wanted_something_else_than_what_stands_there(client: EngineClient, zoo: Zoo) -> None:
    client.set_draft(zoo.drafts["poor"])
    outcome = client.run(request(Speculation.fixed(3)))
    text = outcome.text()
    words = [(mark.wanted, text[mark.start : mark.end]) for mark in marks_of(outcome) if mark.wanted is not None]
    assert len(words) > 5
    assert all(wanted != written for wanted, written in words)


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


def test_passes_are_counted_by_what_they_accepted(client: EngineClient) -> None:
    outcome = client.run(request(Speculation.fixed(4)))
    stats = outcome.stats
    assert sum(stats.rounds_by_accepted) == stats.draft_rounds
    assert sum(number * rounds for number, rounds in enumerate(stats.rounds_by_accepted)) == stats.accepted
    assert sum(stats.share_by_accepted) == pytest.approx(1.0)
