"""Lends this machine's memory to others: listens, pairs, and starts a rank for one paired machine at a time.

The rank's process gets the plain end of the connection; this process carries the bytes and loads nothing itself.
"""

from __future__ import annotations

import logging
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from engine.api.connections import at_port
from engine.api.errors import ModelError
from engine.api.ranks import HubSource, Machine, MachineRefusal
from engine.machines.callers import Caller, Callers, host_of, listening
from engine.machines.computers import computer_beside
from engine.machines.identity import Identity
from engine.machines.messages import (
    PROTOCOL,
    Approach,
    Ask,
    MemoryOffer,
    OfferFiles,
    Ping,
    Pong,
    RankAnswer,
    RankRefused,
    Share,
    Start,
)
from engine.machines.pairing import Declined, Invitation, answer_to_pair
from engine.machines.process import end_rank, start_child
from engine.machines.relay import HANDSHAKE_S, SILENT_S, relayed
from engine.machines.versions import difference
from engine.machines.wire import Wire, WireBroken, WireEnded
from engine.models.children import RUN_RANK, RUN_STATION
from engine.models.fit import model_memory_bytes
from engine.models.inspect import has_content
from engine.models.model_files import FileError
from engine.models.names import is_commit, is_repository

END_S = 1.0  # for a rank whose connection has ended; it has nothing to save
FREED_S = 5.0  # for a rank to make room for the next one of the same process, which waits for an answer meanwhile
MOST_CONNECTIONS = 16
TAKEN_BACK_S = 600.0  # for which nothing is lent once its user has stopped that
OFFERED_S = 15.0  # for which files can be had after they were offered
LOOK_S = 1.0  # between two looks whether the machine that is helped is still paired
_AGAIN_S = 0.5  # until a connection is accepted again after a failure: no descriptor was free, say

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LentMemory:
    """The memory that is lent at present."""

    machine: Machine
    folder: str
    memory_bytes: int = 0  # that it needs
    pid: int = 0  # of the process, once there is one
    drafts: bool = False  # it is a station


@dataclass(frozen=True, slots=True)
class WantedModel:
    """A model that a machine has asked for last, and that is not here."""

    machine: Machine
    source: HubSource


@dataclass(frozen=True, slots=True)
class OfferedFiles:
    """A wanted model, which its machine has at this address."""

    wanted: WantedModel
    endpoint: str
    until: float  # monotonic


