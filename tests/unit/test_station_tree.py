"""What a station prepares, in which order, and what is left of it once the main model has written something."""

from __future__ import annotations

import random

import pytest

from engine.drafting.acceptance import StopRule, Worth
from engine.drafting.costs import Calibration, RoundCosts
from engine.station.prices import SOURCE, StationPrices
from engine.station.tree import FAN, LEAST_CHANCE, MOST_NODES, Beliefs, Node, Prediction, Tree

SURE = 0.97
UNSURE = 0.3


def prepared(tree: Tree, probabilities: list[float]) -> list[list[int]]:
    """Paths in the order in which they are predicted; the draft's own draw is always 0, other outcomes 1 to 4."""
    paths = []
    for probability in probabilities:
        (node,) = tree.next(1)
        paths.append(node.path)
        tree.predict(node, Prediction(0, probability, (1, 2, 3, 4)))
    return paths


def chain(tree: Tree) -> list[int]:
    """What is prepared of the draft's own continuation."""
    tokens: list[int] = []
    node = tree.root
    while node.prediction is not None:
        tokens.append(node.prediction.token)
        node = tree.follow(node, 0)
    return tokens


def test_a_sure_draft_goes_on_with_its_own_chain() -> None:
    assert prepared(Tree(Beliefs()), [SURE] * 5) == [[0] * length for length in range(5)]


def test_an_unsure_draft_prepares_other_outcomes_first_near_its_beginning() -> None:
    paths = prepared(Tree(Beliefs()), [UNSURE] * 6)
    assert paths[0] == []
    assert {1, 2} <= {path[0] for path in paths[1:] if len(path) == 1}
    assert [0, 0] not in paths[:3]


def test_the_order_is_that_of_the_chances_computed_one_by_one() -> None:
    """Against the definition: of all texts that could be next, the one with the highest product along its path."""
    chance = random.Random(3)
    beliefs = Beliefs()
    tree = Tree(beliefs)
    known: dict[tuple[int, ...], float] = {(): 1.0}
    for count in range(200):
        nodes = tree.next(1)
        if not nodes:
            assert max(known.values()) < LEAST_CHANCE
            assert count > 10
            return
        path = tuple(nodes[0].path)
        assert known[path] == pytest.approx(max(known.values()))
        here = known.pop(path)
        prediction = Prediction(7, chance.random(), (8, 9))
        tree.predict(nodes[0], prediction)
        known |= {(*path, token): here * likely for token, likely in beliefs.chances(prediction)}


def test_a_draft_ends_by_the_rule_after_its_first_token_at_the_earliest() -> None:
    """The longest may be worth nothing."""
    tree = Tree(Beliefs())
    prepared(tree, [SURE] * 4)
    rule = StopRule((0.1, 0.2, 1.1), Worth().by_grade)
    assert len(tree.chain(4, 0, rule, (), 0.0).predictions) == rule.would_draft([SURE] * 4) == 3


def test_what_was_prepared_for_the_text_that_was_written_is_left() -> None:
    tree = Tree(Beliefs())
    prepared(tree, [SURE] * 6)
    tree.commit([0, 0])
    assert tree.root.path == []
    assert chain(tree) == [0, 0, 0, 0]
    tree.commit([0, 3])  # foreseen, but nothing was prepared for it
    assert chain(tree) == []
    assert tree.next(1) == [tree.root]


def test_what_was_not_foreseen_leaves_nothing() -> None:
    tree = Tree(Beliefs())
    prepared(tree, [SURE] * 4)
    tree.commit([0, 99, 98])
    assert chain(tree) == []
    assert prepared(tree, [SURE]) == [[]]


def test_chances_after_a_commit_are_those_of_a_new_tree() -> None:
    moved, beliefs = Tree(Beliefs()), Beliefs()
    prepared(moved, [SURE, SURE, SURE, SURE])
    moved.commit([0])
    for _ in range(1):
        beliefs.learn(Prediction(0, SURE, (1, 2, 3, 4)), 0)
    fresh = Tree(beliefs)
    prepared(fresh, [SURE, SURE, SURE])
    following = [tree.next(1)[0] for tree in (moved, fresh)]
    assert [node.path for node in following] == [[0, 0, 0]] * 2
    assert following[0].chance == pytest.approx(following[1].chance)


def test_nothing_is_prepared_that_hardly_comes() -> None:
    tree = Tree(Beliefs())
    paths: list[list[int]] = []
    while nodes := tree.next(1):
        node = nodes[0]
        assert node.chance >= LEAST_CHANCE
        paths.append(node.path)
        tree.predict(node, Prediction(0, UNSURE, (1, 2, 3, 4)))
    assert len(paths) < MOST_NODES


def test_a_draft_that_is_always_sure_is_not_prepared_for_ever() -> None:
    tree = Tree(Beliefs())
    for _ in range(4000):
        tree._beliefs.learn(Prediction(0, 1.0, ()), 0)
    count = 0
    while nodes := tree.next(1):
        tree.predict(nodes[0], Prediction(0, 1.0, ()))
        count += 1
    assert count <= MOST_NODES


def test_it_learns_which_outcome_comes_where_a_draw_was_wrong() -> None:
    beliefs = Beliefs()
    prediction = Prediction(0, UNSURE, (1, 2, 3, 4))
    before = dict(beliefs.chances(prediction))
    for _ in range(200):
        beliefs.learn(prediction, 3)
    after = dict(beliefs.chances(prediction))
    assert before[1] > before[2] > before[3]
    assert after[3] > after[1]
    assert after[0] < before[0], "and that draws of such a probability are wrong"
    assert sum(after.values()) <= 1.0
    assert len(after) == FAN + 1


def test_another_level_of_sharpness_follows_its_own_draws() -> None:
    tree = Tree(Beliefs())
    (node,) = tree.next(1)
    tree.predict(node, Prediction(5, SURE, (6,), guesses=(5, 6, 9, 9)))
    assert [tree.follow(tree.root, level).token for level in range(4)] == [5, 6, 9, 9]
    assert isinstance(tree.follow(tree.root, 3), Node)
    assert tree.follow(tree.root, 3) is tree.follow(tree.root, 2)


def test_a_station_costs_what_its_drafts_were_waited_for() -> None:
    prices = StationPrices()
    for at in range(400):
        prices.observe(0.003 + at % 2 * 0.016, hit=at % 2 == 0)
    costs = RoundCosts(Calibration({1: 0.1, 2: 0.11, 4: 0.13, 8: 0.2}, {"draft": 0.01}))
    assert costs.refuses(SOURCE)
    prices.apply_to(costs)
    assert not costs.refuses(SOURCE)
    assert (prices.drafts, prices.hits) == (400, 200)
    assert costs.prices_s(SOURCE, 3) == pytest.approx([0.1, 0.121, 0.131, 0.141], rel=0.02)
    assert costs.prices_s("draft", 3)[3] == pytest.approx(0.16)


def test_what_was_waited_for_in_vain_is_paid_by_the_drafts_that_come() -> None:
    prices = StationPrices()
    for at in range(400):
        prices.observe_in_vain(0.03) if at % 2 else prices.observe(0.01, hit=True)
    assert (prices.drafts, prices.hits) == (200, 200)
    assert prices.wait_s == pytest.approx(0.04, rel=0.1)
    for _ in range(400):
        prices.observe_in_vain(0.03)
    assert prices.wait_s > 1
