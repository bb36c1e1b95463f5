"""Reads a model folder's files in milliseconds, without loading the model: a ModelInfo, or a ModelError.

Files are not trusted: sizes and numbers have limits, and nothing in the folder is ever run.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from engine.api.errors import (
    DrafterUnsupported,
    ModelDamaged,
    ModelError,
    ModelHasNoConfig,
    ModelHasNoWeights,
    ModelNotFound,
    ModelRunsCode,
    ModelUnsupported,
)
from engine.api.files import open_plain
from engine.api.types import ModelInfo
from engine.models.about import read_about
from engine.models.cache_sizes import cache_sizes
from engine.models.drafter_kinds import drafter_config, drafter_kind, is_drafter_folder, unmet_need
from engine.models.drafter_tensors import gated, unplaced
from engine.models.drafters import DrafterConfig, own_drafter_config
from engine.models.families import READ_FP8, SAME_AS, family_for, is_known
from engine.models.model_files import (
    CONFIG_LIMIT_BYTES,
    INDEX_LIMIT_BYTES,
    TOKENIZER_CONFIG_LIMIT_BYTES,
    FileError,
    JsonObject,
    Tensor,
    object_at,
    object_in,
    parse_object,
    read_header,
    read_limited,
    read_object,
    stamp,
)
from engine.models.numbers import EXPERTS, check_numbers
from engine.models.vision_config import sight_refusal, tower_name, tower_of
from engine.models.vocabulary import Vocabulary, only_code_reads, read_vocabulary

WEIGHTS = "model*.safetensors"  # as in mlx-lm
_INDEX = "model.safetensors.index.json"
_OF_BITSANDBYTES = (".absmax", ".SCB")
_SCALES = ".weight_scale_inv"
_MXFP8_BLOCK = [32, 32]
MAX_SHARDS = 1024
_SAMPLE_BYTES = 4096
DEFAULT_CONTEXT_TOKENS = 32_768  # for models without a limit (recurrent ones)
_MOST_CONTEXT = 2**30
_MOST_YARN_FACTOR = 1024
_CONTEXT_KEYS = ("max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length", "seq_length")
_METHODS = {  # quantization methods: displayed name, and bits
    "mxfp4": ("MXFP4", 4.0),
    "nvfp4": ("NVFP4", 4.0),
    "mxfp8": ("MXFP8", 8.0),
    "fp8": ("FP8", 8.0),
    "bitnet": ("BitNet", 2.0),
}
_FLOATS = {"F32", "F16", "BF16"}
_SENSES = {"vision_tower", "vision_model", "vision_embedder", "visual", "audio_tower", "embed_vision", "embed_audio"}
_SENSES |= {"multi_modal_projector", "mm_projector", "vision_adapter", "vision_projection", "patch_merge_mlp"}
_SEEING = {"muse_spark"}  # mlx-lm loads their vision part
_SHARD = re.compile(r"model-(\d{1,6})-of-(\d{1,6})\.safetensors")


def inspect_model(folder: Path | str) -> ModelInfo:
    """Raises a ModelError that says what is wrong with the folder."""
    path = Path(folder)
    config = read_config(path)
    check_config(str(path), config)
    try:
        files = _weight_files(path)
        tensors = _tensors(path, files)
        _check_packing(str(path), config, tensors)
        weight_bytes = sum(file.stat().st_size for file in files)
        context = _context_tokens(path, config)
        drafter = _usable_drafter(path, config, tensors)
        own = own_drafter_config(config, tensors) if drafter is None else None
    except (FileError, OSError) as error:
        raise ModelDamaged(str(path), str(error)) from error
    vocabulary = read_vocabulary(path) if drafter is None else Vocabulary(0, "")  # a drafter uses its main model's
    rows = _number(config, "vocab_size")
    name = model_name(path)
    quantization = _quantization(config)
    about = read_about(path, config, name, drafts=drafter is not None)
    return ModelInfo(
        folder=str(path),
        name=name,
        model_type=str(config.get("model_type") or (drafter and drafter.info.kind) or ""),
        parameters=_parameters(tensors, quantization),
        weight_bytes=weight_bytes,
        bits=_bits(quantization),
        vocabulary_tokens=vocabulary.tokens or rows,
        vocabulary_digest=vocabulary.digest,
        context_tokens=context,
        width=_number(config, "hidden_size"),
        layers=_number(config, "num_hidden_layers"),
        vocabulary_rows=rows,
        drafter=drafter.info if drafter is not None else None,
        own_drafter=own.info if own is not None else None,
        caches=cache_sizes(config) if drafter is None else None,
        about=about,
        sparse=any(_number(config, key) > 1 for key in EXPERTS),
        loaded_bytes=weight_bytes - _idle_bytes(config, tensors) + _widened_bytes(tensors),
        quantization=_METHODS.get(_method(quantization), ("",))[0],
        sees=drafter is None and sight_refusal(config, tensors) is None,
        calls_tools=about.tools,
    )


def _usable_drafter(folder: Path, config: JsonObject, tensors: dict[str, Tensor]) -> DrafterConfig | None:
    """The drafter in the folder. Raises FileError, or DrafterUnsupported for tensors without a place here."""
    drafter = drafter_config(config, tensors)
    if drafter is not None and (left := unplaced(drafter, tensors) or gated(drafter, tensors)):
        raise DrafterUnsupported(str(folder), left)
    return drafter


def inspect_drafter(folder: Path) -> DrafterConfig | None:
    """The drafter's config in an inspected folder, also one beside a main model; None if there is none."""
    try:
        config = read_config(folder)
        tensors = _tensors(folder, _weight_files(folder))
        return drafter_config(config, tensors) or own_drafter_config(config, tensors)
    except (FileError, OSError) as error:
        raise ModelDamaged(str(folder), str(error)) from error


