"""Which tokens may come next in a reply that has to match a grammar. llguidance knows grammars; the masks are applied
to logits before anything else.

What may come next depends on the committed tokens and, within a round, on the drafted ones before: never on who drafted
them. So the text is the same with any draft.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import mlx.core as mx
import numpy as np

from engine.api.errors import InvalidRequest
from engine.api.types import Constraint, ConstraintKind
from engine.decoding.accept import ROOT, Draft, integers

if TYPE_CHECKING:
    from llguidance import LLMatcher

    from engine.models.loading import LoadedModel

_MOST_FORCED = 64
_BEFORE = "\x02"  # a token of its own
_BYTE = re.compile("<0x([0-9A-F]{2})>")
_SHOWN = 400  # characters of a reason
# One way to write each value: with free white space a model may write nothing else for ever. Nothing that a schema
# says is ignored.
_JSON_OPTIONS = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "lenient": False,
    "coerce_one_of": False,
}
# A schema is not trusted: these bound the time of a grammar and of a mask.
_FUEL, _FUEL_A_STEP, _MOST_STATES = 1_000_000, 200_000, 50_000
# Models write line breaks between the end of thinking and the answer.
_LEAD = "LEAD: /\\n{1,2}/"


class Vocabulary:
    """A model's tokens as llguidance reads them. Takes a second for 200,000 tokens, so it is made once a model.

    MEASURED: from the tokenizer's JSON it takes two to three times as long, in one call that stops all Python threads.
    """

    def __init__(self, model: LoadedModel) -> None:
        """Raises InvalidRequest for a tokenizer that has no bytes of its tokens."""
        from llguidance import LLTokenizer, TokenizerWrapper

        backend = getattr(model.tokenizer._tokenizer, "backend_tokenizer", None)  # noqa: SLF001  not forwarded
        if backend is None or not model.ends:
            raise _refusal("this model's tokenizer cannot be constrained")
        self.width = model.logit_width
        self.ends = model.ends
        self.texts = _texts(backend)
        try:
            tokens = TokenizerWrapper(_Tokens(backend, self.texts, min(self.ends)))
            self.tokens = LLTokenizer(tokens, eos_token=sorted(self.ends))
            agrees = self.tokens.decode_bytes(tokens('{"a": 1}')) == b'{"a": 1}'
        except Exception as error:
            raise _refusal(f"this model's tokenizer cannot be constrained: {error}") from error
        if not agrees:
            raise _refusal("this model's tokenizer cannot be constrained")
        self.known_words = (self.tokens.vocab_size + 31) // 32  # of a mask of llguidance's
        self.words = max(self.known_words, (self.width + 31) // 32)

    @cached_property
    def sorted_texts(self) -> list[tuple[bytes, int]]:
        return sorted((text, token) for token, text in enumerate(self.texts))

    def text(self, token: int) -> bytes:
        return self.texts[token] if 0 <= token < len(self.texts) else b""

    def longer_than(self, start: bytes) -> list[int]:
        """Tokens whose text begins with `start` and goes on."""
        found = []
        for text, token in islice(self.sorted_texts, bisect_left(self.sorted_texts, (start, -1)), None):
            if not text.startswith(start):
                break
            if len(text) > len(start):
                found.append(token)
        return found


class _Tokens:
    """What llguidance asks a tokenizer."""

    bos_token_id = None

    def __init__(self, backend: Any, texts: list[bytes], end: int) -> None:
        self.eos_token_id = end
        self.tokens = texts
        self.special_token_ids = [
            token
            for token, added in backend.get_added_tokens_decoder().items()
            if added.special or (added.content.startswith("<") and added.content.endswith(">"))
        ]
        self._backend = backend

    def __call__(self, text: str | bytes) -> list[int]:
        """In the middle of a text: some tokenizers put a space before its first word."""
        text = text if isinstance(text, str) else text.decode()
        tokens = self._encoded(text)
        if b"".join(self.tokens[token] for token in tokens) == text.encode():
            return tokens
        return self._encoded(_BEFORE + text)[len(self._encoded(_BEFORE)) :]

    def _encoded(self, text: str) -> list[int]:
        tokens: list[int] = self._backend.encode(text, add_special_tokens=False).ids
        return tokens


def _texts(backend: Any) -> list[bytes]:
    """The bytes of each token. Vocabularies write them as byte-level symbols, or as text with ▁ for a space."""
    decoder = backend.decoder.__getstate__() if backend.decoder is not None else b""
    byte_level = b'"ByteLevel"' in decoder
    added = {token: each.content for token, each in backend.get_added_tokens_decoder().items()}
    symbols = _byte_symbols()
    texts = []
    for token in range(backend.get_vocab_size()):
        text = added.get(token) or backend.id_to_token(token) or ""
        if byte_level:
            known = token not in added and all(symbol in symbols for symbol in text)
            texts.append(bytes(symbols[symbol] for symbol in text) if known else text.encode())
        elif byte := _BYTE.fullmatch(text):
            texts.append(bytes([int(byte[1], 16)]))
        else:
            texts.append(text.replace("\u2581", " ").encode())
    return texts


def _byte_symbols() -> dict[str, int]:
    """GPT-2's: printable bytes stand for themselves, the others for the characters from 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)}


