"""This machine: its name (measurements of other machines do not apply), id, network address, and installed features."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import socket
import sys
from functools import cache
from pathlib import Path

from engine import has_openblas

_ROOM = 256
can_use_openblas = has_openblas  # on Linux, where `make run` has installed it
_SOMEWHERE = ("192.0.2.1", 9)  # documentation address; nothing is sent there


@cache
def machine_name() -> str:
    """Processor and memory, such as "Apple M3 Max, 64 GB". The same at each start."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{_processor() or platform.machine()}, {round(memory / 2**30)} GB"


@cache
def machine_id() -> str:
    """32 letters of this machine alone, the same after each restart of it."""
    return hashlib.sha256(_system_id() or socket.gethostname().encode()).hexdigest()[:32]


def network_address() -> str:
    """The address for other machines in its network; "" without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_SOMEWHERE)
        except OSError:
            return ""
        return str(probe.getsockname()[0])


def system_proxy() -> str:
    """The proxy of the environment or the system's settings, without its password; "" if there is none."""
    from urllib.request import getproxies  # not before the first frame

    found = getproxies()
    return next((found[name].rpartition("@")[2] for name in ("https", "all") if found.get(name)), "")


def has_gpu() -> bool:
    """Whether models are computed on a GPU."""
    return sys.platform == "darwin"


def _system_id() -> bytes:
    """As the system says it; empty where it does not."""
    if sys.platform == "darwin":
        told = ctypes.create_string_buffer(16)
        patience_s = (ctypes.c_long * 2)(1, 0)
        return told.raw if ctypes.CDLL(None).gethostuuid(told, patience_s) == 0 else b""
    try:
        return Path("/etc/machine-id").read_bytes()
    except OSError:
        return b""


def _processor() -> str:
    """As a Mac says it; "" elsewhere."""
    if sys.platform == "darwin":
        text = ctypes.create_string_buffer(_ROOM)
        size = ctypes.c_size_t(_ROOM)
        system = ctypes.CDLL(None)
        if system.sysctlbyname(b"machdep.cpu.brand_string", text, ctypes.byref(size), None, 0) == 0:
            return text.value.decode(errors="replace")
    return ""
