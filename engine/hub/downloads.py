"""The downloads of a model store, each on a thread of its own, and what is left of those of earlier runs."""

from __future__ import annotations

import itertools
import logging
import threading
from pathlib import Path

from engine.api.errors import EngineError, FileUnusable, InternalError, ModelError
from engine.api.events import DownloadFailed, DownloadFinished, DownloadStopped, Sink, StoreEvent
from engine.api.hub import HubAccess, SuppliedModel
from engine.api.types import DownloadId
from engine.hub import staging
from engine.hub.download import Download, Meter, Shares, Tuning
from engine.hub.http import Hub
from engine.hub.repository import is_source
from engine.hub.staging import kept_bytes, remove
from engine.hub.stop import StopKind, Stopped, StopSignal, Throttle

FILES_AT_ONCE = 8  # of all downloads together

_log = logging.getLogger(__name__)


class Downloads:
    def __init__(self, root: Path, sink: Sink, tuning: Tuning) -> None:
        self._root, self._sink, self._tuning = root, sink, tuning
        self._hub = Hub.of(HubAccess())
        self._supplied: SuppliedModel | None = None
        self.shares = Shares(threading.Semaphore(FILES_AT_ONCE), Throttle())
        self.recovered = threading.Event()  # set once what an earlier run was publishing is in place
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._running: dict[str, tuple[DownloadId, Download, threading.Thread]] = {}
        self._stopped: dict[DownloadId, str] = {}
        self._closed = False

    def install(self, repository: str, revision: str) -> DownloadId:
        with self._lock:
            key = repository.casefold()
            former = self._running.get(key)
            if former is not None and former[1].stop.kind in (StopKind.NONE, StopKind.HUB_CHANGED):
                return former[0]
            number = DownloadId(next(self._ids))
            download = Download(self._root, repository, revision, self._hub, self._tuning)
            download.supplier.offered = self._supplied
            thread = threading.Thread(
                target=self._run,
                args=(number, download, former[2] if former else None),
                name=f"download-{number}",
                daemon=True,
            )
            self._stopped = {each: name for each, name in self._stopped.items() if name.casefold() != key}
            self._running[key] = (number, download, thread)
            if self._closed:
                download.stop.request(StopKind.PAUSE)
            thread.start()
        return number

    def stop(self, number: DownloadId, kind: StopKind) -> bool:
        """Whether it is in progress."""
        found = self._found(number)
        for download in found:
            download.stop.request(kind)
        return bool(found)

    def try_now(self, number: DownloadId) -> None:
        for found in self._found(number):
            found.retries.go_on()

    def set_hub(self, hub: Hub, *, offline: bool) -> None:
        stops: list[StopSignal] = []
        with self._lock:
            self._hub = hub
            for _, download, _ in self._running.values():
                if offline:
                    stops.append(download.stop)
                else:
                    download.hub = hub
        for stop in stops:
            stop.request(StopKind.OFFLINE)

    def set_supplied(self, model: SuppliedModel | None) -> None:
        with self._lock:
            self._supplied = model
            for _, download, _ in self._running.values():
                download.supplier.offered = model

    def close(self) -> list[threading.Thread]:
        """Pauses all; the threads that are ending."""
        with self._lock:
            self._closed = True
            running = list(self._running.values())
        for _, download, _ in running:
            download.stop.request(StopKind.PAUSE)
        return [thread for _, _, thread in running]

    def report_leftovers(self) -> None:
        for repository in list(staging.unfinished(self._root)):
            kept, total = kept_bytes(self._root, repository), staging.known_total_bytes(self._root, repository)
            with self._lock:
                if repository.casefold() in self._running or repository in self._stopped.values():
                    continue
                number = DownloadId(next(self._ids))
                self._stopped[number] = repository
            self._sink(DownloadStopped(number, repository, kept, total))

    def forget(self, number: DownloadId) -> None:
        with self._lock:
            repository = self._stopped.pop(number, None)
            if repository is None or not is_source(repository) or repository.casefold() in self._running:
                return
        remove(staging.set_aside(self._root, repository))  # may wait for another program
        self._sink(DownloadStopped(number, repository, 0))

    def _found(self, number: DownloadId) -> list[Download]:
        with self._lock:
            return [download for each, download, _ in self._running.values() if each == number]

    def _run(self, number: DownloadId, download: Download, former: threading.Thread | None) -> None:
        self.recovered.wait()
        if former is not None:
            former.join()
        event = self._outcome(number, download)
        with self._lock:
            key = download.repository.casefold()
            if self._running[key][0] == number:
                del self._running[key]
            if not isinstance(event, DownloadFinished):
                self._stopped[number] = download.repository
        self._sink(event)

    def _outcome(self, number: DownloadId, download: Download) -> StoreEvent:
        error: EngineError | None = None
        try:
            meter = Meter(number, download.repository, self._sink, download.retries.soonest)
            folder = download.run(meter, self.shares)
        except Stopped:
            pass
        except EngineError as caught:
            error = caught
        except Exception as caught:  # noqa: BLE001 - the thread's boundary: a bug must not look like a stall
            error = InternalError(f"{type(caught).__name__}: {caught}")
        else:
            return DownloadFinished(number, download.repository, str(folder), download.changed)
        cancelled = download.stop.kind is StopKind.CANCEL
        paused = error is None and not cancelled
        keep = not cancelled and not isinstance(error, ModelError | FileUnusable)
        kept_bytes = self._settle(download.repository, keep=keep, wanted=paused)
        if error is None or cancelled:
            offline = download.stop.kind is StopKind.OFFLINE
            return DownloadStopped(number, download.repository, kept_bytes, download.total_bytes, offline)
        _log.info("%s was not installed: %s", download.repository, error)  # the user is shown the reason only
        return DownloadFailed(number, download.repository, error, kept_bytes, download.total_bytes)

    def _settle(self, repository: str, *, keep: bool, wanted: bool) -> int:
        """Bytes kept on disk after an unfinished download. `wanted`: keep it even if nothing has arrived."""
        if not is_source(repository):
            return 0
        try:
            kept = kept_bytes(self._root, repository) if keep else 0
            if not (kept or wanted):
                remove(staging.set_aside(self._root, repository))
        except OSError:
            _log.exception("The rest of a download stays")
            return 0
        return kept
