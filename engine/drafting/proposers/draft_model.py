"""Drafting with a small model of the same vocabulary, which reads the chat lazily.

It reads nothing until the first speculative round, then catches up chunk by chunk while the reply goes on plainly.
"""

from __future__ import annotations

from collections.abc import Sequence as Tokens
from typing import TYPE_CHECKING

import mlx.core as mx

from engine.api.types import MAX_DRAFT_TOKENS
from engine.decoding.accept import NO_TOKENS, Draft
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.drafting.confidence import Confidence
from engine.drafting.controller import Offer
from engine.prefix.memory import PrefixStore

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

# After a round that stood whole the draft lacks two tokens. Reading more than that in the drafting forward itself would
# compute logits that nobody wants.
_TAIL_TOKENS = 2


class DraftModelProposer:
    name = "draft"

    def __init__(
        self, model: LoadedModel, store: PrefixStore, turn_end: int = 0, confidence: Confidence | None = None
    ) -> None:
        self._model = model
        self._ends = model.ends
        self._store = store
        self._turn_end = turn_end
        self._confidence = confidence or Confidence()
        self._drafts: list[Draft] = []  # of the present round, a token each
        self._logits = NO_TOKENS  # behind the last token that was read
        self._settled = 0  # the position before that forward
        self._sequence: Sequence | None = None

    def offer(self, tokens: Tokens[int]) -> Offer:
        sequence = self._follow(tokens)
        room = self._model.info.context_tokens - len(tokens)
        behind = sequence.unread - 1 if sequence.unread > _TAIL_TOKENS and room > 0 else 0
        return Offer(self.name, 0 if behind else max(0, min(MAX_DRAFT_TOKENS, room)), gated=True, behind=behind)

    def read_on(self) -> None:
        """A chunk; or, of the last tokens, what the next draft starts with: under way, but not waited for."""
        assert self._sequence is not None
        if self._sequence.unread > _TAIL_TOKENS:
            self._sequence.prefill_chunk()
        else:
            self._read_rest()
            mx.async_eval(self._logits)

    def propose(self, tokens: Tokens[int], limit: int, sampler: Sampler) -> Draft:
        """Stops early at an end, and where it is not sure enough. It looks at each token while the next one is under
        way, so that the device always has something to work on."""
        sequence = self._follow(tokens)
        drafts: list[Draft] = []
        self._read_rest()
        logits = self._logits
        sequence.caches.leave_trail()
        self._confidence.begin()
        for step in range(limit):
            if drafts:
                logits = sequence.feed(drafts[-1].tokens)
                sequence.caches.commit(1)
            ahead = mx.concatenate([draft.tokens for draft in drafts]) if drafts else None
            drafts.append(sampler.draft(logits, len(tokens) + step, ahead, self._confidence.sharpness))
            mx.async_eval(drafts[-1].tokens, drafts[-1].rivals, *([drafts[-1].sure] if self._confidence.floor else []))
            if step and drafts[-2].tokens.item() in self._ends:
                drafts.pop()
                break
            if step and self._confidence.floor and not self._confidence.goes_on(probability(drafts[-2])):
                break
        self._drafts = drafts
        laws = [draft.law for draft in drafts if draft.law is not None]
        return Draft(mx.concatenate([draft.tokens for draft in drafts]), mx.concatenate(laws) if laws else None)

    def commit(self, emitted: Tokens[int]) -> None:
        """The draft has read all that it drafted but the last token; what did not stand goes."""
        assert self._sequence is not None
        sequence = self._sequence
        sequence.caches.rewind(min(sequence.caches.position, len(sequence.tokens) + len(emitted) - 1))
        sequence.tokens.extend(emitted)
        self._learn(emitted)

    def _read_rest(self) -> None:
        """The last tokens, in one forward, unless that has been done already."""
        assert self._sequence is not None
        if unread := self._sequence.unread:
            self._settled = self._sequence.caches.position
            self._sequence.caches.leave_trail()
            self._logits = self._sequence.feed(mx.array(self._sequence.tokens[-unread:]))[-1:]
            self._sequence.caches.commit(unread)

    def _learn(self, emitted: Tokens[int]) -> None:
        """What came of how sure it was, if anybody asked, and of how sharply it drew."""
        if self._confidence.floor:
            for draft in self._drafts[self._confidence.heard :]:
                self._confidence.goes_on(probability(draft))
            right = [draft.tokens.item() == token for draft, token in zip(self._drafts, emitted, strict=False)]
            self._confidence.learn(right)
        for draft, truth in zip(self._drafts, emitted, strict=False):
            if draft.rivals.size:
                self._confidence.sharpness.learn(draft.rivals.tolist(), truth)  # type: ignore[arg-type]

    def close(self) -> None:
        if self._sequence is not None:
            caches = self._sequence.caches
            caches.rewind(caches.position if self._sequence.unread else self._settled)  # where any next turn goes on
            self._store.put(self._sequence)
            self._sequence = None

    def _follow(self, tokens: Tokens[int]) -> Sequence:
        """Take in what was committed since the last look, plain rounds included."""
        if self._sequence is None:
            self._sequence = self._store.take(self._model, list(tokens))
            self._sequence.turn_end = self._turn_end
        self._sequence.tokens.extend(tokens[len(self._sequence.tokens) :])
        return self._sequence


def probability(draft: Draft) -> float:
    value = draft.sure.item()
    assert isinstance(value, float)
    return value
