"""One round: propose, verify in one forward, accept, commit, roll back. With nothing proposed it is plain decoding.

Knows nothing of requests, events, text or proposers: callers do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from time import perf_counter

import mlx.core as mx

from engine.api.errors import LogitsBroken
from engine.decoding.accept import NO_DRAFT, NO_TOKEN, Draft, integers
from engine.decoding.guide import Guide
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence, common_prefix

# From the emitted tokens of a round, how many to keep: all, or fewer if one of them ends the reply.
Ending = Callable[[list[int]], int]


@dataclass(frozen=True, slots=True)
class Round:
    """What one round did.

    `seconds`: of the whole round; `draft_s` and `verify_s`: of its parts, 0 unless it was timed part by part.
    `typical`: prices may be learnt from `seconds`; False if it includes starting the next forward, or used one already
    started. `drafted`: tokens counted in statistics, none after the reply's end; `proposed`: all verified tokens, which
    is what `seconds` paid for.
    """

    emitted: tuple[int, ...]
    seconds: float = 0.0
    drafted: int = 0
    accepted: int = 0
    draft_s: float = 0.0
    verify_s: float = 0.0
    typical: bool = True
    draft: Draft = NO_DRAFT
    failure: Exception | None = None  # why the draft could not be computed or verified; the round was plain instead

    @property
    def proposed(self) -> int:
        return int(self.draft.tokens.size)


def plain_round(sequence: Sequence, sampler: Sampler, ending: Ending, *, look_ahead: bool = False) -> Round:
    """Append the main model's next token to `sequence`.

    `look_ahead`: start the next forward before this one's token is read; the next round finds it in flight.
    """
    started = perf_counter()
    verdict = sequence.in_flight
    sequence.in_flight = None
    typical = look_ahead == (verdict is not None) and sequence.uncached == 1
    if verdict is None:
        verdict = verify(sequence, NO_DRAFT, sampler)
    if look_ahead:
        start_next_forward(sequence, verdict, sampler)
    emitted = valid_tokens(integers(verdict), sequence, sampler)  # waits for the device
    ending(emitted)
    _commit(sequence, sampler, emitted)
    return Round(tuple(emitted), perf_counter() - started, typical=typical)


def speculative_round(
    sequence: Sequence, sampler: Sampler, propose: Callable[[], Draft], ending: Ending, *, timed: bool = False
) -> Round:
    """Append the accepted drafted tokens and one more token of the main model's to `sequence`.

    No step may be in flight. If the device fails in the draft or in the forward that verifies it, the round is a plain
    one instead (`Round.failure`). `timed`: wait for the device once more, between drafting and verifying.
    """
    started = perf_counter()
    try:
        draft = propose()
        if timed:
            _wait_for([draft.tokens])
        proposed = perf_counter()
        verdicts = verify(sequence, draft, sampler)
        _wait_for([verdicts, *draft.host_arrays])
        verified = perf_counter()
    except _NotComputed as error:  # if the main model caused it, the plain round raises it again
        sequence.close_step(0)
        done = plain_round(sequence, sampler, ending)
        return replace(done, seconds=perf_counter() - started, typical=False, failure=error.failure)
    emitted, drafted, accepted = cut_at_end(draft, integers(verdicts), sequence, sampler, ending)
    _commit(sequence, sampler, emitted)
    return Round(
        tuple(emitted),
        perf_counter() - started,
        drafted,
        accepted,
        draft_s=proposed - started if timed else 0.0,
        verify_s=verified - proposed if timed else 0.0,
        draft=draft,
    )


class _NotComputed(Exception):
    """The device could not compute a draft, or the forward that verifies it."""

    def __init__(self, failure: Exception) -> None:
        super().__init__(str(failure))
        self.failure = failure


def _wait_for(arrays: Iterable[mx.array | None], wait: Callable[..., None] = mx.eval) -> None:
    failure = failure_of(arrays, wait)
    if failure is not None:
        raise _NotComputed(failure)


def failure_of(arrays: Iterable[mx.array | None], wait: Callable[..., None] = mx.eval) -> Exception | None:
    """Waits for `arrays`; the device's exception if it could not compute them."""
    try:
        wait([array for array in arrays if array is not None])
    except Exception as error:  # noqa: BLE001  whatever a device raises
        return error
    return None


def cut_at_end(
    draft: Draft, verdicts: list[int], sequence: Sequence, sampler: Sampler, ending: Ending
) -> tuple[list[int], int, int]:
    """(emitted, drafted, accepted) of a round, without drafted tokens after the reply's end."""
    drafted = draft.tokens.size
    accepted = common_prefix(integers(draft.tokens), verdicts)
    emitted = valid_tokens(verdicts[: accepted + 1], sequence, sampler)
    kept = ending(emitted)
    if kept < accepted + 1:  # also where a grammar allows nothing after the end
        emitted = emitted[:kept]
        drafted = min(drafted, kept)
    return emitted, drafted, min(accepted, len(emitted))


def verify(sequence: Sequence, draft: Draft, sampler: Sampler) -> mx.array:
    """The main model's verdicts (n + 1,): its token after the last committed one and after each drafted one."""
    uncached = mx.array(sequence.tokens[sequence.caches.position :], dtype=mx.uint32)  # one, but for the first round
    logits = sequence.feed(mx.concatenate([uncached, draft.tokens.astype(mx.uint32)]))[uncached.size - 1 :]
    masked = logits if sampler.guide is None else _masked(logits, draft, sampler.guide)
    verdicts = sampler.verify(masked, len(sequence.tokens), draft)
    sampler.note(logits, len(sequence.tokens), verdicts)
    return verdicts


def _masked(logits: mx.array, draft: Draft, guide: Guide) -> mx.array:
    """The masks are made on the host while the device computes the forward."""
    if draft.tokens.size and guide.acts_within(draft.tokens.size + 1):
        _wait_for([logits], mx.async_eval)
        _wait_for([draft.tokens])
    return guide.masked(logits, draft)


def start_next_forward(sequence: Sequence, verdict: mx.array, sampler: Sampler) -> None:
    """Commit the plain step, all of it, and start the next forward on its verdict.

    MEASURED: 3 to 8 % more tokens a second, on a CPU too, although `async_eval` returns there only when most of the
    forward is computed. One forward is wasted where a reply ends.
    """
    sequence.close_step(sequence.uncached)
    logits = sequence.feed(verdict)
    masked = logits if sampler.guide is None else sampler.guide.masked(logits, Draft(verdict))
    sequence.in_flight = sampler.draw(masked, len(sequence.tokens) + 1, verdict)
    sampler.note(logits, len(sequence.tokens) + 1, sequence.in_flight)
    mx.async_eval(sequence.in_flight)


def valid_tokens(drawn: list[int], sequence: Sequence, sampler: Sampler) -> list[int]:
    """The tokens before the first NO_TOKEN, which the reply's guide follows. If the very first is NO_TOKEN, raises
    InvalidRequest where its grammar is at a limit, else LogitsBroken.

    So a reply breaks at the same token with any draft: the next round begins there.
    """
    guide = sampler.guide
    before = drawn[: drawn.index(NO_TOKEN)] if NO_TOKEN in drawn else drawn
    if before:
        return before if guide is None else guide.commit(before)
    if guide is not None:
        guide.check()
    raise LogitsBroken(sequence.model.info.folder)


def _commit(sequence: Sequence, sampler: Sampler, emitted: list[int]) -> None:
    sequence.commit(emitted)
    sampler.commit(emitted)
