"""The engine's vocabulary: what a caller sends and what it learns about models. Values only, no behaviour, no MLX."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

RequestId = NewType("RequestId", int)
DownloadId = NewType("DownloadId", int)
CountId = NewType("CountId", int)

MAX_SEED = 2**64 - 1
MAX_DRAFT_TOKENS = 32


class ModelRole(StrEnum):
    MAIN = "main"
    DRAFT = "draft"


class MessageRole(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class SpeculationMode(StrEnum):
    OFF = "off"
    FIXED = "fixed"
    AUTO = "auto"


class Acceptance(StrEnum):
    """How drafted tokens are judged when sampling; greedy decoding knows only one way."""

    COUPLED = "coupled"  # same seed, same text, with any draft or none
    REJECTION = "rejection"  # same distribution, 5 to 11 % more tokens a pass; the text depends on the draft


class FinishReason(StrEnum):
    STOP = "stop"  # an end token or a stop string
    LENGTH = "length"  # max_tokens
    CONTEXT = "context"  # the model's context is full
    MEMORY = "memory"  # the machine's memory is full
    MODEL_CHANGED = "model_changed"  # the main model was replaced or unloaded
    CANCELLED = "cancelled"


class DrafterKind(StrEnum):
    """Methods of drafting from a main model's hidden states. Their drafters are made for one main model each."""

    DFLASH = "dflash"  # a block of tokens in one forward
    DSPARK = "dspark"  # the same, each token knowing the one before it
    DFLASH2 = "dflash2"  # the same, chosen among the likeliest candidates
    EAGLE3 = "eagle3"  # token by token, from three layers
    MTP = "mtp"  # token by token, with the head that the main model was trained with


class SpanKind(StrEnum):
    ANSWER = "answer"
    THINKING = "thinking"


class DraftingState(StrEnum):
    """Why a request drafts, or does not. A code; the words are the app's."""

    OFF = "off"  # the request asked for none
    NO_DRAFT = "no_draft"  # no draft model is loaded
    CATCHING_UP = "catching_up"  # the draft still reads the chat; the reply goes on plainly
    ACTIVE = "active"
    BATCHED = "batched"  # several replies share each forward, and speculation pauses
    PARKED = "parked"  # measured slower than plain decoding here, so it rests
    UNSUPPORTED = "unsupported"  # the main model's cache cannot be rolled back
    FAILED = "failed"  # the proposer raised; the reply went on plainly


