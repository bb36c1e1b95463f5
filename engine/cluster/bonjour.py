"""Bonjour by ctypes: services in this network, by macOS's own library. Avahi's for Linux has the same functions.

Names and records come from any machine in the network, and are passed on as they are.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Callable
from ctypes import (
    CFUNCTYPE,
    POINTER,
    byref,
    c_char_p,
    c_int,
    c_int32,
    c_uint16,
    c_uint32,
    c_void_p,
    string_at,
)
from dataclasses import dataclass
from typing import Any

Library = Callable[[str], Any]
DOMAIN = b"local."
ANYWHERE = 0  # every interface
A, AAAA = 1, 28  # types of records: the addresses of a host
_INTERNET = 1  # the class of these
_ADD = 0x2  # kDNSServiceFlagsAdd; without it something is no longer there

BROWSE_REPLY = CFUNCTYPE(None, c_void_p, c_uint32, c_uint32, c_int32, c_char_p, c_char_p, c_char_p, c_void_p)
RESOLVE_REPLY = CFUNCTYPE(
    None, c_void_p, c_uint32, c_uint32, c_int32, c_char_p, c_char_p, c_uint16, c_uint16, c_void_p, c_void_p
)
RECORD_REPLY = CFUNCTYPE(
    None,
    *(c_void_p, c_uint32, c_uint32, c_int32, c_char_p, c_uint16, c_uint16, c_uint16, c_void_p, c_uint32, c_void_p),
)
_NEW = POINTER(c_void_p)
FUNCTIONS: dict[str, tuple[Any, ...]] = {  # what each returns, and its arguments
    "DNSServiceRegister": (
        c_int32,
        *(_NEW, c_uint32, c_uint32, c_char_p, c_char_p, c_char_p, c_char_p, c_uint16, c_uint16, c_void_p),
        *(c_void_p, c_void_p),
    ),
    "DNSServiceBrowse": (c_int32, _NEW, c_uint32, c_uint32, c_char_p, c_char_p, BROWSE_REPLY, c_void_p),
    "DNSServiceResolve": (
        c_int32,
        *(_NEW, c_uint32, c_uint32, c_char_p, c_char_p, c_char_p, RESOLVE_REPLY, c_void_p),
    ),
    "DNSServiceQueryRecord": (
        c_int32,
        *(_NEW, c_uint32, c_uint32, c_char_p, c_uint16, c_uint16, RECORD_REPLY, c_void_p),
    ),
    "DNSServiceRefSockFD": (c_int, c_void_p),
    "DNSServiceProcessResult": (c_int32, c_void_p),
    "DNSServiceRefDeallocate": (None, c_void_p),
}


@dataclass(frozen=True, slots=True)
class Seen:
    """A service on one interface. Avahi says the same once for each protocol."""

    name: bytes
    interface: int
    there: bool  # False: no longer


@dataclass(frozen=True, slots=True)
class Resolved:
    host: bytes
    port: int
    text: bytes  # of its TXT record


@dataclass(frozen=True, slots=True)
class Address:
    packed: bytes
    there: bool


Reply = Seen | Resolved | Address


class Operation:
    """Goes on until it is closed. One thread."""

    def __init__(self, library: Any, callback: Any) -> None:
        self._library = library
        self._callback = callback  # as long as the library may call it
        self._reference = c_void_p()
        self.replies: list[Reply] = []
        self.error = 0

    def begin(self, function: str, *arguments: Any) -> Operation:
        self._check(getattr(self._library, function)(byref(self._reference), *arguments))
        return self

    def fileno(self) -> int:
        """Can be read once there is a reply. Raises OSError where the service has ended."""
        descriptor = int(self._library.DNSServiceRefSockFD(self._reference))
        self._check(min(0, descriptor))
        return descriptor

    def hear(self) -> list[Reply]:
        """Waits for replies. Raises OSError where the service has ended."""
        self._check(self._library.DNSServiceProcessResult(self._reference) or self.error)
        heard, self.replies = self.replies, []
        return heard

    def close(self) -> None:
        if self._reference:
            self._library.DNSServiceRefDeallocate(self._reference)
            self._reference = c_void_p()

    @staticmethod
    def _check(error: int) -> None:
        if error:
            raise OSError(f"Bonjour refuses: {error}")


class Bonjour:
    def __init__(self, library: Library = ctypes.CDLL) -> None:
        """Raises OSError or AttributeError where there is no such library."""
        if os.environ.get("HUNCH_BONJOUR") == "0":
            raise OSError("switched off")
        os.environ.setdefault("AVAHI_COMPAT_NOWARN", "1")  # it would say on stderr that it is not Apple's
        self._library = library("/usr/lib/libSystem.B.dylib" if sys.platform == "darwin" else "libdns_sd.so.1")
        for name, (result, *arguments) in FUNCTIONS.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments

    def announce(self, kind: bytes, port: int, text: bytes) -> Operation:
        """By this machine's own name, until it is closed or this process ends. A name that is taken gets a number."""
        where = 0, ANYWHERE, None, kind, DOMAIN, None, socket.htons(port)
        return Operation(self._library, None).begin("DNSServiceRegister", *where, len(text), text, None, None)

    def browse(self, kind: bytes) -> Operation:
        """For services of this kind: Seen."""

        @BROWSE_REPLY
        def hear(_reference, flags, interface, error, name, _kind, _domain, _context):  # type: ignore[no-untyped-def]
            operation.error = error  # on a Mac also where its user has not let this program into the local network
            if not error:
                operation.replies.append(Seen(name or b"", interface, bool(flags & _ADD)))

        operation = Operation(self._library, hear)
        return operation.begin("DNSServiceBrowse", 0, ANYWHERE, kind, DOMAIN, hear, None)

    def resolve(self, seen: Seen, kind: bytes) -> Operation:
        """Where it is, now and whenever that changes: Resolved."""

        @RESOLVE_REPLY
        def hear(_reference, _flags, _interface, error, _name, host, port, size, text, _context):  # type: ignore[no-untyped-def]
            if not error:
                record = string_at(text, size) if text else b""
                operation.replies.append(Resolved(host or b"", socket.ntohs(port), record))

        operation = Operation(self._library, hear)
        return operation.begin("DNSServiceResolve", 0, seen.interface, seen.name, kind, DOMAIN, hear, None)

    def look_up(self, host: bytes, record: int, interface: int) -> Operation:
        """A host's addresses of one type, on one interface, now and whenever they change: Address."""

        @RECORD_REPLY
        def hear(_reference, flags, _interface, error, _name, kind, _class, size, data, _ttl, _context):  # type: ignore[no-untyped-def]
            if not error and kind == record and data:
                operation.replies.append(Address(string_at(data, size), bool(flags & _ADD)))

        operation = Operation(self._library, hear)
        return operation.begin("DNSServiceQueryRecord", 0, interface, host, record, _INTERNET, hear, None)
