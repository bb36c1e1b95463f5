"""Asks other machines: to be paired, what they offer, and for a rank that runs there.

Each call makes a connection of its own, takes a quarter of a minute at most, and raises MachineUnavailable.
"""

from __future__ import annotations

import errno
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from engine.api.errors import InvalidRequest, MachineUnavailable, ModelDamaged
from engine.api.ranks import Helping, HubSource, Machine, MachineRefusal
from engine.cluster.identity import Identity, fingerprint
from engine.cluster.operations import (
    PROTOCOL,
    Answer,
    Approach,
    Ask,
    Offer,
    Ping,
    Pong,
    Reply,
    Request,
    Response,
    Start,
    Supply,
)
from engine.cluster.pairing import Declined, ask_to_pair, expected
from engine.cluster.relay import BEAT_S, HANDSHAKE_S, relayed
from engine.cluster.wire import Wire, WireBroken, WireEnded
from engine.models.inspect import content_digest
from engine.models.model_files import FileError
from engine.models.watch import Question, never

DEFAULT_PORT = 7791
_PINGS = 5
_PROCESS = secrets.token_hex(16)  # this one, to the machines that it asks for ranks
_Kind = TypeVar("_Kind", Answer, Offer, Pong)
_NOWHERE = HubSource()


@dataclass(frozen=True, slots=True)
class MachineOffer:
    """What a machine lends to one model, and how long a question and its answer take to go there and back."""

    memory_bytes: int
    round_trip_s: float


def pair_machines(identity: Path, address: str, code: str, cancelled: Question = never) -> Machine:
    """With the machine there, which shows these digits. Neither is paired if it is `cancelled` in time."""
    own = Identity(identity)
    with _refusals(address):
        connected, certificate = _connected(own, None, address)
        with closing(connected):
            return ask_to_pair(Wire(connected, Response), own, code, certificate, address, cancelled)


def machine_offer(helping: Helping, folder: Path | str, source: HubSource = _NOWHERE) -> MachineOffer:
    """To the model in this folder, which it must have, too, or learns where to get. Raises ModelDamaged as well."""
    digest = digest_of(Path(folder))
    with _refusals(helping.machine.address), closing(_connected_to(helping)) as connected:
        wire = Wire(connected, Response)
        taken_s = _round_trip_s(wire)
        return MachineOffer(_answer(wire, Ask(digest, source.repository, source.revision), Offer).memory_bytes, taken_s)


def round_trip_s(helping: Helping) -> float:
    """What a question and its answer take, where that machine lends its memory."""
    with _refusals(helping.machine.address), closing(_connected_to(helping)) as connected:
        return _round_trip_s(Wire(connected, Response))


def _round_trip_s(wire: Wire) -> float:
    taken = []
    for _ in range(_PINGS):
        began = time.monotonic()
        _answer(wire, Ping(), Pong)
        taken.append(time.monotonic() - began)
    return min(taken)


class LentRank:
    """A rank's process on another machine, which ends it when the connection closes."""

    def __init__(self, helping: Helping, digest: str, memory_bytes: int, process: str = _PROCESS) -> None:
        """`memory_bytes`: that it needs. `process`: only tests are two at once."""
        self.machine = helping.machine.name
        with _refusals(helping.machine.address):
            connected = _connected_to(helping)
            try:
                _answer(Wire(connected, Response), Start(digest, process, memory_bytes), Offer)
            except BaseException:
                connected.close()
                raise
        self.wire = Wire(connected, Reply)
        self._ended = threading.Event()
        threading.Thread(target=self._beat, name="beats", daemon=True).start()

    def _beat(self) -> None:
        """That machine takes back what it lends when nothing arrives."""
        with suppress(WireEnded, WireBroken):
            while not self._ended.wait(BEAT_S):
                self.wire.send(Ping())

    def end(self, patience_s: float) -> None:
        """At once: the other machine waits for the process."""
        self._ended.set()
        self.wire.close()


def supply_line(helping: Helping, source: HubSource) -> Wire:
    """To a machine that lacks that model: it asks for parts of its files, until it closes the line."""
    with _refusals(helping.machine.address):
        connected = _connected_to(helping)
        try:
            wire = Wire(connected, Response)
            _answer(wire, Supply(source.repository, source.revision), Answer)
        except BaseException:
            connected.close()
            raise
    return wire.turned(Request, 0)


def digest_of(folder: Path) -> str:
    try:
        return content_digest(folder)
    except (FileError, OSError) as error:
        raise ModelDamaged(str(folder), str(error)) from error


def host_and_port(address: str) -> tuple[str, int]:
    """Of host, host:port or [host]:port."""
    host, _, port = address.rpartition(":") if address.count(":") == 1 or "]:" in address else (address, "", "")
    if not host or (port and not (port.isdecimal() and 0 < int(port) < 65536)):
        raise InvalidRequest("address", address[:200], "host:port")
    try:
        host.encode("idna")  # else a look-up raises what is no OSError
    except UnicodeError as error:
        raise InvalidRequest("address", address[:200], "host:port") from error
    return host.strip("[]"), int(port or DEFAULT_PORT)


def _connected_to(helping: Helping) -> socket.socket:
    return _connected(Identity(Path(helping.identity)), helping.machine, helping.machine.address)[0]


def _connected(own: Identity, machine: Machine | None, address: str) -> tuple[socket.socket, bytes]:
    """A plain socket to that machine, None: to any machine there, and the fingerprint of its certificate."""
    raw = socket.create_connection(host_and_port(address), HANDSHAKE_S)
    try:
        secure = own.client_context(machine).wrap_socket(raw)
    except BaseException:
        raw.close()
        raise
    try:
        # The helper's first byte, once it knows our certificate: else it ends the connection instead.
        if (protocol := secure.recv(1)) == b"":
            raise WireEnded("closed")
        if protocol != bytes([PROTOCOL]):
            raise Declined(MachineRefusal.MISBEHAVED, "another protocol")
        certificate = fingerprint(secure.getpeercert(binary_form=True) or b"")
        return relayed(secure)[0], bytes.fromhex(certificate)
    except BaseException:
        secure.close()
        raise


@contextmanager
def _refusals(address: str) -> Iterator[None]:
    try:
        yield
    except Declined as error:
        raise MachineUnavailable(address, error.why, error.detail) from error
    except ssl.SSLError as error:
        cut = isinstance(error, ssl.SSLEOFError)
        why = MachineRefusal.UNREACHABLE if cut else MachineRefusal.STRANGER
        raise MachineUnavailable(address, why, str(error)) from error
    except (OSError, WireEnded) as error:
        no_route = isinstance(error, OSError) and error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH)
        why = MachineRefusal.NO_ROUTE if no_route else MachineRefusal.UNREACHABLE
        raise MachineUnavailable(address, why, str(error)) from error
    except WireBroken as error:
        raise MachineUnavailable(address, MachineRefusal.MISBEHAVED, str(error)) from error


def _answer(wire: Wire, question: Approach, kind: type[_Kind]) -> _Kind:
    wire.send(question)
    return expected(wire, kind)
