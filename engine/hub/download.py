"""One download from request to installed folder: list, check, fetch in parallel, publish in one step; its progress.

Until then everything is in `.downloads/<organisation>--<name>/` beside the models, where the next try finds it.
"""

from __future__ import annotations

import errno
import math
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from engine.api.errors import (
    AccessDenied,
    ChecksumMismatch,
    DiskFull,
    DownloadError,
    FileMissing,
    FileUnusable,
    HubMisbehaved,
    HubOffline,
    HubUnreachable,
    ModelDamaged,
    NothingToInstall,
    RepositoryNotFound,
    StorageFailed,
)
from engine.api.events import DownloadProgress
from engine.api.files import open_plain
from engine.api.hub import FileProgress, PeerModel, Retry
from engine.api.types import DownloadId
from engine.hub.client import HubClient
from engine.hub.disk_space import free_bytes
from engine.hub.http import Hub
from engine.hub.repository import MANIFEST, RemoteFile, check_repository, check_revision
from engine.hub.staging import (
    FILES,
    RECORD,
    Busy,
    SpaceNeeded,
    alone_with,
    begun,
    branch_of,
    keep_from_backups,
    keep_only,
    lists,
    publish,
    recorded_bytes,
    recover,
    remove,
    reserve_space,
    staging_of,
    target_of,
    tidy,
    write_json,
    write_manifest,
)
from engine.hub.stop import LEAST_BYTES_PER_S, HubPatience, Retries, StopKind, Stopped, StopSignal, Throttle
from engine.hub.writer import OnBytes, Slot, fetch_file, is_right, part_path
from engine.models.inspect import check_small_files
from engine.models.model_files import MIB
from engine.models.names import is_commit

# Counts a download's bytes from all its threads and reports them, rarely enough to be displayed.


INTERVAL_S = 0.1
STALL_INTERVAL_S = 1.0
SPEED_OVER_S = 3.0
TIME_LEFT_OVER_S = 15.0
_CONTRADICTS = 2.0  # the time left at the present speed, or its inverse, is that many times the reported one
_STOPPED_S = 5.0  # a longer gap between calls: the download was stopped or reading files, so it does not count as speed
_SPEED_AFTER_S = 1.0  # of bytes that arrive, until a speed is reported …
_SURE_AFTER_S = 2.0  # … and until the remaining time is reported
_FILES_SHOWN = 100
NOT_FROM_PEER = (HubUnreachable, HubMisbehaved, RepositoryNotFound, FileMissing, AccessDenied, NothingToInstall)
_PATIENCE = HubPatience(read_s=15.0, connect_s=5.0, question_tries=1, silent_tries=1, file_tries=2)


class Rate:
    """Bytes a second over the last `over_s` seconds: a burst weighs no more than its time.

    Measured from the arrival of the first bytes; how long those took is not known.
    """

    def __init__(self, over_s: float) -> None:
        self._over_s = over_s
        self._bytes = self._seconds = 0.0
        self._seen_s = 0.0
        self._began = False

    def add(self, count_bytes: int, passed_s: float) -> None:
        if not self._began:
            self._began = count_bytes > 0
            return
        kept = math.exp(-passed_s / self._over_s)
        self._bytes = self._bytes * kept + count_bytes
        self._seconds = self._seconds * kept + passed_s
        self._seen_s += passed_s

    @property
    def per_second(self) -> float:
        """0 while unknown."""
        return self._bytes / self._seconds if self._seen_s >= _SPEED_AFTER_S else 0.0

    def seconds_for(self, count_bytes: int) -> float | None:
        """None while unknown."""
        if self._seen_s < _SURE_AFTER_S or self.per_second < LEAST_BYTES_PER_S:
            return None
        return max(0, count_bytes) / self.per_second


