"""From a folder to a model that can run: checks first, then mlx-lm's loader, every failure as a typed error.

Files that mlx-lm and transformers open themselves must be plain files of limited size, with a limited number of added
tokens. Runs on the engine thread only. Never executes code from a model's folder.
"""

from __future__ import annotations

import glob
import hashlib
import importlib.util
import inspect
import re
import sys
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PosixPath
from stat import S_ISDIR, S_ISREG
from typing import Any, Protocol

import mlx.core as mx
import mlx.nn as nn
from huggingface_hub.errors import StrictDataclassError
from mlx.utils import tree_flatten
from mlx_lm import utils as mlx_utils
from transformers import CONFIG_MAPPING, PreTrainedConfig, PreTrainedTokenizerBase

from engine.api.errors import (
    CannotSee,
    DraftCannotRewind,
    EngineError,
    ModelChanged,
    ModelDamaged,
    ModelNotFound,
    ModelOnlyDrafts,
    ModelTooLarge,
    ModelUnsupported,
    OutOfMemory,
    TokenizerBroken,
    as_engine_error,
)
from engine.api.modes import ModeChoice, RankMode
from engine.api.types import Effort, ModelInfo
from engine.caches.base import CacheSet
from engine.caches.making import CacheMaker, eight_bits_of, wide_layers
from engine.models.access import NoAccess
from engine.models.compatibility import token_map
from engine.models.control_words import ControlWords
from engine.models.declared import adopt_declared
from engine.models.effort import EffortVariables
from engine.models.first_use import FirstUse
from engine.models.fit import LEAST_CONTEXT_TOKENS
from engine.models.inspect import WEIGHTS, inspect_model, tower_bytes, weight_tensors
from engine.models.memory import MemoryNeed, available_bytes, memory_need, most_bytes
from engine.models.model_files import (
    CONFIG_LIMIT_BYTES,
    INDEX_LIMIT_BYTES,
    TEMPLATE_LIMIT_BYTES,
    TOKENIZER_CONFIG_LIMIT_BYTES,
    TOKENIZER_LIMIT_BYTES,
    FileError,
    JsonObject,
    entries,
    object_at,
    object_in,
    stamp,
    start_of,
)
from engine.models.mtp_families import head_to_leave_out
from engine.models.numbers import MOST_ADDED, check_groups, check_read_numbers
from engine.models.templates import ChatTemplate
from engine.models.token_map import TokenMap
from engine.models.vision_config import VisionConfig, encoding_bytes, read_vision_config
from engine.models.vocabulary import backend_of
from engine.models.watch import Aborted, Question, TooLong, never, watched

# WORKAROUND: on a CPU, MLX has g++ compile small kernels at run time into a folder of /tmp that belongs to the
# machine's first user: for other users replies fail. MEASURED: without it a token takes as long (11.4 against 11.3 ms).
if mx.default_device() == mx.cpu:
    mx.disable_compile()


# WORKAROUND: in the first thread that uses MLX, a failed read is raised while work is queued (0.32.4). A task may have
# been counted by then that is never run; with two of those `mx.eval` may wait for ever. In other threads `mx.eval`
# raises it.
def _use_mlx(used: threading.Event) -> None:
    mx.synchronize(mx.default_stream(mx.cpu))
    mx.clear_streams()
    used.set()
    threading.Event().wait()  # the id of a thread that ended may be used again


_used = threading.Event()
threading.Thread(target=_use_mlx, args=(_used,), name="first to use MLX", daemon=True).start()
_used.wait()

# mlx-lm's parsers of calls for which `decoding/call_grammars.py` has a grammar.
KNOWN_CALLS = frozenset({"json_tools", "mistral", "qwen3_coder", "glm47", "gemma4"})
_HANDFUL_BYTES = 64 << 20
_LEAST_HANDFULS = 32  # of a small model, so that what is read of it at a time is little beside it
_MODULE_NAME = re.compile(r"[A-Za-z0-9_-]+")
_BUILDING_S = 20.0  # of processor time; the largest models take about one
# Modules that a network may have beside one for each weight: activations, rotations.
_PARTS_A_TENSOR = 8
_PARTS_BESIDE = 256

