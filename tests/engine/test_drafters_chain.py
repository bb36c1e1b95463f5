"""Drafters that draft token by token: EAGLE-3 and MTP heads, each dialect and family."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import pytest

from engine import (
    DraftIsMain,
    Engine,
    ModelDamaged,
    ModelFailed,
    ModelReady,
    ModelUnsupported,
    Request,
    Sampling,
    Speculation,
    draft_problem,
    inspect_model,
)
from engine.caches.kinds import leaves
from engine.caches.making import CacheMaker
from engine.decoding.accept import Draft, integers
from engine.decoding.sampling import Sampler
from engine.drafting.acceptance import Sharpness, StopRule, Worth
from engine.drafting.drafters import loading_any_draft, proposer_of
from engine.drafting.plans import Plan
from engine.drafting.proposers.chain import Growing, Head, draft_chains
from engine.drafting.proposers.eagle3 import EagleDrafter
from engine.drafting.proposers.mtp import MtpDrafter
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafter_tensors import unplaced
from engine.models.drafters import EagleConfig, MtpConfig
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from tests.engine.conftest import Zoo
from tests.helpers import tiny_drafters as tiny
from tests.helpers import tiny_heads as heads
from tests.helpers.engine_client import EngineClient
from tests.helpers.loading import at_once, load_model
from tests.helpers.tiny_models import build, qwen3_config

DEPTH, PROMPT = 4, tuple(range(40, 80))
DIALECTS: dict[str, tuple[dict[str, Any], bool]] = {
    "authors": (tiny.eagle_author_config(), False),
    "speculators": (tiny.eagle_config(), False),
    "norm before residual": (tiny.eagle_config(norm_before_residual=True), False),
    "norm before fc": (tiny.eagle_config(norm_before_fc=True), False),
    "norms of layers": (tiny.eagle_config(fc_norm=True), False),
    "feeds back normed": (tiny.eagle_config(norm_output=True), False),
    "whole vocabulary": (tiny.eagle_config(draft_vocab_size=tiny.VOCABULARY), False),
    "three layers": (tiny.eagle_config(layer={"num_hidden_layers": 3}), False),
    "norms of heads": (tiny.eagle_config(), True),
    "narrower than its main model": (
        tiny.eagle_config(
            target_hidden_size=tiny.WIDTH, layer={"hidden_size": 32, "num_attention_heads": 2, "num_key_value_heads": 1}
        ),
        False,
    ),
    "Gemma 4's layers": (tiny.gemma_eagle_config(), True),
    "sliding layers": (
        tiny.eagle_config(
            layer={"num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"], "sliding_window": 3}
        ),
        False,
    ),
}
# What each drafts after every one of three readings. `make parity` shows that another program drafts alike.
FIGURES: dict[str, list[list[int]]] = {
    "authors": [[235, 123, 196, 196], [254, 228, 228, 228], [56, 18, 56, 164]],
    "speculators": [[235, 123, 196, 196], [254, 228, 228, 228], [56, 18, 56, 164]],
    "norm before residual": [[130, 130, 269, 269], [228, 228, 164, 164], [56, 56, 164, 56]],
    "norm before fc": [[119, 182, 182, 182], [239, 69, 69, 69], [69, 69, 69, 69]],
    "norms of layers": [[234, 229, 214, 214], [250, 231, 231, 231], [77, 77, 175, 175]],
    "feeds back normed": [[235, 11, 255, 56], [254, 228, 128, 164], [56, 18, 56, 164]],
    "whole vocabulary": [[278, 181, 181, 63], [237, 262, 262, 262], [129, 244, 266, 266]],
    "three layers": [[227, 256, 256, 227], [262, 137, 137, 137], [225, 225, 225, 225]],
    "norms of heads": [[231, 145, 145, 255], [7, 7, 7, 137], [81, 277, 277, 126]],
    "narrower than its main model": [[206, 206, 24, 24], [24, 98, 98, 98], [163, 98, 98, 98]],
    "Gemma 4's layers": [[122, 0, 15, 0], [237, 285, 172, 92], [64, 212, 268, 119]],
    "sliding layers": [[255, 255, 255, 118], [265, 49, 235, 235], [231, 154, 281, 281]],
    "qwen3_next": [[43, 177, 171, 46], [215, 190, 85, 42], [277, 253, 95, 99]],
    "qwen3_5": [[10, 278, 112, 28], [275, 10, 278, 141], [141, 248, 223, 137]],
    "qwen3_5_moe": [[110, 273, 59, 190], [94, 70, 125, 260], [268, 113, 219, 255]],
    "deepseek_v3": [[218, 202, 72, 208], [209, 46, 173, 218], [28, 16, 46, 260]],
    "glm4_moe_lite": [[218, 202, 278, 113], [100, 113, 64, 192], [28, 4, 246, 154]],
    "glm4_moe": [[208, 175, 192, 16], [275, 31, 253, 231], [99, 7, 29, 162]],
    "qwen3": [[3, 79, 260, 2], [28, 278, 39, 286], [75, 28, 49, 145]],
    "mimo": [[167, 25, 273, 9], [274, 254, 119, 223], [250, 59, 266, 160]],
    "deepseek_v32": [[172, 32, 16, 133], [94, 230, 287, 287], [70, 278, 100, 136]],
    "glm_moe_dsa": [[172, 32, 16, 133], [94, 230, 287, 287], [70, 278, 100, 136]],
    "nemotron_h": [[202, 32, 253, 104], [228, 50, 241, 12], [242, 217, 245, 13]],
    "exaone_moe": [[28, 167, 259, 71], [87, 132, 128, 26], [107, 151, 28, 71]],
    "ernie4_5_moe": [[122, 263, 229, 212], [22, 206, 107, 87], [134, 52, 265, 167]],
}


@pytest.fixture(scope="module")
def main_network() -> Any:
    return build(qwen3_config())


def eagle(name: str, network: Any, seed: int = 5) -> EagleDrafter:
    config, head_norms = DIALECTS[name]
    return eagle_with(config, tiny.eagle_weights(config, seed, head_norms=head_norms), network)


def eagle_with(config: dict[str, Any], weights: dict[str, mx.array], network: Any) -> EagleDrafter:
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, EagleConfig)
    made: EagleDrafter = loaded(EagleDrafter(parsed, ModelAccess(network)), weights)
    return made


def loaded(head: Any, weights: dict[str, mx.array]) -> Any:
    named = head.sanitize(weights)
    named.pop("t2d", None)
    head.load_weights(list(named.items()), strict=True)
    return head


def mtp_head(family: str, weights: dict[str, mx.array] | None = None) -> MtpDrafter:
    weights = weights or heads.head_weights(family)
    head: MtpDrafter = loaded(
        MtpDrafter(heads.parsed_head(family, weights), ModelAccess(heads.build_main(family))), weights
    )
    return head


def drafted(head: Head) -> list[list[int]]:
    """Three readings of some rows, and a draft after each."""
    mx.random.seed(2)
    caches = CacheMaker(head)()
    drafts = []
    for rows in (9, 1, 3):
        tokens = mx.random.randint(0, 250, (rows,)).astype(mx.uint32)
        state = head.read(tokens, mx.random.normal((rows, head.reads_width)), caches)[-1:]
        drafts.append(chain(head, state, caches))
    return drafts


def chain(head: Head, state: mx.array, caches: Any) -> list[int]:
    position, tokens = caches.position, list[int]()
    while len(tokens) < DEPTH:
        token = mx.argmax(head.logits(state), axis=-1)
        tokens.append(int(token.item()))  # type: ignore[arg-type]
        state = head.step(token, state, caches)
    caches.roll_back(position)
    return tokens


def test_deepspecs_eagle_drafts_like_one_that_counts_the_same_layers_by_their_input(main_network: Any) -> None:
    """It lies there with copies of the main model's embeddings, and names the layers by their output."""
    by_input = tiny.eagle_config(draft_vocab_size=tiny.VOCABULARY)
    own = {
        "architectures": ["Qwen3Eagle3Model"],
        "model_type": "qwen3",
        **tiny.SIZES,
        "num_hidden_layers": 1,
        "target_layer_ids": [layer - 1 for layer in by_input["eagle_aux_hidden_state_layer_ids"]],
        "ttt_length": 7,
    }
    weights = tiny.eagle_weights(by_input, head_norms=True)
    heads_of = []
    for config in (by_input, own):
        parsed = drafter_config(config, weights)
        assert isinstance(parsed, EagleConfig)
        assert not unplaced(parsed, [*weights, "embed_tokens.weight"])
        heads_of.append(drafted(loaded(EagleDrafter(parsed, ModelAccess(main_network)), weights)))
    assert heads_of[0] == heads_of[1]


