"""DFly and DFlare beside AngelSpec's own code, which no registry has: a checkout of it has to be on PYTHONPATH
(compared at commit d3412be), or there are no cases.

Theirs has no loop that drafts. In training a row's correction reads the true token before it; here it is given the one
that ours drafted.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import mlx.core as mx
import torch

from engine.caches.making import CacheMaker
from engine.decoding.accept import integers
from engine.drafting.proposers.dflare import DFlareDrafter
from engine.drafting.proposers.dfly import DFlyDrafter
from engine.models.access import ModelAccess
from engine.models.drafter_tensors import usual
from engine.models.drafters import BlockConfig, drafter_config
from tests.helpers import tiny_drafters as tiny
from tests.helpers.tiny_models import build, qwen3_config
from tests.parity.authors import larger, to_torch

_ROUNDS = 40
_CASES: dict[str, dict[str, Any]] = {
    "DFly": tiny.dfly_config(),
    "DFly, a narrow correction": tiny.dfly_config(hidden_correction_intermediate_size=40),
    "DFly without corrections": tiny.dfly_config(enable_hidden_correction=False),
    "DFlare": tiny.dflare_config(),
}


def angelspec_cases() -> Iterator[tuple[str, int, int, float]]:
    if find_spec("angelspec") is None:
        return
    torch.set_grad_enabled(False)
    main = build(qwen3_config())
    for name, config in _CASES.items():
        yield f"AngelSpec {name}", *_block(main, config)


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
