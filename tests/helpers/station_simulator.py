"""A station without a model or a clock: what it prepares over recorded texts, while the main model checks elsewhere.

Everything is the engine's own but the time: the tree, its order, the prices, the controller. A plain round takes 1. The
draft is recorded along the main model's text alone; what it says after any other text is what it said somewhere else.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

from engine.drafting.acceptance import Sharpness, StopRule
from engine.drafting.controller import AutoController, History
from engine.drafting.costs import MAX_WIDTH
from engine.drafting.plans import PLAIN, Offer, Plan, RoundOutcome
from engine.station.prices import SOURCE, StationPrices
from engine.station.tree import FAN, Beliefs, Node, Prediction, Tree
from tests.helpers import round_simulator
from tests.helpers.round_simulator import Machine, make_history
from tests.helpers.traces import BEST, Positions

_UNKNOWN = BEST + 1  # a token of the draft's that is none of those that were kept


@dataclass(frozen=True)
class Recorded:
    """By position: the main model's token, and the draft's prediction there. Tokens are ranks by the draft."""

    truths: list[int]
    predictions: list[Prediction]

    @classmethod
    def of(cls, positions: Positions, seed: int, level: int) -> Recorded:
        truths, scores = positions.drawn(seed, Sharpness.LEVELS[level])
        said = positions.text(seed, level).said
        order = np.argsort(-scores, axis=1)[:, : FAN + 2]
        predictions = []
        for at, ranks in enumerate(order.tolist()):
            token = ranks[0] if ranks[0] < BEST else _UNKNOWN
            others = tuple(rank for rank in ranks[1:] if rank < BEST)[:FAN]
            predictions.append(Prediction(token, said[at], others))
        return cls(truths.tolist(), predictions)

    def truth(self, at: int) -> int:
        return self.truths[at % len(self.truths)]

    def prediction(self, at: int) -> Prediction:
        return self.predictions[at % len(self.predictions)]

    def accepted(self, at: int, drafted: list[int]) -> int:
        for count, token in enumerate(drafted):
            if token != self.truth(at + count):
                return count
        return len(drafted)


@dataclass
class StationRun:
    """A reply under an AutoController that has the local draft, a station, or both."""

    machine: Machine
    text: Recorded
    history: History
    trip: float  # there and back, in plain rounds
    station_token: float  # in which the station drafts a token
    seed: int = 0
    with_station: bool = True
    rows: int = 4  # nodes of one forward
    drafts: int = 0
    hits: int = 0
    seconds: float = 0.0
    tokens: int = 0
    used: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._tree = Tree(Beliefs())
        self._station_at = 0.0  # when its forward in progress ends
        self._forward: list[Node] = []  # that it is for
        self._at = 0
        self.prices = StationPrices()
        self.prices._waited_s = self.trip
        self._controller = AutoController(self.history)
        self._pace = 1.0  # tokens a plain round
        self.history.same[SOURCE] = round_simulator.SOURCE

    def write(self, tokens: int) -> StationRun:
        while self._at < tokens:
            plan = self._plan()
            if plan.source == SOURCE:
                drafted, said, waited = self._from_station(plan)
            else:
                drafted, said = self._alone(plan)
                waited = len(drafted) * self.machine.draft
            self._round(plan if drafted else PLAIN, drafted, said, waited)
        self.tokens = self._at
        return self

    @property
    def speed(self) -> float:
        return self.tokens / self.seconds

    def _plan(self) -> Plan:
        if not self._at:
            return PLAIN
        self.prices.apply_to(self.history.costs)
        sources = [round_simulator.SOURCE, *([SOURCE] if self.with_station else [])]
        wanted = [source for source in sources if self._controller.wants(source)]
        return self._controller.plan([Offer(each, MAX_WIDTH - 1, has_probabilities=True) for each in wanted])

    def _round(self, plan: Plan, drafted: list[int], said: list[float], waited: float) -> None:
        noise = np.exp(self._chance.gauss(0, 0.03))
        took = waited + (self.machine.rounds[len(drafted)] - len(drafted) * self.machine.draft) * noise
        accepted = self.text.accepted(self._at, drafted)
        emitted = [self.text.truth(self._at + ahead) for ahead in range(accepted + 1)]
        probabilities = said if plan.stop is not None else []
        self._controller.observe(plan, RoundOutcome(len(drafted), accepted, took, probabilities))
        self.used[plan.source] = self.used.get(plan.source, 0) + 1
        self.seconds += took
        self._prepare(self.seconds + self.trip / 2)
        self._at += len(emitted)
        self._pace += 0.05 * (len(emitted) / took - self._pace)
        self._tree.commit(emitted)

    def _alone(self, plan: Plan) -> tuple[list[int], list[float]]:
        drafted: list[int] = []
        said: list[float] = []
        while len(drafted) < plan.length and (plan.stop is None or plan.stop.goes_on(said)):
            prediction = self.text.prediction(self._at + len(drafted))
            # after a wrong token the draft says something else, which counts for nothing
            drafted.append(prediction.token)
            said.append(prediction.probability)
        return drafted, said

    def _from_station(self, plan: Plan) -> tuple[list[int], list[float], float]:
        arrives = self.seconds + self.trip / 2
        self._prepare(arrives)
        rule = plan.stop or StopRule((), ())
        now = arrives
        live = 0
        least = self.station_token * self._pace if plan.stop is not None else 0.0
        chain = self._tree.chain(plan.length, 0, rule, frozenset(), least)
        while chain.missing is not None and now - arrives < 0.8 - self.trip:
            began = max(now, self._station_at)  # after the forward in progress
            self._finish()
            live += 1
            self._begin(began, chain.missing)
            now = self._station_at
            self._finish()
            chain = self._tree.chain(plan.length, 0, rule, frozenset(), least)
        found = chain.predictions
        waited = now + self.trip / 2 - self.seconds
        if found:
            self.drafts += 1
            self.hits += not live
            self.prices.observe(waited, hit=not live)
        else:
            self.prices.observe_in_vain(waited)
        return [each.token for each in found], [each.probability for each in found], waited

    def _finish(self) -> None:
        for node in self._forward:
            if node.prediction is None and self._tree.holds(node):
                self._tree.predict(node, self._predicted(node))
        self._forward = []

    def _begin(self, at: float, first: Node | None = None) -> None:
        self._forward = self._tree.next(self.rows) if first is None else [first]
        self._station_at = at + self.station_token * self.machine.forward[max(1, len(self._forward))]

    def _prepare(self, until: float) -> None:
        """Forwards that begin before `until`; the last one may end later."""
        while self._station_at <= until:
            self._finish()
            at = self._station_at
            self._begin(at)
            if not self._forward:
                self._station_at = max(until, at)
                return

    def _predicted(self, node: Node) -> Prediction:
        path = node.path
        right = self.text.accepted(self._at, path) == len(path)
        at = self._at + len(path) if right else self._chance.randrange(len(self.text.truths))
        return self.text.prediction(at)


def gain(
    machine: Machine, positions: tuple[Positions, Positions], trip: float, seed: int
) -> tuple[float, StationRun, StationRun]:
    """With a station beside the local draft, over the local draft alone: the second reply of a pair."""
    known, held_out = positions
    level = known.level
    speeds: list[StationRun] = []
    for with_station in (True, False):
        history = make_history(machine)
        for text, salt in ((known, 0), (held_out, 1000)):
            recorded = Recorded.of(text, seed + salt, level)
            run = StationRun(machine, recorded, history, trip, machine.draft, seed, with_station)
            run.write(len(recorded.truths))
        speeds.append(run)
    return speeds[0].speed / speeds[1].speed, speeds[0], speeds[1]


def undrafted(machine: Machine, texts: tuple[Positions, Positions], seed: int) -> float:
    """Tokens per plain round of the second reply if a draft took no time: no station can bring more."""
    history = make_history(Machine(machine.forward, 1e-6))
    for text, salt in zip(texts, (0, 1000), strict=True):
        recorded = Recorded.of(text, seed + salt, texts[0].level)
        run = StationRun(Machine(machine.forward, 1e-6), recorded, history, 0.0, 1.0, seed, with_station=False)
        run.write(len(recorded.truths))
    return run.speed
