"""A drafter that agrees with its main model stops to agree when any convention of its format is read wrongly."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.drafting.proposers.eagle3 import EagleDrafter
from tests.helpers.taught_heads import (
    Taught,
    knows,
    norms_swapped,
    offsets_off_by_one,
    other_rotation_of_eagle,
    states_first,
    teach,
)

pytestmark = pytest.mark.drill


@pytest.fixture(scope="module")
def taught() -> Taught:
    return teach(400, 120)


def test_what_a_head_was_taught_it_drafts(taught: Taught) -> None:
    assert knows(taught, taught.head()) > 0.95


@pytest.mark.parametrize("broken", [offsets_off_by_one, states_first, norms_swapped, other_rotation_of_eagle])
def test_a_convention_of_eagle_that_is_broken_shows(taught: Taught, broken: Callable[[EagleDrafter], None]) -> None:
    head = taught.head()

    broken(head)

    assert knows(taught, head) < 0.9


@pytest.mark.parametrize("by", [-1, 1])
def test_layers_read_one_off_show(taught: Taught, by: int) -> None:
    head = taught.head()

    assert knows(taught, head, tuple(layer + by for layer in head.reads)) < 0.9


def test_a_token_early_shows(taught: Taught) -> None:
    assert knows(taught, taught.head(), shift=0) < 0.9


def test_a_flag_read_wrongly_shows(taught: Taught) -> None:
    assert knows(taught, taught.head(norm_before_residual=True)) < 0.9
