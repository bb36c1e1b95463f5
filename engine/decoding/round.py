"""The round: propose, verify in one forward, accept, commit, roll back. With nothing proposed it is plain decoding.

Knows nothing of requests, events or text; `scheduler.py` calls it and tells the world.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import mlx.core as mx

from engine.decoding.accept import NOTHING, Draft, standing
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.drafting.proposers.base import Proposer

# How many of the tokens that a round would emit stand: all, or fewer when one of them ends the reply.
Ending = Callable[[list[int]], int]


@dataclass(frozen=True, slots=True)
class Round:
    """What one round did. `draft_s` and `verify_s` are 0 unless the round was timed part by part.

    `typical` rounds took what such rounds take: they did not do the next one's work too, nor was theirs done before.
    """

    drafted: int
    accepted: int
    emitted: tuple[int, ...]
    seconds: float
    draft_s: float = 0.0
    verify_s: float = 0.0
    typical: bool = True


def decode_round(
    sequence: Sequence,
    sampler: Sampler,
    proposer: Proposer | None,
    length: int,
    ending: Ending,
    *,
    look_ahead: bool = False,
    timed: bool = False,
) -> Round:
    """Append at least one token to `sequence`: always the main model's own draws, as many as the draft foresaw.

    With `look_ahead` (and nothing drafted) the next forward is queued before this one's draw is read.
    """
    started = time.perf_counter()
    chosen, sequence.in_flight = sequence.in_flight, None
    typical = look_ahead == (chosen is not None) and sequence.unread == 1
    drafting = proposer is not None and length > 0 and chosen is None
    draft = proposer.propose(sequence.tokens, length, sampler) if proposer is not None and drafting else NOTHING
    if timed:
        mx.eval(draft.tokens)
    proposed = time.perf_counter()

    if chosen is None:
        chosen = verify(sequence, draft, sampler)
    if look_ahead and not drafting:
        take_off(sequence, chosen, sampler)
    mx.eval(draft.tokens, chosen)  # the round's wait for the device
    verified = time.perf_counter()

    guesses: list[int] = draft.tokens.tolist()  # type: ignore[assignment]
    draws: list[int] = chosen.tolist()  # type: ignore[assignment]
    emitted = standing(guesses, draws)
    foreseen = len(emitted) - 1
    kept = ending(emitted)
    drafted, accepted = (len(guesses), foreseen) if kept == len(emitted) else (min(len(guesses), kept),) * 2
    emitted = emitted[:kept]

    sequence.commit(emitted)
    sampler.commit(emitted)
    if proposer is not None and drafting:
        proposer.commit(emitted)
    times = (proposed - started, verified - proposed) if timed else (0.0, 0.0)
    return Round(drafted, accepted, tuple(emitted), time.perf_counter() - started, *times, typical)


def verify(sequence: Sequence, draft: Draft, sampler: Sampler) -> mx.array:
    """The main model's verdict after the last committed token and after each drafted one (len(draft) + 1,)."""
    unread = mx.array(sequence.tokens[sequence.caches.position :], dtype=mx.uint32)  # one, but for the first round
    logits = sequence.feed(mx.concatenate([unread, draft.tokens.astype(mx.uint32)]))
    return sampler.judge(logits[unread.size - 1 :], len(sequence.tokens), draft)


def take_off(sequence: Sequence, chosen: mx.array, sampler: Sampler) -> None:
    """Close the plain step, which stands whatever it drew, and open the next one on its draw."""
    sequence.close_step(sequence.unread)
    logits = sequence.feed(chosen)
    sequence.in_flight = sampler.draw(logits, len(sequence.tokens) + 1, chosen)
    mx.async_eval(sequence.in_flight)
