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


def _no_text(token: int) -> bytes:
    return b""


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
    text: Callable[[int], bytes] = _no_text  # the text of a token


@dataclass(slots=True)
class Guide:
    """The allowed tokens of one reply, followed token by token. Engine thread only.

    `most_thinking`: the number of tokens after which thinking is ended; None: no limit.
    """

    grammar: Grammar | None
    thinking: ThinkingMarkers = field(default_factory=ThinkingMarkers)
    most_thinking: int | None = None
    _place: _Place = field(init=False)

    def __post_init__(self) -> None:
        self._place = _Place(Phase.ANSWER if self._opener is None else Phase.FREE)
        if self.thinking.begun:
            self._place = _Place(Phase.THINKING)
        elif self.thinking.may_open and self.thinking.opens:
            self._place = _Place(Phase.OPENING)

    @property
    def _opener(self) -> int | None:
        return None if self.grammar is None else self.grammar.opener

    @property
    def _begins_free(self) -> bool:
        """Whether an answer may begin with any token."""
        return self.grammar is None or self.grammar.opener is not None

    def acts_within(self, rows: int) -> bool:
        """Whether any of the next `rows` tokens may be restricted."""
        if self.grammar is not None and (not self._begins_free or rows > 1 or self._place.phase is Phase.ANSWER):
            return True
        if self.most_thinking is None or not self.thinking.ends:
            return False
        left = self.most_thinking - self._place.thought
        if self._place.phase is Phase.OPENING:
            left += len(self.thinking.opens) - self._place.opened
        return left < rows and self._place.phase in (Phase.OPENING, Phase.THINKING)

    def end_thinking(self) -> None:
        """End thinking at the next token that is not drawn yet, if the reply is still thinking there."""
        self.most_thinking = 0

    def masked(self, logits: mx.array, draft: Draft) -> mx.array:
        """`logits` (rows, vocabulary) with -inf for tokens that are not allowed; the rows are the last of the n + 1
        after `draft`.

        Starts computing the logits first, so the masks are made while the device works.
        """
        if not self.acts_within(draft.tokens.size + 1):
            return logits
        mx.async_eval(logits)
        rows, width = logits.shape
        words = (width + 31) // 32 if self.grammar is None else self.grammar.vocabulary.words
        masks = np.full((rows, words), -1, dtype=np.int32)
        self._fill(masks, integers(draft.tokens))
        if (masks == -1).all():
            return logits
        allowed = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")[:, :width]
        return mx.where(mx.array(allowed.view(np.bool_)), logits, -mx.inf)

    def forced(self) -> list[int]:
        """The next tokens, as far as exactly one is allowed at each position."""
        place = self._place
        if place.phase is Phase.OPENING and place.opened:
            return [] if self._begins_free else list(self.thinking.opens[place.opened :])
        if self._has_to_end(place):
            return list(self.thinking.ends[place.closed :])
        if place.phase is not Phase.ANSWER or self.grammar is None:
            return []
        return self._matcher(place).compute_ff_tokens()[:_MOST_FORCED]

    def commit(self, tokens: Sequence[int]) -> None:
        for token in tokens:
            self._place = self._after(self._place, token)
        if self.grammar is not None:
            check(self._matcher(self._place))

    def _fill(self, masks: np.ndarray[Any, Any], tokens: Sequence[int]) -> None:
        """Fill a mask for each of the last `rows` positions before, between and after `tokens`."""
        first = len(tokens) + 1 - len(masks)
        places = [self._place]
        with self._undone(places):
            for before in range(len(tokens) + 1):
                if before:
                    places.append(self._after(places[-1], tokens[before - 1]))
                if before >= first:
                    self._fill_row(masks[before - first], places[-1])

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
            case Phase.OPENING | Phase.FREE if (token,) == self.thinking.opens[place.opened : place.opened + 1]:
                thinking = Phase.THINKING if place.phase is Phase.OPENING else Phase.ASIDE
                opened = place.opened + 1
                return _Place(thinking) if opened == len(self.thinking.opens) else replace(place, opened=opened)
            case Phase.OPENING if self._begins_free and not place.opened and self.thinking.text(token).isspace():
                return place
            case Phase.OPENING | Phase.FREE if self._opener not in (None, token):
                return _Place(Phase.FREE)
            case Phase.THINKING | Phase.ASIDE if self.grammar is None or token not in self.grammar.vocabulary.ends:
                return self._after_thought(place, token)
            case Phase.OPENING | Phase.FREE | Phase.ANSWER if self.grammar and (self._begins_free or not place.opened):
                answer = replace(place, phase=Phase.ANSWER, opened=0)
                return self._after_answer(answer, token, self.grammar.vocabulary)
        return replace(place, phase=Phase.ENDED)

    def _after_thought(self, place: _Place, token: int) -> _Place:
        closes = self.thinking.closes
        ends = self.thinking.ends
        tail = place.tail + self._text(token)
        closed = 0
        if ends:
            closed = place.closed + 1 if token == ends[place.closed] else int(token == ends[0])
        if closes in tail or 0 < len(ends) == closed:
            return _Place(Phase.ANSWER, alone=False) if self._opener is None else _Place(Phase.FREE)
        tail = tail[len(tail) - len(closes) + 1 :] if len(tail) >= len(closes) else tail
        return replace(place, thought=place.thought + 1, tail=tail, closed=closed)

    def _text(self, token: int) -> bytes:
        return self.thinking.text(token) if self.grammar is None else self.grammar.vocabulary.text(token)

    def _has_to_end(self, place: _Place) -> bool:
        """Whether thinking has reached its token limit."""
        most = self.most_thinking if self.thinking.ends and place.phase is Phase.THINKING else None
        return most is not None and place.thought >= most

    def _after_answer(self, place: _Place, token: int, vocabulary: GrammarVocabulary) -> _Place:
        goes_on = token not in vocabulary.ends and token < len(vocabulary.texts)  # ids beyond them occur in drafts only
        if goes_on and self._matcher(place).try_consume_tokens([token]):
            return replace(place, consumed=place.consumed + 1)
        return replace(place, phase=Phase.ENDED)

    def _fill_row(self, row: np.ndarray[Any, Any], place: _Place) -> None:
        vocabulary = None if self.grammar is None else self.grammar.vocabulary
        if self._has_to_end(place):
            row[:] = 0
            _set(row, [self.thinking.ends[place.closed]])
        elif vocabulary is None or (self._begins_free and place.phase is not Phase.ANSWER):
            return
        elif place.phase is Phase.ANSWER:
            self._fill_answer(row, place, vocabulary)
        elif place.phase is Phase.OPENING:
            row[:] = 0
            if not place.opened:
                self._fill_answer(row, place, vocabulary)
            _set(row, [self.thinking.opens[place.opened]])
        elif place.phase is Phase.THINKING:
            _clear(row, [*vocabulary.ends, *self._beyond(place.tail, vocabulary)])

    def _fill_answer(self, row: np.ndarray[Any, Any], place: _Place, vocabulary: GrammarVocabulary) -> None:
        matcher = self._matcher(place)
        known = row[: vocabulary.known_words]
        row[known.size :] = 0  # the output layer's padding
        matcher.unsafe_compute_mask_ptr(known.ctypes.data, known.nbytes)
        check(matcher)

    def _beyond(self, tail: bytes, vocabulary: GrammarVocabulary) -> Iterator[int]:
        """Tokens with the end marker and the beginning of an answer, which the grammar could not check."""
        closes = self.thinking.closes
        for length in range(1, len(closes)):
            if tail.endswith(closes[:length]):
                yield from vocabulary.longer_than(closes[length:])

    def _matcher(self, place: _Place) -> LLMatcher:
        if self.grammar is None:
            raise RuntimeError("a reply without a grammar")
        return self.grammar.alone if place.alone else self.grammar.after_thinking


def _set(row: np.ndarray[Any, Any], tokens: Sequence[int]) -> None:
    for token in tokens:
        row.view(np.uint8)[token >> 3] |= 1 << (token & 7)


def _clear(row: np.ndarray[Any, Any], tokens: Sequence[int]) -> None:
    for token in tokens:
        row.view(np.uint8)[token >> 3] &= 0xFF ^ (1 << (token & 7))
