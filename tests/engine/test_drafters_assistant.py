"""Gemma 4 assistants: their rows are the main model's own, and a draft stands at one position.

`make parity` shows that mlx-vlm and transformers draft alike.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten
from mlx_lm.models.cache import make_prompt_cache

from engine import DrafterDoesNotFit, ModelDamaged
from engine.caches.making import CacheMaker
from engine.decoding.accept import integers
from engine.decoding.hidden_states import HiddenStates
from engine.drafting.drafters import loading_any_draft, network_class
from engine.drafting.proposers.assistant import AssistantDrafter
from engine.models.access import ModelAccess, NoAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafter_tensors import unplaced
from engine.models.drafters import AssistantConfig
from engine.models.model_files import FileError
from tests.helpers import tiny_assistants as tiny
from tests.helpers.loading import at_once, load_model
from tests.helpers.tiny_drafters import gemma_block_config, save_drafter
from tests.helpers.tiny_models import VOCABULARY

READ = (9, 1, 30, 3, 1, 1, 6)  # one after another, past the window
DEPTH = 4
# What each drafts after every one of the first three readings. `make parity` shows that another program drafts alike.
FIGURES: dict[str, list[list[int]]] = {
    "gemma4": [[148, 235, 246, 144], [101, 66, 138, 159], [67, 239, 101, 185]],
    "gemma4-large": [[148, 193, 145, 146], [101, 91, 55, 64], [67, 61, 93, 31]],
}


def assistant(family: str, main: Any = None, **changes: Any) -> AssistantDrafter:
    config = tiny.assistant_config(family, **changes)
    weights = tiny.assistant_weights(config)
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, AssistantConfig)
    made = network_class(parsed)(parsed, ModelAccess(main or tiny.build_main(family)))
    named = made.sanitize({name.removeprefix("model."): weight for name, weight in weights.items()})
    made.load_weights(list(named.items()), strict=True)
    assert isinstance(made, AssistantDrafter)
    return made


def chain(drafter: AssistantDrafter, state: mx.array, caches: Any) -> list[int]:
    tokens = list[int]()
    while len(tokens) < DEPTH:
        token = mx.argmax(drafter.logits(state), axis=-1)
        tokens += integers(token)
        state = drafter.step(token, state, caches)
    return tokens


def drafted(drafter: AssistantDrafter) -> list[list[int]]:
    mx.random.seed(2)
    caches, drafts = CacheMaker(drafter)(), []
    for rows in READ[:3]:
        tokens = mx.random.randint(0, 250, (rows,)).astype(mx.uint32)
        state = drafter.read(tokens, mx.random.normal((rows, drafter.reads_width)), caches)[-1:]
        drafts.append(chain(drafter, state, caches))
        assert caches.position == sum(READ[: len(drafts)])  # no row is added while it drafts
    return drafts


@pytest.mark.parametrize("family", tiny.MAINS)
def test_frozen_figures(family: str) -> None:
    assert drafted(assistant(family)) == FIGURES[family]


@pytest.mark.parametrize("family", tiny.MAINS)
def test_the_rows_are_those_of_the_main_models_own_caches(family: str) -> None:
    """Of its last layer of each type that keeps any, be they read in whatever parts."""
    main = tiny.build_main(family)
    drafter = assistant(family, main)
    heard, kept, own = HiddenStates(main, drafter.reads), CacheMaker(drafter)(), make_prompt_cache(main)
    mx.random.seed(4)
    tokens, end = mx.random.randint(0, 250, (sum(READ) + 1,)).astype(mx.uint32), 0
    for length in READ:
        start, end = end, end + length
        with heard.step():
            main(tokens[None, start:end], cache=own)
        heard.keep(start, length)
        drafter.read(tokens[start + 1 : end + 1], heard.take()[1], kept)  # type: ignore[arg-type]
    for layer, cache in zip(drafter._sources, kept.layers, strict=True):
        other = own[layer]
        rows = other.keys, other.values
        if hasattr(other, "_temporal_order"):
            rows = tuple(other._temporal_order(part)[..., -tiny.WINDOW :, :] for part in rows)
        count = min(end, rows[0].shape[2])
        for mine, theirs in zip(cache.keys_and_values(), rows, strict=True):
            assert mx.allclose(mine[..., -count:, :], theirs[..., :count, :], atol=1e-5)
    types = [layer.layer_type for layer in main.layers]
    assert [types[layer] for layer in drafter._sources] == ["full_attention", "sliding_attention"]


@pytest.mark.parametrize("family", tiny.MAINS)
def test_what_a_token_takes_is_its_row_of_the_layer_that_forgets_none(family: str) -> None:
    drafter = assistant(family)
    caches = CacheMaker(drafter)()
    drafter.read(mx.zeros((5,), mx.uint32), mx.zeros((5, drafter.reads_width)), caches)
    full, window = caches.layers
    assert drafter.row_bytes == full.keys[..., :1, :].nbytes + full.values[..., :1, :].nbytes
    assert drafter.window_bytes == tiny.WINDOW * (window.keys[..., :1, :].nbytes + window.values[..., :1, :].nbytes)


def test_a_part_of_the_vocabulary_has_the_logits_that_the_whole_has() -> None:
    part, whole = assistant("gemma4"), assistant("gemma4", use_ordered_embeddings=False)
    whole.update(dict(tree_unflattened(part)))
    mx.random.seed(1)
    states = mx.random.normal((3, tiny.WIDTH))
    logits, dense = part.logits(states), whole.logits(states)
    looked_at = logits > -mx.inf
    assert looked_at.sum(axis=-1).tolist() == [12 * VOCABULARY // tiny.CLUSTERS] * 3
    assert mx.allclose(mx.where(looked_at, logits, 0), mx.where(looked_at, dense, 0), atol=1e-5)


def test_a_head_of_its_own_is_used() -> None:
    drafter = assistant("gemma4-large", tie_word_embeddings=False)
    states = mx.random.normal((3, tiny.WIDTH), key=mx.random.key(1))
    assert mx.allclose(drafter.logits(states), states @ drafter.lm_head.weight.T, atol=1e-5)


@pytest.mark.parametrize(("kinds", "reads"), [("ssf", (2, 1)), ("sfs", (1, 2)), ("sff", None), ("fss", None)])
def test_it_reads_the_last_layer_of_each_kind_but_the_first_of_all(kinds: str, reads: tuple[int, ...] | None) -> None:
    """Of that one nobody keeps what goes in."""
    names = {"s": "sliding_attention", "f": "full_attention"}
    changes: dict[str, Any] = {"num_hidden_layers": 3, "layer_types": [names[kind] for kind in kinds]}
    main = tiny.build_main("gemma4-large", **changes)
    if reads is None:
        with pytest.raises(NoAccess, match="behind its first"):
            assistant("gemma4-large", main)
    else:
        assert assistant("gemma4-large", main)._sources == reads


def test_numbers_of_its_layers_have_limits() -> None:
    text = tiny.assistant_config("gemma4-large")["text_config"]
    parsed = drafter_config(tiny.assistant_config("gemma4-large", text_config=text | {"global_head_dim": 2**40}))
    assert parsed is not None
    with pytest.raises(FileError, match="global_head_dim"):
        network_class(parsed)(parsed, ModelAccess(tiny.build_main("gemma4-large")))


def tree_unflattened(part: AssistantDrafter) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in part.parameters().items() if name != "masked_embedding"]


@pytest.mark.parametrize("reading", ["position", "order of the join"])
def test_conventions_that_implementations_differ_in_change_what_is_drafted(reading: str) -> None:
    drafter = assistant("gemma4")
    for part, name, value in drafter.other_readings()[reading]:
        setattr(part, name, value)
    assert drafted(drafter) != FIGURES["gemma4"]


@pytest.mark.parametrize("family", tiny.MAINS)
def test_the_names_that_have_a_place_are_those_of_the_network(family: str) -> None:
    for changes in ({}, {"tie_word_embeddings": False, "use_ordered_embeddings": False}):
        config = tiny.assistant_config(family, **changes)
        parsed = drafter_config(config, ())
        assert parsed is not None
        names: dict[str, Any] = dict(tree_flatten(assistant(family, **changes).parameters()))
        for name in names:
            assert unplaced(parsed, [name]) == ""
            assert unplaced(parsed, [f"{name}x"]) == f"{name}x"


@pytest.mark.costly
@pytest.mark.parametrize(
    "main",
    [{"head_dim": 24}, {"layer_types": ["full_attention"] * 6}, {"layer_types": ["sliding_attention"] * 6}],
    ids=["keys of other sizes", "no windows", "windows alone"],
)
def test_a_main_model_whose_keys_it_cannot_read_is_not_its(main: dict[str, Any], tmp_path: Path) -> None:
    """Though its width and its vocabulary are those that the drafter expects; nothing of it is damaged."""
    loaded = load_model(tiny.save_main("gemma4", tmp_path / "main", **main))
    drafter = tiny.save_assistant("gemma4", tmp_path / "drafter")
    with pytest.raises(DrafterDoesNotFit) as refused:
        at_once(loading_any_draft(drafter, loaded))
    assert refused.value.what == "keys"


@pytest.mark.costly
@pytest.mark.parametrize(
    "text",
    [
        {"num_kv_shared_layers": 0},
        {"num_kv_shared_layers": None},
        {"hidden_size_per_layer_input": None},
        {"hidden_size_per_layer_input": ...},
    ],
    ids=str,
)
def test_what_a_config_may_leave_out_of_layers_is_what_all_have(text: dict[str, Any], tmp_path: Path) -> None:
    """`...`: it is not there at all."""
    whole = tiny.assistant_config()
    said = {key: value for key, value in (whole["text_config"] | text).items() if value is not ...}
    main = load_model(tiny.save_main("gemma4", tmp_path / "main"))
    folder = save_drafter(tmp_path / "drafter", whole | {"text_config": said}, tiny.assistant_weights(whole))
    assert drafted(at_once(loading_any_draft(folder, main)).network) == FIGURES["gemma4"]


def test_its_window_counts_among_what_it_needs(tmp_path: Path) -> None:
    main = load_model(tiny.save_main("gemma4", tmp_path / "main"))
    draft = at_once(loading_any_draft(tiny.save_assistant("gemma4", tmp_path / "drafter"), main))
    waiting = 4096 * draft.network.reads_width * 4
    assert draft.need.fixed_bytes - waiting == draft.network.window_bytes > 0
    assert draft.need.token_bytes == draft.network.row_bytes > 0


def test_an_ordering_beyond_the_vocabulary_is_damage(tmp_path: Path) -> None:
    config = tiny.assistant_config()
    weights = tiny.assistant_weights(config)
    ordering = weights["masked_embedding.token_ordering"]
    main = load_model(tiny.save_main("gemma4", tmp_path / "main"))
    for broken in (ordering + 1, ordering - 1, ordering[1:], ordering.astype(mx.float32)):
        folder = save_drafter(tmp_path / "bad", config, weights | {"masked_embedding.token_ordering": broken})
        with pytest.raises(ModelDamaged, match="token_ordering"):
            at_once(loading_any_draft(folder, main))


def test_quantized_it_drafts_nearly_as_it_did(tmp_path: Path) -> None:
    """An embedding that is looked at in part, too."""
    config = tiny.assistant_config() | {"quantization": {"group_size": 32, "bits": 8}}
    weights = dict[str, mx.array]()
    for name, weight in tiny.assistant_weights(config).items():
        if weight.ndim == 2 and weight.shape[-1] % 32 == 0:
            packed, scales, biases = mx.quantize(weight, 32, 8)
            stem = name.removesuffix(".weight")
            weights |= {name: packed, f"{stem}.scales": scales, f"{stem}.biases": biases}
        else:
            weights[name] = weight
    main = load_model(tiny.save_main("gemma4", tmp_path / "main"))
    packed_drafter = at_once(loading_any_draft(save_drafter(tmp_path / "packed", config, weights), main)).network
    whole = assistant("gemma4", main.network)
    mx.random.seed(1)
    states = mx.random.normal((3, tiny.WIDTH))
    near, exact = packed_drafter.logits(states), whole.logits(states)
    both = (near > -mx.inf) & (exact > -mx.inf)
    assert both.sum().item() > 200
    assert mx.all(mx.where(both, mx.abs(near - exact), 0) < 0.3)


def test_logits_are_capped_once() -> None:
    """As the drafter's config says, whether or not the main model caps its own."""
    states = 50 * mx.random.normal((2, 48), key=mx.random.key(1))
    for cap in (30.0, None):
        parsed = drafter_config(gemma_block_config(hidden_size=48, final_logit_softcapping=cap))
        for main in (tiny.build_main("gemma4-large"), tiny.build_main("gemma4-large", final_logit_softcapping=None)):
            assert parsed is not None
            drafter = network_class(parsed)(parsed, ModelAccess(main))
            raw = main.language_model.model.embed_tokens.as_linear(states)
            expected = cap * mx.tanh(raw / cap) if cap else raw
            assert mx.abs(raw).max() > 40
            assert mx.allclose(drafter.base_logits(states), expected, atol=1e-3)
