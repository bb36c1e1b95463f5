"""Memory that the system could give now: free, or reclaimable from programs."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import time
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

_MEMINFO = Path("/proc/meminfo")
_AVAILABLE = re.compile(rb"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)
_VM_INFO64, _WORDS = 4, 38  # of <mach/host_info.h>: a flavor, and its size in words of 32 bits
_FREE, _INACTIVE = 0, 2  # indices of page counts
_BETWEEN_S = 0.5


def free_bytes() -> int | None:
    """At most half a second old. None if the system does not say."""
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
        words, count = (ctypes.c_uint32 * _WORDS)(), ctypes.c_uint32(_WORDS)
        refused = system.host_statistics64(_host(system), _VM_INFO64, ctypes.byref(words), ctypes.byref(count))
    except (OSError, AttributeError):
        return None
    return None if refused else (words[_FREE] + words[_INACTIVE]) * os.sysconf("SC_PAGE_SIZE")


@cache
def _system() -> Any:
    return ctypes.CDLL(None)


@cache
def _host(system: Any) -> Any:
    """Each call increments a reference count of the system's that is never released."""
    system.mach_host_self.restype = ctypes.c_uint32
    return ctypes.c_uint32(system.mach_host_self())
