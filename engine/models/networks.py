"""From a folder to a network whose weights are in memory: checks first, then mlx-lm's loader, every failure typed.

Files that mlx-lm and transformers open themselves must be plain files of limited size, with a limited number of added
tokens. Runs on the thread that computes. Never executes code from a model's folder. No tokenizer, and nothing that
imports one: ranks and stations leave them out (`machines/child.py`).
"""

from __future__ import annotations

import glob
import hashlib
import importlib.util
import inspect
import re
import sys
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PosixPath
from stat import S_ISDIR, S_ISREG
from typing import Any, Protocol

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten
from mlx_lm import utils as mlx_utils

from engine.api.errors import (
    EngineError,
    ModelDamaged,
    ModelNotFound,
    ModelOnlyDrafts,
    ModelTooLarge,
    ModelUnsupported,
    OutOfMemory,
    TokenizerBroken,
    as_engine_error,
)
from engine.api.types import ModelInfo
from engine.caches.base import CacheSet
from engine.caches.making import CacheMaker, eight_bits_of, wide_layers
from engine.models.access import NoAccess
from engine.models.fit import LEAST_CONTEXT_TOKENS
from engine.models.inspect import WEIGHTS, foreign_packing, inspect_model, tower_bytes, weight_tensors
from engine.models.memory import MemoryNeed, available_bytes, memory_need, most_bytes
from engine.models.model_files import (
    CONFIG_LIMIT_BYTES,
    INDEX_LIMIT_BYTES,
    TEMPLATE_LIMIT_BYTES,
    TOKENIZER_CONFIG_LIMIT_BYTES,
    TOKENIZER_LIMIT_BYTES,
    FileError,
    JsonObject,
    entries,
    object_at,
    object_in,
    stamp,
    start_of,
)
from engine.models.mtp_families import head_to_leave_out
from engine.models.newer_configs import add_older_entries
from engine.models.numbers import MOST_ADDED, check_groups, check_read_numbers
from engine.models.template_files import MORE_TEMPLATES
from engine.models.vision_config import VisionConfig, encoding_bytes
from engine.models.watch import Aborted, Question, never, watched

# WORKAROUND: on a CPU, MLX has g++ compile small kernels at run time into a folder of /tmp that belongs to the
# machine's first user: for other users replies fail. MEASURED: without it a token takes as long (11.4 against 11.3 ms).
if mx.default_device() == mx.cpu:
    mx.disable_compile()


# WORKAROUND: in the first thread that uses MLX, a failed read is raised while work is queued (0.32.4). A task may have
# been counted by then that is never run; with two of those `mx.eval` may wait for ever. In other threads `mx.eval`
# raises it.
def _use_mlx(used: threading.Event) -> None:
    mx.synchronize(mx.default_stream(mx.cpu))
    mx.clear_streams()
    used.set()
    threading.Event().wait()  # the id of a thread that ended may be used again


_used = threading.Event()
threading.Thread(target=_use_mlx, args=(_used,), name="first to use MLX", daemon=True).start()
_used.wait()

_HANDFUL_BYTES = 64 << 20
_LEAST_HANDFULS = 32  # of a small model, so that what is read of it at a time is little beside it
_MODULE_NAME = re.compile(r"[A-Za-z0-9_-]+")
_BUILDING_S = 20.0  # of processor time; the largest models take about one
# Modules that a network may have beside one for each weight: activations, rotations. With more, its config does not
# match these weights.
_PARTS_A_TENSOR = 8
_PARTS_BESIDE = 256

# the packings that MLX has
_GROUPS = (16, 32, 64, 128)
_BITS = (1, 2, 3, 4, 5, 6, 8)
_MODES = {(32, 4): "mxfp4", (16, 4): "nvfp4", (32, 8): "mxfp8"}  # modes without biases, by (group size, bits)

_SCALE_OF_CODES = ".weight_scale_inv"
_NEW_PART = nn.Module.__init__.__code__
MOST_ENDS = 1024
MOST_NAMED = 2**14  # special tokens: transformers compares each with all before it
_MOST_TEMPLATES = 64
_SUFFIXES = {".json", ".jsonl", ".jinja", ".txt", ".model", ".tiktoken", ".spm", ".vocab", ".bpe", ".codes"}
_LIMITS: Mapping[str, int] = {
    "config.json": CONFIG_LIMIT_BYTES,
    "generation_config.json": CONFIG_LIMIT_BYTES,
    "hf_quant_config.json": CONFIG_LIMIT_BYTES,
    "tokenizer_config.json": TOKENIZER_CONFIG_LIMIT_BYTES,
    "special_tokens_map.json": TOKENIZER_CONFIG_LIMIT_BYTES,
    "added_tokens.json": TOKENIZER_CONFIG_LIMIT_BYTES,
    "model.safetensors.index.json": INDEX_LIMIT_BYTES,
}


