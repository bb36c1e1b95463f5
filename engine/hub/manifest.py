"""hunch.json: what we installed into a folder, from where, with which checksums. Read with suspicion, written whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from engine.api.files import write_atomically
from engine.hub.repository import MANIFEST, RemoteFile, is_source, parts_of
from engine.models.model_files import INDEX_LIMIT_BYTES, FileError, JsonObject, object_at, read_object


def write_manifest(folder: Path, repository: str, revision: str, files: Sequence[RemoteFile]) -> None:
    listed = {file.name: {"size_bytes": file.size_bytes, "checksum": file.checksum} for file in files}
    name, inside = parts_of(repository)
    named = {"name": f"{name.partition('/')[2]}-{inside}"} if inside else {}
    write_json(folder / MANIFEST, {**named, "repository": repository, "revision": revision, "files": listed})


def read_manifest(folder: Path) -> JsonObject:
    """Empty when there is none, or a bad one."""
    try:
        return read_object(folder / MANIFEST, INDEX_LIMIT_BYTES)
    except FileError:
        return {}


def repository_of(folder: Path) -> str:
    repository = read_manifest(folder).get("repository")
    return str(repository) if is_source(repository) else ""


def lists(folder: Path, revision: str, files: Sequence[RemoteFile]) -> bool:
    manifest = read_manifest(folder)
    return manifest.get("revision") == revision and object_at(manifest, "files").keys() == {file.name for file in files}


def write_json(path: Path, value: JsonObject) -> None:
    write_atomically(path, json.dumps(value, indent=1), private=False)