class ModelSource(StrEnum):
    STARTER = "starter"
    OWN = "own"
    HUB_CACHE = "hub_cache"
    LM_STUDIO = "lm_studio"
    OMLX = "omlx"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Message:
    role: MessageRole
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is drawn. As in mlx-lm, top-p, min-p and top-k look at the distribution before temperature."""

    temperature: float = 0.7
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0  # this and the next two count the whole prefix, prompt included
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: tuple[tuple[int, float], ...] = ()  # (token, what to add)
    xtc_probability: float = 0.0  # how often to exclude the top choices …
    xtc_threshold: float = 0.1  # … when at least two tokens are this likely
    seed: int | None = None  # None: the engine draws one and reports it in Finished


@dataclass(frozen=True, slots=True)
class Speculation:
    mode: SpeculationMode = SpeculationMode.AUTO
    tokens: int = 4  # a round's draft length in fixed mode
    acceptance: Acceptance = Acceptance.COUPLED
    guarded: bool = False  # a fixed length pauses, as auto does, while it is slower than plain decoding

    @classmethod
    def off(cls) -> Speculation:
        return cls(SpeculationMode.OFF)

    @classmethod
    def fixed(cls, tokens: int) -> Speculation:
        return cls(SpeculationMode.FIXED, tokens)

    @classmethod
    def auto(cls) -> Speculation:
        return cls(SpeculationMode.AUTO)


@dataclass(frozen=True, slots=True)
class Request:
    """One reply to write. Give `messages` (rendered with the model's chat template) or raw `tokens`, not both."""

    messages: tuple[Message, ...] = ()
    tokens: tuple[int, ...] = ()
    sampling: Sampling = field(default_factory=Sampling)
    speculation: Speculation = field(default_factory=Speculation)
    max_tokens: int | None = None  # None: as far as the context goes
    context_tokens: int | None = None  # of prompt and reply, at most; None: as many as the model holds
    stop: tuple[str, ...] = ()
    thinking: bool = False  # for models whose template can switch it
    trace: bool = False  # Finished tells each round
    transient: bool = False  # of no chat: takes no kept cache, leaves none, and drafts nothing
    background: bool = False  # starts, and takes steps, only while no other request waits or is under way
    conversation: str = ""  # what is kept of it goes where `ChatEngine.keep_only` leaves it out; "": not that way


@dataclass(frozen=True, slots=True)
class RoundTrace:
    """One round of a reply, as Finished tells it where that was asked for."""

    position: int  # tokens committed before it, the prompt's included
    drafted: tuple[int, ...] = ()
    accepted: int = 0
    source: str = ""  # who drafted


@dataclass(frozen=True, slots=True)
class DraftMark:
    """A stretch of a reply's text that a draft foresaw, or where the main model overruled it.

    `start` and `end` count the characters of the request's text of one kind.
    """

    start: int
    end: int
    wanted: str | None = None  # None: foreseen; else what the draft wanted instead; "": to end the reply
    position: int = 0  # of the overruled token in its draft, from 1
    drafted: int = 0  # tokens of that draft
    round: int = 0  # that checked it, from 1

    @property
    def accepted(self) -> bool:
        return self.wanted is None


@dataclass(frozen=True, slots=True)
class DrafterInfo:
    """What a drafter needs of its main model; 0 where it does not say."""

    kind: DrafterKind
    main_width: int  # of the hidden states that it reads
    main_layers: int
    vocabulary_rows: int
    layers: tuple[int, ...]  # whose output it reads, counted from 0; -1: what the head is given


@dataclass(frozen=True, slots=True)
class CacheSizes:
    """What a chat takes in a model."""

    token_bytes: int  # for each token of it
    fixed_bytes: int  # however long it is: windows when they are full, and recurrent states


class DeleteRefusal(StrEnum):
    """Why a model is not deleted."""

    STARTER = "starter"  # it comes with the program
    NOT_OURS = "not_ours"  # another program's, or in a folder that was added
    NO_MODEL = "no_model"
    IN_USE = "in_use"  # a reply is being written with it
    GONE = "gone"  # somebody else has deleted or moved it, or its disk is not there
    FORBIDDEN = "forbidden"  # by the rights of its folder
    READ_ONLY = "read_only"  # the disk
    LOCKED = "locked"  # by another program
    DISK = "disk"  # it failed otherwise


class FitLevel(StrEnum):
    FITS = "fits"
    TIGHT = "tight"  # it fits, and leaves little for anything else
    TOO_LARGE = "too_large"


@dataclass(frozen=True, slots=True)
class MemoryFit:
    """Whether a model and a chat of so many tokens fit this machine."""

    level: FitLevel
    needed_bytes: int
    available_bytes: int  # for models and chats together
    largest_context_tokens: int  # that fits; 0 where not even the weights do
    estimated: bool  # not read from files that are here


@dataclass(frozen=True, slots=True)
class ModelAbout:
    """What the files of a model say for people."""

    family: str = ""  # "Qwen3"
    template: bool = False  # of chats
    thinking: bool = False
    tools: bool = False
    languages: tuple[str, ...] = ()  # codes, as in "ko"
    licence: str = ""  # as the hub names it: "apache-2.0"
    speculates: bool = True  # False: the family computes several tokens otherwise than each alone
    made_for: str = ""  # a drafter's main model, where it names one


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What the files of a model say, read without loading it."""

    folder: str
    name: str  # "Qwen3-8B-4bit"
    model_type: str
    parameters: int
    weight_bytes: int
    bits: float | None  # of quantized weights; None when they are not
    vocabulary_tokens: int
    vocabulary_digest: str  # equal digests: every token has the same id in both
    context_tokens: int
    width: int = 0  # of its hidden states
    layers: int = 0
    vocabulary_rows: int = 0  # with the padding of its output layer
    drafter: DrafterInfo | None = None  # set: it is no chat model and can only draft
    own_drafter: DrafterInfo | None = None  # a head in its own folder that drafts for it: set_draft(folder)
    caches: CacheSizes | None = None  # None: of a drafter, or not known
    about: ModelAbout = field(default_factory=ModelAbout)
    sparse: bool = False  # made of experts, of which a token needs only some
    idle_bytes: int = 0  # of the weights, what stays on the disk: eyes and ears
    quantization: str = ""  # its method, where that has a name: "MXFP4"


@dataclass(frozen=True, slots=True)
class ForwardTimes:
    """What forwards of a main model take on this machine."""

    weight_bytes: int
    sparse: bool
    by_width: tuple[tuple[int, float], ...]  # (tokens, seconds)


@dataclass(frozen=True, slots=True)
class EngineState:
    """What the engine has and does, as far as the events posted up to now tell."""

    main: ModelInfo | None = None
    draft: ModelInfo | None = None
    loading_main: str | None = None  # the folder
    loading_draft: str | None = None
    queued: tuple[RequestId, ...] = ()
    running: tuple[RequestId, ...] = ()
    background: tuple[RequestId, ...] = ()  # of these two, those that give way to the others
    drafting: DraftingState = DraftingState.NO_DRAFT  # of the reply that was heard of last

    @property
    def foreground(self) -> tuple[RequestId, ...]:
        """The requests that somebody waits for: those under way, then those in the queue."""
        return tuple(each for each in (*self.running, *self.queued) if each not in self.background)