def model_name(folder: Path) -> str:
    """The folder's name, or a better one from the Hub's cache or our own hunch.json. Printable characters only.

    A drafter's folder within its main model's is named after both.
    """
    if is_drafter_folder(folder.name) and (folder.parent / "config.json").is_file():
        return f"{model_name(folder.parent)}-{folder.name}"
    if folder.parent.name == "snapshots" and folder.parent.parent.name.startswith("models--"):
        return _printable(folder.parent.parent.name.rpartition("--")[2])
    name = object_in(folder / "hunch.json", INDEX_LIMIT_BYTES).get("name")
    return name[:100] if isinstance(name, str) and name.isprintable() and name.strip() else _printable(folder.name)


def _printable(name: str) -> str:
    return "".join(each if each.isprintable() else "\ufffd" for each in name)


def read_config(folder: Path) -> JsonObject:
    try:
        if not (folder / "config.json").is_file():
            raise _without_config(folder)
        return parse_object(read_limited(folder / "config.json", CONFIG_LIMIT_BYTES), "config.json")
    except (FileError, OSError) as error:
        raise ModelDamaged(str(folder), str(error)) from error


def _without_config(folder: Path) -> ModelError:
    if any(folder.glob("*.safetensors")):
        return ModelHasNoConfig(str(folder))
    return ModelHasNoWeights(str(folder)) if any(folder.glob("*.gguf")) else ModelNotFound(str(folder))


def check_small_files(folder: Path, model: str) -> None:
    """Checks that the hub client runs before it downloads gigabytes. `model`: the folder in errors."""
    config = read_config(folder)
    check_config(model, config)
    if drafter_kind(config) is None and only_code_reads(folder):
        raise ModelRunsCode(model)
    with suppress(FileError):  # which is found with the weights
        _check_packing(model, config, _indexed(folder))


def check_config(folder: str, config: JsonObject) -> None:
    """Checks of config.json alone."""
    if config.get("model_file") is not None:  # `auto_map` is harmless: mlx-lm has its own code for known types
        raise ModelRunsCode(folder)
    model_type = config.get("model_type")
    if need := unmet_need(config):
        raise DrafterUnsupported(folder, need)
    if drafter_kind(config) is not None:
        return  # its numbers are checked when it is read
    if not isinstance(model_type, str) or not re.fullmatch(r"[\w.-]{1,100}", model_type) or not is_known(model_type):
        raise ModelUnsupported(folder, str(model_type or "")[:100])
    try:
        check_numbers(config)
    except FileError as error:
        raise ModelDamaged(folder, str(error)) from error


def _check_packing(folder: str, config: JsonObject, tensors: Iterable[str]) -> None:
    """By the tensors' names: a config may speak of weights as they were once."""
    types = {str(part.get("model_type")) for part in (config, object_at(config, "text_config"))}
    marks: dict[str, tuple[str, ...]] = {"bitsandbytes": _OF_BITSANDBYTES}
    if _is_in_blocks(_quantization(config)) and not READ_FP8 & {SAME_AS.get(each, each) for each in types}:
        marks["fp8"] = (_SCALES,)
    for packing, endings in marks.items():
        if any(name.endswith(endings) for name in tensors):
            raise ModelUnsupported(folder, "", packing)


