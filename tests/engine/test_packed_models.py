"""Packed weights that MLX cannot have packed: a group of 0 numbers is a division that would end the process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx.utils import tree_flatten
from mlx_lm.models import ministral3

from engine import ModelDamaged, ModelUnsupported
from engine.models.model_files import read_header
from tests.families.configs import config as family_config
from tests.families.harness import build as build_family
from tests.helpers.loading import load_model
from tests.helpers.model_folders import with_header
from tests.helpers.tiny_models import VOCABULARY, build, byte_tokenizer, qwen3_config, rewrite, save

_STEM = "model.layers.0.mlp.up_proj"
_PACKED = {"group_size": 64, "bits": 4}


def saved(folder: Path, said: dict[str, Any], scales: int = 2) -> Path:
    """A model with one packed layer of that many scales a row."""
    config = qwen3_config()
    save(build(config), config, folder)
    rewrite(folder / "config.json", **said)
    weights = mx.load(str(folder / "model.safetensors"))
    assert isinstance(weights, dict)
    mx.eval(weights)
    packed, *parts = mx.quantize(weights[f"{_STEM}.weight"], group_size=32, bits=4)
    parts = [mx.tile(part, (1, scales // 2)) for part in parts]
    weights |= dict(zip((f"{_STEM}.{part}" for part in ("weight", "scales", "biases")), (packed, *parts), strict=True))
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    return folder


def test_a_layer_is_packed_as_its_tensors_show(tmp_path: Path) -> None:
    network = load_model(saved(tmp_path / "m", {"quantization": _PACKED})).network
    layer = network.model.layers[0].mlp.up_proj
    assert isinstance(layer, nn.QuantizedLinear)
    assert (layer.group_size, layer.bits) == (32, 4)


@pytest.mark.parametrize("group", [0, False, 0.0])
@pytest.mark.parametrize("depth", ["", _STEM, "model.layers.0.mlp.down_proj"])
def test_groups_of_nothing_are_damage(depth: str, group: object, tmp_path: Path) -> None:
    nothing = {"group_size": group, "bits": 4}
    said = _PACKED | {depth: nothing} if depth else nothing
    with pytest.raises(ModelDamaged, match="group_size of 0"):
        load_model(saved(tmp_path / "m", {"quantization": said}))


def test_they_are_where_another_file_says_so(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m", {})
    (folder / "hf_quant_config.json").write_text(json.dumps({"quantization": {"group_size": 0}}))
    with pytest.raises(ModelDamaged, match="group_size of 0"):
        load_model(folder)


def test_more_scales_than_numbers_are_damage(tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match=r"scales .*of a width of 64"):
        load_model(saved(tmp_path / "m", {"quantization": _PACKED}, scales=128))


def packed_by_columns(tmp_path: Path, method: str, groups: int) -> tuple[Path, int]:
    """A model with one layer as AWQ and GPTQ pack it; with its number of outputs, which are more than the inputs."""
    folder = saved(tmp_path / "m", {"quantization_config": {"quant_method": method, "bits": 4, "group_size": 32}})
    weights = mx.load(str(folder / "model.safetensors"))
    assert isinstance(weights, dict)
    outputs, inputs = weights[f"{_STEM}.weight"].shape[0], 64
    assert outputs > inputs
    left = {name: weight for name, weight in weights.items() if not name.startswith(_STEM)}
    left |= {
        f"{_STEM}.qweight": mx.zeros((inputs, outputs // 8), mx.int32),
        f"{_STEM}.qzeros": mx.zeros((groups, outputs // 8), mx.int32),
        f"{_STEM}.scales": mx.full((groups, outputs), 0.5, mx.float16),
    }
    mx.eval(left)
    mx.save_safetensors(str(folder / "model.safetensors"), left, {"format": "pt"})
    return folder, outputs


@pytest.mark.parametrize("method", ["awq", "gptq"])
def test_layers_packed_by_columns_have_a_row_of_scales_a_group(method: str, tmp_path: Path) -> None:
    folder, outputs = packed_by_columns(tmp_path, method, groups=2)
    layer = load_model(folder).network.model.layers[0].mlp.up_proj
    assert (layer.group_size, layer.bits, layer.scales.shape) == (32, 4, (outputs, 2))


def test_more_rows_of_scales_than_inputs_are_damage_there(tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match=r"scales .*of a width of 64"):
        load_model(packed_by_columns(tmp_path, "awq", groups=128)[0])


@pytest.mark.parametrize(("method", "part"), [("fp8", "weight_scale_inv"), ("compressed-tensors", "weight_scale")])
def test_weights_packed_as_mlx_lm_does_not_read_them_are_no_damage(method: str, part: str, tmp_path: Path) -> None:
    config = qwen3_config()
    folder = save(build(config), config | {"quantization_config": {"quant_method": method}}, tmp_path / "m")
    weights = mx.load(str(folder / "model.safetensors"))
    assert isinstance(weights, dict)
    weights |= {f"{_STEM}.weight": mx.zeros((128, 64), mx.uint8), f"{_STEM}.{part}": mx.ones((2, 1))}
    mx.eval(weights)
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "pt"})
    with pytest.raises(ModelUnsupported) as refused:
        load_model(folder)
    assert refused.value.packing == method


_FP8 = {"quantization_config": {"quant_method": "fp8", "activation_scheme": "static", "weight_block_size": None}}
_SCALE = 0.0625  # which half precision holds


def in_fp8(folder: Path) -> dict[str, mx.array]:
    """Puts a folder's layers in FP8 with one scale each, as Mistral publishes them; returns what they are then."""
    file = folder / "model.safetensors"
    weights = mx.load(str(file))
    assert isinstance(weights, dict)
    layers = {name: weight for name, weight in weights.items() if name.endswith("proj.weight")}
    coded = {name: mx.to_fp8(weight / _SCALE) for name, weight in layers.items()}
    scales = {f"{name}_scale_inv": mx.array(_SCALE, mx.bfloat16) for name in layers}
    unused = {name.replace("weight", "activation_scale"): mx.array(1.0, mx.bfloat16) for name in layers}
    mx.eval(weights, coded)
    mx.save_safetensors(str(file), weights | coded | scales | unused, {"format": "pt"})
    kinds = dict.fromkeys(coded, "F8_E4M3")  # MLX calls the bytes U8
    header = {
        name: {
            "dtype": kinds.get(name, tensor.dtype),
            "shape": tensor.shape,
            "data_offsets": [tensor.begin, tensor.end],
        }
        for name, tensor in read_header(file).items()
    }
    body = file.read_bytes()[-max(tensor.end for tensor in read_header(file).values()) :]
    file.write_bytes(with_header(header, body))
    return {name: mx.from_fp8(codes, mx.bfloat16) * _SCALE for name, codes in coded.items()}