@pytest.mark.parametrize("name", DIALECTS)
def test_frozen_figures_of_eagle_dialects(name: str, main_network: Any) -> None:
    assert drafted(eagle(name, main_network)) == FIGURES[name]


@pytest.mark.costly
@pytest.mark.parametrize("family", [family for family in heads.MAINS if family in FIGURES])
def test_frozen_figures_of_mtp_families(family: str) -> None:
    assert drafted(mtp_head(family)) == FIGURES[family]


@pytest.mark.costly
@pytest.mark.parametrize("name", ["speculators", "three layers", *heads.MAINS])
def test_what_a_token_takes_is_what_its_row_does(name: str, main_network: Any) -> None:
    head: Any = eagle(name, main_network) if name in DIALECTS else mtp_head(name)
    caches = CacheMaker(head)()
    head.read(mx.zeros((5,), mx.uint32), mx.zeros((5, head.reads_width)), caches)
    parts = [part for leaf in leaves(caches.layers) for part in (leaf.keys, leaf.values)]
    assert head.row_bytes == sum(part[..., :1, :].nbytes for part in parts)


def heads_of_both_kinds(network: Any) -> list[Any]:
    return [eagle("speculators", network), mtp_head("qwen3_5"), mtp_head("deepseek_v3")]


def test_a_row_is_made_of_a_state_and_of_the_token_after_it(main_network: Any) -> None:
    """So two chats share it only where they share that token, too."""
    for head in heads_of_both_kinds(main_network):
        states = mx.random.normal((3, head.reads_width))
        rows = [head.read(mx.array([5, token, 7]), states, CacheMaker(head)()) for token in (6, 60)]
        same = [bool(mx.allclose(rows[0][at], rows[1][at], atol=1e-4).item()) for at in range(3)]
        assert same == [True, False, False]
        assert head.reads_next_token


