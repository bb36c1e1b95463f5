"""Products of parameters of which `make test` runs a part that holds every value, and `make drills` the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pytest

Axis = Mapping[str, Any] | Sequence[Any]


def sampled(*axes: Axis) -> list[Any]:
    """Every combination, for `parametrize`; as many as the longest axis has values are no drills.

    Those hold every value of every axis, and combine the shorter ones differently each time round. A mapping names its
    values; those of a sequence are named as they read.
    """
    tables = [dict(axis) if isinstance(axis, Mapping) else {str(value): value for value in axis} for axis in axes]
    fair = {
        tuple([*table][_place(place, number, len(table))] for number, table in enumerate(tables))
        for place in range(max(map(len, tables)))
    }
    return [
        pytest.param(
            *(table[name] for table, name in zip(tables, names, strict=True)),
            id="-".join(names),
            marks=[] if names in fair else [pytest.mark.drill],
        )
        for names in product(*tables)
    ]


def _place(place: int, axis: int, length: int) -> int:
    return (place + axis * (place // length)) % length