def vocabulary_of(model: LoadedModel) -> Vocabulary:
    if not model.vocabularies:
        model.vocabularies.append(Vocabulary(model))
    vocabulary: Vocabulary = model.vocabularies[0]
    return vocabulary


# A grammar as llguidance reads it: {"json_schema": …} or {"lark_grammar": …}.
GrammarPart = dict[str, Any]


def part_of(constraint: Constraint) -> GrammarPart:
    if constraint.kind is ConstraintKind.JSON:
        return {"json_schema": strictly(constraint.text)}
    if constraint.kind is ConstraintKind.REGEX:
        from llguidance import regex_to_lark

        return {"lark_grammar": f"start: /{regex_to_lark(constraint.text)}/"}
    return {"lark_grammar": constraint.text}


def strictly(schema: str) -> dict[str, Any]:
    """The schema, with each value written in one way."""
    try:
        read = json.loads(schema)
    except (ValueError, RecursionError) as error:
        raise _refusal(f"not JSON: {error}") from error
    if not isinstance(read, dict):
        raise _refusal("a JSON schema is an object")
    return {**read, "x-guidance": _JSON_OPTIONS}


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a reply has to match, read and checked; as the whole reply, and after thinking in it."""

    vocabulary: Vocabulary
    alone: LLMatcher
    after_thinking: LLMatcher


def compiled(parts: Sequence[GrammarPart], model: LoadedModel) -> Grammar:
    """Of a reply that matches one of the parts. Raises InvalidRequest, in llguidance's words, for what it cannot
    enforce.
    """
    vocabulary = vocabulary_of(model)
    answers = [{"name": f"answer_{at}", **part} for at, part in enumerate(parts)]
    answer = " | ".join(f"@answer_{at}" for at in range(len(parts)))
    alone = _matcher([{"lark_grammar": f"start: {answer}"}, *answers] if len(parts) > 1 else parts, vocabulary)
    if not model.tokenizer.has_thinking:
        return Grammar(vocabulary, alone, alone)
    _ = vocabulary.sorted_texts  # made here, not in a round
    return Grammar(
        vocabulary, alone, _matcher([{"lark_grammar": f"start: LEAD? ({answer})\n{_LEAD}"}, *answers], vocabulary)
    )


def _matcher(parts: Sequence[GrammarPart], vocabulary: Vocabulary) -> LLMatcher:
    from llguidance import LLMatcher, LLParserLimits

    limits = LLParserLimits(
        initial_lexer_fuel=_FUEL, step_lexer_fuel=_FUEL_A_STEP, max_lexer_states=_MOST_STATES, verbose_errors=False
    )
    matcher = LLMatcher(vocabulary.tokens, json.dumps({"grammars": parts}), log_level=0, limits=limits)
    _check(matcher)
    return matcher


def _check(matcher: LLMatcher) -> None:
    if matcher.is_error():
        raise _refusal(matcher.get_error())


def _refusal(why: str) -> InvalidRequest:
    return InvalidRequest("constraint", why.strip()[:_SHOWN], "what can be enforced")


class Phase(Enum):
    OPENING = auto()  # the answer, or the marker that opens thinking
    THINKING = auto()
    ANSWER = auto()
    ENDED = auto()  # an end token, or one that is not allowed: nothing after it counts


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the reply. `tail`: the latest text of thinking, no longer than its end marker; `opened`: tokens of the
    marker that opens it.
    """

    phase: Phase
    opened: int = 0
    tail: bytes = b""
    consumed: int = 0  # tokens of the grammar
    alone: bool = True  # by the grammar of a reply without thinking


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model's markers. `begun`: the prompt leaves thinking open; `may_open`: the reply may open it."""

    opens: tuple[int, ...] = ()
    closes: bytes = b""
    begun: bool = False
    may_open: bool = False