class Lender:
    """Any thread. `on_change` is called on threads of its own whenever what is lent or paired has changed."""

    def __init__(
        self,
        identity: Identity,
        models: Callable[[], Mapping[Path, HubSource]],
        on_change: Callable[[], None] = lambda: None,
        memory_bytes: int | None = None,
    ) -> None:
        """`models`: each with its source. `memory_bytes` may be set later."""
        self._identity = identity
        self.models = models
        self._on_change = on_change
        self.memory_bytes = model_memory_bytes() if memory_bytes is None else memory_bytes
        self._lock = threading.Lock()
        self._freed = threading.Condition(self._lock)  # nothing is lent any more
        self.callers = Callers(MOST_CONNECTIONS)
        self.lending: LentMemory | None = None
        self.wanted: WantedModel | None = None
        self._files: OfferedFiles | None = None
        self._lent_to: tuple[str, Caller] | None = None  # which process of that machine
        self._lends_from = 0.0  # monotonic
        self.invitation: Invitation | None = None
        self._listening: socket.socket | None = None
        self._threads: list[threading.Thread] = []

    def start(self, host: str, port: int) -> int:
        """Returns the port that it listens at; "::": by IPv4 as well. Raises OSError."""
        self._listening = listening(host, port)
        self._run(partial(self._accept, self._listening))
        return int(self._listening.getsockname()[1])

    def stop(self) -> None:
        """End what is lent; returns when its process has ended."""
        with self._lock:
            listening = self._listening
            self._listening = None
        if listening is not None:
            with suppress(OSError):  # on Linux, `accept` returns only so
                listening.shutdown(socket.SHUT_RDWR)
            listening.close()
        self.take_back()
        for thread in self._threads:
            thread.join(END_S + HANDSHAKE_S)

    def take_back(self) -> None:
        """Close all connections, and lend nothing for TAKEN_BACK_S.

        A reply that runs partly here ends with its words kept.
        """
        with self._lock:
            self._lends_from = time.monotonic() + TAKEN_BACK_S
        self.callers.end()

    def invite(self) -> str:
        """Make new digits for pairing one machine; former ones become invalid."""
        self.invitation = invitation = Invitation()
        return invitation.code

    @property
    def invited_s(self) -> float:
        """Seconds for which the latest digits are valid; 0: none are."""
        return 0.0 if self.invitation is None else self.invitation.left_s

    @property
    def offered_files(self) -> OfferedFiles | None:
        """Of what is wanted; None: its machine does not offer them now, or it is here."""
        files = self._files
        if files is None or files.wanted != self.wanted or time.monotonic() > files.until:
            return None
        is_here = files.wanted.source in self.models().values()
        return None if is_here or not self._is_paired(files.wanted.machine) else files

    def _run(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name="lender", daemon=True)
        with self._lock:
            self._threads = [other for other in self._threads if other.is_alive()] + [thread]
            thread.start()

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                connected, address = listening.accept()
            except OSError:
                if self._listening is None:
                    return
                time.sleep(_AGAIN_S)
                continue
            try:
                connection = Caller(connected, host_of(address))
            except (OSError, TypeError):  # a Mac gives no address for a connection that was closed before
                connected.close()
                continue
            with self._lock:
                taken = self._listening is not None and self.callers.add(connection)
            if taken:
                self._run(partial(self._serve, connection))
            else:
                connected.close()

    def _serve(self, connection: Caller) -> None:
        try:
            ends = suppress(OSError, WireEnded, WireBroken)
            with connection.socket, ends, connection.secured(self._identity) as secure:
                secure.send(bytes([PROTOCOL]))
                self._talk(*relayed(secure, SILENT_S), connection)
        except Exception as error:  # noqa: BLE001  this connection alone ends
            _log.error("a connection to another machine failed: %s", type(error).__name__)
        finally:
            self.callers.remove(connection)

    def _is_paired(self, machine: Machine) -> bool:
        """Still: the command line removes one in a process of its own."""
        return self._identity.machine(machine.fingerprint) is not None

    def _talk(self, plain: socket.socket, relay: threading.Thread, connection: Caller) -> None:
        wire = Wire(plain, Approach, HANDSHAKE_S, most_bytes=0)
        try:
            with closing(plain):
                while wire.arrives(None):
                    try:
                        started = self._answer(wire, connection)
                        if started is not None:
                            self._reserve(*started, connection)
                            self._lend(wire, plain, relay, started[0])
                            break
                    except Declined as error:
                        wire.send(RankRefused(error.why.value, error.detail))
                        break
        finally:
            relay.join()  # what was sent last arrives first

    def _answer(self, wire: Wire, connection: Caller) -> tuple[LentMemory, str] | None:
        """What is to be started, for which process; None: nothing."""
        machine = connection.machine
        value = wire.receive()[0]
        match value:
            case Ping():
                wire.send(Pong())
            case Share():
                answer_to_pair(wire, self._identity, self.invitation, value)
                self._on_change()
            case Ask() if machine is not None and self._is_paired(machine):
                if (other := difference(value.versions)) is not None:
                    raise Declined(*other)
                self._look_for(value, machine)
                here = computer_beside(connection.host)
                wire.send(MemoryOffer(self.memory_bytes, here.chip, here.system, here.rdma))
            case Start() if machine is not None and self._is_paired(machine):
                if not value.memory_bytes:
                    raise Declined(MachineRefusal.MISBEHAVED, "a process that needs no memory")
                folder = self._folder_of(value.digest)
                return LentMemory(machine, folder, value.memory_bytes, drafts=value.drafts), value.process
            case OfferFiles() if machine is not None and self._is_paired(machine):
                self._note_files(
                    WantedModel(machine, HubSource(value.repository, value.revision)), value.port, connection
                )
                wire.send(RankAnswer(True))
            case _:
                raise Declined(MachineRefusal.STRANGER)
        return None

    def _look_for(self, asked: Ask, machine: Machine) -> None:
        wanted: WantedModel | None = None
        try:
            self._folder_of(asked.digest)
        except Declined:
            if is_repository(asked.repository) and is_commit(asked.revision):
                source = HubSource(asked.repository, asked.revision)
                if source in self.models().values():
                    raise Declined(MachineRefusal.DIFFERS) from None
                wanted = WantedModel(machine, source)
            raise
        finally:
            # until here what is shown stays: files may have to be read
            before = self.wanted
            self.wanted = wanted
            if wanted != before:
                self._on_change()

    def _note_files(self, wanted: WantedModel, port: int, connection: Caller) -> None:
        """Raises Declined unless it is what was asked for last; NO_MODEL: nothing is wanted now."""
        is_here = wanted.source in self.models().values()
        if is_here or wanted != self.wanted:
            forgotten = self.wanted is None and not is_here
            raise Declined(MachineRefusal.NO_MODEL if forgotten else MachineRefusal.MISBEHAVED, "not wanted")
        endpoint = f"https://{at_port(connection.host, port)}"
        self._files = OfferedFiles(wanted, endpoint, time.monotonic() + OFFERED_S)
        self._on_change()

    def _folder_of(self, digest: str) -> str:
        for folder in self.models():
            with suppress(ModelError, FileError, OSError, ValueError):  # deleted meanwhile, perhaps
                if has_content(folder, digest):
                    return str(folder)
        raise Declined(MachineRefusal.NO_MODEL)

    def _reserve(self, lending: LentMemory, process: str, connection: Caller) -> None:
        """Raises Declined while another process is helped; the same one has lost what it had, or wants another.

        A station does not replace a rank: that is part of the model that it would draft for.
        """
        with self._freed:
            if time.monotonic() < self._lends_from:
                raise Declined(MachineRefusal.TAKEN_BACK)
            if self.lending is not None and self._lent_to is not None:
                before, its = self._lent_to
                is_same = (self.lending.machine.fingerprint, before) == (lending.machine.fingerprint, process)
                if is_same and (self.lending.drafts or not lending.drafts):
                    its.end()
                    self._freed.wait_for(lambda: self.lending is None, FREED_S)
            if self.lending is not None:
                raise Declined(MachineRefusal.BUSY, self.lending.machine.name)
            if lending.memory_bytes > self.memory_bytes:
                raise Declined(MachineRefusal.MEMORY)
            self.lending = lending
            self._lent_to = (process, connection)

    def _lend(self, wire: Wire, plain: socket.socket, relay: threading.Thread, lending: LentMemory) -> None:
        process: subprocess.Popen[bytes] | None = None
        try:
            self._on_change()
            most_bytes = max(1, self.memory_bytes)
            wire.send(MemoryOffer(most_bytes))
            child = RUN_STATION if lending.drafts else RUN_RANK
            process = start_child(plain, child, lending.folder, str(most_bytes))
            self.lending = replace(lending, pid=process.pid)
            plain.close()  # the process has its own
            while relay.is_alive() and self._is_paired(lending.machine):
                relay.join(LOOK_S)
        finally:
            if process is not None:
                end_rank(process, END_S)
            with self._freed:
                self.lending = self._lent_to = None
                self._freed.notify_all()
            self._on_change()
