"""How two machines would run a model, in words: each mode with each reason; and why one does not draft."""

from __future__ import annotations

import pytest

from app.words.machines import mode_words, station_words
from engine import ModeChoice, ModeReason, RankMode, StationEnd, StationPhase, StationState

REASONLESS = {ModeReason.ASKED, ModeReason.FASTER}  # those that say nothing of what tensor mode lacks


@pytest.mark.parametrize("reason", ModeReason)
def test_a_pipeline_says_what_faster_needs(reason: ModeReason) -> None:
    said = mode_words(ModeChoice(RankMode.PIPELINE, reason))
    assert said.startswith("One Mac after the other: makes room, not speed.")
    assert ("aster" in said) is (reason not in REASONLESS)
    assert ("RDMA lets the Mac at the other end" in said) is (reason is ModeReason.LINK)
    assert "may differ" not in said


def test_every_lack_has_words_of_its_own() -> None:
    lacks = [reason for reason in ModeReason if reason not in REASONLESS]
    assert len({mode_words(ModeChoice(RankMode.PIPELINE, reason)) for reason in lacks}) == len(lacks)


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
