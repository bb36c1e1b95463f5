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
_PICTURES: dict[str, object] = {"size": {"shortest_edge": 65_536, "longest_edge": 16_777_216}, "image_mean": [0.5] * 3}


def _folder(path: Path, config: dict[str, object], pictures: dict[str, object]) -> str:
    (path / "config.json").write_text(json.dumps(config))
    (path / "preprocessor_config.json").write_text(json.dumps(pictures))
    return str(path)


_GEMMA3: dict[str, object] = {
    "model_type": "gemma3",
    "boi_token_index": 255_999,
    "eoi_token_index": 256_000,
    "image_token_index": 262_144,
    "vision_config": {
        "patch_size": 14,
        "image_size": 896,
        "hidden_size": 1152,
        "num_attention_heads": 16,
        "num_hidden_layers": 27,
    },
}
_GEMMA4_TOKENS = {"boi_token_id": 255_999, "eoi_token_id": 258_882, "image_token_id": 258_880}
_GEMMA4: dict[str, object] = {
    "model_type": "gemma4",
    "vision_config": {
        "patch_size": 16,
        "hidden_size": 768,
        "num_attention_heads": 12,
        "num_hidden_layers": 16,
        "pooling_kernel_size": 3,
    },
    **_GEMMA4_TOKENS,
}
_UNIFIED: dict[str, object] = {  # whose patches are tokens
    "model_type": "gemma4_unified",
    "vision_config": {"patch_size": 16, "pooling_kernel_size": 3, "mm_embed_dim": 3840, "num_soft_tokens": 280},
    **_GEMMA4_TOKENS,
}
_MISTRAL: dict[str, object] = {
    "model_type": "mistral3",
    "image_token_index": 10,
    "spatial_merge_size": 2,
    "vision_config": {"model_type": "pixtral", "patch_size": 14, "image_size": 1540},
}
_LFM2: dict[str, object] = {
    "model_type": "lfm2-vl",
    "image_token_id": 396,
    "downsample_factor": 2,
    "vision_config": {"patch_size": 16, "hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 12},
}
_FAMILIES: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "qwen": (_CONFIG, _PICTURES),
    "gemma 3": (_GEMMA3, {}),
    "gemma 4": (_GEMMA4, {"max_soft_tokens": 280}),
    "gemma 4 12b": (_UNIFIED, {}),
    "mistral": (_MISTRAL, {"size": {"longest_edge": 1540}, "patch_size": 14}),
    "lfm2": (_LFM2, {}),
}
_LOW, _NORMAL, _HIGH = PictureDetail.LOW, PictureDetail.NORMAL, PictureDetail.HIGH


@pytest.mark.parametrize(
    ("family", "size", "detail", "tokens"),
    [
        ("qwen", (640, 480), _NORMAL, 20 * 15),
        ("qwen", (4000, 3000), _NORMAL, 41 * 30),
        ("qwen", (4000, 3000), _LOW, 20 * 15),
        ("qwen", (4000, 3000), _HIGH, 73 * 55),
        ("qwen", (1, 1), _NORMAL, 8 * 8),
        ("qwen", (8192, 1), _NORMAL, 256 * 1),
        ("gemma 3", (1, 900), _LOW, 256),  # as many whatever its size
        ("gemma 3", (4000, 3000), _LOW, 256),
        *((family, (640, 480), _NORMAL, 19 * 14) for family in ("gemma 4", "gemma 4 12b")),
        *((family, (640, 480), _LOW, 13 * 10) for family in ("gemma 4", "gemma 4 12b")),
        *((family, (640, 480), _HIGH, 38 * 28) for family in ("gemma 4", "gemma 4 12b")),
        ("gemma 4", (10, 10), _NORMAL, 16 * 16),
        ("gemma 4", (2000, 4), _NORMAL, 280),
        ("mistral", (640, 480), _NORMAL, (23 + 1) * 18),  # each line ends in a token
        ("mistral", (4000, 3000), _HIGH, (55 + 1) * 42),
        ("mistral", (1, 1), _NORMAL, 1 + 1),
        ("mistral", (1, 9000), _NORMAL, (1 + 1) * 55),
        ("lfm2", (640, 480), _HIGH, 2 + 18 * 13),
        ("lfm2", (1600, 1200), _LOW, 2 + 18 * 13),
        ("lfm2", (1600, 1200), _NORMAL, 2 + 4 * 257 + 1 + 18 * 13),  # cut into squares
        ("lfm2", (1600, 1200), _HIGH, 2 + 6 * 257 + 1 + 18 * 13),
        ("lfm2", (9000, 1), _NORMAL, 2 + 226 * 1),
    ],
)
def test_tokens_follow_from_the_size(
    tmp_path: Path, family: str, size: tuple[int, int], detail: PictureDetail, tokens: int
) -> None:
    config, pictures = _FAMILIES[family]
    assert picture_tokens(_folder(tmp_path, config, pictures), *size, detail) == tokens


@pytest.mark.parametrize(
    ("config", "pictures"),
    [
        (_CONFIG, {"size": {"shortest_edge": -5}}),
        (_CONFIG, {"min_pixels": 10, "max_pixels": 2**40}),
        (_CONFIG, {"image_std": [0.0, 0.5, 0.5]}),
        (_CONFIG, {"image_mean": [float("nan"), 0.5, 0.5]}),
        (_CONFIG, {"resample": 7}),
        (_CONFIG | {"vision_config": _VISION | {"num_heads": 2**30}}, _PICTURES),
        (_CONFIG | {"vision_config": _VISION | {"num_heads": 3}}, _PICTURES),
        (_CONFIG | {"vision_config": _VISION | {"depth": 10**9}}, _PICTURES),
        (_CONFIG | {"vision_config": _VISION | {"hidden_size": 2**31}}, _PICTURES),
        (_MISTRAL | {"spatial_merge_size": 0}, {}),
        (_MISTRAL | {"vision_config": {"patch_size": 65}}, {}),
        (_MISTRAL, {"size": {"longest_edge": 2**14}}),
        (_MISTRAL, {"size": {"longest_edge": 20}}),
        (_LFM2 | {"tile_size": 500}, {}),
        (_LFM2 | {"max_tiles": 2**20}, {}),
        (_LFM2 | {"max_image_tokens": 2**30}, {}),
    ],
)
def test_impossible_numbers_are_refused(tmp_path: Path, config: dict[str, object], pictures: dict[str, object]) -> None:
    with pytest.raises(CannotSee) as refused:
        picture_tokens(_folder(tmp_path, config, pictures), 4000, 3000)
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
def test_which_models_see(config: dict[str, object], tensors: list[str], why: SightRefusal | None) -> None:
    assert sight_refusal(config, tensors) is why
