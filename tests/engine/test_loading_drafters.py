"""How a drafter's folder becomes a network: the very tensors of its files, in slices, within memory."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx.utils import tree_flatten

from engine import DrafterDoesNotFit, DrafterUnsupported, ModelDamaged, ModelTooLarge, inspect_model
from engine.drafting.drafters import loading_any_draft, network_class, proposer_of
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.models import networks
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafter_tensors import unplaced, usual
from engine.models.loading import LoadedModel
from engine.models.memory import MemoryNeed
from engine.prefix.memory import PrefixStore
from tests.engine.conftest import Zoo
from tests.families import harness as families
from tests.helpers import tiny_drafters as tiny
from tests.helpers import tiny_heads as heads
from tests.helpers.loading import at_once, load_model

Weights = dict[str, mx.array]
KINDS = {kind: (config_of(), weights_of) for kind, (config_of, weights_of) in tiny.KINDS.items()} | {
    "muse": (tiny.muse_config(), tiny.block_weights),
    "eagle3": (tiny.eagle_config(), tiny.eagle_weights),
    "peagle": (tiny.peagle_config(), tiny.peagle_weights),
}


def load(folder: Path, main: LoadedModel) -> LoadedModel:
    return at_once(loading_any_draft(folder, main))


def tensors(network: Any) -> Weights:
    return dict(tree_flatten(network.parameters()))


def save(kind: str, folder: Path, **said: Any) -> tuple[Path, Weights]:
    config, weights_of = KINDS[kind]
    weights = weights_of(config)
    return tiny.save_drafter(folder, config | said, weights), weights


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_in_the_files_is_what_drafts(main: LoadedModel, kind: str, tmp_path: Path) -> None:
    """Also where a tensor's name has a part more or less than here, and in several files; angles are made anew."""
    folder, weights = save(kind, tmp_path)
    parts = {f"model.{name}": weight for name, weight in weights.items()} | {"rotary_emb.inv_freq": mx.zeros((3,))}
    names = sorted(parts)
    for number, half in enumerate((names[::2], names[1::2])):
        mx.save_safetensors(str(folder / f"model-{number}.safetensors"), {name: parts[name] for name in half})
    (folder / "model.safetensors").unlink()

    draft = load(folder, main)

    held = tensors(draft.network)
    theirs = {usual(name).replace("midlayer.", "layers.0.").removesuffix(".weight"): w for name, w in weights.items()}
    theirs.pop("t2d", None)
    assert {name.removesuffix(".weight") for name in held} == set(theirs)
    for name, weight in held.items():
        assert mx.array_equal(weight, theirs[name.removesuffix(".weight")])
    assert not draft.network.training
    assert draft.tokenizer is main.tokenizer
    assert draft.logit_width == main.logit_width


STRANGE = {
    "a learnt mask": "mask_embedding",
    "sinks of the attention": "layers.0.self_attn.attention_sink_bias",
    "a norm behind the attention": "layers.1.pre_feedforward_layernorm.weight",
    "a bias that the config does not tell": "layers.0.self_attn.q_proj.bias",
    "a layer more than the config tells": "layers.2.mlp.up_proj.weight",
    "a scale of a layer": "model.layers.0.layer_scalar",
    "a name without an end": "x" * 5000,
}


@pytest.mark.parametrize("tensor", STRANGE.values(), ids=STRANGE)
@pytest.mark.parametrize("kind", KINDS)
def test_a_tensor_without_a_place_is_refused_by_its_name(kind: str, tensor: str, tmp_path: Path) -> None:
    """From the headers of the files: no weight is read, and no main model is asked."""
    config, weights_of = KINDS[kind]
    tiny.save_drafter(tmp_path, config, weights_of(config) | {tensor: mx.zeros((4,))})
    with pytest.raises(DrafterUnsupported) as refused:
        inspect_model(tmp_path)
    assert refused.value.need == tensor[:100]


