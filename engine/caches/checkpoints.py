"""Truncating caches and copying parts of them, so that a chat can continue from an earlier position.

A key-value cache has one row a token: it is truncated by dropping rows, and any segment of rows can be copied. Windows
and recurrent states change with every token: an earlier one is restored only from a checkpoint made there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx_lm.models import cache as mlx_cache

from engine.caches.base import CacheSet
from engine.caches.kinds import leaves, require, restore, snapshot, trim
from engine.caches.window import WindowCache

Checkpoint = list[Any]  # of each cache without rows, a copy of its state: arrays, numbers, None and lists of those
Rows = list[list[mx.array]]  # of each cache with rows, its arrays (…, tokens, depth)

_WITH_ROWS = (mlx_cache.KVCache, mlx_cache.QuantizedKVCache)
_SPARE_ROWS = 256  # as many as mlx-lm adds at a time
_PLACES = ("_end", "_first")  # positions in a window's buffers
_IDLE_ROWS = 4096  # more spare rows than this are freed


class _WithOthers(list[Any]):
    """A checkpoint here, and those that other processes made."""

    others: object = None


def needs_checkpoints(caches: CacheSet) -> bool:
    return bool(_without_rows(caches)) or (caches.others is not None and caches.others.needs_checkpoints)


def make_checkpoint(caches: CacheSet) -> Checkpoint:
    """Copies the arrays: a slice would keep the whole buffer alive."""
    checkpoint = [_state(leaf) for leaf in _without_rows(caches)]
    mx.eval(list(arrays_in(checkpoint)))
    if caches.others is not None:
        checkpoint = _WithOthers(checkpoint)
        checkpoint.others = caches.others.make_checkpoint()
    return checkpoint


def can_truncate(caches: CacheSet, position: int) -> bool:
    """Whether `truncate` needs no checkpoint there: windows keep some rows more than they attend to."""
    tokens = caches.position - position
    states = _without_rows(caches)
    here = tokens == 0 or all(isinstance(leaf, WindowCache) and leaf.can_trim(tokens) for leaf in states)
    return here and (tokens == 0 or caches.others is None or caches.others.can_truncate(position))


def truncate(caches: CacheSet, position: int, checkpoint: Checkpoint | None = None) -> None:
    """Drop everything after `position` tokens; `checkpoint` was made there, or is None where none is needed."""
    tokens = caches.position - position
    require(caches.width == 0, "a step is open")
    require(tokens >= 0, f"there is no position {position} of {caches.position}")
    require(checkpoint is not None or can_truncate(caches, position), f"nothing restores the state at {position}")
    for leaf in _with_rows(caches):
        trim(leaf, tokens)
        _free_spare_rows(leaf)
    if checkpoint is not None:
        _restore(caches, checkpoint)
    elif tokens:
        for leaf in _without_rows(caches):
            trim(leaf, tokens)
    if caches.others is not None:
        caches.others.truncate(position, getattr(checkpoint, "others", None))
    caches.position = position


def rows_between(caches: CacheSet, start: int, end: int) -> Rows:
    """Views, not evaluated: to be read at once, before the caches change."""
    require(caches.others is None, "other ranks have rows, too")
    return [[array[..., start:end, :] for array in _arrays(leaf)] for leaf in _with_rows(caches)]


def append_rows(caches: CacheSet, segments: list[Rows], end: int, checkpoint: Checkpoint | None) -> None:
    """Append segments of rows, up to position `end`, cache by cache; empties the lists, to save memory.

    Raises ValueError for rows of other caches, or of another number of tokens.
    """
    require(caches.width == 0, "a step is open")
    require(caches.others is None, "other ranks have rows, too")
    require(checkpoint is not None or not needs_checkpoints(caches), f"nothing restores the state at {end}")
    with_rows = _with_rows(caches)
    if any(len(segment) != len(with_rows) for segment in segments):
        raise ValueError(f"rows of {[len(segment) for segment in segments]} caches, here are {len(with_rows)}")
    for index, leaf in enumerate(with_rows):
        held = [array[..., : caches.position, :] for array in _arrays(leaf)] if caches.position else []
        columns = [*([held] if held else []), *(segment[index] for segment in segments)]
        joined = [mx.concatenate([*parts, _spare(parts[-1])], axis=-2) for parts in zip(*columns, strict=True)]
        if any(rows.shape[-2] != end + _SPARE_ROWS for rows in joined):
            raise ValueError(f"not all of {end} rows")
        mx.eval(joined)
        if joined:
            _put(leaf, joined, end)
        for segment in segments:
            segment[index] = []
    if checkpoint is not None:
        mx.eval(list(arrays_in(checkpoint)))  # read from its file now
        _restore(caches, checkpoint)
    caches.position = end


def copy_beginning(source: CacheSet, fresh: CacheSet, end: int, checkpoint: Checkpoint | None = None) -> None:
    """Copy the first `end` tokens of `source` to `fresh`; `checkpoint` was made there, or is None where none is needed.

    Not evaluated: the next forward copies. `source` may change before that.
    """
    require(fresh.position == 0, "something is held already")
    require(checkpoint is not None or not needs_checkpoints(source), f"nothing restores the state at {end}")
    if fresh.others is not None:
        fresh.others.copy_beginning(source.others, end)
    for old, new in zip(_with_rows(source), _with_rows(fresh), strict=True):
        if rows := [mx.concatenate([array[..., :end, :], _spare(array)], axis=-2) for array in _arrays(old)]:
            _put(new, rows, end)
    if checkpoint is not None:
        _restore(fresh, checkpoint)
    fresh.position = end


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


def _free_spare_rows(leaf: Any) -> None:
    arrays = _arrays(leaf)
    if arrays and arrays[0].shape[-2] - leaf.offset > _IDLE_ROWS:
        kept = [_copy(array[..., : leaf.offset + _SPARE_ROWS, :]) for array in arrays]
        mx.eval(kept)
        _put(leaf, kept, leaf.offset)


@dataclass(frozen=True, slots=True)
class _Opaque:
    """The state of a cache class without a public `state`. Can be restored, but not written to a file."""

    before: Any


def _state(leaf: Any) -> Any:
    if isinstance(leaf, WindowCache):
        return _window_state(leaf)
    return _copy(leaf.state) if type(leaf).state.fset is not None else _Opaque(snapshot(leaf))


def _window_state(leaf: WindowCache) -> list[Any]:
    """All attributes, with only those entries that later tokens can attend to."""
    state = dict(vars(leaf))
    if leaf.keys is not None:
        first = max(0, state["_end"] - leaf.max_size + 1)
        end = state["_end"]
        state |= {name: _copy(state[name][..., first:end, :]) for name in ("keys", "values")}
        state |= {name: max(0, at - first) for name, at in state.items() if name in _PLACES}
    return [[name, value] for name, value in state.items()]


def _restore(caches: CacheSet, checkpoint: Checkpoint) -> None:
    for leaf, state in zip(_without_rows(caches), checkpoint, strict=True):
        if isinstance(leaf, WindowCache):
            vars(leaf).update(_new_handles(state))
        elif isinstance(state, _Opaque):
            restore(leaf, state.before)
        else:
            leaf.state = _new_handles(state)


def _copy(value: Any) -> Any:
    if isinstance(value, mx.array):
        return value if value.dtype == mx.bool_ else value * 1
    return [_copy(part) for part in value] if isinstance(value, list | tuple) else value


def _new_handles(value: Any) -> Any:
    """New handles and lists: a cache may write to its own, and a checkpoint is used more than once."""
    if isinstance(value, mx.array):
        return mx.array(value)
    return [_new_handles(part) for part in value] if isinstance(value, list | tuple) else value
