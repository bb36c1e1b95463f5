"""Which tokens may come next in a reply: those that its grammar allows, and the end of its thinking once that has taken
as many tokens as it may. The masks are applied to logits before anything else.

What may come next depends on the committed tokens and, within a round, on the drafted ones before: never on who drafted
them. So the text is the same with any draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import mlx.core as mx
import numpy as np

from engine.decoding.accept import Draft, integers
from engine.decoding.constraint import Grammar, GrammarVocabulary, check

if TYPE_CHECKING:
    from llguidance import LLMatcher

_MOST_FORCED = 64


def _no_text(token: int) -> bytes:
    return b""


class Phase(Enum):
    OPENING = auto()  # the answer, or the marker that opens thinking
    THINKING = auto()
    FREE = auto()  # an answer whose grammar has not begun
    ASIDE = auto()  # thinking in such an answer, which has no limit
    ANSWER = auto()  # by the grammar, if there is one
    ENDED = auto()  # an end token, or one that is not allowed: nothing after it counts


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the reply.

    `opened`: tokens of the marker that opens thinking; `thought`: tokens of thinking; `tail`: its latest text, no
    longer than the end marker; `closed`: its latest tokens that are the first of that marker.
    """

    phase: Phase
    opened: int = 0
    thought: int = 0
    tail: bytes = b""
    closed: int = 0
    consumed: int = 0  # tokens of the grammar
    alone: bool = True  # by the grammar of a reply without thinking


@dataclass(frozen=True, slots=True)
class ThinkingMarkers:
    """A model's markers. `begun`: the prompt leaves thinking open; `may_open`: the reply may open it."""

    opens: tuple[int, ...] = ()
    closes: bytes = b""
    begun: bool = False
    may_open: bool = False
    ends: tuple[int, ...] = ()  # the tokens of `closes`, which end thinking; none: nothing can
    text: Callable[[int], bytes] = _no_text  # of a token


class Guide:
    """Follows one reply, and its grammar if it has one. Engine thread only.

    Matchers keep what they have worked out, and it counts against their limits. So the committed tokens, with a mask
    before each, have matchers of their own: these break at the same token with any draft.
    """

    def __init__(
        self, grammar: Grammar | None, thinking: ThinkingMarkers | None = None, most_thinking: int | None = None
    ) -> None:
        """`most_thinking`: tokens of thinking, after which it is ended; None: any number."""
        thinking = thinking or ThinkingMarkers()
        self._grammar = grammar
        self._thinking = thinking
        self._most_thinking = most_thinking
        self._committed = _Follower(grammar, thinking)
        self._drafted = _Follower(None if grammar is None else grammar.for_drafts, thinking)

    def acts_within(self, rows: int) -> bool:
        """Whether any of the next `rows` tokens may be restricted."""
        place = self._committed.place
        begins_free = self._committed.begins_free
        if self._grammar is not None and (not begins_free or rows > 1 or place.phase is Phase.ANSWER):
            return True
        if self._most_thinking is None or not self._thinking.ends:
            return False
        left = self._most_thinking - place.thought
        if place.phase is Phase.OPENING:
            left += len(self._thinking.opens) - place.opened
        return left < rows and place.phase in (Phase.OPENING, Phase.THINKING)

    def end_thinking(self) -> None:
        """At the next token that is not drawn yet, if it thinks by then."""
        self._most_thinking = 0

    def masked(self, logits: mx.array, draft: Draft) -> mx.array:
        """`logits` (rows, vocabulary), -inf where a token is not allowed; the rows are the last of the n + 1 after
        `draft`. A row whose mask cannot be made allows none.

        Starts the device on them first: the masks are made meanwhile.
        """
        if not self.acts_within(draft.tokens.size + 1):
            return logits
        mx.async_eval(logits)
        rows, width = logits.shape
        words = (width + 31) // 32 if self._grammar is None else self._grammar.vocabulary.words
        masks = np.full((rows, words), -1, dtype=np.int32)
        self._fill(masks, integers(draft.tokens))
        if (masks == -1).all():
            return logits
        allowed = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")[:, :width]
        return mx.where(mx.array(allowed.view(np.bool_)), logits, -mx.inf)

    def _fill(self, masks: np.ndarray[Any, Any], tokens: Sequence[int]) -> None:
        """A mask for each of the places before, between and after `tokens`; or one, after `tokens`: then these are sure
        to be committed.
        """
        sure = tokens if len(masks) == 1 else ()
        with self._committed.looking_ahead():
            for token in sure:
                self._committed.follow(token)
            self._committed.fill(masks[0], self._most_thinking)
        with self._drafted.looking_ahead():
            for mask, token in zip(masks[1:], tokens[len(sure) :], strict=True):
                self._drafted.follow(token)
                self._drafted.fill(mask, self._most_thinking)

    def forced(self) -> list[int]:
        """The tokens that have to come next, as far as there is no choice."""
        place = self._committed.place
        if place.phase is Phase.OPENING and place.opened:
            return [] if self._committed.begins_free else list(self._thinking.opens[place.opened :])
        if self._committed.has_to_end_thinking(self._most_thinking):
            return list(self._thinking.ends[place.closed :])
        if place.phase is not Phase.ANSWER or self._grammar is None:
            return []
        return self._drafted.matcher.compute_ff_tokens()[:_MOST_FORCED]

    def commit(self, tokens: list[int]) -> list[int]:
        """Move on by `tokens`, of which those are returned that come before the first whose mask cannot be made."""
        for at, token in enumerate(tokens):
            if at and self._grammar is not None:
                self._committed.fill(np.zeros(self._grammar.vocabulary.words, dtype=np.int32), self._most_thinking)
                if self._committed.at_end:
                    return tokens[:at]
            self._committed.follow(token)
            self._drafted.follow(token)
        return tokens

    def check(self) -> None:
        """Raises InvalidRequest if no mask can be made for the next token."""
        if self._grammar is not None:
            check(self._committed.matcher)


