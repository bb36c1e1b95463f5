"""Drafting with a small model, which prefills the chat lazily.

It prefills nothing before the first token, then catches up chunk by chunk while the reply is decoded plainly. Its
sequence has its own tokens: if its vocabulary differs, `Translation` maps the main model's tokens to them, and its
logits back.
"""

from __future__ import annotations

from collections.abc import Sequence as Tokens
from itertools import takewhile

import mlx.core as mx

from engine.api.types import MAX_DRAFT_TOKENS
from engine.caches.checkpoints import needs_checkpoints
from engine.decoding.accept import Draft
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.drafting.plans import Offer, Plan
from engine.drafting.proposers.base import Proposer, Wanted
from engine.drafting.proposers.chain import Growing, draft_chains
from engine.drafting.proposers.rows import DraftRows
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from engine.vision.values import without_names

# The first forward of a draft prefills up to so many tokens, and computes logits that are not used. So tokens of a few
# plain rounds are prefilled when a draft needs them, not after every round.
_TAIL_TOKENS = 16


class DraftModelProposer(Proposer):
    name = "draft"
    drafts_in_rows = True

    def __init__(self, model: LoadedModel, store: PrefixStore, turn_end: int = 0, chat: Sequence | None = None) -> None:
        self._model = model
        self._translation = model.translation
        self._ends = model.ends
        self._store = store
        self._turn_end = turn_end
        self._chat = chat
        self._sequence: Sequence | None = None
        self._taken_in: int  # tokens of the main model that its sequence has followed
        self.rows: DraftRows | None = None  # that hold its sequence's caches, in a batch
        self._drafted: Draft | None = None  # made in rows, for the next `propose`
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
        self._leave_rows()
        sequence = self._following
        if self._lags(sequence):
            sequence.prefill_chunk()
        else:
            self._read_tail(sequence)
            mx.async_eval(self._logits)

    def propose(self, tokens: Tokens[int], plan: Plan, sampler: Sampler) -> Draft:
        """Stops after an end token, and by the plan's stop rule."""
        if (draft := self._drafted) is not None:
            self._drafted = None
            return draft
        self._leave_rows()
        sequence = self._follow(tokens)
        self._read_tail(sequence)

        def step(drafted: mx.array) -> mx.array:
            logits = sequence.feed(self._own_ids(drafted))
            sequence.caches.commit(1)
            return self._for_main(logits)

        return draft_chains(self._logits, step, [Growing(len(tokens), plan, sampler, self._ends)])[0]

    def draft_rows(self, wanted: Tokens[Wanted]) -> None:
        """One that is a row stays one where it drafts nothing in this step: leaving and joining copies all caches."""
        ours = [(each.proposer, each) for each in wanted if isinstance(each.proposer, DraftModelProposer)]
        rows = next((one.rows for one, _ in ours if one.rows is not None), None) or DraftRows(self._model)
        joined = [(one, each, sequence) for one, each in ours if (sequence := one.join(rows, each)) is not None]
        if not any(each.plan.length for _, each, _ in joined):
            return
        rows.hold([sequence for *_, sequence in joined])
        logits = self._for_main(rows.read([bool(each.plan.length) for _, each, _ in joined]))

        def step(drafted: mx.array) -> mx.array:
            return self._for_main(rows.step(self._own_ids(drafted)))

        growing = [Growing(len(each.tokens), each.plan, each.sampler, self._ends) for _, each, _ in joined]
        for (one, *_), draft in zip(joined, draft_chains(logits, step, growing), strict=True):
            one.take(draft)

    def join(self, rows: DraftRows, wanted: Wanted) -> Sequence | None:
        """Its sequence, if that can be one of `rows`, prepared for `hold`."""
        self._drafted = None
        if self.rows is not rows:
            self._leave_rows()
        sequence = self._follow(wanted.tokens)
        if not self._is_row:
            if wanted.plan.length:
                self._uncache_newest(sequence)
            self.rows = rows if wanted.plan.length and sequence.caches.position else None
        return None if self.rows is None else sequence

    def take(self, draft: Draft) -> None:
        """The draft that its rows have made, for the next `propose`."""
        if draft.tokens.size and self.rows is not None:
            self._following.caches.position += min(self.rows.steps, draft.tokens.size)
            self._drafted = draft

    def commit(self, emitted: Tokens[int]) -> None:
        """The draft has cached all drafted tokens but the last; rejected rows are dropped."""
        sequence = self._following
        accepted = len(list(takewhile(self._is_single, emitted[:-1])))
        held = min(sequence.caches.position, len(sequence.tokens) + accepted)
        if self._is_row:
            sequence.caches.position = held
        else:
            sequence.caches.roll_back(held)
        sequence.tokens.extend(self._own(emitted))
        self._taken_in += len(emitted)

    def close(self) -> None:
        self._leave_rows()
        if self._sequence is not None:
            self._uncache_newest(self._sequence)  # to where any next turn may continue
            self._sequence.belong_to(self._chat)
            self._store.put(self._sequence)
            self._sequence = None

    @property
    def _is_row(self) -> bool:
        return self.rows is not None and self._sequence is not None and self._sequence in self.rows

    def _leave_rows(self) -> None:
        if self.rows is not None and self._is_row:
            self.rows.release(self._following)
        self.rows = None

    def _uncache_newest(self, sequence: Sequence) -> None:
        """Where all is cached, drop what the newest forward has read."""
        caches = sequence.caches
        caches.roll_back(caches.position if sequence.uncached else self._before_tail)

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

    def _own_ids(self, drafted: mx.array) -> mx.array:
        return drafted if self._translation is None else self._translation.drafted(drafted)

    def _is_single(self, token: int) -> bool:
        """Whether it is one token in both vocabularies."""
        return self._translation is None or token in self._translation.tokens.single

    def _for_main(self, logits: mx.array) -> mx.array:
        return logits if self._translation is None else self._translation.logits(logits)
