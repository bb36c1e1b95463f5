"""Memory that a model needs, memory of this machine, and the limits that we set.

A model's need is computed from its network before any weight is read: shapes are known without values. Engine thread
only.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import time
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten

from engine.caches.checkpoints import arrays_in
from engine.caches.kinds import leaves
from engine.models.fit import LEAST_CONTEXT_TOKENS, OVERHEAD, SYSTEM_BYTES, aside_bytes, physical_bytes

_NEARLY = 0.97  # share of the limit at which a reply ends, so that its current step still fits
_WIRED_SHARE = 0.8  # of the recommended size; wiring all of it has frozen machines
_MARGIN_BYTES = 512 << 20
_BUFFER_CACHE_BYTES = 1 << 30
_MEMINFO = Path("/proc/meminfo")
_AVAILABLE = re.compile(rb"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)
# of <mach/host_info.h>: a flavor, and its size in words of 32 bits
_VM_INFO64 = 4
_WORDS = 38
# indices of page counts
_FREE = 0
_INACTIVE = 2
_BETWEEN_S = 0.5


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    weight_bytes: int
    token_bytes: int  # for each token of a chat
    fixed_bytes: int  # of a chat of any length: windows and recurrent states

    def at(self, context_tokens: int) -> int:
        return int(self.weight_bytes * OVERHEAD) + self.fixed_bytes + context_tokens * self.token_bytes

    def fitting_tokens(self, available_bytes: int) -> int:
        """The longest context that fits."""
        return max(0, (available_bytes - self.at(0)) // max(1, self.token_bytes))

    def with_tower(self, tower_bytes: int, encoding_bytes: int) -> MemoryNeed:
        """With a vision tower, which is loaded at the first picture, and the memory that encoding one takes."""
        return MemoryNeed(self.weight_bytes + tower_bytes, self.token_bytes, self.fixed_bytes + encoding_bytes)


def memory_need(network: Any, layers: list[Any]) -> MemoryNeed:
    """Feeds a token to the unused caches `layers` and reads their shapes; nothing is evaluated."""
    network(mx.array([[0]]), cache=layers)
    token_bytes = fixed_bytes = 0
    for leaf in leaves(layers):
        arrays = list(arrays_in(leaf.state))
        if hasattr(leaf, "update_and_fetch"):
            row_bytes = sum(array.nbytes // array.shape[-2] for array in arrays if array.ndim > 2)
            most = getattr(leaf, "max_size", None) or getattr(leaf, "chunk_size", None)
            token_bytes += 0 if most else row_bytes
            fixed_bytes += row_bytes * most if most else 0
        else:
            fixed_bytes += sum(array.nbytes for array in arrays)
    weights: list[tuple[str, mx.array]] = tree_flatten(network.parameters())  # type: ignore[assignment]
    weight_bytes = sum(weight.nbytes for _, weight in weights)
    return MemoryNeed(weight_bytes, token_bytes, fixed_bytes)


@cache
def most_bytes() -> int:
    """Memory for models and chats, if no other program needs it."""
    return min(_recommended_bytes() or physical_bytes(), physical_bytes() - SYSTEM_BYTES)


def available_bytes() -> int:
    """Memory for models and chats at present: what they use is included, what other programs use is not."""
    return _at_most(most_bytes() - aside_bytes())


def _at_most(most: int) -> int:
    free = free_bytes()
    held = mx.get_active_memory() + mx.get_cache_memory()
    return most if free is None else min(most, held + free)


def is_short() -> bool:
    """Whether memory is short. What `set_aside` reserves prevents loading a model, and ends no reply."""
    return is_nearly(_at_most(most_bytes()))


def lacks(size: int) -> bool:
    """Whether `size` more bytes would come near the limit."""
    return size > 0 and is_nearly(_at_most(most_bytes()) - size)


def is_nearly(limit: int) -> bool:
    """Whether so much is in use that the current step may be the last that fits."""
    return mx.get_active_memory() > _NEARLY * limit


def set_limits(*needs: MemoryNeed) -> None:
    """Set MLX's limits for the loaded models; MLX's defaults let a Mac swap, and keep freed buffers for ever."""
    recommended = _recommended_bytes()
    if not mx.metal.is_available() or not recommended:
        return
    most = most_bytes()
    wanted = sum(need.at(LEAST_CONTEXT_TOKENS) for need in needs) + _MARGIN_BYTES
    mx.set_memory_limit(most)
    mx.set_cache_limit(min(_BUFFER_CACHE_BYTES, most // 8))
    mx.set_wired_limit(min(wanted, int(_WIRED_SHARE * recommended)) if needs else 0)


@cache
def _recommended_bytes() -> int:
    """0 if there is no such figure: on a CPU."""
    return int(mx.device_info().get("max_recommended_working_set_size", 0))


# Memory that the system could give: free, or reclaimable from programs.


def free_bytes() -> int | None:
    """Free memory, measured at most half a second ago; None if the system does not say."""
    return _free_in(int(time.monotonic() / _BETWEEN_S))


@lru_cache(maxsize=1)
def _free_in(_half_second: int) -> int | None:
    return _free_on_mac(_system()) if sys.platform == "darwin" else _free_on_linux()


def _free_on_linux() -> int | None:
    try:
        found = _AVAILABLE.search(_MEMINFO.read_bytes())
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def _free_on_mac(system: Any) -> int | None:
    """Free and inactive pages, as psutil computes available memory."""
    try:
        words = (ctypes.c_uint32 * _WORDS)()
        count = ctypes.c_uint32(_WORDS)
        refused = system.host_statistics64(_host(system), _VM_INFO64, ctypes.byref(words), ctypes.byref(count))
    except (OSError, AttributeError):
        return None
    return None if refused else (words[_FREE] + words[_INACTIVE]) * os.sysconf("SC_PAGE_SIZE")


@cache
def _system() -> Any:
    return ctypes.CDLL(None)


@cache
def _host(system: Any) -> Any:
    """The host port. Each call increments a reference count in the system, which is never released."""
    system.mach_host_self.restype = ctypes.c_uint32
    return ctypes.c_uint32(system.mach_host_self())
