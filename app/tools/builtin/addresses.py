"""Which addresses may be fetched: http and https, public ones only unless the user typed the address."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit, urlunsplit

from app.tools.builtin.tool import Refusal
from app.tools.public import ascii_host, is_public

_PORTS = {"http": 80, "https": 443}
_LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class Target:
    """Where to fetch. `host` is in ASCII, for DNS and certificates."""

    scheme: str
    host: str
    port: int
    path: str  # with the query

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


def target_of(address: str, *, typed: bool) -> Target:
    """Raises Refusal."""
    if len(address) > _LONGEST or any(each.isspace() or ord(each) < 0x20 or ord(each) == 0x7F for each in address):
        raise Refusal("that is no address")
    try:
        parts = urlsplit(address)
        port = parts.port
        host = ascii_host((parts.hostname or "").rstrip("."))
    except ValueError:
        raise Refusal("that is no address") from None
    if parts.scheme not in _PORTS or not host:
        raise Refusal("only addresses that begin with http:// or https:// can be fetched")
    if parts.username is not None or parts.password is not None:
        raise Refusal("an address with a name or password is not fetched")
    if not typed and port not in (None, _PORTS[parts.scheme]):
        raise Refusal("an address with a port is only fetched if the user typed it")
    return Target(parts.scheme, host, port or _PORTS[parts.scheme], _path(parts))


def _path(parts: SplitResult) -> str:
    path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    return "".join(each if each.isascii() else "".join(f"%{byte:02X}" for byte in each.encode()) for each in path)


def places_of(target: Target, *, typed: bool) -> list[tuple[socket.AddressFamily, str]]:
    """Where to connect, as the name was looked up once: nothing is looked up again. Raises Refusal."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Refusal(f"{target.host} is not found") from None
    places: list[tuple[socket.AddressFamily, str]] = list(
        dict.fromkeys((family, str(place[0])) for family, _, _, _, place in found)
    )
    if not typed and not all(is_public(place) for _, place in places):
        raise Refusal("addresses within this machine or its network are only fetched if the user typed them")
    return places
