"""DFly and DFlare beside the code of their authors, which no registry has: checkouts of AngelSpec and AngelSlim have to
be on PYTHONPATH (compared at commits d3412be and 67394ce), or there are no cases.

AngelSpec has no loop that drafts. In training a row's correction reads the true token before it; here it is given the
one that ours drafted.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import accumulate
from typing import Any

import mlx.core as mx
import torch
from transformers import DynamicCache, Qwen3Config

from engine.caches.making import CacheMaker
from engine.decoding.accept import integers
from engine.drafting.proposers.dflare import DFlareDrafter
from engine.drafting.proposers.dfly import DFlyDrafter
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafter_tensors import usual
from engine.models.drafters import SEEN_ROWS, BlockConfig
from tests.helpers import tiny_drafters as tiny
from tests.helpers.tiny_models import build, qwen3_config
from tests.parity.authors import bare, larger, to_torch, with_biases

_ROUNDS = 40
_CASES: dict[str, dict[str, Any]] = {
    "DFly": tiny.dfly_config(),
    "DFly, a narrow correction": tiny.dfly_config(hidden_correction_intermediate_size=40),
    "DFly without corrections": tiny.dfly_config(enable_hidden_correction=False),
    "DFlare": tiny.dflare_config(),
}


# AngelSlim's sees the whole context; a mask of ours stands for the rows that our drafters no longer see.
_SLIM = tiny.dflash_config(architectures=["QwenDFlareDraftModel"])
_SLIM_CASES: dict[str, tuple[dict[str, Any], int]] = {
    "DFlare": (_SLIM, 0),
    "DFlare, its layers by default": (_SLIM | {"dflash_config": {"mask_token_id": 260}, "num_target_layers": 8}, 0),
    "DFlare, three layers, other sizes": (_SLIM | {"num_hidden_layers": 3, "block_size": 9, "rope_theta": 1e6}, 0),
    "DFlare, biases": (_SLIM | {"attention_bias": True}, 0),
    f"DFlare, after {SEEN_ROWS} rows": (_SLIM, SEEN_ROWS - 20),
}
_SLIM_FOLDERS = ("compressor", "speculative", "train", "models", "draft")


def angelspec_cases() -> Iterator[tuple[str, int, int, float]]:
    torch.set_grad_enabled(False)
    main = build(qwen3_config())
    if bare("angelspec", "", "models", "models.draft"):
        for name, config in _CASES.items():
            yield f"AngelSpec {name}", *_block(main, config)
    if bare("angelslim", "", *accumulate(_SLIM_FOLDERS, "{}.{}".format)):
        for name, (config, read) in _SLIM_CASES.items():
            yield f"AngelSlim {name}", *_slim(main, config, read)


def _block(main: Any, config: dict[str, Any]) -> tuple[int, int, float]:
    dflare = config.get("model_arch") == "dflare"
    weights = tiny.dflare_weights(config) if dflare else tiny.dfly_weights(config)
    if not config.get("enable_hidden_correction"):
        weights = {name: weight for name, weight in weights.items() if "correction" not in name}
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, BlockConfig)
    ours = (DFlareDrafter if dflare else DFlyDrafter)(parsed, ModelAccess(main))
    ours.load_weights([(usual(name), weight) for name, weight in weights.items()], strict=True)
    theirs, head = _theirs(config, weights, main), to_torch(main.lm_head.weight)
    caches, read = CacheMaker(ours)(), list[mx.array]()
    mx.random.seed(1)
    differing, error = 0, 0.0
    for turn in range(_ROUNDS):
        read.append(mx.random.normal((1 + 5 * turn % 7, 2 * tiny.WIDTH)))
        newest = mx.array([7 * turn % 250], dtype=mx.uint32)
        ours.read(mx.zeros((read[-1].shape[0],), mx.uint32), read[-1], caches)
        drafted = ours.block(newest, caches)
        known = torch.cat([to_torch(part) for part in read])[None]
        rows = torch.tensor([integers(newest) + [parsed.mask_token] * ours.tokens])
        hidden = theirs(
            draft_input_ids=rows,
            context_feature=theirs.extract_context_feature(list(known.chunk(2, dim=-1))),
            draft_position_ids=torch.arange(rows.shape[1])[None] + known.shape[1],
            context_position_ids=torch.arange(known.shape[1])[None],
        )[0, 1:]
        error = larger(error, to_torch(drafted) - hidden)
        base, before, mine, wanted = ours.base_logits(drafted), newest, list[int](), list[int]()
        for row in range(ours.tokens):
            own = ours.step_logits(base[row : row + 1], before, drafted[row : row + 1])
            state = hidden[row : row + 1]
            if getattr(theirs, "hidden_correction", None) is not None:
                state = theirs.hidden_correction(state, theirs.embed_tokens(torch.tensor(integers(before))))
            logits = state @ head.T
            error = larger(error, (to_torch(own) - logits) / logits.abs().max())
            before = mx.argmax(own, axis=-1)
            mine, wanted = mine + integers(before), wanted + logits.argmax(-1).tolist()
        differing += mine != wanted
    return _ROUNDS, differing, error


def _theirs(config: dict[str, Any], weights: dict[str, mx.array], main: Any) -> Any:
    from angelspec.models.draft.dflare import DFlareDraftModel
    from angelspec.models.draft.dflash import DFlashConfig
    from angelspec.models.draft.dfly import DFlyConfig, DFlyDraftModel

    said = {key: value for key, value in config.items() if key != "model_type"}
    dflare = config.get("model_arch") == "dflare"
    theirs = (DFlareDraftModel(DFlashConfig(**said)) if dflare else DFlyDraftModel(DFlyConfig(**said))).eval()
    given = {"embed_tokens.weight": main.model.embed_tokens.weight} | weights
    theirs.load_state_dict({name: to_torch(weight) for name, weight in given.items()}, strict=True)
    return theirs


def _slim(main: Any, config: dict[str, Any], already_read: int) -> tuple[int, int, float]:
    """As in its own loop: each block after the rows that were read since the one before, which a cache keeps."""
    weights = _slim_weights(config)
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, BlockConfig)
    ours = DFlareDrafter(parsed, ModelAccess(main))
    ours.load_weights(list(weights.items()), strict=True)
    theirs, head, table = _slim_theirs(config, weights), *(to_torch(w) for w in _ends(main))
    caches, kept, rows = CacheMaker(ours)(), DynamicCache(), parsed.block_rows
    mx.random.seed(1)
    differing, error = 0, 0.0
    for turn in range(_ROUNDS):
        states = mx.random.normal((1 + 5 * turn % 7 + (0 if turn else already_read), ours.reads_width))
        newest = mx.array([7 * turn % 250], dtype=mx.uint32)
        ours.read(mx.zeros((states.shape[0],), mx.uint32), states, caches)
        drafted = ours.block(newest, caches)
        before, known = kept.get_seq_length(), caches.position
        at = torch.arange(known + rows)
        hidden = theirs(
            target_hidden=to_torch(states)[None],
            noise_embedding=table[torch.tensor([integers(newest) + [parsed.mask_token] * (rows - 1)])],
            position_ids=at[None, before:],
            past_key_values=kept,
            attention_mask=torch.where(at[known:, None] - at < SEEN_ROWS, 0.0, -torch.inf)[None, None],
            use_cache=True,
            is_causal=False,
        )[0, 1:]
        kept.crop(known - kept.get_seq_length())  # theirs says to which length, which transformers no longer takes
        error = larger(error, to_torch(drafted) - hidden)
        differing += integers(mx.argmax(ours.base_logits(drafted), axis=-1)) != (hidden @ head.T).argmax(-1).tolist()
    return _ROUNDS, differing, error


def _slim_weights(config: dict[str, Any]) -> dict[str, mx.array]:
    layers = config["dflash_config"].get("target_layer_ids") or [0] * config["num_hidden_layers"]
    sizes = config | {"target_layer_ids": layers, "hidden_correction_intermediate_size": None}
    weights = {usual(name): weight for name, weight in tiny.dflare_weights(sizes).items()}
    return with_biases(weights) if config.get("attention_bias") else weights


def _slim_theirs(config: dict[str, Any], weights: dict[str, mx.array]) -> Any:
    module = import_module(".".join(("angelslim", *_SLIM_FOLDERS, "qwen_dflare")))
    said = {key: value for key, value in config.items() if key not in ("architectures", "model_type")}
    theirs = module.QwenDFlareDraftModel(Qwen3Config(**said | {"attn_implementation": "eager"}))
    theirs.load_state_dict({name: to_torch(weight) for name, weight in weights.items()}, strict=True)
    return theirs.eval()


def _ends(main: Any) -> tuple[mx.array, mx.array]:
    """The main model's head and embedding."""
    return main.lm_head.weight, main.model.embed_tokens.weight
