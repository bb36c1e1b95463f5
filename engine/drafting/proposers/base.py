"""The protocols of drafting methods. A new method is one new file beside this one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar, runtime_checkable

import mlx.core as mx

from engine.decoding.accept import NO_DRAFT, Draft
from engine.decoding.sampling import Sampler
from engine.drafting.plans import Offer, Plan

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Proposer(Protocol):
    """Drafts for one reply. It sees committed tokens only; whatever it proposes, the text stays the main model's.

    Raising is allowed: the reply then goes on plainly.
    """

    name: str

    def offer(self, tokens: Sequence[int]) -> Offer:
        """How much could be drafted after `tokens` right now. Takes no forward; the first one may take a kept cache."""

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        """Up to `plan.length` tokens that may follow `tokens`, fewer where `plan.stop` says so.

        They need not be evaluated: the verifying forward can be queued behind them.
        """

    def commit(self, emitted: Sequence[int]) -> None:
        """`emitted` were appended to the tokens of the last `propose`; the rest of the draft was rejected."""

    def close(self) -> None:
        """The reply is over; what is worth keeping for the next turn may be kept."""


@runtime_checkable
class StateProposer(Proposer, Protocol):
    """A proposer that drafts from the main model's hidden states behind `layers`."""

    layers: tuple[int, ...]

    def receive_states(self, position: int, states: mx.array) -> None:
        """The states (tokens, layers × width) of committed tokens, the first of them at `position`, before each offer.

        Tokens whose states were not kept (read before this reply, for one) are missing: positions leap.
        """


@runtime_checkable
class ForesightedProposer(Proposer, Protocol):
    """A proposer whose tokens are known without any work of the device: it also learns from offers not taken up."""

    def foresee(self, tokens: Sequence[int], most: int) -> list[int]:
        """What `propose` would draft after `tokens`."""


@runtime_checkable
class ReadingProposer(Proposer, Protocol):
    """A proposer that has to read the chat before it can draft. Its offers say how far it is behind."""

    def read_on(self) -> None:
        """At most one prefill chunk. Called only if that is thought to be worth its time."""


class Broken:
    """In place of a proposer that could not begin: whoever asks for an offer hears why."""

    def __init__(self, name: str, error: Exception) -> None:
        self.name = name
        self._error = error

    def offer(self, tokens: Sequence[int]) -> Offer:
        raise self._error

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler) -> Draft:
        raise self._error

    def commit(self, emitted: Sequence[int]) -> None: ...

    def close(self) -> None: ...


class Guarded:
    """A proposer that may fail without harm: after its first error it proposes nothing and says so."""

    def __init__(self, proposer: Proposer) -> None:
        self._proposer = proposer
        # Once each: to look a protocol up takes a tenth of a millisecond.
        self._foresighted = proposer if isinstance(proposer, ForesightedProposer) else None
        self._reading = proposer if isinstance(proposer, ReadingProposer) else None
        self._of_states = proposer if isinstance(proposer, StateProposer) else None
        self.layers = self._of_states.layers if self._of_states is not None else ()
        self.name = proposer.name
        self.reads_next_token = bool(getattr(proposer, "reads_next_token", False))
        self.free = self._foresighted is not None
        self.failed = False
        self._ahead = False  # it reads on, and nobody has waited for that

    def offer(self, tokens: Sequence[int]) -> Offer:
        offer = None if self.failed else self._try(lambda: self._proposer.offer(tokens))
        return Offer(self.name, 0) if offer is None else offer

    def read_on(self) -> None:
        if not self.failed and self._reading is not None:
            self._ahead = True
            self._try(self._reading.read_on)

    def wait(self) -> None:
        """For what is in flight; that a draft failed on the device may show here."""
        self._ahead = False
        if not self.failed:
            self._try(mx.synchronize)

    def settle(self) -> None:
        """Wait for what was begun ahead: others come, who would hear of a failure instead."""
        if self._ahead:
            self.wait()

    def foresee(self, tokens: Sequence[int], most: int) -> list[int]:
        proposer = self._foresighted
        if self.failed or proposer is None:
            return []
        return self._try(lambda: proposer.foresee(tokens, most)) or []

    def receive_states(self, position: int, states: mx.array) -> None:
        proposer = self._of_states
        if not self.failed and proposer is not None:
            self._try(lambda: proposer.receive_states(position, states))

    def propose(self, tokens: Sequence[int], plan: Plan, sampler: Sampler, *, wait: bool = False) -> Draft:
        """`wait` for the device: what fails there is heard by whoever waits next, another proposer perhaps."""
        drafted = None if self.failed else self._try(lambda: self._drafted(tokens, plan, sampler, wait))
        return NO_DRAFT if drafted is None else drafted

    def _drafted(self, tokens: Sequence[int], plan: Plan, sampler: Sampler, wait: bool) -> Draft:
        self._ahead = False  # what it drafts goes on from there
        draft = self._proposer.propose(tokens, plan, sampler)
        if draft.tokens.ndim != 1 or (draft.parents is None and draft.tokens.size > plan.length):
            raise ValueError(f"a draft of the shape {draft.tokens.shape}, and {plan.length} tokens were planned")
        begun(draft)
        if wait:
            mx.eval([array for array in draft.told if array is not None])
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
        except Exception as error:  # noqa: BLE001  drafting is an offer: no error of it may cost the reply
            self.fail(error)
            return None


def begun(draft: Draft) -> Draft:
    """The same, its tokens handed to the device, which is not waited for.

    What cannot be computed raises here, on the proposer's account. Left to the forward that checks the draft, it would
    raise there as the main model's own failure, with the draft's tokens in the reply's caches.
    """
    mx.async_eval(draft.tokens)
    return draft


def joined(drafts: Sequence[Draft], *, with_probabilities: bool) -> Draft:
    """One draft of several of one token each."""
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
    """As far as the plan's stop rule would have let it go; waits for the device where there is one."""
    if plan.stop is None or not plan.stop.floors or draft.probabilities is None:
        return draft
    kept = plan.stop.would_draft(draft.probabilities.tolist())  # type: ignore[arg-type]
    logprobs, probabilities, guesses = (
        array[:kept] if array is not None else None for array in (draft.logprobs, draft.probabilities, draft.guesses)
    )
    parents = draft.parents[:kept] if draft.parents is not None else None
    return Draft(draft.tokens[:kept], logprobs, probabilities, guesses, parents)
