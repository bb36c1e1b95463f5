"""ModelStore: the models on disk (engine.api.protocols.ModelLibrary). Starts threads and sends events; no HTTP, no
files.

Scans and deletions share a thread. No MLX is imported here or below.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from engine.api.errors import EngineError, as_engine_error
from engine.api.events import (
    DeleteFailed,
    LibraryScanned,
    ModelDeleted,
    ModelVerified,
    PairChecked,
    Sink,
    StoreEvent,
    TemplateRead,
    UpdateChecked,
)
from engine.api.hub import HubAccess, HubQuery, SearchId, SuppliedModel
from engine.api.types import DeleteRefusal, DownloadId
from engine.hub import library, staging, upkeep
from engine.hub.download import Tuning
from engine.hub.downloads import Downloads
from engine.hub.http import Hub
from engine.hub.library import Inspected, neighbours
from engine.hub.searches import Searches
from engine.hub.staging import CannotDelete, delete_model
from engine.hub.stop import Jobs, StopKind, Stopped, StopSignal
from engine.models.about import template_text
from engine.models.pair_check import check_pair
from engine.models.vocabulary import load_known, save_known

VOCABULARIES = ".vocabularies.json"
INSPECTED = ".inspected.json"

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
        self._downloads = Downloads(self._root, sink, self.tuning)
        self._jobs = Jobs()
        self._searches = Searches(sink, self.tuning.patience, self._jobs)
        self._leftovers_reported = False
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._clerk = threading.Thread(target=self._work, name="models-clerk", daemon=True)
        self.set_hub(HubAccess(endpoint or "", token or ""))
        self._clerk.start()

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

    def set_supplied(self, model: SuppliedModel | None) -> None:
        self._downloads.set_supplied(model)

    def set_limit(self, bytes_per_second: int) -> None:
        self._downloads.shares.throttle.set_limit(bytes_per_second)

    def verify(self, folder: Path | str) -> None:
        self._look_after(
            lambda stop: upkeep.verified(Path(folder), stop, self._sink),
            lambda error: ModelVerified(str(folder), known=False, error=error),
            str(folder),
        )

    def stop_verifying(self, folder: Path | str) -> None:
        self._jobs.stop(StopKind.CANCEL, str(folder))

    def check_for_update(self, folder: Path | str) -> None:
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
        threads = [self._clerk, *self._downloads.close(), *self._jobs.close()]
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
        """On a thread of its own: reading gigabytes must not delay a scan. Sends an event at its end, unless it is
        stopped.
        """
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
        if not self._leftovers_reported:
            self._leftovers_reported = True
            self._attempt(self._downloads.report_leftovers)  # if this fails, models are listed all the same
        with self._lock:
            places, home = self._places, self._home
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
