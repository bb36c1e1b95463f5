"""Discovery of machines that lend their memory, by Bonjour. No model names are announced.

Results are hints: a machine's certificate proves its identity.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import os
import re
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.api.connections import at_port, is_loopback
from engine.machines.identity import shown_name
from engine.machines.messages import PROTOCOL

if TYPE_CHECKING:
    from zeroconf import ServiceInfo, Zeroconf

KIND = "_hunch-helper._tcp"  # as packaging's Info.plist has it, too
_SERVICE = f"{KIND}.local."
MOST_SEEN = 24  # services
MOST_ADDRESSES = 8  # of a machine
_LOOK_S = 10.0  # between two looks whether this machine's addresses have changed
_FORGOTTEN_S = 120  # after which others no longer know a machine that ended without saying so
END_S = 1.0  # for saying that it ends
_RESOLVE_MS = 1000  # for a service's address
_NONCE_BYTES = 8
_MOST_NAME_BYTES = 63  # of a service, in DNS
_ID = re.compile(rb"[0-9a-f]{32}")
_NUMBER = re.compile(rb"[0-9]{1,3}")

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


def announced(fingerprint: str) -> dict[str, str]:
    """A TXT record. Its id differs each time; only a machine that knows the certificate can recognize it."""
    return {"protocol": str(PROTOCOL), "id": _id(secrets.token_hex(_NONCE_BYTES), fingerprint)}


def _id(nonce: str, fingerprint: str) -> str:
    return nonce + hmac.digest(fingerprint.encode(), nonce.encode(), "sha256").hex()[: 2 * _NONCE_BYTES]


class _Service:
    """A thread that talks multicast DNS until it is stopped, and begins again when this machine's addresses change.

    zeroconf is imported on it, and has threads of its own. Without a network, or with HUNCH_BONJOUR=0, nothing happens.
    """

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bonjour", daemon=True)
        self._thread.start()

    def stop(self, within_s: float = 0.0) -> None:
        """Waits at most so long until the others know."""
        self._stopped.set()
        self._thread.join(within_s)

    def _run(self) -> None:
        if os.environ.get("HUNCH_BONJOUR") == "0":
            return
        while not self._stopped.is_set():
            try:
                self._serve(_own_addresses())
            except Exception as error:  # noqa: BLE001  whatever it is, machines are not found, and may be later
                _log.info("Bonjour has failed: %s", type(error).__name__)
                self._stopped.wait(_LOOK_S)

    def _serve(self, addresses: Sequence[str]) -> None:
        """As long as this machine has these addresses."""
        from zeroconf import Zeroconf

        with closing(Zeroconf()) as zeroconf:
            self._begin(zeroconf, addresses)
            while not self._stopped.wait(_LOOK_S) and _own_addresses() == addresses:
                pass

    def _begin(self, zeroconf: Zeroconf, addresses: Sequence[str]) -> None:
        raise NotImplementedError


class Announcement(_Service):
    """Says in the network that this machine lends its memory, until it is stopped or the process ends."""

    def __init__(self, name: str, fingerprint: str, port: int) -> None:
        self._name = name
        self._fingerprint = fingerprint
        self._port = port
        super().__init__()

    def _begin(self, zeroconf: Zeroconf, addresses: Sequence[str]) -> None:
        from zeroconf import ServiceInfo

        name = self._name.replace(".", " ").encode()[: _MOST_NAME_BYTES - len("-99")].decode(errors="ignore").strip()
        service = ServiceInfo(
            _SERVICE,
            f"{name}.{_SERVICE}",
            port=self._port,
            properties=announced(self._fingerprint),
            # Not this machine's own name, whose addresses the system announces: it would take that for another machine.
            server=f"hunch-{secrets.token_hex(_NONCE_BYTES)}.local.",
            parsed_addresses=list(addresses),
            other_ttl=_FORGOTTEN_S,
        )
        zeroconf.register_service(service, allow_name_change=True)


class Browsing(_Service):
    """Looks for machines that lend their memory, until it is stopped."""

    def __init__(self, on_found: Callable[[tuple[FoundMachine, ...]], None]) -> None:
        """`on_found` is called on a thread, with all that are there, whenever that has changed."""
        self._on_found = on_found
        self._found: dict[str, FoundMachine | None] = {}  # None: not resolved, or none of ours
        super().__init__()

    def _begin(self, zeroconf: Zeroconf, addresses: Sequence[str]) -> None:
        self._found.clear()
        self._on_found(())
        listener: Any = self  # with the methods below, which are called on a thread of zeroconf's
        zeroconf.add_service_listener(_SERVICE, listener)

    def add_service(self, zeroconf: Zeroconf, kind: str, name: str) -> None:
        if name not in self._found and len(self._found) >= MOST_SEEN:
            return
        try:
            self._found[name] = found_machine(zeroconf.get_service_info(kind, name, _RESOLVE_MS))
        except Exception as error:  # noqa: BLE001  a name that cannot be one, say
            _log.info("a machine nearby is left out: %s", type(error).__name__)
            return
        self._report()

    update_service = add_service

    def remove_service(self, zeroconf: Zeroconf, kind: str, name: str) -> None:
        self._found.pop(name, None)
        self._report()

    def _report(self) -> None:
        found = [machine for machine in self._found.values() if machine is not None]
        self._on_found(tuple(sorted(found, key=lambda machine: machine.name)))


def found_machine(service: ServiceInfo | None) -> FoundMachine | None:
    """None where it is none of ours, or has no address that leads to another machine."""
    if service is None:
        return None
    said: Mapping[bytes, bytes | None] = service.properties
    own = said.get(b"id") or b""
    protocol = said.get(b"protocol") or b""
    if not (_ID.fullmatch(own) and _NUMBER.fullmatch(protocol) and service.port):
        return None
    addresses = [at_port(each, service.port) for each in service.parsed_scoped_addresses() if _is_elsewhere(each)]
    name = shown_name(service.name.removesuffix(f".{_SERVICE}"))
    addresses.sort(key=lambda address: address.startswith("["))  # those of IPv4 first, which users know
    return FoundMachine(name, own.decode(), int(protocol), tuple(addresses[:MOST_ADDRESSES])) if addresses else None


def _is_elsewhere(text: str) -> bool:
    address: Any = ipaddress.ip_address(text)
    if address.is_loopback or address.is_multicast or address.is_unspecified:
        return False
    if address.version == 4:
        return True
    return address.ipv4_mapped is None and (not address.is_link_local or address.scope_id is not None)


def _own_addresses() -> list[str]:
    from ifaddr import get_adapters

    found = (each.ip for adapter in get_adapters() for each in adapter.ips)
    addresses = (each if isinstance(each, str) else each[0] for each in found)
    return sorted(each for each in addresses if not is_loopback(each))
