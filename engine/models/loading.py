"""From a folder to a model that can run: checks first, then mlx-lm's loader, every failure as a typed error.

Runs on the engine thread only. Never executes code from a model's folder.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx_lm import utils as mlx_utils

from engine.caches.base import CacheSet
from engine.caches.making import CacheMaker
from engine.errors import (
    DraftCannotRewind,
    EngineError,
    ModelDamaged,
    ModelTooLarge,
    ModelUnsupported,
    TokenizerBroken,
)
from engine.models.compatibility import vocabulary_difference
from engine.models.inspect import inspect_model
from engine.types import ModelInfo

# WORKAROUND: on a CPU, MLX has g++ compile small kernels at run time into a folder of /tmp that belongs to the
# machine's first user: everybody else's replies fail. MEASURED: a token takes as long without (11.4 against 11.3 ms).
if not mx.metal.is_available():
    mx.disable_compile()

_RESERVED_BYTES = 2 << 30  # left to the system and to the caches of a chat
_MODULE_NAME = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A network with its tokenizer, both mlx-lm's own objects."""

    info: ModelInfo
    network: Any
    tokenizer: Any
    logit_width: int  # the vocabulary with the padding of the output layer
    make_caches: Callable[[], CacheSet]


def load_model(folder: Path | str) -> LoadedModel:
    """Read a model's folder into memory, or raise a ModelError that says why it cannot serve."""
    path = Path(folder).absolute()  # mlx-lm takes a relative name for a hub's repository
    info = inspect_model(path)
    _check_architecture(info)
    _check_memory(info)
    network = _guarded(info.folder, ModelDamaged, lambda: _load_network(path))
    tokenizer = _guarded(info.folder, TokenizerBroken, lambda: _load_tokenizer(path))
    return LoadedModel(info, network, tokenizer, _logit_width(info.folder, network), CacheMaker(network))


def load_draft(folder: Path | str, main: LoadedModel) -> LoadedModel:
    """The same, for a model that is to draft for `main`."""
    path = Path(folder).absolute()
    inspect_model(path)
    if difference := vocabulary_difference(Path(main.info.folder), path):
        raise difference
    draft = load_model(path)
    if not draft.make_caches().can_roll_back:
        raise DraftCannotRewind(draft.info.folder, draft.info.model_type)
    return draft


def release_memory() -> None:
    """Give back what a dropped model or cache held. None of it sits in a cycle, so no collector has to find it."""
    mx.clear_cache()


def _check_architecture(info: ModelInfo) -> None:
    module = mlx_utils.MODEL_REMAPPING.get(info.model_type, info.model_type)
    known = _MODULE_NAME.fullmatch(module) and importlib.util.find_spec(f"mlx_lm.models.{module}")
    if not known:
        raise ModelUnsupported(info.folder, info.model_type)


def _check_memory(info: ModelInfo) -> None:
    widened = 2 if _widens() and info.bits is None else 1
    needed_bytes = int(info.weight_bytes * widened * 1.05)
    available_bytes = _memory_bytes() - _RESERVED_BYTES
    if needed_bytes > available_bytes:
        raise ModelTooLarge(info.folder, needed_bytes, available_bytes)


def _memory_bytes() -> int:
    recommended = mx.device_info().get("max_recommended_working_set_size")
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(int(recommended), physical) if recommended else physical


def _widens() -> bool:
    """MEASURED: the CPU backend multiplies half precision at a ninth of the speed of float32, and rounds by width."""
    return bool(mx.default_device() == mx.cpu)


def _load_network(path: Path) -> Any:
    network, _ = mlx_utils.load_model(path, lazy=True, trust_remote_code=False)
    if _widens():
        network.set_dtype(mx.float32)
    network.eval()
    mx.eval(network.parameters())
    return network


def _logit_width(folder: str, network: Any) -> int:
    """One token through the network: proves that it runs at all, too."""
    logits = _guarded(folder, ModelDamaged, lambda: network(mx.array([[0]])))
    mx.eval(logits)
    return int(logits.shape[-1])


def _load_tokenizer(path: Path) -> Any:
    eos = mlx_utils.load_config(path).get("eos_token_id")
    tokenizer = mlx_utils.load_tokenizer(path, {"trust_remote_code": False}, eos_token_ids=_as_list(eos))
    tokenizer.encode("")
    return tokenizer


def _as_list(value: Any) -> list[int] | None:
    return [value] if isinstance(value, int) else value


def _guarded(folder: str, failure: type[ModelDamaged] | type[TokenizerBroken], load: Any) -> Any:
    try:
        return load()
    except EngineError:
        raise
    except SystemExit as error:  # one of mlx-lm's model files leaves the process when it lacks a package
        raise ModelUnsupported(folder, str(error)) from error
    except BaseException as error:
        raise failure(folder, f"{type(error).__name__}: {error}"[:500]) from error
