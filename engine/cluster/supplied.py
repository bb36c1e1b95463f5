"""The files of a model from the machine that asked for it: a line to that one, and what is read over it.

One question at a time, each answered before the next. Of what comes only the form is checked here: it becomes a file
once it has the checksum of a list. The other end is `hub/supply.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from engine.api.ranks import HubSource, Machine
from engine.cluster.operations import Fetch, Inventory, Piece, Ping, Pong, Stock
from engine.cluster.relay import BEAT_S
from engine.cluster.wire import Wire, WireBroken, WireEnded

PIECE_BYTES = 4 << 20  # of one answer
ANSWER_S = 10.0

_Kind = TypeVar("_Kind", Piece, Pong, Stock)


class SupplyEnded(Exception):
    """Nothing more comes over this line."""


class SupplyLine:
    """Any thread may ask."""

    def __init__(self, wire: Wire, machine: Machine, source: HubSource) -> None:
        self.machine, self.source = machine, source
        self._wire = wire
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._stock: Stock | None = None

    def hold(self, wanted: Callable[[], bool]) -> None:
        """Until it ends, or is no longer wanted: the other machine gets a question in time."""
        try:
            while wanted() and not self._ended.wait(BEAT_S):
                self._ask(Ping(), Pong)
        except SupplyEnded:
            pass
        finally:
            self.end()

    def end(self) -> None:
        self._ended.set()
        self._wire.shut()

    def stock(self) -> Stock:
        """The model's files, as the other machine has them from a hub. Raises SupplyEnded."""
        if self._stock is None:
            stock = self._ask(Inventory(), Stock)[0]
            if not len(stock.names) == len(stock.sizes) == len(stock.checksums):
                raise self._broken()
            self._stock = stock
        return self._stock

    def read(self, name: str, start: int, size: int) -> bytearray:
        """So many bytes of a file, PIECE_BYTES at most. Raises SupplyEnded."""
        data = self._ask(Fetch(name, start, size), Piece)[1]
        if len(data) != size:
            raise self._broken()
        return data

    def _ask(self, question: Inventory | Fetch | Ping, kind: type[_Kind]) -> tuple[_Kind, bytearray]:
        with self._lock:
            try:
                self._wire.send(question)
                if not self._wire.arrives(ANSWER_S):
                    raise WireBroken("no answer")
                value, data = self._wire.receive()
            except (WireEnded, WireBroken) as error:
                raise self._broken() from error
        if not isinstance(value, kind):
            raise self._broken()
        return value, data

    def _broken(self) -> SupplyEnded:
        self.end()
        return SupplyEnded()


class Supplies:
    """Any thread. `line`: the latest one, while it is open; None: nothing is supplied."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.line: SupplyLine | None = None
        self._on_change = on_change
        self._lock = threading.Lock()

    def hold(self, line: SupplyLine, wanted: Callable[[], bool]) -> None:
        """To its end, in place of one that was there before."""
        with self._lock:
            before, self.line = self.line, line
        if before is not None:
            before.end()
        self._on_change()
        try:
            line.hold(wanted)
        finally:
            with self._lock:
                self.line = None if self.line is line else self.line
            self._on_change()
