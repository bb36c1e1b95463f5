"""`python -m engine`: models over several processes and machines."""

from __future__ import annotations

import argparse

from engine.api.modes import ModeChoice, RankMode
from engine.api.ranks import MOST_RANKS, RankPlan
from engine.api.station import StationPlace
from engine.cluster.plan import plan_ranks, plan_with
from engine.machines.command import GB, Say, add_identity, helping
from engine.machines.launched import launched_size
from engine.models.fit import model_memory_bytes


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
    command.set_defaults(usage_error=command.error)
    add_identity(command)


def station_of(options: argparse.Namespace) -> StationPlace | None:
    if options.station is None:
        return None
    if options.draft is None and not getattr(options, "pair", ()):
        options.usage_error("--station: computes the draft that --draft names")
    return StationPlace(None if options.station == "local" else helping(options.identity, options.station))


def plan_of(options: argparse.Namespace, say: Say) -> RankPlan | None:
    """Which rank will hold which layers, said before anything is loaded; None: one process has all."""
    if (size := launched_size()) > 1:
        say(f"one of {size} that mlx.launch has started (experimental)")
        return plan_ranks(options.model, [model_memory_bytes()] * size, mode=RankMode.TENSOR)
    if options.ranks is None and not options.machines:
        if options.tensor:
            options.usage_error("--tensor: over what --ranks or --with names")
        return None
    mode = RankMode.TENSOR if options.tensor else None
    if options.ranks is None:
        plan = plan_with(options.model, [helping(options.identity, each) for each in options.machines], mode=mode)
    else:
        here = model_memory_bytes() // max(1, options.ranks)
        plan = plan_ranks(options.model, [here] * min(options.ranks, MOST_RANKS + 1), mode=mode)
    say(f"{len(plan.shares)} ranks (experimental), with a chat of {plan.context_tokens} tokens:")
    for rank, share in enumerate(plan.shares):
        needs = f"{share.needed_bytes / GB:.2f} of {share.available_bytes / GB:.2f} GB"
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
