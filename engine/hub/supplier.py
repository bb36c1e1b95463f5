"""A download's files from a paired machine that has them, before a hub is asked; what fails there, the hub sends.

The machine is one more mirror: it gets no token, and its bytes have to match the hub's checksums. What has arrived
from either counts for both.
"""

from __future__ import annotations

from pathlib import Path

from engine.api.errors import (
    AccessDenied,
    ChecksumMismatch,
    FileMissing,
    HubMisbehaved,
    HubUnreachable,
    NothingToInstall,
    RepositoryNotFound,
)
from engine.api.hub import SuppliedModel
from engine.hub.client import HubClient
from engine.hub.http import Hub
from engine.hub.repository import RemoteFile
from engine.hub.stop import Patience, Retries, StopSignal
from engine.hub.writer import OnBytes, Slot, fetch_file, part_path

NOT_SUPPLIED = (HubUnreachable, HubMisbehaved, RepositoryNotFound, FileMissing, AccessDenied, NothingToInstall)
_PATIENCE = Patience(read_s=15.0, connect_s=5.0, question_tries=1, silent_tries=1, file_tries=2)


class Supplier:
    """Of one download. Any of its threads; `offered` is replaced by others."""

    def __init__(self, repository: str, stop: StopSignal, retries: Retries) -> None:
        self.offered: SuppliedModel | None = None
        self._repository = repository
        self._stop, self._retries = stop, retries
        self._is_trusted = True
        self._tried: set[str] = set()  # files that it may have sent a part of

    def hub(self, commit: str) -> Hub | None:
        """If it has that commit, and has sent nothing wrong yet."""
        model = self.offered
        if model is None or (model.repository, model.revision) != (self._repository, commit) or not self._is_trusted:
            return None
        return Hub(model.endpoint)

    def fetch(
        self, client: HubClient, commit: str, file: RemoteFile, folder: Path, report: OnBytes, slot: Slot
    ) -> None:
        """As `fetch_file`, from the machine or else by `client`."""
        hub = self.hub(commit)
        if hub is not None and hub.endpoint != client.endpoint and self._has(hub, commit, file, folder, report, slot):
            return
        try:
            fetch_file(client, commit, file, folder, self._stop, report, slot)
        except ChecksumMismatch:
            if file.name not in self._tried:
                raise
            self._tried.discard(file.name)  # what it began with was wrong, and is deleted
            fetch_file(client, commit, file, folder, self._stop, report, slot)

    def _has(self, hub: Hub, commit: str, file: RemoteFile, folder: Path, report: OnBytes, slot: Slot) -> bool:
        self._tried.add(file.name)
        client = HubClient(hub, self._repository, self._stop, _PATIENCE, self._retries)
        part = part_path(folder, file)
        try:
            fetch_file(client, commit, file, folder, self._stop, report, slot)
            return True
        except ChecksumMismatch:
            self._is_trusted = False
        except NOT_SUPPLIED as error:
            report(-part.stat().st_size, False)  # the client goes on from there, and counts it again
            if isinstance(error, HubMisbehaved):
                self._is_trusted = False
                part.unlink()
        finally:
            client.close()
        return False
