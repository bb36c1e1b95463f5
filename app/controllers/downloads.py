"""Downloads: what was asked for, how far it is, and what became of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.view_models.model_list import DownloadEntry, DownloadState
from engine import (
    DownloadFailed,
    DownloadFinished,
    DownloadId,
    DownloadProgress,
    DownloadStopped,
    Event,
    ModelLibrary,
)

_RUNNING = (DownloadState.WAITING, DownloadState.RUNNING)


class DownloadController(QObject):
    changed = Signal()
    installed = Signal(str, str)  # repository, folder

    def __init__(self, store: ModelLibrary, bridge: EngineBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._entries: dict[int, DownloadEntry] = {}
        self._cancelled: set[int] = set()
        bridge.event_arrived.connect(self._on_event)

    @property
    def entries(self) -> list[DownloadEntry]:
        return list(self._entries.values())

    def install(self, repository: str) -> int:
        repository = repository.strip()
        for entry in self._entries.values():
            if entry.repository == repository and entry.state in _RUNNING:
                return entry.id
        download = self._store.install(repository)
        self._entries = {key: entry for key, entry in self._entries.items() if entry.repository != repository}
        self._entries[download] = DownloadEntry(download, repository)
        self.changed.emit()
        return download

    def pause(self, download: int) -> None:
        self._store.pause(DownloadId(download))

    def resume(self, download: int) -> None:
        """Goes on where it stopped, as a new download."""
        if entry := self._entries.get(download):
            self.install(entry.repository)

    def cancel(self, download: int) -> None:
        """Ends a download and throws away what has arrived."""
        self._cancelled.add(download)
        self._store.cancel(DownloadId(download))
        self._drop(download)

    def _on_event(self, event: Event) -> None:
        if not isinstance(event, DownloadProgress | DownloadFinished | DownloadStopped | DownloadFailed):
            return
        if event.download in self._cancelled:
            return
        match event:
            case DownloadProgress(done_bytes=done, total_bytes=total, bytes_per_second=speed):
                running = DownloadState.RUNNING
                self._put(event, done_bytes=done, total_bytes=total, bytes_per_second=speed, state=running)
            case DownloadStopped(kept_bytes=kept):
                self._put(event, done_bytes=kept, bytes_per_second=0.0, state=DownloadState.PAUSED)
            case DownloadFailed(kept_bytes=kept, error=error):
                self._put(event, done_bytes=kept, bytes_per_second=0.0, state=DownloadState.FAILED, error=error)
            case DownloadFinished(folder=folder):
                self._drop(event.download)
                self.installed.emit(event.repository, folder)

    def _put(self, event: DownloadProgress | DownloadStopped | DownloadFailed, **fields: Any) -> None:
        known = self._entries.get(event.download) or DownloadEntry(event.download, event.repository)
        self._entries[event.download] = replace(known, **({"error": None} | fields))
        self.changed.emit()

    def _drop(self, download: int) -> None:
        if self._entries.pop(download, None) is not None:
            self.changed.emit()
