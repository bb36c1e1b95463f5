"""MTP: the multi-token prediction head that a main model was trained with. It predicts one token further, and more
tokens from its own states.

Its layer is of the main model's family, built by mlx-lm as a model of one layer. The family's own loader renames its
tensors, and converts experts and projections. The families are in `models/mtp_families.py`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.base import create_attention_mask
from mlx_lm.models.cache import KVCache, make_prompt_cache

from engine.caches.checkpoints import arrays_in
from engine.caches.kinds import leaves
from engine.drafting.proposers.assistant import AssistantDrafter
from engine.drafting.proposers.chain import Head, RowChainProposer
from engine.drafting.proposers.layers import Readings, rotated_otherwise
from engine.drafting.proposers.rows import RowHead
from engine.models.access import ModelAccess, body_of
from engine.models.drafters import BODY, AssistantConfig, MtpConfig
from engine.models.mtp_families import FAMILIES, own_name
from engine.models.networks import checked_classes

_EXPERT = re.compile(r"(.*)\.experts\.(\d+)\.(\w+)\.(\w+)")
_EPS_NAMES = ("rms_norm_eps", "layer_norm_epsilon", "layernorm_epsilon")


def mtp_network(config: MtpConfig | AssistantConfig, main: ModelAccess) -> MtpDrafter | AssistantDrafter:
    return AssistantDrafter(config, main) if isinstance(config, AssistantConfig) else MtpDrafter(config, main)


class MtpDrafter(nn.Module, RowHead, Head):
    """The head of a main model; it uses the main model's embedding and head."""

    proposer = RowChainProposer

    def __init__(self, config: MtpConfig, main: ModelAccess) -> None:
        super().__init__()
        self._config = config
        self._main = main
        self._family = FAMILIES[config.family]
        self._one = _OneLayer(config)
        self._window = self._family.window(config.text_config)
        width = config.info.main_width
        rows = config.info.vocabulary_rows
        eps = _norm_eps(config)
        self.join = nn.Linear(2 * width, width, bias=False)
        self.token_norm = nn.RMSNorm(width, eps=eps)
        self.state_norm = nn.RMSNorm(width, eps=eps)
        if not self._family.main_norm:
            self.norm = nn.RMSNorm(width, eps=eps)
        self.layers = self._one.layers
        if config.own_embedding:
            self.embed_tokens = nn.Embedding(rows, width)
        if config.own_head:
            self.lm_head = nn.Linear(width, rows, bias=False)

    @property
    def reads(self) -> tuple[int, ...]:
        return self._config.info.layers

    @property
    def row_bytes(self) -> int:
        """Bytes of one token's rows; from shapes, nothing is computed."""
        caches = self.make_cache()
        self.rows(mx.zeros((1, 1), mx.uint32), mx.zeros((1, 1, self.reads_width), self._main.precision), caches)
        kept = (array for leaf in leaves(caches) for array in arrays_in(leaf.state))
        return sum(array.nbytes // array.shape[-2] for array in kept)

    def make_cache(self) -> list[Any]:
        """A sliding layer keeps all its rows: a draft is rolled back further than a window's rows reach."""
        return [KVCache()] if self._window else self._one.make_cache()[: len(self.layers)]

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        named = self._named(weights)
        layer = {name: weight for name, weight in named.items() if name.startswith("layers.")}
        rest = {name: weight for name, weight in named.items() if name not in layer}
        rest |= self._one.translated(_with_experts_together(layer) if self._family.zero_centred else layer)
        for end, factor in self._family.factors(self._config.text_config).items():
            rest |= {name: weight * factor for name, weight in rest.items() if name.endswith(end)}
        if self._family.zero_centred and self._config.raw_norms:
            return {name: weight + 1 if name.endswith("norm.weight") else weight for name, weight in rest.items()}
        return rest

    def _named(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        config = self._config
        named: dict[str, mx.array] = {}
        for name, weight in weights.items():
            own = own_name(self._family, name, config.info.main_layers, in_main=config.in_main)
            if own is not None:
                named[own] = weight
        return named

    def logits(self, state: mx.array) -> mx.array:
        if self._family.before_norm:
            state = self._main.norm(state) if self._family.main_norm else self.norm(state)
        return self.lm_head(state) if self._config.own_head else self._main.logits(state)

    def other_readings(self) -> Readings:
        modules = [module for _, module in self.named_modules()]
        norms = [module for name, module in self.named_modules() if name.endswith("norm") and "weight" in module]
        family = self._family
        readings: Readings = {
            "rotation": rotated_otherwise(*modules),
            "order of the join": ((self, "_family", replace(family, state_first=not family.state_first)),),
            "norms lack 1": tuple((norm, "weight", norm.weight + 1) for norm in norms),
            "norms have 1 too much": tuple((norm, "weight", norm.weight - 1) for norm in norms),
        }
        last = self._config.info.main_layers - 1
        if last >= 0 and not family.main_norm:
            info = replace(self._config.info, layers=(BODY if family.before_norm else last,))
            readings["norm of the states"] = (
                (self, "_family", replace(family, before_norm=not family.before_norm)),
                (self, "_config", replace(self._config, info=info)),
            )
        return readings

    def rows(self, tokens: mx.array, states: mx.array, layers: Sequence[Any]) -> mx.array:
        embedded = self.embed_tokens(tokens) if self._config.own_embedding else self._main.embed(tokens)
        parts = [self.token_norm(embedded), self.state_norm(states)]
        rows = self.join(mx.concatenate(parts[::-1] if self._family.state_first else parts, axis=-1))
        cache = next(leaves(layers))
        window = self._window or None
        mask = create_attention_mask(rows, cache, window_size=window, return_array=self._family.mask_array)
        kept = iter(layers)
        for layer in self.layers:  # where attention and experts are separate layers, only attention has a cache
            rows = layer(rows, mask, next(kept) if getattr(layer, "block_type", "*") == "*" else None)
        made: mx.array = rows if self._family.before_norm else self.norm(rows)
        return made


class _OneLayer:
    """A main model with the head's one layer (in a few families two), the only part that is used."""

    def __init__(self, config: MtpConfig) -> None:
        text = copy.deepcopy(dict(config.text_config)) | {"model_type": config.family}
        text |= FAMILIES[config.family].changes(text)
        said = {**text, "text_config": text}  # some families look for it there
        classes: tuple[Any, Any] = checked_classes(said)
        self._network = classes[0](classes[1].from_dict(said))
        self.layers = list(self._network.layers)
        body = body_of(self._network)
        self._path = next(path for path, module in self._network.named_modules() if module is body)

    def make_cache(self) -> list[Any]:
        return make_prompt_cache(self._network)

    def translated(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Tensors of the layer, renamed from the published names to the layer's."""
        before = f"{self._path}."
        found = self._network.sanitize({before + name: weight for name, weight in weights.items()})
        return {name.removeprefix(before): weight for name, weight in found.items()}


def _with_experts_together(weights: dict[str, mx.array]) -> dict[str, mx.array]:
    """Stack `experts.<n>.gate_proj.weight` of all experts in one array; split arrays that join two projections."""
    together: dict[str, dict[int, mx.array]] = {}
    for name, weight in weights.items():
        if match := _EXPERT.fullmatch(name):
            together.setdefault(f"{match[1]}.switch_mlp.{match[3]}.{match[4]}", {})[int(match[2])] = weight
    rest = {name: weight for name, weight in weights.items() if not _EXPERT.fullmatch(name)}
    for name in [name for name in rest if name.endswith(".experts.gate_up_proj")]:
        at = name.removesuffix(".experts.gate_up_proj")
        gate, up = mx.split(rest.pop(name), 2, axis=1)
        down = rest.pop(f"{at}.experts.down_proj")
        rest |= {f"{at}.switch_mlp.{part}_proj.weight": w for part, w in (("gate", gate), ("up", up), ("down", down))}
    return rest | {name: mx.stack([parts[n] for n in sorted(parts)]) for name, parts in together.items()}


def _norm_eps(config: MtpConfig) -> float:
    said = next((config.text_config[name] for name in _EPS_NAMES if name in config.text_config), 1e-6)
    if not isinstance(said, float) or not 0 <= said < 1:
        raise ValueError(f"config.json: rms_norm_eps {str(said)[:40]}")
    return said
