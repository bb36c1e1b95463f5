"""What heads that draft token by token have in common: rounds of both sides over the same states and tokens."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from engine.caches.making import CacheMaker
from engine.drafting.proposers.chain import Head

ROUNDS = 100


def compare(ours: Head, theirs: Any, *, depth: int, keeps_own_rows: bool, logits: Any) -> tuple[int, int, float]:
    """(prefixes, drafted otherwise, largest difference of the logits that `logits(state)` makes of theirs).

    Each round both draft `depth` tokens, of which some stand; what follows them is read with the states of the main
    model. With `keeps_own_rows` theirs keeps the rows of drafted tokens that stand as it drafted them, where ours reads
    them again: then none is let stand behind the first, which both read alike.
    """
    mx.random.seed(3)
    caches = CacheMaker(ours)()
    theirs._cache, theirs._next_position = theirs.make_cache(), 0
    prompt = mx.random.randint(0, 250, (1, 9))
    states = mx.random.normal((8, ours.reads_width))
    theirs.prefill_from_target_hidden(prompt[:, :-1], states[None], newest_of(prompt), None, mx.int32, True)
    state = ours.read(prompt[0, 1:].astype(mx.uint32), states, caches)[-1:]
    differing, error = 0, 0.0
    for turn in range(ROUNDS):
        own = theirs._seed_hidden[0, -1:]
        mine, wanted = ours.logits(state), logits(own)
        error = larger(error, mx.where(mine == wanted, 0, mx.abs(mine - wanted)).max())  # both may be -inf
        drafted, state_now, position = [], state, caches.position
        for _ in range(depth):
            token = mx.argmax(ours.logits(state_now), axis=-1)
            drafted.append(token)
            if len(drafted) < depth:
                state_now = ours.step(token, state_now, caches)
        caches.roll_back(position)
        block = theirs.draft_block(0, None, None, depth + 1, None, mx.int32, True)
        differing += mx.concatenate(drafted).tolist() != block[0].tolist()
        accepted = 0 if keeps_own_rows else turn % (depth + 1)
        verified = mx.random.normal((1, depth + 1, ours.reads_width))
        newest = 7 * turn % 250
        theirs.accept_verified_tokens(verified, block, accepted, [newest], None, mx.int32, True)
        read = mx.concatenate([block[0, :accepted].astype(mx.uint32), mx.array([newest], dtype=mx.uint32)])
        state = ours.read(read, verified[0, : accepted + 1], caches)[-1:]
    return ROUNDS, differing, error


def newest_of(tokens: mx.array) -> int:
    return tokens[0].tolist()[-1]  # type: ignore[return-value,index]


def larger(error: float, difference: mx.array) -> float:
    found: float = difference.item()  # type: ignore[assignment]
    if not found <= error:  # NaN, too
        return found
    return error
