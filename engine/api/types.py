"""The engine's vocabulary: requests, and what is known about models. Values only, no MLX."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from typing import Any, NewType, TypeAlias

from engine.api.modes import ModeChoice

RequestId = NewType("RequestId", int)
DownloadId = NewType("DownloadId", int)
CountId = NewType("CountId", int)

MAX_SEED = 2**64 - 1
MAX_DRAFT_TOKENS = 32
MOST_LOGPROBS = 20
BACKGROUND_PRIORITY = 2
LARGEST_PICTURE_SIDE = 8192
KV_BITS = (8, 16)  # of a chat's keys and values


class AddressProblem(StrEnum):
    """Why nothing can listen at an address."""

    IN_USE = "AddressInUse"
    UNUSABLE = "AddressUnusable"

    @classmethod
    def of(cls, error: OSError) -> AddressProblem:
        return cls.IN_USE if error.errno == errno.EADDRINUSE else cls.UNUSABLE


class ModelRole(StrEnum):
    MAIN = "main"
    DRAFT = "draft"


class MessageRole(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"  # what a tool answered


class SpeculationMode(StrEnum):
    OFF = "off"
    FIXED = "fixed"
    AUTO = "auto"


class Acceptance(StrEnum):
    """How drafted tokens are accepted when sampling; greedy decoding has only one way."""

    COUPLED = "coupled"  # same seed, same text, with any draft or none
    REJECTION = "rejection"  # same distribution, 5 to 11 % more tokens a pass; the text depends on the draft


class FinishReason(StrEnum):
    STOP = "stop"  # an end token or a stop string
    LENGTH = "length"  # max_tokens
    CONTEXT = "context"  # the model's context is full
    MEMORY = "memory"  # the machine's memory is full
    MODEL_CHANGED = "model_changed"  # the main model was replaced or unloaded
    CANCELLED = "cancelled"


DrafterKind: TypeAlias = str  # a method of drafting from hidden states, "dflash": a key of the table of kinds


class PictureDetail(StrEnum):
    """How many tokens a picture may take at most, in families that leave that open; larger ones are made smaller."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"

    @property
    def most_tokens(self) -> int:
        return {PictureDetail.LOW: 320, PictureDetail.NORMAL: 1280, PictureDetail.HIGH: 4096}[self]


class Effort(StrEnum):
    """How much a model thinks, where it does."""

    LOW = "low"
    NORMAL = "normal"  # as it is used to
    HIGH = "high"


class SightRefusal(StrEnum):
    """Why a model cannot see pictures."""

    TEXT_ONLY = "text_only"  # it was made for text
    LEFT_OUT = "left_out"  # its config describes a vision part, but the folder lacks the weights for them
    UNKNOWN_FAMILY = "unknown_family"  # nothing here reads pictures for its family
    DAMAGED = "damaged"  # the files of its vision part contradict one another


class SpanKind(StrEnum):
    ANSWER = "answer"
    THINKING = "thinking"


class DraftingState(StrEnum):
    """Why a request drafts, or does not. A code; the words are the app's."""

    OFF = "off"  # the request asked for none
    NO_DRAFT = "no_draft"  # no draft model is loaded
    CATCHING_UP = "catching_up"  # the draft prefills the chat; the reply is decoded plainly
    ACTIVE = "active"
    BATCHED = "batched"  # several replies share each forward, without drafts
    PARKED = "parked"  # measured slower than plain decoding, so paused
    UNSUPPORTED = "unsupported"  # the main model's cache cannot be rolled back
    FAILED = "failed"  # the proposer raised; the reply went on without it


class ModelSource(StrEnum):
    STARTER = "starter"
    OWN = "own"
    HUB_CACHE = "hub_cache"
    LM_STUDIO = "lm_studio"
    OMLX = "omlx"
    ADDED = "added"


class Truncation(StrEnum):
    """What becomes of a chat that does not fit the context."""

    NONE = "none"  # the request fails
    OLDEST = "oldest"  # the oldest exchanges are left out


