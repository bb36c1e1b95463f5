"""Everything that the engine refuses or that can go wrong, as types with fields. No sentences: words are the app's.

Being cancelled is a reason for a reply to finish, not an error.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from engine.api.ranks import MachineRefusal, RankEnd, SplitRefusal
from engine.api.types import SightRefusal


class EngineError(Exception):
    """Root of the tree. Subclasses are dataclasses with fields, which the app puts into words."""

    def __str__(self) -> str:
        values = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({values})"


@dataclass(eq=False)
class ModelError(EngineError):
    folder: str


@dataclass(eq=False)
class ModelNotFound(ModelError):
    """No such folder, or neither a config.json nor weights in it."""


@dataclass(eq=False)
class ModelHasNoConfig(ModelError):
    """There are weights, but no config.json."""


@dataclass(eq=False)
class ModelHasNoWeights(ModelError):
    """There is no model*.safetensors in the folder."""


@dataclass(eq=False)
class ModelDamaged(ModelError):
    """A file is truncated, malformed or contradicts another one."""

    detail: str


@dataclass(eq=False)
class ModelChanged(ModelError):
    """Its files changed while they were read, or since it was loaded."""


@dataclass(eq=False)
class ModelUnsupported(ModelError):
    """mlx-lm has no such architecture, or does not read weights that are packed in this way."""

    model_type: str
    packing: str = ""  # the method, if that is why


@dataclass(eq=False)
class DrafterUnsupported(ModelError):
    """A drafter of a known kind that needs a part not implemented here; the part's name is as in its files."""

    need: str


@dataclass(eq=False)
class ModelRunsCode(ModelError):
    """The repository's config names its own Python code; that is never run here."""


@dataclass(eq=False)
class TokenizerBroken(ModelError):
    detail: str


@dataclass(eq=False)
class LogitsBroken(ModelError):
    """No next token can be drawn: a forward gave NaN, or -inf for every token. Damaged weights, or an overflow."""


@dataclass(eq=False)
class ModelTooLarge(ModelError):
    """`needed_bytes` includes a chat of `context_tokens`; `others_bytes` more is in use by other programs."""

    needed_bytes: int
    available_bytes: int
    context_tokens: int = 0
    others_bytes: int = 0


@dataclass(eq=False)
class LoadAborted(ModelError):
    """Another command (load, set_draft, unload) came before the model was ready."""


@dataclass(eq=False)
class RepliesUnderWay(ModelError):
    """Replies are running with the loaded main model, and `load` was called without `end_replies`."""


@dataclass(eq=False)
class ModelOnlyDrafts(ModelError):
    """A drafter, given as a main model: it cannot chat by itself."""

    kind: str


@dataclass(eq=False)
class ModelNotSplittable(ModelError):
    """Its layers cannot run in several processes."""

    model_type: str
    why: SplitRefusal


@dataclass(eq=False)
class DraftError(ModelError):
    """The model may be fine, but it cannot draft for this main model."""


@dataclass(eq=False)
class DraftVocabularyDiffers(DraftError):
    """Too few tokens of the larger vocabulary are shared: `shared_tokens`, or -1 if only digests were compared."""

    main_tokens: int
    draft_tokens: int
    shared_tokens: int = -1

    @property
    def most_tokens(self) -> int:
        return max(self.main_tokens, self.draft_tokens)


@dataclass(eq=False)
class DraftIsMain(DraftError):
    """Main and draft are the same folder."""


@dataclass(eq=False)
class DraftTooLarge(DraftError):
    """A draft that is not smaller than the main model only costs time."""

    main_bytes: int
    draft_bytes: int


@dataclass(eq=False)
class DraftCannotRewind(DraftError):
    """The draft's cache cannot drop rejected tokens."""

    model_type: str


@dataclass(eq=False)
class DrafterDoesNotFit(DraftError):
    """A drafter for another main model: its `what` ("layers", "width", "vocabulary") differs from this one's.

    "keys": the main model has no keys and values that fit. "states": its hidden states cannot be read. These two have
    no sizes.
    """

    what: str
    expected: int
    actual: int


@dataclass(eq=False)
class RequestError(EngineError):
    pass


@dataclass(eq=False)
class NoModelLoaded(RequestError):
    pass


@dataclass(eq=False)
class EmptyConversation(RequestError):
    pass


@dataclass(eq=False)
class InvalidRequest(RequestError):
    """`field` has `value`; `allowed` is its range in notation, not words ("0..1")."""

    field: str
    value: str
    allowed: str


@dataclass(eq=False)
class CannotSee(RequestError):
    """A request with pictures to a model that reads text only here."""

    folder: str
    why: SightRefusal


@dataclass(eq=False)
class PictureTooLarge(RequestError):
    """A look at it, in the detail asked for, takes more memory than there is."""

    needed_bytes: int


@dataclass(eq=False)
class ContextTooLong(RequestError):
    """`can_truncate`: with another `Request.truncation` older messages would be left out."""

    limit_tokens: int
    actual_tokens: int
    can_truncate: bool = False


