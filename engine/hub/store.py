"""ModelStore: the models on disk (engine.api.protocols.ModelLibrary). Starts threads and sends events.

Scans and deletions share a thread; each download has its own, and so has a look whether a model is whole or old, which
changes nothing: what is damaged or old is repaired by an ordinary download, which keeps the model until the new one is
whole. No MLX is imported here or below.
"""

from __future__ import annotations

import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from engine.api.errors import EngineError, FileUnusable, HubOffline, ModelError, as_engine_error
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
    VerifyProgress,
)
from engine.api.hub import HubAccess, HubQuery, PeerModel, SearchId
from engine.api.types import DeleteRefusal, DownloadId
from engine.hub import library, staging
from engine.hub.client import HubClient, from_any
from engine.hub.download import Download, Meter, Shares, Tuning
from engine.hub.http import Hub
from engine.hub.library import Inspected, neighbours
from engine.hub.repository import is_source
from engine.hub.searches import Searches
from engine.hub.staging import (
    CannotDelete,
    branch_of,
    delete_model,
    kept_bytes,
    listed_in,
    read_manifest,
    remove,
    repository_of,
)
from engine.hub.stop import HubPatience, Jobs, StopKind, Stopped, StopSignal, Throttle
from engine.hub.writer import is_right
from engine.models.names import is_commit
from engine.models.pair_check import check_pair
from engine.models.template_files import template_text
from engine.models.vocabulary import load_known, save_known

VOCABULARIES = ".vocabularies.json"
INSPECTED = ".inspected.json"

_log = logging.getLogger(__name__)
FILES_AT_ONCE = 8  # of all downloads together
_REPORTS = 100
Report = Callable[[VerifyProgress], None]


