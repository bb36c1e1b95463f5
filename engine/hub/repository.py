"""Checks of names, sizes and checksums: what is asked of a hub, and what is accepted of its answers. Pure; no network,
no disk.

Anyone can run a hub. Nothing that it sends becomes a path before it is checked here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from engine.api.errors import FileUnusable, HubMisbehaved, NothingToInstall, RepositoryNotFound
from engine.api.hub import HubFile
from engine.models.drafter_kinds import is_drafter_folder
from engine.models.inspect import WEIGHTS
from engine.models.model_files import (
    CONFIG_LIMIT_BYTES,
    INDEX_LIMIT_BYTES,
    MIB,
    TOKENIZER_CONFIG_LIMIT_BYTES,
    TOKENIZER_LIMIT_BYTES,
)
from engine.models.names import is_repository
from engine.models.template_files import IN_ONE_FOLDER, MORE_TEMPLATES

if TYPE_CHECKING:
    from hashlib import _Hash

MANIFEST = "hunch.json"
MAX_FILES = 2048
MAX_FILE_BYTES = 2**40
MAX_TOTAL_BYTES = MAX_FILES * MAX_FILE_BYTES
MAX_SMALL_FILE_BYTES = 64 * MIB
SMALL_FILES = ("*.json", "*.jinja", "*.txt", "*.tiktoken", "tokenizer.model", "tiktoken.model", "LICENSE*", "README.md")
_MOST_BYTES = {  # of files that are read when a model is loaded
    "config.json": CONFIG_LIMIT_BYTES,
    "model.safetensors.index.json": INDEX_LIMIT_BYTES,
    "tokenizer.json": TOKENIZER_LIMIT_BYTES,
    "tokenizer.model": TOKENIZER_LIMIT_BYTES,
    "tiktoken.model": TOKENIZER_LIMIT_BYTES,
    "tokenizer_config.json": TOKENIZER_CONFIG_LIMIT_BYTES,
}
_REVISION = re.compile(r"\w[\w./-]{0,199}", re.ASCII)
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][\w.+-]{0,199}", re.ASCII)
_CHECKSUM = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_OTHER_FORMATS = ("gguf", "safetensors", "bin", "pt", "pth", "npz", "onnx", "ckpt", "h5", "msgpack")
_FORMATS = frozenset(_OTHER_FORMATS)


@dataclass(frozen=True, slots=True)
class RemoteFile:
    name: str
    size_bytes: int
    checksum: str  # 64 digits: SHA-256 of the content; 40: git's object id
    path: str = field(default="", compare=False)  # at the hub, if it has another one there

    @property
    def is_weights(self) -> bool:
        return _is_weights(self.name)

    def new_hash(self) -> _Hash:
        if len(self.checksum) == 64:
            return hashlib.sha256()
        return hashlib.sha1(b"blob %d\0" % self.size_bytes, usedforsecurity=False)


def is_source(name: object) -> bool:
    """Whether something can be installed by this name: a repository, or a drafter's folder within one."""
    if not isinstance(name, str):
        return False
    repository, inside = parts_of(name)
    return is_repository(repository) and (name == repository or is_drafter_folder(inside))


def parts_of(source: str) -> tuple[str, str]:
    """(repository, folder within it; "": the repository itself). "org/name/mtp" has both."""
    parts = source.split("/")
    return "/".join(parts[:2]), "/".join(parts[2:])


def is_checksum(value: object) -> bool:
    return isinstance(value, str) and _CHECKSUM.fullmatch(value) is not None


def check_repository(repository: str) -> None:
    """Raises RepositoryNotFound for a name that no hub can have."""
    if not is_source(repository):
        raise RepositoryNotFound(repository)


def check_revision(repository: str, revision: str) -> None:
    if not is_revision(revision):
        raise RepositoryNotFound(repository)


def is_revision(name: object) -> bool:
    return isinstance(name, str) and _REVISION.fullmatch(name) is not None and ".." not in name


def choose_files(repository: str, entries: Iterable[object]) -> list[RemoteFile]:
    """The files to install, small ones first. Raises HubMisbehaved, FileUnusable or NothingToInstall.

    No more of a long list is kept. Names are relative to the folder that is installed.
    """
    files: dict[str, RemoteFile] = {}
    endings: set[str] = set()
    drafters: set[str] = set()
    _, inside = parts_of(repository)
    for path, entry in (_path(repository, entry) for entry in entries):
        drafters |= {found} if (found := drafter_in(repository, path)) else set()
        there = _name_in(inside, path)
        name = _here(there)
        endings |= {name.rpartition(".")[2].casefold()} & _FORMATS
        if is_wanted(name):
            file = _file(repository, name, entry)
            _keep(repository, file if name == there else replace(file, path=there), files)
    if lacks := _lacks({file.name for file in files.values()}):
        formats = tuple(name for name in _OTHER_FORMATS if name in endings)
        raise NothingToInstall(repository, formats, tuple(sorted(drafters)), lacks)
    return sorted(files.values(), key=lambda file: (file.is_weights, file.name))


