"""Other Macs in words: what is lent, how far one is, and where a model's layers would be."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.words.formats import count, fill, number, percent, sentences, size, times
from app.words.model_names import human_name
from app.words.notices import QT_TRANSLATE_NOOP, translated
from app.words.notices_for_errors import reason_text
from app.words.server import port_words
from engine import (
    EngineError,
    FoundMachine,
    LendingPhase,
    LendingState,
    MachineRefusal,
    MachineRoute,
    MachineUnavailable,
    ModeChoice,
    ModeReason,
    RankMode,
    RankPlan,
    RankShare,
    StationEnd,
    StationPhase,
    StationState,
    model_name,
)

_THUNDERBOLT = "bridge0"  # as macOS calls its Thunderbolt Bridge
_LACKING = {
    ModeReason.FAMILY: QT_TRANSLATE_NOOP("Machines", "Faster is not possible with models of this family."),
    ModeReason.DIVISION: QT_TRANSLATE_NOOP("Machines", "Faster is not possible: the layers cannot be halved."),
    ModeReason.RANKS: QT_TRANSLATE_NOOP("Machines", "Faster needs exactly two Macs."),
    ModeReason.CHIPS: QT_TRANSLATE_NOOP("Machines", "Faster needs two Macs with the same chip."),
    ModeReason.SYSTEMS: QT_TRANSLATE_NOOP("Machines", "Faster needs the same version of macOS on both."),
    ModeReason.LINK: QT_TRANSLATE_NOOP(
        "Machines", "Faster needs a Thunderbolt 5 cable, macOS 26.2, and “rdma_ctl enable” in Recovery on both."
    ),
    ModeReason.MEMORY: QT_TRANSLATE_NOOP("Machines", "Faster needs room for half of the model on each."),
}

_STATION_ENDS = {
    StationEnd.ENDED: QT_TRANSLATE_NOOP("Machines", "The other Mac has stopped drafting."),
    StationEnd.SILENT: QT_TRANSLATE_NOOP("Machines", "The other Mac no longer answers."),
    StationEnd.MISBEHAVED: QT_TRANSLATE_NOOP("Machines", "What the other Mac sent is no draft."),
    StationEnd.REFUSED: QT_TRANSLATE_NOOP("Machines", "The other Mac cannot run this draft."),
}


def lending_words(state: LendingState, address: str, port: int) -> str:
    match state.phase:
        case LendingPhase.STARTING:
            return QCoreApplication.translate("Machines", "Starting…")
        case LendingPhase.READY:
            offered = QCoreApplication.translate("Machines", "Up to %1 for paired Macs, at %2.")
            return fill(offered, size(state.offered_bytes), address)
        case LendingPhase.FAILED:
            ended = QCoreApplication.translate("Machines", "Lending ended by itself. It starts again soon.")
            return port_words(state.error, port) or ended
    return QCoreApplication.translate("Machines", "Lends this Mac’s memory to Macs that you pair with it.")


def use_words(state: LendingState) -> str:
    """The model that another machine runs here, and its memory."""
    name = human_name(model_name(Path(state.folder)))
    used = size(state.used_bytes) if state.used_bytes else ""
    return " · ".join(filter(None, (name, used)))


def wanted_words(state: LendingState) -> str:
    """Where a model that another machine needs would come from."""
    repository = state.wanted_repository
    if not state.peer_name:
        return repository
    copied = QCoreApplication.translate("Machines", "%1 · copied from %2, or from the hub if it does not answer")
    return fill(copied, repository, state.peer_name)


def code_words(left_s: float) -> str:
    if left_s <= 0:
        return QCoreApplication.translate("Machines", "Pairs one Mac, within two minutes.")
    left = QCoreApplication.translate("Machines", "Type it on the other Mac. %1 left.")
    return fill(left, f"{int(left_s) // 60}:{int(left_s) % 60:02}")


def machine_words(
    address: str,
    trip_s: float | None,
    error: EngineError | None,
    elsewhere: MachineRoute | None = None,
    was_at: str = "",
) -> str:
    """Where it is and how far; or why it lends nothing. Without an address it was paired from there."""
    if elsewhere is not None:
        sentence = _elsewhere_words(address, error)
        return fill(sentence, _way(address), _way(elsewhere.address), _trip(elsewhere.trip_s), _trip(trip_s))
    if not address:
        return QCoreApplication.translate("Machines", "May use this Mac.")
    if error is not None:
        return reason_text(error).replace("\n", " ")
    before = fill(QCoreApplication.translate("Machines", "was at %1"), _way(was_at)) if was_at else ""
    return " · ".join(filter(None, (_way(address), _trip(trip_s), before)))


def part_words(machine: str, choice: ModeChoice | None) -> str:
    """What another machine holds of the loaded model."""
    if choice is not None and choice.mode is RankMode.TENSOR:
        return fill(QCoreApplication.translate("Machines", "%1 holds half of every layer."), machine)
    return fill(QCoreApplication.translate("Machines", "%1 holds some of its layers."), machine)


def _elsewhere_words(address: str, error: EngineError | None) -> str:
    if not address:
        return QCoreApplication.translate("Machines", "May use this Mac. Lends its memory, too: at %2, %3.")
    if error is not None:
        return QCoreApplication.translate("Machines", "Does not answer at %1, but at %2: %3.")
    return QCoreApplication.translate("Machines", "%1 · %4. Sooner at %2: %3.")


def _way(address: str) -> str:
    """The name of an address's cable or network."""
    interface = address.partition("%")[2].partition("]")[0]
    return "Thunderbolt" if interface == _THUNDERBOLT else interface or address


