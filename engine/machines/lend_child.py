"""The process that lends this machine's memory for another one, which writes orders to its input and reads its states.

It ends when its input is closed. It loads no model itself: each rank is a process below it.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from engine.api.connections import is_loopback
from engine.api.errors import InvalidRequest
from engine.api.ranks import HubSource, LendingPhase, LendingState
from engine.api.types import AddressProblem
from engine.machines.discovery import END_S, Announcement
from engine.machines.identity import Identity
from engine.machines.lender import Lender
from engine.machines.lent import host_and_port

LOOK_S = 1.0  # between two looks at what has changed
_END_S = 4.0  # after which it ends whatever still runs: ranks end with their sockets
_FOOTPRINT = 9  # in rusage_info_v0, after a uuid that is as long as two of these numbers: memory that counts for it


def run(identity: str, address: str) -> int:
    """The exit status. Nothing is offered before an order says what."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that has started this one
    try:
        child = _Child(Path(identity))
        child.start(*host_and_port(address))
    except InvalidRequest:
        _post(LendingState(LendingPhase.FAILED))
        return 1
    except OSError as error:
        _post(LendingState(LendingPhase.FAILED, AddressProblem.of(error)))
        return 1
    with suppress(OSError):  # nothing reads the states any more
        child.post_states()
    threading.Timer(_END_S, os._exit, (0,)).start()
    if child.announcement is not None:
        child.announcement.stop(END_S)
    child.lender.stop()
    os._exit(0)  # the thread that reads may still wait for its input


class _Child:
    def __init__(self, identity: Path) -> None:
        self.identity = Identity(identity)
        self._models: dict[Path, HubSource] = {}
        self._changed = threading.Event()
        self._ended = threading.Event()
        self._code = ""
        self._known = self.identity.machines()
        self._paired = 0
        self.announcement: Announcement | None = None
        self.lender = Lender(self.identity, lambda: self._models, self._changed.set, memory_bytes=0)

    def start(self, host: str, port: int) -> None:
        self.lender.start(host, port)
        if not is_loopback(host):
            self.announcement = Announcement(self.identity.name, self.identity.fingerprint, port)
        threading.Thread(target=self._obey, daemon=True).start()

    def post_states(self) -> None:
        """Until the input is closed: each that differs from the one before by more than passing time."""
        before: LendingState | None = None
        while not self._ended.is_set():
            state = self.state()
            if before is None or replace(state, code_s=before.code_s) != before:
                _post(state)
                before = state
            self._changed.wait(LOOK_S)
            self._changed.clear()

    def _obey(self) -> None:
        for line in sys.stdin.buffer:
            order: dict[str, Any] = json.loads(line)
            if "models" in order:
                self._models = {Path(folder): HubSource(*source) for folder, *source in order["models"]}
                self.lender.memory_bytes = order["memory_bytes"]
            elif "invite" in order:
                self._code = self.lender.invite()
            elif "take_back" in order:
                self.lender.take_back()
            self._changed.set()
        self._ended.set()
        self._changed.set()

    def state(self) -> LendingState:
        lending = self.lender.lending
        left_s = self.lender.invited_s
        known = self.identity.machines()
        self._paired += known != self._known
        self._known = known
        state = LendingState(LendingPhase.READY, offered_bytes=self.lender.memory_bytes, paired=self._paired)
        if left_s:
            state = replace(state, code=self._code, code_s=left_s)
        wanted = self.lender.wanted
        if wanted is not None and self.identity.machine(wanted.machine.fingerprint) is not None:
            source = wanted.source
            state = replace(state, wanted_by=wanted.machine.name)
            state = replace(state, wanted_repository=source.repository, wanted_revision=source.revision)
        files = self.lender.offered_files
        if files is not None:
            state = replace(state, peer_name=files.wanted.machine.name, peer_endpoint=files.endpoint)
            state = replace(state, peer_fingerprint=files.wanted.machine.fingerprint)
        if lending is not None:
            used = memory_of(lending.pid) if lending.pid else 0
            state = replace(state, user=lending.machine.name, folder=lending.folder, used_bytes=_rounded(used))
            state = replace(state, promised_bytes=lending.memory_bytes, drafts=lending.drafts)
        return state


def memory_of(pid: int) -> int:
    """Bytes that the process has in memory, with those of the GPU on a Mac; 0: not known."""
    if sys.platform == "darwin":
        numbers = (ctypes.c_uint64 * 64)()
        with suppress(OSError, AttributeError):
            if ctypes.CDLL("/usr/lib/libproc.dylib").proc_pid_rusage(pid, 0, ctypes.byref(numbers)) == 0:
                return int(numbers[_FOOTPRINT])
        return 0
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _rounded(size: int) -> int:
    """A new state is worth a tenth of a gigabyte; of less, ten megabytes."""
    step = 100_000_000 if size >= 1_000_000_000 else 10_000_000
    return round(size / step) * step


def _post(state: LendingState) -> None:
    sys.stdout.write(json.dumps(asdict(state)) + "\n")
    sys.stdout.flush()
