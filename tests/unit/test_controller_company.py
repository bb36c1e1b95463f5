"""Plans of rounds that several replies share: prices and rests of their own, and what fades by the step."""

from __future__ import annotations

import pytest

from engine.drafting.controller import AutoController
from engine.drafting.plans import PLAIN, Outcome, Plan
from tests.unit.test_controller import FIXED_ONLY, FLAT, STEEP, history, plain, rounds


@pytest.mark.parametrize(("speed", "parked"), [(0.0, False), (0.5, True), (1.0, False), (2.0, False)])
def test_a_draft_rests_as_it_last_did_in_that_company(speed: float, parked: bool) -> None:
    known = history(FLAT)
    known.shared_by(2).draft_speed = speed
    controller = AutoController(known)
    controller.share(2)
    assert controller.parked == parked
    controller.share(1)
    assert not controller.parked


@pytest.mark.parametrize("replies", [1, 2, 5])
def test_a_step_that_several_replies_share_is_one_round_for_what_fades(replies: int) -> None:
    """What was seen of a draft says as little after so many steps as after so many rounds of one reply."""
    known, alone = (history(FLAT, rates=rounds(0.3)) for _ in range(2))
    company = [AutoController(known) for _ in range(replies)]
    for controller in company:
        controller.share(replies)
    steps_of(company, 30)
    plain(AutoController(alone), 30)
    assert known.rates_of("draft", 0).by_position(hopeful=True) == pytest.approx(
        alone.rates_of("draft", 0).by_position(hopeful=True)
    )


@pytest.mark.parametrize("replies", [1, 2, 5])
def test_a_source_rests_for_as_many_steps_in_company_as_alone(replies: int) -> None:
    known = history(STEEP, rates=rounds(0.05))
    known.shared_by(replies).credit = 2.0
    company = [AutoController(known) for _ in range(replies)]
    for controller in company:
        controller.share(replies)
        controller.plan([FIXED_ONLY])
    steps_of(company, 10)
    assert company[-1].parked
    company[0].observe(Plan("draft", 1), Outcome(1, 0, 2.05))
    wanted = []
    for _ in range(4):
        known.shared_by(replies).credit = 2.0
        steps_of(company, 1)
        wanted.append(company[-1].wants("draft"))
    assert wanted == [False, False, True, True]


def steps_of(company: list[AutoController], count: int) -> None:
    for _ in range(count):
        for controller in company:
            controller.observe(PLAIN, Outcome(0, 0, None))