class _Count:
    """The bytes of one file, or of all of them together."""

    def __init__(self, total_bytes: int = 0) -> None:
        self.total_bytes = total_bytes
        self.done_bytes = self._fresh_bytes = 0
        self._speed = Rate(SPEED_OVER_S)
        self._long = Rate(TIME_LEFT_OVER_S)

    def add(self, count_bytes: int, fresh: bool) -> None:
        self.done_bytes += count_bytes
        self._fresh_bytes += count_bytes if fresh else 0

    def look(self, passed_s: float) -> bool:
        """Update the rates; returns whether any byte arrived since the last call."""
        fresh_bytes = self._fresh_bytes
        self._fresh_bytes = 0
        for rate in (self._speed, self._long) if passed_s < _STOPPED_S else ():
            rate.add(fresh_bytes, passed_s)
        return fresh_bytes > 0

    @property
    def bytes_per_second(self) -> float:
        return self._speed.per_second

    @property
    def seconds_left(self) -> float | None:
        """None while unknown, or while it would contradict the speed that is shown beside it."""
        left_bytes = self.total_bytes - self.done_bytes
        soon = self._speed.seconds_for(left_bytes)
        left_s = self._long.seconds_for(left_bytes)
        if soon is None or left_s is None:
            return None
        return left_s if soon <= _CONTRADICTS * left_s and left_s <= _CONTRADICTS * soon else None


class Meter:
    """`add` and `tick` report at most every INTERVAL_S; `tick` also if nothing arrived, so that a stall is shown."""

    def __init__(
        self,
        download: DownloadId,
        repository: str,
        emit: Callable[[DownloadProgress], None],
        retry: Callable[[], Retry | None] = lambda: None,
    ) -> None:
        """`retry`: the next one, while a thread of the download waits for it."""
        self._lock = threading.Lock()
        self._download = download
        self._repository = repository
        self._emit = emit
        self._retry = retry
        self._all = _Count()
        self._files = dict[str, _Count]()
        self._reported_bytes = 0
        self._reported_retry = False
        self._reported_at = time.monotonic()

    def start(self, files: Iterable[RemoteFile]) -> None:
        """Once for each hub or mirror that is asked: what is on disk already is counted again."""
        with self._lock:
            self._files = {file.name: _Count(file.size_bytes) for file in files}
            self._all = _Count(sum(file.total_bytes for file in self._files.values()))
            self._report(time.monotonic())

    def add(self, name: str, count_bytes: int, fresh: bool) -> None:
        """`fresh`: they arrived over the network; others were on disk already and do not count as speed."""
        with self._lock:
            for count in (self._all, self._files.setdefault(name, _Count())):
                count.add(count_bytes, fresh)
        self.tick()

    def tick(self) -> None:
        with self._lock:
            now = time.monotonic()
            changed = (
                self._all.done_bytes != self._reported_bytes or (self._retry() is not None) != self._reported_retry
            )
            if now - self._reported_at >= (INTERVAL_S if changed else STALL_INTERVAL_S):
                self._report(now)

    def finish(self) -> None:
        with self._lock:
            self._report(time.monotonic())

    def _report(self, now: float) -> None:
        passed_s = max(now - self._reported_at, 1e-3)
        came = self._all.look(passed_s)
        for file in self._files.values():
            file.look(passed_s)
        retry = None if came else self._retry()  # one file may wait while the others arrive
        self._reported_bytes = self._all.done_bytes
        self._reported_at = now
        self._reported_retry = retry is not None
        self._emit(
            DownloadProgress(
                self._download,
                self._repository,
                self._all.done_bytes,
                self._all.total_bytes,
                self._all.bytes_per_second,
                seconds_left=self._all.seconds_left,
                retry=retry,
                files=self._shown_files(),
            )
        )

    def _shown_files(self) -> tuple[FileProgress, ...]:
        """The largest ones."""
        largest = sorted(self._files.items(), key=lambda each: -each[1].total_bytes)[:_FILES_SHOWN]
        return tuple(
            FileProgress(name, file.done_bytes, file.total_bytes, file.bytes_per_second, file.seconds_left)
            for name, file in sorted(largest)
        )