class ConstraintKind(StrEnum):
    JSON = "json"  # a JSON schema
    REGEX = "regex"


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the answer has to match; thinking before it is free.

    An answer that goes on has to match as a whole, if its beginning does; else what comes after that has to.
    """

    kind: ConstraintKind
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: str  # a JSON object


@dataclass(frozen=True, slots=True)
class Picture:
    """Decoded pixels. Two pictures with one digest count as the same."""

    width: int
    height: int
    rgb: bytes = field(repr=False, compare=False)  # 8 bits a channel, row by row without padding
    digest: str  # of the pixels or of the file
    detail: PictureDetail | None = None  # None: the request's


@dataclass(frozen=True, slots=True)
class Message:
    role: MessageRole
    content: str
    reasoning: str = ""  # of a reply; templates drop it from all turns but the latest
    tool_calls: tuple[ToolCall, ...] = ()  # of a reply
    tool_call_id: str = ""  # of a tool's answer: the call's
    name: str = ""  # of the tool that answers
    pictures: tuple[Picture, ...] = ()  # before the text; of a tool's answer where the template has a place for them


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is drawn. As in mlx-lm, top-p, min-p and top-k use the distribution before temperature."""

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
    seed: int | None = None  # None: the engine chooses one, and Finished has it


@dataclass(frozen=True, slots=True)
class Speculation:
    mode: SpeculationMode = SpeculationMode.AUTO
    tokens: int = 4  # draft length of a round in fixed mode
    acceptance: Acceptance = Acceptance.COUPLED
    guarded: bool = False  # a fixed length pauses, as auto does, while it is slower than plain decoding
    insists: bool = False  # neither pauses: it is measured what drafts bring where they are slower

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
    """One reply to write. Give one of `messages` (rendered with the model's chat template), `tokens` and `text`."""

    messages: tuple[Message, ...] = ()
    tokens: tuple[int, ...] = ()
    text: str = ""  # continued as it is, without a template; its control tokens are control tokens
    sampling: Sampling = field(default_factory=Sampling)
    speculation: Speculation = field(default_factory=Speculation)
    max_tokens: int | None = None  # None: as far as the context goes
    context_tokens: int | None = None  # of prompt and reply, at most; None: the model's
    truncation: Truncation = Truncation.NONE
    kept: tuple[int, ...] = ()  # messages by index that are never left out, with the exchanges that they are in
    stop: tuple[str, ...] = ()
    thinking: bool = False  # for models whose template can switch it
    effort: Effort = Effort.NORMAL  # of thinking: as its template knows it; low is a limit of tokens where it does not
    thinking_tokens: int | None = None  # of thinking, at most, for models with `ends_thinking`; None: any number
    tools: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)  # JSON objects, for the template as they are
    may_call: bool = True  # False: no call is written, though the prompt has the tools, so that it stays the same
    several_calls: bool = True  # False: the first tool call ends the reply
    must_call: tuple[str, ...] = ()  # the answer is a call of one of these tools
    # Arguments for these match their parameters, with models that `holds_calls`, if those can be enforced.
    strict_tools: tuple[str, ...] = ()
    constraint: Constraint | None = None
    template_variables: Mapping[str, Any] = field(
        default_factory=dict, hash=False
    )  # more variables for the chat template
    prediction: str = ""  # what the reply will largely repeat, perhaps: a source of drafts
    trace: bool = False  # Finished lists the rounds
    logprobs: int | None = None  # top-k per position in TokensScored; None: not posted
    prompt_logprobs: bool = False  # it comes for the prompt too, which is read without kept caches for that
    transient: bool = False  # of no chat: uses no kept cache, leaves none, and drafts nothing
    background: bool = False  # runs only while no other request is queued or running
    guest: bool = False  # another program's: pauses while a request of the user's is queued or running
    picture_detail: PictureDetail = PictureDetail.NORMAL
    kv_bits: int | None = None  # of keys and values, one of KV_BITS; None: 8 where memory limits the context, else 16
    model: str = ""  # folder of the main model that it is for: with another it ends with MODEL_CHANGED; "": any
    shared_characters: int = 0  # of the system message, from its beginning: other conversations begin with them, too
    conversation: str = ""  # name of its chat for `ChatEngine.keep_only`; "": not affected by that
    owner: str = ""  # who asks: kept caches of others are not used for it, nor its own for theirs; "": the user

    @property
    def priority(self) -> int:
        """As in vLLM, the lower number goes first, and pauses requests of a higher one."""
        return BACKGROUND_PRIORITY if self.background else int(self.guest)


