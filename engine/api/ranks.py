"""Values about a model whose layers run in several processes: the ranks of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.api.hub import PeerModel
from engine.api.modes import PIPELINE, ModeChoice, ModeReason

MOST_RANKS = 8


class SplitRefusal(StrEnum):
    """Why a model cannot run over several ranks."""

    LAYERS = "layers"  # mlx-lm's code for this family does not let its layers run apart from each other
    SPLIT = "split"  # it can, but only in equal parts, and memory is not equal
    ROLLBACK = "rollback"  # what is drafted and rejected cannot be taken back in it
    UNTRIED = "untried"  # it has not been run so yet: it needs Metal, or over so many ranks
    TENSOR_ONLY = "tensor only"  # its layers can be divided, not run apart: these ranks are not what that takes
    FEW_LAYERS = "few layers"  # fewer than ranks


class RankEnd(StrEnum):
    """Why a rank is lost."""

    ENDED = "ended"  # its process
    SILENT = "silent"  # it no longer answers: stopped, asleep, or out of reach
    STALLED = "stalled"  # it answers, but a step has taken too long
    FAILED = "failed"  # it says so itself
    MEMORY = "memory"  # it says that memory is short there by now
    DIFFERS = "differs"  # other versions, or other files of the model, than rank 0 has
    MISBEHAVED = "misbehaved"  # what it sent is no answer


class MachineRefusal(StrEnum):
    """Why another machine does not help this one."""

    UNREACHABLE = "unreachable"  # nothing listens there, or it does not answer in time
    NO_ROUTE = "no route"  # the network has no way there, or on a Mac the user has not let this program into it
    STRANGER = "stranger"  # the two are not paired, or no longer
    NOT_INVITING = "not inviting"  # it shows no code, or no longer
    CODE = "code"  # another one than it shows
    BUSY = "busy"  # it helps another machine
    TAKEN_BACK = "taken back"  # its user has stopped that a while ago
    MEMORY = "memory"  # it lends less by now than was planned
    NO_MODEL = "no model"  # it has no model with the same contents
    OLDER = "older"  # it has an older Hunch, MLX or mlx-lm than this one
    NEWER = "newer"  # or a newer one
    DIFFERS = "differs"  # it has the same state of the same repository, with other contents
    MISBEHAVED = "misbehaved"  # what it sent is no answer


@dataclass(frozen=True, slots=True)
class Machine:
    """Another machine that this one is paired with. `address`: where it was reached last, as host:port."""

    name: str
    fingerprint: str  # of its certificate, SHA-256
    address: str


@dataclass(frozen=True, slots=True)
class Helping:
    """A machine that lends its memory to a rank. `identity`: the folder with the key that it knows this one by."""

    machine: Machine
    identity: str


@dataclass(frozen=True, slots=True)
class HubSource:
    """Where a model's files come from: "" where that is not known."""

    repository: str = ""
    revision: str = ""  # a commit


class LendingPhase(StrEnum):
    OFF = "off"
    STARTING = "starting"
    READY = "ready"  # paired machines may ask
    FAILED = "failed"  # `LendingState.error` says why


@dataclass(frozen=True, slots=True)
class LendingState:
    """What this machine lends to others now. `error`: an AddressProblem, or "" where only the log helps."""

    phase: LendingPhase = LendingPhase.OFF
    error: str = ""
    offered_bytes: int = 0
    user: str = ""  # the name of the machine that has a rank or a station here; "": none
    drafts: bool = False  # it is a station, which drafts for that machine
    folder: str = ""  # of that rank's model
    used_bytes: int = 0  # of memory, by that rank; 0: not known
    promised_bytes: int = 0  # of memory, to that rank, which may not have taken it yet
    code: str = ""  # the digits that another machine is paired by; "": none hold
    code_s: float = 0.0  # for which they hold, from when this was sent
    wanted_by: str = ""  # the name of the machine that has asked last, for a model that is not here; "": none
    wanted_repository: str = ""  # where that model can be downloaded; a name that came from elsewhere
    wanted_revision: str = ""
    paired: int = 0  # how many machines have been paired or removed since it began
    peer_name: str = ""  # the name of the machine that supplies that model now; "": none
    peer_endpoint: str = ""
    peer_fingerprint: str = ""  # of that machine's certificate

    def peer_model(self, identity: str) -> PeerModel | None:
        """`identity`: the folder with the key that the machine knows this one by."""
        if not self.peer_endpoint:
            return None
        wanted = self.wanted_repository, self.wanted_revision
        return PeerModel(*wanted, self.peer_endpoint, self.peer_fingerprint, identity)


@dataclass(frozen=True, slots=True)
class RankShare:
    """The layers of one rank, `first` up to but not including `end`, and its memory with a chat of useful length.

    `helping`: where it runs; None: in a process of this machine.
    """

    first: int
    end: int
    weight_bytes: int
    needed_bytes: int
    available_bytes: int
    helping: Helping | None = None
    rdma: str = ""  # the device of its cable to the other rank

    @property
    def layers(self) -> int:
        return self.end - self.first

    @property
    def fits(self) -> bool:
        return self.needed_bytes <= self.available_bytes


@dataclass(frozen=True, slots=True)
class RankPlan:
    """What each rank holds.

    In a pipeline rank 0 has the last layers and the head, the last rank the first ones. In tensor mode all shares are
    of all layers, in equal parts; this machine's, the first, has the head besides.

    `choice` is what the files and machines allow; the load may still choose a pipeline (`ModelReady.choice`).
    `lacking`: what excludes tensor mode, whatever was asked for. `divides`: whether a pipeline can be had.
    """

    folder: str
    context_tokens: int
    shares: tuple[RankShare, ...]
    choice: ModeChoice = PIPELINE
    lacking: ModeReason | None = None
    divides: bool = True

    @property
    def split(self) -> tuple[int, ...]:
        """Layers by rank."""
        return tuple(share.layers for share in self.shares)

    @property
    def fits(self) -> bool:
        return all(share.fits for share in self.shares)