@dataclass(frozen=True, slots=True)
class EightBits:
    """A model's caches with keys and values at 8 bits, and what they need."""

    make_caches: Callable[[], CacheSet]
    need: MemoryNeed


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """Bytes of the weights in memory so far; the first one of a load comes before any weight is read."""

    done_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class LoadedPart:
    """A network with its weights loaded, or those of its own layers."""

    network: Any
    make_caches: Callable[[], CacheSet]
    need: MemoryNeed
    identity: str
    eight_bits: EightBits | None  # None over several processes, which make caches of one kind


class Held(Protocol):
    """What a process holds of a network that runs in several."""

    def parameters(self) -> Any:
        """To be read at once; others are read when a forward needs them."""

    def need(self, whole: MemoryNeed) -> MemoryNeed:
        """Of this process, where `whole` is that of all that is left in the network."""


def checked(path: Path) -> ModelInfo:
    """The folder's ModelInfo. Raises if it has no main model or draft, or files that must not be opened."""
    info = inspect_model(path)
    if info.drafter is not None:
        raise ModelOnlyDrafts(info.folder, info.drafter.kind)
    try:
        check_files(path)
    except (FileError, OSError) as error:
        raise ModelDamaged(info.folder, str(error)) from error
    return info


def reading(
    info: ModelInfo,
    beside_bytes: int = 0,
    aborted: Question = never,
    vision: VisionConfig | None = None,
    cut: Callable[[Any], Held] | None = None,
    begin: Callable[[], object] = lambda: None,
) -> Generator[Any, None, LoadedPart]:
    """The network of a checked folder, in slices as `loading`; after `cut`, with what that has left only.

    `begin`: called once, after the first progress, at which other models make room.
    """
    path = Path(info.folder)
    read = partial(guarded, info.folder, ModelDamaged, aborted)
    _check_architecture(info)
    identity = model_identity(path, info)
    network = read(lambda: _build_network(path), builds=path)
    yield
    held: Held | None = None if cut is None else read(lambda: cut(network))
    tower = (0, 0)
    if vision is not None:
        tower = read(lambda: ((2 if widens() else 1) * tower_bytes(path), encoding_bytes(vision)))
    make_caches = read(lambda: CacheMaker(network))
    need = read(lambda: memory_need(network, make_caches().layers).with_tower(*tower))
    if held is not None:
        need = held.need(need)
    eight_bits = read(lambda: _eight_bits(network, tower)) if cut is None else None
    check_memory(info, need if eight_bits is None else eight_bits.need, beside_bytes)
    for weights, progress in handfuls(network if held is None else held):
        yield progress
        if not progress.done_bytes:
            begin()
        read(partial(mx.eval, weights))
    if eight_bits is not None:
        eight_bits = read(lambda: _eight_bits(network, tower, wide_layers(network)))
    return LoadedPart(network, make_caches, need, identity, eight_bits)


def _eight_bits(network: Any, tower: tuple[int, int], wide: Collection[int] = ()) -> EightBits | None:
    kind = eight_bits_of(network)
    if kind is None:
        return None
    make_caches = CacheMaker(network, kind, wide)
    return EightBits(make_caches, memory_need(network, make_caches().layers).with_tower(*tower))


