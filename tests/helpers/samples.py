"""Parameters of which `make test` runs a part, and `make slow` or `make drills` the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import pytest

Axis = Mapping[str, Any] | Sequence[Any]


def fair(values: Iterable[Any], *kept: Any, rest: pytest.MarkDecorator = pytest.mark.slow) -> list[Any]:
    """All of `values`, for `parametrize`: those that are not `kept` are marked as the `rest`."""
    values = list(values)
    assert set(kept) <= set(values)
    return [pytest.param(value, marks=[] if value in kept else [rest]) for value in values]


def sampled(*axes: Axis, rest: pytest.MarkDecorator = pytest.mark.drill) -> list[Any]:
    """Every combination, for `parametrize`; as many as the longest axis has values are not marked as the `rest`.

    Those hold every value of every axis, and combine the shorter ones differently each time round. A mapping names its
    values; those of a sequence are named as they read.
    """
    tables = [dict(axis) if isinstance(axis, Mapping) else {str(value): value for value in axis} for axis in axes]
    chosen = {
        tuple([*table][_place(place, number, len(table))] for number, table in enumerate(tables))
        for place in range(max(map(len, tables)))
    }
    return [
        pytest.param(
            *(table[name] for table, name in zip(tables, names, strict=True)),
            id="-".join(names),
            marks=[] if names in chosen else [rest],
        )
        for names in product(*tables)
    ]


def drilled(cases: Iterable[tuple[Any, ...]]) -> list[Any]:
    """All of them, for `parametrize`, in `make drills` only."""
    return [pytest.param(*case, marks=pytest.mark.drill) for case in cases]


def _place(place: int, axis: int, length: int) -> int:
    return (place + axis * (place // length)) % length