@pytest.mark.parametrize("kind", KINDS)
def test_layers_whose_queries_bring_a_gate_are_refused_by_name(kind: str, tmp_path: Path) -> None:
    """As in forks with Qwen3.5's own layers; a folder that is read as damaged would be installed again for nothing."""
    config, weights_of = KINDS[kind]
    weights = weights_of(config)
    name = max(name for name in weights if name.endswith("self_attn.q_proj.weight"))
    tiny.save_drafter(tmp_path, config, weights | {name: mx.concatenate([weights[name]] * 2)})
    with pytest.raises(DrafterUnsupported) as refused:
        inspect_model(tmp_path)
    assert refused.value.need == f"{name} with a gate"


@pytest.mark.parametrize("kind", KINDS)
def test_a_config_that_tells_of_a_main_models_gates_is_no_reason(main: LoadedModel, kind: str, tmp_path: Path) -> None:
    folder, _ = save(kind, tmp_path, attn_output_gate=True, output_gate_type="swish")
    assert load(folder, main).info.drafter is not None


@pytest.mark.parametrize(
    "tensor",
    ["t2d", "d2t", "embed_tokens.weight", "model.embed_tokens.scales", "lm_head.weight", "verifier_norm.weight"],
)
def test_a_copy_of_what_is_the_main_models_is_no_reason(main: LoadedModel, tensor: str, tmp_path: Path) -> None:
    config = tiny.dspark_config()
    tiny.save_drafter(tmp_path, config, tiny.block_weights(config) | {tensor: mx.zeros((4,))})
    assert load(tmp_path, main).info.drafter is not None


EVERY = {
    "gated": (tiny.speculators_block_config("dspark", markov_head_type="gated"), tiny.block_weights),
    "norms of layers": (tiny.eagle_config(fc_norm=True, norm_before_fc=True), tiny.eagle_weights),
    "three layers": (tiny.eagle_config(layer={"num_hidden_layers": 3}), tiny.eagle_weights),
} | KINDS


SHARED = {"d2t", "embed_tokens.weight", "lm_head.weight"}  # a file may repeat those of the main model


def read_network(kind: str, main: LoadedModel) -> tuple[Any, set[str]]:
    """Its config, and the names of its tensors."""
    config, weights_of = EVERY[kind]
    parsed = drafter_config(config, weights_of(config))
    assert parsed is not None
    return parsed, set(tensors(network_class(parsed)(parsed, ModelAccess(main.network))))


@pytest.mark.parametrize("kind", EVERY)
def test_each_name_of_the_network_has_a_place_and_no_tensor_of_another_kind_is_dropped_unsaid(
    main: LoadedModel, kind: str, tmp_path: Path
) -> None:
    """What is not refused by the headers of the files is when it is loaded."""
    parsed, own = read_network(kind, main)
    for name in own:
        assert unplaced(parsed, [name]) == ""
        assert unplaced(parsed, [f"{name}x"]) == f"{name}x"
    config, weights_of = EVERY[kind]
    weights = weights_of(config)
    others = set[str]().union(*(read_network(other, main)[1] for other in EVERY)) - own - SHARED
    for name in sorted(name for name in others if not unplaced(parsed, [name])):
        tiny.save_drafter(tmp_path, config, weights | {name: mx.zeros((4,))})
        with pytest.raises((DrafterUnsupported, ModelDamaged)):
            load(tmp_path, main)


