"""The public interface of the engine: everything that a caller may import, and nothing that imports MLX.

engine = Engine()
engine.load("models/Qwen3-8B-4bit", print, draft="models/Qwen3-0.6B-4bit")
engine.submit(Request(messages=(Message(MessageRole.USER, "Hello"),)), print)
"""

from engine.api.errors import (
    AccessDenied,
    CannotSee,
    ChecksumMismatch,
    ContextTooLong,
    DiskFull,
    DownloadError,
    DraftCannotRewind,
    DrafterDoesNotFit,
    DraftError,
    DrafterUnsupported,
    DraftIsMain,
    DraftTooLarge,
    DraftVocabularyDiffers,
    EmptyConversation,
    EngineClosed,
    EngineError,
    FileMissing,
    FileUnusable,
    HubCannotSearch,
    HubMisbehaved,
    HubOffline,
    HubSilence,
    HubUnreachable,
    InternalError,
    InvalidRequest,
    LoadAborted,
    LogitsBroken,
    MachineUnavailable,
    MlxUnusable,
    ModelChanged,
    ModelDamaged,
    ModelError,
    ModelHasNoConfig,
    ModelHasNoWeights,
    ModelNotFound,
    ModelNotSplittable,
    ModelOnlyDrafts,
    ModelRunsCode,
    ModelTooLarge,
    ModelUnsupported,
    NoModelLoaded,
    NothingToInstall,
    OutOfMemory,
    PictureTooLarge,
    RankLost,
    RepliesUnderWay,
    RepositoryNotFound,
    RequestError,
    StorageFailed,
    TemplateFailed,
    TokenInClear,
    TokenizerBroken,
)
from engine.api.events import (
    DeleteFailed,
    DownloadFailed,
    DownloadFinished,
    DownloadProgress,
    DownloadStopped,
    DrafterExamined,
    Event,
    Failed,
    Finished,
    InstalledModel,
    LibraryScanned,
    ModelChecking,
    ModelDeleted,
    ModelEvent,
    ModelFailed,
    ModelLoading,
    ModelLoadProgress,
    ModelMeasured,
    ModelReady,
    ModelUnloaded,
    ModelVerified,
    PageFailed,
    PageRead,
    PairChecked,
    PromptFits,
    PromptProgress,
    PromptTruncated,
    Queued,
    RequestEvent,
    SearchFailed,
    SearchResults,
    Sink,
    StationChanged,
    TemplateRead,
    TextDelta,
    TokensCounted,
    TokensScored,
    ToolCalled,
    UpdateChecked,
    VerifyProgress,
)
from engine.api.files import open_plain, patiently, remove_unfinished, sync_file, sync_folder, write_atomically
from engine.api.hub import (
    HUB_FAMILIES,
    NEWEST,
    PUBLIC_HUB,
    FileProgress,
    HubAccess,
    HubFile,
    HubKind,
    HubModel,
    HubPage,
    HubQuery,
    HubSort,
    PeerModel,
    Retry,
    SearchId,
)
from engine.api.modes import ModeChoice, ModeReason, RankMode
from engine.api.pairs import PairCheck, Probe, Vocabularies
from engine.api.protocols import ChatEngine, ModelLibrary
from engine.api.ranks import (
    Helping,
    HubSource,
    LendingPhase,
    LendingState,
    Machine,
    MachineRefusal,
    RankEnd,
    RankPlan,
    RankShare,
    SplitRefusal,
)
from engine.api.station import StationEnd, StationPhase, StationPlace, StationState
from engine.api.stats import RequestStats
from engine.api.types import (
    MAX_DRAFT_TOKENS,
    MAX_SEED,
    SAMPLING_LIMITS,
    Acceptance,
    AddressProblem,
    CacheSizes,
    Constraint,
    ConstraintKind,
    CountId,
    DeleteRefusal,
    DownloadId,
    DrafterInfo,
    DrafterKind,
    DraftingState,
    DraftMark,
    Effort,
    EngineState,
    FinishReason,
    FitLevel,
    ForwardTimes,
    Limits,
    MemoryFit,
    Message,
    MessageRole,
    ModelAbout,
    ModelInfo,
    ModelRole,
    ModelSource,
    Picture,
    PictureDetail,
    Request,
    RequestId,
    Sampling,
    SightRefusal,
    SpanKind,
    Speculation,
    SpeculationMode,
    TokenScore,
    ToolCall,
    Truncation,
)
from engine.cluster.plan import plan_ranks, plan_with, split_problem
from engine.decoding.constraint import schema_begins, schema_refusal
from engine.hub.catalog import (
    TYPICAL_OF_KIND,
    Catalog,
    CatalogAcceptance,
    CatalogDraft,
    CatalogModel,
    CatalogPair,
    load_catalog,
    published_acceptance,
)
from engine.hub.client import JsonQuestion
from engine.hub.file_server import ModelFileServer
from engine.hub.library import default_hub_cache, neighbours
from engine.hub.searches import is_wanted
from engine.hub.store import ModelStore
from engine.machines.discovery import Browsing, FoundMachine
from engine.machines.identity import Identity
from engine.machines.lending import LendingProcess
from engine.machines.lent import DEFAULT_PORT, MachineRoute, machine_offer, pair_machines, ways
from engine.models.children import CHILDREN, run_child
from engine.models.compatibility import (
    RECOMMENDED_SHARE,
    best_draft,
    draft_problem,
    is_good_draft,
    is_made_for,
    may_share_tokens,
)
from engine.models.drafter_kinds import drafter_names, is_drafter_folder
from engine.models.fit import estimated_weight_bytes, fit_together, memory_fit, model_memory_bytes, set_aside
from engine.models.inspect import inspect_model, model_name
from engine.models.mlx_build import system_name
from engine.models.mlx_build import wheel as mlx_wheel
from engine.models.openblas import has_openblas
from engine.models.vision_config import picture_tokens
from engine.runtime.command_line import run_command_line
from engine.runtime.service import Engine
from engine.server.options import (
    KEY_MISSING,
    ModelShelf,
    PictureProblem,
    PictureRefused,
    ServedModel,
    ServerOptions,
    ServerPhase,
    ServerState,
)
from engine.server.service import Server
