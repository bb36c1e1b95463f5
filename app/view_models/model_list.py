"""Installed models and the loaded pair as plain values for lists, pickers and the pair chip."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from app.words.pairs import PairGain
from engine import (
    DrafterKind,
    DraftingState,
    EngineError,
    Machine,
    MemoryFit,
    ModeChoice,
    ModelAbout,
    ModelSource,
    PairCheck,
    Speculation,
)


class UpkeepState(StrEnum):
    NONE = "none"
    VERIFYING = "verifying"
    SOUND = "sound"
    DAMAGED = "damaged"  # files are missing or not as they were installed
    UNKNOWN = "unknown"  # what its files should be is not recorded
    ASKING = "asking"  # the hub, for something newer
    CURRENT = "current"
    OUTDATED = "outdated"
    NOT_ASKED = "not_asked"  # not known; `error` says why
    DELETING = "deleting"  # gigabytes take a while


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Result of checking a model's files, or for a newer version."""

    state: UpkeepState = UpkeepState.NONE
    share: float = 0.0  # of the files that were read
    files: tuple[str, ...] = ()
    revision: str = ""  # that has the files as they were installed, or newer ones
    error: EngineError | None = None


@dataclass(frozen=True, slots=True)
class ModelEntry:
    folder: str
    name: str
    repository: str  # "" when unknown
    source: ModelSource
    size_bytes: int
    error: EngineError | None = None  # why it cannot be a main model
    parameters: int = 0
    bits: float | None = None  # of quantized weights
    full_bits: int = 0  # of weights that are not quantized
    quantization: str = ""  # its method, where that has a name
    context_tokens: int = 0
    can_delete: bool = False
    is_main: bool = False  # loaded now
    is_draft: bool = False
    is_outdated: bool = False  # its files are newer than what is loaded of them
    is_checking: bool = False  # its files are new here and are tried before they are loaded
    drafter: DrafterKind | None = None  # of what is made to draft for one main model, and no chat model
    about: ModelAbout = field(default_factory=ModelAbout)
    fit: MemoryFit | None = None  # with a chat of usual length, or of `asked_tokens`
    indivisible: EngineError | None = None  # of one that is too large: why it cannot run over several Macs
    asked_tokens: int = 0  # that a chat may have; 0: as many as the model holds
    sees: bool = False  # pictures
    own_head: bool = False  # it brings a drafter of its own
    drafts_for: tuple[str, ...] = ()  # names of installed main models that it is a good draft for
    drafts: tuple[str, ...] = ()  # names of installed models that are good drafts for it
    gain: PairGain | None = None  # with the draft that it had last
    has_draft: bool = False  # in it, on this machine, or in the catalog
    last_used: int = 0  # the higher, the later; 0: never
    upkeep: Upkeep = field(default_factory=Upkeep)

    @property
    def comes_with_app(self) -> bool:
        return self.source is ModelSource.STARTER


class PairState(StrEnum):
    NO_MODEL = "no_model"
    LOADING = "loading"
    READY = "ready"
    UNLOADED = "unloaded"  # not in memory; the next message loads it again
    FAILED = "failed"


class DraftState(StrEnum):
    NONE = "none"
    LOADING = "loading"
    ACTIVE = "active"
    PARKED = "parked"  # loaded, but idle; `drafting` says why
    REFUSED = "refused"  # cannot serve this main model; `error` or `drafting` says why


@dataclass(frozen=True, slots=True)
class PairView:
    main_name: str = ""
    draft_name: str = ""
    speculation: Speculation = field(default_factory=Speculation)
    state: PairState = PairState.NO_MODEL
    draft_state: DraftState = DraftState.NONE
    error: EngineError | None = None  # why the main model or the draft was refused
    drafting: DraftingState | None = None  # why the draft does not draft
    main_folder: str = ""
    draft_folder: str = ""
    helper: Machine | None = None  # another machine, which holds a part of the main model
    choice: ModeChoice | None = None  # how a loaded main model runs over both
    station: str = ""  # the name of another machine that drafts as well; "": none does now
    loaded_share: float = 0.0  # of the one that is being loaded: the main model, then its draft
    off_for_pair: bool = False  # drafting was turned off for these two
    exact: bool = False  # measured: wide and narrow forwards agree to the bit, so no draft changes a text
    sees: bool = False  # the loaded main model; pictures

    @property
    def in_company(self) -> bool:
        """Several replies share each forward, so nothing is drafted."""
        return self.drafting is DraftingState.BATCHED


class DraftGroup(StrEnum):
    RECOMMENDED = "recommended"
    COMPATIBLE = "compatible"
    COMPARING = "comparing"  # only their files decide, and are not read yet
    NOT_COMPATIBLE = "not_compatible"


@dataclass(frozen=True, slots=True)
class DraftChoice:
    group: DraftGroup
    model: ModelEntry
    error: EngineError | None = None  # for models that cannot draft
    check: PairCheck | None = None  # what their files say of the two, once that is known
    extra_bytes: int = 0  # of memory, for its weights
    gain: PairGain | None = None
