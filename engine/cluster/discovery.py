"""Machines in this network that lend their memory find each other by Bonjour. No name of a model is announced.

What is found is a hint and no more: who is at an address is proven by its certificate.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import re
import secrets
import select
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from ctypes import CDLL
from dataclasses import dataclass, field

from engine.cluster.bonjour import AAAA, A, Bonjour, Library, Operation, Reply, Resolved, Seen
from engine.cluster.identity import Identity, shown_name
from engine.cluster.operations import PROTOCOL

KIND = b"_hunch-helper._tcp"  # as packaging's Info.plist has it, too
MOST_SEEN = 24  # services on an interface; each takes three descriptors
MOST_ADDRESSES = 8  # of a machine
_AGAIN_S = 10.0  # until it is tried again after a failure, such as the service's restart
_NONCE_BYTES = 8
_MOST_HOST = 255
_ID = re.compile(r"[0-9a-f]{32}")
_NUMBER = re.compile(r"[0-9]{1,3}")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FoundMachine:
    """One that says that it lends its memory. `addresses`: as host:port, none of them tried."""

    name: str
    id: str
    protocol: int
    addresses: tuple[str, ...]

    @property
    def is_same_version(self) -> bool:
        return self.protocol == PROTOCOL

    @property
    def is_older(self) -> bool:
        return self.protocol < PROTOCOL

    def may_be(self, fingerprint: str) -> bool:
        """Whether it says to be the machine with this certificate, which others can say as well."""
        return hmac.compare_digest(self.id, _id(self.id[: 2 * _NONCE_BYTES], fingerprint))


def announced_text(fingerprint: str) -> bytes:
    """A TXT record. Its id differs each time; only a machine that knows the certificate can recognize it."""
    fields = f"protocol={PROTOCOL}", f"id={_id(secrets.token_hex(_NONCE_BYTES), fingerprint)}"
    return b"".join(bytes([len(each)]) + each.encode() for each in fields)


def _id(nonce: str, fingerprint: str) -> str:
    return nonce + hmac.digest(fingerprint.encode(), nonce.encode(), "sha256").hex()[: 2 * _NONCE_BYTES]


class _Conversation:
    """A thread that begins operations with the system's service, and receives its replies until it is stopped.

    Where there is no such service, nothing happens.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._operations: list[Operation] = []
        self._can_be_heard: set[int] = set()  # descriptors
        self._stopping, self._stopped = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="bonjour", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Returns at once."""
        with suppress(OSError):
            self._stopping.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        with self._stopping, self._stopped:
            try:
                bonjour = Bonjour(self._library)
            except (OSError, AttributeError) as error:
                _log.info("no Bonjour here: %s", type(error).__name__)
                return
            while not self._converse(bonjour):
                if self._ready((), _AGAIN_S):
                    return

    def _converse(self, bonjour: Bonjour) -> bool:
        """Whether it was stopped; else the service has failed."""
        try:
            self._begin(bonjour)
            while not self._ready(self._operations):
                self._hear_all()
            return True
        except OSError as error:
            _log.info("Bonjour has failed: %s", error)
            return False
        finally:
            for operation in self._operations:
                operation.close()
            self._operations.clear()

    def _ready(self, operations: Iterable[Operation], within_s: float | None = None) -> bool:
        """Waits for replies; whether it was stopped meanwhile."""
        poll = select.poll()
        for descriptor in (self._stopped.fileno(), *(each.fileno() for each in operations)):
            poll.register(descriptor, select.POLLIN)
        self._can_be_heard = {ready for ready, _ in poll.poll(None if within_s is None else within_s * 1000)}
        return self._stopped.fileno() in self._can_be_heard

    def _hear_all(self) -> None:
        for operation in [each for each in self._operations if each.fileno() in self._can_be_heard]:
            if operation in self._operations:  # else a reply before this one has ended it
                for reply in operation.hear():
                    self._on_reply(operation, reply)

    def _begin(self, bonjour: Bonjour) -> None:
        raise NotImplementedError

    def _on_reply(self, operation: Operation, reply: Reply) -> None:
        """Nothing is expected."""


class Announcement(_Conversation):
    """Says in the network that this machine lends its memory, until it is stopped or the process ends."""

    def __init__(self, fingerprint: str, port: int, library: Library = CDLL) -> None:
        self._what = KIND, port, announced_text(fingerprint)
        super().__init__(library)

    def _begin(self, bonjour: Bonjour) -> None:
        self._operations.append(bonjour.announce(*self._what))


def announce(identity: Identity, host: str, port: int) -> None:
    """That this machine lends its memory there, until this process ends. What only itself can reach is not."""
    with suppress(ValueError):  # it is a name
        if ipaddress.ip_address(host).is_loopback:
            return
    Announcement(identity.fingerprint, port)


@dataclass(slots=True)
class _Sighting:
    """A service on one interface."""

    times: int = 0  # that it was added more often than removed
    operations: list[Operation] = field(default_factory=list)  # its resolving, and the look-ups of its host
    resolved: Resolved | None = None
    addresses: list[bytes] = field(default_factory=list)


class Browsing(_Conversation):
    """Looks for machines that lend their memory, until it is stopped."""

    def __init__(self, on_found: Callable[[tuple[FoundMachine, ...]], None], library: Library = CDLL) -> None:
        """`on_found` is called on a thread, with all that are there, whenever that has changed."""
        self._on_found = on_found
        self._sightings: dict[tuple[bytes, int], _Sighting] = {}
        self._reported: tuple[FoundMachine, ...] = ()
        super().__init__(library)

    def _begin(self, bonjour: Bonjour) -> None:
        self._bonjour = bonjour
        self._sightings.clear()
        self._report()
        self._operations.append(bonjour.browse(KIND))

    def _hear_all(self) -> None:
        super()._hear_all()
        self._report()

    def _report(self) -> None:
        found = _machines(self._sightings)
        if found != self._reported:
            self._reported = found
            self._on_found(found)

    def _on_reply(self, operation: Operation, reply: Reply) -> None:
        if isinstance(reply, Seen):
            self._on_seen(reply)
            return
        found = next((key for key, each in self._sightings.items() if operation in each.operations), None)
        if found is None:
            return
        sighting, interface = self._sightings[found], found[1]
        if isinstance(reply, Resolved):
            self._on_resolved(sighting, reply, interface)
        elif not reply.there:
            with suppress(ValueError):
                sighting.addresses.remove(reply.packed)
        elif reply.packed not in sighting.addresses and len(sighting.addresses) < MOST_ADDRESSES:
            sighting.addresses.append(reply.packed)

    def _on_seen(self, seen: Seen) -> None:
        key = seen.name, seen.interface
        sighting = self._sightings.get(key)
        if sighting is None:
            if seen.there and len(self._sightings) < MOST_SEEN:
                self._sightings[key] = _Sighting(1, [self._started(self._bonjour.resolve(seen, KIND))])
            return
        sighting.times += 1 if seen.there else -1
        if sighting.times <= 0:
            self._end(sighting.operations)
            del self._sightings[key]

    def _on_resolved(self, sighting: _Sighting, resolved: Resolved, interface: int) -> None:
        before, sighting.resolved = sighting.resolved, resolved
        if before is not None and before.host == resolved.host:
            return
        self._end(sighting.operations[1:])
        del sighting.operations[1:]
        sighting.addresses.clear()
        if _is_local(resolved.host):
            looked_up = [self._bonjour.look_up(resolved.host, record, interface) for record in (A, AAAA)]
            sighting.operations += [self._started(each) for each in looked_up]

    def _started(self, operation: Operation) -> Operation:
        self._operations.append(operation)
        return operation

    def _end(self, operations: Iterable[Operation]) -> None:
        for operation in operations:
            operation.close()
            self._operations.remove(operation)


def _is_local(host: bytes) -> bool:
    """A name of the internet would be looked up there, because another machine announces it."""
    return len(host) <= _MOST_HOST and host.rstrip(b".").lower().endswith(b".local")


def _machines(sightings: dict[tuple[bytes, int], _Sighting]) -> tuple[FoundMachine, ...]:
    """By their names, each once, with what is known of it on all interfaces."""
    found: dict[tuple[str, str, int], list[str]] = {}
    for (name, interface), sighting in sightings.items():
        if sighting.resolved is not None and (said := _said(sighting.resolved.text)) is not None:
            addresses = found.setdefault((shown_name(name.decode("utf-8", "replace")), *said), [])
            addresses += _addresses(sighting, interface)
    return tuple(
        FoundMachine(*who, tuple(dict.fromkeys(sorted(addresses, key=_order)))[:MOST_ADDRESSES])
        for who, addresses in sorted(found.items())
        if addresses
    )


def _order(address: str) -> tuple[bool, str]:
    """Those of IPv4 first, which users know."""
    return address.startswith("["), address


def _said(text: bytes) -> tuple[str, int] | None:
    """The id and the protocol of a TXT record; None where it is none of ours."""
    fields = dict(each.partition(b"=")[::2] for each in reversed(list(_strings(text))))  # the first of each counts
    own, protocol = (fields.get(name, b"").decode("ascii", "replace") for name in (b"id", b"protocol"))
    return (own, int(protocol)) if _ID.fullmatch(own) and _NUMBER.fullmatch(protocol) else None


def _strings(text: bytes) -> Iterator[bytes]:
    while text:
        yield text[1 : 1 + text[0]]
        text = text[1 + text[0] :]


def _addresses(sighting: _Sighting, interface: int) -> Iterator[str]:
    port = sighting.resolved.port if sighting.resolved is not None else 0
    for packed in sighting.addresses if port else ():
        with suppress(ValueError, OSError):  # of another length, or of an interface that is no longer there
            address = ipaddress.ip_address(packed)
            if address.is_loopback or address.is_multicast or address.is_unspecified:
                continue
            if isinstance(address, ipaddress.IPv4Address):
                yield f"{address}:{port}"
            elif address.ipv4_mapped is None:
                scope = f"%{socket.if_indextoname(interface)}" if address.is_link_local else ""
                yield f"[{address}{scope}]:{port}"
