"""LiliCorr beside SGLang's head: the folder of an unpacked wheel of it has to be on PYTHONPATH (compared at 0.5.23), or
there are no cases.

Its module is loaded with PyTorch's own linears and norms in place of SGLang's, which want a GPU. What reads the main
model is DFlash's, which is compared in `authors.py`; theirs is given the states and the context that ours made.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import mlx.core as mx
import torch

from engine.caches.making import CacheMaker
from engine.decoding.accept import integers
from engine.drafting.proposers.lilicorr import LiliCorrDrafter
from engine.models.access import ModelAccess
from engine.models.drafters import BlockConfig, drafter_config
from tests.helpers import tiny_drafters as tiny
from tests.helpers.tiny_models import build, qwen3_config
from tests.parity.authors import larger, to_torch

_ROUNDS = 40
_CASES: dict[str, dict[str, Any]] = {
    "LiliCorr": tiny.lilicorr_config(),
    "LiliCorr, as wide as the block": tiny.lilicorr_config(lilicorr_hidden_size=0),
    "LiliCorr, other sizes": tiny.lilicorr_config(lilicorr_num_layers=3, lilicorr_candidate_topk=4, block_size=9),
}


def sglang_cases() -> Iterator[tuple[str, int, int, float]]:
    if find_spec("sglang") is None:
        return
    torch.set_grad_enabled(False)
    main, theirs = build(qwen3_config()), _their_module()
    for name, config in _CASES.items():
        yield f"SGLang {name}", *_block(main, theirs.LiLiCorrHead, config)


class _Linear(torch.nn.Linear):  # type: ignore[misc]
    def __init__(self, read: int, made: int, **_: Any) -> None:
        super().__init__(read, made)

    def forward(self, rows: torch.Tensor) -> tuple[torch.Tensor, None]:
        return super().forward(rows), None


def _their_module() -> Any:
    stands_in: dict[str, dict[str, Any]] = {
        "kernels.ops.speculative.lilicorr": {"lilicorr_sample_path": None},
        "srt.layers.layernorm": {"RMSNorm": torch.nn.RMSNorm},
        "srt.layers.linear": {"LinearBase": _Linear, "ReplicatedLinear": _Linear},
        "srt.layers.quantization.fp4_utils": {"get_fp4_gemm_runner_backend": None},
        "srt.layers.quantization.modelopt_quant": {
            "ModelOptFp4LinearMethod": None,
            "ModelOptNvFp4A16LinearMethod": None,
        },
        "srt.models.dflash": {"DFlashDraftModel": torch.nn.Module},
        "srt.runtime_context": {"get_parallel": None},
        "srt.speculative.lilicorr_utils": {"LiLiCorrConfig": None, "parse_lilicorr_draft_config": None},
        "srt.utils": {"add_prefix": lambda name, prefix: f"{prefix}.{name}"},
    }
    for name, values in stands_in.items():
        module = ModuleType(f"sglang.{name}")
        vars(module).update(values)
        sys.modules[module.__name__] = module
    found = find_spec("sglang")
    assert found is not None
    root = next(iter(found.submodule_search_locations or ()))
    spec = spec_from_file_location("sglang.srt.models.lilicorr", Path(root, "srt", "models", "lilicorr.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _block(main: Any, their_head: Any, config: dict[str, Any]) -> tuple[int, int, float]:
    weights = tiny.lilicorr_weights(config)
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, BlockConfig)
    ours = LiliCorrDrafter(parsed, ModelAccess(main))
    ours.load_weights(list(weights.items()), strict=True)
    theirs, head = _theirs(their_head, config, weights), to_torch(main.lm_head.weight)
    table, caches = to_torch(main.model.embed_tokens.weight), CacheMaker(ours)()
    mx.random.seed(1)
    differing, error, valid = 0, 0.0, torch.ones((1, 1))
    for turn in range(_ROUNDS):
        states = mx.random.normal((1 + 5 * turn % 7, 2 * tiny.WIDTH))
        newest = mx.array([7 * turn % 250], dtype=mx.uint32)
        last = ours.read(mx.zeros((states.shape[0],), mx.uint32), states, caches)[-1:]
        drafted = ours.block(newest, caches)
        given = None if turn == 7 else last  # as where it is not known
        walk, before, tokens, seen = ours.walk(drafted, ours.tokens, given), newest, list[int](), list[mx.array]()
        for row in range(ours.tokens):
            seen.append(walk(row, before))
            before = mx.argmax(seen[-1], axis=-1)
            tokens += integers(before)
        hidden = to_torch(drafted)
        likely, candidates = (hidden @ head.T).log_softmax(-1).topk(theirs.candidate_topk)
        first, pairs = theirs.log_factors(
            *theirs.score(
                token_embeddings=table[candidates][None, None],
                candidate_log_probs=likely[None, None],
                pass_hidden=hidden[None, None],
                anchor_hidden=to_torch(last)[None],
                anchor_valid=valid * (given is not None),
            )
        )
        scores, wanted = first[0, 0], list[int]()
        for row in range(ours.tokens):
            error = larger(error, to_torch(seen[row])[0, candidates[row]] - scores)
            best = int(scores.argmax())
            wanted.append(int(candidates[row, best]))
            scores = pairs[0, 0, row, best] if row < ours.tokens - 1 else scores
        differing += tokens != wanted
    return _ROUNDS, differing, error


def _theirs(their_head: Any, config: dict[str, Any], weights: dict[str, mx.array]) -> Any:
    block, names = config["dflash_config"], ("candidate_topk", "num_layers", "num_heads", "mlp_ratio")
    said = {name: block[f"lilicorr_{name}"] for name in (*names, "factor_dim", "vector_eps", "logit_scale")}
    width = block["lilicorr_hidden_size"]
    sizes = SimpleNamespace(**said, resolve_hidden_size=lambda model_hidden_size: width or model_hidden_size)
    theirs = their_head(
        model_hidden_size=config["hidden_size"],
        block_size=config["block_size"],
        rms_norm_eps=config["rms_norm_eps"],
        config=sizes,
    )
    own = {name.removeprefix("lilicorr."): to_torch(w) for name, w in weights.items() if name.startswith("lilicorr.")}
    theirs.load_state_dict(own, strict=True)
    theirs.materialize_inference_buffers(torch.device("cpu"), torch.float32)
    return theirs.eval()
