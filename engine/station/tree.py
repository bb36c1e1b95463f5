"""What a draft has prepared: a tree of the texts that may follow the committed tokens. Pure: no model, no clock.

A node is a text; its prediction is what the draft says after it. The draft's own draw is its first child, other likely
outcomes of the main model's draw are the next ones. The next node to predict is the one that the main model will most
probably write, by the draft's own probabilities and by how often such draws were right before.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from engine.drafting.acceptance import StopRule, Worth

FAN = 4  # outcomes that are prepared beside the draft's own draw
MOST_NODES = 256
LEAST_CHANCE = 0.01  # of being written, below which nothing is prepared
_FIRST_SHARES = (0.4, 0.16, 0.09, 0.06)  # of the tokens where a draw was wrong, by rank of the outcome
_PRIOR_TRIALS = 20
_SLOWEST_LEARNING = 0.01
_NEXT_RIGHT = 0.7  # chance of a token that is not drafted yet, if those before are right


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the draft says after a text: its own draw with its probability, and the next likeliest tokens."""

    token: int
    probability: float
    others: tuple[int, ...] = ()
    guesses: tuple[int, ...] = ()  # the draw of each level of sharpness; (): all the same

    def draw(self, sharpness: int) -> int:
        return self.guesses[sharpness] if self.guesses else self.token


class Beliefs:
    """How often a draw was right, by its probability, and which outcome was where it was wrong."""

    def __init__(self) -> None:
        self._worth = Worth()
        self._shares = list(_FIRST_SHARES)
        self._wrong = _PRIOR_TRIALS

    def learn(self, prediction: Prediction, truth: int) -> None:
        right = truth == prediction.token
        self._worth.learn((prediction.probability,), int(right))
        if right:
            return
        self._wrong += 1
        weight = max(1 / self._wrong, _SLOWEST_LEARNING)
        for rank, token in enumerate(prediction.others[:FAN]):
            self._shares[rank] += weight * ((token == truth) - self._shares[rank])

    def chances(self, prediction: Prediction) -> Iterator[tuple[int, float]]:
        """Each outcome with its chance, the draft's own draw first."""
        right = StopRule((), self._worth.by_grade).chance((prediction.probability,))
        yield prediction.token, right
        for share, token in zip(self._shares, prediction.others, strict=False):
            yield token, (1 - right) * share


@dataclass(slots=True, eq=False)
class Node:
    token: int = -1
    parent: Node | None = None
    chance: float = 1.0  # that the main model writes all tokens up to here
    prediction: Prediction | None = None
    children: dict[int, Node] = field(default_factory=dict)

    @property
    def ancestry(self) -> list[Node]:
        """The nodes from after the committed tokens to here."""
        nodes: list[Node] = []
        node = self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    @property
    def path(self) -> list[int]:
        """Their tokens."""
        return [node.token for node in self.ancestry]


@dataclass(frozen=True, slots=True)
class Chain:
    """What the draft goes on to write, and the text whose prediction is missing, if it is worth the time."""

    predictions: tuple[Prediction, ...]
    missing: Node | None = None


class Tree:
    def __init__(self, beliefs: Beliefs) -> None:
        self.root = Node()
        self._beliefs = beliefs
        self._open = [self.root]  # nodes without a prediction
        self._predicted = 0

    def next(self, count: int) -> list[Node]:
        """Up to `count` nodes to predict next, the likeliest first; none where nothing is worth it."""
        room = 0 if self._predicted >= MOST_NODES else count
        likely = (node for node in self._open if node.chance >= LEAST_CHANCE)
        return heapq.nlargest(room, likely, key=lambda node: node.chance)

    def predict(self, node: Node, prediction: Prediction) -> None:
        node.prediction = prediction
        self._predicted += 1
        self._open.remove(node)
        for token, chance in self._beliefs.chances(prediction):
            child = self._child(node, token)
            child.chance = node.chance * chance

    def holds(self, node: Node) -> bool:
        """Whether what follows `node` may still be written."""
        while node.parent is not None:
            node = node.parent
        return node is self.root

    def chain(self, length: int, sharpness: int, rule: StopRule, ends: Collection[int], least: float) -> Chain:
        """The draft's own continuation: up to `length` tokens, fewer by the rule, or after one of `ends`.

        What is not predicted is missing, where all tokens before are accepted with a chance of `least`.
        """
        node = self.root
        found: list[Prediction] = []
        while len(found) < length and rule.goes_on(seen := [each.probability for each in found]):
            if node.prediction is None:
                worth = not rule.worth or rule.chance(seen) * _NEXT_RIGHT >= least
                return Chain(tuple(found), node if worth else None)
            found.append(node.prediction)
            if node.prediction.draw(sharpness) in ends:
                break
            node = self.follow(node, sharpness)
        return Chain(tuple(found))

    def follow(self, node: Node, sharpness: int) -> Node:
        """The text that the draft would go on to write from a predicted node."""
        assert node.prediction is not None
        return self._child(node, node.prediction.draw(sharpness))

    def commit(self, tokens: Sequence[int]) -> list[Node]:
        """The main model wrote `tokens`, whose nodes are returned: what was prepared for other texts is dropped."""
        node = self.root
        written = []
        for token in tokens:
            if node.prediction is not None:
                self._beliefs.learn(node.prediction, token)
            node = node.children.get(token) or Node()
            written.append(node)
        node.parent = None
        node.token = -1
        self.root = node
        self._open = []
        self._predicted = 0
        self._count(node, 1.0)
        return written

    def _child(self, node: Node, token: int) -> Node:
        child = node.children.get(token)
        if child is None:
            child = node.children[token] = Node(token, node, 0.0)
            self._open.append(child)
        return child

    def _count(self, node: Node, chance: float) -> None:
        """Chances from the new root on, by what has been learnt."""
        node.chance = chance
        if node.prediction is None:
            self._open.append(node)
            return
        self._predicted += 1
        chances = dict(self._beliefs.chances(node.prediction))
        for token, child in node.children.items():
            self._count(child, chance * chances.get(token, 0.0))
