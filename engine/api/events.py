"""The engine's events: small frozen values, safe to pass to any thread.

A request's events: Queued, perhaps PromptFits and PromptTruncated, then PromptProgress, TokensScored, TextDelta and
ToolCalled in any number, then exactly one of Finished or Failed. A model's: ModelLoading, ModelLoadProgress in any
number, then exactly one of ModelReady or ModelFailed (ModelFailed alone, `began` being false, when loading cannot
begin). ModelChecking may come between them.
ModelUnloaded comes whenever a loaded model is dropped: by a command, replaced, or because the engine closes.
DrafterExamined may follow the ModelReady of a drafter, and ModelMeasured that of a main model. A download's:
DownloadProgress in any number, then exactly one of DownloadFinished, DownloadStopped or DownloadFailed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from engine.api.errors import EngineError
from engine.api.hub import NEWEST, FileProgress, HubModel, HubPage, Retry, SearchId
from engine.api.modes import ModeChoice
from engine.api.pairs import PairCheck
from engine.api.station import StationState
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
    TokenScore,
    ToolCall,
)

_POOR_PER_PASS = 1.2


@dataclass(frozen=True, slots=True)
class ModelLoading:
    role: ModelRole
    folder: str


@dataclass(frozen=True, slots=True)
class ModelChecking:
    """Its tokenizer and template are new here: they are tried in another process before the load continues."""

    folder: str


@dataclass(frozen=True, slots=True)
class ModelLoadProgress:
    role: ModelRole
    folder: str
    done_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class ModelReady:
    """`choice`: how the main model runs over several ranks; None: in this process alone."""

    role: ModelRole
    info: ModelInfo
    choice: ModeChoice | None = None


@dataclass(frozen=True, slots=True)
class ModelFailed:
    role: ModelRole
    folder: str
    error: EngineError
    began: bool = True  # False: refused; a load in progress, of the same folder perhaps, continues
    again_at: float | None = None  # when it is loaded again without being asked for, in seconds of `time.monotonic`


@dataclass(frozen=True, slots=True)
class ModelUnloaded:
    role: ModelRole


@dataclass(frozen=True, slots=True)
class DrafterExamined:
    """Sent once for each loaded drafter, while the engine is idle: its accept rate on built-in questions."""

    folder: str
    per_pass: float  # tokens a pass, the main model's own included
    misread: str = ""  # a convention with which, reversed, more of its tokens are accepted

    @property
    def poor(self) -> bool:
        """Almost none of its tokens are accepted, or more would be if its layout were read differently."""
        return bool(self.misread) or self.per_pass < _POOR_PER_PASS


@dataclass(frozen=True, slots=True)
class ModelMeasured:
    """Forward times of the main model on this machine: sent once after it is ready, when measured.

    `rounding`: largest difference, in nats, between log-probabilities of tokens read together and one by one. A draft
    can change a text only where two tokens are closer than twice that.
    """

    folder: str
    times: ForwardTimes
    others: tuple[ForwardTimes, ...] = ()  # of main models measured before
    rounding: float = 0.0


@dataclass(frozen=True, slots=True)
class StationChanged:
    """Sent when a station starts, is ready or lost, and after each reply that it drafted for."""

    station: StationState


@dataclass(frozen=True, slots=True)
class Queued:
    request: RequestId
    background: bool = False
    guest: bool = False


@dataclass(frozen=True, slots=True)
class PromptFits:
    """Its prompt is rendered and, having fewer bytes than the context has tokens, needs no counting to be known to fit.

    Posted once, before it is encoded, also while it waits for its turn; not for a prompt that only counting can
    judge. Bytes are counted as a tokenizer may write them, and a few more.
    """

    request: RequestId


@dataclass(frozen=True, slots=True)
class PromptTruncated:
    """The oldest exchanges are left out of its prompt (`Request.truncation`).

    `first`: index of the message from which on nothing is left out; system messages and kept exchanges before it stay.
    """

    request: RequestId
    first: int


@dataclass(frozen=True, slots=True)
class PromptProgress:
    request: RequestId
    done_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """New text of a reply; joined, the deltas of one kind are the whole text. `stats` are those after it.

    `marks`: which of it a draft proposed, in characters from the start of the whole text.
    """

    request: RequestId
    kind: SpanKind
    text: str
    stats: RequestStats
    marks: tuple[DraftMark, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A tool call in a reply of a request with tools. Its text is in no TextDelta; what cannot be parsed is."""

    request: RequestId
    call: ToolCall