def _trip(trip_s: float | None) -> str:
    if trip_s is None:
        return ""
    return fill(QCoreApplication.translate("Machines", "%1 ms"), number(trip_s * 1000, 1))


def nearby_words(machine: FoundMachine) -> str:
    if machine.is_older:
        return QCoreApplication.translate("Machines", "Has an older version of Hunch. Update it there.")
    if not machine.is_same_version:
        return QCoreApplication.translate("Machines", "Has a newer version of Hunch. Update it on this Mac.")
    return _way(machine.addresses[0])


def plan_words(plan: RankPlan, running: ModeChoice | None = None) -> str:
    """A line for each machine, and whether it fits; `running`: how it runs so now, perhaps in another mode."""
    is_half = plan.choice.mode is RankMode.TENSOR
    lines = [_share_words(share, is_half) for share in reversed(plan.shares)]
    short = [_name(share) for share in plan.shares if not share.fits]
    if running is not None:
        if running.mode is not plan.choice.mode:
            lines.clear()
        lines.append(QCoreApplication.translate("Machines", "Runs over both Macs now."))
    elif short:
        lines.append(fill(QCoreApplication.translate("Machines", "Not enough memory on %1."), " · ".join(short)))
    else:
        lines.append(QCoreApplication.translate("Machines", "Fits, with room for a chat."))
    return "\n".join(lines)


def mode_names() -> list[tuple[RankMode | None, str]]:
    return [
        (None, QCoreApplication.translate("Machines", "Automatic")),
        (RankMode.TENSOR, QCoreApplication.translate("Machines", "Faster")),
        (RankMode.PIPELINE, QCoreApplication.translate("Machines", "More room")),
    ]


def mode_refusals(plan: RankPlan | None) -> dict[object, str]:
    """Modes that these machines or this model cannot have, and why; in a second line what comes with it."""
    refusals: dict[object, str] = {}
    if plan is not None and plan.lacking is not None:
        refusals[RankMode.TENSOR] = translated(_LACKING[plan.lacking], "Machines")
        if plan.lacking is ModeReason.LINK:
            exposed = QCoreApplication.translate(
                "Machines",
                "RDMA lets the Mac at the other end of the cable write into part of this Mac’s memory, unencrypted.",
            )
            refusals[RankMode.TENSOR] += f"\n{exposed}"
    if plan is not None and not plan.divides:
        refusals[RankMode.PIPELINE] = QCoreApplication.translate(
            "Machines", "More room is not possible with models of this family."
        )
    return refusals


