"""What a machine is called, and what it is beside another one, as far as tensor mode asks for it: chip, system, and
RDMA between the two.
"""

from __future__ import annotations

import platform
import re
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

_PATIENCE_S = 3.0
_INTERFACE = re.compile(r"^\s*interface: (\w+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Computer:
    """`rdma`: the device of the cable to the other machine; "": there is none, or it is switched off."""

    chip: str = ""
    system: str = ""
    rdma: str = ""


@cache
def computer_name() -> str:
    """Of this one, as its user knows it: a host has a name of English letters, or one that a network gives it."""
    said = _said("scutil", "--get", "ComputerName") if sys.platform == "darwin" else ""
    return said.strip() or platform.node().removesuffix(".local") or "Mac"


def computer_beside(host: str) -> Computer:
    """This one, beside that at `host`."""
    return _mac_beside(host) if sys.platform == "darwin" else Computer()


def _mac_beside(host: str) -> Computer:
    chip, system = (_said("sysctl", "-n", name).strip() for name in ("machdep.cpu.brand_string", "kern.osversion"))
    return Computer(chip, system, _rdma_to(host))


def _rdma_to(host: str) -> str:
    """RDMA devices are named after the network interfaces of their ports."""
    device = f"rdma_{_interface_to(host)}"
    return device if device in _said("ibv_devices").split() else ""


def _interface_to(host: str) -> str:
    if scope := host.partition("%")[2]:
        return scope
    with suppress(OSError):
        address = str(socket.getaddrinfo(host, None)[0][4][0])
        kind = ("-inet6",) if ":" in address else ()
        if found := _INTERFACE.search(_said("route", "-n", "get", *kind, address)):
            return found[1]
    return ""


def _said(*command: str) -> str:
    """By a program of the system; "" if there is no such program, or it fails."""
    with suppress(OSError, subprocess.SubprocessError):
        run = subprocess.run(command, capture_output=True, check=True, timeout=_PATIENCE_S)
        return run.stdout.decode(errors="replace")
    return ""
