"""Reading the small files of a model folder with limits: nobody's JSON gets to fill the memory or the stack.

What the values mean is inspect.py's and vocabulary.py's business; weights are safetensors_header.py's.
"""

from __future__ import annotations

import json
from pathlib import Path

from engine.api.files import patiently

KIB = 1024
MIB = 1024 * KIB
CONFIG_LIMIT_BYTES = 1 * MIB
TOKENIZER_LIMIT_BYTES = 64 * MIB
TOKENIZER_CONFIG_LIMIT_BYTES = 16 * MIB
TEMPLATE_LIMIT_BYTES = 256 * KIB
INDEX_LIMIT_BYTES = 32 * MIB

JsonObject = dict[str, object]


class FileError(Exception):
    """A file that is too large, unreadable or not what its name says. The caller turns it into an EngineError."""


def read_limited(path: Path, limit_bytes: int) -> bytes:
    try:
        data = patiently(lambda: start_of(path, limit_bytes + 1))
    except OSError as error:
        raise FileError(f"{path.name}: {error.strerror}") from error
    except ValueError as error:
        raise FileError(f"{path.name}: {error}") from error  # a name that no file can have
    if len(data) > limit_bytes:
        raise FileError(f"{path.name}: larger than {limit_bytes} bytes")
    return data


def start_of(path: Path, most_bytes: int) -> bytes:
    """Raises FileError where it is no plain file: opening a pipe waits for somebody who writes. Or an OSError."""
    if not path.is_file():
        raise FileError(f"{path.name}: not a file")
    with path.open("rb") as file:
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


def object_at(value: JsonObject, key: str) -> JsonObject:
    """The object under `key`, or an empty one when there is none or it is something else."""
    found = value.get(key)
    return found if isinstance(found, dict) else {}
