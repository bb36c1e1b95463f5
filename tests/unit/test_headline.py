"""The figure that a reply's line says lies within the interval that is shown with it, in every language's numbers."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLocale

from app.words.languages import LANGUAGES
from app.words.replies import Tone, against_text, details_text, footer_line, gain_text, speed_up_text, tone_of
from engine import DraftingState, RequestStats

_NUMBER = re.compile(r"\d[\d.,'\N{NO-BREAK SPACE}]*\d|\d")


def numbers(text: str) -> list[float]:
    found = [QLocale().toDouble(each) for each in _NUMBER.findall(text)]
    assert all(ok for _, ok in found), text
    return [value for value, _ in found]


replies = st.builds(
    RequestStats,
    generated_tokens=st.integers(14, 4000),
    rounds=st.just(0),
    draft_rounds=st.just(12),
    drafted=st.integers(1, 3000),
    accepted=st.integers(0, 0),
    decode_s=st.floats(0.01, 300),
    plain_rounds=st.just(0.0),
    plain_rounds_error=st.one_of(st.just(0.0), st.floats(0.0, 0.25)),
    plain_passes=st.integers(0, 300),
    drafting=st.sampled_from([DraftingState.ACTIVE, DraftingState.PARKED]),
)


@pytest.mark.usefixtures("usual_locale")
@given(replies, st.floats(1.0, 20.0), st.floats(0.02, 20.0), st.sampled_from(sorted(LANGUAGES)))
def test_the_figure_lies_in_its_interval(stats: RequestStats, per_pass: float, slower: float, language: str) -> None:
    QLocale.setDefault(QLocale(language))
    rounds = max(2, round(stats.generated_tokens / per_pass))
    drafted = min(rounds - 1, stats.generated_tokens)
    stats = replace(stats, rounds=rounds, draft_rounds=drafted, plain_rounds=(rounds - 1) * slower)
    line = footer_line(stats)
    if line.tone is Tone.NONE:
        assert not numbers(line.gain + against_text(stats)), "where nothing is judged no figure is said"
        return
    low, high = numbers(against_text(stats))[-2:]
    if line.tone is Tone.PAR:
        assert low <= 1.05
        assert high >= 0.95
        return
    table = numbers(speed_up_text(stats))
    said = numbers(gain_text(stats))
    figures = table + (said if line.tone is Tone.GAIN else [1 - each / 100 for each in said])
    assert all(low - 1e-9 <= figure <= high + 1e-9 for figure in figures), (line.gain, low, high)


@given(replies, st.integers(2, 40), st.integers(0, 3000))
def test_no_accept_rate_stands_beside_a_paused_draft(stats: RequestStats, rounds: int, accepted: int) -> None:
    """It is that of a few tries, and "100% accepted" reads like a gain."""
    stats = replace(stats, rounds=rounds, accepted=min(accepted, stats.drafted), plain_rounds=float(rounds))
    shown = details_text(stats)
    paused = stats.drafting is DraftingState.PARKED and tone_of(stats) is not Tone.GAIN
    assert ("%" in shown) is not paused
    assert (gain_text(stats) == "no draft used: no gain here") is paused


@pytest.mark.parametrize(
    ("plain_rounds", "error", "said"),
    [
        (161.0, 0.05, "1.8× faster"),
        (161.0, 0.061, "about 1.8× faster"),  # 1.63 to 1.99
        (161.0, 0.1, "about 2× faster"),
    ],
)
def test_a_round_figure_is_said_only_where_the_interval_spans_it(plain_rounds: float, error: float, said: str) -> None:
    stats = RequestStats(generated_tokens=291, rounds=101, draft_rounds=100, drafted=268, decode_s=5.0)
    assert gain_text(replace(stats, plain_rounds=plain_rounds, plain_rounds_error=error)) == said
