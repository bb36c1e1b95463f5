"""The models on this machine: our folder, the starter pair, added folders, other programs' models.

Only reads. Unusable models are listed with the reason. Results are cached by folder until it changes.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, islice
from pathlib import Path
from typing import Any

from engine.api.errors import ModelDamaged, ModelError, ModelHasNoWeights, ModelNotFound
from engine.api.events import InstalledModel
from engine.api.types import CacheSizes, DrafterInfo, Effort, ModelAbout, ModelInfo, ModelSource
from engine.hub.repository import is_source
from engine.hub.staging import read_manifest, repository_of
from engine.models.drafter_kinds import is_drafter_folder, known_kind
from engine.models.inspect import inspect_model, model_name
from engine.models.kept_files import read_kept, write_kept
from engine.models.model_files import (
    CONFIG_LIMIT_BYTES,
    INDEX_LIMIT_BYTES,
    object_at,
    object_in,
    stamp,
    start_of,
)
from engine.models.names import is_commit

MAX_ENTRIES = 2_000  # of one folder: no home folder is searched whole
_log = logging.getLogger(__name__)

NEIGHBOURS = (ModelSource.HUB_CACHE, ModelSource.LM_STUDIO, ModelSource.OMLX)

_READING = 5  # version of inspect_model's results: increment it when more is read out of the same files
_MOST_FOLDERS = 20
_LM_STUDIO_MOVED_TO = ".lmstudio-home-pointer"
_LM_STUDIO_HOMES = (".lmstudio", ".cache/lm-studio")  # unless it was moved
_OMLX_MOVED_TO = "Library/Application Support/oMLX/base-path"


# Cached results of earlier scans, so that a scan opens only files that are new or have changed. The key is the names,
# sizes, times and inodes of a folder's files. Errors are not cached: such models are read again.


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """What a folder's listing says without opening a file."""

    identity: str
    size_bytes: int

    @classmethod
    def of(cls, stats: Mapping[str, tuple[int, ...]]) -> FolderFiles:
        """`stats`: each file's stamp, by name."""
        given = repr(sorted(stats.items())).encode("utf-8", "surrogatepass")
        return cls(hashlib.blake2b(given, digest_size=16).hexdigest(), sum(size for size, *_ in stats.values()))