_NEW_PART = nn.Module.__init__.__code__
MOST_ENDS = 1024
MOST_NAMED = 2**14  # special tokens: transformers compares each with all before it
_TEMPLATES = "additional_chat_templates"
_MOST_TEMPLATES = 64
_SUFFIXES = {".json", ".jsonl", ".jinja", ".txt", ".model", ".tiktoken", ".spm", ".vocab", ".bpe", ".codes"}
_LIMITS: Mapping[str, int] = {
    "config.json": CONFIG_LIMIT_BYTES,
    "generation_config.json": CONFIG_LIMIT_BYTES,
    "hf_quant_config.json": CONFIG_LIMIT_BYTES,
    "tokenizer_config.json": TOKENIZER_CONFIG_LIMIT_BYTES,
    "special_tokens_map.json": TOKENIZER_CONFIG_LIMIT_BYTES,
    "added_tokens.json": TOKENIZER_CONFIG_LIMIT_BYTES,
    "model.safetensors.index.json": INDEX_LIMIT_BYTES,
}


class DraftTranslation:
    """A `TokenMap` for arrays: a draft's logits over the main model's vocabulary, and drafted tokens as the draft's.

    Tokens that the draft does not have get -inf. So every drafted token is one of the main model's, drawn with the
    noise of its position.
    """

    def __init__(self, tokens: TokenMap, main_rows: int) -> None:
        self.tokens = tokens
        single = tokens.single
        self._source = mx.array([single.get(token, 0) for token in range(main_rows)], dtype=mx.uint32)
        self._shared = mx.array([token in single for token in range(main_rows)])
        mx.eval(self._source, self._shared)

    def logits(self, logits: mx.array) -> mx.array:
        """The draft's `logits` (n, draft rows) over the main model's tokens (n, main rows)."""
        return mx.where(self._shared, mx.take(logits, self._source, axis=-1), mx.array(-mx.inf, logits.dtype))

    def drafted(self, tokens: mx.array) -> mx.array:
        """Drafted `tokens` (n,) of the main model, as tokens of the draft."""
        return self._source[tokens]


@dataclass(frozen=True, slots=True)
class EightBits:
    """A model's caches with keys and values at 8 bits, and what they need."""

    make_caches: Callable[[], CacheSet]
    need: MemoryNeed


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A network with its tokenizer, both mlx-lm's own objects."""

    info: ModelInfo
    network: Any
    tokenizer: Any
    logit_width: int  # rows of the output layer, padding included
    make_caches: Callable[[], CacheSet]
    need: MemoryNeed
    identity: str  # of its files: caches of other files do not fit
    template: ChatTemplate | None = None  # None: none, or a renderer of mlx-lm's or transformers' own
    # Generation-prompt length in tokens by thinking flag and effort (cache).
    announcements: dict[tuple[bool, Effort], int] = field(default_factory=dict, compare=False, repr=False)
    vocabularies: list[Any] = field(default_factory=list, compare=False, repr=False)  # for grammars
    control_words: ControlWords = field(default_factory=ControlWords, compare=False, repr=False)
    unsaid: tuple[str, ...] = ()  # marks in its replies that are no part of an answer
    translation: DraftTranslation | None = None  # of a draft with another vocabulary than its main model
    eight_bits: EightBits | None = None  # None: its caches have no rows that can be coded, or are elsewhere, too
    vision: VisionConfig | None = None  # None: text only
    ranks: int = 1  # processes that hold its layers, this one included
    choice: ModeChoice | None = None  # how it runs over several ranks
    first_layer: int = 0  # index of the first layer that is in this process
    # Around forwards that need only the layers of this process, so the others run none.
    alone: Callable[[], AbstractContextManager[None]] = field(default=nullcontext, compare=False, repr=False)
    close: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)  # ends the other processes
    # Why it has to be loaded again; None: it works.
    lost: Callable[[], EngineError | None] = field(default=lambda: None, compare=False, repr=False)
    # Whether the other processes' memory has become short since the last call.
    short: Callable[[], bool] = field(default=lambda: False, compare=False, repr=False)
    # Caches of other modules about this model, by their own keys.
    beside: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def with_eight_bits(self) -> LoadedModel:
        """The same network with keys and values at 8 bits; itself if it has none."""
        if self.eight_bits is None:
            return self
        kept = self.eight_bits
        identity = f"{self.identity}-kv8"
        return replace(self, make_caches=kept.make_caches, need=kept.need, identity=identity, eight_bits=None)

    @property
    def has_states(self) -> bool:
        """Whether hidden states of all layers can be had here."""
        return self.ranks == 1 or (self.choice is not None and self.choice.mode is RankMode.TENSOR)

    @property
    def ends(self) -> frozenset[int]:
        """Tokens that end a reply."""
        return frozenset(self.tokenizer.eos_token_ids)

    @property
    def thinking_end(self) -> tuple[int, ...]:
        """The tokens of the marker that ends thinking; () if thinking cannot be ended."""
        tokens = tuple(self.tokenizer.think_end_tokens) if self.tokenizer.has_thinking else ()
        forcible = all(0 <= token < self.logit_width for token in tokens) and not self.ends & {*tokens}
        return tokens if forcible else ()

    @property
    def effort(self) -> EffortVariables:
        return EffortVariables() if self.template is None else self.template.effort

    @property
    def call_opener(self) -> int | None:
        """The token that opens tool calls, if there is a grammar of them; else None."""
        parser = self.tokenizer.tool_parser
        tokens = self.tokenizer.tool_call_start_tokens
        known = parser is not None and parser.__module__.rpartition(".")[2] in KNOWN_CALLS
        return int(tokens[0]) if known and tokens and len(tokens) == 1 else None

    @property
    def source(self) -> str:
        """The name of its drafts, when it is the draft."""
        return self.info.drafter.kind if self.info.drafter is not None else "draft"


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """Bytes of the weights in memory so far; the first one of a load comes before any weight is read."""

    done_bytes: int
    total_bytes: int


