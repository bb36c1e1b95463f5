"""A scripted ModelLibrary with a thread of its own: installs in steps through a gate. No disk, no network."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from engine import (
    DeleteFailed,
    DeleteRefusal,
    DownloadError,
    DownloadFailed,
    DownloadFinished,
    DownloadId,
    DownloadProgress,
    DownloadStopped,
    EngineError,
    HubAccess,
    HubModel,
    HubOffline,
    HubPage,
    HubQuery,
    InstalledModel,
    LibraryScanned,
    ModelDeleted,
    ModelInfo,
    ModelSource,
    ModelVerified,
    PageFailed,
    PageRead,
    PairCheck,
    PairChecked,
    PeerModel,
    RepositoryNotFound,
    SearchFailed,
    SearchId,
    SearchResults,
    Sink,
    TemplateRead,
    UpdateChecked,
    draft_problem,
)
from tests.helpers.fake_engine import DRAFT, MAIN, model_info
from tests.helpers.gate import Gate

STEPS = 4
TOTAL_BYTES = 400_000_000


def installed(
    info: ModelInfo, source: ModelSource = ModelSource.OWN, error: EngineError | None = None
) -> InstalledModel:
    known = None if error else info
    size, repository = info.weight_bytes, f"org/{info.name}"
    return InstalledModel(info.folder, info.name, repository, source, size, known, error, revision="c" * 40)


class FakeModelStore:
    """`failures` says which repositories fail and how; `hub`, `limit` and `folders` keep what the app has set."""

    def __init__(self, sink: Sink, models: Sequence[InstalledModel] | None = None) -> None:
        self.gate = Gate()
        self.failures: dict[str, DownloadError] = {}
        self.undeletable: set[str] = set()
        self.damaged: tuple[str, ...] = ()
        self.has_update = False
        self.no_longer_verified: list[str] = []
        self.hub = HubAccess()
        self.hubs: list[HubAccess] = []
        self.limit = 0
        self.peer_models: list[PeerModel | None] = []
        self.asked: list[str] = []  # repositories to install
        self.tried_now: list[DownloadId] = []
        self.queries: list[HubQuery] = []
        self.on_hub: list[HubModel] = []  # what a search finds, ten at a time
        self.pages: dict[str, HubPage] = {}
        self.hub_error: DownloadError | None = None  # why it answers nothing
        self.missing: DownloadError | None = None  # why it answers only a part
        self.hub_answers = threading.Event()  # until then a search waits
        self.hub_answers.set()
        self._told: dict[SearchId, int] = {}
        self.pair_checks: dict[tuple[str, str], PairCheck] = {}
        self.checked: list[tuple[str, str]] = []
        self.folders: tuple[str, ...] = ()
        self._sink = sink
        self.models = [installed(MAIN), installed(DRAFT)] if models is None else list(models)
        self._ids = itertools.count(1)
        self._repositories: dict[DownloadId, str] = {}
        self._stop: dict[DownloadId, bool] = {}  # True: what has arrived is kept
        self._running: set[DownloadId] = set()
        self._offline: set[DownloadId] = set()  # paused by offline mode
        self._commands: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="fake-model-store", daemon=True)
        self._thread.start()

    def scan(self) -> None:
        self._commands.put(lambda: self._sink(LibraryScanned(tuple(self.models))))

    def install(self, repository: str, revision: str = "main") -> DownloadId:
        """What is being installed already is the same download."""
        self.asked.append(repository)
        for running in self._running - self._stop.keys():
            if self._repositories[running] == repository:
                return running
        download = DownloadId(next(self._ids))
        self._repositories[download] = repository
        self._running.add(download)
        refused = self.hub.offline
        self._commands.put(lambda: self._install(download, repository, refused))
        return download

    def pause(self, download: DownloadId) -> None:
        self._stop.setdefault(download, True)
        self.gate.wake()

    def cancel(self, download: DownloadId) -> None:
        if download in self._running:
            self._stop[download] = False
            self.gate.wake()
        else:
            self._commands.put(lambda: self._sink(DownloadStopped(download, self._repositories[download], 0)))

    def delete(self, folder: Path | str) -> None:
        self._commands.put(lambda: self._delete(str(folder)))

    def try_now(self, download: DownloadId) -> None:
        self.tried_now.append(download)

    def search(self, query: HubQuery) -> SearchId:
        number = SearchId(next(self._ids))
        self.queries.append(query)
        self._commands.put(lambda: self._answer(number))
        return number

    def more(self, search: SearchId) -> None:
        self._commands.put(lambda: self._answer(search))

    def read_page(self, repository: str) -> None:
        self._commands.put(lambda: self._read(repository))

    def verify(self, folder: Path | str) -> None:
        self._commands.put(lambda: self._sink(ModelVerified(str(folder), True, self.damaged)))

    def read_template(self, folder: Path | str) -> None:
        self._commands.put(lambda: self._sink(TemplateRead(str(folder), "{% for message in messages %}")))

    def stop_verifying(self, folder: Path | str) -> None:
        self.no_longer_verified.append(str(folder))

    def check_for_update(self, folder: Path | str) -> None:
        self._commands.put(lambda: self._sink(UpdateChecked(str(folder), "org/model", self.has_update)))

    def set_hub(self, access: HubAccess) -> None:
        """Offline mode pauses what runs, as the store does."""
        self.hub = access
        self.hubs.append(access)
        if access.offline:
            for download in self._running - self._stop.keys():
                self._offline.add(download)
                self.pause(download)

    def set_peer_model(self, model: PeerModel | None) -> None:
        self.peer_models.append(model)

    def set_limit(self, bytes_per_second: int) -> None:
        self.limit = bytes_per_second

    def check_pair(self, main: Path | str, draft: Path | str) -> None:
        self._commands.put(lambda: self._check(str(main), str(draft)))

    def set_folders(self, folders: Sequence[Path | str]) -> None:
        self.folders = tuple(str(folder) for folder in folders)

    def close(self, timeout_s: float = 10.0) -> bool:
        for download in list(self._running):
            self.pause(download)
        self._commands.put(None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (command := self._commands.get()) is not None:
            command()

    def _install(self, download: DownloadId, repository: str, refused: bool) -> None:
        done = 0
        if refused:
            self._end(download, DownloadFailed(download, repository, HubOffline(repository), done))
            return
        for step in range(STEPS):
            self.gate.wait(lambda: download in self._stop)
            if download in self._stop:
                kept, offline = done if self._stop[download] else 0, download in self._offline
                self._end(download, DownloadStopped(download, repository, kept, offline=offline))
                return
            done = (step + 1) * TOTAL_BYTES // STEPS
            self._sink(DownloadProgress(download, repository, done, TOTAL_BYTES, 50e6))
        if repository in self.failures:
            self._end(download, DownloadFailed(download, repository, self.failures[repository], done))
            return
        info = model_info(f"/models/{repository.rpartition('/')[2]}")
        self.models.append(replace(installed(info), repository=repository))
        self._end(download, DownloadFinished(download, repository, info.folder))

    def _answer(self, search: SearchId) -> None:
        self.hub_answers.wait()
        if self.hub_error is not None:
            self._sink(SearchFailed(search, self.hub_error))
            return
        start = self._told.get(search, 0)
        self._told[search] = start + 10
        more = len(self.on_hub) > start + 10
        found = tuple(self.on_hub[start : start + 10])
        self._sink(SearchResults(search, found, reading=False, has_more=more, missing=self.missing))

    def _read(self, repository: str) -> None:
        page = self.pages.get(repository)
        error = self.hub_error or RepositoryNotFound(repository)
        self._sink(PageRead(page) if page and self.hub_error is None else PageFailed(repository, error))

    def _end(self, download: DownloadId, event: DownloadStopped | DownloadFailed | DownloadFinished) -> None:
        self._running.discard(download)
        self._sink(event)

    def _check(self, main: str, draft: str) -> None:
        """As `pair_checks` has it; else what the sizes and digests tell."""
        self.checked.append((main, draft))
        infos = {model.folder: model.info for model in self.models if model.info is not None}
        known = self.pair_checks.get((main, draft))
        self._sink(PairChecked(known or PairCheck(main, draft, draft_problem(infos[main], infos[draft]))))

    def _delete(self, folder: str) -> None:
        if folder in self.undeletable:
            self._sink(DeleteFailed(folder, DeleteRefusal.FORBIDDEN))
            return
        self.models = [model for model in self.models if model.folder != folder]
        self._sink(ModelDeleted(folder))