def test_exaones_head_attends_over_all_and_turns_nothing() -> None:
    """As the main model's layers that do not slide; one that slides is refused."""
    assert not mtp_head("exaone_moe").layers[0].self_attn.use_rope
    config = heads.parsed_head("exaone_moe")
    sliding = replace(config, text_config=dict(config.text_config) | {"mtp_layer_types": ["sliding_attention"]})
    with pytest.raises(ValueError, match="mtp_layer_types"):
        MtpDrafter(sliding, ModelAccess(heads.build_main("exaone_moe")))


def test_ernies_head_goes_through_the_main_models_norm() -> None:
    """As its authors train it: it reads what the last layer returns, and its own is normed as that is, by one norm."""
    main, weights = heads.build_main("ernie4_5_moe"), heads.head_weights("ernie4_5_moe")
    head = mtp_head("ernie4_5_moe", weights)
    assert head.reads == (len(main.layers) - 1,)
    mx.random.seed(3)
    tokens, states = mx.random.randint(0, 250, (7,)), mx.random.normal((7, head.reads_width))

    def normed(rows: mx.array, weight: mx.array) -> mx.array:
        return rows * mx.rsqrt((rows * rows).mean(axis=-1, keepdims=True) + 1e-6) * weight

    layer = main.layers[0]  # of those without experts, as the head's is
    layer.load_weights([(name.removeprefix("block.0."), w) for name, w in weights.items() if name.startswith("block")])
    parts = [
        normed(main.model.embed_tokens(tokens), weights["emb_norm.0.weight"]),
        normed(states, weights["hidden_norm.0.weight"]),
    ]
    joined = mx.concatenate(parts, axis=-1) @ weights["linear_proj.0.weight"].T
    made = layer(joined[None], "causal", None)[0]
    expected = normed(made, main.model.norm.weight) @ main.lm_head.weight.T
    own = head.read(tokens, states, CacheMaker(head)())
    assert mx.allclose(own, made, atol=1e-4)
    assert mx.allclose(head.logits(own), expected, atol=1e-4)