@dataclass(eq=False)
class TemplateFailed(RequestError):
    """The model's chat template raised, ran too long or produced nothing."""

    detail: str


@dataclass(eq=False)
class DownloadError(EngineError):
    repository: str


@dataclass(eq=False)
class RepositoryNotFound(DownloadError):
    pass


@dataclass(eq=False)
class AccessDenied(DownloadError):
    """Gated or private, by `gated`."""

    gated: bool


class HubSilence(StrEnum):
    """Why a hub cannot be reached."""

    ADDRESS = "address"  # not a valid address
    NAME = "name"  # the name is not found: it is wrong, or there is no network
    NO_ROUTE = "no route"
    REFUSED = "refused"
    TIMED_OUT = "timed out"
    CERTIFICATE = "certificate"  # not signed by a trusted authority
    PROXY = "proxy"  # the proxy fails, or refuses this address
    BROKE_OFF = "broke off"
    BUSY = "busy"


@dataclass(eq=False)
class HubUnreachable(DownloadError):
    """`detail` is the library's error: for the log, not for the user."""

    endpoint: str
    detail: str
    reason: HubSilence = HubSilence.BROKE_OFF


@dataclass(eq=False)
class HubOffline(DownloadError):
    """Offline mode is on, so no hub is asked."""


@dataclass(eq=False)
class HubCannotSearch(DownloadError):
    """A mirror that serves repositories but no search."""

    endpoint: str


@dataclass(eq=False)
class HubMisbehaved(DownloadError):
    """The hub sent something that no proper hub sends (a path as checksum, a file outside the folder)."""

    detail: str


@dataclass(eq=False)
class TokenInClear(DownloadError):
    """The token would be sent to another machine over plain http, which the user has not allowed."""

    endpoint: str


@dataclass(eq=False)
class ChecksumMismatch(DownloadError):
    file: str


@dataclass(eq=False)
class FileMissing(DownloadError):
    """The hub lists a file but does not have it."""

    file: str


@dataclass(eq=False)
class FileUnusable(DownloadError):
    """A file needed to load the model: larger than `limit_bytes`, or if that is 0 damaged, as in `detail`."""

    file: str
    size_bytes: int = 0
    limit_bytes: int = 0
    detail: str = ""


@dataclass(eq=False)
class NothingToInstall(DownloadError):
    """No MLX model in the repository; `formats` lists what it has instead.

    `lacks`: missing files that a model in safetensors needs; "safetensors" may then be among the formats. `drafters`:
    what can be installed of it nevertheless, by names like "org/name/mtp".
    """

    formats: tuple[str, ...]
    drafters: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


@dataclass(eq=False)
class DiskFull(DownloadError):
    """The free space is less than `needed_bytes` and `promised_bytes`; the latter are reserved by other downloads."""

    needed_bytes: int
    available_bytes: int
    promised_bytes: int = 0


@dataclass(eq=False)
class StorageFailed(DownloadError):
    """The models folder cannot be used: not writable, unplugged, or another Hunch is installing this there (`in_use`).

    `in_the_way`: `folder` is a file where a folder is needed.
    """

    folder: str
    detail: str
    in_use: bool = False
    in_the_way: bool = False


@dataclass(eq=False)
class RankLost(EngineError):
    """A process with some of the model's layers is lost; the model has to be loaded again. `detail`: for the log.

    `machine`: on which it ran, if that was another one.
    """

    rank: int
    why: RankEnd
    detail: str
    machine: str = ""


@dataclass(eq=False)
class MachineUnavailable(EngineError):
    """Another machine does not help this one. `detail`: who it helps instead, or what it has; else for the log."""

    address: str
    why: MachineRefusal
    detail: str = ""


@dataclass(eq=False)
class OutOfMemory(EngineError):
    detail: str


@dataclass(eq=False)
class EngineClosed(EngineError):
    pass


@dataclass(eq=False)
class MlxUnusable(EngineError):
    """MLX cannot be imported: it is missing, or its wheel is for another system than this one."""

    system: str
    wheel: str  # its platform, such as "macosx_15_0_arm64"; "" where there is none
    detail: str


@dataclass(eq=False)
class InternalError(EngineError):
    """A bug of ours; `detail` is for the log and the report."""

    detail: str


def as_engine_error(error: BaseException) -> EngineError:
    """`error` itself if it is typed; else OutOfMemory or InternalError with its text."""
    if isinstance(error, EngineError):
        return error
    detail = f"{type(error).__name__}: {_words(error)}"[:500]
    out_of_memory = isinstance(error, MemoryError) or "[METAL]" in detail or "[metal::malloc]" in detail
    return OutOfMemory(detail) if out_of_memory else InternalError(detail)


def _words(error: BaseException) -> str:
    """The text of a library's error; getting it may raise, too."""
    try:
        return str(error)
    except BaseException:  # noqa: BLE001  see above
        return "without words"
