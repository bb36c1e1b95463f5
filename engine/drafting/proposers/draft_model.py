"""Drafting with a small model, which prefills the chat lazily.

It prefills nothing before the first token, then catches up chunk by chunk while the reply is decoded plainly. Its
sequence has its own tokens: if its vocabulary differs, `Translation` maps the main model's tokens to them, and its
logits back.
"""

from __future__ import annotations

from collections.abc import Sequence as Tokens
from itertools import takewhile
from typing import TYPE_CHECKING

import mlx.core as mx

from engine.api.types import MAX_DRAFT_TOKENS
from engine.caches.checkpoints import needs_checkpoints
from engine.decoding.accept import Draft
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.drafting.plans import Offer, Plan
from engine.drafting.proposers.chain import draft_chain
from engine.prefix.memory import PrefixStore
from engine.vision.values import without_names

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

# The first forward of a draft prefills up to so many tokens, and computes logits that are not used. So tokens of a few
# plain rounds are prefilled when a draft needs them, not after every round.
_TAIL_TOKENS = 16


class DraftModelProposer:
    name = "draft"

    def __init__(self, model: LoadedModel, store: PrefixStore, turn_end: int = 0, chat: Sequence | None = None) -> None:
        self._model = model
        self._translation = model.translation
        self._ends = model.ends
        self._store = store
        self._turn_end = turn_end
        self._chat = chat
        self._sequence: Sequence | None = None
        self._taken_in: int  # tokens of the main model that its sequence has followed
        self._logits: mx.array  # after the last cached token
        self._before_tail: int  # position before that forward

    def offer(self, tokens: Tokens[int]) -> Offer:
        sequence = self._follow(tokens)
        room = self._model.info.context_tokens - len(sequence.tokens)
        behind = sequence.uncached - 1 if self._lags(sequence) and room > 0 else 0
        most = 0 if behind else max(0, min(MAX_DRAFT_TOKENS, room))
        return Offer(self.name, most, has_probabilities=True, behind=behind)

    def read_on(self) -> None:
        """Prefill a chunk; or queue the forward over the last tokens, which the next draft needs."""
        sequence = self._following
        if self._lags(sequence):
            sequence.prefill_chunk()
        else:
            self._read_tail(sequence)
            mx.async_eval(self._logits)

    def propose(self, tokens: Tokens[int], plan: Plan, sampler: Sampler) -> Draft:
        """Stops after an end token, and by the plan's stop rule."""
        sequence = self._follow(tokens)
        self._read_tail(sequence)

        def step(drafted: mx.array) -> mx.array:
            logits = sequence.feed(drafted if self._translation is None else self._translation.drafted(drafted))
            sequence.caches.commit(1)
            return self._for_main(logits)

        return draft_chain(self._logits, step, len(tokens), plan, sampler, self._ends)

    def commit(self, emitted: Tokens[int]) -> None:
        """The draft has cached all drafted tokens but the last; rejected rows are dropped."""
        sequence = self._following
        accepted = len(list(takewhile(self._is_single, emitted[:-1])))
        sequence.caches.roll_back(min(sequence.caches.position, len(sequence.tokens) + accepted))
        sequence.tokens.extend(self._own(emitted))
        self._taken_in += len(emitted)

    def close(self) -> None:
        if self._sequence is not None:
            caches = self._sequence.caches  # to where any next turn may continue
            caches.roll_back(caches.position if self._sequence.uncached else self._before_tail)
            self._sequence.belong_to(self._chat)
            self._store.put(self._sequence)
            self._sequence = None

    @staticmethod
    def _lags(sequence: Sequence) -> bool:
        """Whether more tokens are uncached than a draft prefills itself, or a checkpoint has to be kept among them."""
        stops = sequence.caches.position < sequence.turn_end and needs_checkpoints(sequence.caches)
        return sequence.uncached > (1 if stops else _TAIL_TOKENS)

    def _read_tail(self, sequence: Sequence) -> None:
        """The forward over the last tokens, unless it was queued already. Rows from there on can be rolled back."""
        if uncached := sequence.uncached:
            self._before_tail = sequence.caches.position
            sequence.caches.keep_rollback_points()
            self._logits = self._for_main(sequence.feed(mx.array(sequence.tokens[-uncached:]))[-1:])
            sequence.caches.commit(uncached)

    @property
    def _following(self) -> Sequence:
        if self._sequence is None:
            raise RuntimeError("an offer comes first")
        return self._sequence

    def _follow(self, tokens: Tokens[int]) -> Sequence:
        """Append the tokens committed since the last call, plain rounds included."""
        if self._sequence is None:
            owner = "" if self._chat is None else self._chat.owner
            self._sequence = self._store.take(self._model, self._own(tokens), owner=owner, may_copy=True)
            self._sequence.turn_end = len(self._own(tokens[: self._turn_end]))
            if self._chat is not None:
                self._sequence.shared_end = len(self._own(tokens[: self._chat.shared_end]))
        else:
            self._sequence.tokens.extend(self._own(tokens[self._taken_in :]))
        self._taken_in = len(tokens)
        return self._sequence

    def _own(self, tokens: Tokens[int]) -> list[int]:
        """The main model's tokens in the draft's vocabulary; the draft gets no pictures."""
        text = without_names(tokens)
        return text if self._translation is None else self._translation.tokens.spell(text)

    def _is_single(self, token: int) -> bool:
        """Whether it is one token in both vocabularies."""
        return self._translation is None or token in self._translation.tokens.single

    def _for_main(self, logits: mx.array) -> mx.array:
        return logits if self._translation is None else self._translation.logits(logits)