def test_experts_and_projections_of_raw_shards_are_those_of_converted_ones() -> None:
    converted = heads.head_weights("deepseek_v3")
    raw = dict(converted)
    keys, values = raw.pop("self_attn.embed_q.weight"), raw.pop("self_attn.unembed_out.weight")
    raw["self_attn.kv_b_proj.weight"] = mx.concatenate([keys.swapaxes(-1, -2), values], axis=1).reshape(-1, 16)
    for part in ("gate_proj", "up_proj", "down_proj"):
        together = raw.pop(f"mlp.switch_mlp.{part}.weight")
        raw |= {f"mlp.experts.{n}.{part}.weight": together[n] for n in range(together.shape[0])}

    assert drafted(mtp_head("deepseek_v3", raw)) == drafted(mtp_head("deepseek_v3", converted))


@pytest.mark.parametrize("family", ["qwen3_next", "qwen3_5_moe"])
def test_experts_one_by_one_are_those_in_one_array(family: str) -> None:
    converted = heads.head_weights(family)
    raw = dict(converted)
    for part in ("gate_proj", "up_proj", "down_proj"):
        together = raw.pop(f"layers.0.mlp.switch_mlp.{part}.weight")
        raw |= {f"layers.0.mlp.experts.{n}.{part}.weight": together[n] for n in range(together.shape[0])}

    assert drafted(mtp_head(family, raw)) == drafted(mtp_head(family, converted))


def test_experts_in_one_array_of_two_parts_are_those_of_two_arrays() -> None:
    converted = heads.head_weights("qwen3_5_moe")
    raw, at = dict(converted), "layers.0.mlp"
    gate, up = (raw.pop(f"{at}.switch_mlp.{part}_proj.weight") for part in ("gate", "up"))
    raw[f"{at}.experts.gate_up_proj"] = mx.concatenate([gate, up], axis=1)
    raw[f"{at}.experts.down_proj"] = raw.pop(f"{at}.switch_mlp.down_proj.weight")

    assert drafted(mtp_head("qwen3_5_moe", raw)) == drafted(mtp_head("qwen3_5_moe", converted))


@pytest.mark.parametrize("family", ["qwen3", "qwen3_next", "qwen3_5_moe"])
def test_heads_of_speculators_are_the_same_under_other_names(family: str) -> None:
    weights = heads.speculators_weights(family, heads.head_weights(family))
    parsed = drafter_config(heads.speculators_config(family), weights)
    assert isinstance(parsed, MtpConfig)
    assert drafted(loaded(MtpDrafter(parsed, ModelAccess(heads.build_main(family))), weights)) == FIGURES[family]


@pytest.mark.parametrize("name", ["embed_tokens.weight", "shared_head.head.weight"])
def test_a_head_uses_an_embedding_and_an_output_of_its_own(name: str) -> None:
    main = heads.build_main("glm4_moe_lite")
    own = (main.model.embed_tokens if name.startswith("embed") else main.lm_head).weight
    weights = heads.head_weights("glm4_moe_lite")
    assert drafted(mtp_head("glm4_moe_lite", weights | {name: own})) == FIGURES["glm4_moe_lite"]
    assert drafted(mtp_head("glm4_moe_lite", weights | {name: own[::-1]})) != FIGURES["glm4_moe_lite"]


