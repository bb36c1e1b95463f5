"""The line under a reply says what the counters say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QLocale

from app.words import formats
from app.words.replies import FooterLine, Tone, footer_line, speed_up_text
from app.words.speculation import time_shares, time_words
from engine import DraftingState, RequestStats

# Behind the first round, 100 of 50 ms for 290 tokens; a plain token takes 27.6 ms, so drafting pays from 1.8 tokens per
# pass on.
DRAFTED = RequestStats(
    generated_tokens=291,
    rounds=101,
    draft_rounds=100,
    drafted=268,
    accepted=190,
    drafting=DraftingState.ACTIVE,
    decode_s=5.0,
    plain_rounds=181.0,
)
PLAIN = RequestStats(generated_tokens=31, rounds=31, decode_s=1.0, drafting=DraftingState.NO_DRAFT)


def test_gain_is_said_with_its_parts() -> None:
    line = footer_line(DRAFTED)
    assert line.text == "1.6× faster · 58 tok/s · 71% accepted · 2.9 tok/pass"
    assert line.tone is Tone.GAIN
    assert "190 of 268. Passes: 101." in line.tooltip
    assert "from 1.8 tokens per pass" in line.tooltip


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


def test_no_time_has_no_parts() -> None:
    assert set(time_shares(replace(DRAFTED, decode_s=0.0))) == {"–"}


@pytest.mark.parametrize(
    ("plain_rounds", "gain", "tone"),
    [
        (290.7, "same speed as without a draft", Tone.PAR),
        (329.0, "12% slower", Tone.COST),
        (0.0, "measuring…", Tone.NONE),
    ],
)
def test_par_cost_and_unknown_are_said_as_such(plain_rounds: float, gain: str, tone: Tone) -> None:
    line = footer_line(replace(DRAFTED, plain_rounds=plain_rounds), running=True)
    assert (line.gain, line.tone) == (gain, tone)


def test_a_cost_comes_with_its_reason_and_a_way_out() -> None:
    line = footer_line(replace(DRAFTED, plain_rounds=329.0))
    assert line.details.endswith("2.9 tok/pass, pays from 3.3")
    assert line.link == "Turn off for this pair"
    assert footer_line(DRAFTED).link == ""


def test_a_draft_that_rests_by_now_needs_no_way_out() -> None:
    line = footer_line(replace(DRAFTED, plain_rounds=329.0, drafting=DraftingState.PARKED))
    assert (line.tone, line.link) == (Tone.COST, "")
    assert line.details.endswith("draft at rest")


@pytest.mark.parametrize(
    ("draft_speed", "sentence"),
    [
        (0.72, "Drafting was 28% slower than plain decoding here, so it rests."),
        (0.999, "Drafting was slower than plain decoding here, so it rests."),
        (0.0, "Drafting was slower than plain decoding here, so it rests."),
    ],
)
def test_a_draft_at_rest_says_what_it_would_cost(draft_speed: float, sentence: str) -> None:
    stats = replace(PLAIN, drafting=DraftingState.PARKED, draft_speed=draft_speed)
    assert footer_line(stats).tooltip.splitlines()[0] == sentence


@pytest.mark.parametrize("plain_rounds", [5e9, 5e5, 5e3])
def test_no_cost_is_told_as_nothing_times_the_speed(plain_rounds: float) -> None:
    stats = replace(DRAFTED, plain_rounds=plain_rounds)
    assert footer_line(stats).gain in ("99% slower", "94% slower")
    assert speed_up_text(stats) in ("0.01×", "0.06×")


def test_one_probe_in_a_plain_reply_is_no_verdict_on_drafting() -> None:
    stats = replace(PLAIN, drafting=DraftingState.PARKED, rounds=30, draft_rounds=1, drafted=3, accepted=1)
    line = footer_line(replace(stats, plain_rounds=31.0))
    assert (line.gain, line.tone) == ("", Tone.NONE)
    assert line.text == "30 tok/s · 33% accepted · 1.0 tok/pass · draft at rest"
    assert "pays from" not in line.tooltip


def test_a_reply_that_others_shared_but_for_a_guess_says_why_it_has_so_few() -> None:
    stats = replace(PLAIN, drafting=DraftingState.ACTIVE, rounds=30, draft_rounds=1, drafted=1, accepted=1)
    assert footer_line(replace(stats, shared_rounds=20)).text.endswith("few drafts: several replies at once")
    assert footer_line(replace(stats, shared_rounds=2)).text.endswith("1.0 tok/pass")


def test_while_there_is_no_verdict_the_figure_that_decides_it_is_a_rough_one() -> None:
    unclear = replace(DRAFTED, plain_rounds_error=0.5)
    assert "pays from 1.8" in footer_line(DRAFTED).tooltip
    assert "pays from ≈1.8" in footer_line(unclear).tooltip


def test_a_few_words_are_no_verdict_either() -> None:
    stats = replace(DRAFTED, generated_tokens=5, rounds=3, draft_rounds=2, drafted=8, accepted=2, decode_s=0.4)
    assert footer_line(stats, running=True).gain == "measuring…"
    assert footer_line(stats).gain == ""
    assert speed_up_text(stats) == "–"


def test_guesses_from_the_chat_itself_are_not_said_to_be_a_model_s() -> None:
    line = footer_line(replace(DRAFTED, proposer="lookup"))
    assert line.tooltip.startswith("The guesses are taken from the text of this chat.")
    assert footer_line(DRAFTED).tooltip.startswith("The draft model guesses ahead.")


def test_a_gain_by_guesses_from_the_chat_is_not_put_beside_a_draft_at_rest() -> None:
    line = footer_line(replace(DRAFTED, proposer="lookup", drafting=DraftingState.PARKED))
    assert line.details.endswith("2.9 tok/pass · guessed from this chat's text")
    assert line.tooltip.startswith("The guesses are taken from the text of this chat.")
    assert footer_line(replace(DRAFTED, drafting=DraftingState.PARKED)).details.endswith("draft at rest")


def test_reply_without_draft_says_its_speed_only() -> None:
    line = footer_line(PLAIN)
    assert (line.text, line.tone, line.tooltip) == ("30 tok/s", Tone.NONE, "No draft model is loaded.")


def test_slow_reply_keeps_a_decimal() -> None:
    assert footer_line(replace(PLAIN, decode_s=8.0)).details == "3.8 tok/s"


@pytest.mark.parametrize("state", [DraftingState.PARKED, DraftingState.FAILED, DraftingState.UNSUPPORTED])
def test_draft_that_does_not_draft_says_so_and_why(state: DraftingState) -> None:
    line = footer_line(replace(PLAIN, drafting=state))
    assert line.details.startswith("30 tok/s · ")
    assert len(line.tooltip.split()) > 4


def test_nothing_measured_says_nothing() -> None:
    assert footer_line(RequestStats()) == FooterLine("", "", Tone.NONE, "Drafting is off.")


def test_numbers_are_written_as_the_language_does() -> None:
    before = QLocale()
    QLocale.setDefault(QLocale("de_DE"))
    try:
        assert formats.number(1.6, 1) == "1,6"
        assert formats.count(151_936) == "151.936"
        assert formats.size(4_300_000_000).startswith("4,3")
    finally:
        QLocale.setDefault(before)


def test_fill_leaves_placeholders_inside_values_alone() -> None:
    assert formats.fill("%2 then %1", "%2", "a") == "a then %2"