class _Follower:
    """Stands at a place of the reply, with matchers of its own."""

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
        """Whether its grammar allows no token: the reply has ended, or the matcher has reached a limit for good."""
        return self._grammar is not None and (self.place.phase is Phase.ENDED or self.matcher.is_error())

    @contextmanager
    def looking_ahead(self) -> Iterator[None]:
        """It is where it was when this ends."""
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

    def has_to_end_thinking(self, most_thinking: int | None) -> bool:
        """Whether it has taken as many tokens as it may."""
        most = most_thinking if self._thinking.ends and self.place.phase is Phase.THINKING else None
        return most is not None and self.place.thought >= most

    def fill(self, row: np.ndarray[Any, Any], most_thinking: int | None) -> None:
        """A mask of the tokens that may come next; of none if it cannot be made."""
        self._fill(row, most_thinking)
        if self.at_end:
            row[:] = 0

    def _fill(self, row: np.ndarray[Any, Any], most_thinking: int | None) -> None:
        place = self.place
        vocabulary = None if self._grammar is None else self._grammar.vocabulary
        answers = place.phase in (Phase.ANSWER, Phase.ENDED)  # a matcher tells here why it could not follow a token
        if self.has_to_end_thinking(most_thinking):
            row[:] = 0
            _set(row, [self._thinking.ends[place.closed]])
        elif vocabulary is None or (self.begins_free and not answers):
            return
        elif answers:
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
            case Phase.OPENING | Phase.FREE if (token,) == self._thinking.opens[place.opened : place.opened + 1]:
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
        goes_on = token not in vocabulary.ends and token < len(vocabulary.texts)  # beyond them a draft's only
        if goes_on and self.matcher.try_consume_tokens([token]):
            return replace(place, consumed=place.consumed + 1)
        return replace(place, phase=Phase.ENDED)

    def _beyond(self, tail: bytes, vocabulary: GrammarVocabulary) -> Iterator[int]:
        """Tokens that would end thinking and begin the answer at once: no grammar could judge their rest."""
        closes = self._thinking.closes
        for length in range(1, len(closes)):
            if tail.endswith(closes[:length]):
                yield from vocabulary.longer_than(closes[length:])


def _set(row: np.ndarray[Any, Any], tokens: Sequence[int]) -> None:
    for token in tokens:
        row.view(np.uint8)[token >> 3] |= 1 << (token & 7)


def _clear(row: np.ndarray[Any, Any], tokens: Sequence[int]) -> None:
    for token in tokens:
        row.view(np.uint8)[token >> 3] &= 0xFF ^ (1 << (token & 7))