@dataclass(frozen=True)
class Reading:
    """A head, and a chat of which it may read every state."""

    main: LoadedModel
    draft: LoadedModel
    tokens: list[int]
    states: mx.array

    def proposer(self, **changes: Any) -> Any:
        made: Any = proposer_of(self.draft, replace(self.main, **changes), PrefixStore(), 0)
        made.receive_states(0, self.states)
        made.offer(self.tokens)
        return made

    def by_hand(self, sampler: Sampler, count: int, level: int) -> list[int]:
        head, caches = self.draft.network, self.draft.make_caches()
        state, drafted = head.read(mx.array(self.tokens[1:]), self.states, caches)[-1:], list[int]()
        for _ in range(count):
            ahead = mx.array(drafted) if drafted else None
            place = len(self.tokens) + len(drafted)
            token = sampler.draft(head.logits(state), place, ahead, Sharpness.LEVELS, level).tokens
            drafted += integers(token)
            state = head.step(token, state, caches)
        return drafted


@pytest.fixture(scope="module")
def reading(zoo: Zoo, tmp_path_factory: pytest.TempPathFactory) -> Reading:
    config, main = tiny.eagle_config(), load_model(zoo.main)
    folder = tiny.save_drafter(tmp_path_factory.mktemp("eagle"), config, tiny.eagle_weights(config))
    mx.random.seed(6)
    draft = at_once(loading_any_draft(folder, main))
    return Reading(main, draft, [60 + at for at in range(21)], mx.random.normal((20, draft.network.reads_width)))


@pytest.mark.parametrize(
    "sampling",
    [Sampling(temperature=0), Sampling(temperature=1.5, seed=4, repetition_penalty=1.4)],
    ids=["greedy", "hot"],
)
def test_a_draft_is_made_token_by_token_and_leaves_no_row(reading: Reading, sampling: Sampling) -> None:
    """Each of the one before, at its own position, as sharply as the plan says."""
    sampler = Sampler(sampling, 4, reading.main.logit_width, reading.tokens)
    level = 2 if sampling.temperature else 0
    expected, proposer = reading.by_hand(sampler, 6, level), reading.proposer()
    for length in (1, 2, 6):
        plan = Plan(proposer.name, length, sharpness=level)
        assert integers(proposer.propose(reading.tokens, plan, sampler).tokens) == expected[:length]
        assert proposer.context.caches.position == len(reading.tokens) - 1


def test_a_head_drafts_nothing_behind_an_end(reading: Reading) -> None:
    sampler = Sampler(Sampling(temperature=0), 0, reading.main.logit_width, reading.tokens)
    free = reading.by_hand(sampler, 6, 0)
    proposer = reading.proposer(tokenizer=SimpleNamespace(eos_token_ids={free[1]}))
    drafted = integers(proposer.propose(reading.tokens, Plan(proposer.name, 6), sampler).tokens)
    assert drafted == free[: free.index(free[1]) + 1]


@pytest.fixture
def engine() -> Iterator[EngineClient]:
    engine = Engine()
    yield EngineClient(engine)
    assert engine.close()


SAMPLINGS = [Sampling(temperature=0), Sampling(temperature=0.8, seed=4)]


def request(speculation: Speculation, sampling: Sampling) -> Request:
    return Request(tokens=PROMPT, sampling=sampling, speculation=speculation, max_tokens=24)


def test_a_main_model_without_a_head_is_not_its_own_draft(zoo: Zoo) -> None:
    info = inspect_model(zoo.main)

    assert info.own_drafter is None
    assert isinstance(draft_problem(info, info), DraftIsMain)


def test_raw_norms_are_known_by_convolutions_that_nobody_turned_round(engine: EngineClient, tmp_path: Path) -> None:
    """A repository as published lacks 1 in its norms, the same one converted does not: both draft alike."""
    weights = heads.head_weights("qwen3_5")
    raw = {name: weight - 1 if "norm" in name else weight for name, weight in weights.items()}
    folders = [
        heads.save_main_with_head("qwen3_5", tmp_path / "converted", weights),
        heads.save_main_with_head("qwen3_5", tmp_path / "raw", raw),
    ]
    published(folders[1] / "model.safetensors")

    outcomes = []
    for folder in folders:
        assert isinstance(engine.load(folder), ModelReady)
        assert isinstance(engine.set_draft(folder), ModelReady)
        outcomes.append(engine.run(request(Speculation.fixed(3), SAMPLINGS[0])))

    assert outcomes[0].tokens == outcomes[1].tokens
    assert outcomes[0].stats.accepted == outcomes[1].stats.accepted


