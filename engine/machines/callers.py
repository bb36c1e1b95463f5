"""Connections from other machines: listening for them, few at a time, and who they are."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass

from engine.api.connections import gives_way, machine_of
from engine.api.ranks import Machine
from engine.machines.identity import Identity, fingerprint
from engine.machines.relay import HANDSHAKE_S


def host_of(address: tuple[str, int, int, int] | tuple[str, int]) -> str:
    """By a socket's address. One on a cable (fe80::…) can be reached only with the name of its interface after it."""
    host = socket.getnameinfo(address, socket.NI_NUMERICHOST | socket.NI_NUMERICSERV)[0]
    return host.removeprefix("::ffff:")


def listening(host: str, port: int) -> socket.socket:
    """ "::": by IPv4 as well. Raises OSError."""
    if host == "::":
        with suppress(OSError):  # this system has no IPv6; what else is wrong, is so with IPv4 as well
            return socket.create_server((host, port), family=socket.AF_INET6, dualstack_ipv6=True)
        host = "0.0.0.0"
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


@dataclass(eq=False, slots=True)
class Caller:
    socket: socket.socket
    host: str
    machine: Machine | None = None  # whose certificate it showed; until then, and without one, it gives way to others

    def secured(self, identity: Identity, verify: ssl.VerifyMode = ssl.CERT_OPTIONAL) -> ssl.SSLSocket:
        """Its connection, once `machine` is known, if it is paired. Raises OSError."""
        context = identity.server_context(verify)
        self.socket.settimeout(HANDSHAKE_S)
        self.socket = secure = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        try:
            secure.do_handshake()
            self.machine = identity.machine(fingerprint(secure.getpeercert(binary_form=True) or b""))
        except BaseException:
            secure.close()
            raise
        return secure

    def end(self) -> None:
        with suppress(OSError):
            socket.socket.shutdown(self.socket, socket.SHUT_RDWR)  # the thread that waits for it reads the end


class Callers:
    """Those whose connections are open, before their handshake included. Any thread."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._open: list[Caller] = []  # the oldest first

    def add(self, caller: Caller) -> bool:
        """In place of one that is not known, if need be: such ones keep out none that is paired."""
        with self._lock:
            if len(self._open) >= self.most:
                unknown = ((each, machine_of(each.host)) for each in self._open if each.machine is None)
                if (first := gives_way(unknown)) is None:
                    return False
                self._open.remove(first)
                first.end()
            self._open.append(caller)
            return True

    def remove(self, caller: Caller) -> None:
        with self._lock, suppress(ValueError):  # it may have given way
            self._open.remove(caller)

    def end(self) -> None:
        with self._lock:
            for each in self._open:
                each.end()

    def __len__(self) -> int:
        return len(self._open)
