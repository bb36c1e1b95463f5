"""What drafted tokens teach: how often they stand, what a draft's probabilities are worth, how sharply to draw."""

from __future__ import annotations

import random

import pytest

from engine import MAX_DRAFT_TOKENS
from engine.drafting.acceptance import AcceptRates, Sharpness, StopRule, Worth


def taught(rates: AcceptRates, rounds: list[tuple[int, int]]) -> AcceptRates:
    for drafted, accepted in rounds:
        rates.learn(drafted, accepted)
        rates.end_round()
    return rates


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        ([(3, 3)] * 200, [0.98, 0.98, 0.98]),
        ([(3, 0)] * 200, [0.02, 0.02, 0.02]),
        ([(3, 1)] * 400, [0.98, 0.05, 0.05]),  # the second is wrong, and what lies behind it was never judged
        ([(1, 1)] * 200, [0.98, 0.98, 0.98]),
        ([(2, 2), (2, 0)] * 200, [0.5, 0.98, 0.97]),  # a second that is only ever judged behind a right first one
    ],
)
def test_rates_are_of_tokens_behind_accepted_ones(rounds: list[tuple[int, int]], expected: list[float]) -> None:
    rates = taught(AcceptRates(), rounds).by_position(hopeful=True)

    assert rates[:3] == pytest.approx(expected, abs=0.04)
    assert len(rates) == MAX_DRAFT_TOKENS


def test_an_old_average_gives_way_to_what_has_been_true_since() -> None:
    """Two thousand tokens stood, then of as many one in two: nothing is left of the old rate."""
    rates = taught(AcceptRates(), [(1, 1)] * 2000 + [(1, 1), (1, 0)] * 1000)
    for _ in range(200):
        rates.end_round()

    assert rates.by_position(hopeful=True)[0] == pytest.approx(0.5, abs=0.03)


def test_a_position_never_tried_of_late_is_taken_to_be_like_the_one_before_it_again() -> None:
    """Otherwise a few unlucky tokens at the fourth position would keep drafts at three for ever."""
    rates = taught(AcceptRates(), [(3, 3)] * 50 + [(4, 3)] * 6)
    unlucky = rates.by_position(hopeful=True)[3]
    taught(rates, [(3, 3)] * 500)

    assert unlucky < 0.6
    assert rates.by_position(hopeful=True)[3] > 0.85


RULE = StopRule(floors=(0.5, 0.6, 0.2), worth=Worth().by_grade)


@pytest.mark.parametrize(
    ("probabilities", "drafted"),
    [
        ([], 0),
        ([0.1, 0.9], 1),
        ([0.6, 0.99], 2),  # 0.6 is worth 0.57; as likely behind it, but a second token must be surer
        ([0.92, 0.1, 0.9], 2),
        ([0.92, 0.92, 0.5, 0.9], 4),
        ([0.99] * 9, 4),  # no longer than any draft that pays
    ],
)
def test_a_draft_goes_on_while_the_chance_is_above_the_floor(probabilities: list[float], drafted: int) -> None:
    told = [length for length in range(1, len(probabilities)) if not RULE.goes_on(probabilities[:length])]
    assert min([*told, len(probabilities)]) == drafted == RULE.would_draft(probabilities)
    assert StopRule((0.1, 1.1), RULE.worth).goes_on([]), "the first is drafted whatever the longest is worth"
    without_floors = StopRule((), RULE.worth)
    assert without_floors.goes_on([0.01] * 20)
    assert without_floors.would_draft([0.01] * 20) == 20


def test_before_any_trial_a_draft_is_taken_nearly_at_its_word() -> None:
    """In ten grades, the surer the better."""
    rule = StopRule((), Worth().by_grade)
    said = [0.0, 0.1, 0.19, 0.21, 0.3, 0.4, 0.6, 0.7, 0.85, 0.93, 0.96, 0.985, 0.999, 1.0]
    worth = [rule.chance([probability]) for probability in said]

    assert worth == pytest.approx(said, abs=0.11)
    assert worth == sorted(worth)
    assert len({rule.chance([n / 1000]) for n in range(1001)}) == 10
    assert worth[-1] > rule.chance([0.99]) > rule.chance([0.97]) > rule.chance([0.94])


