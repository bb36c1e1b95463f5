"""The process of a station, which gets a socket's number. It ends when the other side of its socket does."""

from __future__ import annotations

import json
import queue
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.api.types import Sampling
from engine.drafting.acceptance import StopRule
from engine.machines.child import serve
from engine.machines.messages import Value
from engine.machines.versions import hello_here
from engine.machines.wire import Wire, WireBroken
from engine.station.connection import CONVERSATIONS
from engine.station.messages import (
    Begin,
    CaughtUp,
    Commit,
    DraftLoaded,
    End,
    Forget,
    LoadDraft,
    Order,
    Propose,
    Proposed,
)
from engine.station.tree import Beliefs, Node

if TYPE_CHECKING:
    from engine.caches.base import CacheSet
    from engine.station.conversation import Conversation, StationDraft

_MOST_WAITING = 4096  # orders
_MOST_WAITING_BYTES = 1 << 26  # of conversations that begin
_TIMED_FORWARDS = 5
_ROWS = (1, 2, 4)
_ROWS_COST = 1.7  # as long as one row, at most

Post = Callable[[Value], None]


@dataclass(frozen=True, slots=True)
class Received:
    order: Order
    data: bytearray
    came_at: float


def run(descriptor: str, folder: str = "", memory_bytes: str = "0") -> int:
    """The exit status. `folder`: of the only draft that it loads; "": any.

    `memory_bytes`: that it may use; 0: what this machine has.
    """
    wire = Wire(socket.socket(fileno=int(descriptor)), Order)
    station = Station(wire.send, folder, int(memory_bytes))

    def take(order: Order, data: bytearray) -> None:
        station.receive(Received(order, data, time.perf_counter()))
        if not station.may_receive:
            raise WireBroken("too much waits")

    def work() -> None:
        wire.send(hello_here())
        while True:
            station.work()

    return serve(wire, take, work)


