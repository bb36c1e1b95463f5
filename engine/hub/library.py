"""Which models are on this machine: our folder, the starter pair, folders that were added, other programs' models.

Only looks. Models that cannot serve are listed with the reason.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from engine.api.errors import ModelDamaged, ModelError, ModelHasNoWeights, ModelNotFound
from engine.api.events import InstalledModel
from engine.api.types import ModelInfo, ModelSource
from engine.hub.inspected import FolderFiles, Inspected
from engine.hub.manifest import repository_of
from engine.hub.repository import is_source
from engine.models.inspect import model_name
from engine.models.model_files import FileError, start_of
from engine.models.names import is_drafter_folder

MAX_ENTRIES = 2_000  # of one folder: nobody's home folder gets searched
_log = logging.getLogger(__name__)

NEIGHBOURS = (ModelSource.HUB_CACHE, ModelSource.LM_STUDIO, ModelSource.OMLX)


@dataclass(frozen=True, slots=True)
class Places:
    own: Path
    starter: Path | None
    hub_cache: Path
    added: tuple[Path, ...] = ()
    neighbours: tuple[tuple[ModelSource, Path], ...] = ()


def default_hub_cache() -> Path:
    """Where huggingface_hub keeps its files, by its own rules."""
    if folder := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return _expanded(folder)
    if folder := os.environ.get("HF_HOME"):
        return _expanded(folder) / "hub"
    return _expanded(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface" / "hub"


def _expanded(folder: str) -> Path:
    """With the environment's variables, and the home folder in place of `~`; as it is where nobody has that name."""
    told = Path(os.path.expandvars(folder))
    try:
        return told.expanduser()
    except RuntimeError:
        return told


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


@dataclass(frozen=True, slots=True)
class _Place:
    source: ModelSource
    root: Path
    folders: Iterable[Path]


def _describe(folder: Path, place: _Place, inspected: Inspected) -> InstalledModel | None:
    """None for a half-fetched entry of somebody else's folder."""
    info: ModelInfo | None = None
    error: ModelError | None = None
    files = FolderFiles.of(_stats(folder))
    try:
        info = inspected.info(folder, files)
    except ModelError as caught:
        error = caught
    except Exception as caught:  # noqa: BLE001 - one folder must not take the others from the list
        _log.exception("A folder could not be looked at")
        error = ModelDamaged(str(folder), type(caught).__name__)
    theirs = place.source in NEIGHBOURS or _is_snapshot(folder) or _is_snapshot(folder.parent)
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
    )


def _stats(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Of the plain files, and of those that links lead to."""
    found: dict[str, tuple[int, int, int]] = {}
    try:
        with os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(MAX_ENTRIES), strict=False):
                with suppress(OSError):
                    told = entry.stat()
                    if stat.S_ISREG(told.st_mode):
                        found[entry.name] = (told.st_size, told.st_mtime_ns, told.st_ino)
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
    """Its children, and theirs: <organisation>/<model> is how most programs keep models."""
    children = _folders(folder)
    for child in children:
        yield from _model_with_drafters(child)
    for child in children:
        if not _is_model(child):
            for grandchild in _folders(child):
                yield from _model_with_drafters(grandchild)


def _models_added(folder: Path) -> Iterator[Path]:
    """It, its children and theirs; also where weights lie that no config.json tells of, which are listed so.

    Not those in a hub's cache, where half-fetched models are usual.
    """
    yield from _model_or_weights(folder)
    children = _folders(folder)
    for child in children:
        yield from _look_added(child, child)
    for child in children:
        if not _is_model(child):
            for grandchild in _folders(child):
                yield from _look_added(child, grandchild)


def _look_added(child: Path, folder: Path) -> Iterator[Path]:
    is_of_a_cache = child.name.startswith("models--")
    return _model_with_drafters(folder) if is_of_a_cache else _model_or_weights(folder)


def _model_or_weights(folder: Path) -> Iterator[Path]:
    if _is_model(folder):
        yield from _model_with_drafters(folder)
    elif not is_drafter_folder(folder.name) and _has_weights(folder):
        yield folder


def _has_weights(folder: Path) -> bool:
    """Looks at names alone, and no further than the first that tells."""
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith((".safetensors", ".gguf")) for entry in islice(entries, MAX_ENTRIES))
    except OSError:
        return False


def _model_with_drafters(folder: Path) -> Iterator[Path]:
    """Nothing where it is no model; else also the drafters in folders of their own within it."""
    if _is_model(folder):
        yield folder
        yield from filter(_is_model, _entries(folder, lambda entry: is_drafter_folder(entry.name)))


def _snapshots(cache: Path) -> Iterator[Path]:
    for repository in _folders(cache):
        if repository.name.startswith("models--"):
            for snapshot in _current_snapshot(repository):
                yield from _model_with_drafters(snapshot)


def _current_snapshot(repository: Path) -> Sequence[Path]:
    """What `main` points to, else the newest: a cache keeps old revisions, too."""
    snapshots = [path for path in _folders(repository / "snapshots") if _is_model(path)]
    return sorted(snapshots, key=lambda path: (path.name == _main_commit(repository), _changed_at(path)))[-1:]


def _changed_at(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:  # its program has removed it meanwhile
        return 0.0


def _main_commit(repository: Path) -> str:
    try:
        return start_of(repository / "refs" / "main", 64).decode("ascii", "replace").strip()
    except (FileError, OSError):
        return ""


def _repository(folder: Path, place: _Place) -> str:
    """As our own manifest, the cache's folder names or <organisation>/<model> tell it; "" where they do not."""
    if is_drafter_folder(folder.name) and _is_model(folder.parent):
        main = _repository(folder.parent, place)
        return f"{main}/{folder.name}" if main else ""
    if _is_snapshot(folder):
        name = folder.parent.parent.name.removeprefix("models--").replace("--", "/")
    elif place.source in NEIGHBOURS and folder.parent != place.root:
        name = f"{folder.parent.name}/{folder.name}"
    else:
        name = repository_of(folder)
    return name if is_source(name) else ""


def _is_snapshot(folder: Path) -> bool:
    """Whether it lies as in a hub's cache."""
    return folder.parent.name == "snapshots" and folder.parent.parent.name.startswith("models--")


def _is_model(folder: Path) -> bool:
    """pathlib raises where a folder may not be entered; for a scan it is simply not there."""
    try:
        return (folder / "config.json").is_file()
    except OSError:
        return False


def _folders(folder: Path) -> list[Path]:
    return _entries(folder, lambda entry: not entry.name.startswith(".") and _is_folder(entry))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Of most file systems the listing itself tells."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _entries(folder: Path, wanted: Callable[[os.DirEntry[str]], bool]) -> list[Path]:
    """Nothing for a folder that is not there or not ours to read: an unplugged disk is no error of a scan."""
    try:
        with os.scandir(folder) as entries:
            some = zip(entries, range(MAX_ENTRIES), strict=False)
            return [folder / name for name in sorted(entry.name for entry, _ in some if wanted(entry))]
    except OSError:
        return []
