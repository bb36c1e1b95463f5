"""How many tokens a picture takes, from small files of a model's folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import CannotSee, PictureDetail, SightRefusal, picture_tokens
from engine.models.vision_config import sight_refusal

_VISION = {
    "patch_size": 16,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "hidden_size": 64,
    "num_heads": 4,
    "depth": 2,
}
_CONFIG: dict[str, object] = {"model_type": "qwen3_vl", "image_token_id": 7, "vision_config": _VISION}
_PICTURES = {"size": {"shortest_edge": 65_536, "longest_edge": 16_777_216}, "image_mean": [0.5] * 3}


def _folder(path: Path, config: dict[str, object], pictures: dict[str, object] | None = None) -> str:
    (path / "config.json").write_text(json.dumps(config))
    (path / "preprocessor_config.json").write_text(json.dumps(_PICTURES if pictures is None else pictures))
    return str(path)


@pytest.mark.parametrize(
    ("size", "detail", "tokens"),
    [
        ((640, 480), PictureDetail.NORMAL, 20 * 15),
        ((1000, 1000), PictureDetail.NORMAL, 31 * 31),
        ((4000, 3000), PictureDetail.NORMAL, 41 * 30),
        ((4000, 3000), PictureDetail.LOW, 20 * 15),
        ((4000, 3000), PictureDetail.HIGH, 73 * 55),
        ((1, 1), PictureDetail.NORMAL, 8 * 8),
        ((8192, 1), PictureDetail.NORMAL, 256 * 1),
    ],
)
def test_tokens_follow_from_the_size(tmp_path: Path, size: tuple[int, int], detail: PictureDetail, tokens: int) -> None:
    assert picture_tokens(_folder(tmp_path, _CONFIG), *size, detail) == tokens


@pytest.mark.parametrize(
    "pictures",
    [
        {"size": {"shortest_edge": -5}},
        {"min_pixels": 10, "max_pixels": 2**40},
        {"image_std": [0.0, 0.5, 0.5]},
        {"image_mean": [float("nan"), 0.5, 0.5]},
        {"image_mean": [0.5]},
        {"resample": 7},
    ],
)
def test_numbers_that_cannot_be_are_refused(tmp_path: Path, pictures: dict[str, object]) -> None:
    with pytest.raises(CannotSee) as refused:
        picture_tokens(_folder(tmp_path, _CONFIG, pictures), 100, 100)
    assert refused.value.why is SightRefusal.DAMAGED


@pytest.mark.parametrize("vision", [{"num_heads": 2**30}, {"num_heads": 3}, {"depth": 10**9}, {"hidden_size": 2**31}])
def test_towers_that_cannot_be_are_refused(tmp_path: Path, vision: dict[str, object]) -> None:
    with pytest.raises(CannotSee) as refused:
        picture_tokens(_folder(tmp_path, {**_CONFIG, "vision_config": _VISION | vision}), 100, 100)
    assert refused.value.why is SightRefusal.DAMAGED


def test_gemmas_pictures_take_as_many_tokens_whatever_their_size(tmp_path: Path) -> None:
    vision = {"patch_size": 14, "image_size": 896, "hidden_size": 1152, "num_attention_heads": 16}
    tokens = {"boi_token_index": 255_999, "eoi_token_index": 256_000, "image_token_index": 262_144}
    config = {"model_type": "gemma3", "vision_config": {**vision, "num_hidden_layers": 27}, **tokens}
    folder = _folder(tmp_path, config, {})
    assert [picture_tokens(folder, *size, PictureDetail.LOW) for size in ((1, 900), (4000, 3000))] == [256, 256]


@pytest.mark.parametrize(
    ("size", "detail", "tokens"),
    [
        ((640, 480), PictureDetail.NORMAL, 19 * 14),
        ((640, 480), PictureDetail.LOW, 13 * 10),
        ((640, 480), PictureDetail.HIGH, 38 * 28),
        ((10, 10), PictureDetail.NORMAL, 16 * 16),
        ((2000, 4), PictureDetail.NORMAL, 280),
        ((4, 300), PictureDetail.NORMAL, 144),
    ],
)
def test_gemma_4_makes_pictures_as_large_as_its_limit(
    tmp_path: Path, size: tuple[int, int], detail: PictureDetail, tokens: int
) -> None:
    vision = {"patch_size": 16, "hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 16}
    ids = {"boi_token_id": 255_999, "eoi_token_id": 258_882, "image_token_id": 258_880}
    config = {"model_type": "gemma4", "vision_config": {**vision, "pooling_kernel_size": 3}, **ids}
    assert picture_tokens(_folder(tmp_path, config, {"max_soft_tokens": 280}), *size, detail) == tokens


def test_gemma_4_12b_counts_as_the_others(tmp_path: Path) -> None:
    """Though its patches are tokens."""
    vision = {"patch_size": 16, "pooling_kernel_size": 3, "mm_embed_dim": 3840, "num_soft_tokens": 280}
    ids = {"boi_token_id": 255_999, "eoi_token_id": 258_882, "image_token_id": 258_880}
    config = {"model_type": "gemma4_unified", "vision_config": vision, **ids}
    folder = _folder(tmp_path, config, {})
    assert [picture_tokens(folder, 640, 480, detail) for detail in PictureDetail] == [13 * 10, 19 * 14, 38 * 28]


_MISTRAL: dict[str, object] = {
    "model_type": "mistral3",
    "image_token_index": 10,
    "spatial_merge_size": 2,
    "vision_config": {"model_type": "pixtral", "patch_size": 14, "image_size": 1540},
}


@pytest.mark.parametrize(
    ("size", "detail", "tokens"),
    [
        ((640, 480), PictureDetail.NORMAL, (23 + 1) * 18),
        ((4000, 3000), PictureDetail.HIGH, (55 + 1) * 42),
        ((4000, 3000), PictureDetail.NORMAL, (40 + 1) * 31),
        ((1, 1), PictureDetail.NORMAL, 1 + 1),
        ((1, 9000), PictureDetail.NORMAL, (1 + 1) * 55),
    ],
)
def test_mistrals_lines_each_end_in_a_token(
    tmp_path: Path, size: tuple[int, int], detail: PictureDetail, tokens: int
) -> None:
    folder = _folder(tmp_path, _MISTRAL, {"size": {"longest_edge": 1540}, "patch_size": 14})
    assert picture_tokens(folder, *size, detail) == tokens


@pytest.mark.parametrize(
    ("changed", "pictures"),
    [
        ({"spatial_merge_size": 0}, {}),
        ({"vision_feature_layer": -2}, {}),
        ({"vision_config": {"patch_size": 65}}, {}),
        ({}, {"size": {"longest_edge": 2**14}}),
        ({}, {"size": {"longest_edge": 20}}),
    ],
)
def test_numbers_of_mistrals_that_cannot_be_are_refused(
    tmp_path: Path, changed: dict[str, object], pictures: dict[str, object]
) -> None:
    with pytest.raises(CannotSee) as refused:
        picture_tokens(_folder(tmp_path, _MISTRAL | changed, pictures), 100, 100)
    assert refused.value.why is SightRefusal.DAMAGED


_LFM2: dict[str, object] = {
    "model_type": "lfm2-vl",
    "image_token_id": 396,
    "downsample_factor": 2,
    "vision_config": {"patch_size": 16, "hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 12},
}


@pytest.mark.parametrize(
    ("size", "detail", "tokens"),
    [
        ((640, 480), PictureDetail.HIGH, 2 + 18 * 13),
        ((1600, 1200), PictureDetail.LOW, 2 + 18 * 13),
        ((1600, 1200), PictureDetail.NORMAL, 2 + 4 * 257 + 1 + 18 * 13),
        ((1600, 1200), PictureDetail.HIGH, 2 + 6 * 257 + 1 + 18 * 13),
        ((9000, 1), PictureDetail.NORMAL, 2 + 226 * 1),
    ],
)
def test_lfm2_cuts_large_pictures_into_squares(
    tmp_path: Path, size: tuple[int, int], detail: PictureDetail, tokens: int
) -> None:
    assert picture_tokens(_folder(tmp_path, _LFM2, {}), *size, detail) == tokens


@pytest.mark.parametrize(
    "changed", [{"tile_size": 500}, {"tile_size": 2**20}, {"max_tiles": 2**20}, {"max_image_tokens": 2**30}]
)
def test_numbers_of_squares_that_cannot_be_are_refused(tmp_path: Path, changed: dict[str, object]) -> None:
    with pytest.raises(CannotSee) as refused:
        picture_tokens(_folder(tmp_path, _LFM2 | changed, {}), 4000, 3000)
    assert refused.value.why is SightRefusal.DAMAGED


_LLAVA: dict[str, object] = {"model_type": "llava", "vision_config": {"model_type": "clip_vision_model"}}


@pytest.mark.parametrize(
    ("config", "tensors", "why"),
    [
        ({"model_type": "qwen3"}, ["model.embed_tokens.weight"], SightRefusal.TEXT_ONLY),
        (_CONFIG, ["model.embed_tokens.weight"], SightRefusal.LEFT_OUT),
        ({**_CONFIG, "model_type": "kimi_vl"}, ["vision_tower.patch_embed.proj.weight"], SightRefusal.UNKNOWN_FAMILY),
        (_CONFIG, ["model.visual.patch_embed.proj.weight"], None),
        (_CONFIG, ["vision_tower.patch_embed.proj.weight"], None),
        (_LLAVA, ["vision_tower.patch_conv.weight"], SightRefusal.UNKNOWN_FAMILY),
        (_LLAVA | {"vision_config": {"model_type": "pixtral"}}, ["vision_tower.patch_conv.weight"], None),
        (_MISTRAL, ["model.vision_tower.patch_conv.weight"], None),
        (_MISTRAL, ["vision_tower.vision_model.patch_conv.weight"], None),
        (
            {"model_type": "gemma4_unified", "vision_config": _VISION},
            ["model.vision_embedder.patch_dense.weight"],
            None,
        ),
    ],
)
def test_a_model_sees_by_its_config_and_its_tensors(
    config: dict[str, object], tensors: list[str], why: SightRefusal | None
) -> None:
    assert sight_refusal(config, tensors) is why