# A load yields None or a Progress between its slices. (With their union, mypy wants a value at every bare `yield`.)
Slices = Generator[Any, None, LoadedModel]


def loading_draft(folder: Path | str, main: LoadedModel, aborted: Question = never) -> Slices:
    """Load one that is to draft for `main`, in slices, between which the main model's replies may go on."""
    path = Path(folder).absolute()
    inspect_model(path)
    yield
    require_unchanged(main.info.folder, main.identity)
    tokens = token_map(Path(main.info.folder), path)
    yield
    draft = yield from loading(path, main, aborted)
    if not draft.make_caches().can_roll_back:
        raise DraftCannotRewind(draft.info.folder, draft.info.model_type)
    if draft.logit_width <= tokens.highest if tokens is not None else draft.logit_width < main.logit_width:
        tokens = token_map(Path(main.info.folder), path, draft.logit_width)
    yield
    return draft if tokens is None else replace(draft, translation=DraftTranslation(tokens, main.logit_width))


def loading(
    folder: Path | str,
    main: LoadedModel | None = None,
    aborted: Question = never,
    first_use: FirstUse | None = None,
    on_try: Callable[[], None] = lambda: None,
    front: Front | None = None,
) -> Slices:
    """Load a model's folder, in slices. Raises a ModelError if it cannot be used.

    A draft has to fit beside `main`, and shares its tokenizer. `front`: some of its layers are elsewhere.

    A slice raises Aborted soon after `aborted` returns True. With `first_use`, a tokenizer that is new here is tried in
    another process first; `on_try` is called when that begins.
    """
    path = Path(folder).absolute()  # mlx-lm takes a relative name for a hub's repository
    info = checked(path)
    yield
    if first_use is not None and main is None:
        yield from first_use.check(path, on_try)
    if front is not None:
        yield from front.begin()
    vision = _vision_of(info) if main is None and front is None else None  # a draft reads text only
    part = yield from reading(info, main, aborted, vision, None if front is None else front.cut)
    make_caches = part.make_caches if front is None else (yield from front.joined(part))
    yield
    width = guarded(info.folder, ModelDamaged, aborted, lambda: _logit_width(part.network))
    yield
    read_text = partial(guarded, info.folder, TokenizerBroken, aborted)
    tokenizer = main.tokenizer if main is not None else read_text(lambda: _load_tokenizer(path, width))
    template = read_text(lambda: _chat_template(tokenizer))
    unsaid = read_text(lambda: adopt_declared(tokenizer)) if main is None else ()
    if inspect_model(path) != info or model_identity(path, info) != part.identity:
        raise ModelChanged(info.folder)
    identity = part.identity if front is None else front.identity_of(part)
    model = LoadedModel(info, part.network, tokenizer, width, make_caches, part.need, identity, template, vision=vision)
    model = replace(model, eight_bits=part.eight_bits)
    calls = tokenizer.has_tool_calling and (template is None or template.takes_tools)
    info = replace(info, ends_thinking=bool(model.thinking_end), calls_tools=calls)
    info = replace(info, holds_calls=model.call_opener is not None)
    info = replace(info, no_grammar=backend_of(tokenizer) is None or not model.ends)
    words = main.control_words if main is not None else read_text(lambda: ControlWords.of(tokenizer))
    info = replace(info, sees=info.sees and front is None)
    if main is None and template is not None:
        info = replace(info, about=replace(info.about, efforts=_efforts_that_differ(template, aborted)))
    return replace(model, control_words=words, unsaid=unsaid, info=info)