class Inspected:
    """Cache of ModelInfos. Used by one thread."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ModelInfo]] = {}  # by folder
        self._changed = False

    def info(self, folder: Path, files: FolderFiles) -> ModelInfo:
        """Raises a ModelError, as inspect_model does."""
        known = self._known.get(str(folder))
        if known is not None and known[0] == files.identity:
            return known[1]
        self._known.pop(str(folder), None)
        info = inspect_model(folder)
        self._known[str(folder)] = (files.identity, info)
        self._changed = True
        return info

    def load(self, path: Path) -> None:
        """A missing or damaged file, or one of another version, only costs time."""
        content = read_kept(path, INDEX_LIMIT_BYTES)
        if content.get("made_by") != _maker():
            return
        for folder, row in object_at(content, "models").items():
            info = _info(row)
            if info is not None and isinstance(row, dict) and info.folder == folder:
                self._known[folder] = (str(row.get("identity")), info)

    def save(self, path: Path, seen: set[str]) -> None:
        """Only folders that the last scan has `seen`."""
        if not self._changed and self._known.keys() <= seen:
            return
        self._known = {folder: known for folder, known in self._known.items() if folder in seen}
        rows = {folder: {"identity": identity, **asdict(info)} for folder, (identity, info) in self._known.items()}
        write_kept(path, {"made_by": _maker(), "models": rows}, INDEX_LIMIT_BYTES, private=False)
        self._changed = False


def _maker() -> str:
    """Versions of everything that determines the result."""
    try:
        architectures = version("mlx-lm")
    except PackageNotFoundError:
        architectures = ""
    return f"{_READING} {architectures} {' '.join(field.name for field in fields(ModelInfo))}"


def _info(row: object) -> ModelInfo | None:
    """The inverse of `asdict`."""
    if not isinstance(row, dict):
        return None
    given: dict[str, Any] = {key: value for key, value in row.items() if key != "identity"}
    try:
        about = dict(given["about"])
        efforts = tuple(Effort(each) for each in about["efforts"])
        given["about"] = ModelAbout(**about | {"languages": tuple(about["languages"]), "efforts": efforts})
        given["caches"] = CacheSizes(**given["caches"]) if given["caches"] is not None else None
        for part in ("drafter", "own_drafter"):
            given[part] = _drafter(given[part])
        return ModelInfo(**given)
    except (KeyError, TypeError, ValueError):
        return None


def _drafter(row: Any) -> DrafterInfo | None:
    if row is None:
        return None
    return DrafterInfo(**row | {"kind": known_kind(row["kind"]), "layers": tuple(row["layers"])})


@dataclass(frozen=True, slots=True)
class Places:
    own: Path
    starter: Path | None
    hub_cache: Path
    added: tuple[Path, ...] = ()
    neighbours: tuple[tuple[ModelSource, Path], ...] = ()


def default_hub_cache() -> Path:
    """The folder of huggingface_hub's files, by its own rules."""
    if folder := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return _expanded(folder)
    if folder := os.environ.get("HF_HOME"):
        return _expanded(folder) / "hub"
    return _expanded(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface" / "hub"


def _expanded(folder: str) -> Path:
    """With environment variables and `~` expanded; unchanged if there is no such user."""
    given = Path(os.path.expandvars(folder))
    try:
        return given.expanduser()
    except RuntimeError:
        return given


def scan(places: Places, inspected: Inspected | None = None) -> tuple[InstalledModel, ...]:
    """Every model once, under the first source that has it."""
    known = inspected or Inspected()
    found: dict[Path, InstalledModel] = {}
    for place in _candidates(places):
        for folder in place.folders:
            key = folder.resolve()
            if key not in found and (model := _describe(folder, place, known)) is not None:
                found[key] = model
    return tuple(found.values())


def scan_folders(folders: Sequence[Path]) -> tuple[InstalledModel, ...]:
    """Of these alone; the models have absolute paths, as loaded ones do."""
    nowhere = Path(os.devnull)
    return scan(Places(nowhere, None, nowhere, tuple(folder.absolute() for folder in folders)))


@dataclass(frozen=True, slots=True)
class _Place:
    source: ModelSource
    root: Path
    folders: Iterable[Path]


def _describe(folder: Path, place: _Place, inspected: Inspected) -> InstalledModel | None:
    """The model in a folder; None for a partial download in another program's folder."""
    info: ModelInfo | None = None
    error: ModelError | None = None
    files = FolderFiles.of(_stats(folder))
    try:
        info = inspected.info(folder, files)
    except ModelError as caught:
        error = caught
    except Exception as caught:  # noqa: BLE001 - an error of one folder must not remove the others from the list
        _log.exception("A folder could not be looked at")
        error = ModelDamaged(str(folder), type(caught).__name__)
    theirs = place.source in NEIGHBOURS or is_snapshot(folder) or is_snapshot(folder.parent)
    if theirs and isinstance(error, ModelDamaged | ModelHasNoWeights | ModelNotFound):
        return None
    return InstalledModel(
        folder=str(folder),
        name=info.name if info is not None else model_name(folder),
        repository=_repository(folder, place),
        source=place.source,
        size_bytes=files.size_bytes,
        info=info,
        error=error,
        revision=revision_of(folder),
    )


def _stats(folder: Path) -> dict[str, tuple[int, ...]]:
    """Of plain files, and of targets of links."""
    found: dict[str, tuple[int, ...]] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, MAX_ENTRIES):
                with suppress(OSError):
                    given = entry.stat()
                    if stat.S_ISREG(given.st_mode):
                        found[entry.name] = stamp(given)
    except OSError:
        return {}
    return found


def _candidates(places: Places) -> Iterator[_Place]:
    if places.starter is not None:
        yield _Place(ModelSource.STARTER, places.starter, _models_in(places.starter))
    yield _Place(ModelSource.OWN, places.own, _models_in(places.own))
    for folder in places.added:
        caches = (_snapshots(folder), _snapshots(folder / "hub"))  # also one on another disk
        yield _Place(ModelSource.ADDED, folder, chain(_models_added(folder), *caches))
    yield _Place(ModelSource.HUB_CACHE, places.hub_cache, _snapshots(places.hub_cache))
    for source, folder in places.neighbours:
        yield _Place(source, folder, _models_in(folder))


def _models_in(folder: Path) -> Iterator[Path]:
    for each in _below(folder):
        yield from _model_with_drafters(each)


def _models_added(folder: Path) -> Iterator[Path]:
    """It, its children and theirs; also folders with weights but no config.json, which are listed as such.

    Not those in a hub's cache, where partial downloads are usual.
    """
    yield from _model_or_weights(folder)
    for each in _below(folder):
        is_of_a_cache = each.relative_to(folder).parts[0].startswith("models--")
        yield from _model_with_drafters(each) if is_of_a_cache else _model_or_weights(each)


def _below(folder: Path) -> Iterator[Path]:
    """Its children, and theirs: most programs keep models as <organisation>/<model>."""
    children = _folders(folder)
    yield from children
    for child in children:
        if not _is_model(child):
            yield from _folders(child)


def _model_or_weights(folder: Path) -> Iterator[Path]:
    if _is_model(folder):
        yield from _model_with_drafters(folder)
    elif not is_drafter_folder(folder.name) and _has_weights(folder):
        yield folder


def _has_weights(folder: Path) -> bool:
    """By names alone, up to the first that matches."""
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith((".safetensors", ".gguf")) for entry in islice(entries, MAX_ENTRIES))
    except (OSError, ValueError):  # a path that can be none
        return False


def _model_with_drafters(folder: Path) -> Iterator[Path]:
    """Nothing if it is not a model; else also the drafters in folders of their own within it."""
    if _is_model(folder):
        yield folder
        yield from filter(_is_model, _entries(folder, lambda entry: is_drafter_folder(entry.name)))


