"""That the part of a product which `make test` runs holds every value, and that nothing of the product is lost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.samples import sampled


@pytest.mark.parametrize("lengths", [(3, 3), (6, 3), (4, 2, 2), (6, 4), (2, 5, 3), (1, 1)])
def test_every_value_is_in_the_part_and_every_combination_in_the_whole(lengths: tuple[int, ...]) -> None:
    axes = [{f"{'abc'[axis]}{n}": n for n in range(length)} for axis, length in enumerate(lengths)]
    made: list[Any] = sampled(*axes)
    part = [each.values for each in made if not each.marks]

    assert len({each.id for each in made}) == len(made)
    assert len(part) == max(lengths)
    assert [{values[axis] for values in part} for axis in range(len(lengths))] == [set(range(n)) for n in lengths]
    whole = 1
    for length in lengths:
        whole *= length
    assert len({each.values for each in made}) == whole


def test_short_axes_are_combined_in_every_way_where_there_is_room() -> None:
    part = {each.values[1:] for each in sampled(range(4), (0, 1), (0, 1)) if not each.marks}
    assert len(part) == 4