class Station:
    """Holds a draft and up to four conversations. Between orders it prepares the one that was used last.

    One thread makes the forwards, by `work`. Another one receives orders, and carries those out at once that need none.
    """

    def __init__(self, post: Post, folder: str = "", memory_bytes: int = 0) -> None:
        self._post = post
        self._memory_bytes = memory_bytes
        self._folder = folder
        self._draft: StationDraft | None = None
        self._token_us = 0
        self._worked_s = 0.0  # of forwards
        self._vocabulary = 0
        self._beliefs = Beliefs()
        self._orders = queue.SimpleQueue[Received]()
        self._waiting_bytes = 0  # of these orders
        self._lock = threading.Lock()  # of what follows, and the conversations' tokens and trees
        self._busy = False  # an order is being carried out by `work`
        self._conversations: dict[int, Conversation] = {}  # the one used last at the end
        self._waiting: set[int] = set()  # those that have not caught up yet
        self._missed: set[int] = set()  # the number of an order that has to wait for a forward

    @property
    def may_receive(self) -> bool:
        """Whether no more orders wait than an engine sends."""
        return self._orders.qsize() < _MOST_WAITING and self._waiting_bytes <= _MOST_WAITING_BYTES

    def receive(self, received: Received) -> None:
        """Any thread. In order: nothing is carried out before what came earlier."""
        with self._lock:
            if self._busy or not self._orders.empty() or not self._carried_out(received.order):
                self._waiting_bytes += len(received.data)
                self._orders.put(received)

    def work(self) -> None:
        """Carry out an order that waits, or make a forward for what is needed next, or wait for an order."""
        with self._lock:
            self._busy = not self._orders.empty()
        if not self._busy and self._prepare():
            return
        received = self._orders.get()
        with self._lock:
            self._busy = True
            self._waiting_bytes -= len(received.data)
        self._carry_out(received)
        with self._lock:
            self._busy = False

    def _carried_out(self, order: Order) -> bool:
        """Whether that needed no forward."""
        match order:
            case Commit(sequence=number) if number in self._conversations:
                self._commit(order)
                return True
            case Propose(sequence=number) if number in self._conversations:
                return self._proposed(order, may_wait=True) is None
        return False

    def _carry_out(self, received: Received) -> None:
        order = received.order
        match order:
            case LoadDraft():
                self._load(order)
            case Begin():
                self._begin(order, received.data)
            case Commit():
                with self._lock:
                    self._commit(order)
            case Propose():
                self._propose(order, received.came_at)
            case End(sequence=number):
                if conversation := self._conversations.get(number):
                    conversation.ended = True
                    self._delete_forgotten()
            case Forget():
                for conversation in self._conversations.values():
                    conversation.forgotten = True
                self._delete_forgotten()

    def _delete_forgotten(self) -> None:
        import mlx.core as mx

        with self._lock:
            done = [number for number, each in self._conversations.items() if each.ended and each.forgotten]
            for number in done:
                del self._conversations[number]
        if done:
            mx.clear_cache()

    def _commit(self, order: Commit) -> None:
        conversation = self._used(order.sequence)
        if conversation is not None:
            if len(conversation.tokens) != order.position:
                raise WireBroken(f"{len(conversation.tokens)} tokens are held, not {order.position}")
            conversation.commit(order.tokens)

    def _propose(self, order: Propose, came_at: float) -> None:
        """With forwards for what is missing, until the time is up."""
        until = came_at + order.within_us / 1e6
        while (missing := self._missing(order, time.perf_counter() < until and self._has_room())) is not None:
            self._predict(*missing)

    def _missing(self, order: Propose, may_wait: bool) -> tuple[Conversation, Node] | None:
        with self._lock:
            return self._proposed(order, may_wait=may_wait)

    def _proposed(self, order: Propose, *, may_wait: bool) -> tuple[Conversation, Node] | None:
        """Answer the order, unless a prediction is missing that it may wait for: that is returned."""
        conversation = self._used(order.sequence)
        if conversation is None or self._draft is None:
            self._post(Proposed(order.number, (), (), (), hit=False, worked_us=self._worked_us))
            return None
        conversation.sharpness = order.sharpness
        rule = StopRule(order.floors, order.worth)
        least = self._token_us / max(1, order.pace_us)
        chain = conversation.tree.chain(order.length, order.sharpness, rule, self._draft.ends, least)
        if chain.missing is not None and may_wait and not conversation.lags:
            self._missed.add(order.number)
            return conversation, chain.missing
        found = chain.predictions
        guesses = tuple(guess for each in found for guess in each.guesses)
        tokens = tuple(each.draw(order.sharpness) for each in found)
        hit = order.number not in self._missed
        self._missed.clear()
        probabilities = tuple(each.probability for each in found)
        self._post(Proposed(order.number, tokens, probabilities, guesses, hit, self._worked_us))
        return None

    @property
    def _worked_us(self) -> int:
        return int(1e6 * self._worked_s)

    def _prepare(self) -> bool:
        """A forward for the conversation that was used last; False if there is nothing to prepare."""
        with self._lock:
            wanted = self._wanted()
        if wanted is None or not self._has_room():
            return False
        if wanted.lags:
            began = time.perf_counter()
            wanted.prefill()
            self._worked_s += time.perf_counter() - began
        else:
            self._predict(wanted)
        return True

    def _has_room(self) -> bool:
        """Whether it may take more memory; conversations that have ended go first."""
        import mlx.core as mx

        while self._memory_bytes and mx.get_active_memory() > self._memory_bytes:
            with self._lock:
                ended = next((number for number, each in self._conversations.items() if each.ended), None)
                if ended is None:
                    return False
                del self._conversations[ended]
        return True

    def _wanted(self) -> Conversation | None:
        """The conversation that is next: it has to prefill, or something to predict."""
        for number, conversation in reversed(self._conversations.items()):
            if number in self._waiting and conversation.caught_up:
                self._waiting.remove(number)
                self._post(CaughtUp(number))
            if conversation.ended or not conversation.has_room:
                continue
            if conversation.lags or conversation.next():
                return conversation
        return None

    def _predict(self, conversation: Conversation, wanted: Node | None = None) -> None:
        """A forward for `wanted`, which a reply waits for; else for what is likeliest."""
        began = time.perf_counter()
        with self._lock:
            nodes = conversation.next() if wanted is None else [wanted]
            if not all(conversation.tree.holds(node) for node in nodes) or not nodes:
                return
            computed = conversation.forward(nodes)
        predictions = computed()
        self._worked_s += time.perf_counter() - began
        with self._lock:
            for node, prediction in zip(nodes, predictions, strict=True):
                if conversation.tree.holds(node):  # else the main model has written something else meanwhile
                    conversation.tree.predict(node, prediction)

    def _used(self, number: int) -> Conversation | None:
        conversation = self._conversations.pop(number, None)
        if conversation is not None:
            self._conversations[number] = conversation
        return conversation

    def _load(self, order: LoadDraft) -> None:
        from engine.station.conversation import StationDraft

        part, info, width = _loaded(Path(self._folder or order.folder), self._memory_bytes)
        draft = StationDraft(part.network, part.make_caches, width, info.context_tokens, frozenset(order.ends))
        self._vocabulary = order.vocabulary
        self._draft, self._token_us = _timed(draft)
        self._post(DraftLoaded(info.context_tokens))

    def _begin(self, order: Begin, data: bytearray) -> None:
        from engine.decoding.sampling import Sampler
        from engine.station.conversation import Conversation

        if self._draft is None:
            raise ValueError("no draft is loaded")
        tokens = list(struct.unpack_from(f">{order.tokens}I", data))
        law = json.loads(bytes(data[4 * order.tokens :]))
        biases = tuple((token, float(bias)) for token, bias in law["sampling"].pop("logit_bias"))
        sampling = Sampling(**law["sampling"], logit_bias=biases)
        caches = self._caches_of(tokens)
        if len(self._conversations) >= CONVERSATIONS:  # all are in use: this one is not drafted for
            return
        sampler = Sampler(sampling, law["seed"], self._vocabulary, tokens, law["spared"])
        with self._lock:
            self._conversations[order.sequence] = Conversation(self._draft, tokens, sampler, self._beliefs, caches)
            self._waiting.add(order.sequence)

    def _caches_of(self, tokens: list[int]) -> CacheSet | None:
        """Of the ended conversation with the longest common beginning; makes room for one more."""
        from engine.caches.checkpoints import truncate
        from engine.decoding.sequence import common_prefix

        ended = {number: each for number, each in self._conversations.items() if each.ended}
        shared = {number: common_prefix(each.tokens, tokens) for number, each in ended.items()}
        best = max(shared, key=lambda number: shared[number], default=None)
        if best is not None and shared[best]:
            caches = self._conversations.pop(best).release()
            truncate(caches, min(shared[best], len(tokens) - 1, caches.position))
            return caches
        if best is not None and len(self._conversations) >= CONVERSATIONS:
            del self._conversations[next(iter(ended))]
        return None