def _efforts_that_differ(template: ChatTemplate, aborted: Question) -> tuple[Effort, ...]:
    """Of those that the template names: some are what it does anyway, and some it refuses."""
    turns = [{"role": "user", "content": "x"}]
    prompts: dict[Effort, str | None] = {}
    levels = template.effort.levels
    for effort in (Effort.NORMAL, *levels) if levels else ():
        variables = {"enable_thinking": True, **template.effort.at(effort, thinks=True)}
        try:
            prompts[effort] = template.render(turns, aborted=aborted, add_generation_prompt=True, **variables)
        except (Exception, TooLong):  # noqa: BLE001  a template may raise anything
            prompts[effort] = None
    return tuple(effort for effort in levels if prompts[effort] not in (None, prompts[Effort.NORMAL]))


@dataclass(frozen=True, slots=True)
class LoadedPart:
    """A network with its weights loaded, or those of its own layers."""

    network: Any
    make_caches: Callable[[], CacheSet]
    need: MemoryNeed
    identity: str
    eight_bits: EightBits | None  # None over several processes, which make caches of one kind


class Held(Protocol):
    """What a process holds of a network that runs in several."""

    def parameters(self) -> Any:
        """To be read at once; others are read when a forward needs them."""

    def need(self, whole: MemoryNeed) -> MemoryNeed:
        """Of this process, where `whole` is that of all that is left in the network."""


class Front(Protocol):
    """A load over several processes, of which this one has the head."""

    def begin(self) -> Generator[Any, None, None]:
        """In slices; the other processes begin to load."""

    def cut(self, network: Any) -> Held:
        """Remove from an unevaluated network what other processes have."""

    def joined(self, part: LoadedPart) -> Generator[Any, None, Callable[[], CacheSet]]:
        """Wait, in slices, until the others have loaded; then forwards run through all. Returns the caches."""

    def identity_of(self, part: LoadedPart) -> str: ...


def checked(path: Path) -> ModelInfo:
    """The folder's ModelInfo. Raises if it has no main model or draft, or files that must not be opened."""
    info = inspect_model(path)
    if info.drafter is not None:
        raise ModelOnlyDrafts(info.folder, info.drafter.kind)
    _check_files(info)
    return info


def reading(
    info: ModelInfo,
    beside: LoadedModel | None = None,
    aborted: Question = never,
    vision: VisionConfig | None = None,
    cut: Callable[[Any], Held] | None = None,
) -> Generator[Any, None, LoadedPart]:
    """The network of a checked folder, in slices as `loading`; after `cut`, with what that has left only."""
    path = Path(info.folder)
    read = partial(guarded, info.folder, ModelDamaged, aborted)
    _check_architecture(info)
    identity = model_identity(path, info)
    network = read(lambda: _build_network(path), builds=path)
    yield
    held: Held | None = None if cut is None else read(lambda: cut(network))
    tower = (0, 0) if vision is None else read(lambda: _tower_need(path, vision))
    make_caches = read(lambda: CacheMaker(network))
    need = read(lambda: memory_need(network, make_caches().layers).with_tower(*tower))
    if held is not None:
        need = held.need(need)
    eight_bits = read(lambda: _eight_bits(network, tower)) if cut is None else None
    check_memory(info, need if eight_bits is None else eight_bits.need, beside)
    for weights, progress in handfuls(network if held is None else held):
        yield progress
        read(partial(mx.eval, weights))
    if eight_bits is not None:
        eight_bits = read(lambda: _eight_bits(network, tower, wide_layers(network)))
    return LoadedPart(network, make_caches, need, identity, eight_bits)


