"""Which tokens are allowed next in a reply: those of its grammar, and the end of thinking at its token limit.

The masks are applied to logits before anything else. They depend only on the committed tokens and on the drafted tokens
before each row, not on the proposer, so the text is the same with any draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import mlx.core as mx
import numpy as np

from engine.decoding.accept import Draft, integers
from engine.decoding.constraint import Grammar, GrammarVocabulary, check

if TYPE_CHECKING:
    from llguidance import LLMatcher

_MOST_FORCED = 64
_Masks = np.ndarray[Any, Any]  # (rows, words): a bit for each token


class Phase(Enum):
    OPENING = auto()  # the answer, or the marker that opens thinking
    THINKING = auto()
    FREE = auto()  # an answer whose grammar has not begun
    ASIDE = auto()  # thinking in such an answer, without a limit
    ANSWER = auto()  # constrained by the grammar, if there is one
    ENDED = auto()  # after an end token or a token that is not allowed: later rows do not count


@dataclass(frozen=True, slots=True)
class _Place:
    """A state of the guide.

    `opened`: matched tokens of the marker that opens thinking; `thought`: tokens of thinking; `tail`: the latest text
    of thinking, at most as long as the end marker; `closed`: matched tokens of the end marker.
    """

    phase: Phase
    opened: int = 0
    thought: int = 0
    tail: bytes = b""
    closed: int = 0
    consumed: int = 0  # by the grammar, in tokens
    alone: bool = True  # uses the grammar of a reply without thinking


@dataclass(frozen=True, slots=True)
class ThinkingMarkers:
    """A model's thinking markers. `begun`: the prompt leaves thinking open; `may_open`: a reply may open it."""

    opens: tuple[int, ...] = ()
    closes: bytes = b""
    begun: bool = False
    may_open: bool = False
    ends: tuple[int, ...] = ()  # tokens of `closes`, which end thinking; empty: thinking cannot be ended
    text: Callable[[int], bytes] = field(default=lambda _: b"")  # the text of a token


class Guide:
    """The allowed tokens of one reply, followed token by token. Engine thread only.

    The states of a matcher's lexer stay after a rollback and count against its limits. So the committed tokens, with a
    mask before each, have their own matchers: they reach a limit at the same token with any draft.
    """

    def __init__(
        self, grammar: Grammar | None, thinking: ThinkingMarkers | None = None, most_thinking: int | None = None
    ) -> None:
        """`most_thinking`: the number of tokens after which thinking is ended; None: no limit."""
        thinking = thinking or ThinkingMarkers()
        self._grammar = grammar
        self._thinking = thinking
        self._most_thinking = most_thinking
        self._committed = _Follower(grammar, thinking)
        self._drafted = _Follower(None if grammar is None else grammar.for_drafts, thinking)
        self._not_followed: list[int] = []  # committed tokens that `_drafted` has not followed yet

    def acts_within(self, rows: int) -> bool:
        """Whether any of the next `rows` tokens may be restricted."""
        place = self._committed.place
        if self._grammar is not None and (rows > 1 or not self._committed.is_free):
            return True
        if self._most_thinking is None or not self._thinking.ends:
            return False
        left = self._most_thinking - place.thought
        if place.phase is Phase.OPENING:
            left += len(self._thinking.opens) - place.opened
        return left < rows and place.phase in (Phase.OPENING, Phase.THINKING)

    def end_thinking(self) -> None:
        """End thinking at the next token that is not drawn yet, if the reply is still thinking there."""
        self._most_thinking = 0

    def masked_draft(self, logits: mx.array, ahead: mx.array | None) -> mx.array:
        """A draft's own `logits` (1, vocabulary) after its tokens `ahead`, of which it draws what is allowed there.

        They are as they were where nothing is: the reply has ended before, or the mask cannot be made.
        """
        rows = 1 if ahead is None else 1 + ahead.size
        if not self.acts_within(rows):
            return logits
        mx.async_eval(logits)
        drafted = self._before_drafts()
        mask = self._full_masks(1, logits.shape[-1])
        with drafted.looking_ahead():
            for token in [] if ahead is None else integers(ahead):
                drafted.follow(token)
            drafted.fill(mask[0], self._most_thinking)
        return _applied(mask, logits) if mask.any() else logits

    def masked(self, logits: mx.array, draft: Draft) -> mx.array:
        """`logits` (rows, vocabulary) with -inf for tokens that are not allowed; the rows are the last of the n + 1
        after `draft`. A row whose mask cannot be made allows no token.

        Starts computing the logits first, so the masks are made while the device works.
        """
        if not self.acts_within(draft.tokens.size + 1):
            return logits
        mx.async_eval(logits)
        masks = self._full_masks(*logits.shape)
        self._fill(masks, integers(draft.tokens))
        return _applied(masks, logits)

    def _full_masks(self, rows: int, width: int) -> _Masks:
        """Masks that allow all tokens."""
        words = (width + 31) // 32 if self._grammar is None else self._grammar.vocabulary.words
        return np.full((rows, words), -1, dtype=np.int32)

    def _fill(self, masks: _Masks, tokens: Sequence[int]) -> None:
        """Fill a mask for each position before, between and after `tokens`; or one, after `tokens`, which are then sure
        to be committed.
        """
        sure = tokens if len(masks) == 1 else ()
        with self._committed.looking_ahead():
            for token in sure:
                self._committed.follow(token)
            self._committed.fill(masks[0], self._most_thinking)
        if len(masks) == 1:
            return
        drafted = self._before_drafts()
        with drafted.looking_ahead():
            for mask, token in zip(masks[1:], tokens, strict=True):
                drafted.follow(token)
                drafted.fill(mask, self._most_thinking)

    def _before_drafts(self) -> _Follower:
        """The follower of drafted tokens, at the end of the committed ones."""
        for token in self._not_followed:
            self._drafted.follow(token)
        self._not_followed.clear()
        return self._drafted

    def forced(self) -> list[int]:
        """The next tokens, as far as exactly one is allowed at each position."""
        place = self._committed.place
        if place.phase is Phase.OPENING and place.opened:
            return [] if self._committed.begins_free else list(self._thinking.opens[place.opened :])
        if self._committed.has_to_end_thinking(self._most_thinking):
            return list(self._thinking.ends[place.closed :])
        if place.phase is not Phase.ANSWER or self._grammar is None:
            return []
        return self._before_drafts().matcher.compute_ff_tokens()[:_MOST_FORCED]

    def commit(self, tokens: list[int]) -> list[int]:
        """Advance by `tokens`, up to the first whose mask cannot be made; returns those before it."""
        for at, token in enumerate(tokens):
            if at and self._grammar is not None:
                self._committed.fill(np.zeros(self._grammar.vocabulary.words, dtype=np.int32), self._most_thinking)
                if self._committed.at_end:
                    return tokens[:at]
            self._committed.follow(token)
            self._not_followed.append(token)
        return tokens

    def check(self) -> None:
        """Raises InvalidRequest if no mask can be made for the next token."""
        if self._grammar is not None:
            check(self._committed.matcher)


