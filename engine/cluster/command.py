"""`python -m engine`: models over several processes and machines; and `lend`, `pair` and `machines`."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import platformdirs

from engine.api.errors import MachineUnavailable
from engine.api.events import InstalledModel
from engine.api.modes import ModeChoice, RankMode
from engine.api.ranks import Helping, HubSource, LendingPhase, LendingState, Machine, MachineRefusal, RankPlan
from engine.api.station import StationPlace
from engine.cluster.identity import Identity
from engine.cluster.launched import launched_size
from engine.cluster.lending import LendingProcess
from engine.cluster.lent import DEFAULT_PORT, host_and_port, pair_machines, plan_with
from engine.cluster.plan import plan_ranks
from engine.models.fit import model_memory_bytes

_GB = 1e9
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
        _add_identity(command)


def add_arguments(command: argparse.ArgumentParser) -> None:
    where = command.add_mutually_exclusive_group()
    where.add_argument("--ranks", type=int, metavar="N", help="experimental: run its layers in so many processes")
    where.add_argument(
        "--with",
        dest="machines",
        action="append",
        default=[],
        metavar="HOST:PORT",
        help="experimental: run some of its layers on this machine, which is paired and lends its memory",
    )
    command.add_argument(
        "--station",
        metavar="local|HOST:PORT",
        help="experimental: have the draft computed there as well, ahead of time; a machine is paired and has it",
    )
    command.add_argument(
        "--tensor", action="store_true", help="experimental: divide each layer over the two, by MLX's own sums"
    )
    _add_identity(command)


def station_of(options: argparse.Namespace) -> StationPlace | None:
    if options.station is None:
        return None
    return StationPlace(None if options.station == "local" else _helping(options.identity, options.station))


def plan_of(options: argparse.Namespace, say: Say) -> RankPlan | None:
    """Which rank will hold which layers, said before anything is loaded; None: one process has all."""
    if (size := launched_size()) > 1:
        say(f"one of {size} that mlx.launch has started (experimental)")
        return plan_ranks(options.model, [model_memory_bytes()] * size, mode=RankMode.TENSOR)
    if options.ranks is None and not options.machines:
        return None
    mode = RankMode.TENSOR if options.tensor else None
    if options.ranks is None:
        plan = plan_with(options.model, [_helping(options.identity, each) for each in options.machines], mode=mode)
    else:
        here = model_memory_bytes() // max(1, options.ranks)
        plan = plan_ranks(options.model, [here] * options.ranks, mode=mode)
    say(f"{len(plan.shares)} ranks (experimental), with a chat of {plan.context_tokens} tokens:")
    for rank, share in enumerate(plan.shares):
        needs = f"{share.needed_bytes / _GB:.2f} of {share.available_bytes / _GB:.2f} GB"
        at = ""
        if share.helping is not None:
            at = f", on {share.helping.machine.name} ({share.helping.machine.address})"
        held = "a part of layers" if plan.choice.mode is RankMode.TENSOR else "layers"
        say(f"  rank {rank}: {held} {share.first + 1}-{share.end}, {needs}{at}{'' if share.fits else ', does not fit'}")
    return plan


def mode_words(choice: ModeChoice) -> str:
    """Of a model that is loaded."""
    if not choice.sums_s:
        return f"runs as a {choice.mode} ({choice.reason})"
    times = f"a forward here about {choice.forward_s * 1000:.1f} ms, its sums {choice.sums_s * 1000:.1f} ms"
    return f"runs in mode {choice.mode} ({choice.reason}): {times}"


def gigabytes(text: str) -> int:
    try:
        size = int(float(text) * _GB)
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError("expected sizes in GB, as in 8 or 4.5") from error
    if size <= 0:
        raise argparse.ArgumentTypeError("expected sizes above 0")
    return size


def _add_identity(command: argparse.ArgumentParser) -> None:
    folder = platformdirs.user_data_path("Hunch", appauthor=False) / "machines"
    command.add_argument("--identity", type=Path, default=folder, metavar="DIR", help=_IDENTITY)


def _helping(identity: Path, address: str) -> Helping:
    host_and_port(address)
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
        lending.offer(_lent(scan(options.models)), options.memory or model_memory_bytes())
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


def _lent(models: Iterable[InstalledModel]) -> dict[str, HubSource]:
    known = (model for model in models if model.info is not None)
    return {model.folder: HubSource(model.repository, model.revision) for model in known}


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
            say(f"{machine.name}\t{machine.address or '-'}\t{machine.fingerprint[:_FINGERPRINT]}")
    return 0
