"""Domino beside SpecForge's own code, which no registry has: a checkout of it has to be on PYTHONPATH (compared at
commit a6b6b02), or there are no cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import torch
from transformers import Qwen3Config

from engine.caches.making import CacheMaker
from engine.decoding.accept import integers
from engine.drafting.proposers.domino import DominoDrafter
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafters import BlockConfig
from tests.helpers import tiny_drafters as tiny
from tests.helpers.tiny_models import build, qwen3_config
from tests.parity.authors import bare, larger, to_torch

_ROUNDS = 40
_CASES: dict[str, dict[str, Any]] = {
    "Domino": tiny.domino_config(),
    "Domino, row 0 drafts nothing": tiny.domino_config(shift_label=False),
    "Domino, all rows corrected": tiny.domino_config(pure_draft_prefix_len=0),
    "Domino, the first rows are not corrected": tiny.domino_config(pure_draft_prefix_len=3, shift_label=False),
}


def specforge_cases() -> Iterator[tuple[str, int, int, float]]:
    if not bare("specforge", "modeling", "modeling.draft"):
        return
    torch.set_grad_enabled(False)
    main, theirs = build(qwen3_config()), import_module("specforge.modeling.draft.domino").DominoDraftModel
    for name, config in _CASES.items():
        yield f"SpecForge {name}", *_block(main, theirs, config)


def _block(main: Any, their_class: Any, config: dict[str, Any]) -> tuple[int, int, float]:
    weights = tiny.domino_weights(config)
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, BlockConfig)
    ours = DominoDrafter(parsed, ModelAccess(main))
    ours.load_weights(list(weights.items()), strict=True)
    theirs = _theirs(their_class, config, weights)
    target = SimpleNamespace(lm_head=_linear(main.lm_head.weight), model=SimpleNamespace(embed_tokens=_table(main)))
    caches, read = CacheMaker(ours)(), list[mx.array]()
    mx.random.seed(1)
    differing, error, rows = 0, 0.0, parsed.block_rows
    first = 0 if parsed.anchor_first else 1
    for turn in range(_ROUNDS):
        read.append(mx.random.normal((1 + 5 * turn % 7, 2 * tiny.WIDTH)))
        newest = mx.array([7 * turn % 250], dtype=mx.uint32)
        ours.read(mx.zeros((read[-1].shape[0],), mx.uint32), read[-1], caches)
        drafted = ours.block(newest, caches)
        known = torch.cat([to_torch(part) for part in read])[None]
        block = torch.tensor([integers(newest) + [parsed.mask_token] * (rows - 1)])
        hidden = theirs(
            position_ids=torch.arange(known.shape[1] + rows)[None],
            noise_embedding=target.model.embed_tokens(block),
            target_hidden=known,
            is_causal=False,
        )
        error = larger(error, to_torch(drafted) - hidden[0, first:])
        walk, before, tokens, seen = ours.walk(drafted, rows - 1), newest, list[int](), list[mx.array]()
        for row in range(rows - 1):
            seen.append(walk(row, before))
            before = mx.argmax(seen[-1], axis=-1)
            tokens += integers(before)
        wanted = theirs._sample_draft_tokens(target, hidden, block)[0].tolist()
        differing += tokens != wanted
        done = torch.tensor([integers(newest) + wanted])
        logits = theirs.apply_logits_head(
            target.lm_head(hidden)[:, None],
            prev_token_embeddings=target.model.embed_tokens(done)[:, None],
            hidden_states=hidden[:, None],
        )[0, 0, first : first + rows - 1]
        error = larger(error, (to_torch(mx.concatenate(seen)) - logits) / logits.abs().max())
    return _ROUNDS, differing, error


def _theirs(their_class: Any, config: dict[str, Any], weights: dict[str, mx.array]) -> Any:
    said = {key: value for key, value in config.items() if key not in ("architectures", "model_type")}
    theirs = their_class(Qwen3Config(**said | {"attn_implementation": "eager"}))
    theirs.load_state_dict({name: to_torch(weight) for name, weight in weights.items()}, strict=True)
    return theirs.eval()


def _linear(weight: mx.array) -> Any:
    made = torch.nn.Linear(*reversed(weight.shape), bias=False)
    made.weight.copy_(to_torch(weight))
    return made


def _table(main: Any) -> Any:
    return torch.nn.Embedding.from_pretrained(to_torch(main.model.embed_tokens.weight))
