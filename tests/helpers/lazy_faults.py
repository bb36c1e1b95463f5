"""Arrays that nothing is wrong with until they are computed."""

from __future__ import annotations

import threading

import mlx.core as mx


def refused() -> mx.array:
    """Two tokens; what is asked to compute them raises at once, each time: they are of a thread that is gone."""
    made: list[mx.array] = []
    thread = threading.Thread(target=lambda: made.append((mx.arange(2) + mx.array([3, 4])).astype(mx.uint32)))
    thread.start()
    thread.join()
    return made[0]


def broken_off() -> mx.array:
    """Two tokens; the device fails at them while others wait. Whoever waits next hears of it, once."""
    inverse = mx.linalg.inv(mx.zeros((4, 4)), stream=mx.cpu)
    return mx.abs(inverse[0, :2]).astype(mx.uint32)


FAULTS = {"refused": refused, "broken off": broken_off}
