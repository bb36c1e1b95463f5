"""Conventions of drafters that draft token by token: one that is broken on purpose shows in the agreement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten

from engine.caches.making import CacheMaker
from engine.drafting.proposers.eagle3 import EagleDrafter
from engine.drafting.proposers.mtp import MtpDrafter
from engine.models.access import ModelAccess, body_of
from engine.models.mtp_families import FAMILIES
from tests.helpers import tiny_heads as heads
from tests.helpers.taught_heads import Taught, knows, norms_swapped, offsets_off_by_one, teach

EMBEDDINGS = ("embed_tokens", "embeddings", "word_embeddings")
# A main model that cannot do with one layer has another, which changes nothing.
OF_TWO: dict[str, dict[str, Any]] = {
    "mimo_v2_flash": {"num_hidden_layers": 2, "moe_layer_freq": [0, 0]},
    "mellum": {"num_hidden_layers": 2},
}


def copied_head(family: str) -> tuple[Any, MtpDrafter]:
    """A main model of one layer, and a head that is the same: it takes the token's embedding, and nothing of the state.

    Embeddings are scaled as a norm would scale them. All that the head does not see is the first token.
    """
    changes = FAMILIES[family].changes(heads.text_of(heads.MAINS[family]))
    main = heads.build_main(family, **changes | OF_TWO.get(family, {}))
    for idle in main.layers[1:] if family in OF_TWO else ():
        last = ("o_proj.weight", "down_proj.weight")
        parts: list[tuple[str, mx.array]] = tree_flatten(idle.parameters())  # type: ignore[assignment]
        idle.load_weights([(name, mx.zeros_like(w)) for name, w in parts if name.endswith(last)], strict=False)
    access, body = ModelAccess(main), body_of(main)
    embedding = next(getattr(body, name) for name in EMBEDDINGS if hasattr(body, name))
    table = embedding.weight
    embedding.weight = table * mx.rsqrt((table * table).mean(axis=-1, keepdims=True) + 1e-6)
    width = table.shape[-1]
    head = MtpDrafter(heads.parsed_head(family), access)
    for copied, layer in zip(head.layers, main.layers[: len(head.layers)], strict=True):
        copied.update(layer.parameters())
    taken, ignored = mx.eye(width), mx.zeros((width, width))
    state_first = FAMILIES[family].state_first
    head.join.weight = mx.concatenate([ignored, taken] if state_first else [taken, ignored], axis=1)
    if not FAMILIES[family].main_norm:
        head.norm.weight = (body.norm_f if family == "nemotron_h" else body.norm).weight
    return main, head


def agreement(main: Any, head: MtpDrafter, prompts: int = 3, length: int = 160) -> float:
    """How many of the main model's own next tokens the head drafts, over all prefixes of some texts."""
    mx.random.seed(9)
    right = count = 0
    for _ in range(prompts):
        tokens = mx.random.randint(0, 250, (1, length))
        states = body_of(main)(tokens)[0]
        verdicts = mx.argmax(main(tokens)[0], axis=-1)
        own = head.read(tokens[0, 1:].astype(mx.uint32), states[:-1], CacheMaker(head)())
        right += int((mx.argmax(head.logits(own), axis=-1) == verdicts[1:])[80:].sum().item())  # type: ignore[arg-type]
        count += length - 81
    return right / count


@pytest.mark.parametrize("family", heads.MAINS)
def test_a_head_that_is_a_copy_of_its_main_model_agrees_with_it(family: str) -> None:
    assert agreement(*copied_head(family)) > 0.8


def other_order(main: Any, head: MtpDrafter) -> None:
    head._family = replace(head._family, state_first=not head._family.state_first)


def norms_shifted_twice(main: Any, head: MtpDrafter) -> None:
    for norm in (head.token_norm, head.layers[0].input_layernorm, head.layers[0].post_attention_layernorm):
        norm.weight = norm.weight + 1


def norms_not_shifted(main: Any, head: MtpDrafter) -> None:
    for norm in (head.token_norm, head.layers[0].input_layernorm, head.norm):
        norm.weight = norm.weight - 1


def other_rotation(main: Any, head: MtpDrafter) -> None:
    rope = head.layers[0].self_attn.rope
    rope.traditional = not rope.traditional


BROKEN: dict[str, Callable[[Any, MtpDrafter], None]] = {
    "order of the join": other_order,
    "norms shifted twice": norms_shifted_twice,
    "norms not shifted": norms_not_shifted,
    "rotation": other_rotation,
}


@pytest.mark.parametrize("convention", BROKEN)
@pytest.mark.parametrize("family", ["qwen3_5", "deepseek_v3", "mimo", "step3p5"])
def test_a_convention_that_is_broken_shows_in_the_agreement(family: str, convention: str) -> None:
    main, head = copied_head(family)
    whole = agreement(main, head)

    BROKEN[convention](main, head)

    assert agreement(main, head) < 0.9 * whole


@pytest.fixture(scope="module")
def taught() -> Taught:
    """A sample; more of it in tests/drills/test_taught_heads.py."""
    return teach(100, 50)


def test_what_a_head_was_taught_it_drafts(taught: Taught) -> None:
    assert knows(taught, taught.head()) > 0.9


@pytest.mark.parametrize("broken", [offsets_off_by_one, norms_swapped])
def test_a_convention_of_eagle_that_is_broken_shows(taught: Taught, broken: Callable[[EagleDrafter], None]) -> None:
    head = taught.head()

    broken(head)

    assert knows(taught, head) < 0.9


def test_a_flag_read_wrongly_shows(taught: Taught) -> None:
    assert knows(taught, taught.head(norm_before_residual=True)) < 0.9