def test_one_slip_of_a_sure_draft_does_not_cut_the_next_ones_short() -> None:
    """A thousand sure tokens stood, then one did not: 32 of them still stand nearly always. It does change, too."""
    worth = Worth()
    for accepted in [1] * 1000 + [0]:
        worth.learn([1.0], accepted)
    assert StopRule((), worth.by_grade).chance([1.0] * 32) > 0.9

    for _ in range(1000):
        worth.learn([1.0], 0)
    assert worth.by_grade[-1] < 0.1


@pytest.mark.parametrize("honest", [0.95, 0.5, 0.05])
def test_what_a_draft_says_is_worth_what_came_of_it(honest: float) -> None:
    """A draft that always says 0.9 and is right this often."""
    generator = random.Random(1)
    worth = Worth()
    for _ in range(3000):
        accepted = 0
        while accepted < 4 and generator.random() < honest:
            accepted += 1
        worth.learn([0.9] * 4, accepted)
    rule = StopRule((), worth.by_grade)

    assert rule.chance([0.9]) == pytest.approx(honest, abs=0.08)
    assert rule.chance([0.9, 0.9]) == pytest.approx(honest**2, abs=0.12)


def test_tokens_behind_the_first_wrong_one_teach_nothing() -> None:
    """Nobody knows whether they would have stood."""
    worth = Worth()
    before = worth.by_grade
    for _ in range(200):
        worth.learn([0.1, 0.6], accepted=0)

    assert worth.by_grade[1:] == before[1:]
    assert worth.by_grade[0] < 0.02


def test_the_level_that_is_right_most_often_is_chosen() -> None:
    """First the sharpest guesses right, then the softest."""
    sharpness = Sharpness()
    for _ in range(100):
        sharpness.learn([1, 2, 3, 4], truth=4)
    assert sharpness.level == 3
    for _ in range(400):
        sharpness.learn([1, 2, 3, 4], truth=1)
    assert sharpness.level == 0
    for token in range(50):
        sharpness.learn([token] * 4, truth=token)
    assert sharpness.level == 0  # between equals the honest one stays


@pytest.mark.parametrize("first", [0, 3])
def test_at_first_every_comparison_counts_alike(first: int) -> None:
    """The level that was right forty times of 79 is chosen, whether those came first or last."""
    sharpness = Sharpness()
    guesses = [1, 2, 3, 4]
    truths = [guesses[first]] * (40 if first else 39) + [guesses[3 - first]] * (39 if first else 40)
    for truth in truths:
        sharpness.learn(guesses, truth)

    assert sharpness.level == 3


def test_rates_in_doubt_follow_what_comes_next() -> None:
    """Ninety of a hundred tokens stood; then four in a row do not. Rates of few trials lose nothing by it."""
    misled, trusted, young = AcceptRates(), AcceptRates(), AcceptRates()
    for rates in (misled, trusted):
        for trial in range(100):
            rates.learn(1, int(trial % 10 > 0))
    young.learn(1, 1)
    before = misled.by_position(hopeful=False)[0], young.by_position(hopeful=False)[0]
    for rates in (misled, young):
        rates.doubt()
    AcceptRates().doubt()  # of nothing nothing is forgotten
    assert misled.by_position(hopeful=True)[0] == pytest.approx(before[0], abs=0.1)
    assert young.by_position(hopeful=False)[0] == before[1]
    for rates in (misled, trusted):
        for _ in range(4):
            rates.learn(1, 0)

    assert misled.by_position(hopeful=False)[0] < 0.6
    assert trusted.by_position(hopeful=False)[0] > 0.8