def handfuls(network: Any) -> Iterator[tuple[list[mx.array], LoadProgress]]:
    """The weights, not evaluated, in portions that take about as long as a round, each with the progress before it."""
    held = list[mx.array]()
    done = 0
    weights: list[tuple[str, mx.array]] = tree_flatten(network.parameters())  # type: ignore[assignment]
    total = sum(weight.nbytes for _, weight in weights)
    most = min(_HANDFUL_BYTES, total // _LEAST_HANDFULS)
    for _, weight in weights:
        held.append(weight)
        if (size := sum(array.nbytes for array in held)) >= most:
            yield held, LoadProgress(done, total)
            held = []
            done = done + size
    yield held, LoadProgress(done, total)


def model_identity(folder: Path, info: ModelInfo) -> str:
    """A digest of the very files: a replaced file has another time or inode.

    Hashing gigabytes of weights would take as long as loading them; the small files are hashed. Raises ModelNotFound if
    the folder was removed.
    """
    try:
        small = (start_of(folder / "config.json", CONFIG_LIMIT_BYTES), info.vocabulary_digest)
        weights = [(file.name, *stamp(file.stat())) for file in sorted(folder.glob(WEIGHTS))]
    except FileNotFoundError as error:
        raise ModelNotFound(str(folder)) from error
    return hashlib.blake2b(repr((small, weights)).encode(), digest_size=16).hexdigest()


def _check_architecture(info: ModelInfo) -> None:
    module = mlx_utils.MODEL_REMAPPING.get(info.model_type, info.model_type)
    known = _MODULE_NAME.fullmatch(module) and importlib.util.find_spec(f"mlx_lm.models.{module}")
    if not known:
        raise ModelUnsupported(info.folder, info.model_type)


def check_memory(info: ModelInfo, need: MemoryNeed, beside_bytes: int) -> None:
    """Raise ModelTooLarge unless the model fits beside the other one, each with a chat of the least useful length."""
    context = min(info.context_tokens, LEAST_CONTEXT_TOKENS)
    needed = need.at(context)
    in_all = available_bytes()
    available = in_all - beside_bytes
    if needed > available:
        raise ModelTooLarge(info.folder, needed, max(0, available), context, max(0, most_bytes() - in_all))


def widens() -> bool:
    """Whether half precision is computed in float32. MEASURED: in half precision the CPU backend takes nine times as
    long, and rounds by width.
    """
    return bool(mx.default_device() == mx.cpu)


class _Literal(PosixPath):
    # WORKAROUND: mlx-lm gives the whole path to `glob`. For a folder "m[1]" that finds no weights, or those of "m1".
    def __truediv__(self, name: str) -> Path:  # type: ignore[override]
        return Path(glob.escape(str(self)) if "*" in name else self, name)


def _build_network(path: Path) -> Any:
    """The network, with its weights not loaded yet."""
    check_groups(object_in(path / "hf_quant_config.json", CONFIG_LIMIT_BYTES))
    try:
        network, _ = mlx_utils.load_model(
            _Literal(path), lazy=True, get_model_classes=_classes_that_check, trust_remote_code=False
        )
    except (KeyError, ValueError) as error:
        if packing := foreign_packing(path):
            raise ModelUnsupported(str(path), "", packing) from error
        raise
    if widens():
        network.set_dtype(mx.float32)
    network.eval()
    return network


def checked_classes(config: JsonObject) -> tuple[type, type]:
    """mlx-lm's classes for a config whose numbers are checked. Adds to it what they need."""
    add_older_entries(config)
    network, arguments = mlx_utils._get_classes(config)  # noqa: SLF001  the default of the parameter
    check_read_numbers(config, inspect.signature(arguments).parameters)
    check_groups(config)
    return network, arguments


def _classes_that_check(config: JsonObject) -> tuple[type, type]:
    """mlx-lm's classes, but the network checks how its tensors are packed, reads FP8 with one scale a tensor, and drops
    an MTP head if mlx-lm keeps it.
    """
    network, arguments = checked_classes(config)
    is_head = head_to_leave_out(config)
    theirs = getattr(network, "sanitize", None)

    def sanitize(self: Any, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        if is_head is not None:
            weights = {name: weight for name, weight in weights.items() if not is_head(name)}
        weights = _of_codes(weights)
        if config["model_type"] == "gemma3n":
            weights = _as_transformers_has_them(weights)
        if theirs is not None:
            weights = theirs(self, weights)
        _check_packings(self, weights)
        return weights

    return type(network.__name__, (network,), {"sanitize": sanitize, "__module__": network.__module__}), arguments


def _of_codes(weights: dict[str, mx.array]) -> dict[str, mx.array]:
    """WORKAROUND: of FP8 with one scale a tensor mlx-lm's Ministral 3 multiplies the codes by the scale."""
    scales = {name: weight for name, weight in weights.items() if name.endswith(_SCALE_OF_CODES) and weight.size == 1}
    left = {name: weight for name, weight in weights.items() if name not in scales}
    for name, scale in scales.items():
        layer = name.removesuffix("_scale_inv")
        left[layer] = mx.from_fp8(left[layer], mx.bfloat16) * scale.astype(mx.bfloat16)
    return left


def _as_transformers_has_them(weights: dict[str, mx.array]) -> dict[str, mx.array]:
    """WORKAROUND: of Gemma 3n mlx-lm does not know the names in the conversions of mlx-vlm."""
    before = "language_model.model."
    if not any(name.startswith(before) for name in weights):
        return weights
    renamed = {name.replace(before, "language_model.", 1): weight for name, weight in weights.items()}
    return {f"model.{name}": weight for name, weight in renamed.items()}


def _check_packings(network: nn.Module, weights: dict[str, mx.array]) -> None:
    """Raises FileError for more scales than numbers, which mlx-lm would take for groups of 0 (see `check_groups`)."""
    for name, module in network.named_modules():
        scales = weights.get(f"{name}.scales")
        groups_at = 0 if f"{name}.qweight" in weights else -1  # AWQ and GPTQ are turned round afterwards
        if scales is not None and hasattr(module, "to_quantized") and scales.shape[groups_at] > module.weight.shape[-1]:
            raise FileError(f"{name}.scales {scales.shape} of a width of {module.weight.shape[-1]}")


def packing_of(name: str, width: int, weight: mx.array, scales: mx.array, biases: mx.array | None) -> dict[str, Any]:
    """How a weight of `width` columns is quantized, by shapes alone: configs list exceptions (other bits, another mode)
    under other names. Raises ValueError for what MLX does not have: a group of 0 ends the process.
    """
    if scales.ndim != 2 or weight.ndim != 2 or not scales.size:
        raise ValueError(f"{name}.scales {scales.shape} of {weight.shape}")
    group = width // scales.shape[-1]
    bits = 32 * weight.shape[-1] // width
    mode = _MODES.get((group, bits), "") if biases is None else "affine"
    if not mode or group not in _GROUPS or bits not in _BITS:
        raise ValueError(f"{name} is packed in groups of {group} and {bits} bits")
    return {"group_size": group, "bits": bits, "mode": mode}


def guarded(
    folder: str,
    failure: type[ModelDamaged] | type[TokenizerBroken],
    aborted: Question,
    load: Callable[[], Any],
    builds: Path | None = None,
) -> Any:
    """What `load` returns, within limits of time, and of parts where it `builds` the network of a folder. Every error
    that is not typed is a `failure`, unless the memory is full or the folder was deleted.
    """
    try:
        most = sys.maxsize if builds is None else _PARTS_BESIDE + _PARTS_A_TENSOR * weight_tensors(builds)
        with watched(_BUILDING_S, aborted, _NEW_PART, most):
            return load()
    except (EngineError, Aborted, NoAccess):
        raise
    except SystemExit as error:  # one of mlx-lm's model files exits the process if a package is missing
        raise ModelUnsupported(folder, str(error)) from error
    except BaseException as error:
        if isinstance(known := as_engine_error(error), OutOfMemory):
            raise known from error
        if not Path(folder).is_dir():
            raise ModelNotFound(folder) from error
        raise failure(folder, f"{type(error).__name__}: {error}"[:500]) from error


def check_files(folder: Path) -> None:
    """Raises FileError, or an OSError."""
    for path in (*folder.iterdir(), *_templates(folder / MORE_TEMPLATES)):
        if path.suffix in _SUFFIXES:
            _check_file(path)
    for name in ("config.json", "generation_config.json"):
        _check_ends(folder / name)
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        _check_lists(folder / name)
    _check_count("added_tokens.json", "added tokens", len(_content(folder / "added_tokens.json")), MOST_ADDED)


def _templates(folder: Path) -> Iterator[Path]:
    found = list(folder.iterdir()) if folder.is_dir() else []
    _check_count(folder.name, "files", len(found), _MOST_TEMPLATES)
    yield from found


def _check_file(path: Path) -> None:
    try:
        stat = path.stat()
    except FileNotFoundError:  # a broken link, which is never opened
        return
    if S_ISDIR(stat.st_mode):
        return
    if not S_ISREG(stat.st_mode):
        raise FileError(f"{path.name}: not a file")
    limit = TEMPLATE_LIMIT_BYTES if path.suffix == ".jinja" else _LIMITS.get(path.name, TOKENIZER_LIMIT_BYTES)
    if stat.st_size > limit:
        raise FileError(f"{path.name}: larger than {limit} bytes")


def _check_ends(path: Path) -> None:
    config = _content(path)
    for part in (config, object_at(config, "text_config")):
        _check_count(path.name, "end tokens", len(entries(part, "eos_token_id")), MOST_ENDS)


def _check_lists(path: Path) -> None:
    for key, value in _content(path).items():
        if isinstance(value, list | dict):
            _check_count(path.name, key[:100], len(value), MOST_ADDED if key == "added_tokens_decoder" else MOST_NAMED)


def _content(path: Path) -> JsonObject:
    return object_in(path, _LIMITS[path.name])  # what a file that cannot be read means is its reader's to decide


def _check_count(name: str, what: str, count: int, most: int) -> None:
    if count > most:
        raise FileError(f"{name}: {count} {what}, more than {most}")