def in_block(config: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return config | {"dflash_config": config["dflash_config"] | changes}


@pytest.mark.parametrize(
    "config",
    [
        tiny.dspark_config(markov_rank=2**31),
        in_block(tiny.dflash2_config(), conv_group_size=0),
        in_block(tiny.dflash2_config(), conv_group_size=7),
        in_block(tiny.dflash2_config(), selector_top_k=None),
        in_block(tiny.dflash2_config(), selector_top_k=289),
        in_block(tiny.domino_config(), emb_dim=None),
        in_block(tiny.domino_config(), gru_hidden_dim=0),
        in_block(tiny.domino_config(), pure_draft_prefix_len=-1),
    ],
)
def test_sizes_that_no_part_can_have_are_damage(main: LoadedModel, config: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match=r"config\.json"):
        load(tiny.save_drafter(tmp_path, config, {"fc.weight": mx.zeros((64, 128))}), main)


@pytest.mark.parametrize("enabled", [True, False])
def test_a_dfly_is_corrected_if_its_folder_has_the_tensors(main: LoadedModel, enabled: bool, tmp_path: Path) -> None:
    config = tiny.dfly_config(enable_hidden_correction=enabled)
    weights = tiny.block_weights(tiny.dfly_config())
    corrected = load(tiny.save_drafter(tmp_path / "corrected", config, weights), main)
    assert "hidden_correction" in corrected.network
    uncorrected = {name: weight for name, weight in weights.items() if "correction" not in name}
    plain = load(tiny.save_drafter(tmp_path / "plain", config, uncorrected), main)
    assert "hidden_correction" not in plain.network


def test_what_only_the_network_can_tell_of_a_head_is_refused_before_weights_are_read(tmp_path: Path) -> None:
    """The names of a head's ordinary layers are its main model's family's."""
    whole = heads.head_weights("mimo")
    main = load_model(heads.save_main_with_head("mimo", tmp_path / "main", whole))
    weights = whole | {"mlp.up_proj.sink": mx.zeros((4,))}
    folder = tiny.save_drafter(tmp_path / "head", heads.head_config("mimo"), weights)
    with pytest.raises(DrafterUnsupported, match="sink"):
        load(folder, main)


@pytest.mark.parametrize("family", ["iquestloopcoder", "gpt2"])
def test_where_a_main_model_shows_no_states_that_is_the_reason(main: LoadedModel, family: str, tmp_path: Path) -> None:
    """Its layers are not called as such, or its first one is given more than the token."""
    folder, _ = save("dspark", tmp_path)
    with pytest.raises(DrafterDoesNotFit) as refused:
        load(folder, replace(main, network=families.build(family)))
    assert refused.value.what == "states"


def test_layers_that_a_main_model_lacks_are_the_reason_though_its_config_counts_none(
    main: LoadedModel, tmp_path: Path
) -> None:
    """As configs of models with eyes do not."""
    folder, _ = save("dspark", tmp_path, target_layer_ids=[1, 7])
    with pytest.raises(DrafterDoesNotFit) as refused:
        load(folder, replace(main, info=replace(main.info, layers=0)))
    assert (refused.value.what, refused.value.expected, refused.value.actual) == ("layers", 8, 2)


def test_half_precision_is_widened_where_that_is_faster(main: LoadedModel, tmp_path: Path) -> None:
    config = tiny.dflash_config()
    weights = {name: weight.astype(mx.bfloat16) for name, weight in tiny.block_weights(config).items()}
    held = tensors(load(tiny.save_drafter(tmp_path, config, weights), main).network)
    wanted = mx.float32 if mx.default_device() == mx.cpu else mx.bfloat16
    assert {weight.dtype for weight in held.values()} == {wanted}


@pytest.mark.parametrize("key", ["quantization", "quantization_config"])
def test_each_tensor_has_the_bits_and_groups_that_it_shows(main: LoadedModel, key: str, tmp_path: Path) -> None:
    """Whatever the config says of them, and none where there are no scales."""
    config = tiny.dflash_config()
    weights = tiny.block_weights(config)
    packed, expected = dict(weights), dict[str, tuple[int, int]]()
    for name, (group, bits) in {"mlp.gate_proj": (32, 4), "self_attn.q_proj": (64, 8), "mlp.up_proj": (64, 4)}.items():
        stem = f"layers.1.{name}"
        parts = mx.quantize(weights[f"{stem}.weight"], group_size=group, bits=bits)
        packed |= dict(zip((f"{stem}.weight", f"{stem}.scales", f"{stem}.biases"), parts, strict=True))
        expected[stem] = (group, bits)
    folder = tiny.save_drafter(tmp_path, config | {key: {"group_size": 64, "bits": 8}}, packed)

    found = {
        name: (module.group_size, module.bits)
        for name, module in load(folder, main).network.named_modules()
        if isinstance(module, nn.QuantizedLinear)
    }

    assert found == expected


@pytest.mark.parametrize("kind", KINDS)
def test_a_drafter_of_16_bits_is_made_lighter_if_that_is_asked_for(
    main: LoadedModel, kind: str, tmp_path: Path
) -> None:
    """Layers to 4 bits, what is beside them (a DFlare has nothing) to 8; what it has read is another's then."""
    folder, _ = save(kind, tmp_path)
    plain, light = load(folder, main), at_once(loading_any_draft(folder, main, light=True))
    packed = {name: module.bits for name, module in light.network.named_modules() if hasattr(module, "bits")}
    has_projection = kind != "dflare"
    expected = {True: 4, False: 8} if has_projection else {True: 4}
    assert {name.startswith("layers."): bits for name, bits in packed.items()} == expected
    assert "fc" in packed or not has_projection
    assert {"layers.0.self_attn.q_proj", "layers.0.mlp.up_proj"} <= packed.keys()
    assert light.need.weight_bytes < plain.need.weight_bytes / 2
    assert light.need.token_bytes == plain.need.token_bytes
    assert light.identity != plain.identity
    assert not mx.any(mx.isnan(light.network.rehearse(3, light.make_caches()).astype(mx.float32))).item()
    assert not any(hasattr(module, "bits") for module in plain.network.modules())


@pytest.mark.parametrize("mode", ["mxfp4", "nvfp4", "mxfp8"])
def test_layers_of_one_folder_may_be_quantized_in_other_ways(main: LoadedModel, mode: str, tmp_path: Path) -> None:
    """As mlx-lm writes them: most in one mode, and some in the affine one."""
    config = tiny.dflash_config()
    weights = {name: weight.astype(mx.bfloat16) for name, weight in tiny.block_weights(config).items()}
    for name, how in {"mlp.gate_proj": mode, "mlp.up_proj": "affine"}.items():
        stem = f"layers.1.{name}"
        parts = mx.quantize(weights[f"{stem}.weight"], mode=how)
        weights |= dict(zip((f"{stem}.{part}" for part in ("weight", "scales", "biases")), parts, strict=False))
    folder = tiny.save_drafter(
        tmp_path, config | {"quantization": {"bits": 4, "group_size": 32, "mode": mode}}, weights
    )
    modules = dict(load(folder, main).network.named_modules())

    assert (modules["layers.1.mlp.gate_proj"].mode, modules["layers.1.mlp.up_proj"].mode) == (mode, "affine")
    assert not isinstance(modules["layers.1.mlp.down_proj"], nn.QuantizedLinear)


@pytest.mark.parametrize("shape", [(2 * 64,), (1, 64, 2), (), (64, 0), (1, 2 * 64), (64, 1)])
def test_packings_that_mlx_does_not_have_are_damage(main: LoadedModel, shape: tuple[int, ...], tmp_path: Path) -> None:
    """More scales than numbers would be groups of 0, by which MLX divides: the process ended."""
    config = tiny.dflash_config()
    weights, stem = tiny.block_weights(config), "layers.0.self_attn.q_proj"
    packed, scales, biases = mx.quantize(weights[f"{stem}.weight"], group_size=32, bits=4)
    scales = scales.reshape(-1)[: math.prod(shape)].reshape(shape)
    weights |= {f"{stem}.weight": packed, f"{stem}.scales": scales, f"{stem}.biases": biases}
    with pytest.raises(ModelDamaged, match=re.escape(stem)):
        load(tiny.save_drafter(tmp_path, config, weights), main)


def test_numbers_of_another_kind_are_damage(main: LoadedModel, tmp_path: Path) -> None:
    """MLX reads 8-bit floats as whole numbers."""
    config = tiny.dflash_config()
    weights = tiny.block_weights(config)
    weights["layers.0.mlp.gate_proj.weight"] = (weights["layers.0.mlp.gate_proj.weight"] * 100).astype(mx.uint8)
    with pytest.raises(ModelDamaged, match=r"gate_proj\.weight holds mlx\.core\.uint8"):
        load(tiny.save_drafter(tmp_path, config, weights), main)


@pytest.mark.parametrize("said", [{"quantization": {"group_size": 64}}, {"quantization": "8 bits"}, {}])
def test_without_bits_nothing_is_packed(main: LoadedModel, said: dict[str, Any], tmp_path: Path) -> None:
    folder, _ = save("dspark", tmp_path, **said)
    modules = dict(load(folder, main).network.named_modules())
    assert not any(isinstance(module, nn.QuantizedLinear) for module in modules.values())


def test_a_tensor_of_another_shape_is_damage(main: LoadedModel, tmp_path: Path) -> None:
    config = tiny.dflash_config()
    weights = tiny.block_weights(config)
    weights["layers.0.mlp.gate_proj.weight"] = weights["layers.0.mlp.gate_proj.weight"][:-1]
    with pytest.raises(ModelDamaged, match="gate_proj"):
        load(tiny.save_drafter(tmp_path, config, weights), main)


def test_it_is_loaded_in_slices_and_computed_when_it_is_there(
    main: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One to look at the folder, one for the network, one a handful of weights, and one for what follows."""
    monkeypatch.setattr(networks, "_HANDFUL_BYTES", 40_000)
    folder, weights = save("dspark", tmp_path)
    network = load(folder, main).network
    mx.clear_cache()
    before, slices = mx.get_active_memory(), loading_any_draft(folder, main)
    count = 0
    while True:
        try:
            next(slices)
        except StopIteration as end:
            draft = end.value
            break
        count += 1

    assert count == 3 + len(list(networks.handfuls(network))) > 6
    assert mx.get_active_memory() - before >= sum(weight.nbytes for weight in tensors(draft.network).values())
    assert {*tensors(draft.network)} == {*tensors(network)}
    assert len(weights) == len(tensors(network))


def test_it_needs_its_weights_and_a_row_a_token(main: LoadedModel, tmp_path: Path) -> None:
    folder, weights = save("dspark", tmp_path)
    draft = load(folder, main)
    rows = 2 * 2 * 2 * 16 * 4  # keys and values of two layers, two heads of 16 each
    waiting = 4096 * draft.network.reads_width * 4  # states of a chat that is no use if it is shorter
    assert draft.network.reads_width == len(draft.info.drafter.layers) * 64  # type: ignore[union-attr]
    assert draft.need == MemoryNeed(sum(weight.nbytes for weight in weights.values()), rows, waiting)


def test_one_that_does_not_fit_beside_its_main_model_is_refused(
    main: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that reads short texts only does not make the main model's chat shorter."""
    folder, _ = save("dspark", tmp_path, max_position_embeddings=512)
    both = main.with_eight_bits().need.at(2048) + load(folder, main).need.at(512)
    monkeypatch.setattr(networks, "available_bytes", lambda: both)
    load(folder, main)
    monkeypatch.setattr(networks, "available_bytes", lambda: both - 1)
    with pytest.raises(ModelTooLarge):
        load(folder, main)


def test_its_rows_are_known_by_its_own_files_and_its_main_models(main: LoadedModel, tmp_path: Path) -> None:
    folder, _ = save("dspark", tmp_path / "one")
    again, _ = save("dspark", tmp_path / "other")
    other_main = replace(main, identity="another")
    names = [load(folder, main), load(again, main), load(folder, other_main)]
    assert len({draft.identity for draft in names}) == 3
    assert load(folder, main).identity == names[0].identity


def test_a_model_of_its_own_drafts_as_one(main: LoadedModel, zoo: Zoo) -> None:
    draft = load(zoo.drafts["other"], main)
    assert draft.info.drafter is None
    proposer = proposer_of(draft, main, PrefixStore(), 17)
    assert isinstance(proposer, DraftModelProposer)
