"""A draft's logits and tokens as the main model's, beside the tokens' texts."""

from __future__ import annotations

import math

import mlx.core as mx
import pytest

from engine.models.token_map import TokenMap
from engine.models.translation import Translation
from tests.unit.test_token_map import table

MAIN = ("a", "b", "ab", "c")
DRAFT = ("c", "x", "a", "b", "y")


def translation(main_rows: int) -> Translation:
    return Translation(TokenMap(table(*MAIN), table(*DRAFT), len(DRAFT)), main_rows)


@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16])
def test_each_shared_token_has_the_drafts_logit_and_others_no_chance(dtype: mx.Dtype) -> None:
    """The main model's output has two rows of padding."""
    told = translation(len(MAIN) + 2).logits(mx.array([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], dtype=dtype))
    assert told.dtype == dtype
    none = -math.inf
    assert told.tolist() == [[3, 4, none, 1, none, none], [8, 9, none, 6, none, none]]


def test_what_it_drafted_it_reads_as_its_own() -> None:
    mapped = translation(len(MAIN))
    assert mapped.drafted(mx.array([3, 0, 1], dtype=mx.uint32)).tolist() == [0, 2, 3]
    assert mapped.tokens.spell([3, 0, 1]) == [0, 2, 3]
