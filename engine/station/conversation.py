"""One conversation of a station: its tokens, the draft's caches, and the tree of what was prepared."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Any

import mlx.core as mx

from engine.api.types import Sampling
from engine.caches.base import CacheSet
from engine.caches.checkpoints import truncate
from engine.caches.merging import is_near
from engine.decoding.accept import Draft, integers
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import PREFILL_CHUNK_TOKENS
from engine.drafting.acceptance import Sharpness
from engine.station.rows import feed_rows, keep_places
from engine.station.tree import FAN, Beliefs, Node, Prediction, Tree

_MOST_SHARED_TOKENS = 8192  # of a conversation in which texts are computed together: a GPU copies them for each
_TRIED_TOKENS = 8
_GREEDY = Sampling(temperature=0)

Drawn = tuple[Draft, mx.array, mx.array]  # a draft of one token, the likeliest ones, and their values


@dataclass(frozen=True, slots=True)
class StationDraft:
    """A loaded draft model. `width`: of its logits; `ends`: tokens that end a reply; `rows`: texts of one forward."""

    network: Any
    make_caches: Callable[[], CacheSet]
    width: int
    context_tokens: int
    ends: frozenset[int]
    rows: int = 1


class Conversation:
    """`commit` and `tree` may be used by another thread, under the station's lock; forwards are made by one thread."""

    def __init__(
        self, draft: StationDraft, tokens: list[int], sampler: Sampler, beliefs: Beliefs, caches: CacheSet | None
    ) -> None:
        """`caches`: of a beginning of `tokens`, or None."""
        self.tokens = tokens
        self.tree = Tree(beliefs)
        self.caches = draft.make_caches() if caches is None else caches
        self.ended = False
        self.forgotten = False  # once it has ended it is deleted
        self.sharpness = 0
        self._draft = draft
        self._sampler = sampler
        self._sampled = len(tokens)  # tokens that the sampler knows
        self._linear = self.caches.position  # committed tokens that are cached, one after the other
        self._slots: list[Node] = []  # the nodes whose tokens are cached after these
        self._written: list[Node] = []  # committed since: the first may be among the slots
        self._outcomes = min(FAN + 1, draft.width)

    @property
    def lags(self) -> bool:
        """Whether committed tokens are still to be prefilled by themselves."""
        return len(self.tokens) - self._linear > PREFILL_CHUNK_TOKENS

    @property
    def has_room(self) -> bool:
        return len(self.tokens) < self._draft.context_tokens

    @property
    def caught_up(self) -> bool:
        """Whether it has drafted after its present tokens."""
        return self.tree.root.prediction is not None

    def commit(self, tokens: Sequence[int]) -> None:
        self.tokens.extend(tokens)
        self._written += self.tree.commit(tokens)

    def next(self) -> list[Node]:
        """The nodes of the next forward; where the root is one of them, it is alone."""
        root = self.tree.root
        rows = self._draft.rows if self._linear <= _MOST_SHARED_TOKENS else 1
        return [root] if root.prediction is None else self.tree.next(rows)

    def prefill(self) -> None:
        """A chunk of the committed tokens."""
        self._settle()
        mx.eval(self._feed(self.tokens[self._linear :][:PREFILL_CHUNK_TOKENS]))
        self.caches.evaluate()
        mx.clear_cache()

    def forward(self, nodes: Sequence[Node]) -> Callable[[], list[Prediction]]:
        """Begin a forward for `nodes`; the root comes alone. Call the result, without the lock, to wait for it."""
        self._sampler.commit(self.tokens[self._sampled :])
        self._sampled = len(self.tokens)
        self._settle()
        alone = nodes[0] is self.tree.root
        logits = self._feed(self.tokens[self._linear :])[-1:] if alone else self._feed_rows(nodes)
        drawn = [self._draw(logits[row : row + 1], node.path) for row, node in enumerate(nodes)]
        return partial(_predictions, drawn)

    @classmethod
    def try_rows(cls, draft: StationDraft, rows: int) -> float:
        """Seconds of a forward of so many rows. Raises ValueError if its logits are not those of single texts."""
        tried = cls(draft, list(range(_TRIED_TOKENS)), Sampler(_GREEDY, 0, draft.width, ()), Beliefs(), None)
        (root,) = tried.next()
        tried.forward([root])()
        tried.tree.predict(root, Prediction(0, 1.0, tuple(range(1, rows))))
        nodes = list(root.children.values())
        began = time.perf_counter()
        logits = tried._feed_rows(nodes)
        mx.eval(logits)
        seconds = time.perf_counter() - began
        alone = draft.network(mx.array([[*tried.tokens, nodes[-1].token]]))[0, -1]
        if not is_near(logits[-1], alone):
            raise ValueError("texts that are computed together differ from those computed one by one")
        return seconds

    def release(self) -> CacheSet:
        """The caches of the committed tokens, for another conversation; this one has ended."""
        truncate(self.caches, self._linear)
        return self.caches

    def _draw(self, logits: mx.array, path: list[int]) -> Drawn:
        position = len(self.tokens) + len(path)
        ahead = mx.array(path, dtype=mx.uint32) if path else None
        levels = Sharpness.LEVELS
        draft = self._sampler.draft(logits, position, ahead, levels, self.sharpness)
        return draft, *self._sampler.outcomes(logits, position, ahead, levels[self.sharpness], self._outcomes)

    def _feed(self, tokens: list[int]) -> mx.array:
        """Logits (n, width) after each of these committed tokens."""
        fed = self._readable(tokens)
        network = self._draft.network
        logits: mx.array = self.caches.forward(fed.size, lambda: network(fed[None], cache=self.caches.layers))
        self.caches.commit(fed.size)
        self._linear += len(tokens)
        return logits[0]

    def _feed_rows(self, nodes: Sequence[Node]) -> mx.array:
        places = {id(node): self._linear + slot for slot, node in enumerate([*self._slots, *nodes])}
        seen = [[places[id(each)] for each in node.ancestry] for node in nodes]
        positions = [len(self.tokens) + len(ancestry) - 1 for ancestry in seen]
        tokens = self._readable([node.token for node in nodes])
        self._slots += nodes
        return feed_rows(self._draft.network, self.caches, tokens, positions, seen, self._linear)

    def _readable(self, tokens: list[int]) -> mx.array:
        return mx.minimum(mx.array(tokens, dtype=mx.uint32), self._draft.width - 1)

    def _settle(self) -> None:
        """Keep the cached tokens of what was written since, and of what may still be written."""
        slots = {id(node): self._linear + slot for slot, node in enumerate(self._slots)}
        written = list(takewhile(lambda node: id(node) in slots, self._written))
        kept = [node for node in self._slots if node.parent is not None and self.tree.holds(node)]
        places = [slots[id(node)] for node in (*written, *kept)]
        if self._slots:
            keep_places(self.caches, self._linear, places)
        self._linear += len(written)
        self._slots = kept
        self._written = []


def _predictions(drawn: Sequence[Drawn]) -> list[Prediction]:
    mx.eval([[array for array in draft.host_arrays if array is not None] + others for draft, *others in drawn])
    return [_prediction(*each) for each in drawn]


def _prediction(draft: Draft, best: mx.array, values: mx.array) -> Prediction:
    (token,) = integers(draft.tokens)
    ranked = sorted(zip(_floats(values), integers(best), strict=True), reverse=True)
    others = [each for value, each in ranked if each != token and value > -math.inf]
    guesses = () if draft.guesses is None else tuple(integers(draft.guesses[0]))
    assert draft.probabilities is not None
    return Prediction(token, _floats(draft.probabilities)[0], tuple(others[:FAN]), guesses)


def _floats(array: mx.array) -> list[float]:
    return array.astype(mx.float32).tolist()  # type: ignore[return-value]
