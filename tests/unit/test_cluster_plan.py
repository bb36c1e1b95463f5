"""Which rank gets which layers, by a folder's files alone."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import InvalidRequest, ModelError, ModelNotSplittable, SplitRefusal, plan_ranks
from engine.api.types import CacheSizes
from engine.cluster.plan import PIPELINES, REFUSED, Sizes, divided
from tests.helpers.model_folders import model_files, write_folder

GB = 10**9
TENSORS: dict[str, tuple[str, tuple[int, ...]]] = {
    "model.embed_tokens.weight": ("F32", (12, 8)),
    "model.norm.weight": ("F32", (8,)),
    "lm_head.weight": ("F32", (12, 8)),
    **{f"model.layers.{layer}.mlp.up_proj.weight": ("F32", (8, 8 * (layer + 1))) for layer in range(5)},
}


def folder(path: Path, without: str = "", **changes: Any) -> Path:
    """Four layers, each larger than the one before, and a fifth that mlx-lm does not load."""
    config = {"model_type": "qwen2", "num_hidden_layers": 4} | changes
    tensors = {name: tensor for name, tensor in TENSORS.items() if name != without}
    return write_folder(path, model_files(config, tensors))


def test_unequal_memory_gets_unequal_layers(tmp_path: Path) -> None:
    even = plan_ranks(folder(tmp_path), [GB, GB])
    large_first = plan_ranks(folder(tmp_path), [3 * GB, GB])
    large_last = plan_ranks(folder(tmp_path), [GB, 3 * GB])

    assert [share.first for share in even.shares][-1] == 0  # the last rank has the first layers
    assert all(sum(plan.split) == 4 for plan in (even, large_first, large_last))
    assert large_first.split[0] > large_last.split[0]
    assert even.fits


def test_weights_are_counted_where_they_are_needed(tmp_path: Path) -> None:
    """The embedding with the first layers, norm and head with the last; in both where the embedding is the head."""
    untied = plan_ranks(folder(tmp_path / "a"), [GB, GB], widened=False).shares
    tied = plan_ranks(folder(tmp_path / "b", without="lm_head.weight"), [GB, GB], widened=False).shares
    embedding, norm, layers = 12 * 8 * 4, 8 * 4, [8 * 8 * n * 4 for n in (1, 2, 3, 4)]

    for shares in (untied, tied):
        assert shares[1].weight_bytes == embedding + sum(layers[: shares[1].end])
        assert shares[0].weight_bytes == embedding + norm + sum(layers[shares[0].first :])


def test_what_does_not_fit_is_a_plan_that_says_so(tmp_path: Path) -> None:
    plan = plan_ranks(folder(tmp_path), [GB, 100])

    assert [share.fits for share in plan.shares] == [True, False]
    assert not plan.fits


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"model_type": "gpt_oss"}, SplitRefusal.TENSOR_ONLY),
        ({"model_type": "gemma3"}, SplitRefusal.LAYERS),
        ({"model_type": "phi-msft"}, SplitRefusal.LAYERS),
        ({"model_type": "deepseek_v41"}, SplitRefusal.ROLLBACK),
        ({"model_type": "kimi_k3"}, SplitRefusal.SPLIT),
        ({"num_hidden_layers": 1}, SplitRefusal.FEW_LAYERS),
        ({"model_type": "bailing_hybrid", "layer_group_size": 3}, SplitRefusal.FEW_LAYERS),
    ],
)
def test_a_refusal_has_a_name_and_a_reason(changes: dict[str, Any], why: SplitRefusal, tmp_path: Path) -> None:
    with pytest.raises(ModelNotSplittable) as refused:
        plan_ranks(folder(tmp_path, **changes), [GB, GB])

    assert refused.value.why is why
    assert refused.value.model_type == changes.get("model_type", "qwen2")


@pytest.mark.parametrize("ranks", [0, 1, 9])
def test_the_number_of_ranks_has_limits(ranks: int, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest):
        plan_ranks(folder(tmp_path), [GB] * ranks)


def test_a_folder_that_cannot_be_used_is_refused_as_ever(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        plan_ranks(tmp_path / "nothing", [GB, GB])


@given(
    layers=st.lists(st.integers(1, 100), min_size=4, max_size=12),
    memory=st.lists(st.integers(1, 1000), min_size=2, max_size=4),
    first=st.integers(0, 50),
    last=st.integers(0, 50),
)
def test_no_other_division_leaves_the_fullest_rank_emptier(
    layers: list[int], memory: list[int], first: int, last: int
) -> None:
    sizes = Sizes(tuple(layers), first, last, CacheSizes(3, 5))
    shares = divided(sizes, memory, 7)

    assert [share.first for share in shares] == [share.end for share in shares[1:]] + [0]
    assert shares[0].end == len(layers)
    assert all(share.layers >= 1 for share in shares)
    if len(memory) == 2:
        others = [
            max(sizes.share(0, cut, memory[1], 7), sizes.share(cut, len(layers), memory[0], 7), key=_fullness)
            for cut in range(1, len(layers))
        ]
        assert max(map(_fullness, shares)) == min(map(_fullness, others))


def _fullness(share: Any) -> float:
    return float(share.needed_bytes / share.available_bytes)


@given(group=st.integers(1, 4), ranks=st.integers(2, 3))
def test_layers_that_belong_together_stay_together(group: int, ranks: int) -> None:
    sizes = Sizes((1,) * 14, 0, 0, CacheSizes(0, 0))
    shares = divided(sizes, [100] * ranks, 0, group)

    assert all(share.first % group == 0 and share.layers >= group for share in shares)


def test_these_are_the_families_that_mlx_lm_can_divide() -> None:
    """A new release cannot bring or lose one that nobody has looked at. Its code is read, not run."""
    spec = importlib.util.find_spec("mlx_lm")
    (root,) = spec.submodule_search_locations if spec is not None and spec.submodule_search_locations else ("",)
    texts = {
        file.stem: file.read_text("utf-8") for file in Path(root, "models").glob("*.py") if file.stem != "pipeline"
    }
    able = {name for name, text in texts.items() if "PipelineMixin" in text or "def pipeline(" in text}
    through_another = {"glm_moe_dsa", "kimi_k25", "qwen3_5_moe", "solar_open", "prism_hadamard_qwen35"}

    assert able == {*PIPELINES, *REFUSED} - through_another
    for name in through_another:
        imported = re.findall(r"^from \.(\w*) import (\w+)", texts[name], re.MULTILINE)
        assert able & {part for parts in imported for part in parts}, name
