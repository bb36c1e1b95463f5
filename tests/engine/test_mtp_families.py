"""Heads of families whose wiring is written down a second time here, on the main model's own layers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from engine import draft_problem, inspect_model
from engine.caches.making import CacheMaker
from engine.drafting.drafters import loading_any_draft
from engine.drafting.proposers.mtp import MtpDrafter
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafters import MtpConfig, own_drafter_config
from engine.models.model_files import FileError, Tensor
from engine.models.mtp_families import head_to_leave_out
from tests.families.configs import WINDOW
from tests.helpers import tiny_drafters
from tests.helpers import tiny_heads as heads
from tests.helpers.loading import at_once, load_model
from tests.helpers.samples import fair

_EPS = 1e-5
_ROWS = 2 * WINDOW


def _of_ling(main: Any) -> Any:
    """The last, which attends over all and has experts."""
    return main.layers[3]


def _of_mimo(main: Any) -> Any:
    return main.layers[1]


def _of_step(main: Any) -> Any:
    """The fifth, which the main model itself has not."""
    return main.layers[4]


class _OfLongcat:
    """One of the two halves of a layer, without the experts that join them."""

    def __init__(self, main: Any) -> None:
        layer = main.layers[0]
        self._attention, self._mlp = layer.self_attn[1], layer.mlps[1]
        self._norms = layer.input_layernorm[1], layer.post_attention_layernorm[1]

    def load_weights(self, weights: list[tuple[str, mx.array]]) -> None:
        parts = {
            "self_attn.": self._attention,
            "mlp.": self._mlp,
            "input_layernorm.": self._norms[0],
            "post_attention_layernorm.": self._norms[1],
        }
        for before, part in parts.items():
            part.load_weights([(name.removeprefix(before), w) for name, w in weights if name.startswith(before)])

    def __call__(self, rows: mx.array, mask: mx.array, cache: None) -> mx.array:
        rows = rows + self._attention(self._norms[0](rows), mask, cache)
        return rows + self._mlp(self._norms[1](rows))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Wiring:
    """What the head's layer is in a main model that is built with `changes`; names are those in the head's folder."""

    layer: Callable[[Any], Any]
    changes: dict[str, Any] = field(default_factory=dict)
    window: int = 0
    before_norm: bool = False  # what is read and passed on
    join: str = "eh_proj"
    token_norm: str = "enorm"
    state_norm: str = "hnorm"
    norm: str = "final_layernorm"
    before: str = ""  # what stands before the names of parts of the layer
    renamed: dict[str, str] = field(default_factory=dict)  # parts of the layer that are called otherwise there


WIRINGS = {
    "mellum": Wiring(
        lambda main: main.layers[0],
        window=WINDOW,
        join="fc",
        token_norm="pre_fc_norm_embedding",
        state_norm="pre_fc_norm_hidden",
        norm="norm",
        before="layers.0.",
    ),
    "bailing_moe": Wiring(_of_ling),
    "bailing_hybrid": Wiring(_of_ling),
    "bailing_moe_v3": Wiring(_of_ling),
    "mimo_v2_flash": Wiring(
        _of_mimo,
        {"moe_layer_freq": [0, 0, 0, 0]},
        window=WINDOW,
        renamed={"pre_mlp_layernorm": "post_attention_layernorm"},
    ),
    "longcat_flash": Wiring(_OfLongcat, token_norm="enorm.m", state_norm="hnorm.m", norm="norm"),
    "step3p5": Wiring(
        _of_step,
        {"num_hidden_layers": 5},
        window=WINDOW,
        before_norm=True,
        norm="transformer.shared_head.norm",
        before="transformer.",
    ),
}


def head_of(family: str, weights: dict[str, mx.array] | None = None) -> MtpDrafter:
    weights = weights or heads.head_weights(family)
    head = MtpDrafter(heads.parsed_head(family, weights), ModelAccess(heads.build_main(family)))
    head.load_weights(list(head.sanitize(weights).items()), strict=True)
    return head


class Reference:
    """The head of `family` with `weights`, without caches: all is computed anew."""

    def __init__(self, family: str, weights: dict[str, mx.array]) -> None:
        self._wiring, self._weights = WIRINGS[family], weights
        main = heads.build_main(family)
        body = main.model
        self._embedding = (body.word_embeddings if hasattr(body, "word_embeddings") else body.embed_tokens).weight
        self._head = main.lm_head.weight
        self._layer = self._wiring.layer(heads.build_main(family, **self._wiring.changes))
        self._layer.load_weights(list(self._of_layer()))

    def states(self, tokens: mx.array, states: mx.array) -> mx.array:
        wiring, weights = self._wiring, self._weights
        parts = [
            normed(self._embedding[tokens], weights[f"{wiring.token_norm}.weight"]),
            normed(states, weights[f"{wiring.state_norm}.weight"]),
        ]
        joined = mx.concatenate(parts, axis=-1) @ weights[f"{wiring.join}.weight"].T
        at = mx.arange(tokens.size)
        back = at[:, None] - at[None]
        mask = (back >= 0) & (back < (wiring.window or tokens.size))
        made: mx.array = self._layer(joined[None], mask, None)[0]
        return made if wiring.before_norm else self._normed(made)

    def logits(self, states: mx.array) -> mx.array:
        logits: mx.array = (self._normed(states) if self._wiring.before_norm else states) @ self._head.T
        return logits

    def _normed(self, rows: mx.array) -> mx.array:
        return normed(rows, self._weights[f"{self._wiring.norm}.weight"])

    def _of_layer(self) -> Any:
        wiring = self._wiring
        others = {wiring.join, wiring.token_norm, wiring.state_norm, wiring.norm}
        for name, weight in self._weights.items():
            part, _, kind = name.rpartition(".")
            if part not in others:
                part = part.removeprefix(wiring.before)
                yield f"{wiring.renamed.get(part, part)}.{kind}", weight


def normed(rows: mx.array, weight: mx.array) -> mx.array:
    return rows * mx.rsqrt((rows * rows).mean(axis=-1, keepdims=True) + _EPS) * weight


@pytest.mark.costly
@pytest.mark.parametrize("family", WIRINGS)
def test_a_head_computes_what_its_wiring_says(family: str) -> None:
    """Rows in several readings, then a draft that feeds on its own states."""
    weights = heads.head_weights(family)
    head, reference = head_of(family, weights), Reference(family, weights)
    mx.random.seed(3)
    tokens, states = mx.random.randint(0, 250, (_ROWS,)), mx.random.normal((_ROWS, head.reads_width))
    caches = CacheMaker(head)()
    made = [head.read(tokens[a:b], states[a:b], caches) for a, b in ((0, 5), (5, 6), (6, _ROWS))]

    expected = reference.states(tokens, states)

    assert mx.allclose(mx.concatenate(made), expected, atol=1e-3)
    state = made[-1][-1:]
    for _ in range(3):
        assert mx.allclose(head.logits(state), reference.logits(expected[-1:]), atol=1e-3)
        token = mx.argmax(head.logits(state), axis=-1)
        tokens, states = mx.concatenate([tokens, token]), mx.concatenate([states, expected[-1:]])
        state, expected = head.step(token, state, caches), reference.states(tokens, states)
        assert mx.allclose(state, expected[-1:], atol=1e-3)


def assert_reads_alike(own: Any, other: Any) -> None:
    tokens, states = mx.arange(6), mx.random.normal((6, own.reads_width), key=mx.random.key(1))
    read = own.read(tokens, states, CacheMaker(own)())
    assert mx.allclose(read, other.read(tokens, states, CacheMaker(other)()), atol=1e-4)


@pytest.mark.parametrize("family", fair([name for name in heads.MAINS if name != "qwen3"], "nemotron_h", "step3p5"))
def test_a_head_in_its_main_models_folder_is_found_and_loaded(family: str, tmp_path: Path) -> None:
    weights = heads.head_weights(family)
    folder = heads.save_main_with_head(family, tmp_path / "main", weights)
    info = inspect_model(folder)
    assert (info.own_drafter is not None, info.drafter, draft_problem(info, info)) == (True, None, None)
    main = load_model(folder)
    assert_reads_alike(at_once(loading_any_draft(folder, main)).network, head_of(family, weights))


@pytest.mark.parametrize("family", fair(["step3p5", "mimo_v2_flash", "bailing_moe", "deepseek_v3"], "bailing_moe"))
@pytest.mark.parametrize("alone", [False, True], ids=["in the main model's folder", "in a folder of their own"])
def test_of_several_heads_the_first_drafts(family: str, alone: bool, tmp_path: Path) -> None:
    weights = heads.head_weights(family)
    folder = heads.save_main_with_head(family, tmp_path / "main", weights)
    first, kept = heads.head_prefix(family), folder / "model.safetensors"
    numbered = re.fullmatch(r"(.*?)(\d+)\.", first)
    assert numbered is not None
    second = f"{numbered[1]}{int(numbered[2]) + 1}."
    others = {second + name: weight * 2 for name, weight in weights.items()}
    held: Any = mx.load(str(kept))
    mx.save_safetensors(str(kept), held | others, {"format": "mlx"})
    main = load_model(folder)
    if alone:
        folder = tiny_drafters.save_drafter(
            tmp_path / "heads",
            heads.head_config(family),
            {name: weight for name, weight in (held | others).items() if name.startswith((first, second))},
        )

    assert_reads_alike(at_once(loading_any_draft(folder, main)).network, head_of(family, weights))


def test_what_no_config_counts_the_layers_of_keeps_its_first_layer(tmp_path: Path) -> None:
    """mlx-lm has a number for it; none of the model's own tensors are taken for a head's."""
    assert head_to_leave_out({"model_type": "deepseek_v3"}) is None
    is_head = head_to_leave_out({"model_type": "deepseek_v3", "num_hidden_layers": 30})
    assert is_head is not None
    assert [n for n in (0, 29, 30, 31) if is_head(f"model.layers.{n}.input_layernorm.weight")] == [30, 31]
    assert not is_head("model.embed_tokens.weight")
    assert head_to_leave_out({"model_type": "glm4_moe", "num_hidden_layers": 30}) is None


def test_all_norms_of_a_head_can_be_read_otherwise() -> None:
    """Some families have a class of norms of their own."""
    head = head_of("step3p5")
    norms = {name for name, module in head.named_modules() if name.rpartition(".")[2].endswith("norm")}
    for reading, step in (("norms lack 1", 1), ("norms have 1 too much", -1)):
        changed = head.other_readings()[reading]
        assert len(norms) == len(changed) == 7
        for norm, name, weight in changed:
            assert mx.array_equal(weight, getattr(norm, name) + step)


def test_a_head_that_reads_the_last_layer_needs_to_know_how_many_there_are() -> None:
    with pytest.raises(FileError, match="num_hidden_layers"):
        drafter_config({"model_type": "step3p5_mtp", "text_config": {"model_type": "step3p5", "hidden_size": 8}}, ())


def test_steps_norms_lack_one_in_shards_that_were_not_converted() -> None:
    def parsed(main_tensor: str) -> MtpConfig:
        parts = ("eh_proj", "enorm", "hnorm", "transformer.shared_head.norm")
        ends = [f"model.layers.4.{part}.weight" for part in parts]
        tensors = {name: Tensor("F32", (8,), 0, 32) for name in (*ends, main_tensor)}
        found = own_drafter_config(heads.MAINS["step3p5"], tensors)
        assert found is not None
        return found

    assert parsed("model.layers.1.moe.gate_proj.weight").raw_norms
    assert not parsed("model.layers.1.mlp.switch_mlp.gate_proj.weight").raw_norms


def test_steps_own_output_layer_is_used() -> None:
    weights = heads.head_weights("step3p5")
    own = mx.random.normal(heads.build_main("step3p5").lm_head.weight.shape)
    head = head_of("step3p5", weights | {"transformer.shared_head.output.weight": own})
    state = mx.random.normal((1, head.reads_width))
    expected = normed(state, weights["transformer.shared_head.norm.weight"]) @ own.T
    assert mx.allclose(head.logits(state), expected, atol=1e-3)


def test_drafts_of_a_head_that_slides_are_taken_back_beyond_its_window() -> None:
    head = head_of("mimo_v2_flash")
    caches = CacheMaker(head)()
    tokens, states = mx.arange(3 * WINDOW), mx.random.normal((3 * WINDOW, head.reads_width))
    whole = head.read(tokens, states, caches)
    caches.roll_back(WINDOW)
    again = head.read(tokens[WINDOW:], states[WINDOW:], caches)
    assert mx.allclose(again, whole[WINDOW:], atol=1e-4)
