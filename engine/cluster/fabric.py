"""The group of MLX's distributed engine in which ranks sum the parts of sharded layers: joining it, and its speed.

Over RDMA (JACCL) between two machines, whose connection data cross the ranks' own sockets, so no port opens; over a
ring on loopback on one machine, for tests. A ring takes numbers from any process that connects first: never elsewhere.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from math import isqrt
from typing import Any

import mlx.core as mx
import numpy as np

from engine.api.connections import is_loopback
from engine.caches.kinds import require
from engine.cluster.operations import Join, Joined, Operation
from engine.machines.launched import LAUNCHED, launched_place, launched_size
from engine.machines.messages import NotAValue, Value, decoded, encoded

_JOIN_S = 90  # longer than the main waits for its ranks
_LENGTHS = struct.Struct(">II")
RING = "ring"
RDMA = "jaccl"
_SUMS = 64
_NUMBERS = 4096  # in each: the hidden states of a token
_MATRIX = 8192 if mx.metal.is_available() else 4096  # rows and columns of one that no processor's cache holds
_MOST_BYTES = 16 << 20  # of an operation that is passed on
_PREFIXES = ("MLX_", "JACCL_")  # of variables that choose a backend, or how it waits


def join(asked: Join, gather: Callable[[bytes], bytes]) -> tuple[Any, Joined]:
    """The group, and what was measured in it. `gather`: the bytes of all members, by place.

    Holds Python's lock until all members are there; SIGALRM ends the process if one never comes. A process joins one
    group, once.
    """
    if asked.backend == LAUNCHED:
        return _measured(_launched(asked.place), asked.place)
    require(asked.backend in (RING, RDMA), f"no backend {asked.backend[:20]}")
    links = _of_ring(asked.links) if asked.backend == RING else _of_rdma(asked.links)
    file = "MLX_HOSTFILE" if asked.backend == RING else "MLX_IBV_DEVICES"
    with tempfile.NamedTemporaryFile("w") as listed, _environment({"MLX_RANK": str(asked.place), file: listed.name}):
        listed.write(json.dumps(links))
        listed.flush()
        arguments = {"all_gather_factory": lambda _rank, _size: lambda data, _bytes: gather(data)}
        rdma_only = arguments if asked.backend == RDMA else {}
        with _time_limit():
            group = mx.distributed.init(strict=True, backend=asked.backend, **rdma_only)
    require((group.rank(), group.size()) == (asked.place, len(links)), "another group than asked for")
    return _measured(group, asked.place)


@contextmanager
def _time_limit() -> Iterator[None]:
    """A ring waits for ever for a member that has ended, and no thread of Python's can end that."""
    signal.alarm(_JOIN_S)
    try:
        yield
    finally:
        signal.alarm(0)


def _launched(place: int) -> Any:
    """The group of mlx.launch, by its backend: of all MLX takes MPI's, where that is installed, with one member."""
    require(place == launched_place(), "a group that mlx.launch has not made")
    group = mx.distributed.init(strict=True, backend=RDMA if os.environ.get("MLX_IBV_DEVICES") else RING)
    require((group.rank(), group.size()) == (place, launched_size()), "another group than mlx.launch has made")
    return group


def _measured(group: Any, place: int) -> tuple[Any, Joined]:
    return group, Joined(_sum_ns(group), _bytes_s() if place == 0 else 0)


def ring_links(size: int) -> tuple[str, ...]:
    """Addresses on loopback that are free now."""
    with ExitStack() as opened:
        held = [opened.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(size)]
        return tuple(f"127.0.0.1:{each.getsockname()[1]}" for each in held)


def _of_ring(links: tuple[str, ...]) -> list[list[str]]:
    require(all(is_loopback(link.rpartition(":")[0]) for link in links), "a ring beyond loopback")
    return [[link] for link in links]


def _of_rdma(links: tuple[str, ...]) -> list[list[str | None]]:
    size = isqrt(len(links))
    require(size**2 == len(links), f"{len(links)} devices")
    return [[device or None for device in links[at : at + size]] for at in range(0, len(links), size)]


@contextmanager
def _environment(wanted: dict[str, str]) -> Iterator[None]:
    """With these of MLX's variables alone."""
    before = {name: value for name, value in os.environ.items() if name.startswith(_PREFIXES)}
    for name in before:
        del os.environ[name]
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name in wanted:
            del os.environ[name]
        os.environ.update(before)


def _sum_ns(group: Any) -> int:
    """Of a sum between two other computations, as in a forward."""
    _sum_often(group, _SUMS // 10)
    began = time.perf_counter_ns()
    _sum_often(group, _SUMS)
    return (time.perf_counter_ns() - began) // _SUMS


def _sum_often(group: Any, times: int) -> None:
    numbers = mx.ones((_NUMBERS,))
    for _ in range(times):
        numbers = sum_over(group)(numbers, group=group) / group.size()
    mx.eval(numbers)


def sum_over(group: Any) -> Callable[..., mx.array]:
    """Whose result for a token does not depend on how many there are. MLX's own does, over more than two members."""
    return mx.distributed.all_sum if group.size() <= 2 else _sum_by_place


def _sum_by_place(numbers: mx.array, *, group: Any) -> mx.array:
    first, *others = mx.distributed.all_gather(numbers[None], group=group)
    return sum(others, first)


def _bytes_s() -> int:
    """At which a matrix is read, as a forward of one token reads weights."""
    matrix = mx.ones((_MATRIX, _MATRIX), dtype=mx.float16 if mx.metal.is_available() else mx.float32)
    vector = mx.ones((_MATRIX, 1), dtype=matrix.dtype)
    mx.eval(matrix @ vector)
    began = time.perf_counter()
    mx.eval(matrix @ vector)
    taken_s = time.perf_counter() - began
    del matrix
    mx.clear_cache()
    return int(_MATRIX * _MATRIX * vector.itemsize / taken_s)


def passed_on(group: Any, own: tuple[Value, bytearray] | None) -> tuple[Any, bytearray]:
    """To all members: the operation, and its bytes, of the one that has one."""
    frame = b""
    if own is not None:
        content = encoded(own[0])
        frame = _LENGTHS.pack(len(content), len(own[1])) + content + own[1]
    size = int.from_bytes(_summed(group, mx.array(len(frame), dtype=mx.uint32)), sys.byteorder)
    if size > _MOST_BYTES:  # MLX may give any number where a member has ended
        raise NotAValue(f"{size} bytes")
    data = _summed(group, mx.array(list(frame), dtype=mx.uint8) if frame else mx.zeros(size, dtype=mx.uint8))
    length, more = _LENGTHS.unpack_from(data)
    end = _LENGTHS.size + length
    if end + more != len(data):
        raise NotAValue(f"{len(data)} bytes, not {end + more}")
    return decoded(data[_LENGTHS.size : end], Operation), bytearray(data[end:])


def require_same(group: Any, digest: str) -> None:
    """Of all members."""
    own = mx.array(list(digest.encode()), dtype=mx.uint8)
    rows = mx.distributed.all_gather(own[None], group=group, stream=mx.cpu)
    require(bool(mx.all(rows == own).item()), "another member has other hidden states")


def _summed(group: Any, numbers: mx.array) -> bytes:
    """On the CPU: macOS ends work on the GPU that waits long."""
    found = mx.distributed.all_sum(numbers, group=group, stream=mx.cpu)
    mx.eval(found)  # which raises where the group has ended; a conversion would not
    return np.array(found).tobytes()
