"""The protocols of drafting methods. A new method is a new file in this folder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import mlx.core as mx

from engine.decoding.accept import NO_DRAFT, Draft
from engine.decoding.sampling import Sampler
from engine.drafting.plans import PLAIN, Offer, Plan

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Proposer(Protocol):
    """Drafts for one reply. It gets committed tokens only; what it proposes cannot change the text. Engine thread.

    It may raise: the reply then goes on without it.
    """

    name: str

    def offer(self, tokens: Sequence[int]) -> Offer:
        """How many tokens could be drafted after `tokens`. Runs no forward; the first call may take a cache."""

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        """Up to `plan.length` tokens to follow `tokens`, fewer by `plan.stop`.

        The arrays may be unevaluated: the verifying forward can be queued after them.
        """

    def commit(self, emitted: Sequence[int]) -> None:
        """`emitted` was appended to the tokens of the last `propose`; the rest of the draft was rejected."""

    def close(self) -> None:
        """The reply has ended; put caches into the store for the next turn."""


@runtime_checkable
class StateProposer(Proposer, Protocol):
    """A proposer that drafts from the main model's hidden states after `layers`."""

    layers: tuple[int, ...]

    def receive_states(self, position: int, states: mx.array) -> None:
        """Hidden states (tokens, layers × width) of the committed tokens from `position` on; called before each offer.

        States that were not recorded (prefilled before this reply, for one) are missing: positions may skip.
        """


@runtime_checkable
class FreeProposer(Proposer, Protocol):
    """A proposer whose draft needs no work of the device, so accept rates are learnt from its unused offers too.

    Each offer reads the tokens that were committed.
    """

    def propose_tokens(self, tokens: Sequence[int], most: int) -> list[int]:
        """The tokens that `propose` would draft after `tokens`."""

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        return Draft(mx.array(self.propose_tokens(tokens, plan.length), dtype=mx.uint32))

    def commit(self, emitted: Sequence[int]) -> None:
        return  # the next offer gets all tokens

    def close(self) -> None:
        return


@runtime_checkable
class ReadingProposer(Proposer, Protocol):
    """A proposer that has to prefill the chat before it can draft. `Offer.behind` says how many tokens."""

    def read_on(self) -> None:
        """Prefill at most one chunk. Called only if the controller thinks it worth its time."""


@runtime_checkable
class RowProposer(Proposer, Protocol):
    """A proposer that drafts for several replies in the same forwards."""

    def draft_rows(self, wanted: Sequence[Wanted]) -> None:
        """Draft for these, its own among them, all of this class; the next `propose` of each returns its draft."""


class BrokenProposer:
    """Stands for a proposer that could not begin: its offer raises the error."""

    def __init__(self, name: str, error: Exception) -> None:
        self.name = name
        self._error = error

    def offer(self, tokens: Sequence[int]) -> Offer:
        raise self._error

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        raise self._error

    def commit(self, emitted: Sequence[int]) -> None:
        return  # the next offer gets all tokens

    def close(self) -> None:
        return


class Guarded:
    """A proposer whose errors do not end the reply: after the first, which is logged, it offers nothing."""

    def __init__(self, proposer: Proposer) -> None:
        self._proposer = proposer
        # looked up once: a protocol check takes a tenth of a millisecond
        self._free = proposer if isinstance(proposer, FreeProposer) else None
        self._reading = proposer if isinstance(proposer, ReadingProposer) else None
        self._of_states = proposer if isinstance(proposer, StateProposer) else None
        self._of_rows = proposer if isinstance(proposer, RowProposer) else None
        self.layers = self._of_states.layers if self._of_states is not None else ()
        self.name = proposer.name
        self.reads_next_token = bool(getattr(proposer, "reads_next_token", False))
        self.free = self._free is not None
        self.failed = False
        self._ahead = False  # a forward of `read_on` may be in flight

    def offer(self, tokens: Sequence[int]) -> Offer:
        offer = None if self.failed else self._try(lambda: self._proposer.offer(tokens))
        return Offer(self.name, 0) if offer is None else offer

    def read_on(self) -> None:
        if not self.failed and self._reading is not None:
            self._ahead = True
            self._try(self._reading.read_on)

    def wait(self) -> None:
        """Wait for its forward in flight. If that fails on the device, the error may be raised here."""
        self._ahead = False
        if not self.failed:
            self._try(mx.synchronize)

    def settle(self) -> None:
        """Wait for a forward started ahead, so that its failure is not raised in another user of the device."""
        if self._ahead:
            self.wait()

    def propose_tokens(self, tokens: Sequence[int], most: int) -> list[int]:
        proposer = self._free
        if self.failed or proposer is None:
            return []
        return self._try(lambda: proposer.propose_tokens(tokens, most)) or []

    def receive_states(self, position: int, states: mx.array) -> None:
        proposer = self._of_states
        if not self.failed and proposer is not None:
            self._try(lambda: proposer.receive_states(position, states))

    def wanted(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Wanted | None:
        """For `draft_together`; None: it drafts alone."""
        if self.failed or self._of_rows is None:
            return None
        return Wanted(self, self._of_rows, tokens, plan if plan.source == self.name else PLAIN, sampler)

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler, *, wait: bool = False) -> Draft:
        """`wait` for the device: else its failure would be raised in the next user of it, another proposer perhaps."""
        drafted = None if self.failed else self._try(lambda: self._drafted(tokens, plan, sampler, wait))
        return NO_DRAFT if drafted is None else drafted

    def _drafted(self, tokens: Sequence[int], plan: Plan, sampler: Sampler, wait: bool) -> Draft:
        self._ahead = False  # the draft continues from that forward
        draft = self._proposer.propose(tokens, plan, sampler)
        if draft.tokens.ndim != 1 or draft.tokens.size > plan.length:
            raise ValueError(f"a draft of the shape {draft.tokens.shape}, and {plan.length} tokens were planned")
        begun(draft)
        if wait:
            mx.eval([array for array in draft.host_arrays if array is not None])
        return draft

    def commit(self, emitted: Sequence[int]) -> None:
        if not self.failed:
            self._try(lambda: self._proposer.commit(emitted))

    def close(self) -> None:
        self.settle()
        if not self.failed:
            self._try(self._proposer.close)

    def fail(self, error: Exception) -> None:
        _log.error("the proposer %s failed; the reply goes on plainly", self.name, exc_info=error)
        self.failed = True

    def _try(self, act: Callable[[], T]) -> T | None:
        try:
            return act()
        except Exception as error:  # noqa: BLE001  drafting is optional: no error of it may end the reply
            self.fail(error)
            return None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a reply wants drafted in a step of a batch. `plan`: PLAIN if nothing, or by another proposer."""

    guarded: Guarded
    proposer: RowProposer
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


def begun(draft: Draft) -> Draft:
    """`draft` with its tokens queued on the device, not waited for. Raises errors of the draft here.

    In the verifying forward they would count as the main model's, and the draft's tokens would already be in the
    reply's caches.
    """
    mx.async_eval(draft.tokens)
    return draft


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
