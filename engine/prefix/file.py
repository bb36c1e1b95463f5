"""One segment of a conversation in a file: safetensors with a checksum, read whole or not at all.

Written tensor by tensor, so that a reply waits for at most one; under a temporary name until complete. `disk.py`
decides which segments there are, and their length.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Generator
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from threading import get_ident
from typing import Any

import mlx.core as mx

from engine.api.files import open_plain
from engine.caches.checkpoints import Checkpoint, Rows
from engine.models.model_files import FileError, read_header

SUFFIX = ".safetensors"
PART_SUFFIX = ".part"
PRIVATE_FILE = 0o600
_PIECE_BYTES = 8 << 20
_MOST_CACHES = 1 << 12  # of one network
_NAMES = {
    mx.bool_: "BOOL",
    mx.uint8: "U8",
    mx.int8: "I8",
    mx.uint16: "U16",
    mx.int16: "I16",
    mx.uint32: "U32",
    mx.int32: "I32",
    mx.uint64: "U64",
    mx.int64: "I64",
    mx.float16: "F16",
    mx.bfloat16: "BF16",
    mx.float32: "F32",
}


@dataclass(frozen=True, slots=True)
class Segment:
    """Tokens [start, end) of conversations whose first `start` tokens have the digest `before`."""

    path: Path
    start: int
    before: str
    tokens: tuple[int, ...]
    has_checkpoint: bool  # of the caches without rows, at `end`
    model: str = ""  # the model of its rows, as in the name of the folder

    @property
    def end(self) -> int:
        return self.start + len(self.tokens)


def write_segment(segment: Segment, rows: Rows, checkpoint: Checkpoint | None) -> Generator[None]:
    """Write one tensor each step. Aborted half way, it leaves no file."""
    tensors = {f"rows.{at}.{part}": array for at, arrays in enumerate(rows) for part, array in enumerate(arrays)}
    layout = _named(checkpoint, tensors)
    metadata = {
        "start": str(segment.start),
        "before": segment.before,
        "model": segment.model,
        "tokens": " ".join(map(str, segment.tokens)),
        "checkpoint": json.dumps(layout),
        "caches": str(len(rows)),
    }
    part = segment.path.with_name(f"{segment.path.stem}.{get_ident()}.{os.getpid()}{PART_SUFFIX}")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE), "wb") as file:  # noqa: PTH123
            header = _header(tensors, metadata)
            file.write(header)
            checksum = zlib.crc32(header)
            for name in list(tensors):
                data = _bytes(tensors.pop(name))
                file.write(data)
                checksum = zlib.crc32(data, checksum)
                yield
            file.write(struct.pack("<I", checksum))
        part.replace(segment.path)
    finally:
        part.unlink(missing_ok=True)


def read_index(path: Path) -> Segment:
    """The index of a file; FileError when it is visibly damaged, or not one of ours."""
    read_header(path)
    try:
        _, metadata = _load(path)
        tokens = tuple(map(int, metadata["tokens"].split()))
        has_checkpoint = json.loads(metadata["checkpoint"]) is not None
        start = int(metadata["start"])
        if start < 0 or not tokens or int(metadata["caches"]) not in range(_MOST_CACHES):
            raise ValueError("numbers without measure")
        return Segment(path, start, metadata["before"], tokens, has_checkpoint, metadata["model"])
    except (ValueError, KeyError, RuntimeError) as error:
        raise _unreadable(path, error) from error


def read_segment(path: Path) -> tuple[Rows, Checkpoint | None]:
    """Its rows and its checkpoint, not evaluated; FileError unless the checksum matches."""
    try:
        _verify(path)
        tensors, metadata = _load(path)
        rows = [_rows_of(cache, tensors) for cache in range(min(int(metadata["caches"]), _MOST_CACHES))]
        return rows, _unnamed(json.loads(metadata["checkpoint"]), tensors)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> FileError:
    """FileError with the path and the reason; a KeyError's text is only the missing key."""
    if isinstance(error, KeyError):
        return FileError(f"{path.name}: no file of ours, it has no {error}")
    return FileError(f"{path.name}: {type(error).__name__}: {str(error)[:200]}")


def _rows_of(cache: int, tensors: dict[str, mx.array]) -> list[mx.array]:
    names = takewhile(tensors.__contains__, (f"rows.{cache}.{part}" for part in count()))
    return [tensors.pop(name) for name in names]


def _named(value: Any, tensors: dict[str, mx.array]) -> Any:
    """`value` with names in place of its arrays, which are added to `tensors`."""
    if isinstance(value, mx.array):
        name = f"state.{len(tensors)}"
        tensors[name] = value
        return {"array": name}
    return [_named(part, tensors) for part in value] if isinstance(value, list | tuple) else value


def _unnamed(value: Any, tensors: dict[str, mx.array]) -> Any:
    if isinstance(value, dict):
        return tensors[value["array"]]
    return [_unnamed(part, tensors) for part in value] if isinstance(value, list) else value


def _header(tensors: dict[str, mx.array], metadata: dict[str, str]) -> bytes:
    entries: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, array in tensors.items():
        offsets = [end, end + array.nbytes]
        entries[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": offsets}
        end += array.nbytes
    entries["checksum"] = {"dtype": "U32", "shape": [1], "data_offsets": [end, end + 4]}
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def _bytes(array: mx.array) -> memoryview:
    flat = mx.contiguous(array.reshape(-1)).view(mx.uint8)
    mx.eval(flat)
    return memoryview(flat)  # type: ignore[arg-type]


def _load(path: Path) -> tuple[dict[str, mx.array], dict[str, str]]:
    """Its tensors, not evaluated, and its metadata."""
    return mx.load(str(path), return_metadata=True)  # type: ignore[return-value]


def _verify(path: Path) -> None:
    """MEASURED: a gigabyte takes a third of a second; a prefill of the same tokens takes minutes."""
    checksum = 0
    with open_plain(path) as file:
        left = os.fstat(file.fileno()).st_size - 4
        while left > 0 and (data := file.read(min(left, _PIECE_BYTES))):
            checksum = zlib.crc32(data, checksum)
            left -= len(data)
        if left or file.read() != struct.pack("<I", checksum):
            raise FileError(f"{path.name}: the checksum differs")
