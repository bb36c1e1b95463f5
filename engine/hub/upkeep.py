"""Verifies installed models' files, and checks the hub for newer versions. Changes nothing.

Damaged or old models are repaired by an ordinary download, which keeps the model until the new one is complete.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from engine.api.errors import EngineError, HubOffline
from engine.api.events import ModelVerified, UpdateChecked, VerifyProgress
from engine.hub.client import HubClient, from_any
from engine.hub.http import Hub
from engine.hub.staging import listed_in, read_manifest, repository_of
from engine.hub.stop import Patience, StopKind, Stopped, StopSignal
from engine.hub.writer import is_right
from engine.models.names import is_commit

_log = logging.getLogger(__name__)
_REPORTS = 100

Report = Callable[[VerifyProgress], None]


def verified(folder: Path, stop: StopSignal, report: Report) -> ModelVerified:
    """By the sizes and checksums recorded at the download. Raises Stopped."""
    manifest = read_manifest(folder)
    files, commit = listed_in(manifest), manifest.get("revision")
    total, before = sum(file.size_bytes for file in files), 0
    reading = _Reading(str(folder), total, report)
    damaged: list[str] = []
    for file in files:
        if not is_right(folder / file.name, file, stop, reading.add):
            damaged.append(file.name)
        before += file.size_bytes
        reading.reach(before)  # a missing file is not read
    reading.finish()
    return ModelVerified(str(folder), bool(files), tuple(damaged), str(commit) if is_commit(commit) else "")


class _Reading:
    """Reports every hundredth of all bytes, and the start and the end."""

    def __init__(self, folder: str, total_bytes: int, report: Report) -> None:
        self._folder, self._total_bytes, self._report = folder, total_bytes, report
        self._done_bytes = self._reported_bytes = 0
        self._say()

    def add(self, count_bytes: int) -> None:
        self.reach(self._done_bytes + count_bytes)

    def reach(self, done_bytes: int) -> None:
        self._done_bytes = done_bytes
        if (self._done_bytes - self._reported_bytes) * _REPORTS >= self._total_bytes:
            self._say()

    def finish(self) -> None:
        self._say()

    def _say(self) -> None:
        self._reported_bytes = self._done_bytes
        self._report(VerifyProgress(self._folder, self._done_bytes, self._total_bytes))


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
        _log.info("Whether %s is the newest is not known: %s", repository, error)
        return UpdateChecked(str(folder), repository, error=error)
    except Stopped:
        if stop.kind is not StopKind.OFFLINE:
            raise
        return UpdateChecked(str(folder), repository, error=HubOffline(repository))
    return UpdateChecked(str(folder), repository, commit != installed)