def published(shard: Path) -> None:
    """A converted main model's weights as they were before."""
    shifted = ("input_layernorm.weight", "post_attention_layernorm.weight", "model.norm.weight", "q_norm.weight")
    held = dict(mx.load(str(shard)))  # type: ignore[arg-type]
    for name, weight in held.items():
        if "conv1d.weight" in name:
            held[name] = weight.moveaxis(2, 1)
        elif not name.startswith("mtp.") and name.endswith((*shifted, "k_norm.weight")):
            held[name] = weight - 1
    mx.save_safetensors(str(shard), held, {"format": "pt"})


def test_a_head_in_a_folder_of_its_own_drafts_as_it_does_in_its_main_models(
    engine: EngineClient, tmp_path: Path
) -> None:
    weights = heads.head_weights("glm4_moe_lite", own_ends=True)
    main = heads.save_main_with_head("glm4_moe_lite", tmp_path / "main", weights)
    named = {"shared_head.norm.weight": "model.shared_head_norm.weight", "shared_head.head.weight": "lm_head.weight"}
    block = ("self_attn", "mlp", "input_layernorm", "post_attention_layernorm")
    split = {
        named.get(name, f"model.mtp_block.{name}" if name.startswith(block) else f"model.{name}"): weight
        for name, weight in weights.items()
    }
    folder = tiny.save_drafter(tmp_path / "head", heads.head_config("glm4_moe_lite"), split)
    assert isinstance(engine.load(main), ModelReady)

    counts = []
    for draft in (main, folder):
        assert isinstance(engine.set_draft(draft), ModelReady)
        stats = engine.run(request(Speculation.fixed(3), SAMPLINGS[0])).stats
        counts.append((stats.drafted, stats.accepted))

    assert counts[0] == counts[1]


def refused(engine: EngineClient, main: Path, folder: Path) -> Exception:
    assert isinstance(engine.load(main), ModelReady)
    result = engine.set_draft(folder)
    assert isinstance(result, ModelFailed)
    return result.error


Weights = dict[str, mx.array]


def without(name: str) -> Callable[[Weights], Weights]:
    return lambda weights: {each: weight for each, weight in weights.items() if each != name}


DAMAGED: dict[str, tuple[dict[str, Any], Callable[[Weights], Weights]]] = {
    "no head": (tiny.eagle_config(), without("lm_head.weight")),
    "no fc": (tiny.eagle_config(), without("fc.weight")),
    "places beyond the vocabulary": (
        tiny.eagle_config(),
        lambda weights: weights | {"d2t": weights["d2t"] + tiny.VOCABULARY},
    ),
    "places before the vocabulary": (tiny.eagle_config(), lambda weights: weights | {"d2t": weights["d2t"] - 1000}),
    "a layer that is none": (tiny.eagle_config(eagle_aux_hidden_state_layer_ids=[0, 1, 2]), dict),
    "layers without end": (tiny.eagle_config(eagle_aux_hidden_state_layer_ids=[1] * 5000), dict),
    "a width that is none": (tiny.eagle_config(target_hidden_size=-5), dict),
    "layers that are not named": (tiny.eagle_config(eagle_aux_hidden_state_layer_ids=None), dict),
}


@pytest.mark.expect_log("could not load")
@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_eagle_folders_are_refused(engine: EngineClient, name: str, zoo: Zoo, tmp_path: Path) -> None:
    config, damage = DAMAGED[name]
    folder = tiny.save_drafter(tmp_path, config, damage(tiny.eagle_weights(tiny.eagle_config())))

    assert isinstance(refused(engine, zoo.main, folder), ModelDamaged)


