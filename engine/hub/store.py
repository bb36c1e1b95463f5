"""ModelStore: the models on disk (engine.api.protocols.ModelLibrary). Starts threads and sends events; no HTTP, no
files.

Each download has its own thread; scans and deletions share one. No MLX is imported here or below.
"""

from __future__ import annotations

import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from engine.api.errors import EngineError, FileUnusable, InternalError, ModelError, as_engine_error
from engine.api.events import (
    DeleteFailed,
    DownloadFailed,
    DownloadFinished,
    DownloadStopped,
    LibraryScanned,
    ModelDeleted,
    ModelVerified,
    PairChecked,
    Sink,
    StoreEvent,
    TemplateRead,
    UpdateChecked,
)
from engine.api.hub import HubAccess, HubQuery, SearchId
from engine.api.types import DeleteRefusal, DownloadId
from engine.hub import library, staging, upkeep
from engine.hub.client import Hub
from engine.hub.download import Download, Meter, Shares, Tuning
from engine.hub.library import Inspected, neighbours
from engine.hub.repository import is_source
from engine.hub.searches import Searches
from engine.hub.staging import CannotDelete, delete_model, kept_bytes, remove
from engine.hub.stop import StopKind, Stopped, StopSignal, Throttle
from engine.models.about import template_text
from engine.models.pair_check import check_pair
from engine.models.vocabulary import load_known, save_known

VOCABULARIES = ".vocabularies.json"
INSPECTED = ".inspected.json"
FILES_AT_ONCE = 8  # of all downloads together

_log = logging.getLogger(__name__)


