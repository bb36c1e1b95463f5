"""From a folder to a model that can run: its network (`networks.py`), tokenizer and template, every failure typed.

Runs on the engine thread only. Never executes code from a model's folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import mlx.core as mx
from huggingface_hub.errors import StrictDataclassError
from mlx_lm import utils as mlx_utils
from mlx_lm.tokenizer_utils import BPEStreamingDetokenizer, NaiveStreamingDetokenizer
from tokenizers.decoders import ByteLevel
from transformers import CONFIG_MAPPING, PreTrainedConfig, PreTrainedTokenizerBase

from engine.api.errors import CannotSee, DraftCannotRewind, EngineError, ModelChanged, ModelDamaged, TokenizerBroken
from engine.api.modes import ModeChoice, RankMode
from engine.api.types import Effort, ModelInfo
from engine.caches.base import CacheSet
from engine.caches.hooks import hooked_for_good
from engine.models.compatibility import token_map
from engine.models.control_words import ControlWords
from engine.models.declared import ReplyMarks, read_marks
from engine.models.effort import EffortVariables
from engine.models.first_use import FirstUse
from engine.models.fit import LEAST_CONTEXT_TOKENS
from engine.models.inspect import inspect_model
from engine.models.memory import MemoryNeed
from engine.models.model_files import CONFIG_LIMIT_BYTES, entries, object_in
from engine.models.networks import EightBits, Held, LoadedPart, checked, guarded, model_identity, reading
from engine.models.template_files import DEFAULT, templates_in
from engine.models.templates import ChatTemplate
from engine.models.token_map import TokenMap
from engine.models.vision_config import VisionConfig, read_vision_config
from engine.models.vocabulary import backend_of
from engine.models.watch import Question, TooLong, never

# mlx-lm's parsers of calls for which `decoding/call_grammars.py` has a grammar.
KNOWN_CALLS = frozenset({"json_tools", "mistral", "qwen3_coder", "glm47", "gemma4"})
_SPACE = "Ġ"  # as vocabularies of bytes spell it
# Entries of configs with tokens that stand for pictures and sounds in prompts.
_PLACES = re.compile(r"(?:image|audio|video|bo[ia]|eo[ia])_token_(?:id|index)")


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
    control_words: ControlWords = field(default_factory=ControlWords, compare=False, repr=False)
    marks: ReplyMarks = field(default_factory=ReplyMarks)  # in its replies
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
    def held_bytes(self) -> int:
        """With a chat of the least useful length."""
        need = self.need if self.eight_bits is None else self.eight_bits.need
        return need.at(min(self.info.context_tokens, LEAST_CONTEXT_TOKENS))

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
        tokens = () if self.marks.thinking is None else self.marks.thinking.closing
        forcible = all(0 <= token < self.logit_width for token in tokens) and not self.ends & {*tokens}
        return tokens if forcible else ()

    @property
    def effort(self) -> EffortVariables:
        return EffortVariables() if self.template is None else self.template.effort

    @property
    def call_opener(self) -> int | None:
        """The token that opens tool calls, if there is a grammar of them; else None."""
        opening = self.marks.calls.opening if self.marks.calls is not None and self.marks.parser in KNOWN_CALLS else ()
        return opening[0] if len(opening) == 1 else None

    @property
    def source(self) -> str:
        """The name of its drafts, when it is the draft."""
        return self.info.drafter.kind if self.info.drafter is not None else "draft"


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
    vision = _vision_of(info) if main is None and front is None else None  # a draft reads text only
    beside_bytes = 0 if main is None else main.held_bytes
    if front is None:
        part = yield from reading(info, beside_bytes, aborted, vision)
        make_caches = part.make_caches
    else:
        part = yield from reading(info, beside_bytes, aborted, vision, front.cut, front.begin)
        make_caches = yield from front.joined(part)
    yield
    width = guarded(info.folder, ModelDamaged, aborted, lambda: _logit_width(part.network))
    yield
    read_text = partial(guarded, info.folder, TokenizerBroken, aborted)
    tokenizer = main.tokenizer if main is not None else read_text(lambda: _load_tokenizer(path, width))
    template = main.template if main is not None else read_text(lambda: _chat_template(tokenizer, path))
    marks = main.marks if main is not None else read_text(lambda: _marks_of(tokenizer, template))
    if inspect_model(path) != info or model_identity(path, info) != part.identity:
        raise ModelChanged(info.folder)
    if main is None:
        read_text(lambda: _rule_out_places(path, part.network, width, tokenizer.eos_token_ids))
    identity = part.identity if front is None else front.identity_of(part)
    model = LoadedModel(info, part.network, tokenizer, width, make_caches, part.need, identity, template, vision=vision)
    model = replace(model, eight_bits=part.eight_bits, marks=marks)
    calls = marks.calls is not None and (template is None or template.takes_tools)
    info = replace(info, ends_thinking=bool(model.thinking_end), calls_tools=calls)
    info = replace(info, holds_calls=model.call_opener is not None)
    info = replace(info, no_grammar=backend_of(tokenizer) is None or not model.ends)
    words = main.control_words if main is not None else read_text(lambda: ControlWords.of(tokenizer))
    info = replace(info, sees=info.sees and front is None)
    if main is None and template is not None:
        info = replace(info, about=replace(info.about, efforts=_efforts_that_differ(template, aborted)))
    return replace(model, control_words=words, info=info)


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


class Front(Protocol):
    """A load over several processes, of which this one has the head."""

    def begin(self) -> None:
        """The other processes begin to load: some may be on this machine, whose memory the former pair had."""

    def cut(self, network: Any) -> Held:
        """Remove from an unevaluated network what other processes have."""

    def joined(self, part: LoadedPart) -> Generator[Any, None, Callable[[], CacheSet]]:
        """Wait, in slices, until the others have loaded; then forwards run through all. Returns the caches."""

    def identity_of(self, part: LoadedPart) -> str: ...


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


def _logit_width(network: Any) -> int:
    """Width of the logits. Runs one token through the network, which proves that it works at all."""
    logits = network(mx.array([[0]]))
    mx.eval(logits)
    return int(logits.shape[-1])


def _rule_out_places(path: Path, network: Any, width: int, ends: Collection[int]) -> None:
    """No reply has what stands for a picture or a sound, or is suppressed by the folder: some models write it into
    plain text now and then.
    """
    config = mlx_utils.load_config(path)
    suppressed = entries(object_in(path / "generation_config.json", CONFIG_LIMIT_BYTES), "suppress_tokens")
    found = [value for key, value in config.items() if _PLACES.fullmatch(key)] + suppressed
    tokens = {*(_token_ids(found, width) or ())} - {*ends}
    if not tokens:
        return
    mask = mx.zeros(width, mx.bool_)
    mask[mx.array(sorted(tokens))] = True

    def without(_network: Any, run: Callable[..., mx.array], *arguments: Any, **keywords: Any) -> mx.array:
        logits = run(*arguments, **keywords)
        return mx.where(mask, mx.array(mx.finfo(logits.dtype).min, logits.dtype), logits)

    hooked_for_good(network, without)


def _load_tokenizer(path: Path, width: int) -> Any:
    """The tokenizer, without end tokens outside the network's vocabulary."""
    config = mlx_utils.load_config(path)
    eos = _token_ids(config.get("eos_token_id"), width)
    load = partial(mlx_utils.load_tokenizer, path, eos_token_ids=eos)
    # Mistral's older folders cut words otherwise than its models were trained with.
    settings: dict[str, Any] = {"trust_remote_code": False, "fix_mistral_regex": True}
    if templates := templates_in(path):
        settings["chat_template"] = templates.get("tool_use", templates[DEFAULT])  # mlx-lm infers from it
    try:
        tokenizer = load(settings)
    except StrictDataclassError:  # transformers refuses a config that mlx-lm reads, such as lists with a head's layer
        kind = str(config.get("model_type"))  # which is all that a tokenizer needs
        settings["config"] = CONFIG_MAPPING[kind]() if kind in CONFIG_MAPPING else PreTrainedConfig()
        tokenizer = load(settings)
    backend = backend_of(tokenizer)
    if getattr(backend, "fix_mistral_regex", False) and backend.token_to_id("[INST]") is None:  # another vocabulary
        settings["fix_mistral_regex"] = False
        tokenizer = load(settings)
    _decode_bytes(tokenizer)
    tokenizer.eos_token_ids = _token_ids(list(tokenizer.eos_token_ids), width)
    tokenizer.encode("")
    if type(tokenizer._detokenizer) is NaiveStreamingDetokenizer:  # noqa: SLF001
        tokenizer._detokenizer = _Lines(tokenizer._tokenizer)  # type: ignore[no-untyped-call]  # noqa: SLF001
    texts = getattr(tokenizer._detokenizer, "tokenmap", [])  # noqa: SLF001  each reply copies it
    backend = backend_of(tokenizer)
    if texts and isinstance(texts[0], bytes):  # SentencePiece's, which raises for the padding of the output layer
        texts += [b""] * (width - len(texts))
    elif texts and backend is not None:  # ids may be beyond the number of tokens, and padding would be written as "!"
        texts.extend(map(backend.id_to_token, range(len(texts), width)))
        texts[:] = [text or "" for text in texts]
    return tokenizer


