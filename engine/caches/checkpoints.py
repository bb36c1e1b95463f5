"""Going back in caches, and carrying parts of them elsewhere: what lets a chat go on from an earlier place.

A key-value cache has one row a token: it goes back by forgetting rows, and any stretch of rows can be cut out. Windows
and recurrent slots are a state that every token changes: it can be had again only where a checkpoint was made of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx_lm.models import cache as mlx_cache

from engine.caches.base import CacheSet
from engine.caches.kinds import leaves, restore, snapshot, trim
from engine.caches.window import WindowCache

Checkpoint = list[Any]  # for each cache without rows, a copy of its state: arrays, numbers, None and lists of those
Rows = list[list[mx.array]]  # for each cache with rows, its arrays (…, tokens, depth)

_WITH_ROWS = (mlx_cache.KVCache, mlx_cache.QuantizedKVCache)
_SPARE_ROWS = 256  # as many as mlx-lm adds at a time
_PLACES = ("_start", "_end", "_first")  # of a window, in its buffers
_IDLE_ROWS = 4096  # more spare room than this is given back


def needs_checkpoints(caches: CacheSet) -> bool:
    return bool(_without_rows(caches))


def make_checkpoint(caches: CacheSet) -> Checkpoint:
    """Copies, because a slice would keep the whole buffer alive that it was cut from."""
    checkpoint = [_state(leaf) for leaf in _without_rows(caches)]
    mx.eval(list(arrays_in(checkpoint)))
    return checkpoint


def can_go_back(caches: CacheSet, position: int) -> bool:
    """Without a checkpoint: windows remember a little more than they show."""
    tokens = caches.position - position
    states = _without_rows(caches)
    return tokens == 0 or all(isinstance(leaf, WindowCache) and leaf.can_trim(tokens) for leaf in states)


def go_back(caches: CacheSet, position: int, checkpoint: Checkpoint | None = None) -> None:
    """Forget everything after `position` tokens; `checkpoint` was made there, or is None where none is needed."""
    assert caches.width == 0
    tokens = caches.position - position
    for leaf in _with_rows(caches):
        trim(leaf, tokens)
        _give_back_room(leaf)
    if checkpoint is not None:
        _restore(caches, checkpoint)
    elif tokens:
        for leaf in _without_rows(caches):
            trim(leaf, tokens)
    caches.position = position


def rows_between(caches: CacheSet, start: int, end: int) -> Rows:
    """Views, not evaluated: they are for reading at once, before the caches change."""
    return [[array[..., start:end, :] for array in _arrays(leaf)] for leaf in _with_rows(caches)]


def go_forward(caches: CacheSet, stretches: list[Rows], end: int, checkpoint: Checkpoint | None) -> None:
    """Append `stretches`, which lead up to `end`, cache by cache; each stretch is used up by this."""
    for index, leaf in enumerate(_with_rows(caches)):
        held = [array[..., : caches.position, :] for array in _arrays(leaf)] if caches.position else []
        columns = [*([held] if held else []), *(stretch[index] for stretch in stretches)]
        joined = [mx.concatenate([*parts, _spare(parts[-1])], axis=-2) for parts in zip(*columns, strict=True)]
        mx.eval(joined)
        if joined:
            _put(leaf, joined, end)
        for stretch in stretches:
            stretch[index] = []
    if checkpoint is not None:
        _restore(caches, checkpoint)
    caches.position = end


def arrays_in(value: Any) -> Iterator[mx.array]:
    if isinstance(value, mx.array):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from arrays_in(part)


def bytes_in(value: Any) -> int:
    return sum(array.nbytes for array in arrays_in(value))


def _with_rows(caches: CacheSet) -> list[Any]:
    return [leaf for leaf in leaves(caches.layers) if type(leaf) in _WITH_ROWS]


def _without_rows(caches: CacheSet) -> list[Any]:
    return [leaf for leaf in leaves(caches.layers) if type(leaf) not in _WITH_ROWS]


def _arrays(leaf: Any) -> list[mx.array]:
    return list(arrays_in([leaf.keys, leaf.values]))


def _put(leaf: Any, arrays: list[mx.array], offset: int) -> None:
    half = len(arrays) // 2  # a quantized cache has three arrays for its keys and three for its values
    packed = type(leaf) is mlx_cache.QuantizedKVCache
    leaf.keys, leaf.values = (arrays[:half], arrays[half:]) if packed else arrays
    leaf.offset = offset


def _spare(like: mx.array) -> mx.array:
    return mx.zeros((*like.shape[:-2], _SPARE_ROWS, like.shape[-1]), like.dtype)


def _give_back_room(leaf: Any) -> None:
    arrays = _arrays(leaf)
    if arrays and arrays[0].shape[-2] - leaf.offset > _IDLE_ROWS:
        kept = [_copied(array[..., : leaf.offset + _SPARE_ROWS, :]) for array in arrays]
        mx.eval(kept)
        _put(leaf, kept, leaf.offset)


@dataclass(frozen=True, slots=True)
class _Opaque:
    """The state of a class that tells it to nobody. It can be given back, not written to a file."""

    before: Any


def _state(leaf: Any) -> Any:
    if isinstance(leaf, WindowCache):
        return _window_state(leaf)
    return _copied(leaf.state) if type(leaf).state.fset is not None else _Opaque(snapshot(leaf))


def _window_state(leaf: WindowCache) -> list[Any]:
    """All its attributes, but of the entries only those that a next token can see."""
    state = dict(vars(leaf))
    if leaf.keys is not None:
        first, end = max(state["_start"], state["_end"] - leaf.max_size + 1), state["_end"]
        state |= {name: _copied(state[name][..., first:end, :]) for name in ("keys", "values")}
        state |= {name: max(0, at - first) for name, at in state.items() if name in _PLACES}
    return [[name, value] for name, value in state.items()]


def _restore(caches: CacheSet, checkpoint: Checkpoint) -> None:
    for leaf, state in zip(_without_rows(caches), checkpoint, strict=True):
        if isinstance(leaf, WindowCache):
            vars(leaf).update(_handed_out(state))
        elif isinstance(state, _Opaque):
            restore(leaf, state.before)
        else:
            leaf.state = _handed_out(state)


def _copied(value: Any) -> Any:
    if isinstance(value, mx.array):
        return value if value.dtype == mx.bool_ else value * 1
    return [_copied(part) for part in value] if isinstance(value, list | tuple) else value


def _handed_out(value: Any) -> Any:
    """New handles and lists: a cache may write into its own, and a checkpoint serves more than once."""
    if isinstance(value, mx.array):
        return mx.array(value)
    return [_handed_out(part) for part in value] if isinstance(value, list | tuple) else value
