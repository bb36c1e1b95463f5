"""Looking after installed models: are their files what was downloaded, and has the hub anything newer? Changes nothing.

What is damaged or old is mended by an ordinary download, which leaves a model in place until its successor is whole.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.api.errors import EngineError
from engine.api.events import ModelVerified, UpdateChecked, VerifyProgress
from engine.hub.client import Hub, HubClient, Patience, from_any
from engine.hub.manifest import read_manifest, repository_of
from engine.hub.repository import RemoteFile, is_checksum, is_commit
from engine.hub.stop import StopSignal
from engine.hub.writer import is_right
from engine.models.model_files import JsonObject, object_at

Tell = Callable[[VerifyProgress], None]


def verified(folder: Path, stop: StopSignal, tell: Tell) -> ModelVerified:
    """By the sizes and checksums that were written down at the download. Raises Stopped."""
    manifest = read_manifest(folder)
    files, commit = _listed(manifest), manifest.get("revision")
    total, done = sum(file.size_bytes for file in files), 0
    damaged: list[str] = []
    for file in files:
        tell(VerifyProgress(str(folder), done, total))
        if not is_right(folder / file.name, file, stop):
            damaged.append(file.name)
        done += file.size_bytes
    tell(VerifyProgress(str(folder), done, total))
    return ModelVerified(str(folder), bool(files), tuple(damaged), str(commit) if is_commit(commit) else "")


def checked_for_update(folder: Path, hub: Hub, patience: Patience, stop: StopSignal) -> UpdateChecked:
    """Raises Stopped."""
    repository, installed = repository_of(folder), read_manifest(folder).get("revision")
    if not repository:
        return UpdateChecked(str(folder), "")

    def newest(place: Hub) -> str:
        client = HubClient(place, repository, stop, patience)
        try:
            return client.list_files("main")[0]
        finally:
            client.close()

    try:
        commit = from_any(hub.places(), newest)
    except EngineError as error:
        return UpdateChecked(str(folder), repository, error=error)
    return UpdateChecked(str(folder), repository, commit != installed)


def _listed(manifest: JsonObject) -> list[RemoteFile]:
    files = []
    for name, told in object_at(manifest, "files").items():
        size, checksum = (told.get("size_bytes"), told.get("checksum")) if isinstance(told, dict) else (None, None)
        if type(size) is int and is_checksum(checksum) and "/" not in name and name not in {"", ".", ".."}:
            files.append(RemoteFile(name, size, str(checksum)))
    return files
