"""Loads a model over several ranks: rank 0's layers here, the others in processes of their own. Engine thread only.

What comes out is a LoadedModel like any other. Calling its network runs all ranks; its caches are mirrored in them.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import mlx.core as mx

from engine.api.errors import LoadAborted, ModelTooLarge, RankLost
from engine.api.modes import ModeChoice, ModeReason, RankMode
from engine.api.ranks import RankPlan, RankShare
from engine.caches.base import CacheSet
from engine.caches.kinds import require
from engine.cluster.fabric import RDMA, RING, ring_links
from engine.cluster.modes import measured
from engine.cluster.operations import Commit, Copy, MakeCheckpoint, Reply, Truncate
from engine.cluster.plan import plan_ranks
from engine.cluster.rank_group import SLICE_S, RankGroup
from engine.cluster.shard import Head
from engine.cluster.stage import Stage, states_from
from engine.machines.launched import LAUNCHED, launched_place
from engine.machines.lent import THIS_PROCESS, LentProcess, digest_of
from engine.machines.messages import Start
from engine.machines.process import ChildProcess, Helper
from engine.models.children import RUN_RANK
from engine.models.first_use import FirstUse
from engine.models.loading import Slices, loading
from engine.models.networks import Held, LoadedPart
from engine.models.watch import Question, never

_Result = TypeVar("_Result")

_log = logging.getLogger(__name__)


def loading_over_ranks(
    planned: RankPlan | Callable[[], RankPlan],
    aborted: Question = never,
    first_use: FirstUse | None = None,
    on_try: Callable[[], None] = lambda: None,
) -> Slices:
    """As `loading`. The processes end when it is closed or raises, and with `LoadedModel.close`.

    `planned` may ask other machines: if it is a function, it is called on a thread of its own.
    """
    plan, group, digest = yield from _started(planned)
    try:
        front = FrontRank(plan, group, digest)
        model = yield from loading(Path(plan.folder), None, aborted, first_use, on_try, front)
    except BaseException:
        group.end()
        raise
    return replace(
        model,
        ranks=len(plan.shares),
        choice=plan.choice,
        first_layer=front.first_layer,
        alone=front.alone,
        close=group.end,
        lost=group.look,
        short=group.is_short,
    )


def _started(planned: RankPlan | Callable[[], RankPlan]) -> Generator[None, None, tuple[RankPlan, RankGroup, str]]:
    """With the other ranks, which have joined a group in tensor mode; as a pipeline if that is slow, or cannot be."""
    plan, group, digest = yield from aside(partial(_begun, planned), lambda begun: begun[1].end())
    try:
        yield from group.greet()
        if plan.choice.mode is RankMode.PIPELINE:
            return plan, group, digest
        choice = yield from _joined(plan, group)
        if choice.mode is RankMode.TENSOR:
            return replace(plan, choice=choice), group, digest
    except BaseException:
        group.end()
        raise
    group.end()
    available = [share.available_bytes for share in plan.shares]
    helping = [share.helping for share in plan.shares if share.helping is not None]
    pipeline = plan_ranks(plan.folder, available, helping, mode=RankMode.PIPELINE)
    return (yield from _started(replace(pipeline, choice=choice)))


def _joined(plan: RankPlan, group: RankGroup) -> Generator[None, None, ModeChoice]:
    """The mode, once the ranks have joined and were measured. Only what was asked for has to be joined."""
    try:
        sum_s, bytes_s = yield from group.join(*_links(plan))
    except RankLost as error:
        if plan.choice.reason is ModeReason.ASKED:
            raise
        _log.warning("tensor mode cannot be joined: %s", error)
        return ModeChoice(RankMode.PIPELINE, ModeReason.LINK)
    return measured(plan.choice, plan.folder, plan.shares[0].layers, sum_s, bytes_s)


def _links(plan: RankPlan) -> tuple[str, Callable[[int], tuple[str, ...]]]:
    """The backend, and its links by place."""
    if launched_place() is not None:
        return LAUNCHED, lambda _place: ()
    devices = [share.rdma for share in plan.shares]
    if all(devices):
        here, there = devices
        return RDMA, lambda _place: ("", here, there, "")
    links = ring_links(len(plan.shares))
    return RING, lambda _place: links


def aside(work: Callable[[Question], _Result], unwanted: Callable[[_Result], object]) -> Generator[None, None, _Result]:
    """Run `work` on another thread, in slices: the engine's waits for no disk or machine. Returns or raises its result.

    If it is closed early (`work` can ask), the thread continues, and `unwanted` gets its result.
    """
    outcome: Future[_Result] = Future()
    closed = threading.Event()

    def run() -> None:
        try:
            outcome.set_result(work(closed.is_set))
        except BaseException as error:  # noqa: BLE001  raised where it is awaited
            outcome.set_exception(error)

    threading.Thread(target=run, name="ranks", daemon=True).start()
    try:
        while not outcome.done():
            wait([outcome], SLICE_S)
            yield
    except GeneratorExit:
        closed.set()
        outcome.add_done_callback(lambda done: None if done.exception() else unwanted(done.result()))
        raise
    return outcome.result()


def _begun(planned: RankPlan | Callable[[], RankPlan], aborted: Question) -> tuple[RankPlan, RankGroup, str]:
    """With the other ranks' processes, and the digest of the model that all must have.

    None is started once `aborted`: a late start would end the rank of the next load.
    """
    plan = planned if isinstance(planned, RankPlan) else planned()
    if not plan.fits:
        worst = max(plan.shares, key=lambda share: share.needed_bytes - share.available_bytes)
        raise ModelTooLarge(plan.folder, worst.needed_bytes, worst.available_bytes, plan.context_tokens)
    digest = digest_of(Path(plan.folder))
    if aborted():
        raise LoadAborted(plan.folder)
    others = plan.shares[1:] if plan.choice.mode is RankMode.PIPELINE else plan.shares
    others = others if launched_place() is None else others[:1]  # the other members are there already
    return plan, RankGroup(_start(share, digest) for share in others), digest


def _start(share: RankShare, digest: str) -> Callable[[], Helper]:
    """Of another rank, here or on another machine."""
    if share.helping is None:
        return partial(ChildProcess, RUN_RANK, Reply)
    return partial(LentProcess, share.helping, Start(digest, THIS_PROCESS, share.needed_bytes), Reply)


class FrontRank:
    """Rank 0: its layers, or the head alone in tensor mode, and the forwards of all."""

    def __init__(self, plan: RankPlan, group: RankGroup, digest: str) -> None:
        self._plan = plan
        self._group = group
        self._digest = digest
        self._has_joined = False
        self._step: tuple[int, int] | None = None  # sequence and position of the step that is open and not run yet
        self._tokens: list[int] = []

    @property
    def _is_sharded(self) -> bool:
        return self._plan.choice.mode is RankMode.TENSOR

    @property
    def first_layer(self) -> int:
        return 0 if self._is_sharded else sum(self._plan.split[1:])

    def begin(self) -> None:
        self._group.load(self._plan.folder, self._plan.split)

    def cut(self, network: Any) -> Held:
        folder = self._plan.folder
        if self._is_sharded:
            return Head(network, folder, len(self._plan.shares), self._receive, self._note_tokens)
        return Stage(network, folder, 0, self._plan.split, self._receive, on_forward=self._note_tokens)

    def joined(self, part: LoadedPart) -> Generator[None, None, Callable[[], CacheSet]]:
        """Once the others have loaded, forwards run through all ranks."""
        yield from self._group.loaded(self._digest)
        self._has_joined = True
        if self._is_sharded:
            can_roll_back = part.make_caches().can_roll_back
            need = part.need
            return self._mirrored(
                lambda: CacheSet([], can_roll_back=can_roll_back),
                lambda _here, position: need.fixed_bytes + position * need.token_bytes,
            )
        fuller = max(self._plan.split) / self._plan.split[0]
        return self._mirrored(part.make_caches, lambda here, _position: int(here * fuller))

    def _mirrored(
        self, make_caches: Callable[[], CacheSet], nbytes: Callable[[int, int], int]
    ) -> Callable[[], CacheSet]:
        def make() -> CacheSet:
            caches = make_caches()
            caches.others = Mirror(self._group, self._open_step, nbytes)
            return caches

        return make

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Forwards in it run rank 0's layers only, on what they are given: their shapes are those of a whole one."""
        self._has_joined = False
        try:
            yield
        finally:
            self._has_joined = True

    def identity_of(self, part: LoadedPart) -> str:
        """Times that were measured over ranks are not those of the model on one machine."""
        split = f"tp{len(self._plan.shares)}" if self._is_sharded else "-".join(map(str, self._plan.split))
        return f"{part.identity}-{split}"

    def _open_step(self, sequence: int, position: int) -> None:
        self._step = sequence, position

    def _note_tokens(self, tokens: mx.array, cached: bool) -> None:
        if not self._has_joined:
            return
        require(tokens.shape[0] == 1, "ranks run one sequence at a time")
        require(cached == (self._step is not None), "a forward outside a step, or without its caches")
        self._tokens = tokens[0].tolist()  # type: ignore[assignment]

    def _receive(self, like: mx.array, layers: tuple[int, ...] = ()) -> mx.array:
        if not self._has_joined:
            return like
        sequence, position = self._step or (0, 0)
        self._step = None
        return states_from(*self._group.forward(sequence, position, self._tokens, like.size, layers), like)