def mode_words(choice: ModeChoice) -> str:
    """How both run a model, and why; in a second line what comes with it."""
    if choice.mode is RankMode.TENSOR:
        tied = QCoreApplication.translate(
            "Machines", "Where two words are as good as tied, the text may differ from one Mac’s."
        )
        return f"{_together_words(choice)}\n{tied}"
    mode = QCoreApplication.translate("Machines", "One Mac after the other: makes room, not speed.")
    if choice.reason is not ModeReason.SUMS:
        return mode
    slow = QCoreApplication.translate("Machines", "Together would be no faster: the exchange takes too long.")
    return sentences(mode, slow)


def mode_figures(choice: ModeChoice) -> str:
    """What was measured for the choice, once it was."""
    if not choice.sums_s:
        return ""
    measured = QCoreApplication.translate(
        "Machines", "A token takes about %1 ms on one Mac; on both together half of that, and %2 ms for the exchange."
    )
    return fill(measured, *(number(seconds * 1000, 1) for seconds in (choice.forward_s, choice.sums_s)))


def _together_words(choice: ModeChoice) -> str:
    if choice.reason is ModeReason.ASKED:
        return QCoreApplication.translate("Machines", "Both Macs compute every layer together.")
    if not choice.sums_s:
        return QCoreApplication.translate("Machines", "Both Macs compute every layer together, if that proves faster.")
    return QCoreApplication.translate("Machines", "Both Macs compute every layer together: faster.")


def refusal_words(error: EngineError, repository: str) -> str:
    """Why there is no plan; and how a model comes to the other machine that does not have it."""
    reason = reason_text(error)
    is_missing = isinstance(error, MachineUnavailable) and error.why is MachineRefusal.NO_MODEL
    if not is_missing or not repository:
        return reason
    offered = QCoreApplication.translate("Machines", "Settings → Other Macs there offers to download %1.")
    return f"{reason}\n{fill(offered, repository)}"


def station_words(state: StationState, repository: str) -> str:
    """Whether another machine drafts for this one, what that brings and takes, or why it does not.

    `repository`: of the draft.
    """
    if state.phase is StationPhase.READY:
        return _station_figures(state)
    meanwhile = QCoreApplication.translate("Machines", "This Mac drafts meanwhile.")
    if state.phase is StationPhase.OFF:
        return QCoreApplication.translate("Machines", "The loaded pair has no draft that another Mac can run.")
    if state.error is not None:
        return sentences(refusal_words(state.error, repository).replace("\n", " "), meanwhile)
    if state.end is not None:
        return sentences(translated(_STATION_ENDS[state.end], "Machines"), meanwhile)
    return QCoreApplication.translate("Machines", "Starting…")


def _station_figures(state: StationState) -> str:
    """In one line."""
    if not state.drafts:
        ready = QCoreApplication.translate("Machines", "Ready, with up to %1 of memory there.")
        return fill(ready, size(state.memory_bytes))
    hits = fill(QCoreApplication.translate("Machines", "%1 prepared"), percent(state.hit_rate))
    gain = fill(QCoreApplication.translate("Machines", "%1 the speed without it"), times(state.gain))
    late = fill(QCoreApplication.translate("Machines", "%1 late"), count(state.late))
    takes = QCoreApplication.translate("Machines", "up to %1, %2 s of work there")
    taken = fill(takes, size(state.memory_bytes), number(state.worked_s, 1 if state.worked_s < 10 else 0))
    return " · ".join((hits, *([gain] if state.gain else []), *([late] if state.late else []), taken))


def _share_words(share: RankShare, is_half: bool) -> str:
    if is_half:
        half = QCoreApplication.translate("Machines", "%1: half of every layer, %2 of %3")
        return fill(half, _name(share), size(share.needed_bytes), size(share.available_bytes))
    words = QCoreApplication.translate("Machines", "%1: layers %2–%3, %4 of %5")
    numbers = number(share.first + 1), number(share.end), size(share.needed_bytes), size(share.available_bytes)
    return fill(words, _name(share), *numbers)


def _name(share: RankShare) -> str:
    if share.helping is None:
        return QCoreApplication.translate("Machines", "This Mac")
    return share.helping.machine.name
