"""A tower's work in short steps, however large a picture or a tower is.

The split depends on sizes alone, so a picture's rows are the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import mlx.core as mx
import mlx.nn as nn

from engine.models.vision_config import queries_at_once
from engine.vision.towers.tensors import Tensors

# Work of one step: some hundredths of a second on the slowest Macs, and on a busy processor. With fewer rows at once a
# processor reads the weights too often: MEASURED, 64 rows at once took a tower of width 256 8 % longer, 32 took 25 %.
_STEP_FLOPS, _LEAST_ROWS = (0.25e9, 64) if mx.default_device() == mx.cpu else (64e9, 512)

Steps = Generator[None, None, mx.array]
# Of a picture's patches, which each tower has as `rows_of`: rows (tokens, width) for the embedding, and for each layer
# that is given more.
PictureRows = Generator[None, None, list[mx.array]]
Attention = Callable[[mx.array, mx.array, mx.array, float], mx.array]  # of (1, heads, rows, width), and a scale


def by_rows(made: Callable[[slice], mx.array], count: int, flops: float) -> Steps:
    """The results of `made` for all `count` rows, a step at a time; each row takes about `flops`."""
    (rows,) = yield from _by_rows(lambda at: [made(at)], count, flops)
    return rows


def mapped_twice(tensors: Tensors, rows: mx.array, first: str, second: str) -> Steps:
    """`rows` (n, width) through two linear maps with a GELU between them, as most towers end."""
    wide = tensors[f"{first}.weight"].shape[0]
    return by_rows(
        lambda at: tensors.linear(nn.gelu(tensors.linear(rows[at], first)), second),
        rows.shape[0],
        2 * wide * (rows.shape[1] + wide),
    )


def block(
    states: mx.array,
    parts: Callable[[slice], list[mx.array]],
    rest: Callable[[slice, mx.array], mx.array],
    scale: float = 0.0,
    attention: Attention | None = None,
) -> Steps:
    """A transformer block over `states` (patches, width).

    `parts`: queries, keys and values (rows, heads, width) of some patches. `rest`: the block's result for these, from
    what they attended to. `attention`: for all patches at once, where each attends to few; else each attends to every
    one.
    """
    count, width = states.shape
    mx.eval(states)
    yield
    given = yield from _by_rows(parts, count, 6 * width**2)
    queries, keys, values = (mx.contiguous(part.transpose(1, 0, 2))[None] for part in given)
    scale = scale or queries.shape[-1] ** -0.5
    attended = None if attention is None else attention(queries, keys, values, scale)
    mx.eval(keys, values, [] if attended is None else attended)
    yield

    def made(at: slice) -> mx.array:
        seen = to_all(queries[:, :, at], keys, values, scale) if attended is None else attended[:, :, at]
        return rest(at, seen[0].transpose(1, 0, 2).reshape(seen.shape[2], -1))

    return (yield from by_rows(made, count, 18 * width**2 + (4 * count * width if attended is None else 0)))


def to_all(queries: mx.array, keys: mx.array, values: mx.array, scale: float) -> mx.array:
    most = queries_at_once(keys.shape[2])
    parts = mx.split(queries, range(most, queries.shape[2], most), axis=2)
    return mx.concatenate([mx.fast.scaled_dot_product_attention(part, keys, values, scale=scale) for part in parts], 2)


def _by_rows(
    made: Callable[[slice], list[mx.array]], count: int, flops: float
) -> Generator[None, None, list[mx.array]]:
    most = max(1, int(_STEP_FLOPS / flops) // _LEAST_ROWS) * _LEAST_ROWS
    parts = list[list[mx.array]]()
    for start in range(0, count, most):
        parts.append(made(slice(start, min(start + most, count))))
        mx.eval(parts[-1])
        yield
    return [mx.concatenate(list(each)) if len(each) > 1 else each[0] for each in zip(*parts, strict=True)]
