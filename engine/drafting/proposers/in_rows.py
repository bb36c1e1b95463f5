"""Drafters that are fed hidden states, in a batch: they read and draft for all replies in the same forwards."""

from __future__ import annotations

from collections.abc import Sequence as Tokens

import mlx.core as mx

from engine.decoding.accept import Draft
from engine.drafting.proposers.base import Wanted
from engine.drafting.proposers.features import Context, FeatureProposer
from engine.drafting.proposers.rows import HeadRows


class InRows(FeatureProposer):
    """Subclasses define `propose_together`, and in `propose` return `drafted_in_rows` if there is one."""

    drafts_in_rows = True
    _drafted: Draft | None = None

    def propose_together(self, rows: HeadRows, states: mx.array, wanted: Tokens[Wanted]) -> Tokens[Draft]:
        """A draft for each of `rows`; `states` (texts, width) are of what each read last, without a plan any."""
        raise NotImplementedError

    def drafted_in_rows(self) -> Draft | None:
        """What `draft_rows` has drafted since the last call; None: nothing."""
        drafted = self._drafted
        self._drafted = None
        return drafted

    def draft_rows(self, wanted: Tokens[Wanted]) -> None:
        """One that is a row stays one where it drafts nothing in this step: leaving and joining copies all caches."""
        ours = [(each.proposer, each) for each in wanted if isinstance(each.proposer, InRows)]
        rows = next((one.context.rows for one, _ in ours if one.context.rows), None) or HeadRows(self._network)
        held = [(one, each) for one, each in ours if one.join(rows, each)]
        if not any(each.plan.length for _, each in held):
            return
        rows.hold([one.context.following for one, _ in held])
        states = _read_rows(rows, [(one.context, bool(each.plan.length)) for one, each in held])
        drafts = self.propose_together(rows, states, [each for _, each in held])
        for (one, _), draft in zip(held, drafts, strict=True):
            one.take(draft)

    def join(self, rows: HeadRows, wanted: Wanted) -> bool:
        """Whether it is one of `rows`, prepared for `hold`."""
        context = self.context
        context.follow(wanted.tokens)
        if context.rows is not rows:
            context.leave_rows()
        if wanted.plan.length:
            context.rows = rows if context.prepare_row() else None
        return context.rows is not None

    def take(self, draft: Draft) -> None:
        """The draft that its rows have made, for the next `propose`."""
        self._drafted = draft if draft.tokens.size else None


def _read_rows(rows: HeadRows, texts: Tokens[tuple[Context, bool]]) -> mx.array:
    """Read what waits of each text that drafts; states (texts, width) at the last row of each, of others any."""
    parts = [context.next_part() if drafts else None for context, drafts in texts]
    made = rows.read([None if part is None else (part.following, part.states) for part in parts])
    for row, ((context, _), part) in enumerate(zip(texts, parts, strict=True)):
        if part is not None and made is not None:
            context.note_read(part, made[row : row + 1])
    states = [context.last_state if drafts else None for context, drafts in texts]
    known = next(state for state in states if state is not None)
    return mx.concatenate([known if state is None else state for state in states])
