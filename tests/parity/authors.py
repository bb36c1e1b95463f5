"""Heads beside speculators' code, in PyTorch.

Theirs reads all rows anew each time, so that nothing of a cache is shared: what ours keeps between rounds is compared
with what follows from the whole text. speculators has no loop that drafts; its training forward is asked instead, with
the tokens that ours drafted in the places of the true ones, of which a row sees only those before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mlx.core as mx
import numpy as np
import torch
from transformers import LlamaConfig, Qwen3Config
from transformers.models.qwen3_next import Qwen3NextConfig

from engine.caches.making import CacheMaker
from engine.decoding.accept import integers
from engine.drafting.proposers.eagle3 import EagleDrafter
from engine.drafting.proposers.layers import widened
from engine.drafting.proposers.mtp import MtpDrafter
from engine.models.access import ModelAccess
from engine.models.drafter_kinds import drafter_config
from engine.models.drafters import EagleConfig, MtpConfig
from tests.helpers import tiny_drafters as tiny
from tests.helpers import tiny_heads as heads
from tests.helpers.tiny_models import build, qwen3_config

_LAYERS: dict[str, Any] = {"llama": LlamaConfig, "qwen3": Qwen3Config, "qwen3_next": Qwen3NextConfig}
_EAGLE_ROUNDS = 20
_DEPTH = 5
_SLIDING = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 12}
# Llama's layers have no norms of heads, Qwen's have.
_EAGLES: dict[str, dict[str, Any]] = {
    "EAGLE-3": tiny.eagle_config(),
    "EAGLE-3, norm before residual": tiny.eagle_config(norm_before_residual=True),
    "EAGLE-3, norm before fc": tiny.eagle_config(norm_before_fc=True),
    "EAGLE-3, norms of layers": tiny.eagle_config(fc_norm=True),
    "EAGLE-3, feeds back normed": tiny.eagle_config(norm_output=True),
    "EAGLE-3, norms of heads": tiny.eagle_config(layer={"model_type": "qwen3"}),
    "EAGLE-3, three layers": tiny.eagle_config(layer={"num_hidden_layers": 3}),
}
_SLIDING_EAGLE = tiny.eagle_config(
    layer={"num_hidden_layers": 2, "model_type": "qwen3", "use_sliding_window": True} | _SLIDING
)


def author_cases() -> Iterator[tuple[str, int, int, float]]:
    network = build(qwen3_config())
    torch.set_grad_enabled(False)
    for name, config in _EAGLES.items():
        yield f"speculators {name}", *_eagle(network, config, _DEPTH)
    # In training the window stays where it was while the draft goes on, and moves along wherever it is run.
    yield "speculators EAGLE-3, sliding layers", *_eagle(network, _SLIDING_EAGLE, 1)
    for family in ("qwen3", "qwen3_next"):
        yield f"speculators MTP, {family}", *_mtp(family)


def speculators_model(model_class: Any, config_class: Any, config: dict[str, Any], weights: dict[str, mx.array]) -> Any:
    """Their model of a config as it is published, with exactly these weights."""
    from speculators import SpeculatorsConfig, VerifierConfig
    from speculators.proposals.greedy import GreedyTokenProposalConfig

    sizes = dict(config["transformer_layer_config"])
    layer = _LAYERS[sizes.pop("model_type")](**sizes)
    layer._attn_implementation = "eager"
    apart = ("architectures", "transformer_layer_config", "speculators_config")
    said = {key: value for key, value in config.items() if key not in apart}
    theirs = model_class(
        config_class(
            **said,
            transformer_layer_config=layer,
            speculators_config=SpeculatorsConfig(
                algorithm=config["speculators_model_type"],
                proposal_methods=[GreedyTokenProposalConfig(speculative_tokens=_DEPTH)],
                default_proposal_method="greedy",
                verifier=VerifierConfig(name_or_path=None, architectures=[]),
            ),
        )
    )
    given = {name: to_torch(weight) for name, weight in weights.items()}
    missing, unexpected = theirs.load_state_dict(given, strict=False)
    assert not unexpected, unexpected
    assert all(name.startswith("verifier_") or name in ("t2d", "d2t") for name in missing), missing
    return theirs.eval()


def _eagle(network: Any, config: dict[str, Any], depth: int) -> tuple[int, int, float]:
    qwen = config["transformer_layer_config"]["model_type"] == "qwen3"
    weights = tiny.eagle_weights(config, head_norms=qwen)
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, EagleConfig)
    ours = EagleDrafter(parsed, ModelAccess(network))
    own = ours.sanitize(weights)
    own.pop("t2d")
    ours.load_weights(list(own.items()), strict=True)
    theirs, d2t = _their_eagle(config, weights, network), weights["d2t"]

    def logits(tokens: list[int], states: mx.array, at: int, steps: int) -> list[mx.array]:
        seen: list[torch.Tensor] = []
        hook = theirs.lm_head.register_forward_hook(lambda _module, _given, made: seen.append(made[0, at]))
        theirs(
            hidden_states=to_torch(states)[None],
            input_ids=torch.tensor([tokens]),
            document_ids=torch.zeros((1, len(tokens)), dtype=torch.long),
            position_ids=torch.arange(len(tokens))[None],
            ttt_steps=steps,
        )
        hook.remove()
        return [widened(mx.array(row.numpy())[None], d2t, tiny.VOCABULARY) for row in seen]

    return chain(ours, logits, depth)


def _their_eagle(config: dict[str, Any], weights: dict[str, mx.array], network: Any) -> Any:
    from speculators.models.eagle3 import Eagle3DraftModel, Eagle3SpeculatorConfig

    given = weights | {"embed_tokens.weight": network.model.embed_tokens.weight}
    return speculators_model(Eagle3DraftModel, Eagle3SpeculatorConfig, config, given)


def _mtp(family: str) -> tuple[int, int, float]:
    from speculators.models.mtp import MTPDraftModel, MTPSpeculatorConfig

    main, config = heads.build_main(family), heads.speculators_config(family)
    weights = heads.speculators_weights(family, heads.head_weights(family))
    parsed = drafter_config(config, weights)
    assert isinstance(parsed, MtpConfig)
    ours = MtpDrafter(parsed, ModelAccess(main))
    ours.load_weights(list(ours.sanitize(weights).items()), strict=True)
    ends = {"embed_tokens.weight": main.model.embed_tokens.weight, "lm_head.weight": main.lm_head.weight}
    theirs = speculators_model(MTPDraftModel, MTPSpeculatorConfig, config, weights | ends)
    rope, run = theirs.rotary_emb, theirs.mtp_layers[0]

    def logits(tokens: list[int], states: mx.array, at: int, steps: int) -> list[mx.array]:
        """What it drafts for each of the tokens behind row `at`, each from the row before it: one row a forward."""
        known, drafted = to_torch(states)[None], []
        embedded = theirs.embed_tokens(torch.tensor([tokens]))
        for step in range(steps):
            rows = at + 1 + step
            positions = torch.arange(rows)[None]
            mask = torch.full((rows, rows), -torch.inf).triu(1)[None, None]
            made = run(
                hidden_states=known[:, :rows],
                token_embeddings=embedded[:, :rows],
                attention_mask=mask,
                position_ids=positions,
                position_embeddings=rope(known, positions),
            )
            drafted.append(mx.array(theirs.lm_head(made[0, -1:]).numpy()))
            known = torch.cat([known[:, :rows], made[:, -1:]], dim=1)
        return drafted

    return chain(ours, logits, _DEPTH)


def chain(ours: Any, logits: Any, depth: int) -> tuple[int, int, float]:
    """Rounds that read some rows and draft behind them. Theirs is given what ours drafted behind the true tokens.

    Differences are parts of the largest logit: a head that feeds on its own states doubles what rounding left of them
    (of rotations, mostly) in a few tokens.
    """
    mx.random.seed(3)
    caches = CacheMaker(ours)()
    tokens: list[int] = []
    states = mx.zeros((0, ours.reads_width))
    differing, error = 0, 0.0
    for turn in range(_EAGLE_ROUNDS):
        new = mx.random.normal((1 + 5 * turn % 7, ours.reads_width))
        read = mx.random.randint(0, 250, (new.shape[0],)).astype(mx.uint32)
        tokens, states = tokens + integers(read), mx.concatenate([states, new])
        state = ours.read(read, new, caches)[-1:]
        position, mine, drafted = caches.position, [], []
        for _ in range(depth):
            mine.append(ours.logits(state))
            drafted.append(mx.argmax(mine[-1], axis=-1))
            state = ours.step(drafted[-1], state, caches)
        caches.roll_back(position)
        behind = [token for part in drafted for token in integers(part)]
        padded = mx.concatenate([states, mx.zeros((depth, ours.reads_width))])
        wanted = logits(tokens + behind, padded, len(tokens) - 1, depth)
        differing += behind != [mx.argmax(row).item() for row in wanted]
        for row, other in zip(mine, wanted, strict=True):
            largest = mx.maximum(1.0, mx.where(mx.isinf(other), 0, mx.abs(other)).max())
            difference = mx.where(row == other, 0, mx.abs(row - other)) / largest  # both may be -inf
            error = larger(error, torch.tensor(np.array(difference)))
    return _EAGLE_ROUNDS, differing, error


def with_biases(weights: dict[str, mx.array]) -> dict[str, mx.array]:
    """And one for each projection of the attention."""
    projections = [name for name in weights if "self_attn" in name and "_proj" in name]
    return weights | {
        name.replace(".weight", ".bias"): mx.random.normal(weights[name].shape[:1]) for name in projections
    }


def to_torch(array: mx.array) -> torch.Tensor:
    return torch.from_numpy(np.array(array))


def larger(error: float, difference: torch.Tensor) -> float:
    found = difference.abs().max().item()
    return found if not found <= error else error  # NaN, too
