"""Block drafters beside the same networks written once more in numpy, a row at a time, from their papers' formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from engine import ModelDamaged, Sampling
from engine.decoding.accept import integers
from engine.decoding.sampling import Sampler
from engine.drafting.acceptance import Sharpness, StopRule, Worth
from engine.drafting.drafters import loading_any_draft, proposer_of
from engine.drafting.plans import Plan
from engine.drafting.proposers.dflash2 import CandidateSelector
from engine.models.drafter_kinds import drafter_config
from engine.models.drafter_tensors import usual
from engine.models.drafters import Backbone, BlockConfig
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from tests.helpers import tiny_drafters as tiny
from tests.helpers.loading import at_once

Rows = Any  # a numpy array
TOKENS = [60 + at for at in range(21)]
CONFIGS: dict[str, dict[str, Any]] = {
    "all see all": tiny.dflash_config(),
    "causal": tiny.dflash_config(is_causal=True),
    "windows": tiny.dflash_config(layer_types=["sliding_attention", "full_attention"], sliding_window=9),
    "causal windows": tiny.dflash_config(
        layer_types=["sliding_attention", "full_attention"], sliding_window=4, is_causal=True
    ),
    "windows as Meta counts them": tiny.muse_config(),
    "scaled": tiny.dflash_config(input_embedding_scale=2.0, final_logit_softcapping=5.0, output_multiplier=2.0),
    "sinks": tiny.nemotron_block_config(),
    "gates, norms of the layers that are read, one product": tiny.laguna_config(),
    "mixtures and corrections": tiny.dfly_config(hidden_correction_intermediate_size=40),
    "mixtures and keys of the context": tiny.dflare_config(),
    "a state over what was drafted": tiny.domino_config(),
    "a state over what was drafted, row 0 drafts nothing": tiny.domino_config(
        shift_label=False, pure_draft_prefix_len=2
    ),
    "two tables": tiny.dspark_config(),
    "gated table": tiny.dspark_config(markov_head_type="gated"),
    "confidence of the state alone": tiny.dspark_config(confidence_head_with_markov=False),
    "biases": tiny.dflare_config(attention_bias=True),
    "Gemma 4's layers": tiny.gemma_block_config(),
    "Gemma 4's layers, values of their own": tiny.gemma_block_config(attention_k_eq_v=False),
    "convolutions and candidates": tiny.dflash2_config(
        dflash_config=tiny.dflash2_config()["dflash_config"] | {"conv_kernel_size": 3}
    ),
}


def normed(rows: Rows, weight: Rows) -> Rows:
    return rows / np.sqrt((rows * rows).mean(axis=-1, keepdims=True) + 1e-6) * weight


def sigmoid(values: Rows) -> Rows:
    return 1 / (1 + np.exp(-values))


def gelu(values: Rows) -> Rows:
    return 0.5 * values * (1 + np.tanh(np.sqrt(2 / np.pi) * (values + 0.044715 * values**3)))


def frequencies(sizes: Backbone) -> Rows:
    half = sizes.head_width // 2
    told = sizes.rope_theta ** (-np.arange(half) / half)
    if sizes.is_gemma:  # a part of the head is turned, as fast as if all of it were
        told[half // 4 :] = 0
    return told


def turned(head: Rows, position: int, frequency: Rows) -> Rows:
    """One head of one row by its rotary angles: the first half of it with the second."""
    half = head.shape[-1] // 2
    angles = position * frequency
    first, second = head[:half], head[half:]
    return np.concatenate(
        [first * np.cos(angles) - second * np.sin(angles), second * np.cos(angles) + first * np.sin(angles)]
    )


@dataclass
class Reference:
    config: BlockConfig
    weights: dict[str, Rows]
    table: Rows
    head: Rows

    @property
    def confident(self) -> bool:
        return "confidence_head.proj.weight" in self.weights

    def of(self, name: str) -> Rows:
        return self.weights[f"{name}.weight"]

    def block(self, states: Rows, newest: int) -> Rows:
        tokens = [newest] + [self.config.mask_token] * (self.config.block_rows - 1)
        rows = self.table[tokens] * self.config.embedding_scale
        for layer in range(self.config.backbone.layers):
            at = f"layers.{layer}"
            attend = self._attention(layer, self._context(layer, states))
            if self.config.backbone.is_gemma:
                rows = self._gemma_layer(at, attend, rows)
                continue
            rows = rows + self._around(f"{at}.attention_conv", attend, normed(rows, self.of(f"{at}.input_layernorm")))
            normed_rows = normed(rows, self.of(f"{at}.post_attention_layernorm"))
            rows = rows + self._around(f"{at}.mlp_conv", self._mlp(at), normed_rows)
        return normed(rows, self.of("norm"))[0 if self.config.anchor_first else 1 :]

    def _context(self, layer: int, states: Rows) -> Rows:
        if self.config.is_laguna:
            parts = np.split(states, len(self.config.info.layers), axis=1)
            norms = [self.of(f"aux_hidden_norms.{at}") for at in range(len(parts))]
            states = np.concatenate([normed(part, norm) for part, norm in zip(parts, norms, strict=True)], axis=1)
        if "layer_fusion_weights" not in self.weights:
            return normed(states @ self.of("fc").T, self.of("hidden_norm"))
        chances = np.exp(self.weights["layer_fusion_weights"][layer])
        parts = np.split(states, len(chances), axis=1)
        mixed = sum(chance / chances.sum() * part for chance, part in zip(chances, parts, strict=True))
        projected = states @ self.of("fc").T if "fc.weight" in self.weights else 0.0
        return normed(projected + mixed, self.of("hidden_norm"))

    def corrected(self, state: Rows, before: int) -> Rows:
        if "hidden_correction.down_proj.weight" not in self.weights:
            return state
        own = normed(state, self.of("hidden_correction.hidden_norm"))
        read = np.concatenate([own, normed(self.table[before], self.of("hidden_correction.embed_norm"))])
        gate, up, down = (self.of(f"hidden_correction.{part}_proj") for part in ("gate", "up", "down"))
        return state + down @ ((gate @ read) * sigmoid(gate @ read) * (up @ read))

    def _gemma_layer(self, at: str, attend: Callable[[Rows], Rows], rows: Rows) -> Rows:
        mixed = attend(normed(rows, self.of(f"{at}.input_layernorm")))
        rows = rows + normed(mixed, self.of(f"{at}.post_attention_layernorm"))
        fed = self._mlp(at)(normed(rows, self.of(f"{at}.pre_feedforward_layernorm")))
        rows = rows + normed(fed, self.of(f"{at}.post_feedforward_layernorm"))
        return rows * self.weights[f"{at}.layer_scalar"]

    def _mlp(self, at: str) -> Callable[[Rows], Rows]:
        gate, up, down = (self.of(f"{at}.mlp.{part}_proj") for part in ("gate", "up", "down"))
        if self.config.backbone.is_gemma:
            return lambda rows: (gelu(rows @ gate.T) * (rows @ up.T)) @ down.T
        return lambda rows: ((rows @ gate.T) * sigmoid(rows @ gate.T) * (rows @ up.T)) @ down.T

    def _attention(self, layer: int, context: Rows) -> Callable[[Rows], Rows]:
        turns, scale = frequencies(self.config.backbone), self.config.backbone.head_width**-0.5
        at, sizes, window = f"layers.{layer}.self_attn", self.config.backbone, self.config.windows[layer]

        def heads(rows: Rows, part: str, count: int, end: str = "_proj") -> Rows:
            projected = "k" if part == "v" and sizes.values_are_keys else part
            split = self._projected(rows, f"{at}.{projected}{end}").reshape(len(rows), count, -1)
            if part == "v":
                return normed(split, 1.0) if sizes.is_gemma else split
            return normed(split, self.of(f"{at}.{part}_norm"))

        def attend(rows: Rows) -> Rows:
            mixed, end = [], "_proj_target" if f"{at}.k_proj_target.weight" in self.weights else "_proj"
            everything = np.concatenate([context, rows])
            keys, values = (
                np.concatenate([heads(context, part, sizes.kv_heads, end), heads(rows, part, sizes.kv_heads)])
                for part in ("k", "v")
            )
            for row, queries in enumerate(heads(rows, "q", sizes.heads)):
                place, out = len(context) + row, []
                seen = [
                    at
                    for at in range(len(everything))
                    if (at <= place or not self.config.causal[layer]) and (not window or at > place - window)
                ]
                for number, query in enumerate(queries):
                    group = number * sizes.kv_heads // sizes.heads
                    told = turned(query, place, turns)
                    scores = np.array([told @ turned(keys[at, group], at, turns) for at in seen])
                    scores = np.exp(scores * (1.0 if sizes.is_gemma else scale))
                    sink = np.exp(self.weights[f"{at}.attention_sink_bias"][number]) if self.config.sinks else 0.0
                    out.append((scores / (scores.sum() + sink)) @ values[seen, group])
                if self.config.is_laguna:
                    gates = np.log1p(np.exp(self.of(f"{at}.g_proj") @ rows[row]))
                    out = [gate * head for gate, head in zip(gates, out, strict=True)]
                mixed.append(np.concatenate(out))
            return self._projected(np.array(mixed), f"{at}.o_proj")

        return attend

    def _projected(self, rows: Rows, name: str) -> Rows:
        return rows @ self.of(name).T + self.weights.get(f"{name}.bias", 0.0)

    def _around(self, name: str, part: Callable[[Rows], Rows], rows: Rows) -> Rows:
        taps = self.config.said.get("conv_kernel_size")
        if not taps:
            return part(rows)
        group = self.config.said["conv_group_size"]
        told = (rows @ self.of(f"{name}.kernel_projection").T).reshape(len(rows), 2, taps, -1)
        base = self.weights[f"{name}.base_kernel"]

        def mixed(values: Rows, side: int) -> Rows:
            made = np.zeros_like(values)
            for row in range(len(values)):
                for tap in range(min(taps, row + 1)):
                    factors = base[side, tap] + np.repeat(told[row, side, tap], group)
                    made[row] += factors * values[row - tap]
            return made

        return mixed(part(mixed(rows, 0)), 1)

    def logits(self, state: Rows, before: int) -> Rows:
        """Of one row, with what the token before it makes likely."""
        config, logits = self.config, self.head @ self.corrected(state, before) * self.config.output_scale
        if config.softcap:
            logits = np.tanh(logits / config.softcap) * config.softcap
        if "markov_head.markov_w1.weight" in self.weights:
            likely = self.of("markov_head.markov_w1")[before]
            if config.said["markov_head_type"] == "gated":
                gate = self.of("markov_head.gate_proj") @ np.concatenate([state, likely])
                likely = likely * sigmoid(gate + self.weights["markov_head.gate_proj.bias"])
            logits = logits + self.of("markov_head.markov_w2") @ likely
        if "selector_top_k" in config.said:
            chosen = np.argsort(-logits)[: config.said["selector_top_k"]]
            follows = self.of("candidate_selector.predecessor_codebook")[before]
            follows = follows * (self.of("candidate_selector.hidden_projection") @ state)
            edges = self.of("candidate_selector.successor_codebook") @ follows
            kept = np.full_like(logits, -np.inf)
            kept[chosen] = (logits + edges)[chosen]
            return kept
        return logits

    def following(self, rows: Rows, told: list[int]) -> Rows:
        """Of the row after `told`, the token before the block and those that were drafted."""
        row, config = len(told) - 1, self.config
        logits = self.logits(rows[row], told[-1])
        if "gru_hidden_dim" not in config.said or row < config.said["pure_draft_prefix_len"]:
            return logits
        read, kept = (self.weights[f"prefix_gru.weight_{part}_l0"] for part in ("ih", "hh"))
        prefix = np.zeros(config.said["gru_hidden_dim"])
        for token in told:
            reset, update, new = np.split(read @ self.table[token], 3)
            own_reset, own_update, own_new = np.split(kept @ prefix, 3)
            share = sigmoid(update + own_update)
            prefix = (1 - share) * np.tanh(new + sigmoid(reset + own_reset) * own_new) + share * prefix
        inner = self.of("embed_proj.0") @ np.concatenate([rows[row], prefix])
        return logits + self.of("embed_proj.2") @ (inner * sigmoid(inner))

    def confidence(self, state: Rows, before: int) -> float:
        known = [self.of("markov_head.markov_w1")[before]] if self.config.said["confidence_head_with_markov"] else []
        told = self.of("confidence_head.proj") @ np.concatenate([state, *known])
        return float(sigmoid(told + self.weights["confidence_head.proj.bias"])[0])

    def drafted(self, states: Rows, newest: int) -> tuple[list[int], list[float]]:
        """Greedily, and how likely each token was; or how sure it says that it is, if it does."""
        rows, told, chances = self.block(states, newest), [newest], list[float]()
        for state in rows[: self.config.tokens]:
            logits = self.following(rows, told)
            chance = 1 / np.exp(logits - logits.max()).sum()
            chances.append(self.confidence(state, told[-1]) if self.confident else float(chance))
            told.append(int(np.argmax(logits)))
        return told[1:], chances


@dataclass(frozen=True)
class Pair:
    main: LoadedModel
    draft: LoadedModel
    reference: Reference


@pytest.fixture(scope="module", params=CONFIGS)
def pair(request: pytest.FixtureRequest, main: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    config = CONFIGS[request.param]
    weights = tiny.block_weights(config)
    stored = tiny.in_one_product(dict(weights)) if config["model_type"] == "laguna" else weights
    folder = tiny.save_drafter(tmp_path_factory.mktemp("block"), config, stored)
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, BlockConfig)
    plain = {usual(name): np.array(weight, dtype=np.float64) for name, weight in weights.items()}
    table, head = (
        np.array(part.weight, dtype=np.float64) for part in (main.network.model.embed_tokens, main.network.lm_head)
    )
    return Pair(main, at_once(loading_any_draft(folder, main)), Reference(parsed, plain, table, head))


def states_of(tokens: int) -> mx.array:
    mx.random.seed(tokens)
    return mx.random.normal((tokens, 2 * tiny.WIDTH))


@pytest.mark.costly
@pytest.mark.parametrize("tokens", [1, 3, 30])
def test_the_rows_of_a_block_are_the_formulas(pair: Pair, tokens: int) -> None:
    """However much of the context was read at once."""
    network, states = pair.draft.network, states_of(tokens)
    caches = pair.draft.make_caches()
    for part in (states[: tokens // 2], states[tokens // 2 :]):
        if part.size:
            network.read(mx.zeros((part.shape[0],), mx.uint32), part, caches)
    for _ in range(2):  # a block leaves nothing behind
        made = np.array(network.block(mx.array([77]), caches))
        expected = pair.reference.block(np.array(states, dtype=np.float64), 77)
        assert made.shape == expected.shape == (network.tokens, tiny.WIDTH)
        assert np.allclose(made, expected, atol=2e-4)


@pytest.mark.costly
def test_a_draft_is_what_the_formulas_say(pair: Pair) -> None:
    """Token by token, each with the one before it; as much of it as the plan asks for."""
    tokens, states = TOKENS, states_of(20)
    expected, chances = pair.reference.drafted(np.array(states, dtype=np.float64), tokens[-1])
    sampler = Sampler(Sampling(temperature=0), 0, pair.main.logit_width, tokens)
    never = StopRule((0.0,) * len(expected), Worth().by_grade)
    proposer: Any = proposer_of(pair.draft, pair.main, PrefixStore(), 0)
    proposer.receive_states(0, states)
    assert proposer.offer(tokens).most == len(expected) == pair.draft.network.tokens

    for length in range(1, len(expected) + 1):
        draft = proposer.propose(tokens, Plan(proposer.name, length, stop=never), sampler)
        assert integers(draft.tokens) == expected[:length]
        assert draft.probabilities.tolist() == pytest.approx(chances[:length], abs=2e-3)
        plain = proposer.propose(tokens, Plan(proposer.name, length), sampler)
        assert (integers(plain.tokens), plain.probabilities) == (expected[:length], None)
    two = StopRule((0.0, 2.0, *never.floors[2:]), never.worth)
    assert (
        integers(proposer.propose(tokens, Plan(proposer.name, len(expected), stop=two), sampler).tokens) == expected[:2]
    )


def test_drawn_tokens_are_those_of_their_positions_and_of_what_was_drafted_before(pair: Pair) -> None:
    """As sharply as the plan says, and with a penalty on the tokens before, those of the draft included."""
    tokens, states = TOKENS, states_of(20)
    sampling = Sampling(temperature=1.5, seed=4, repetition_penalty=1.4)
    sampler = Sampler(sampling, 4, pair.main.logit_width, tokens)
    proposer: Any = proposer_of(pair.draft, pair.main, PrefixStore(), 0)
    proposer.receive_states(0, states)
    proposer.offer(tokens)

    drafted = integers(proposer.propose(tokens, Plan(proposer.name, 4, sharpness=2), sampler).tokens)

    expected = list[int]()
    rows = pair.reference.block(np.array(states, dtype=np.float64), tokens[-1])
    for row in range(4):
        logits = mx.array(pair.reference.following(rows, [tokens[-1], *expected])[None].astype(np.float32))
        ahead = mx.array(expected) if expected else None
        expected += integers(sampler.draft(logits, len(tokens) + row, ahead, Sharpness.LEVELS, 2).tokens)
    assert drafted == expected


def test_what_a_token_takes_is_what_its_row_does(pair: Pair) -> None:
    caches = pair.draft.make_caches()
    pair.draft.network.read(mx.zeros((5,), mx.uint32), states_of(5), caches)
    rows = [part[..., :1, :].nbytes for layer in caches.layers for part in (layer.keys, layer.values)]
    assert pair.draft.network.row_bytes == sum(rows)


def test_a_row_is_made_of_a_state_alone(pair: Pair) -> None:
    """So two chats share it whatever comes next."""
    rows = []
    for token in (5, 6):
        caches = pair.draft.make_caches()
        pair.draft.network.read(mx.full((3,), token, mx.uint32), states_of(3), caches)
        rows.append(caches.layers[0].keys[..., :3, :])
    assert mx.array_equal(*rows)
    assert not pair.draft.network.reads_next_token


def test_a_rehearsal_drafts_as_many_tokens_and_keeps_what_it_read_once(pair: Pair) -> None:
    network, caches = pair.draft.network, pair.draft.make_caches()
    for length in (1, network.tokens):
        assert network.rehearse(length, caches).shape == (length,)
        assert caches.position == 64


# Block drafters: a reduced vocabulary, tokens in their places, and folders that point beyond it.


REDUCED = 40
CONFIG = tiny.dspark_config(draft_vocab_size=REDUCED, confidence_head_with_markov=True)


def weights(offsets: mx.array) -> dict[str, mx.array]:
    """With a head and a table of its own words only."""
    made = tiny.block_weights(CONFIG)
    made["markov_head.markov_w2.weight"] = made["markov_head.markov_w2.weight"][:REDUCED]
    mx.random.seed(8)
    return made | {"lm_head.weight": mx.random.normal((REDUCED, tiny.WIDTH)), "d2t": offsets}


def test_each_token_is_drafted_at_its_place_in_the_main_models_vocabulary(main: LoadedModel, tmp_path: Path) -> None:
    offsets = 5 * mx.arange(REDUCED)
    draft = at_once(loading_any_draft(tiny.save_drafter(tmp_path, CONFIG, weights(offsets)), main))
    network, caches = draft.network, draft.make_caches()
    network.read(mx.zeros((3,), mx.uint32), mx.random.normal((3, 2 * tiny.WIDTH)), caches)

    state = network.block(mx.array([7]), caches)[:1]
    narrow = state @ network.lm_head.weight.T + network.markov_head(mx.array([7]), state)
    wide = network.step_logits(network.base_logits(state), mx.array([7]), state)

    assert wide.shape == (1, tiny.VOCABULARY)
    assert mx.allclose(wide[0, 6 * mx.arange(REDUCED)], narrow[0], atol=1e-5)
    assert mx.sum(wide > -mx.inf).item() == REDUCED


@pytest.mark.parametrize("offsets", [mx.full((REDUCED,), 10**6), mx.full((REDUCED,), -1)], ids=["beyond", "before"])
def test_a_table_that_points_beyond_the_vocabulary_is_damage(
    main: LoadedModel, tmp_path: Path, offsets: mx.array
) -> None:
    folder = tiny.save_drafter(tmp_path, CONFIG, weights(offsets))
    with pytest.raises(ModelDamaged, match="beyond the vocabulary"):
        at_once(loading_any_draft(folder, main))


# Parts of block drafters by themselves, over more rows than a block has.


@pytest.mark.parametrize("candidates", [1, 5, 40])
def test_the_candidates_are_the_likeliest_tokens_and_no_others(candidates: int) -> None:
    mx.random.seed(3)
    rows = 60
    logits = mx.random.normal((rows, tiny.VOCABULARY))
    selector = CandidateSelector(tiny.VOCABULARY, tiny.WIDTH, 8, candidates)
    scores = selector(logits, mx.arange(rows), mx.random.normal((rows, tiny.WIDTH)))
    likeliest = np.sort(np.argsort(-np.array(logits), axis=-1)[:, :candidates], axis=-1)
    kept = np.isfinite(np.array(scores))
    assert kept.sum(axis=-1).tolist() == [candidates] * rows
    assert np.array_equal(np.nonzero(kept)[1].reshape(rows, -1), likeliest)