@dataclass(frozen=True, slots=True)
class TokensScored:
    """Of a request with `logprobs`: of every token, before the text that it becomes. The prompt's come first."""

    request: RequestId
    scores: tuple[TokenScore, ...]
    of_prompt: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    request: RequestId
    reason: FinishReason
    stats: RequestStats
    tokens: tuple[int, ...]
    seed: int
    rounds: tuple[RoundTrace, ...] = ()  # of a request with `trace`
    stop: str = ""  # the stop string that ended it, if one did
    unread_calls: int = 0  # calls that could not be parsed, so they are text


@dataclass(frozen=True, slots=True)
class Failed:
    request: RequestId
    error: EngineError
    stats: RequestStats


@dataclass(frozen=True, slots=True)
class TokensCounted:
    """The one answer to `count_tokens`: by the tokenizer of the loaded main model, or why there is none.

    A text is counted in slices, so that nothing waits for it; each cut between two may add one token. The prompt of a
    request is counted exactly.
    """

    count: CountId
    tokens: int
    error: EngineError | None = None


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A folder with a config.json; usable (`info`) or not (`error`)."""

    folder: str
    name: str
    repository: str  # "mlx-community/Qwen3-8B-4bit", or "" if not known
    source: ModelSource
    size_bytes: int
    info: ModelInfo | None
    error: EngineError | None
    revision: str = ""  # the commit of its files, or "" if not known


@dataclass(frozen=True, slots=True)
class LibraryScanned:
    models: tuple[InstalledModel, ...]


@dataclass(frozen=True, slots=True)
class ModelDeleted:
    folder: str


@dataclass(frozen=True, slots=True)
class DeleteFailed:
    folder: str
    reason: DeleteRefusal


@dataclass(frozen=True, slots=True)
class VerifyProgress:
    """Progress of comparing a model's files with what was installed."""

    folder: str
    done_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class ModelVerified:
    folder: str
    known: bool  # False: there is no record of its files
    damaged: tuple[str, ...] = ()  # files that are missing or differ from what was installed
    revision: str = ""  # the installed one; "" without a record
    error: EngineError | None = None  # why it could not be verified


@dataclass(frozen=True, slots=True)
class UpdateChecked:
    """Whether the hub has a newer version than the installed one. Asking changes nothing."""

    folder: str
    repository: str
    has_update: bool = False
    error: EngineError | None = None  # why the hub was not asked, or did not answer
    revision: str = NEWEST  # the branch or tag that it was installed from


@dataclass(frozen=True, slots=True)
class TemplateRead:
    folder: str
    text: str  # of its chat template; "" if none can be read


@dataclass(frozen=True, slots=True)
class PairChecked:
    check: PairCheck


@dataclass(frozen=True, slots=True)
class DownloadProgress:
    download: DownloadId
    repository: str
    done_bytes: int
    total_bytes: int  # 0 until known
    bytes_per_second: float
    seconds_left: float | None = None  # None until known
    retry: Retry | None = None  # no bytes come; the hub is asked again automatically
    files: tuple[FileProgress, ...] = ()


@dataclass(frozen=True, slots=True)
class DownloadFinished:
    download: DownloadId
    repository: str
    folder: str
    changed: bool = True  # False: what was installed is what the hub has


@dataclass(frozen=True, slots=True)
class DownloadStopped:
    """Paused (`kept_bytes` stay on disk for the next try) or cancelled (nothing is left).

    Sent once more, with nothing kept, when a paused or failed download is cancelled later.
    """

    download: DownloadId
    repository: str
    kept_bytes: int
    total_bytes: int = 0  # 0 if never known
    offline: bool = False  # paused by offline mode, not by the user


@dataclass(frozen=True, slots=True)
class DownloadFailed:
    download: DownloadId
    repository: str
    error: EngineError
    kept_bytes: int
    total_bytes: int = 0


@dataclass(frozen=True, slots=True)
class SearchResults:
    """Further results of a search. If not `reading`, it waits for `more`, if there are any.

    A search may be several queries to the hub. `missing`: why some of them got no answer; `more` asks those again, even
    if there is nothing else.
    """

    search: SearchId
    models: tuple[HubModel, ...]
    reading: bool
    has_more: bool
    missing: EngineError | None = None


@dataclass(frozen=True, slots=True)
class SearchFailed:
    """Earlier results stay valid; `more` tries again."""

    search: SearchId
    error: EngineError


@dataclass(frozen=True, slots=True)
class PageRead:
    """Sent a second time with the model card, if there is one."""

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
    | StationChanged
)
RequestEvent = (
    Queued
    | PromptFits
    | PromptTruncated
    | PromptProgress
    | TextDelta
    | TokensScored
    | ToolCalled
    | Finished
    | Failed
    | TokensCounted
)
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

# Called on the thread that has the event, so it must be quick. What it raises is logged and goes no further.
Sink = Callable[[Event], None]


class OwnThread(threading.Thread):
    """May call sinks. What a sink calls there must not wait for the engine thread, which may wait for this one."""
