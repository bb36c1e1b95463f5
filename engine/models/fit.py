"""Whether a model fits this machine, without MLX and before anything is loaded or downloaded.

memory.py checks again with the network itself, and decides.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from functools import cache

from engine.api.types import CacheSizes, FitLevel, MemoryFit, ModelInfo
from engine.models.cache_sizes import at_eight_bits

LEAST_CONTEXT_TOKENS = 4096  # with memory for a shorter context a model is useless for chats
ENOUGH_CONTEXT_TOKENS = 32_768  # few chats are longer
SYSTEM_BYTES = 2 << 30  # reserved for the system and the app
OVERHEAD = 1.05  # on weights: buffers are rounded up, and a forward needs memory
_TIGHT = 0.85  # share of the available memory
_LARGE_MAC_BYTES = 36 << 30  # from this size macOS gives the GPU three quarters of memory, below two thirds
_SCALES_BITS = 0.5  # a scale and an offset of 16 bits for each group of 64 weights
_TYPICAL_TOKEN_BYTES = 150_000  # of a model with …
_TYPICAL_PARAMETERS = 8e9
_aside = [0]


def memory_fit(
    info: ModelInfo, context_tokens: int, available_bytes: int | None = None, kv_bits: int | None = None
) -> MemoryFit:
    """Memory with a chat of `context_tokens`, or of the model's limit if that is less."""
    return fit_together((info,), context_tokens, available_bytes, kv_bits)


def fit_together(
    models: Sequence[ModelInfo], context_tokens: int, available_bytes: int | None = None, kv_bits: int | None = None
) -> MemoryFit:
    """Memory of a main model, given first, and its drafts: each keeps the same chat. `kv_bits`: as in a request."""
    available = model_memory_bytes() if available_bytes is None else available_bytes
    caches = [info.caches or _typical_caches(info) for info in models]
    limit = models[0].context_tokens or context_tokens
    loaded = [int((info.loaded_bytes or info.weight_bytes) * OVERHEAD) for info in models]
    weights = [each + sizes.fixed_bytes for each, sizes in zip(loaded, caches, strict=True)]

    def fitting(count: int, bits: int) -> int:
        """The longest context that fits with the first `count` models."""
        room = available - sum(weights[:count])
        token_bytes = sum(sizes.bytes_at(bits) for sizes in caches[:count])
        return min(limit, max(0, room) // token_bytes) if token_bytes else limit * (room >= 0)

    usual = 8 if takes_eight_bits(fitting(1, 16), limit) else 16
    bits = usual if kv_bits is None else kv_bits
    needed = sum(weights) + min(context_tokens, limit) * sum(sizes.bytes_at(bits) for sizes in caches)
    return MemoryFit(_level(needed, available), needed, available, fitting(len(models), bits))


def takes_eight_bits(fitting_tokens: int, limit_tokens: int) -> bool:
    """Whether keys and values are kept at 8 bits if nothing is said: where with 16 so few tokens of the limit fit.

    `fitting_tokens`: with the main model alone, so that no word depends on a draft.
    """
    return fitting_tokens < min(limit_tokens, ENOUGH_CONTEXT_TOKENS)


def estimated_weight_bytes(parameters: int, bits: float | None) -> int:
    """Weights of a model that is not on disk. `bits` None: half precision, not quantized."""
    return int(parameters * (16.0 if bits is None else bits + _SCALES_BITS) / 8)


def model_memory_bytes() -> int:
    """Memory for models and chats on this machine, without asking its device."""
    is_mac = sys.platform == "darwin"
    return memory_share(physical_bytes(), is_mac=is_mac, limit_bytes=_limit_bytes() if is_mac else 0)


def set_aside(size: int) -> None:
    """Reserve memory for a process that may not have taken it yet, so that no model is loaded into it."""
    _aside[0] = size


def aside_bytes() -> int:
    return _aside[0]


def memory_share(physical: int, *, is_mac: bool, limit_bytes: int = 0) -> int:
    """`limit_bytes`: what the user lets the GPU have; 0: as macOS decides."""
    device = physical
    if is_mac:
        device = limit_bytes or (physical * 3 // 4 if physical >= _LARGE_MAC_BYTES else physical * 2 // 3)
    return max(0, min(device, physical - SYSTEM_BYTES))


@cache
def _limit_bytes() -> int:
    """That the user has set by `sudo sysctl iogpu.wired_limit_mb=…`, and Metal reports; 0: none."""
    limit_mb = ctypes.c_uint64()
    size = ctypes.c_size_t(ctypes.sizeof(limit_mb))
    failed = ctypes.CDLL(None).sysctlbyname(
        b"iogpu.wired_limit_mb", ctypes.byref(limit_mb), ctypes.byref(size), None, 0
    )
    return 0 if failed else limit_mb.value << 20


@cache
def physical_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _level(needed: int, available: int) -> FitLevel:
    if needed > available:
        return FitLevel.TOO_LARGE
    return FitLevel.TIGHT if needed > _TIGHT * available else FitLevel.FITS


def _typical_caches(info: ModelInfo) -> CacheSizes:
    """Cache sizes assumed by the model's size; drafters have one layer or five."""
    if info.drafter is not None:
        return CacheSizes(4 * info.width, 0)
    token_bytes = int(_TYPICAL_TOKEN_BYTES * (max(info.parameters, 1) / _TYPICAL_PARAMETERS) ** 0.5)
    return CacheSizes(token_bytes, 0, at_eight_bits(token_bytes))
