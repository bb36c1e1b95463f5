"""What was measured, tried or inspected, kept as a JSON object with a sum over it.

A bit that turns on the disk would make a time, a size or an answer another one that is as possible, and it would stay:
with the sum the file counts as missing, and all in it is made again.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

from engine.api.files import write_atomically
from engine.models.model_files import FileError, JsonObject, read_object

_SUM = "sum"


def write_kept(path: Path, value: JsonObject, limit_bytes: int, *, private: bool = True) -> None:
    """`limit_bytes`: as it is read with. Raises OSError, or ValueError for an invalid name of a file."""
    write_atomically(path, json.dumps(value | {_SUM: _sum(value)}), private=private, most_bytes=limit_bytes)


def read_kept(path: Path, limit_bytes: int) -> JsonObject:
    """{} if there is none, or not as it was written."""
    try:
        value = read_object(path, limit_bytes)
        return value if value.pop(_SUM, None) == _sum(value) else {}
    except (FileError, RecursionError):
        return {}


def _sum(value: JsonObject) -> str:
    return f"{zlib.crc32(json.dumps(value).encode()):08x}"