class ModelStore:
    """See engine.api.protocols.ModelLibrary. Only `folder` is written to; all other folders are only read."""

    tuning = Tuning()  # tests use shorter times

    def __init__(
        self,
        folder: Path | str,
        *,
        sink: Sink,
        starter: Path | None = None,
        hub_cache: Path | None = None,
        endpoint: str | None = None,
    ) -> None:
        self._root = Path(folder)
        self._sink = sink
        self._lock = threading.Lock()
        self._places = library.Places(self._root, starter, hub_cache or library.default_hub_cache())
        self._home: Path | None = None
        self._inspected = Inspected()
        self._downloads = Downloads(self._root, sink, self.tuning)
        self._jobs = Jobs()
        self._searches = Searches(sink, self.tuning.patience, self._jobs)
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._worker = threading.Thread(target=self._work, name="models", daemon=True)
        self.set_hub(HubAccess(endpoint or "", ""))
        self._worker.start()

    def scan(self) -> None:
        self._tasks.put(self._scan)

    def install(self, repository: str, revision: str = "main") -> DownloadId:
        """Installing a repository that is being installed returns the same download."""
        return self._downloads.install(repository, revision)

    def pause(self, download: DownloadId) -> None:
        self._downloads.stop(download, StopKind.PAUSE)

    def cancel(self, download: DownloadId) -> None:
        if not self._downloads.stop(download, StopKind.CANCEL):
            self._tasks.put(lambda: self._downloads.forget(download))

    def delete(self, folder: Path | str) -> None:
        self._tasks.put(lambda: self._delete(Path(folder)))

    def try_now(self, download: DownloadId) -> None:
        self._downloads.try_now(download)

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
        self._hub = Hub.of(access)
        self._downloads.set_hub(self._hub, offline=access.offline)
        if access.offline:
            self._jobs.stop(StopKind.OFFLINE)

    def set_peer_model(self, model: PeerModel | None) -> None:
        self._downloads.set_peer_model(model)

    def set_limit(self, bytes_per_second: int) -> None:
        self._downloads.shares.throttle.set_limit(bytes_per_second)

    def verify(self, folder: Path | str) -> None:
        self._look_after(
            lambda stop: verified(Path(folder), stop, self._sink),
            lambda error: ModelVerified(str(folder), known=False, error=error),
            str(folder),
        )

    def stop_verifying(self, folder: Path | str) -> None:
        self._jobs.stop(StopKind.CANCEL, str(folder))

    def check_for_update(self, folder: Path | str) -> None:
        hub = self._hub
        self._look_after(
            lambda stop: checked_for_update(Path(folder), hub, self.tuning.patience, stop),
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
        threads = [self._worker, *self._downloads.close(), *self._jobs.close()]
        self._tasks.put(None)
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _work(self) -> None:
        self._attempt(lambda: load_known(self._root / VOCABULARIES))
        self._attempt(lambda: self._inspected.load(self._root / INSPECTED))
        self._attempt(lambda: staging.clean_up(self._root))
        self._downloads.recovered.set()
        while (task := self._tasks.get()) is not None:
            self._attempt(task)

    def _attempt(self, task: Callable[[], None]) -> None:
        try:
            task()
        except Exception:  # noqa: BLE001 - the thread's boundary: the next task must still run
            _log.exception("A task of the model store failed")

    def _look_after(
        self, look: Callable[[StopSignal], StoreEvent], failed: Callable[[EngineError], StoreEvent], verified: str = ""
    ) -> None:
        """Runs on its own thread: reading gigabytes must not delay a scan. Sends an event at its end unless stopped."""
        stop = StopSignal()

        def work() -> None:
            try:
                event = look(stop)
            except Stopped:
                return
            except Exception as error:  # noqa: BLE001 - the thread's boundary: an answer is expected
                _log.exception("A look at a model failed")
                event = failed(as_engine_error(error))
            self._sink(event)

        self._jobs.start("models-upkeep", work, stop, verified)

    def _scan(self) -> None:
        self._attempt(self._downloads.report_leftovers)  # if this fails, models are listed all the same
        with self._lock:
            places = self._places
            home = self._home
        if home is not None:
            places = replace(places, neighbours=neighbours(home))
        models = library.scan(places, self._inspected)
        self._sink(LibraryScanned(models))
        if models and self._root.is_dir():
            save_known(self._root / VOCABULARIES)
            self._inspected.save(self._root / INSPECTED, {model.folder for model in models})

    def _delete(self, folder: Path) -> None:
        starter = self._places.starter
        self.stop_verifying(folder)  # an open file would keep its disk space
        try:
            if starter is not None and folder.resolve().is_relative_to(starter.resolve()):
                raise CannotDelete(DeleteRefusal.STARTER)
            delete_model(self._root, folder)
        except CannotDelete as refusal:
            _log.info("%s was not deleted: %s", folder, refusal)
            self._sink(DeleteFailed(str(folder), refusal.reason))
        except Exception:
            self._sink(DeleteFailed(str(folder), DeleteRefusal.DISK))
            raise
        else:
            self._sink(ModelDeleted(str(folder)))


class Downloads:
    """Running downloads, and unfinished ones of earlier runs. Each has a thread."""

    def __init__(self, root: Path, sink: Sink, tuning: Tuning) -> None:
        self._root = root
        self._sink = sink
        self._tuning = tuning
        self._hub = Hub.of(HubAccess())
        self._peer_model: PeerModel | None = None
        self.shares = Shares(threading.Semaphore(FILES_AT_ONCE), Throttle())
        self.recovered = threading.Event()  # set once what an earlier run was publishing is in place
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._running: dict[str, tuple[DownloadId, Download, threading.Thread]] = {}
        self._stopped: dict[DownloadId, str] = {}
        self._leftovers_reported = False
        self._closed = False

    def install(self, repository: str, revision: str) -> DownloadId:
        with self._lock:
            key = repository.casefold()
            former = self._running.get(key)
            if former is not None and former[1].stop.kind in (StopKind.NONE, StopKind.HUB_CHANGED):
                return former[0]
            number = DownloadId(next(self._ids))
            download = Download(self._root, repository, revision, self._hub, self._tuning)
            download.peer_files.offered = self._peer_model
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
        """Stop a download; returns whether it was in progress."""
        found = self._found(number)
        for download in found:
            download.stop.request(kind)
        return bool(found)

    def try_now(self, number: DownloadId) -> None:
        for found in self._found(number):
            found.retries.go_on()

    def set_hub(self, hub: Hub, *, offline: bool) -> None:
        with self._lock:
            self._hub = hub
            for _, download, _ in self._running.values():
                if offline:
                    download.stop.request(StopKind.OFFLINE)
                else:
                    download.hub = hub

    def set_peer_model(self, model: PeerModel | None) -> None:
        with self._lock:
            self._peer_model = model
            for _, download, _ in self._running.values():
                download.peer_files.offered = model

    def close(self) -> list[threading.Thread]:
        """Pauses all; the threads that are ending."""
        with self._lock:
            self._closed = True
            for _, download, _ in self._running.values():
                download.stop.request(StopKind.PAUSE)
            return [thread for _, _, thread in self._running.values()]

    def report_leftovers(self) -> None:
        """Once."""
        if self._leftovers_reported:
            return
        for repository in list(staging.unfinished(self._root)):
            kept = kept_bytes(self._root, repository)
            total = staging.recorded_bytes(staging.staging_of(self._root, repository), "total_bytes")
            with self._lock:
                if repository.casefold() in self._running or repository in self._stopped.values():
                    continue
                number = DownloadId(next(self._ids))
                self._stopped[number] = repository
            self._sink(DownloadStopped(number, repository, kept, total))
        self._leftovers_reported = True

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
        except Exception as caught:  # noqa: BLE001 - the thread's boundary: a bug must not look like a stall
            error = as_engine_error(caught)
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


def verified(folder: Path, stop: StopSignal, report: Report) -> ModelVerified:
    """By the sizes and checksums recorded at the download. Raises Stopped."""
    manifest = read_manifest(folder)
    files = listed_in(manifest)
    commit = manifest.get("revision")
    total = sum(file.size_bytes for file in files)
    done = 0
    reported = 0

    def add(count_bytes: int) -> None:
        """Reports every hundredth of all bytes."""
        nonlocal done, reported
        done += count_bytes
        if (done - reported) * _REPORTS >= total:
            reported = done
            report(VerifyProgress(str(folder), done, total))

    report(VerifyProgress(str(folder), 0, total))
    before = 0
    damaged: list[str] = []
    for file in files:
        if not is_right(folder / file.name, file, stop, add):
            damaged.append(file.name)
        before += file.size_bytes
        add(before - done)  # a missing file is not read
    report(VerifyProgress(str(folder), done, total))
    return ModelVerified(str(folder), bool(files), tuple(damaged), str(commit) if is_commit(commit) else "")


def checked_for_update(folder: Path, hub: Hub, patience: HubPatience, stop: StopSignal) -> UpdateChecked:
    """Whether the hub has a newer version. Raises Stopped."""
    repository = repository_of(folder)
    installed = read_manifest(folder).get("revision")
    branch = branch_of(folder)
    if not repository:
        return UpdateChecked(str(folder), "")

    def newest(place: Hub) -> str:
        with closing(HubClient(place, repository, stop, patience)) as client:
            return client.list_files(branch)[0]

    try:
        commit = from_any(hub.places(), newest)
    except EngineError as error:
        _log.info("Whether %s is the newest is not known: %s", repository, error)
        return UpdateChecked(str(folder), repository, error=error)
    except Stopped:
        if stop.kind is not StopKind.OFFLINE:
            raise
        return UpdateChecked(str(folder), repository, error=HubOffline(repository))
    return UpdateChecked(str(folder), repository, commit != installed, revision=branch)