@pytest.mark.expect_log("could not load")
def test_heads_of_families_that_are_not_known_are_refused_by_name(
    engine: EngineClient, zoo: Zoo, tmp_path: Path
) -> None:
    config = {"model_type": "kimi_k3_mtp", "text_config": qwen3_config() | {"model_type": "kimi_k3"}}
    folder = tiny.save_drafter(tmp_path, config, {"fc.weight": mx.zeros((4, 4))})

    error = refused(engine, zoo.main, folder)

    assert isinstance(error, ModelUnsupported)
    assert error.model_type == "kimi_k3"


# Drafting token by token, with a network that is a list of logits; and how far back a head looks.


LENGTH, WIDTH, TRAINED_ON = 8, 16, 24
SURE, UNSURE = 50.0, 0.1
RULE = StopRule((0.5,) * LENGTH, Worth().by_grade)


class Told:
    """Says 0, 1, 2, … as surely as it is told."""

    def __init__(self, sureness: float) -> None:
        self._sureness, self.steps = sureness, 0

    def logits(self, token: mx.array | None = None) -> mx.array:
        self.steps += token is not None
        return self._sureness * (mx.arange(WIDTH) == self.steps)[None].astype(mx.float32)

    def draft(self, stop: StopRule | None, ends: tuple[int, ...] = ()) -> Draft:
        sampler = Sampler(Sampling(temperature=0), 0, WIDTH, ())
        growing = Growing(0, Plan("draft", LENGTH, stop=stop), sampler, ends)
        return draft_chains(self.logits(), self.logits, [growing])[0]


@pytest.mark.parametrize(("device", "ahead"), [(mx.cpu, 0), (mx.gpu, 1)])
def test_a_draft_goes_on_while_it_is_sure(monkeypatch: pytest.MonkeyPatch, device: mx.DeviceType, ahead: int) -> None:
    """On a GPU, where to wait costs more than a token, one more is under way."""
    monkeypatch.setattr(mx, "default_device", lambda: device)
    assert integers(Told(SURE).draft(RULE).tokens) == list(range(LENGTH))
    assert integers(Told(UNSURE).draft(RULE).tokens) == list(range(1 + ahead))
    assert integers(Told(UNSURE).draft(None).tokens) == list(range(LENGTH))


@pytest.mark.parametrize("ends", [(), (2,)])
def test_probabilities_are_told_where_a_rule_asks_for_them(ends: tuple[int, ...]) -> None:
    told = Told(SURE).draft(RULE, ends)
    assert told.probabilities is not None
    assert told.probabilities.shape == told.tokens.shape
    assert Told(SURE).draft(None, ends).probabilities is None


def head(config: dict[str, Any]) -> EagleDrafter:
    return eagle_with(config, tiny.eagle_weights(config), build(qwen3_config()))


# Heads that draft token by token, in chats longer than those that they were trained on.


@pytest.mark.parametrize("name", ["authors", "speculators"])
def test_in_a_long_chat_a_head_reads_as_much_as_it_was_trained_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the chunk or row by row alike, and drafting too: what lies further back has no say, and positions go on."""
    config, _ = DIALECTS[name]
    sizes = {"max_position_embeddings": 16}
    inner = (
        {"transformer_layer_config": config.get("transformer_layer_config", {}) | sizes} if name != "authors" else {}
    )
    monkeypatch.setitem(DIALECTS, name, (config | sizes | inner, False))
    head = eagle(name, build(qwen3_config()))
    mx.random.seed(3)
    tokens, states = mx.arange(40, 90).astype(mx.uint32), mx.random.normal((50, head.reads_width))

    def after(start: int, chunk: int) -> tuple[list[int], mx.array]:
        caches = CacheMaker(head)()
        for at in range(start, 50, chunk):
            state = head.read(tokens[at : at + chunk], states[at : at + chunk], caches)[-1:]
        return chain(head, state, caches), state

    drafted, state = after(0, 50)
    for start, chunk in ((0, 1), (0, 7), (34, 16)):
        again = after(start, chunk)
        assert again[0] == drafted
        assert mx.allclose(again[1], state, atol=1e-4)
    assert not mx.allclose(after(35, 15)[1], state, atol=1e-4)