def _loaded(path: Path, memory_bytes: int = 0) -> Any:
    """(the network with its caches, its info, the width of its logits)."""
    import mlx.core as mx

    from engine.models.fit import set_aside
    from engine.models.memory import most_bytes, set_limits
    from engine.models.networks import checked, reading

    if memory_bytes:
        set_aside(max(0, most_bytes() - memory_bytes))
    info = checked(path)
    slices = reading(info)
    while True:
        try:
            next(slices)
        except StopIteration as done:
            part = done.value
            break
    set_limits(part.need)
    return part, info, int(part.network(mx.array([[0]])).shape[-1])


def _timed(draft: StationDraft) -> tuple[StationDraft, int]:
    """With as many rows as take little longer than one; and microseconds of a forward of one.

    Raises ValueError if its caches are of another kind, or rows are computed differently.
    """
    from mlx_lm.models.cache import KVCache

    from engine.station.conversation import Conversation

    if not all(type(layer) is KVCache for layer in draft.make_caches().layers):
        raise ValueError("what is drafted and rejected cannot be taken back in this draft")
    seconds = {rows: min(Conversation.try_rows(draft, rows) for _ in range(_TIMED_FORWARDS)) for rows in _ROWS}
    most = max(rows for rows in _ROWS if seconds[rows] <= _ROWS_COST * seconds[1])
    return replace(draft, rows=most), max(1, int(1e6 * seconds[1]))
