"""What the engine tells its caller: small frozen values, safe to hand to any thread.

A request's events: Queued, then PromptProgress and TextDelta in any number, then exactly one of Finished or Failed.
A model's: ModelLoading, ModelLoadProgress in any number, then exactly one of ModelReady or ModelFailed (ModelFailed
alone, `began` being false, when loading cannot begin).
ModelChecking may come between them.
ModelUnloaded comes whenever a loaded model goes: dropped, replaced, or because the engine closes.
DrafterExamined may follow the ModelReady of a drafter, and ModelMeasured that of a main model.
A download's: DownloadProgress in any number, then exactly one of DownloadFinished, DownloadStopped or DownloadFailed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.api.errors import EngineError
from engine.api.hub import FileProgress, HubModel, HubPage, Retry, SearchId
from engine.api.pairs import PairCheck
from engine.api.stats import RequestStats
from engine.api.types import (
    CountId,
    DeleteRefusal,
    DownloadId,
    DraftMark,
    FinishReason,
    ForwardTimes,
    ModelInfo,
    ModelRole,
    ModelSource,
    RequestId,
    RoundTrace,
    SpanKind,
)

_POOR_PER_PASS = 1.2


@dataclass(frozen=True, slots=True)
class ModelLoading:
    role: ModelRole
    folder: str


@dataclass(frozen=True, slots=True)
class ModelChecking:
    """Its tokenizer and template are new here, and are tried in another process before the load goes on."""

    folder: str


@dataclass(frozen=True, slots=True)
class ModelLoadProgress:
    role: ModelRole
    folder: str
    done_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class ModelReady:
    role: ModelRole
    info: ModelInfo


@dataclass(frozen=True, slots=True)
class ModelFailed:
    role: ModelRole
    folder: str
    error: EngineError
    began: bool = True  # False: it was refused; what is being loaded, of the same folder perhaps, goes on


@dataclass(frozen=True, slots=True)
class ModelUnloaded:
    role: ModelRole


@dataclass(frozen=True, slots=True)
class DrafterExamined:
    """Comes once the engine has rested, for each drafter loaded: how far it is right, on built-in questions."""

    folder: str
    per_pass: float  # tokens a pass of the main model, its own included
    misread: str = ""  # a convention that, read the other way round, has it right further

    @property
    def poor(self) -> bool:
        """It hardly drafts a token that stands, or it would be right further if its layout were read otherwise."""
        return bool(self.misread) or self.per_pass < _POOR_PER_PASS


@dataclass(frozen=True, slots=True)
class ModelMeasured:
    """What forwards of the main model take on this machine: once after it is ready, when that is known.

    `rounding` is by how much, in nats, log-probabilities of tokens read together differ from those of tokens read one
    by one. A draft can change a text only where two tokens are closer than twice that.
    """

    folder: str
    times: ForwardTimes
    others: tuple[ForwardTimes, ...] = ()  # of main models that were measured before
    rounding: float = 0.0


@dataclass(frozen=True, slots=True)
class Queued:
    request: RequestId
    background: bool = False


@dataclass(frozen=True, slots=True)
class PromptProgress:
    request: RequestId
    done_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """New text of a reply; joined, the deltas of one kind are the whole text. `stats` is the state after it.

    `marks` say which of it a draft foresaw; they count the characters from the start of the whole text.
    """

    request: RequestId
    kind: SpanKind
    text: str
    stats: RequestStats
    marks: tuple[DraftMark, ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    request: RequestId
    reason: FinishReason
    stats: RequestStats
    tokens: tuple[int, ...]
    seed: int
    rounds: tuple[RoundTrace, ...] = ()  # of a request with `trace`


@dataclass(frozen=True, slots=True)
class Failed:
    request: RequestId
    error: EngineError
    stats: RequestStats


@dataclass(frozen=True, slots=True)
class TokensCounted:
    """The one answer to `count_tokens`: by the tokenizer of the loaded main model, or why there is none.

    A text is counted in slices, so that nothing waits for it; at each cut between two there may be one token too many.
    """

    count: CountId
    tokens: int
    error: EngineError | None = None


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A folder with a config.json, fit (`info`) or not (`error`)."""

    folder: str
    name: str
    repository: str  # "mlx-community/Qwen3-8B-4bit", or "" when the folder does not tell
    source: ModelSource
    size_bytes: int
    info: ModelInfo | None
    error: EngineError | None


