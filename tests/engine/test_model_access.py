"""What drafters borrow of a main model, in every family: its embedding and its head."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import pytest

from engine.models.access import ModelAccess, NoAccess, body_of
from tests.families.configs import FAMILIES
from tests.families.harness import build
from tests.helpers.tiny_models import build as build_qwen3
from tests.helpers.tiny_models import qwen3_config

NO_ROW_A_TOKEN = {"deepseek_v41", "gemma3n", "iquestloopcoder"}  # goes into the first layer, or it is not called at all
OF_MORE_THAN_THE_TOKEN = {"gpt2", "gpt_bigcode", "longcat_flash_ngram"}  # its position, the tokens before it
NORMED = {"muse_glimmer", "nanochat", "talkie"}
FACTORS = {"granite": "embedding_multiplier", "granitemoe": "embedding_multiplier", "minicpm": "scale_emb"}
SCALED = {"afmoe", "gear", "gemma", "gemma2", "gemma3", "gemma3_text", "gemma4", "gemma4_text", "recurrent_gemma"}
TOKENS = [7, 3, 90, 3, 12]


def given(network: Any, tokens: list[int]) -> mx.array:
    """What the first layer is called with in a forward, noted by a layer of a class of our own before it runs."""
    noted: list[mx.array] = []
    layer = network.layers[0]
    base = type(layer)

    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        rows = (
            arguments[0]
            if arguments
            else next(keywords[name] for name in ("x", "inputs", "hidden_states") if name in keywords)
        )
        noted.append(mx.array(rows[0]))
        return base.__call__(self, *arguments, **keywords)

    layer.__class__ = type("Noting", (base,), {"__call__": call})
    network(mx.array([tokens]))
    layer.__class__ = base
    return noted[0]


def table_rows(network: Any, tokens: list[int]) -> mx.array:
    body = body_of(network)
    tables = (body[name].weight for name in ("embed_tokens", "embed", "wte") if name in body)
    rows: mx.array = next(tables)[mx.array(tokens)]
    return rows


@pytest.mark.costly
@pytest.mark.parametrize("family", sorted({*FAMILIES} - NO_ROW_A_TOKEN - OF_MORE_THAN_THE_TOKEN - NORMED))
def test_a_token_is_embedded_as_in_the_networks_own_forward(family: str) -> None:
    """Whatever factor stands between, also where the array is multiplied in place."""
    network = build(family, **({FACTORS[family]: 12.0} if family in FACTORS else {}))
    embedded = ModelAccess(network).embed(mx.array(TOKENS))
    assert mx.allclose(embedded, given(network, TOKENS), rtol=1e-4, atol=1e-6)
    factor = 12 if family in FACTORS else 32**0.5 if family in SCALED else None
    if factor is not None:
        assert mx.allclose(embedded, factor * table_rows(network, TOKENS), rtol=5e-3)


@pytest.mark.parametrize("family", sorted(NORMED))
def test_where_a_norm_follows_a_token_is_the_row_of_the_table(family: str) -> None:
    """As drafters of such models were trained."""
    network = build(family)
    embedded = ModelAccess(network).embed(mx.array(TOKENS))
    assert mx.array_equal(embedded, table_rows(network, TOKENS))
    assert not mx.allclose(embedded, given(network, TOKENS), rtol=0.1)


def test_rows_of_one_length_do_not_hide_a_norm() -> None:
    """Rows of wide tables are nearly of one length, so a norm is nearly a factor."""
    network = build("muse_glimmer")
    table = network.model.embed_tokens.weight
    network.model.embed_tokens.weight = 3 * table / mx.linalg.norm(table, axis=-1, keepdims=True)
    assert mx.array_equal(ModelAccess(network).embed(mx.array(TOKENS)), table_rows(network, TOKENS))


@pytest.mark.parametrize("family", sorted(NO_ROW_A_TOKEN | OF_MORE_THAN_THE_TOKEN))
def test_a_network_whose_first_layer_reads_more_than_the_token_gives_no_access(family: str) -> None:
    with pytest.raises(NoAccess):
        ModelAccess(build(family))


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("qwen3", {}),
        ("muse_glimmer", {"output_multiplier": 0.2, "final_logit_softcapping": 2.0}),
        ("muse_glimmer", {"output_multiplier": 0.2, "final_logit_softcapping": 2.0, "tie_word_embeddings": True}),
        ("gemma2", {}),
        ("cohere", {"logit_scale": 0.2}),
        ("plamo", {}),
    ],
)
def test_a_state_is_projected_as_it_is_before_the_network_scales_or_caps_it(
    family: str, changes: dict[str, Any]
) -> None:
    network = build(family, **changes)
    access = ModelAccess(network)
    states = 3 * mx.random.normal((2, 32), key=mx.random.key(2))
    weight = network.lm_head.weight if "lm_head" in network else table_rows(network, list(range(96)))
    assert mx.allclose(access.projected(states), states @ weight.T, atol=1e-3)
    plain = mx.allclose(access.logits(states), access.projected(states), atol=1e-3).item()
    assert plain is (family in {"qwen3", "plamo"})


def test_the_head_gets_what_the_body_returned() -> None:
    network = build_qwen3(qwen3_config())
    tokens = mx.array([TOKENS])
    assert mx.allclose(ModelAccess(network).logits(body_of(network)(tokens)[0]), network(tokens)[0], atol=1e-5)