def _snapshots(cache: Path) -> Iterator[Path]:
    for repository in _folders(cache):
        if repository.name.startswith("models--"):
            for snapshot in _current_snapshot(repository):
                yield from _model_with_drafters(snapshot)


def _current_snapshot(repository: Path) -> Sequence[Path]:
    """The one that `main` points to, else the newest: a cache keeps old revisions, too.

    One with weights, if any has some: they are the last that arrives of a newer revision.
    """
    main = _main_commit(repository)
    snapshots = [path for path in _folders(repository / "snapshots") if _is_model(path)]
    return sorted(snapshots, key=lambda path: (_has_weights(path), path.name == main, _changed_at(path)))[-1:]


def _changed_at(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:  # its program has removed it meanwhile
        return 0.0


def _main_commit(repository: Path) -> str:
    try:
        return start_of(repository / "refs" / "main", 64).decode("ascii", "replace").strip()
    except OSError:
        return ""


def _repository(folder: Path, place: _Place) -> str:
    """By our own manifest, the cache's folder names or <organisation>/<model>; "" if not known."""
    if is_drafter_folder(folder.name) and _is_model(folder.parent):
        main = _repository(folder.parent, place)
        return f"{main}/{folder.name}" if main else ""
    if is_snapshot(folder):
        name = folder.parent.parent.name.removeprefix("models--").replace("--", "/")
    elif place.source in NEIGHBOURS and folder.parent != place.root:
        name = f"{folder.parent.name}/{folder.name}"
    else:
        name = repository_of(folder)
    return name if is_source(name) else ""


def revision_of(folder: Path) -> str:
    revision = folder.name if is_snapshot(folder) else read_manifest(folder).get("revision")
    return str(revision) if is_commit(revision) else ""


def is_snapshot(folder: Path) -> bool:
    """Whether its path is as in a hub's cache."""
    return folder.parent.name == "snapshots" and folder.parent.parent.name.startswith("models--")


def _is_model(folder: Path) -> bool:
    """pathlib raises for a folder without access; a scan treats it as missing."""
    try:
        return (folder / "config.json").is_file()
    except OSError:
        return False


def _folders(folder: Path) -> list[Path]:
    return _entries(folder, lambda entry: not entry.name.startswith(".") and _is_folder(entry))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """On most file systems the listing says so."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _entries(folder: Path, wanted: Callable[[os.DirEntry[str]], bool]) -> list[Path]:
    """[] for a missing folder or one without access: an unplugged disk is no error of a scan."""
    try:
        with os.scandir(folder) as entries:
            some = islice(entries, MAX_ENTRIES)
            return [folder / name for name in sorted(entry.name for entry in some if wanted(entry))]
    except (OSError, ValueError):  # a path that can be none
        return []


# Folders where other programs of this user keep models: found in their settings, only ever read.


def neighbours(home: Path) -> tuple[tuple[ModelSource, Path], ...]:
    """Folders with models, each once; some may not exist."""
    found: dict[Path, ModelSource] = {}
    for source, folder in (*_lm_studio(home), *_omlx(home)):
        if len(found) < _MOST_FOLDERS:
            found.setdefault(folder, source)
    return tuple((source, folder) for folder, source in found.items())


def _lm_studio(home: Path) -> Iterator[tuple[ModelSource, Path]]:
    bases = [
        base for each in (_line_in(home / _LM_STUDIO_MOVED_TO), *_LM_STUDIO_HOMES) if (base := _folder(each, home))
    ]
    moved = (object_in(base / "settings.json", CONFIG_LIMIT_BYTES).get("downloadsFolder") for base in bases)
    for folder in (*moved, *(str(base / "models") for base in bases)):
        if path := _folder(folder, home):
            yield ModelSource.LM_STUDIO, path


def _omlx(home: Path) -> Iterator[tuple[ModelSource, Path]]:
    base = _omlx_base(home)
    given = object_at(object_in(base / "settings.json", CONFIG_LIMIT_BYTES), "model")
    folders = given.get("model_dirs")
    named = list(folders) if isinstance(folders, list) and folders else [given.get("model_dir")]
    for folder in named if any(named) else [str(base / "models")]:
        if path := _folder(folder, home):
            yield ModelSource.OMLX, path


def _omlx_base(home: Path) -> Path:
    """By oMLX's rules: the environment, the file that its app writes, or its folder in the home."""
    moved = os.environ.get("OMLX_BASE_PATH") or _line_in(home / _OMLX_MOVED_TO)
    return _folder(moved, home) or home / ".omlx"


def _line_in(file: Path) -> str:
    """A path that another program has written; "" if there is none."""
    try:
        return start_of(file, 4096).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _folder(given: object, home: Path) -> Path | None:
    """Absolute, or in the home folder; None for an invalid path."""
    if not isinstance(given, str) or not given or "\0" in given or len(given) > 4096:
        return None
    return home / given.removeprefix("~/")