class ModelStore:
    """See engine.api.protocols.ModelLibrary. Only `folder` is written to; all other folders are only read."""

    tuning = Tuning()  # tests use shorter times

    def __init__(
        self,
        folder: Path | str,
        *,
        sink: Sink,
        starter: Path | None = None,
        extra_folders: Sequence[Path | str] = (),
        hub_cache: Path | None = None,
        endpoint: str | None = None,
        token: str | None = None,
    ) -> None:
        self._root = Path(folder)
        self._sink = sink
        self._lock = threading.Lock()
        self._places = library.Places(self._root, starter, hub_cache or library.default_hub_cache())
        self._home: Path | None = None
        self._inspected = Inspected()
        self._ids = itertools.count(1)
        self._running: dict[str, tuple[DownloadId, Download, threading.Thread]] = {}
        self._stopped: dict[DownloadId, str] = {}
        self._shares = Shares(threading.Semaphore(FILES_AT_ONCE), Throttle())
        self._searches = Searches(sink, self.tuning.patience)
        self._closed = False
        self._upkeep: list[tuple[str, StopSignal, threading.Thread]] = []  # with the folder that is verified
        self._ready = threading.Event()  # set once an earlier run's downloads are recovered
        self._leftovers_reported = False
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._clerk = threading.Thread(target=self._work, name="models-clerk", daemon=True)
        self.set_hub(HubAccess(endpoint or "", token or ""))
        self.set_folders(extra_folders)
        self._clerk.start()

    def scan(self) -> None:
        self._tasks.put(self._scan)

    def install(self, repository: str, revision: str = "main") -> DownloadId:
        """Installing a repository that is being installed returns the same download."""
        with self._lock:
            key = repository.casefold()
            former = self._running.get(key)
            if former is not None and former[1].stop.kind in (StopKind.NONE, StopKind.HUB_CHANGED):
                return former[0]
            number = DownloadId(next(self._ids))
            download = Download(self._root, repository, revision, self._hub, self.tuning)
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

    def pause(self, download: DownloadId) -> None:
        self._stop(download, StopKind.PAUSE)

    def cancel(self, download: DownloadId) -> None:
        if not self._stop(download, StopKind.CANCEL):
            self._tasks.put(lambda: self._forget(download))

    def delete(self, folder: Path | str) -> None:
        self._tasks.put(lambda: self._delete(Path(folder)))

    def try_now(self, download: DownloadId) -> None:
        for found in self._found(download):
            found.retries.go_on()

    def search(self, query: HubQuery) -> SearchId:
        return self._searches.search(self._hub, query)

    def more(self, search: SearchId) -> None:
        self._searches.more(self._hub, search)

    def read_page(self, repository: str) -> None:
        self._searches.read_page(self._hub, repository)

    def check_pair(self, main: Path | str, draft: Path | str) -> None:
        self._tasks.put(lambda: self._sink(PairChecked(check_pair(main, draft))))

    def read_template(self, folder: Path | str) -> None:
        self._tasks.put(lambda: self._sink(TemplateRead(str(folder), template_text(Path(folder)))))

    def set_hub(self, access: HubAccess) -> None:
        stops: list[StopSignal] = []
        with self._lock:
            self._hub = Hub.of(access)
            for _, download, _ in self._running.values():
                if access.offline:
                    stops.append(download.stop)
                else:
                    download.hub = self._hub
            if access.offline:
                stops += [stop for verified, stop, _ in self._upkeep if not verified]
        for stop in stops:
            stop.request(StopKind.OFFLINE)
        if access.offline:
            self._searches.go_offline()

    def set_limit(self, bytes_per_second: int) -> None:
        self._shares.throttle.set_limit(bytes_per_second)

    def verify(self, folder: Path | str) -> None:
        self._look_after(
            lambda stop: upkeep.verified(Path(folder), stop, self._sink),
            lambda error: ModelVerified(str(folder), known=False, error=error),
            verified=str(folder),
        )

    def stop_verifying(self, folder: Path | str) -> None:
        with self._lock:
            stops = [stop for verified, stop, _ in self._upkeep if verified == str(folder)]
        for stop in stops:
            stop.request(StopKind.CANCEL)

    def check_for_update(self, folder: Path | str) -> None:
        with self._lock:
            hub = self._hub
        self._look_after(
            lambda stop: upkeep.checked_for_update(Path(folder), hub, self.tuning.patience, stop),
            lambda error: UpdateChecked(str(folder), "", error=error),
        )

    def set_folders(self, folders: Sequence[Path | str]) -> None:
        with self._lock:
            self._places = replace(self._places, added=tuple(Path(folder) for folder in folders))

    def set_home(self, home: Path) -> None:
        """The user's home, to find other programs' models; none are listed before."""
        with self._lock:
            self._home = home

    def close(self, timeout_s: float = 10.0) -> bool:
        """Pauses running downloads. False: a thread is still running."""
        deadline = time.monotonic() + timeout_s
        with self._lock:
            self._closed = True
            running, upkeep_threads = list(self._running.values()), list(self._upkeep)
        for _, download, _ in running:
            download.stop.request(StopKind.PAUSE)
        for _, stop, _ in upkeep_threads:
            stop.request(StopKind.CANCEL)
        self._tasks.put(None)
        threads = [self._clerk, *(thread for _, _, thread in running), *(thread for _, _, thread in upkeep_threads)]
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        ended = self._searches.close(deadline)
        return ended and not any(thread.is_alive() for thread in threads)

    def _stop(self, number: DownloadId, kind: StopKind) -> bool:
        found = self._found(number)
        for download in found:
            download.stop.request(kind)
        return bool(found)

    def _found(self, number: DownloadId) -> list[Download]:
        with self._lock:
            return [download for each, download, _ in self._running.values() if each == number]

    def _work(self) -> None:
        self._attempt(lambda: load_known(self._root / VOCABULARIES))
        self._attempt(lambda: self._inspected.load(self._root / INSPECTED))
        self._attempt(lambda: staging.clean_up(self._root))
        self._ready.set()
        while (task := self._tasks.get()) is not None:
            self._attempt(task)

    def _attempt(self, task: Callable[[], None]) -> None:
        try:
            task()
        except Exception:  # noqa: BLE001 - the thread's boundary: the next task must still run
            _log.exception("A task of the model store failed")

    def _run(self, number: DownloadId, download: Download, former: threading.Thread | None) -> None:
        self._ready.wait()
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
            folder = download.run(Meter(number, download.repository, self._sink), self._shares)
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

    def _look_after(
        self,
        look: Callable[[StopSignal], StoreEvent],
        failed: Callable[[EngineError], StoreEvent],
        verified: str = "",
    ) -> None:
        """On a thread of its own: reading gigabytes must not delay a scan. Sends an event at its end, unless it is
        stopped.
        """
        stop = StopSignal()

        def outcome() -> StoreEvent:
            try:
                return look(stop)
            except Stopped:
                raise
            except Exception as error:  # noqa: BLE001 - the thread's boundary: an answer is expected
                _log.exception("A look at a model failed")
                return failed(as_engine_error(error))

        def send() -> None:
            with suppress(Stopped):
                self._sink(outcome())

        thread = threading.Thread(target=lambda: self._attempt(send), name="models-upkeep", daemon=True)
        with self._lock:
            self._upkeep = [each for each in self._upkeep if each[2].is_alive()]
            self._upkeep.append((verified, stop, thread))
            if self._closed:
                stop.request(StopKind.CANCEL)
            thread.start()

    def _scan(self) -> None:
        if not self._leftovers_reported:
            self._leftovers_reported = True
            self._attempt(self._report_leftovers)  # if this fails, models are listed all the same
        with self._lock:
            places, home = self._places, self._home
        if home is not None:
            places = replace(places, neighbours=neighbours(home))
        models = library.scan(places, self._inspected)
        self._sink(LibraryScanned(models))
        if models and self._root.is_dir():
            save_known(self._root / VOCABULARIES)
            self._inspected.save(self._root / INSPECTED, {model.folder for model in models})

    def _report_leftovers(self) -> None:
        for repository in list(staging.unfinished(self._root)):
            kept, total = kept_bytes(self._root, repository), staging.known_total_bytes(self._root, repository)
            with self._lock:
                if repository.casefold() in self._running or repository in self._stopped.values():
                    continue
                number = DownloadId(next(self._ids))
                self._stopped[number] = repository
            self._sink(DownloadStopped(number, repository, kept, total))

    def _forget(self, number: DownloadId) -> None:
        with self._lock:
            repository = self._stopped.pop(number, None)
            if repository is None or not is_source(repository) or repository.casefold() in self._running:
                return
        remove(staging.set_aside(self._root, repository))  # may wait for another program
        self._sink(DownloadStopped(number, repository, 0))

    def _delete(self, folder: Path) -> None:
        starter = self._places.starter
        self.stop_verifying(folder)  # an open file would keep its disk space
        try:
            if starter is not None and folder.resolve().is_relative_to(starter.resolve()):
                raise CannotDelete(DeleteRefusal.STARTER)
            freed_bytes = delete_model(self._root, folder)
        except CannotDelete as refusal:
            _log.info("%s was not deleted: %s", folder, refusal)
            self._sink(DeleteFailed(str(folder), refusal.reason))
        except Exception:
            self._sink(DeleteFailed(str(folder), DeleteRefusal.DISK))
            raise
        else:
            self._sink(ModelDeleted(str(folder), freed_bytes))
