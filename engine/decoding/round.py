"""One round: propose, verify in one forward, accept, commit, roll back. With nothing proposed it is plain decoding.

Knows nothing of requests, events, text or who drafts; that is for those who call it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import NamedTuple

import mlx.core as mx

from engine.api.errors import LogitsBroken
from engine.caches.kinds import require
from engine.decoding.accept import NO_DRAFT, NO_TOKEN, ROOT, Draft, accepted_path, integers
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence

# How many of the tokens that a round would emit are kept: all, or fewer when one of them ends the reply.
Ending = Callable[[list[int]], int]


@dataclass(frozen=True, slots=True)
class Round:
    """What one round did. `draft_s` and `verify_s` are 0 unless the round was timed part by part.

    `typical` rounds took what such rounds take: they did not do the next one's work too, nor was theirs done before.
    `verdicts` is what the main model said after each token of `draft`, whether it was emitted or not. Of a tree
    `drafted` counts all tokens, but of a round that was cut short those of the path. A round takes what it takes to
    check `proposed` tokens, however many of them count.
    """

    emitted: tuple[int, ...]
    seconds: float
    drafted: int = 0
    accepted: int = 0
    draft_s: float = 0.0
    verify_s: float = 0.0
    typical: bool = True
    draft: Draft = NO_DRAFT
    verdicts: tuple[int, ...] = ()
    failure: Exception | None = None  # why its draft could not be computed, or checked; then it has none

    @property
    def proposed(self) -> int:
        return int(self.draft.tokens.size)


class Times(NamedTuple):
    """What a step took, and parts of that; 0 unless it was timed part by part."""

    seconds: float
    draft_s: float
    verify_s: float


def plain_round(sequence: Sequence, sampler: Sampler, ending: Ending, *, look_ahead: bool = False) -> Round:
    """Append the main model's next token to `sequence`.

    With `look_ahead` the next forward is started before this one's token is read; the next round finds it in flight.
    """
    started = perf_counter()
    verdict, sequence.in_flight = sequence.in_flight, None
    typical = look_ahead == (verdict is not None) and sequence.unread == 1
    if verdict is None:
        verdict = verify(sequence, NO_DRAFT, sampler)
    if look_ahead:
        start_next_forward(sequence, verdict, sampler)
    emitted = drawable(integers(verdict), sequence)  # waits for the device
    ending(emitted)
    _commit(sequence, sampler, emitted)
    return Round(tuple(emitted), perf_counter() - started, typical=typical)


def speculative_round(
    sequence: Sequence, sampler: Sampler, propose: Callable[[], Draft], ending: Ending, *, timed: bool = False
) -> Round:
    """Append at least one token to `sequence`: the main model's own draws, as far as the draft foresaw them and one.

    Nothing may be in flight. With `timed` the device is waited for once more, between drafting and verifying. A draft
    that cannot be computed, or checked, costs a plain step (`Round.failure`).
    """
    started = perf_counter()
    draft = propose()
    failure = failure_of([draft.tokens]) if timed else None
    proposed = perf_counter()
    if failure is None:
        chosen = verify(sequence, draft, sampler)
        failure = failure_of([chosen, *draft.told])
    if failure is not None:  # where it is the main model's, it comes again
        sequence.close_step(0)
        instead = plain_round(sequence, sampler, ending)
        return replace(instead, seconds=perf_counter() - started, typical=False, failure=failure)
    verified = perf_counter()

    drafted, verdicts = draft.tokens.size, integers(chosen)
    path = accepted_path(integers(draft.tokens), verdicts, draft.parents)
    emitted, drafted, accepted = cut_at_end(drafted, path, verdicts, sequence, ending)
    _commit(sequence, sampler, emitted, path if draft.parents is not None else None)
    return Round(
        tuple(emitted),
        perf_counter() - started,
        drafted,
        accepted,
        *((proposed - started, verified - proposed) if timed else (0.0, 0.0)),
        draft=draft,
        verdicts=tuple(verdicts),
    )


def failure_of(arrays: Iterable[mx.array | None]) -> Exception | None:
    """Waits for `arrays`; what the device says where it could not compute them."""
    try:
        mx.eval([array for array in arrays if array is not None])
    except Exception as error:  # noqa: BLE001  whatever a device raises
        return error
    return None


def cut_at_end(
    drafted: int, path: list[int], verdicts: list[int], sequence: Sequence, ending: Ending
) -> tuple[list[int], int, int]:
    """What a round emits, how many drafted tokens count, and how many of those were accepted.

    Where the reply ends within the draft, what was drafted behind its end counts for nothing.
    """
    emitted = drawable([verdicts[index + 1] for index in (ROOT, *path)], sequence)
    kept = ending(emitted)
    if kept < len(emitted):
        emitted, drafted = emitted[:kept], min(drafted, kept)
    return emitted, drafted, min(len(path), len(emitted))


def verify(sequence: Sequence, draft: Draft, sampler: Sampler) -> mx.array:
    """The main model's verdict after the last committed token and after each drafted one (len(draft) + 1,)."""
    require(draft.parents is None or sequence.reads_trees, "this forward reads a draft as a chain")
    unread = mx.array(sequence.tokens[sequence.caches.position :], dtype=mx.uint32)  # one, but for the first round
    logits = sequence.feed(mx.concatenate([unread, draft.tokens.astype(mx.uint32)]))
    return sampler.verify(logits[unread.size - 1 :], len(sequence.tokens), draft)


def start_next_forward(sequence: Sequence, verdict: mx.array, sampler: Sampler) -> None:
    """Close the plain step, which stands whatever was drawn, and open the next one on its draw.

    MEASURED: 3 to 8 % more tokens a second on a CPU as well, though `async_eval` returns there only when most of the
    forward is computed, and one forward is for nothing where a reply ends.
    """
    sequence.close_step(sequence.unread)
    logits = sequence.feed(verdict)
    sequence.in_flight = sampler.draw(logits, len(sequence.tokens) + 1, verdict)
    mx.async_eval(sequence.in_flight)


def drawable(drawn: list[int], sequence: Sequence) -> list[int]:
    """The tokens before the first that could not be drawn; if that is the very first, LogitsBroken.

    So a reply breaks at the same token whoever drafts: the next round finds it first.
    """
    if NO_TOKEN not in drawn:
        return drawn
    before = drawn[: drawn.index(NO_TOKEN)]
    if not before:
        raise LogitsBroken(sequence.model.info.folder)
    return before


def _commit(sequence: Sequence, sampler: Sampler, emitted: list[int], path: list[int] | None = None) -> None:
    sequence.commit(emitted, path)
    sampler.commit(emitted)