@dataclass(frozen=True, slots=True)
class TokenScore:
    """The model's own log-probability of a token: before bias, penalties, constraints, filters and temperature."""

    token: int
    text: bytes  # part of a character perhaps; b"" for the end of a reply
    logprob: float | None  # None for a prompt's first token
    likeliest: tuple[TokenScore, ...] = ()  # in its place; the likeliest first


@dataclass(frozen=True, slots=True)
class RoundTrace:
    """One round of a reply, in Finished if the request has `trace`."""

    position: int  # tokens committed before it, the prompt's included
    drafted: tuple[int, ...] = ()
    accepted: int = 0
    source: str = ""  # the proposer; "": plain


@dataclass(frozen=True, slots=True)
class DraftMark:
    """A segment of a reply's text whose drafted tokens were accepted, or one token where a draft was rejected.

    `start` and `end` count the characters of the request's text of one kind.
    """

    start: int
    end: int
    wanted: str | None = None  # None: accepted; else the text of the rejected token; "": an end token
    position: int = 0  # of the rejected token in its draft, from 1
    drafted: int = 0  # tokens of that draft
    round: int = 0  # that verified it, from 1

    @property
    def accepted(self) -> bool:
        return self.wanted is None


@dataclass(frozen=True, slots=True)
class DrafterInfo:
    """What a drafter needs of its main model; 0: not given."""

    kind: DrafterKind
    main_width: int  # of the hidden states that it is fed
    main_layers: int
    vocabulary_rows: int
    layers: tuple[int, ...]  # whose outputs it is fed, from 0; -1: the head's input


@dataclass(frozen=True, slots=True)
class CacheSizes:
    """Memory of a chat in a model."""

    token_bytes: int  # for each token of it
    fixed_bytes: int  # whatever its length: full windows, and recurrent states
    eight_bit_token_bytes: int = 0  # for each token with keys and values at 8 bits; 0: it has none at 8 bits

    def bytes_at(self, kv_bits: int) -> int:
        """For each token."""
        return (kv_bits == 8 and self.eight_bit_token_bytes) or self.token_bytes


class DeleteRefusal(StrEnum):
    """Why a model is not deleted."""

    STARTER = "starter"  # it comes with the program
    NOT_OURS = "not_ours"  # another program's, or in a folder that was added
    NO_MODEL = "no_model"
    IN_USE = "in_use"  # a reply is being written with it
    GONE = "gone"  # deleted or moved by another program, or its disk is not connected
    FORBIDDEN = "forbidden"  # by the rights of its folder
    READ_ONLY = "read_only"  # the disk
    LOCKED = "locked"  # by another program
    DISK = "disk"  # it failed otherwise


class FitLevel(StrEnum):
    FITS = "fits"
    TIGHT = "tight"  # it fits, but leaves little for anything else
    TOO_LARGE = "too_large"


@dataclass(frozen=True, slots=True)
class MemoryFit:
    """Whether a model and a chat of so many tokens fit this machine."""

    level: FitLevel
    needed_bytes: int
    available_bytes: int  # for models and chats together
    largest_context_tokens: int  # that fits; 0 if not even the weights do


