"""Grammars that constrain replies, by llguidance; `guide.py` follows a reply through one."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from engine.api.errors import InvalidRequest
from engine.api.types import Constraint, ConstraintKind
from engine.models.vocabulary import LETTERS, backend_of, is_control

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLTokenizer

    from engine.models.loading import LoadedModel

_VOCABULARY = "vocabulary"  # key in `LoadedModel.beside`
_BEFORE = "\x02"  # a token of its own
_BYTE = re.compile("<0x([0-9A-F]{2})>")
_SHOWN = 400  # most characters of a reason that is shown
# JSON is written in one way only: where white space is free, some models write nothing else without end. Unsupported
# schema keywords are errors.
_JSON_OPTIONS = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "lenient": False,
    "coerce_one_of": False,
}
# Schemas are not trusted: these limits bound the time to compile a grammar and to compute a mask.
_FUEL = 1_000_000
_FUEL_A_STEP = 200_000
_MOST_STATES = 50_000
# Models write line breaks between the end of thinking and the answer.
_LEAD = "LEAD: /\\n{1,2}/"


class GrammarVocabulary:
    """A model's tokens as llguidance reads them. Takes a second for 200,000 tokens, so it is made once a model.

    MEASURED: from the tokenizer's JSON it takes two to three times as long, in one call that stops all Python threads.
    """

    def __init__(self, model: LoadedModel) -> None:
        """Raises InvalidRequest for a tokenizer that has no bytes of its tokens."""
        from llguidance import LLTokenizer, TokenizerWrapper

        backend = backend_of(model.tokenizer)
        if backend is None or not model.ends:
            raise refusal("this model's tokenizer cannot be constrained")
        self.width = model.logit_width
        self.ends = model.ends
        self.texts = _texts(backend, self.width)
        try:
            tokens = TokenizerWrapper(_Tokens(backend, self.texts, min(self.ends)))
            self.tokens = LLTokenizer(tokens, eos_token=sorted(self.ends))
            agrees = self.tokens.decode_bytes(tokens('{"a": 1}')) == b'{"a": 1}'
        except Exception as error:
            raise refusal(f"this model's tokenizer cannot be constrained: {error}") from error
        if not agrees:
            raise refusal("this model's tokenizer cannot be constrained")
        self.known_words = (self.tokens.vocab_size + 31) // 32  # length of llguidance's masks, in 32-bit words
        self.words = max(self.known_words, (self.width + 31) // 32)

    @cached_property
    def sorted_texts(self) -> list[tuple[bytes, int]]:
        return sorted((text, token) for token, text in enumerate(self.texts))

    def text(self, token: int) -> bytes:
        return self.texts[token] if 0 <= token < len(self.texts) else b""

    def longer_than(self, start: bytes) -> list[int]:
        """Tokens whose text begins with `start` and is longer."""
        found = []
        for text, token in islice(self.sorted_texts, bisect_left(self.sorted_texts, (start, -1)), None):
            if not text.startswith(start):
                break
            if len(text) > len(start):
                found.append(token)
        return found


class _Tokens:
    """The interface that llguidance expects of a tokenizer."""

    bos_token_id = None

    def __init__(self, backend: Any, texts: list[bytes], end: int) -> None:
        self.eos_token_id = end
        self.tokens = texts
        self.special_token_ids = [
            token
            for token, added in backend.get_added_tokens_decoder().items()
            if is_control(added.content, added.special)
        ]
        self._backend = backend

    def __call__(self, text: str | bytes) -> list[int]:
        """The tokens of a text without the space that some tokenizers put before its first word."""
        text = text if isinstance(text, str) else text.decode()
        tokens = self._encoded(text)
        if b"".join(self.tokens[token] for token in tokens) == text.encode():
            return tokens
        return self._encoded(_BEFORE + text)[len(self._encoded(_BEFORE)) :]

    def _encoded(self, text: str) -> list[int]:
        tokens: list[int] = self._backend.encode(text, add_special_tokens=False).ids
        return tokens


def _texts(backend: Any, width: int = 0) -> list[bytes]:
    """The bytes of each token, of ids without a token none: where there are such, others are beyond their number.

    Vocabularies write them as byte-level symbols, or as text with ▁ for a space.
    """
    decoder = backend.decoder.__getstate__() if backend.decoder is not None else b""
    byte_level = b'"ByteLevel"' in decoder
    added = {token: each.content for token, each in backend.get_added_tokens_decoder().items()}
    texts = []
    for token in range(max(backend.get_vocab_size(), width)):
        text = added.get(token) or backend.id_to_token(token) or ""
        if byte_level:
            known = token not in added and all(ord(letter) in LETTERS for letter in text)
            texts.append(text.translate(LETTERS).encode("latin-1") if known else text.encode())
        elif byte := _BYTE.fullmatch(text):
            texts.append(bytes([int(byte[1], 16)]))
        else:
            texts.append(text.replace("\u2581", " ").encode())
    return texts


def vocabulary_of(model: LoadedModel) -> GrammarVocabulary:
    if _VOCABULARY not in model.beside:
        model.beside[_VOCABULARY] = GrammarVocabulary(model)
    vocabulary: GrammarVocabulary = model.beside[_VOCABULARY]
    return vocabulary


# A grammar as llguidance reads it: {"json_schema": …} or {"lark_grammar": …}.
GrammarPart = dict[str, Any]


def part_of(constraint: Constraint) -> GrammarPart:
    if constraint.kind is ConstraintKind.JSON:
        return {"json_schema": strictly(constraint.text)}
    from llguidance import regex_to_lark

    return {"lark_grammar": f"start: /{regex_to_lark(constraint.text)}/"}


def strictly(schema: str) -> dict[str, Any]:
    """The schema with one permitted spelling for each value."""
    try:
        read = json.loads(schema)
    except (ValueError, RecursionError) as error:
        raise refusal(f"not JSON: {error}") from error
    if not isinstance(read, dict):
        raise refusal("a JSON schema is an object")
    return {**read, "x-guidance": _JSON_OPTIONS}


@dataclass(frozen=True, slots=True)
class Grammar:
    """The constraint of one reply, parsed and checked, for replies with and without thinking.

    `opener`: the token that begins the constrained part; any text may come before it. None: all of the answer is
    constrained.
    """

    vocabulary: GrammarVocabulary
    alone: LLMatcher
    after_thinking: LLMatcher
    opener: int | None = None
    for_drafts: Grammar | None = None  # the same, with matchers of their own

    def go_on(self, text: str) -> None:
        """The reply continues `text`; where that begins no match, the match begins after it."""
        tokens = self.vocabulary.tokens.tokenize_str(text)
        for each in (self, self.for_drafts):
            if each is not None and each.alone.validate_tokens(tokens) == len(tokens):
                each.alone.consume_tokens(tokens)


def compiled(parts: Sequence[GrammarPart], model: LoadedModel, opener: int | None = None) -> Grammar:
    """A grammar that matches any of `parts`, after free text and `opener` if there is one.

    Raises InvalidRequest, in llguidance's words, for what it cannot enforce.
    """
    return replace(_compiled(parts, model, opener), for_drafts=_compiled(parts, model, opener))


def _compiled(parts: Sequence[GrammarPart], model: LoadedModel, opener: int | None) -> Grammar:
    vocabulary = vocabulary_of(model)
    answers = [{"name": f"answer_{at}", **part} for at, part in enumerate(parts)]
    answer = " | ".join(f"@answer_{at}" for at in range(len(parts)))
    alone = _matcher([{"lark_grammar": f"start: {answer}"}, *answers] if len(parts) > 1 else parts, vocabulary)
    if opener is not None or model.marks.thinking is None:
        return Grammar(vocabulary, alone, alone, opener)
    _ = vocabulary.sorted_texts  # computed here rather than in the first round
    return Grammar(
        vocabulary, alone, _matcher([{"lark_grammar": f"start: LEAD? ({answer})\n{_LEAD}"}, *answers], vocabulary)
    )


def _matcher(parts: Sequence[GrammarPart], vocabulary: GrammarVocabulary) -> LLMatcher:
    matcher = _limited(vocabulary.tokens, parts)
    check(matcher)
    return matcher


def _limited(tokens: LLTokenizer, parts: Sequence[GrammarPart]) -> LLMatcher:
    from llguidance import LLMatcher, LLParserLimits

    limits = LLParserLimits(
        initial_lexer_fuel=_FUEL, step_lexer_fuel=_FUEL_A_STEP, max_lexer_states=_MOST_STATES, verbose_errors=False
    )
    return LLMatcher(tokens, json.dumps({"grammars": parts}), log_level=0, limits=limits)


def schema_refusal(schema: str) -> str:
    """Why replies cannot be held to a JSON schema, in llguidance's words; "": they can."""
    from llguidance import LLTokenizer

    try:
        check(_limited(LLTokenizer("byte"), [{"json_schema": strictly(schema)}]))
    except InvalidRequest as error:
        return error.value
    return ""


def schema_begins(schema: str, text: str) -> bool:
    """Whether `text` may begin a reply that is held to a JSON schema."""
    from llguidance import LLTokenizer

    tokens = LLTokenizer("byte").tokenize_str(text)
    matcher = _limited(LLTokenizer("byte"), [{"json_schema": strictly(schema)}])
    return bool(matcher.validate_tokens(tokens) == len(tokens))


def check(matcher: LLMatcher) -> None:
    if matcher.is_error():
        raise refusal(matcher.get_error())


def refusal(why: str) -> InvalidRequest:
    shown = why.removesuffix("<non-verbose/>").strip()[:_SHOWN]
    return InvalidRequest("constraint", shown, "what can be enforced")
