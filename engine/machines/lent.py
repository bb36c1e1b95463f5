"""Requests to other machines: pairing, what they offer, and starting a rank or a station there.

Each call makes a connection of its own, takes a quarter of a minute at most, and raises MachineUnavailable.
"""

from __future__ import annotations

import errno
import queue
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from types import UnionType
from typing import TypeVar

from engine.api.errors import EngineError, InvalidRequest, MachineUnavailable, ModelDamaged
from engine.api.ranks import Helping, HubSource, Machine, MachineRefusal
from engine.machines.computers import Computer, computer_beside
from engine.machines.identity import Identity, fingerprint
from engine.machines.messages import (
    PROTOCOL,
    Approach,
    Ask,
    MemoryOffer,
    OfferFiles,
    Ping,
    Pong,
    RankAnswer,
    Response,
    Start,
)
from engine.machines.pairing import Declined, ask_to_pair, expected
from engine.machines.relay import BEAT_S, HANDSHAKE_S, SILENT_S, relayed
from engine.machines.versions import versions_here
from engine.machines.wire import FRAME_S, MOST_BYTES, Wire, WireBroken, WireEnded
from engine.models.inspect import content_digest
from engine.models.model_files import FileError
from engine.models.watch import Question, never

DEFAULT_PORT = 7791
_PINGS = 5
_LAST_PROTOCOL = 31  # what else listens there begins with a letter or a digit
_LATER_S = 1.5  # after one address has answered, others have this much longer
THIS_PROCESS = secrets.token_hex(16)  # this one, to the machines that it asks for ranks
_Kind = TypeVar("_Kind", RankAnswer, MemoryOffer, Pong)
NOWHERE = HubSource()


@dataclass(frozen=True, slots=True)
class MachineOffer:
    """What a machine lends to one model."""

    memory_bytes: int
    computers: tuple[Computer, Computer]  # this one beside it, and that


def pair_machines(identity: Path, address: str, code: str, cancelled: Question = never) -> Machine:
    """Pair with the machine that shows these digits. Neither is paired if it is `cancelled` in time."""
    own = Identity(identity)
    with _refusals(address):
        connected, certificate = _connected(own, None, address)
        with closing(connected):
            return ask_to_pair(_asking(connected), own, code, certificate, address, cancelled)


def machine_offer(helping: Helping, folder: Path | str, source: HubSource = NOWHERE) -> MachineOffer:
    """To the model in this folder, which it must have, too, or learns where to get. Raises ModelDamaged as well."""
    digest = digest_of(Path(folder))
    with _refusals(helping.machine.address), closing(_connected_to(helping)) as connected:
        wire = _asking(connected)
        asked = Ask(versions_here(), digest, source.repository, source.revision)
        offer = _answer(wire, asked, MemoryOffer)
    here = computer_beside(host_and_port(helping.machine.address)[0])
    return MachineOffer(offer.memory_bytes, (here, Computer(offer.chip, offer.system, offer.rdma)))


@dataclass(frozen=True, slots=True)
class MachineRoute:
    """To a machine: what a question and its answer take at this address, or why it does not answer there."""

    address: str
    trip_s: float = inf
    error: EngineError | None = None


def ways(identity: Path, machine: Machine | None, addresses: Iterable[str]) -> list[MachineRoute]:
    """To one machine, which proves itself at each address; None: to any other that lends there. All are asked at once.

    Where one answers, the others have a little longer, and count as unreachable then. Raises InvalidRequest for what
    is no identity.
    """
    own = Identity(identity)
    asked = list(addresses)
    answers: queue.SimpleQueue[MachineRoute] = queue.SimpleQueue()
    for address in asked:
        try_way = partial(_try_way, own, machine, address, answers)
        threading.Thread(target=try_way, name="way", daemon=True).start()
    routes = {each: MachineRoute(each, error=MachineUnavailable(each, MachineRefusal.UNREACHABLE)) for each in asked}
    routes |= {route.address: route for route in _in_time(answers, len(asked))}
    return [routes[each] for each in asked]


def _try_way(own: Identity, machine: Machine | None, address: str, answers: queue.SimpleQueue[MachineRoute]) -> None:
    try:
        with _refusals(address):
            connected, certificate = _connected(own, machine, address)
            with closing(connected):
                if machine is None and certificate.hex() == own.fingerprint:
                    raise WireEnded("this machine")
                wire = _asking(connected)
                answers.put(MachineRoute(address, min(_trip_s(wire) for _ in range(_PINGS))))
    except EngineError as error:
        answers.put(MachineRoute(address, error=error))
    except Exception as error:  # noqa: BLE001  every address is answered for
        unreachable = MachineUnavailable(address, MachineRefusal.UNREACHABLE, str(error))
        answers.put(MachineRoute(address, error=unreachable))


def _in_time(answers: queue.SimpleQueue[MachineRoute], expected_answers: int) -> Iterator[MachineRoute]:
    until = inf
    with suppress(queue.Empty):
        for _ in range(expected_answers):
            route = answers.get(timeout=None if until == inf else max(0.0, until - time.monotonic()))
            if route.error is None:
                until = min(until, time.monotonic() + _LATER_S)
            yield route


def _trip_s(wire: Wire) -> float:
    began = time.monotonic()
    _answer(wire, Ping(), Pong)
    return time.monotonic() - began


class LentProcess:
    """A rank's or a station's process on another machine, which ends it when the connection closes."""

    silent_s: float | None = SILENT_S

    def __init__(
        self,
        helping: Helping,
        order: Start,
        receives: UnionType,
        frame_s: float = FRAME_S,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """The last three as in `Wire`."""
        self.machine = helping.machine.name
        with _refusals(helping.machine.address):
            connected = _connected_to(helping)
            try:
                _answer(_asking(connected), order, MemoryOffer)
            except BaseException:
                connected.close()
                raise
        self.wire = Wire(connected, receives, frame_s, most_bytes)
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


def offer_files(helping: Helping, source: HubSource, port: int) -> None:
    """To a machine that lacks that model: it can be downloaded from this one, at this port."""
    with _refusals(helping.machine.address), closing(_connected_to(helping)) as connected:
        _answer(_asking(connected), OfferFiles(source.repository, source.revision, port), RankAnswer)


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
        if protocol[0] > _LAST_PROTOCOL:
            raise Declined(MachineRefusal.MISBEHAVED, "not Hunch")
        if protocol[0] != PROTOCOL:
            why = MachineRefusal.OLDER if protocol[0] < PROTOCOL else MachineRefusal.NEWER
            raise Declined(why, f"protocol {protocol[0]}")
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
        # The second by Python 3.11.2 with OpenSSL 3, where a handshake is cut.
        cut = isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError)
        why = MachineRefusal.UNREACHABLE if cut else MachineRefusal.STRANGER
        raise MachineUnavailable(address, why, str(error)) from error
    except (OSError, WireEnded) as error:
        no_route = isinstance(error, OSError) and error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH)
        why = MachineRefusal.NO_ROUTE if no_route else MachineRefusal.UNREACHABLE
        raise MachineUnavailable(address, why, str(error)) from error
    except WireBroken as error:
        raise MachineUnavailable(address, MachineRefusal.MISBEHAVED, str(error)) from error


def _asking(connected: socket.socket) -> Wire:
    """No answer has bytes after it, and each is short."""
    return Wire(connected, Response, HANDSHAKE_S, most_bytes=0)


def _answer(wire: Wire, question: Approach, kind: type[_Kind]) -> _Kind:
    wire.send(question)
    return expected(wire, kind)
