"""What drafting methods have in common. A new method is a new file in this folder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import mlx.core as mx

from engine.decoding.accept import NO_DRAFT, Draft
from engine.decoding.sampling import Sampler
from engine.drafting.plans import PLAIN, Offer, Plan

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Proposer:
    """Drafts for one reply. It gets committed tokens only; what it proposes cannot change the text. Engine thread.

    It may raise: the reply then goes on without it. A method of drafting inherits what it does not need.
    """

    name: str
    layers: tuple[int, ...] = ()  # of the main model, from whose hidden states it drafts
    reads_next_token = False  # see `StateNetwork`
    free = False  # its draft needs no work of the device, so accept rates are learnt from its unused offers too
    drafts_in_rows = False  # whether it has `draft_rows`

    def offer(self, tokens: Sequence[int]) -> Offer:
        """How many tokens could be drafted after `tokens`. Runs no forward; the first call may take a cache."""
        raise NotImplementedError

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        """Up to `plan.length` tokens to follow `tokens`, fewer by `plan.stop`.

        The arrays may be unevaluated: the verifying forward can be queued after them.
        """
        raise NotImplementedError

    def commit(self, emitted: Sequence[int]) -> None:
        """`emitted` was appended to the tokens of the last `propose`; the rest of the draft was rejected.

        The next offer gets all tokens.
        """

    def close(self) -> None:
        """The reply has ended; put caches into the store for the next turn."""

    def receive_states(self, position: int, states: mx.array) -> None:
        """Hidden states (tokens, layers × width) of the committed tokens from `position` on; called before each offer.

        States that were not recorded (prefilled before this reply, for one) are missing: positions may skip.
        """

    def read_on(self) -> None:
        """Prefill at most one chunk of what `Offer.behind` says. Called only if the controller thinks it worth its
        time.
        """

    def draft_rows(self, wanted: Sequence[Wanted]) -> None:
        """Draft for these replies, its own among them, in the same forwards; all are of this class.

        The next `propose` of each returns its draft.
        """
        raise NotImplementedError

    def propose_tokens(self, tokens: Sequence[int], most: int) -> list[int]:
        """Of one that is `free`: the tokens that `propose` would draft after `tokens`."""
        return []


class FreeProposer(Proposer):
    """Each offer reads the tokens that were committed."""

    free = True

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        return Draft(mx.array(self.propose_tokens(tokens, plan.length), dtype=mx.uint32))


class Guarded:
    """A proposer whose errors do not end the reply: after the first, which is logged, it offers nothing."""

    def __init__(self, proposer: Proposer) -> None:
        self._proposer = proposer
        self.name = proposer.name
        self.layers = proposer.layers
        self.reads_next_token = proposer.reads_next_token
        self.free = proposer.free
        self.failed = False
        self._ahead = False  # a forward of `read_on` may be in flight

    def offer(self, tokens: Sequence[int]) -> Offer:
        return self._try(lambda: self._proposer.offer(tokens)) or Offer(self.name, 0)

    def read_on(self) -> None:
        self._ahead = not self.free
        self._try(self._proposer.read_on)

    def wait(self) -> None:
        """Wait for its forward in flight. If that fails on the device, the error may be raised here."""
        self._ahead = False
        self._try(mx.synchronize)

    def settle(self) -> None:
        """Wait for a forward started ahead, so that its failure is not raised in another user of the device."""
        if self._ahead:
            self.wait()

    def propose_tokens(self, tokens: Sequence[int], most: int) -> list[int]:
        return self._try(lambda: self._proposer.propose_tokens(tokens, most)) or []

    def receive_states(self, position: int, states: mx.array) -> None:
        self._try(lambda: self._proposer.receive_states(position, states))

    def wanted(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Wanted | None:
        """For `draft_together`; None: it drafts alone."""
        if self.failed or not self._proposer.drafts_in_rows:
            return None
        return Wanted(self, self._proposer, tokens, plan if plan.source == self.name else PLAIN, sampler)

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler, *, wait: bool = False) -> Draft:
        """`wait` for the device: else its failure would be raised in the next user of it, another proposer perhaps."""
        return self._try(lambda: self._drafted(tokens, plan, sampler, wait)) or NO_DRAFT

    def _drafted(self, tokens: Sequence[int], plan: Plan, sampler: Sampler, wait: bool) -> Draft:
        self._ahead = False  # the draft continues from that forward
        draft = self._proposer.propose(tokens, plan, sampler)
        if draft.tokens.ndim != 1 or draft.tokens.size > plan.length:
            raise ValueError(f"a draft of the shape {draft.tokens.shape}, and {plan.length} tokens were planned")
        # Queued, so that errors of the draft are raised here: in the verifying forward they would count as the main
        # model's, and the draft's tokens would already be in the reply's caches.
        mx.async_eval(draft.tokens)
        if wait:
            mx.eval([array for array in draft.host_arrays if array is not None])
        return draft

    def commit(self, emitted: Sequence[int]) -> None:
        self._try(lambda: self._proposer.commit(emitted))

    def close(self) -> None:
        self.settle()
        self._try(self._proposer.close)

    def fail(self, error: Exception) -> None:
        _log.error("the proposer %s failed; the reply goes on plainly", self.name, exc_info=error)
        self.failed = True

    def _try(self, act: Callable[[], T]) -> T | None:
        """None if it failed, now or before."""
        try:
            return None if self.failed else act()
        except Exception as error:  # noqa: BLE001  drafting is optional: no error of it may end the reply
            self.fail(error)
            return None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a reply wants drafted in a step of a batch. `plan`: PLAIN if nothing, or by another proposer."""

    guarded: Guarded
    proposer: Proposer
    tokens: Sequence[int]
    plan: Plan
    sampler: Sampler


def draft_together(wanted: Sequence[Wanted]) -> None:
    """Draft for several replies in the same forwards; the next `propose` of each returns its draft.

    An error is of them all: their caches are in one batch.
    """
    if sum(bool(each.plan.length) for each in wanted) < 2:
        return
    try:
        wanted[0].proposer.draft_rows(wanted)
    except Exception as error:  # noqa: BLE001  drafting is optional: no error of it may end the replies
        for each in wanted:
            each.guarded.fail(error)


def joined(drafts: Sequence[Draft], *, with_probabilities: bool) -> Draft:
    """One draft of several with one token each."""
    logprobs = [draft.logprobs for draft in drafts if draft.logprobs is not None]
    probabilities = [draft.probabilities for draft in drafts if draft.probabilities is not None]
    guesses = [draft.guesses for draft in drafts if draft.guesses is not None]
    return Draft(
        mx.concatenate([draft.tokens for draft in drafts]),
        mx.concatenate(logprobs) if logprobs else None,
        mx.concatenate(probabilities) if with_probabilities else None,
        mx.concatenate(guesses) if guesses else None,
    )


def shortened(draft: Draft, plan: Plan) -> Draft:
    """The tokens that the plan's stop rule keeps; waits for the device if there is a rule."""
    if plan.stop is None or not plan.stop.floors or draft.probabilities is None:
        return draft
    kept = plan.stop.would_draft(draft.probabilities.tolist())  # type: ignore[arg-type]
    logprobs, probabilities, guesses = (
        array[:kept] if array is not None else None for array in (draft.logprobs, draft.probabilities, draft.guesses)
    )
    return Draft(draft.tokens[:kept], logprobs, probabilities, guesses)