def _decode_bytes(tokenizer: Any) -> None:
    """WORKAROUND: some folders have SentencePiece's decoder for tokens spelt in bytes: every space would be a Ġ."""
    backend = backend_of(tokenizer)
    space = None if backend is None else backend.token_to_id(_SPACE)
    if space is not None and backend.token_to_id("▁") is None and _SPACE in tokenizer.decode([space]):
        backend.decoder = ByteLevel()
        tokenizer._detokenizer = BPEStreamingDetokenizer(tokenizer._tokenizer)  # noqa: SLF001


class _Lines(NaiveStreamingDetokenizer):
    """Decodes each line after the last token of the one before: tokenizers drop the spaces that a text begins with."""

    @property
    def text(self) -> str:  # type: ignore[override]
        tokens = self._current_tokens
        line: str = self._tokenizer.decode(tokens)
        if line.endswith("\n"):
            last: str = self._tokenizer.decode(tokens[-1:])
            if line.endswith(last):
                self._text += line.removesuffix(last)
                self._current_tokens = tokens[-1:]
                line = last
        elif line.endswith("\ufffd"):  # part of a character
            line = line.rstrip("\ufffd")
        elif self._clean_spaces:
            line = line.removesuffix(" ")
        return self._text + line


def _token_ids(value: object, width: int) -> list[int] | None:
    """The valid tokens of an entry; None if it has none."""
    values = value if isinstance(value, list) else [value]
    return [each for each in values if type(each) is int and 0 <= each < width] if value is not None else None


def _chat_template(tokenizer: Any, path: Path) -> ChatTemplate | None:
    """The folder's own template, which is not trusted; None if code of mlx-lm or transformers renders chats."""
    theirs = tokenizer._tokenizer  # noqa: SLF001  mlx-lm's wrapper does not forward names with an underscore
    known = tokenizer._chat_template is not None or (  # noqa: SLF001
        type(theirs).apply_chat_template is not PreTrainedTokenizerBase.apply_chat_template
    )
    templates = {} if known else templates_in(path)
    if not templates:
        return None
    return ChatTemplate(templates[DEFAULT], theirs.special_tokens_map, theirs.chat_template)


def _marks_of(tokenizer: Any, template: ChatTemplate | None) -> ReplyMarks:
    if template is not None:
        return read_marks(tokenizer, template.text)
    # What code renders is not known beforehand, so there the vocabulary says what it may be.
    return read_marks(tokenizer, " ".join(tokenizer.get_added_vocab()) if tokenizer.has_chat_template else "")
