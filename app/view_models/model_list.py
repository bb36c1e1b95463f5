"""Installed models and the loaded pair as plain values for lists, pickers and the pair chip."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from engine import DrafterKind, DraftingState, EngineError, ModelSource, PairCheck, Speculation


@dataclass(frozen=True, slots=True)
class ModelEntry:
    folder: str
    name: str
    repository: str  # "" when unknown
    source: ModelSource
    size_bytes: int
    error: EngineError | None = None  # why it cannot be a main model
    parameters: int = 0
    bits: float | None = None
    context_tokens: int = 0
    can_delete: bool = False
    is_main: bool = False  # loaded now
    is_draft: bool = False
    drafter: DrafterKind | None = None  # of what is made to draft for one main model, and no chat model


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
    PARKED = "parked"  # loaded, but at rest; `drafting` says why
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
    loaded_share: float = 0.0  # of the model that is being loaded


class DraftGroup(StrEnum):
    RECOMMENDED = "recommended"
    COMPATIBLE = "compatible"
    NOT_COMPATIBLE = "not_compatible"


@dataclass(frozen=True, slots=True)
class DraftChoice:
    group: DraftGroup
    model: ModelEntry
    error: EngineError | None = None  # for models that cannot draft
    check: PairCheck | None = None  # what their files say of the two, once that is known
    extra_bytes: int = 0  # of memory, for its weights
    gain: float | None = None  # over plain decoding, measured last
    estimate: float | None = None  # the same, before anything was measured