class _Follower:
    """A position in the reply, with its own matchers."""

    def __init__(self, grammar: Grammar | None, thinking: ThinkingMarkers) -> None:
        self._grammar = grammar
        self._thinking = thinking
        self.place = _Place(Phase.ANSWER if self._opener is None else Phase.FREE)
        if thinking.begun:
            self.place = _Place(Phase.THINKING)
        elif thinking.may_open and thinking.opens:
            self.place = _Place(Phase.OPENING)

    @property
    def matcher(self) -> LLMatcher:
        if self._grammar is None:
            raise RuntimeError("a reply without a grammar")
        return self._grammar.alone if self.place.alone else self._grammar.after_thinking

    @property
    def at_end(self) -> bool:
        """Whether the grammar allows no token: the reply has ended, or the matcher has reached one of its limits."""
        return self._grammar is not None and (self.place.phase is Phase.ENDED or self.matcher.is_error())

    @contextmanager
    def looking_ahead(self) -> Iterator[None]:
        """Restore the position afterwards."""
        place = self.place
        try:
            yield
        finally:
            if self.place.consumed > place.consumed:
                self.matcher.rollback(self.place.consumed - place.consumed)
            self.place = place

    def follow(self, token: int) -> None:
        self.place = self._after(self.place, token)

    @property
    def _opener(self) -> int | None:
        return None if self._grammar is None else self._grammar.opener

    @property
    def begins_free(self) -> bool:
        """Whether an answer may begin with any token."""
        return self._grammar is None or self._grammar.opener is not None

    @property
    def is_free(self) -> bool:
        """Whether the grammar restricts nothing here, if it may begin later."""
        return self.begins_free and self.place.phase not in (Phase.ANSWER, Phase.ENDED)

    def has_to_end_thinking(self, most_thinking: int | None) -> bool:
        """Whether thinking has reached its token limit."""
        most = most_thinking if self._thinking.ends and self.place.phase is Phase.THINKING else None
        return most is not None and self.place.thought >= most

    def fill(self, row: np.ndarray[Any, Any], most_thinking: int | None) -> None:
        """Fill the mask of the next token; no token is allowed if it cannot be made."""
        self._fill(row, most_thinking)
        if self.at_end:
            row[:] = 0

    def _fill(self, row: np.ndarray[Any, Any], most_thinking: int | None) -> None:
        place = self.place
        vocabulary = None if self._grammar is None else self._grammar.vocabulary
        if self.has_to_end_thinking(most_thinking):
            row[:] = 0
            _set(row, [self._thinking.ends[place.closed]])
        elif vocabulary is None or self.is_free:
            return
        elif place.phase in (Phase.ANSWER, Phase.ENDED):  # computing a mask reports a failed consume
            self._fill_answer(row, vocabulary)
        elif place.phase is Phase.OPENING:
            row[:] = 0
            if not place.opened:
                self._fill_answer(row, vocabulary)
            _set(row, [self._thinking.opens[place.opened]])
        elif place.phase is Phase.THINKING:
            _clear(row, [*vocabulary.ends, *self._beyond(place.tail, vocabulary)])

    def _fill_answer(self, row: np.ndarray[Any, Any], vocabulary: GrammarVocabulary) -> None:
        known = row[: vocabulary.known_words]
        row[known.size :] = 0  # the output layer's padding
        self.matcher.unsafe_compute_mask_ptr(known.ctypes.data, known.nbytes)

    def _after(self, place: _Place, token: int) -> _Place:
        match place.phase:
            case Phase.OPENING | Phase.FREE if self._opens(place.opened, token):
                thinking = Phase.THINKING if place.phase is Phase.OPENING else Phase.ASIDE
                opened = place.opened + 1
                return _Place(thinking) if opened == len(self._thinking.opens) else replace(place, opened=opened)
            case Phase.OPENING if self.begins_free and not place.opened and self._thinking.text(token).isspace():
                return place
            case Phase.OPENING | Phase.FREE if self._opener not in (None, token):
                return _Place(Phase.FREE)
            case Phase.THINKING | Phase.ASIDE if self._grammar is None or token not in self._grammar.vocabulary.ends:
                return self._after_thought(place, token)
            case Phase.OPENING | Phase.FREE | Phase.ANSWER if self._grammar and (self.begins_free or not place.opened):
                answer = replace(place, phase=Phase.ANSWER, opened=0)
                return self._after_answer(answer, token, self._grammar.vocabulary)
        return replace(place, phase=Phase.ENDED)

    def _opens(self, opened: int, token: int) -> bool:
        """Whether it is the next of the marker that opens thinking: the last may have a line break in it."""
        opens = self._thinking.opens
        if (token,) == opens[opened : opened + 1]:
            return True
        return 0 < opened == len(opens) - 1 and self._text(token).rstrip() == self._text(opens[opened])

    def _after_thought(self, place: _Place, token: int) -> _Place:
        closes = self._thinking.closes
        ends = self._thinking.ends
        tail = place.tail + self._text(token)
        closed = 0
        if ends:
            closed = place.closed + 1 if token == ends[place.closed] else int(token == ends[0])
        if closes in tail or 0 < len(ends) == closed:
            return _Place(Phase.ANSWER, alone=False) if self._opener is None else _Place(Phase.FREE)
        tail = tail[len(tail) - len(closes) + 1 :] if len(tail) >= len(closes) else tail
        return replace(place, thought=place.thought + 1, tail=tail, closed=closed)

    def _text(self, token: int) -> bytes:
        return self._thinking.text(token) if self._grammar is None else self._grammar.vocabulary.text(token)

    def _after_answer(self, place: _Place, token: int, vocabulary: GrammarVocabulary) -> _Place:
        goes_on = token not in vocabulary.ends and token < len(vocabulary.texts)  # ids beyond them occur in drafts only
        if goes_on and self.matcher.try_consume_tokens([token]):
            return replace(place, consumed=place.consumed + 1)
        return replace(place, phase=Phase.ENDED)

    def _beyond(self, tail: bytes, vocabulary: GrammarVocabulary) -> Iterator[int]:
        """Tokens with the end marker and the beginning of an answer, which the grammar could not check."""
        closes = self._thinking.closes
        for length in range(1, len(closes)):
            if tail.endswith(closes[:length]):
                yield from vocabulary.longer_than(closes[length:])


def _applied(masks: _Masks, logits: mx.array) -> mx.array:
    if (masks == -1).all():
        return logits
    allowed = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")[:, : logits.shape[-1]]
    return mx.where(mx.array(allowed.view(np.bool_)), logits, -mx.inf)


def _set(row: np.ndarray[Any, Any], tokens: Sequence[int]) -> None:
    for token in tokens:
        row.view(np.uint8)[token >> 3] |= 1 << (token & 7)


def _clear(row: np.ndarray[Any, Any], tokens: Sequence[int]) -> None:
    for token in tokens:
        row.view(np.uint8)[token >> 3] &= 0xFF ^ (1 << (token & 7))
