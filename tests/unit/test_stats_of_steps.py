"""Statistics of a reply that took several requests."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from engine import RequestStats

ONE = RequestStats(
    prompt_tokens=100,
    cached_tokens=20,
    generated_tokens=31,
    rounds=11,
    draft_rounds=8,
    drafted=32,
    accepted=20,
    drafted_by_position=(8, 8, 8, 8),
    accepted_by_position=(8, 6, 4, 2),
    rounds_by_accepted=(0, 2, 2, 2, 2),
    emitted_by_stretch=(3,) * 10,
    decode_s=3.0,
    first_token_s=0.4,
    plain_rounds=12.0,
    plain_rounds_error=0.05,
    context_tokens=131,
)
OTHER = replace(ONE, prompt_tokens=160, cached_tokens=131, drafted_by_position=(8,), accepted_by_position=(5,))


def test_rates_of_a_reply_are_those_of_all_its_rounds_but_the_first_of_each_request() -> None:
    both = ONE.plus(OTHER)
    assert both.tokens_per_pass == pytest.approx((30 + 30) / (10 + 10))
    assert both.tokens_per_second == pytest.approx(60 / 6.0)
    assert both.speed_up == pytest.approx(ONE.speed_up or 0)
    assert both.plain_rounds_error == pytest.approx(0.05 / math.sqrt(2))
    assert (both.prompt_tokens, both.cached_tokens, both.context_tokens) == (260, 151, 131)
    assert (both.accepted_by_position, both.drafted_by_position) == ((13, 6, 4, 2), (16, 8, 8, 8))
    assert both.first_token_s == 0.4
    assert both.tokens_per_pass_over_time == ()


def test_a_request_that_wrote_nothing_changes_nothing() -> None:
    assert RequestStats().plus(ONE) is ONE
    assert ONE.plus(RequestStats(queued_s=3)) is ONE


def test_what_is_not_known_of_one_is_not_known_of_both() -> None:
    assert ONE.plus(replace(OTHER, plain_rounds=0.0)).speed_up is None


def test_every_rate_can_be_computed() -> None:
    both = ONE.plus(OTHER).plus(ONE)
    for name, value in vars(RequestStats).items():
        if isinstance(value, property):
            getattr(both, name)