def _is_in_blocks(quantization: JsonObject) -> bool:
    """Whether weights are FP8 with a scale for each block, and not packed as MLX's MXFP8."""
    block = quantization.get("weight_block_size")
    return quantization.get("quant_method") == "fp8" and bool(block) and block != _MXFP8_BLOCK


def foreign_packing(folder: Path) -> str:
    """The method by which another library than MLX has packed the weights, as config.json says; "": none."""
    config = read_config(folder)
    return "" if object_at(config, "quantization") else str(_quantization(config).get("quant_method") or "")[:100]


def weight_tensors(folder: Path) -> int:
    """Number of tensors in an inspected folder."""
    return sum(len(read_header(file)) for file in _weight_files(folder))


def _weight_files(folder: Path) -> list[Path]:
    files = sorted(folder.glob(WEIGHTS))
    if not files:
        raise ModelHasNoWeights(str(folder)) if folder.is_dir() else ModelNotFound(str(folder))
    if len(files) > MAX_SHARDS:
        raise FileError(f"{len(files)} weight files")
    present = {file.name for file in files if file.is_file()}
    for name in sorted(_expected_shards(present) | {file.name for file in files}):
        if name not in present:
            raise FileError(f"{name}: missing")
    return files


def _expected_shards(names: set[str]) -> set[str]:
    """The names of all shards, by one like model-00001-of-00003, with or without an index."""
    expected = set()
    for match in filter(None, map(_SHARD.fullmatch, names)):
        total = int(match[2])
        digits = len(match[1])
        if total > MAX_SHARDS:
            raise FileError(f"{match[0]}: {total} weight files")
        expected |= {f"model-{number:0{digits}}-of-{match[2]}.safetensors" for number in range(1, total + 1)}
    return expected


def _tensors(folder: Path, files: list[Path]) -> dict[str, Tensor]:
    by_file = {file.name: read_header(file) for file in files}
    for name, file in _indexed(folder).items():
        is_read = fnmatchcase(str(file), WEIGHTS) or not str(file).endswith(".safetensors")
        if is_read and name not in by_file.get(str(file), {}):
            raise FileError(f"{_INDEX}: {name[:100]} is not in {str(file)[:100]}")
    return {name: tensor for tensors in by_file.values() for name, tensor in tensors.items()}


def _indexed(folder: Path) -> JsonObject:
    """The file of each tensor, as the index says; {} without one. Raises FileError."""
    index = folder / _INDEX
    return object_at(read_object(index, INDEX_LIMIT_BYTES), "weight_map") if index.is_file() else {}


def content_digest(folder: Path) -> str:
    """A digest of a network that is equal on every machine: of config.json, all headers, and 4 KiB of each tensor.

    Reading all the weights would take as long as loading them. Unchanged files are read once. Raises FileError, OSError
    or ModelHasNoWeights.
    """
    files = _stamped(folder)
    return _size_of(files) + _digest_of_files(files)


def has_content(folder: Path, digest: str) -> bool:
    """Whether that is its digest: only files of the same size are read. Raises as `content_digest`."""
    return digest.startswith(_size_of(_stamped(folder))) and digest == content_digest(folder)


def _stamped(folder: Path) -> tuple[tuple[Path, tuple[int, ...]], ...]:
    return tuple((path, stamp(path.stat())) for path in (folder / "config.json", *_weight_files(folder)))


def _size_of(files: tuple[tuple[Path, tuple[int, ...]], ...]) -> str:
    return f"{sum(size for _, (size, *_) in files)}-"


@lru_cache(maxsize=256)
def _digest_of_files(files: tuple[tuple[Path, tuple[int, ...]], ...]) -> str:
    """`files`: config.json and the weights, each with its stamp."""
    digest = hashlib.sha256(read_limited(files[0][0], CONFIG_LIMIT_BYTES))
    for path, _ in files[1:]:
        tensors = sorted(read_header(path).items(), key=lambda item: item[1].begin)
        digest.update(repr(tensors).encode())
        with open_plain(path) as file:
            body = os.fstat(file.fileno()).st_size - max((tensor.end for _, tensor in tensors), default=0)
            for _, tensor in tensors:
                file.seek(body + tensor.begin)
                digest.update(file.read(min(_SAMPLE_BYTES, tensor.end - tensor.begin)))
    return digest.hexdigest()


def text_tensors(folder: Path) -> dict[str, Tensor]:
    """The tensors of an inspected folder, by name, without the parts for pictures and sounds."""
    tensors = _tensors(folder, _weight_files(folder))
    return {name: tensor for name, tensor in tensors.items() if not _SENSES & set(name.split(".", 3)[:3])}


