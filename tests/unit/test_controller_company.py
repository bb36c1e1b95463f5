"""Plans of rounds that several replies share: prices and rests of their own, and what fades by the step."""

from __future__ import annotations

import pytest

from engine.drafting.controller import AutoController
from engine.drafting.plans import PLAIN, RoundOutcome
from tests.unit.test_controller import FLAT, history, plain, rounds


@pytest.mark.parametrize(("speed", "parked"), [(0.0, False), (0.5, True), (1.0, False), (2.0, False)])
def test_a_draft_rests_as_it_last_did_in_that_company(speed: float, parked: bool) -> None:
    known = history(FLAT)
    known.shared_by(2).draft_speed = speed
    controller = AutoController(known)
    controller.share(2, 0)
    assert controller.parked == parked
    controller.share(1, 0)
    assert not controller.parked


@pytest.mark.parametrize("replies", [1, 2, 5])
def test_a_step_that_several_replies_share_is_one_round_for_what_fades(replies: int) -> None:
    """What was seen of a draft says as little after so many steps as after so many rounds of one reply."""
    known, alone = (history(FLAT, rates=rounds(0.3)) for _ in range(2))
    company = [AutoController(known) for _ in range(replies)]
    for controller in company:
        controller.share(replies, 0)
    steps_of(company, 30)
    plain(AutoController(alone), 30)
    assert known.rates_of("draft", 0).by_position(hopeful=True) == pytest.approx(
        alone.rates_of("draft", 0).by_position(hopeful=True)
    )


def steps_of(company: list[AutoController], count: int) -> None:
    for _ in range(count):
        for controller in company:
            controller.observe(PLAIN, RoundOutcome(0, 0, None))