class Mirror:
    """The caches that the other ranks hold of one sequence: what is done to those of rank 0 is done there, too.

    They are dropped with this object.
    """

    def __init__(
        self, group: RankGroup, open_step: Callable[[int, int], None], nbytes: Callable[[int, int], int]
    ) -> None:
        self.nbytes = nbytes
        self._group = group
        self._open_step = open_step
        self._sequence: _Number | None = None

    @property
    def needs_checkpoints(self) -> bool:
        return self._group.needs_checkpoints

    def begin(self, position: int) -> None:
        """A step opens; the network's next forward is that of this sequence."""
        self._open_step(self._known(), position)

    def commit(self, kept: int) -> None:
        self._group.send(Commit(self._number, kept))

    def can_truncate(self, position: int) -> bool:
        return not self._number or self._group.can_truncate(self._number, position)

    def truncate(self, position: int, checkpoint: object) -> None:
        if self._number:
            kept = checkpoint.number if isinstance(checkpoint, _Number) else 0
            self._group.send(Truncate(self._number, position, kept))

    def make_checkpoint(self) -> object:
        """They keep it as long as the result lives."""
        kept = _Number(self._group)
        self._group.send(MakeCheckpoint(self._number, kept.number))
        return kept

    def copy_beginning(self, source: Any, end: int) -> None:
        self._group.send(Copy(self._known(), source._number, end))  # noqa: SLF001  another Mirror

    def _known(self) -> int:
        self._sequence = self._sequence or _Number(self._group)
        return self._number

    @property
    def _number(self) -> int:
        """0: they hold nothing yet."""
        return 0 if self._sequence is None else self._sequence.number


class _Number:
    """Of a sequence or a checkpoint that the other ranks hold as long as this lives."""

    def __init__(self, group: RankGroup) -> None:
        self.number = group.new_number()
        weakref.finalize(self, group.forget, self.number).atexit = False
