"""`python -m engine`: `lend`, `pair` and `machines`."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import platformdirs

from engine.api.errors import InvalidRequest, MachineUnavailable
from engine.api.events import InstalledModel
from engine.api.ranks import Helping, HubSource, LendingPhase, LendingState, Machine, MachineRefusal
from engine.machines.identity import Identity
from engine.machines.lending import LendingProcess
from engine.machines.lent import DEFAULT_PORT, host_and_port, pair_machines
from engine.models.fit import model_memory_bytes

GB = 1e9
_LOOK_S = 5.0  # between two looks at the models that can be lent
_FINGERPRINT = 16  # digits of one that are shown
_IDENTITY = "with this machine's key, and those of the machines that it is paired with"
Say = Callable[[str], None]
Scan = Callable[[Sequence[Path]], Iterable[InstalledModel]]


def add_commands(commands: Any, say: Say, scan: Scan) -> None:
    """`scan`: the models in folders."""
    lend = commands.add_parser("lend", help="experimental: lend this machine's memory to another one")
    lend.add_argument(
        "--models", action="append", type=Path, required=True, metavar="DIR", help="that may be asked for"
    )
    lend.add_argument("--listen", default=f"[::]:{DEFAULT_PORT}", metavar="HOST:PORT")
    lend.add_argument("--memory", type=gigabytes, metavar="GB", help="that is offered; without it, what models may use")
    lend.add_argument("--invite", action="store_true", help="show eight digits, to be paired with another machine")
    lend.set_defaults(run=partial(_lend, scan=scan, say=say))
    pair = commands.add_parser("pair", help="experimental: pair with a machine that shows eight digits")
    pair.add_argument("address", metavar="HOST:PORT")
    pair.add_argument("--code", help="the digits; without it they are read from stdin")
    pair.set_defaults(run=partial(_pair, say=say))
    machines = commands.add_parser("machines", help="the machines that this one is paired with")
    machines.add_argument("--remove", metavar="NAME|HOST:PORT|FINGERPRINT")
    machines.set_defaults(run=partial(_machines, say=say))
    for command in (lend, pair, machines):
        add_identity(command)


def add_identity(command: argparse.ArgumentParser) -> None:
    folder = platformdirs.user_data_path("Hunch", appauthor=False) / "machines"
    command.add_argument("--identity", type=Path, default=folder, metavar="DIR", help=_IDENTITY)


def gigabytes(text: str) -> int:
    try:
        size = int(float(text) * GB)
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError("expected sizes in GB, as in 8 or 4.5") from error
    if size <= 0:
        raise argparse.ArgumentTypeError("expected sizes above 0")
    return size


def helping(identity: Path, address: str) -> Helping:
    return Helping(_known(Identity(identity), address), str(identity))


def _known(identity: Identity, wanted: str) -> Machine:
    """By its address, by the beginning of its fingerprint, or by a name that no other has: it chose that itself."""
    machines = identity.machines()
    for found in (
        [machine for machine in machines if machine.address == wanted],
        [machine for machine in machines if len(wanted) >= _FINGERPRINT and machine.fingerprint.startswith(wanted)],
        [machine for machine in machines if machine.name == wanted],
    ):
        if len(found) == 1:
            return found[0]
    place = host_and_port(wanted)
    for machine in machines:
        with suppress(InvalidRequest):
            if host_and_port(machine.address) == place:  # one of them leaves the usual port out
                return machine
    raise MachineUnavailable(wanted, MachineRefusal.STRANGER)


def _lend(options: argparse.Namespace, scan: Scan, say: Say) -> int:
    """Until a signal ends it, or it cannot."""
    host_and_port(options.listen)
    ended = threading.Event()
    name = Identity(options.identity).name
    spoken = _Spoken(say, f"{name} lends its memory at {options.listen} (experimental)", ended.set)
    lending = LendingProcess(options.identity, options.listen, spoken.on_state)
    lending.start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    if options.invite:
        lending.invite()
    while not ended.is_set():
        models = (model for model in scan(options.models) if model.info is not None)
        lent = {model.folder: HubSource(model.repository, model.revision) for model in models}
        lending.offer(lent, options.memory or model_memory_bytes())
        ended.wait(_LOOK_S)
    lending.stop()
    return 1 if spoken.has_failed else 0


class _Spoken:
    """A line for whatever has changed in what is lent; none is repeated."""

    def __init__(self, say: Say, ready: str, on_failure: Callable[[], None]) -> None:
        self.has_failed = False
        self._say = say
        self._ready = ready
        self._on_failure = on_failure
        self._said: list[str] = []

    def on_state(self, state: LendingState) -> None:
        if state.phase is LendingPhase.FAILED:
            self.has_failed = True
            self._say(json.dumps({"error": state.error}))
            self._on_failure()
        if state.phase is not LendingPhase.READY:
            return
        lines = [self._ready]
        if state.code:
            lines.append(f"Digits for the other machine: {state.code[:4]} {state.code[4:]}, for two minutes")
        if state.wanted_by:
            lines.append(f"{state.wanted_by} would use {state.wanted_repository}, which is not here")
        how = "has this machine draft" if state.drafts else "uses this machine"
        lines.append(f"{state.user} {how}: {state.folder}" if state.user else "nobody uses this machine")
        for line in lines:
            if line not in self._said:
                self._say(line)
        self._said = lines


def _pair(options: argparse.Namespace, say: Say) -> int:
    code = options.code or sys.stdin.readline()
    machine = pair_machines(options.identity, options.address, code)
    say(f"paired with {machine.name}")
    return 0


def _machines(options: argparse.Namespace, say: Say) -> int:
    identity = Identity(options.identity)
    if options.remove is not None:
        machine = _known(identity, options.remove)
        identity.remove(machine.fingerprint)
        say(f"removed {machine.name}")
    else:
        for machine in identity.machines():
            sys.stdout.write(f"{machine.name}\t{machine.address or '-'}\t{machine.fingerprint[:_FINGERPRINT]}\n")
    return 0
