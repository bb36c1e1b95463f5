"""The line under a reply says what the counters say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.view_models.transcript import ReplyStatus
from app.words import formats
from app.words.replies import FooterLine, Tone, break_even_text, footer_line, reply_footer, speed_up_text, tone_of
from app.words.requests import RequestColumn, second_line
from app.words.speculation import plain_sentence, time_shares, time_words
from engine import DraftingState, RequestStats
from tests.helpers.transcript_harness import STATS

# Behind the first round, 100 of 50 ms for 290 tokens; a plain token takes 27.6 ms, so drafting pays from 1.8 tokens per
# pass on.
DRAFTED = replace(STATS, plain_passes=40)
PLAIN = RequestStats(generated_tokens=31, rounds=31, decode_s=1.0, drafting=DraftingState.NO_DRAFT)


def test_gain_is_said_with_its_parts() -> None:
    line = footer_line(DRAFTED)
    assert line.text == "1.6× faster · 58 tok/s · 71% accepted · 2.9 tok/pass"
    assert line.tone is Tone.GAIN
    assert line.tooltip.splitlines() == [
        line.details,
        "Without a draft: 36 tok/s, measured on 40 token(s). Between 1.6× and 1.7×.",
    ]


@pytest.mark.parametrize(
    ("plain_rounds", "error", "gain", "tone"),
    [
        (181.0, 0.03, "1.6× faster", Tone.GAIN),
        (181.0, 0.1, "about 1.6× faster", Tone.GAIN),
        (120.0, 0.1, "about 2.5× faster", Tone.GAIN),
        (181.0, 0.2, "", Tone.NONE),  # a gain or a loss
        (0.0, 0.0, "", Tone.NONE),
        (285.0, 0.05, "as fast as without", Tone.PAR),
        (380.0, 0.03, "24% slower", Tone.COST),
    ],
)
def test_no_more_is_said_than_is_known(plain_rounds: float, error: float, gain: str, tone: Tone) -> None:
    line = footer_line(replace(DRAFTED, plain_rounds=plain_rounds, plain_rounds_error=error))
    assert (line.gain, line.tone) == (gain, tone)


def test_what_no_plain_pass_has_told_is_said_to_be_measured_at_another_time() -> None:
    line = footer_line(replace(DRAFTED, plain_rounds=120.0, plain_rounds_error=0.14, plain_passes=0))
    assert line.gain == "about 2.5× faster"
    assert line.tooltip.endswith("about 24 tok/s, measured while idle. Between 1.9× and 2.9×.")


@pytest.mark.parametrize(
    ("draft_s", "verify_s", "words"),
    [
        (1.0, 1.0, "draft 34%, main model 33%, other 33%"),
        (0.434, 2.433, "draft 15%, main model 81%, other 4%"),  # 14.5, 81.1 and 4.4
        (1.5, 1.5, "draft 50%, main model 50%, other 0%"),
        (1.6, 1.6, "draft 50%, main model 50%, other 0%"),  # scaled up from samples, they may be more than all
    ],
)
def test_the_parts_of_the_time_are_all_of_it(draft_s: float, verify_s: float, words: str) -> None:
    stats = replace(DRAFTED, decode_s=3.0, draft_s=draft_s, verify_s=verify_s)
    assert time_words(stats) == words
    assert sum(int(share.rstrip("%")) for share in time_shares(stats)) == 100
    assert set(time_shares(replace(DRAFTED, decode_s=0.0))) == {"–"}


def test_a_cost_comes_with_its_reason_and_a_way_out() -> None:
    line = footer_line(replace(DRAFTED, plain_rounds=329.0))
    assert line.details.endswith("2.9 tok/pass (break-even: 3.3)")
    assert line.link == "Turn off for this pair"
    assert footer_line(DRAFTED).link == ""


def test_a_draft_that_rests_by_now_needs_no_way_out() -> None:
    line = footer_line(replace(DRAFTED, plain_rounds=329.0, drafting=DraftingState.PARKED))
    assert (line.gain, line.link) == ("no draft used: no gain here", "")


def test_no_gain_stands_beside_a_draft_that_is_paused() -> None:
    for rounds, gain in (
        (181.0, "1.6× faster"),
        (290.0, "no draft used: no gain here"),
        (0.0, "no draft used: no gain here"),
    ):
        stats = replace(DRAFTED, plain_rounds=rounds, drafting=DraftingState.PARKED)
        line = footer_line(stats)
        assert line.gain == gain
        assert "paused" not in line.details
        told = line.tooltip + second_line(RequestColumn.STATE, stats) + plain_sentence(stats)
        assert ("no gain here" in told) is (tone_of(stats) is not Tone.GAIN)


@pytest.mark.parametrize(
    ("draft_speed", "sentence"),
    [
        (0.72, "Paused: drafting would be about 28% slower."),
        (0.999, "Paused: drafting would be slower."),
        (0.0, "The next reply measures more."),
    ],
)
def test_a_draft_at_rest_says_what_it_would_cost(draft_speed: float, sentence: str) -> None:
    stats = replace(PLAIN, drafting=DraftingState.PARKED, draft_speed=draft_speed)
    assert footer_line(stats).tooltip.splitlines()[1] == sentence


def test_a_draft_that_was_never_tried_is_not_called_slower() -> None:
    stats = replace(PLAIN, drafting=DraftingState.PARKED)
    assert footer_line(stats).gain == ""
    assert plain_sentence(stats) == "The next reply measures more."


@pytest.mark.parametrize("plain_rounds", [5e9, 5e5, 5e3])
def test_no_cost_is_told_as_nothing_times_the_speed(plain_rounds: float) -> None:
    stats = replace(DRAFTED, plain_rounds=plain_rounds)
    assert footer_line(stats).gain in ("99% slower", "94% slower")
    assert speed_up_text(stats) in ("0.01×", "0.06×")


def test_one_probe_in_a_plain_reply_is_no_verdict_on_drafting() -> None:
    stats = replace(PLAIN, drafting=DraftingState.PARKED, rounds=30, draft_rounds=1, drafted=3, accepted=1)
    line = footer_line(replace(stats, plain_rounds=31.0))
    assert (line.gain, line.tone) == ("no draft used: no gain here", Tone.NONE)
    assert line.details == "30 tok/s", "of a paused draft no accept rate is shown"
    assert "Without a draft" not in line.tooltip


def test_a_reply_that_others_shared_but_for_a_guess_says_why_it_has_so_few() -> None:
    stats = replace(PLAIN, drafting=DraftingState.ACTIVE, rounds=30, draft_rounds=1, drafted=1, accepted=1)
    assert "Answered together" in footer_line(replace(stats, shared_rounds=20)).tooltip
    assert "Answered together" not in footer_line(replace(stats, shared_rounds=2)).tooltip


def test_while_there_is_no_verdict_the_figure_that_decides_it_is_a_rough_one() -> None:
    unclear = replace(DRAFTED, plain_rounds_error=0.5)
    assert break_even_text(DRAFTED) == "1.8"
    assert break_even_text(unclear) == "≈1.8"


def test_guesses_from_the_chat_itself_are_not_said_to_be_a_model_s() -> None:
    line = footer_line(replace(DRAFTED, proposer="lookup"))
    assert line.tooltip.splitlines()[1] == "Guesses come from this chat's text."


def test_reply_without_draft_says_its_speed_only() -> None:
    line = footer_line(PLAIN)
    assert (line.text, line.tone, line.tooltip) == ("30 tok/s", Tone.NONE, "30 tok/s\nNo draft loaded.")
    assert footer_line(RequestStats()) == FooterLine("", "", Tone.NONE, "Drafting is off.")


def test_fill_leaves_placeholders_inside_values_alone() -> None:
    assert formats.fill("%2 then %1", "%2", "a") == "a then %2"


@pytest.mark.parametrize("stats", [None, RequestStats(generated_tokens=9, rounds=4)])
def test_a_stopped_reply_says_so(stats: RequestStats | None) -> None:
    line = reply_footer(stats, ReplyStatus.STOPPED, empty=False)
    assert line is not None
    assert (line.note, "stopped" in line.text) == ("stopped", True)
    done = reply_footer(stats, ReplyStatus.DONE, empty=False)
    assert done is None or not done.note
