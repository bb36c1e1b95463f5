"""Where connections come from, and which of a listener's gives way where no more are taken."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from typing import TypeVar

C = TypeVar("C")

_PREFIX = 64  # bits of an IPv6 address: networks give a machine all addresses that begin with the same ones


def gives_way(connections: Iterable[tuple[C, str]]) -> C | None:
    """The oldest one of the machine that has the most, so that neither many machines nor one keep the next one out.

    `connections`: those that may be closed, the oldest first, each with its `machine_of`. None if there are none.
    """
    by_machine: dict[str, list[C]] = {}
    for connection, machine in connections:
        by_machine.setdefault(machine, []).append(connection)
    return max(by_machine.values(), key=len)[0] if by_machine else None


def at_port(host: str, port: int) -> str:
    """As in an address of the web."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(host: str) -> bool:
    """False for a name."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return False


def machine_of(address: str) -> str:
    """What the addresses of one machine have in common."""
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(known, IPv6Address):
        return address
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(known) if known.is_loopback else f"{int(known) >> (128 - _PREFIX):x}"