@dataclass(frozen=True, slots=True)
class Shares:
    """Shared by all downloads: simultaneous connections to hubs, and bytes a second."""

    slots: threading.Semaphore
    throttle: Throttle


@dataclass(frozen=True, slots=True)
class Tuning:
    patience: HubPatience = field(default_factory=HubPatience)
    files_at_once: int = 4  # of one repository
    disk_reserve_bytes: int = 2_000_000_000
    disk_factor: float = 1.05


class Download:
    """Runs on its own thread; raises Stopped, a DownloadError, or the ModelError that its config.json causes."""

    def __init__(self, root: Path, repository: str, revision: str, hub: Hub, tuning: Tuning) -> None:
        self.repository = repository
        self.revision = revision
        self.stop = StopSignal()
        self.retries = Retries(self.stop, self._while_waiting)
        self.total_bytes = 0
        self.changed = False  # the installed model differs from the one before
        self.hub = hub  # may be replaced: used from the next try on
        self.peer_files = PeerFiles(repository, self.stop, self.retries)
        self._asked = hub, self.peer_files.offered
        self._root = root
        self._tuning = tuning
        self._meter: Meter | None = None  # once it runs
        self._space: SpaceNeeded | None = None  # None: not known yet
        self._begun = ""  # the commit of the files that have arrived

    @property
    def target(self) -> Path:
        return target_of(self._root, self.repository)

    @property
    def staging(self) -> Path:
        return staging_of(self._root, self.repository)

    def run(self, meter: Meter, shares: Shares) -> Path:
        check_repository(self.repository)
        check_revision(self.repository, self.revision)
        self._check_way()
        self._meter = meter
        try:
            with alone_with(self._root, self.repository, self.stop.wait):
                keep_from_backups(self._root)
                recover(self._root, self.repository)
                tidy(self.staging)
                self._begun, self.revision = begun(self.staging, self.revision)
                self.total_bytes = recorded_bytes(self.staging, "total_bytes")
                self._record()
                self._install_from_newest(meter, shares)
                meter.finish()
                remove(self.staging)
        except Busy as error:
            raise StorageFailed(self.repository, str(self._root), "locked", in_use=True) from error
        except OSError as error:
            raise self._storage_error(error) from error
        return self.target

    def _check_way(self) -> None:
        """Before any download: no file is where a folder is needed.

        A link in the model's place may lead anywhere: the link is replaced, and its target stays.
        """
        target = () if self.target.is_symlink() else (self.target,)
        for path in (self._root, self.staging.parent, self.target.parent, *target):
            if os.path.lexists(path) and not path.is_dir():
                raise StorageFailed(self.repository, str(path), "a file is in the way", in_the_way=True)

    @property
    def _folder(self) -> Path:
        return self.staging / FILES

    def _record(self, promised_bytes: int = 0) -> None:
        """Record the download for a later try, for lists of unfinished downloads, and for reserving disk space."""
        asked = {"repository": self.repository, "revision": self.revision}
        known = {"commit": self._begun, "total_bytes": self.total_bytes, "promised_bytes": promised_bytes}
        write_json(self.staging / RECORD, asked | known)

    def _while_waiting(self) -> None:
        if self._meter is not None:
            self._meter.tick()
        if (self.hub, self.peer_files.offered) != self._asked:
            self.stop.request(StopKind.HUB_CHANGED)

    def _install_from_newest(self, meter: Meter, shares: Shares) -> None:
        """Restart whenever the hub setting changes during the download."""
        while True:
            self._asked = self.hub, self.peer_files.offered
            try:
                self._install_from_any(self._asked[0].places(), meter, shares)
                return
            except Stopped:
                if self.stop.kind is not StopKind.HUB_CHANGED:
                    raise
                self.stop.begin_again()

    def _install_from_any(self, places: list[Hub], meter: Meter, shares: Shares) -> None:
        """What has arrived from one is used with the next.

        At last by the list of a paired machine, which is theirs, as a mirror's is. Also where the hub gives the model
        to that machine's user alone.
        """
        patience = self._tuning.patience
        last = replace(patience, file_tries=patience.last_tries, silent_tries=patience.last_tries)
        try:
            self._install_from_hubs(places, last, meter, shares)
            return
        except (HubUnreachable, HubOffline, AccessDenied, RepositoryNotFound) as error:
            from_peer = self.peer_files.hub(self.revision)
            if from_peer is None:
                raise
            refused = error
        self.stop.begin_again()
        try:
            self._install(from_peer, last, meter, shares)
        except NOT_FROM_PEER as error:
            raise refused from error

    def _install_from_hubs(self, places: list[Hub], last: HubPatience, meter: Meter, shares: Shares) -> None:
        """From the hub, or if it cannot be reached from the first mirror that can. `last`: where nothing is left."""
        patience = self._tuning.patience
        for hub in places[:-1]:
            with suppress(HubUnreachable, HubOffline):
                self._install(hub, patience, meter, shares)
                return
            self.stop.begin_again()
        is_last = self.peer_files.hub(self.revision) is None
        self._install(places[-1], last if is_last else patience, meter, shares)

    def _install(self, hub: Hub, patience: HubPatience, meter: Meter, shares: Shares) -> None:
        (self._folder / MANIFEST).unlink(missing_ok=True)  # written last: while it exists, all other files are right
        with closing(HubClient(hub, self.repository, self.stop, patience, self.retries)) as client:
            commit, files = self._listed(client)
            self._begun = commit
            self.total_bytes = sum(file.size_bytes for file in files)
            self._record()
            keep_only(
                self.staging, {name for file in files for name in (file.name, part_path(self._folder, file).name)}
            )
            meter.start(files)
            right = [file for file in files if self._is_right(self.target, file, meter)]
            if len(right) == len(files) and lists(self.target, commit, files):
                return
            taken = {file.name for file in right if self._take_over(file, meter)}
            self._fetch(client, commit, [file for file in files if file.name not in taken], meter, shares)
        branch = branch_of(self.target) if is_commit(self.revision) else self.revision
        write_manifest(self._folder, client.named, commit, files, branch)
        publish(self._root, self.repository, {file.name for file in files})
        self.changed = True

    def _listed(self, client: HubClient) -> tuple[str, list[RemoteFile]]:
        """A later try continues with the first one's commit, while the hub has it: files of two do not fit."""
        if self._begun and not is_commit(self.revision):
            with suppress(RepositoryNotFound):
                return client.list_files(self._begun)
        return client.list_files(self.revision)

    def _take_over(self, file: RemoteFile, meter: Meter) -> bool:
        """A hard link to a right file of the installed model; a copy is verified again."""
        new = self._folder / file.name
        new.unlink(missing_ok=True)
        try:
            new.hardlink_to(self.target / file.name)
            return True
        except FileNotFoundError:
            pass  # the model is being deleted
        except OSError:  # a file system without hard links
            self._copy(self.target / file.name, new)
        meter.add(file.name, -file.size_bytes, False)
        return False

    def _copy(self, source: Path, target: Path) -> None:
        """Gigabytes may take a minute: a stop is noticed meanwhile."""
        with open_plain(source) as former, target.open("wb") as copy:
            while piece := former.read(MIB):
                self.stop.check()
                copy.write(piece)

    def _is_right(self, folder: Path, file: RemoteFile, meter: Meter) -> bool:
        right = is_right(folder / file.name, file, self.stop)
        meter.add(file.name, file.size_bytes if right else 0, False)
        return right

    def _fetch(self, client: HubClient, commit: str, files: list[RemoteFile], meter: Meter, shares: Shares) -> None:
        missing = [file for file in files if not self._is_right(self._folder, file, meter)]
        for file in missing:
            (self._folder / file.name).unlink(missing_ok=True)
        tuning = self._tuning
        self._space = SpaceNeeded(self.repository, self.staging, missing, tuning.disk_factor, tuning.disk_reserve_bytes)
        reserve_space(self._root, self._space, self.stop.wait, self._record)

        def fetch(file: RemoteFile) -> None:
            def report(count_bytes: int, fresh: bool) -> None:
                if fresh:
                    shares.throttle.take(count_bytes, self.stop)
                meter.add(file.name, count_bytes, fresh)

            line = partial(_slot, shares.slots, self.stop)
            self.peer_files.fetch(client, commit, file, self._folder, report, line)

        self._in_parallel(fetch, [file for file in missing if not file.is_weights], meter)
        self._check_config()  # before gigabytes are downloaded for nothing
        self._in_parallel(fetch, [file for file in missing if file.is_weights], meter)

    def _check_config(self) -> None:
        try:
            check_small_files(self._folder, str(self.target))
        except ModelDamaged as error:
            raise FileUnusable(self.repository, "config.json", detail=error.detail) from error

    def _storage_error(self, error: OSError) -> DownloadError:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            if self._space is not None:
                return self._space.disk_full(free_bytes(self._root))
            return DiskFull(self.repository, self._tuning.disk_reserve_bytes, free_bytes(self._root))
        return StorageFailed(self.repository, str(self._root), error.strerror or str(error))

    def _in_parallel(self, fetch: Callable[[RemoteFile], None], files: Sequence[RemoteFile], meter: Meter) -> None:
        """The first failure stops the others and is raised here."""
        waiting = queue.SimpleQueue[RemoteFile | None]()
        failures: list[BaseException] = []

        def work() -> None:
            try:
                while (file := waiting.get()) is not None:
                    fetch(file)
            except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
                failures.append(error)
                self.stop.request(StopKind.SIBLING_FAILED)

        count = min(self._tuning.files_at_once, len(files))
        for file in (*files, *[None] * count):
            waiting.put(file)
        threads = [threading.Thread(target=work, name=f"fetch-{number}", daemon=True) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(INTERVAL_S)
                meter.tick()
        if failures:
            raise next((failure for failure in failures if not isinstance(failure, Stopped)), failures[0])


@contextmanager
def _slot(slots: threading.Semaphore, stop: StopSignal) -> Iterator[None]:
    while not slots.acquire(timeout=0.2):
        stop.check()
    try:
        yield
    finally:
        slots.release()


class PeerFiles:
    """A download's files from a paired machine that has them, before a hub is asked; what fails there, the hub sends.

    The machine is one more mirror: it gets no token, and its bytes have to match the hub's checksums. What has arrived
    from either counts for both. Used by any of the download's threads; `offered` is replaced by others.
    """

    def __init__(self, repository: str, stop: StopSignal, retries: Retries) -> None:
        self.offered: PeerModel | None = None
        self._repository = repository
        self._stop = stop
        self._retries = retries
        self._is_trusted = True
        self._tried: set[str] = set()  # files that it may have sent a part of

    def hub(self, commit: str) -> Hub | None:
        """If it has that commit, and has sent nothing wrong yet."""
        model = self.offered
        if model is None or (model.repository, model.revision) != (self._repository, commit) or not self._is_trusted:
            return None
        return Hub(model.endpoint, peer=model)

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
        part = part_path(folder, file)
        with closing(HubClient(hub, self._repository, self._stop, _PATIENCE, self._retries)) as client:
            try:
                fetch_file(client, commit, file, folder, self._stop, report, slot)
                return True
            except ChecksumMismatch:
                self._is_trusted = False
            except NOT_FROM_PEER as error:
                report(-part.stat().st_size, False)  # the client goes on from there, and counts it again
                if isinstance(error, HubMisbehaved):
                    self._is_trusted = False
                    part.unlink()
        return False