def _idle_bytes(config: JsonObject, tensors: dict[str, Tensor]) -> int:
    """Bytes that mlx-lm skips in a model with vision or audio."""
    if str(config.get("model_type")) in _SEEING:
        return 0
    tower = tower_of(config) if sight_refusal(config, tensors) is None else None
    senses = {name: tensor for name, tensor in tensors.items() if _SENSES & set(name.split(".", 3)[:3])}
    return sum(tensor.end - tensor.begin for name, tensor in senses.items() if not tower_name(tower, name))


def _widened_bytes(tensors: dict[str, Tensor]) -> int:
    """Bytes by which weights grow that mlx-lm computes from 8 bits and their scales."""
    scales = {name for name, tensor in tensors.items() if tensor.dtype in _FLOATS}
    coded = (tensor for name, tensor in tensors.items() if f"{name}_scale_inv" in scales)
    return sum(tensor.elements for tensor in coded if tensor.dtype == "F8_E4M3")


def tower_bytes(folder: Path) -> int:
    """Bytes of an inspected model's vision part in its files."""
    tower = tower_of(read_config(folder))
    tensors = _tensors(folder, _weight_files(folder))
    return sum(tensor.end - tensor.begin for name, tensor in tensors.items() if tower_name(tower, name))


def _quantization(config: JsonObject) -> JsonObject:
    candidates = (config, object_at(config, "text_config"))
    keys = ("quantization", "quantization_config")
    return next((found for part in candidates for key in keys if (found := object_at(part, key))), {})


def _bits(quantization: JsonObject) -> float | None:
    bits = quantization.get("bits")
    if isinstance(bits, int | float) and 0 < bits <= 16:
        return float(bits)
    return _METHODS.get(_method(quantization), ("", None))[1]


def _method(quantization: JsonObject) -> str:
    """MLX calls it mode, others method."""
    return str(quantization.get("mode") or quantization.get("quant_method"))


def _parameters(tensors: dict[str, Tensor], quantization: JsonObject) -> int:
    """The number of weights: packed words count as several, scales and biases not at all."""
    return sum(_logical_elements(name, tensor, tensors, quantization) for name, tensor in tensors.items())


def _logical_elements(name: str, tensor: Tensor, tensors: dict[str, Tensor], quantization: JsonObject) -> int:
    layer, _, kind = name.rpartition(".")
    scales = tensors.get(f"{layer}.scales")
    weight = tensors.get(f"{layer}.weight")
    if scales is None or weight is None or weight.dtype != "U32":
        return tensor.elements
    if kind == "weight":
        return scales.elements * _group_size(layer, quantization)
    return 0 if kind in {"scales", "biases"} else tensor.elements


def _group_size(layer: str, quantization: JsonObject) -> int:
    """The group size; mixed recipes have further entries for single layers in the same object."""
    for source in (object_at(quantization, layer), quantization):
        size = source.get("group_size")
        if type(size) is int and 1 <= size <= 1024:
            return size
    return 32 if "fp" in str(quantization.get("quant_method")) else 64


def _context_tokens(folder: Path, config: JsonObject) -> int:
    for part in (config, object_at(config, "text_config")):
        for key in _CONTEXT_KEYS:
            value = part.get(key)
            if type(value) is int and 1 <= value <= _MOST_CONTEXT:
                return max(value, _yarn_context(part))
    if untold := family_for(str(config.get("model_type") or "")).context_tokens:
        return untold
    path = folder / "tokenizer_config.json"
    given = read_object(path, TOKENIZER_CONFIG_LIMIT_BYTES).get("model_max_length") if path.is_file() else None
    return given if type(given) is int and 1 <= given <= _MOST_CONTEXT else DEFAULT_CONTEXT_TOKENS


def _yarn_context(config: JsonObject) -> int:
    """The context with YaRN, whose users may leave the limit beside it unchanged. 0: no YaRN."""
    rope = object_at(config, "rope_scaling") or object_at(config, "rope_parameters")
    original = rope.get("original_max_position_embeddings")
    factor = rope.get("factor")
    if "yarn" not in (rope.get("rope_type"), rope.get("type")):
        return 0
    if not (isinstance(original, int) and isinstance(factor, int | float)):
        return 0
    given = 1 <= original <= _MOST_CONTEXT and 1 <= factor <= _MOST_YARN_FACTOR
    return min(int(original * factor), _MOST_CONTEXT) if given else 0


def _number(config: JsonObject, key: str) -> int:
    """0 where the config has no value."""
    for part in (config, object_at(config, "text_config")):
        value = part.get(key)
        if type(value) is int:
            return value
    return 0