@dataclass(frozen=True, slots=True)
class ModelAbout:
    """What a model's files say, for display."""

    family: str = ""  # "Qwen3"
    template: bool = False  # whether it has a chat template
    thinking: bool = False
    thinking_off: bool = False  # whether its template can switch that off
    efforts: tuple[Effort, ...] = ()  # beside the normal one, those that its template knows
    tools: bool = False  # whether its template takes tools, and its calls can be parsed
    languages: tuple[str, ...] = ()  # codes, as in "ko"
    licence: str = ""  # as the hub names it: "apache-2.0"
    speculates: bool = True  # False: its forward over several tokens differs from one by one
    made_for: str = ""  # a drafter's main model, if it names one


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a model's files say, read without loading it."""

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
    vocabulary_rows: int = 0  # with the padding of the output layer
    drafter: DrafterInfo | None = None  # set: not a chat model, it can only draft
    own_drafter: DrafterInfo | None = None  # a head in its own folder that drafts for it: set_draft(folder)
    caches: CacheSizes | None = None  # None: of a drafter, or not known
    about: ModelAbout = field(default_factory=ModelAbout)
    sparse: bool = False  # mixture of experts: a token uses only some of the weights
    loaded_bytes: int = 0  # of the weights in memory; 0: as many as in the files
    quantization: str = ""  # name of its method, if it has one: "MXFP4"
    sees: bool = False  # whether messages to it may have pictures
    calls_tools: bool = False  # whether requests to it may have tools; before it is loaded, by what its files say
    ends_thinking: bool = False  # whether its thinking can be limited, once it is loaded: its markers are known
    no_grammar: bool = False  # whether its tokenizer rules out `Request.constraint`, once it is loaded
    holds_calls: bool = False  # whether `Request.strict_tools` are held to, once it is loaded: its calls have a grammar

    def efforts(self, *, loaded: bool = True) -> tuple[Effort, ...]:
        """How much it can be asked to think. Not `loaded`: whether its thinking can be limited is not known yet."""
        known = {Effort.NORMAL, *self.about.efforts}
        if self.ends_thinking or not loaded:
            known.add(Effort.LOW)
        return tuple(effort for effort in Effort if effort in known) if self.about.thinking else ()


@dataclass(frozen=True, slots=True)
class ForwardTimes:
    """Forward times of a main model on this machine."""

    weight_bytes: int
    sparse: bool
    by_width: tuple[tuple[int, float], ...]  # (tokens, seconds)


@dataclass(frozen=True, slots=True)
class EngineState:
    """What the engine has and does, by the events posted so far."""

    main: ModelInfo | None = None
    draft: ModelInfo | None = None
    loading_main: str | None = None  # the folder
    loading_draft: str | None = None
    again_at: float | None = None  # when a main model that was lost is loaded again, in seconds of `time.monotonic`
    queued: tuple[RequestId, ...] = ()
    running: tuple[RequestId, ...] = ()
    background: tuple[RequestId, ...] = ()  # of queued and running, those that yield to the others
    guests: tuple[RequestId, ...] = ()  # of queued and running, other programs'; they yield to the user's
    drafting: DraftingState = DraftingState.NO_DRAFT  # of the latest reply with an event
    choice: ModeChoice | None = None  # how the main model runs over several ranks; None: in this process alone

    @property
    def foreground(self) -> tuple[RequestId, ...]:
        """The requests that a user waits for: running ones, then queued ones."""
        others = {*self.background, *self.guests}
        return tuple(each for each in (*self.running, *self.queued) if each not in others)


@dataclass(frozen=True, slots=True)
class Limits:
    """The range of a number: one definition for checks and for what the app offers."""

    low: float
    high: float = inf
    or_zero: bool = False  # 0 is allowed below `low`: off
    whole: bool = False

    def allow(self, value: float) -> bool:
        """False for NaN and infinity."""
        return value < inf and (self.low <= value <= self.high or (self.or_zero and value == 0))

    def nearest(self, value: float) -> float:
        """`value` if allowed; below `low` 0, if that is allowed; else the nearer limit."""
        if self.allow(value):
            return value
        return 0.0 if self.or_zero and value < self.low else min(max(value, self.low), self.high)

    def __str__(self) -> str:
        high = "" if self.high == inf else _shown(self.high)
        return f"{'0 | ' if self.or_zero else ''}{_shown(self.low)}..{high}"


# By the fields of `Sampling`. Lower limits above 0 keep quotients and logarithms within float32.
SAMPLING_LIMITS: Mapping[str, Limits] = {
    "temperature": Limits(0.001, 10, or_zero=True),
    "top_p": Limits(1e-6, 1, or_zero=True),
    "top_k": Limits(0, whole=True),
    "min_p": Limits(0, 1),
    "repetition_penalty": Limits(0.01, 10),
    "presence_penalty": Limits(-10, 10),
    "frequency_penalty": Limits(-10, 10),
    "xtc_probability": Limits(0, 1),
    "xtc_threshold": Limits(0, 0.5),
    "seed": Limits(0, MAX_SEED, whole=True),
}


def _shown(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:.6f}".rstrip("0").rstrip(".")