def test_gemma_3n_of_mlx_vlm_has_names_of_its_own(tmp_path: Path) -> None:
    """mlx-lm knows those of transformers."""
    config = family_config("gemma3n")
    for part in (config, config["text_config"]):
        del part["rope_scaling"]  # which transformers warns of
    network = build_family("gemma3n")
    folder = save(network, config, tmp_path / "m", byte_tokenizer())
    weights = dict(tree_flatten(network.parameters()))
    names = {name: name.replace("model.language_model.", "language_model.model.") for name in weights}
    assert all(name.startswith("model.language_model.") for name in weights)
    theirs = {names[name]: weight for name, weight in weights.items()}
    theirs |= {"vision_tower.patch.weight": mx.zeros((4, 4)), "embed_audio.norm.weight": mx.zeros((4,))}
    mx.save_safetensors(str(folder / "model.safetensors"), theirs, {"format": "mlx"})
    tokens = mx.array([[5, 8, 13]])
    assert bool(mx.array_equal(load_model(folder).network(tokens), network(tokens)))


@pytest.fixture
def ministral(tmp_path: Path) -> Path:
    config = family_config("ministral3") | {"vocab_size": VOCABULARY}
    network = ministral3.Model(ministral3.ModelArgs.from_dict(config))
    network.set_dtype(mx.bfloat16)
    return save(network, config | _FP8, tmp_path / "m")


def test_weights_in_fp8_with_one_scale_are_what_their_codes_say(ministral: Path) -> None:
    """mlx-lm multiplies the codes by the scale."""
    meant = in_fp8(ministral)
    loaded = dict(tree_flatten(load_model(ministral).network.parameters()))
    assert meant
    assert all(mx.array_equal(loaded[name], weight.astype(mx.float32)) for name, weight in meant.items())
