"""Gemma 4 assistants beside mlx-vlm's and beside transformers', which their publisher wrote.

Both are given the keys and values of a main model's own caches, where ours makes them once more of hidden states. The
two disagree about one thing: a draft stands where the newest hidden state does for mlx-vlm (and vLLM), one further for
transformers. Ours takes the former, and has the latter for its other reading: each is compared with its own.

mlx-vlm leaves out the oldest row of a full window, which the main model attends over: it is told of one more.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import mlx.core as mx
import numpy as np
import torch
from mlx.utils import tree_unflatten
from mlx_lm.models.cache import make_prompt_cache

from engine.caches.making import CacheMaker
from engine.decoding.accept import integers
from engine.decoding.hidden_states import HiddenStates
from engine.drafting.proposers.assistant import AssistantDrafter
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafters import AssistantConfig
from tests.helpers import tiny_assistants as tiny
from tests.parity.chains import larger

_LENGTHS = (1, 3, 1, 1, 9, 2, 6, 1, 30, 4, 1, 1, 1, 17, 5)  # read one after another, past the window
_PROMPTS = 8
_DEPTH = 5

Kept = dict[str, tuple[mx.array, mx.array]]  # keys and values by type of layer
# (keys and values, the newest state, the newest token, its position) -> drafted tokens, logits of each
Theirs = Callable[[Kept, mx.array, int, int], tuple[list[int], list[mx.array]]]


def assistant_cases() -> Iterator[tuple[str, int, int, float]]:
    for family in tiny.MAINS:
        main = tiny.build_main(family)
        config = tiny.assistant_config(family)
        weights = tiny.assistant_weights(config)
        ours = _ours(config, weights, main)
        yield f"{family} assistant, mlx-vlm", *_compare(ours, main, _mlx_vlm(config, weights, main))
        ours._ahead = 1
        yield f"{family} assistant, transformers", *_compare(ours, main, _transformers(config, weights, main))


def _compare(ours: AssistantDrafter, main: Any, theirs: Theirs) -> tuple[int, int, float]:
    """Chats that are read in parts, and a draft behind each part."""
    prefixes = differing = 0
    error = 0.0
    for prompt in range(_PROMPTS):
        mx.random.seed(prompt)
        tokens = integers(mx.random.randint(0, 250, (sum(_LENGTHS) + 1,)))
        heard, caches, plain, end = HiddenStates(main, ours.reads), CacheMaker(ours)(), make_prompt_cache(main), 0
        for length in _LENGTHS:
            start, end = end, end + length
            with heard.step():
                main(mx.array([tokens[start:end]]), cache=plain)
            heard.keep(start, length)
            _, states = heard.take()
            assert states is not None
            state = ours.read(mx.array(tokens[start + 1 : end + 1], dtype=mx.uint32), states, caches)
            newest = states[-1:, -main.args.text_config["hidden_size"] :]
            drafted, wanted = theirs(_kept(main, plain), newest, tokens[end], end)
            token, prefixes = mx.array([0]), prefixes + 1
            mine = list[int]()
            for step, row in enumerate(wanted):
                state = ours.step(token, state, caches) if step else state
                logits = ours.logits(state)
                token = mx.argmax(logits, axis=-1)
                mine.append(integers(token)[0])
                if mine == drafted[: len(mine)]:  # behind another token, all is another
                    error = larger(error, mx.where(mx.isinf(logits), 0, mx.abs(logits - row)).max())
            differing += mine != drafted
    return prefixes, differing, error


def _kept(main: Any, caches: list[Any]) -> Kept:
    """Of the last layer of each type, in order of time."""
    found: Kept = {}
    for layer, cache in zip(main.layers, caches, strict=False):
        keys, values = cache.keys, cache.values
        if layer.layer_type == "sliding_attention":
            keys, values = cache._temporal_order(keys), cache._temporal_order(values)
        rows = min(cache.offset, keys.shape[2])
        first = max(0, rows - tiny.WINDOW) if layer.layer_type == "sliding_attention" else 0
        found[layer.layer_type] = keys[..., first:rows, :], values[..., first:rows, :]
    return found


def _ours(config: dict[str, Any], weights: tiny.Weights, main: Any) -> AssistantDrafter:
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, AssistantConfig)
    ours = AssistantDrafter(parsed, ModelAccess(main))
    named = ours.sanitize({name.removeprefix("model."): weight for name, weight in weights.items()})
    ours.load_weights(list(named.items()), strict=True)
    return ours


def _mlx_vlm(config: dict[str, Any], weights: tiny.Weights, main: Any) -> Theirs:
    package = importlib.import_module("mlx_vlm.speculative.drafters.gemma4_assistant")
    said = copy.deepcopy(config)
    said["text_config"]["sliding_window"] += 1
    model = package.Model(package.ModelConfig.from_dict(said))
    model.update(tree_unflatten(list(model.sanitize(weights).items())))
    model.bind(main)

    def draft(kept: Kept, state: mx.array, newest: int, position: int) -> tuple[list[int], list[mx.array]]:
        rows: list[mx.array] = []

        def sampler(logits: mx.array) -> mx.array:
            rows.append(logits[0])
            return mx.argmax(logits, axis=-1)

        model.set_shared_kv(kept, position, position=position - 1, kv_valid_len=position)
        block = model.draft_block(newest, state[None], None, _DEPTH + 1, sampler)
        return integers(block[0]), rows

    return draft


def _transformers(config: dict[str, Any], weights: tiny.Weights, main: Any) -> Theirs:
    from transformers.models.gemma4 import Gemma4TextConfig
    from transformers.models.gemma4_assistant import Gemma4AssistantConfig, Gemma4AssistantForCausalLM

    # 5.23.0 refuses any model none of whose layers has keys of its own.
    with patch.object(Gemma4TextConfig, "kv_sharing_modes", ["reuse"] * config["text_config"]["num_hidden_layers"]):
        model = Gemma4AssistantForCausalLM(Gemma4AssistantConfig(**copy.deepcopy(config)))
    given = {name: torch.tensor(np.array(weight)) for name, weight in weights.items()}
    missing, unexpected = model.load_state_dict(given, strict=False)
    assert not unexpected, unexpected
    assert set(missing) <= {"lm_head.weight"}, missing
    model.tie_weights()
    model.eval()  # type: ignore[no-untyped-call]
    access = ModelAccess(main)

    def draft(kept: Kept, state: mx.array, newest: int, position: int) -> tuple[list[int], list[mx.array]]:
        shared = {name: tuple(torch.tensor(np.array(part)) for part in parts) for name, parts in kept.items()}
        drafted, rows, known = [newest], list[mx.array](), torch.tensor(np.array(state))[None]
        for _ in range(_DEPTH):
            embedded = torch.tensor(np.array(access.embed(mx.array(drafted[-1:]))))[None]
            with torch.no_grad():
                made = model(
                    inputs_embeds=torch.cat([embedded, known], dim=-1),
                    position_ids=torch.tensor([[position]]),
                    shared_kv_states=shared,
                )
            known = made.last_hidden_state
            rows.append(mx.array(made.logits[0].numpy()))
            drafted.append(int(made.logits[0, -1].argmax()))
        return drafted[1:], rows

    return draft