@dataclass(slots=True)
class Guide:
    """Follows one reply through its grammar. Engine thread only."""

    grammar: Grammar
    thinking: Thinking = field(default_factory=Thinking)
    _place: _Place = field(init=False)

    def __post_init__(self) -> None:
        self._place = _Place(Phase.ANSWER)
        if self.thinking.begun:
            self._place = _Place(Phase.THINKING)
        elif self.thinking.may_open and self.thinking.opens:
            self._place = _Place(Phase.OPENING)

    def masked(self, logits: mx.array, draft: Draft) -> mx.array:
        """`logits` (rows, vocabulary), -inf where a token is not allowed; the rows are the last of the n + 1 after
        `draft`.

        Starts the device on them first: the masks are made meanwhile.
        """
        mx.async_eval(logits)
        vocabulary, rows = self.grammar.vocabulary, logits.shape[0]
        masks = np.full((rows, vocabulary.words), -1, dtype=np.int32)
        self._fill(masks, integers(draft.tokens), draft.parent_indices)
        allowed = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")[:, : logits.shape[1]]
        return mx.where(mx.array(allowed.view(np.bool_)), logits, -mx.inf)

    def forced(self) -> list[int]:
        """The tokens that have to come next, as far as there is no choice."""
        place = self._place
        if place.phase is Phase.OPENING and place.opened:
            return list(self.thinking.opens[place.opened :])
        return self._matcher(place).compute_ff_tokens()[:_MOST_FORCED] if place.phase is Phase.ANSWER else []

    def commit(self, tokens: Sequence[int]) -> None:
        for token in tokens:
            self._place = self._after(self._place, token)
        _check(self._matcher(self._place))

    def _fill(self, masks: np.ndarray[Any, Any], tokens: Sequence[int], parents: Sequence[int]) -> None:
        """A mask for each of the last rows of a chain or a tree, in which a parent comes before its children."""
        first = len(tokens) + 1 - len(masks)
        places, path = [self._place], list[int]()  # the matcher is after these tokens
        with self._undone(places):
            for index in range(ROOT, len(tokens)):
                wanted = _path_to(index, parents)
                while path != wanted[: len(path)]:
                    self._undo(places)
                    path.pop()
                for at in wanted[len(path) :]:
                    places.append(self._after(places[-1], tokens[at]))
                path = wanted
                if index + 1 >= first:
                    self._fill_row(masks[index + 1 - first], places[-1])

    @contextmanager
    def _undone(self, places: list[_Place]) -> Iterator[None]:
        try:
            yield
        finally:
            while len(places) > 1:
                self._undo(places)

    def _undo(self, places: list[_Place]) -> None:
        place = places.pop()
        if place.consumed > places[-1].consumed:
            self._matcher(place).rollback(1)

    def _after(self, place: _Place, token: int) -> _Place:
        match place.phase:
            case Phase.OPENING if token == self.thinking.opens[place.opened]:
                opened = place.opened + 1
                return _Place(Phase.THINKING) if opened == len(self.thinking.opens) else replace(place, opened=opened)
            case Phase.THINKING if token not in self.grammar.vocabulary.ends:
                return self._after_thought(place, token)
            case Phase.ANSWER | Phase.OPENING if not place.opened:
                return self._after_answer(replace(place, phase=Phase.ANSWER), token)
        return replace(place, phase=Phase.ENDED)

    def _after_thought(self, place: _Place, token: int) -> _Place:
        closes = self.thinking.closes
        tail = place.tail + self.grammar.vocabulary.text(token)
        if closes in tail:
            return _Place(Phase.ANSWER, alone=False)
        return replace(place, tail=tail[len(tail) - len(closes) + 1 :] if len(tail) >= len(closes) else tail)

    def _after_answer(self, place: _Place, token: int) -> _Place:
        vocabulary = self.grammar.vocabulary
        goes_on = token not in vocabulary.ends and token < len(vocabulary.texts)  # beyond them a draft's only
        if goes_on and self._matcher(place).try_consume_tokens([token]):
            return replace(place, consumed=place.consumed + 1)
        return replace(place, phase=Phase.ENDED)

    def _fill_row(self, row: np.ndarray[Any, Any], place: _Place) -> None:
        match place.phase:
            case Phase.ANSWER:
                self._fill_answer(row, place)
            case Phase.OPENING:
                row[:] = 0
                if not place.opened:
                    self._fill_answer(row, place)
                _set(row, [self.thinking.opens[place.opened]])
            case Phase.THINKING:
                _clear(row, [*self.grammar.vocabulary.ends, *self._beyond(place.tail)])

    def _fill_answer(self, row: np.ndarray[Any, Any], place: _Place) -> None:
        matcher, known = self._matcher(place), row[: self.grammar.vocabulary.known_words]
        row[known.size :] = 0  # the output layer's padding
        matcher.unsafe_compute_mask_ptr(known.ctypes.data, known.nbytes)
        _check(matcher)

    def _beyond(self, tail: bytes) -> Iterator[int]:
        """Tokens that would end thinking and begin the answer at once: no grammar could judge their rest."""
        closes = self.thinking.closes
        for length in range(1, len(closes)):
            if tail.endswith(closes[:length]):
                yield from self.grammar.vocabulary.longer_than(closes[length:])

    def _matcher(self, place: _Place) -> LLMatcher:
        return self.grammar.alone if place.alone else self.grammar.after_thinking


def _path_to(index: int, parents: Sequence[int]) -> list[int]:
    """The drafted tokens from the first one down to `index`."""
    path = []
    while index != ROOT:
        path.append(index)
        index = parents[index]
    return path[::-1]


def _set(row: np.ndarray[Any, Any], tokens: Sequence[int]) -> None:
    for token in tokens:
        row.view(np.uint8)[token >> 3] |= 1 << (token & 7)


def _clear(row: np.ndarray[Any, Any], tokens: Sequence[int]) -> None:
    for token in tokens:
        row.view(np.uint8)[token >> 3] &= 0xFF ^ (1 << (token & 7))
