"""Reads small files of a model folder with limits, so that no JSON fills the memory or the stack.

JSON objects, fields of a config, and headers of safetensors files. inspect.py and vocabulary.py interpret the values.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from engine.api.files import open_plain, patiently

KIB = 1024
MIB = 1024 * KIB
CONFIG_LIMIT_BYTES = 1 * MIB
TOKENIZER_LIMIT_BYTES = 64 * MIB
TOKENIZER_CONFIG_LIMIT_BYTES = 16 * MIB
TEMPLATE_LIMIT_BYTES = 256 * KIB
INDEX_LIMIT_BYTES = 32 * MIB

JsonObject = dict[str, object]
HEADER_LIMIT_BYTES = 32 * MIB
MAX_DIMENSIONS = 8
BITS = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    "F4": 4,
}


class FileError(Exception):
    """A file that is too large, unreadable or of the wrong format. The caller turns it into an EngineError."""


def read_limited(path: Path, limit_bytes: int) -> bytes:
    try:
        data = patiently(lambda: start_of(path, limit_bytes + 1))
    except OSError as error:
        raise FileError(f"{path.name}: {error.strerror}") from error
    except ValueError as error:
        raise FileError(f"{path.name}: {error}") from error  # an invalid file name
    if len(data) > limit_bytes:
        raise FileError(f"{path.name}: larger than {limit_bytes} bytes")
    return data


def start_of(path: Path, most_bytes: int) -> bytes:
    """Raises OSError, also for what is no plain file; ValueError for an invalid name."""
    with open_plain(path) as file:
        return file.read(most_bytes)


def parse_object(data: bytes, name: str) -> JsonObject:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:  # ValueError covers bad JSON, bad UTF-8 and endless integers
        raise FileError(f"{name}: {str(error)[:200]}") from error
    if not isinstance(value, dict):
        raise FileError(f"{name}: not an object")
    return value


def read_object(path: Path, limit_bytes: int) -> JsonObject:
    return parse_object(read_limited(path, limit_bytes), path.name)


def object_in(path: Path, limit_bytes: int) -> JsonObject:
    """The object in the file; {} if it cannot be read."""
    try:
        return read_object(path, limit_bytes)
    except FileError:
        return {}


def object_at(value: JsonObject, key: str) -> JsonObject:
    """The object under `key`; {} if there is none, or something else."""
    found = value.get(key)
    return found if isinstance(found, dict) else {}


# Single fields of a config that is not trusted. Raise FileError for values of a wrong type.


def entries(config: Mapping[str, Any], key: str) -> list[Any]:
    """[] if it is not a list."""
    value = config.get(key)
    return value if isinstance(value, list) else []


def whole(config: Mapping[str, Any], key: str, default: int = 0) -> int:
    value = config.get(key)
    if value is None:
        return default
    if type(value) is not int or not -1 <= value <= 2**30:
        raise FileError(f"config.json: {key} {str(value)[:40]}")
    return value


def positive(config: Mapping[str, Any], key: str) -> int:
    if (value := whole(config, key)) < 1:
        raise FileError(f"config.json: no {key}")
    return value


def flag(config: Mapping[str, Any], key: str, default: bool = False) -> bool:
    value = config.get(key)
    if value is None:
        return default
    if value not in (False, True):  # "false" would count as true
        raise FileError(f"config.json: {key} {str(value)[:40]}")
    return bool(value)


def real(config: Mapping[str, Any], key: str, default: float) -> float:
    value = config.get(key)
    if value is None:
        return default
    if type(value) not in (int, float) or not -1e12 < value < 1e12:
        raise FileError(f"config.json: {key} {str(value)[:40]}")
    return float(value)


# The header of a safetensors file, checked against the file's size. The body is not read. The rules of the format:
# names and shapes in a JSON header; tensors follow each other without gap, overlap or rest.


@dataclass(frozen=True, slots=True)
class Tensor:
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    @property
    def elements(self) -> int:
        return prod(self.shape)


def stamp(stat: os.stat_result) -> tuple[int, int, int, int]:
    """(size, times of change in nanoseconds, inode): differs after the file was replaced or written to."""
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def read_header(path: Path) -> dict[str, Tensor]:
    """Raises FileError when the file is truncated, padded or malformed."""
    try:
        with open_plain(path) as file:
            size = os.fstat(file.fileno()).st_size
            prefix = file.read(8)
            length = struct.unpack("<Q", prefix)[0] if len(prefix) == 8 else -1
            if not 2 <= length <= min(size - 8, HEADER_LIMIT_BYTES):
                raise FileError(f"{path.name}: header of {length} bytes in a file of {size}")
            header = parse_object(file.read(length), path.name)
    except OSError as error:
        raise FileError(f"{path.name}: {error.strerror}") from error
    tensors = {name: _tensor(path.name, name, entry) for name, entry in header.items() if name != "__metadata__"}
    _check_layout(path.name, tensors, size - 8 - length)
    return tensors


def _tensor(file: str, name: str, entry: object) -> Tensor:
    where = f"{file}: {name[:100]}"
    if not isinstance(entry, dict):
        raise FileError(f"{where}: not an object")
    dtype = _dtype(where, entry)
    shape = _numbers(where, entry, "shape")
    begin, end = _offsets(where, entry)
    if end - begin != (prod(shape) * BITS[dtype] + 7) // 8:
        raise FileError(f"{where}: {end - begin} bytes for {dtype} {list(shape)}")
    return Tensor(dtype, shape, begin, end)


def _dtype(where: str, entry: JsonObject) -> str:
    dtype = entry.get("dtype")
    if not isinstance(dtype, str) or dtype not in BITS:
        raise FileError(f"{where}: dtype {str(dtype)[:20]}")
    return dtype


def _numbers(where: str, entry: JsonObject, key: str) -> tuple[int, ...]:
    values = entry.get(key)
    if not isinstance(values, list) or len(values) > MAX_DIMENSIONS:
        raise FileError(f"{where}: {key} is no list of numbers")
    if not all(type(value) is int and 0 <= value < 2**48 for value in values):
        raise FileError(f"{where}: {key} {str(values)[:100]}")
    return tuple(values)


def _offsets(where: str, entry: JsonObject) -> tuple[int, int]:
    offsets = _numbers(where, entry, "data_offsets")
    if len(offsets) != 2:
        raise FileError(f"{where}: {len(offsets)} data_offsets")
    return offsets[0], offsets[1]


def _check_layout(file: str, tensors: dict[str, Tensor], body_bytes: int) -> None:
    position = 0
    for tensor in sorted(tensors.values(), key=lambda tensor: (tensor.begin, tensor.end)):
        if tensor.begin != position:
            raise FileError(f"{file}: a gap or an overlap at byte {position} of the weights")
        position = tensor.end
    if position != body_bytes:
        raise FileError(f"{file}: {body_bytes} bytes of weights, {position} expected")