def _tower_need(path: Path, vision: VisionConfig) -> tuple[int, int]:
    return (2 if widens() else 1) * tower_bytes(path), encoding_bytes(vision)


def _eight_bits(network: Any, tower: tuple[int, int], wide: Collection[int] = ()) -> EightBits | None:
    kind = eight_bits_of(network)
    if kind is None:
        return None
    make_caches = CacheMaker(network, kind, wide)
    return EightBits(make_caches, memory_need(network, make_caches().layers).with_tower(*tower))


def handfuls(network: Any) -> Iterator[tuple[list[mx.array], LoadProgress]]:
    """The weights, not evaluated, in portions that take about as long as a round, each with the progress before it."""
    held = list[mx.array]()
    done = 0
    weights: list[tuple[str, mx.array]] = tree_flatten(network.parameters())  # type: ignore[assignment]
    total = sum(weight.nbytes for _, weight in weights)
    most = min(_HANDFUL_BYTES, total // _LEAST_HANDFULS)
    for _, weight in weights:
        held.append(weight)
        if (size := sum(array.nbytes for array in held)) >= most:
            yield held, LoadProgress(done, total)
            held = []
            done = done + size
    yield held, LoadProgress(done, total)


def model_identity(folder: Path, info: ModelInfo) -> str:
    """A digest of the very files: a replaced file has another time or inode.

    Hashing gigabytes of weights would take as long as loading them; the small files are hashed. Raises ModelNotFound if
    the folder was removed.
    """
    try:
        small = (start_of(folder / "config.json", CONFIG_LIMIT_BYTES), info.vocabulary_digest)
        weights = [(file.name, *stamp(file.stat())) for file in sorted(folder.glob(WEIGHTS))]
    except FileNotFoundError as error:
        raise ModelNotFound(str(folder)) from error
    return hashlib.blake2b(repr((small, weights)).encode(), digest_size=16).hexdigest()


def require_unchanged(folder: str, identity: str) -> None:
    """Raises ModelChanged if the folder of a model with this `LoadedModel.identity` now holds other files."""
    path = Path(folder)
    if model_identity(path, inspect_model(path)) != identity.partition("-")[0]:  # after it: how it is split
        raise ModelChanged(folder)


def _vision_of(info: ModelInfo) -> VisionConfig | None:
    """The vision part; None: text only. If its small files are damaged, a request with pictures is refused later."""
    with suppress(CannotSee):
        return read_vision_config(info.folder) if info.sees else None
    return None


def release_memory() -> None:
    """Free the memory of dropped models and caches. None of it is in a cycle, so no garbage collection is needed."""
    mx.clear_cache()


def _check_files(info: ModelInfo) -> None:
    try:
        check_files(Path(info.folder))
    except (FileError, OSError) as error:
        raise ModelDamaged(info.folder, str(error)) from error


def _check_architecture(info: ModelInfo) -> None:
    module = mlx_utils.MODEL_REMAPPING.get(info.model_type, info.model_type)
    known = _MODULE_NAME.fullmatch(module) and importlib.util.find_spec(f"mlx_lm.models.{module}")
    if not known:
        raise ModelUnsupported(info.folder, info.model_type)


def check_memory(info: ModelInfo, need: MemoryNeed, beside: LoadedModel | None) -> None:
    """Raise ModelTooLarge unless the model fits beside the other one, each with a chat of the least useful length."""
    context = min(info.context_tokens, LEAST_CONTEXT_TOKENS)
    needed = need.at(context)
    in_all = available_bytes()
    available = in_all - (_held_bytes(beside) if beside is not None else 0)
    if needed > available:
        raise ModelTooLarge(info.folder, needed, max(0, available), context, max(0, most_bytes() - in_all))


def has_room(weight_bytes: int, *beside: LoadedModel) -> bool:
    """Whether this many bytes of weights can be loaded beside those models, each with a chat."""
    return weight_bytes + sum(map(_held_bytes, beside)) <= available_bytes()


def _held_bytes(model: LoadedModel) -> int:
    need = model.need if model.eight_bits is None else model.eight_bits.need
    return need.at(min(model.info.context_tokens, LEAST_CONTEXT_TOKENS))


def widens() -> bool:
    """Whether half precision is computed in float32. MEASURED: in half precision the CPU backend takes nine times as
    long, and rounds by width.
    """
    return bool(mx.default_device() == mx.cpu)


def most_parts(path: Path) -> int:
    """Most modules of a network: with more, its config does not match these weights."""
    return _PARTS_BESIDE + _PARTS_A_TENSOR * weight_tensors(path)


class _Literal(PosixPath):
    # WORKAROUND: mlx-lm gives the whole path to `glob`. For a folder "m[1]" that finds no weights, or those of "m1".
    def __truediv__(self, name: str) -> Path:  # type: ignore[override]
        return Path(glob.escape(str(self)) if "*" in name else self, name)


def _build_network(path: Path) -> Any:
    """The network, with its weights not loaded yet."""
    check_groups(object_in(path / "hf_quant_config.json", CONFIG_LIMIT_BYTES))
    network, _ = mlx_utils.load_model(
        _Literal(path), lazy=True, get_model_classes=_classes_that_check, trust_remote_code=False
    )
    if widens():
        network.set_dtype(mx.float32)
    network.eval()
    return network


def checked_classes(config: JsonObject) -> tuple[type, type]:
    """mlx-lm's classes for a config whose numbers are checked."""
    network, arguments = mlx_utils._get_classes(config)  # noqa: SLF001  the default of the parameter
    check_read_numbers(config, inspect.signature(arguments).parameters)
    check_groups(config)
    return network, arguments


def _classes_that_check(config: JsonObject) -> tuple[type, type]:
    """mlx-lm's classes, but the network checks how its tensors are packed, and drops an MTP head if mlx-lm keeps it."""
    network, arguments = checked_classes(config)
    is_head = head_to_leave_out(config)
    theirs = getattr(network, "sanitize", None)

    def sanitize(self: Any, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        if is_head is not None:
            weights = {name: weight for name, weight in weights.items() if not is_head(name)}
        if theirs is not None:
            weights = theirs(self, weights)
        _check_packings(self, weights)
        return weights

    return type(network.__name__, (network,), {"sanitize": sanitize, "__module__": network.__module__}), arguments


def _check_packings(network: nn.Module, weights: dict[str, mx.array]) -> None:
    """Raises ValueError for more scales than numbers, which mlx-lm would take for groups of 0 (see `check_groups`)."""
    for name, module in network.named_modules():
        scales = weights.get(f"{name}.scales")
        groups_at = 0 if f"{name}.qweight" in weights else -1  # AWQ and GPTQ are turned round afterwards
        if scales is not None and hasattr(module, "to_quantized") and scales.shape[groups_at] > module.weight.shape[-1]:
            raise ValueError(f"{name}.scales {scales.shape} of a width of {module.weight.shape[-1]}")


def _logit_width(network: Any) -> int:
    """Width of the logits. Runs one token through the network, which proves that it works at all."""
    logits = network(mx.array([[0]]))
    mx.eval(logits)
    return int(logits.shape[-1])


def _load_tokenizer(path: Path, width: int) -> Any:
    """The tokenizer, without end tokens outside the network's vocabulary."""
    config = mlx_utils.load_config(path)
    eos = _token_ids(config.get("eos_token_id"), width)
    load = partial(mlx_utils.load_tokenizer, path, eos_token_ids=eos)
    try:
        tokenizer = load({"trust_remote_code": False})
    except StrictDataclassError:  # transformers refuses a config that mlx-lm reads, such as lists with a head's layer
        tokenizer = load({"trust_remote_code": False, "config": _usual_config(str(config.get("model_type")))})
    tokenizer.eos_token_ids = _token_ids(list(tokenizer.eos_token_ids), width)
    tokenizer.encode("")
    texts = getattr(tokenizer._detokenizer, "tokenmap", [])  # noqa: SLF001  each reply copies it
    if texts and isinstance(texts[0], bytes):  # SentencePiece's, which raises for the padding of the output layer
        texts += [b""] * (width - len(texts))
    return tokenizer


def _usual_config(model_type: str) -> PreTrainedConfig:
    """A config with the model type alone, which is all that a tokenizer needs."""
    return CONFIG_MAPPING[model_type]() if model_type in CONFIG_MAPPING else PreTrainedConfig()


def _token_ids(value: object, width: int) -> list[int] | None:
    """The valid tokens of an entry; None if it has none."""
    values = value if isinstance(value, list) else [value]
    return [each for each in values if type(each) is int and 0 <= each < width] if value is not None else None


def _chat_template(tokenizer: Any) -> ChatTemplate | None:
    """The folder's own template, which is not trusted; None if code of mlx-lm or transformers renders chats."""
    theirs = tokenizer._tokenizer  # noqa: SLF001  mlx-lm's wrapper does not forward names with an underscore
    known = tokenizer._chat_template is not None or (  # noqa: SLF001
        type(theirs).apply_chat_template is not PreTrainedTokenizerBase.apply_chat_template
    )
    if known or theirs.chat_template is None:
        return None
    return ChatTemplate(theirs.get_chat_template(), theirs.special_tokens_map)


def guarded(
    folder: str,
    failure: type[ModelDamaged] | type[TokenizerBroken],
    aborted: Question,
    load: Callable[[], Any],
    builds: Path | None = None,
) -> Any:
    """What `load` returns, within limits of time, and of parts where it `builds` the network of a folder. Every error
    that is not typed is a `failure`, unless the memory is full or the folder was deleted.
    """
    try:
        most = sys.maxsize if builds is None else most_parts(builds)
        with watched(_BUILDING_S, aborted, _NEW_PART, most):
            return load()
    except (EngineError, Aborted, NoAccess):
        raise
    except SystemExit as error:  # one of mlx-lm's model files exits the process if a package is missing
        raise ModelUnsupported(folder, str(error)) from error
    except BaseException as error:
        if isinstance(known := as_engine_error(error), OutOfMemory):
            raise known from error
        if not Path(folder).is_dir():
            raise ModelNotFound(folder) from error
        raise failure(folder, f"{type(error).__name__}: {error}"[:500]) from error


def check_files(folder: Path) -> None:
    """Raises FileError, or an OSError."""
    for path in (*folder.iterdir(), *_templates(folder / _TEMPLATES)):
        if path.suffix in _SUFFIXES:
            _check_file(path)
    for name in ("config.json", "generation_config.json"):
        _check_ends(folder / name)
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        _check_lists(folder / name)
    _check_count("added_tokens.json", "added tokens", len(_content(folder / "added_tokens.json")), MOST_ADDED)


def _templates(folder: Path) -> Iterator[Path]:
    found = list(folder.iterdir()) if folder.is_dir() else []
    _check_count(folder.name, "files", len(found), _MOST_TEMPLATES)
    yield from found


def _check_file(path: Path) -> None:
    try:
        stat = path.stat()
    except FileNotFoundError:  # a broken link, which is never opened
        return
    if S_ISDIR(stat.st_mode):
        return
    if not S_ISREG(stat.st_mode):
        raise FileError(f"{path.name}: not a file")
    limit = TEMPLATE_LIMIT_BYTES if path.suffix == ".jinja" else _LIMITS.get(path.name, TOKENIZER_LIMIT_BYTES)
    if stat.st_size > limit:
        raise FileError(f"{path.name}: larger than {limit} bytes")


def _check_ends(path: Path) -> None:
    config = _content(path)
    for part in (config, object_at(config, "text_config")):
        _check_count(path.name, "end tokens", len(entries(part, "eos_token_id")), MOST_ENDS)


def _check_lists(path: Path) -> None:
    for key, value in _content(path).items():
        if isinstance(value, list | dict):
            _check_count(path.name, key[:100], len(value), MOST_ADDED if key == "added_tokens_decoder" else MOST_NAMED)


def _content(path: Path) -> JsonObject:
    return object_in(path, _LIMITS[path.name])  # what a file that cannot be read means is its reader's to decide


def _check_count(name: str, what: str, count: int, most: int) -> None:
    if count > most:
        raise FileError(f"{name}: {count} {what}, more than {most}")
