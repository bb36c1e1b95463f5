"""Heads that draft token by token, in chats longer than those that they were trained on."""

from __future__ import annotations

import mlx.core as mx
import pytest

from engine.caches.making import CacheMaker
from tests.engine.test_drafters_chain import DIALECTS, chain, eagle
from tests.helpers.tiny_models import build, qwen3_config


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
