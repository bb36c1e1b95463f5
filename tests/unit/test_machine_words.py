"""How two machines would run a model, in words: each mode with each reason; and why one does not draft."""

from __future__ import annotations

import pytest

from app.words.machines import mode_refusals, mode_words, station_words
from engine import ModeChoice, ModeReason, RankMode, RankPlan, StationEnd, StationPhase, StationState

LACKS = [each for each in ModeReason if each not in {ModeReason.ASKED, ModeReason.FASTER, ModeReason.SUMS}]


@pytest.mark.parametrize("reason", ModeReason)
def test_a_pipeline_says_that_it_makes_room_and_what_was_measured(reason: ModeReason) -> None:
    mode, *measured = mode_words(ModeChoice(RankMode.PIPELINE, reason)).partition("speed.")
    assert mode == "One Mac after the other: makes room, not "
    assert ("no faster" in "".join(measured)) is (reason is ModeReason.SUMS)


def test_what_a_plan_lacks_has_words_of_its_own() -> None:
    said = {lack: mode_refusals(RankPlan("", 1, (), lacking=lack))[RankMode.TENSOR] for lack in LACKS}
    assert all(words.startswith("Faster ") for words in said.values())
    assert len(set(said.values())) == len(LACKS)
    assert [lack for lack in LACKS if "RDMA lets the Mac at the other end" in said[lack]] == [ModeReason.LINK]
    assert mode_refusals(RankPlan("", 1, ())) == mode_refusals(None) == {}
    assert mode_refusals(RankPlan("", 1, (), divides=False)).keys() == {RankMode.PIPELINE}


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (ModeChoice(RankMode.TENSOR, ModeReason.ASKED, 0.08, 0.02), "together."),
        (ModeChoice(RankMode.TENSOR, ModeReason.FASTER), "together, if that proves faster."),
        (ModeChoice(RankMode.TENSOR, ModeReason.FASTER, 0.08, 0.02), "together: faster."),
    ],
)
def test_together_is_called_faster_once_it_is_measured(choice: ModeChoice, said: str) -> None:
    mode, tied = mode_words(choice).splitlines()
    assert mode == f"Both Macs compute every layer {said}"
    assert tied == "Where two words are as good as tied, the text may differ from one Mac’s."


def test_every_end_of_a_station_has_words_of_its_own() -> None:
    said = {station_words(StationState(StationPhase.STARTING, end=end), "") for end in StationEnd}
    assert len(said) == len(StationEnd)
    assert all(words.endswith("This Mac drafts meanwhile.") for words in said)


@pytest.mark.parametrize(("gain", "late"), [(0.0, 0), (1.3, 0), (0.0, 4)])
def test_figures_that_are_not_known_are_not_said(gain: float, late: int) -> None:
    said = station_words(StationState(StationPhase.READY, drafts=4, hits=3, gain=gain, late=late), "")
    assert [part in said for part in ("75%", "the speed without it", "late")] == [True, bool(gain), bool(late)]