def listed_files(repository: str, entries: Iterable[object]) -> list[HubFile]:
    """All files of the repository, for display; at most MAX_FILES.

    If the repository itself is not a model, an installation would fetch none of them.
    """
    files: list[HubFile] = []
    for path, entry in (_path(repository, entry) for entry in entries):
        if not path:
            continue
        large = entry.get("lfs")
        size = (large if isinstance(large, dict) else entry).get("size")
        size_bytes = size if type(size) is int and 0 <= size <= MAX_FILE_BYTES else 0
        if path.isprintable():
            files.append(HubFile(path[:300], size_bytes, is_wanted(_here(path)) and size_bytes <= _most_bytes(path)))
        if len(files) >= MAX_FILES:
            break
    if _lacks({file.name for file in files if file.is_installed}):
        return [replace(file, is_installed=False) for file in files]
    return files


def drafter_in(repository: str, path: str) -> str:
    """The name for installing the drafter whose config is at this path of a repository; "" for other paths."""
    folder, _, name = path.partition("/")
    return f"{repository}/{folder}" if name == "config.json" and is_source(f"{repository}/{folder}") else ""


def _name_in(folder: str, path: str) -> str:
    """A file's name relative to that folder of its repository; "" if it is outside."""
    if not folder:
        return path
    return path.removeprefix(f"{folder}/") if path.startswith(f"{folder}/") else ""


def _here(path: str) -> str:
    """The name of a repository's file in a folder that has no others within."""
    folder, _, name = path.partition("/")
    return f"{IN_ONE_FOLDER}{name}" if folder == MORE_TEMPLATES and name.endswith(".jinja") else path


def _lacks(names: Collection[str]) -> tuple[str, ...]:
    """Kinds of files that a model needs and that are not among `names`."""
    weights = any(_is_weights(name) for name in names)
    return (*(() if "config.json" in names else ("config.json",)), *(() if weights else ("model.safetensors",)))


def _is_weights(name: str) -> bool:
    return fnmatchcase(name, WEIGHTS)


def _most_bytes(name: str) -> int:
    """Larger files of this name are not downloaded."""
    return _MOST_BYTES.get(name, MAX_FILE_BYTES if _is_weights(name) else MAX_SMALL_FILE_BYTES)


def _keep(repository: str, file: RemoteFile, files: dict[str, RemoteFile]) -> None:
    if file.size_bytes > (most_bytes := _most_bytes(file.name)):
        if file.name in _MOST_BYTES:
            raise FileUnusable(repository, file.name, file.size_bytes, most_bytes)
        return
    if file.name.casefold() in files:
        raise HubMisbehaved(repository, "two files of one name")
    files[file.name.casefold()] = file
    if len(files) > MAX_FILES:
        raise HubMisbehaved(repository, f"more than {MAX_FILES} files")


def _path(repository: str, entry: object) -> tuple[str, dict[str, object]]:
    path = entry.get("path") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(path, str):
        raise HubMisbehaved(repository, "a file without a path")
    if re.search(r"[\x00-\x1f\\]", path) or any(part in {"", ".", ".."} for part in path.split("/")):
        raise HubMisbehaved(repository, f"a file called {path[:100]!r}")
    return (path if entry.get("type", "file") == "file" else ""), entry


def is_wanted(path: str) -> bool:
    """Not files of subfolders (other formats or models), and no code."""
    if not _PLAIN_NAME.fullmatch(path) or path.casefold() == MANIFEST:
        return False
    return any(fnmatchcase(path, pattern) for pattern in (WEIGHTS, *SMALL_FILES))


def _file(repository: str, path: str, entry: dict[str, object]) -> RemoteFile:
    large = entry.get("lfs")
    source = large if isinstance(large, dict) else entry
    size = source.get("size")
    checksum = str(source.get("oid")).removeprefix("sha256:")
    if type(size) is not int or not 0 <= size <= MAX_FILE_BYTES:
        raise HubMisbehaved(repository, f"{path}: size {str(size)[:40]}")
    if not _CHECKSUM.fullmatch(checksum):
        raise HubMisbehaved(repository, f"{path}: checksum {checksum[:80]!r}")
    return RemoteFile(path, size, checksum)
