"""Files of measurements and other results: a JSON object with a checksum.

A flipped bit could turn a time or a size into another plausible one, which would stay. With a wrong checksum the file
counts as missing, and its content is computed again.
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
    """The object in the file; {} if there is none, or its checksum is wrong."""
    try:
        value = read_object(path, limit_bytes)
        return value if value.pop(_SUM, None) == _sum(value) else {}
    except (FileError, RecursionError):
        return {}


def _sum(value: JsonObject) -> str:
    return f"{zlib.crc32(json.dumps(value).encode()):08x}"