@dataclass(frozen=True, slots=True)
class LibraryScanned:
    models: tuple[InstalledModel, ...]


@dataclass(frozen=True, slots=True)
class ModelDeleted:
    folder: str
    freed_bytes: int


@dataclass(frozen=True, slots=True)
class DeleteFailed:
    folder: str
    reason: DeleteRefusal


@dataclass(frozen=True, slots=True)
class VerifyProgress:
    """A model's files are read and compared with what was installed."""

    folder: str
    done_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class ModelVerified:
    folder: str
    known: bool  # False: nobody wrote down what its files should be
    damaged: tuple[str, ...] = ()  # files that are missing or not as they were installed
    revision: str = ""  # that was installed; "" where nobody wrote it down
    error: EngineError | None = None  # why nobody can tell


@dataclass(frozen=True, slots=True)
class UpdateChecked:
    """Whether the hub has something newer than what is installed. Nothing is changed by asking."""

    folder: str
    repository: str
    has_update: bool = False
    error: EngineError | None = None  # why the hub was not asked, or did not answer


@dataclass(frozen=True, slots=True)
class TemplateRead:
    folder: str
    text: str  # of its chat template; "" where there is none that can be read


@dataclass(frozen=True, slots=True)
class PairChecked:
    check: PairCheck


@dataclass(frozen=True, slots=True)
class DownloadProgress:
    download: DownloadId
    repository: str
    done_bytes: int
    total_bytes: int  # 0 until the hub has told
    bytes_per_second: float
    seconds_left: float | None = None  # None while nobody can tell
    retry: Retry | None = None  # nothing comes, and the hub is asked again by itself
    files: tuple[FileProgress, ...] = ()


@dataclass(frozen=True, slots=True)
class DownloadFinished:
    download: DownloadId
    repository: str
    folder: str
    changed: bool = True  # False: what was installed already is what the hub has


@dataclass(frozen=True, slots=True)
class DownloadStopped:
    """Paused (`kept_bytes` wait on disk for the next try) or cancelled (nothing is left).

    Comes once more, with nothing kept, when a paused or failed download is cancelled later.
    """

    download: DownloadId
    repository: str
    kept_bytes: int
    total_bytes: int = 0  # 0 where the hub has never told
    offline: bool = False  # nobody has paused it but offline mode, which was switched on meanwhile


@dataclass(frozen=True, slots=True)
class DownloadFailed:
    download: DownloadId
    repository: str
    error: EngineError
    kept_bytes: int
    total_bytes: int = 0


@dataclass(frozen=True, slots=True)
class SearchResults:
    """More of what a search has found. One that is not `reading` waits to be asked for more, if there is any.

    A search may be several questions to the hub. `missing` says why some of them got no answer; asking for more asks
    those again, also where there is no more otherwise.
    """

    search: SearchId
    models: tuple[HubModel, ...]
    reading: bool
    has_more: bool
    missing: EngineError | None = None


@dataclass(frozen=True, slots=True)
class SearchFailed:
    """What was found before stays true; asking for more tries again."""

    search: SearchId
    error: EngineError


@dataclass(frozen=True, slots=True)
class PageRead:
    """Comes a second time with the model's card, where it has one."""

    page: HubPage


@dataclass(frozen=True, slots=True)
class PageFailed:
    repository: str
    error: EngineError


ModelEvent = (
    ModelLoading
    | ModelChecking
    | ModelLoadProgress
    | ModelReady
    | ModelFailed
    | ModelUnloaded
    | DrafterExamined
    | ModelMeasured
)
RequestEvent = Queued | PromptProgress | TextDelta | Finished | Failed | TokensCounted
StoreEvent = (
    LibraryScanned
    | ModelDeleted
    | DeleteFailed
    | VerifyProgress
    | ModelVerified
    | UpdateChecked
    | TemplateRead
    | PairChecked
    | DownloadProgress
    | DownloadFinished
    | DownloadStopped
    | DownloadFailed
    | SearchResults
    | SearchFailed
    | PageRead
    | PageFailed
)
Event = ModelEvent | RequestEvent | StoreEvent

# Runs on the thread that has the news, so it must be quick. What it raises is logged and goes no further.
Sink = Callable[[Event], None]
