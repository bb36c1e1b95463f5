"""From a folder to a model that can run: checks first, then mlx-lm's loader, every failure as a typed error.

Runs on the engine thread only. Never executes code from a model's folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten
from mlx_lm import utils as mlx_utils

from engine.api.errors import (
    DraftCannotRewind,
    EngineError,
    ModelDamaged,
    ModelTooLarge,
    ModelUnsupported,
    TokenizerBroken,
)
from engine.api.types import ModelInfo
from engine.caches.base import CacheSet
from engine.caches.making import CacheMaker
from engine.models.compatibility import vocabulary_difference
from engine.models.inspect import WEIGHTS, inspect_model
from engine.models.memory import LEAST_CONTEXT_TOKENS, MemoryNeed, available_bytes, memory_need

# WORKAROUND: on a CPU, MLX has g++ compile small kernels at run time into a folder of /tmp that belongs to the
# machine's first user: everybody else's replies fail. MEASURED: a token takes as long without (11.4 against 11.3 ms).
if not mx.metal.is_available():
    mx.disable_compile()

_HANDFUL_BYTES = 64 << 20
_MODULE_NAME = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A network with its tokenizer, both mlx-lm's own objects."""

    info: ModelInfo
    network: Any
    tokenizer: Any
    logit_width: int  # the vocabulary with the padding of the output layer
    make_caches: Callable[[], CacheSet]
    need: MemoryNeed
    identity: str  # of the files that it was read from: caches of other files do not fit

    @property
    def ends(self) -> frozenset[int]:
        """Tokens behind which nothing of a reply comes."""
        return frozenset(self.tokenizer.eos_token_ids)


Slices = Generator[None, None, LoadedModel]


def load_model(folder: Path | str) -> LoadedModel:
    """Read a model's folder into memory, or raise a ModelError that says why it cannot serve."""
    return at_once(loading(folder))


def load_draft(folder: Path | str, main: LoadedModel) -> LoadedModel:
    """The same, for a model that is to draft for `main`."""
    return at_once(loading_draft(folder, main))


def loading_draft(folder: Path | str, main: LoadedModel) -> Slices:
    """In slices, between which the main model may go on with its replies."""
    path = Path(folder).absolute()
    inspect_model(path)
    yield
    if difference := vocabulary_difference(Path(main.info.folder), path):
        raise difference
    yield
    draft = yield from loading(path, main)
    if not draft.make_caches().can_roll_back:
        raise DraftCannotRewind(draft.info.folder, draft.info.model_type)
    return draft


def loading(folder: Path | str, main: LoadedModel | None = None) -> Slices:
    """In slices. A draft has to fit beside `main`, and shares its tokenizer."""
    path = Path(folder).absolute()  # mlx-lm takes a relative name for a hub's repository
    info, beside = inspect_model(path), main.need if main is not None else None
    _check_architecture(info)
    _check_memory(info, MemoryNeed(info.weight_bytes, 0, 0), beside)
    identity = model_identity(path, info)
    network = _guarded(info.folder, ModelDamaged, lambda: _build_network(path))
    make_caches = _guarded(info.folder, ModelDamaged, lambda: CacheMaker(network))
    need = _guarded(info.folder, ModelDamaged, lambda: memory_need(network, make_caches().layers))
    _check_memory(info, need, beside)
    for weights in _handfuls(network):
        yield
        _guarded(info.folder, ModelDamaged, lambda weights=weights: mx.eval(weights))
    yield
    tokenizer = (
        main.tokenizer if main is not None else _guarded(info.folder, TokenizerBroken, lambda: _load_tokenizer(path))
    )
    return LoadedModel(info, network, tokenizer, _logit_width(info.folder, network), make_caches, need, identity)


def at_once(slices: Slices) -> LoadedModel:
    while True:
        try:
            next(slices)
        except StopIteration as done:
            loaded: LoadedModel = done.value
            return loaded


def _handfuls(network: Any) -> Iterator[list[mx.array]]:
    """The weights, not evaluated, in portions that take about as long as a round."""
    held: list[mx.array] = []
    weights: list[tuple[str, mx.array]] = tree_flatten(network.parameters())  # type: ignore[assignment]
    for _, weight in weights:
        held.append(weight)
        if sum(array.nbytes for array in held) >= _HANDFUL_BYTES:
            yield held
            held = []
    yield held


def model_identity(folder: Path, info: ModelInfo) -> str:
    """The same only for the very same files: whatever replaces one of them has a time of its own, or is another file.

    Reading gigabytes of weights for a digest would take as long as loading them; the small files are read.
    """
    small = ((folder / "config.json").read_bytes(), info.vocabulary_digest)
    stats = [(file.name, file.stat()) for file in sorted(folder.glob(WEIGHTS))]
    weights = [(name, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for name, s in stats]
    return hashlib.blake2b(repr((small, weights)).encode(), digest_size=16).hexdigest()


def release_memory() -> None:
    """Give back what a dropped model or cache held. None of it sits in a cycle, so no collector has to find it."""
    mx.clear_cache()


def _check_architecture(info: ModelInfo) -> None:
    module = mlx_utils.MODEL_REMAPPING.get(info.model_type, info.model_type)
    known = _MODULE_NAME.fullmatch(module) and importlib.util.find_spec(f"mlx_lm.models.{module}")
    if not known:
        raise ModelUnsupported(info.folder, info.model_type)


def _check_memory(info: ModelInfo, need: MemoryNeed, beside: MemoryNeed | None) -> None:
    context = min(info.context_tokens, LEAST_CONTEXT_TOKENS)
    needed = need.at(context)
    available = available_bytes() - (beside.at(context) if beside is not None else 0)
    if needed > available:
        fits = max(0, available - (needed - need.weight_bytes))
        raise ModelTooLarge(info.folder, needed, max(0, available), context, fits)


def _widens() -> bool:
    """MEASURED: the CPU backend multiplies half precision at a ninth of the speed of float32, and rounds by width."""
    return bool(mx.default_device() == mx.cpu)


def _build_network(path: Path) -> Any:
    """With weights that nobody has read yet."""
    network, _ = mlx_utils.load_model(path, lazy=True, trust_remote_code=False)
    if _widens():
        network.set_dtype(mx.float32)
    network.eval()
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
