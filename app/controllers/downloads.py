"""Downloads: their rows, progress and results.

A row is one model or the two halves of a pair, which the store downloads at the same time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.settings import Settings
from app.view_models.downloads import DownloadEntry, DownloadState
from engine import (
    NEWEST,
    PUBLIC_HUB,
    AccessDenied,
    DownloadFailed,
    DownloadFinished,
    DownloadId,
    DownloadProgress,
    DownloadStopped,
    EngineError,
    Event,
    FileProgress,
    HubOffline,
    LibraryScanned,
    ModelDeleted,
    ModelLibrary,
)

_RUNNING = (DownloadState.WAITING, DownloadState.RUNNING)
_DownloadEvent = DownloadProgress | DownloadFinished | DownloadStopped | DownloadFailed


@dataclass(frozen=True, slots=True)
class _Half:
    """One repository of a row, as the store last reported it."""

    repository: str
    revision: str = NEWEST
    download: DownloadId | None = None  # None: not started in this run
    state: DownloadState = DownloadState.PAUSED
    progress: DownloadProgress | None = None
    done_bytes: int = 0
    total_bytes: int = 0
    kept_bytes: int = 0  # on disk when it was stopped; a resumed download counts up to that again
    error: EngineError | None = None
    offline: bool = False  # paused by offline mode
    folder: str = ""

    @property
    def has_size(self) -> bool:
        """Whether it is known. A half that an earlier run finished needs none."""
        return self.total_bytes > 0 or self.state is DownloadState.FINISHED

    def brings(self, repository: str, revision: str) -> bool:
        same = self.revision == revision and self.state is not DownloadState.FAILED
        return self.repository == repository and (self.state in _RUNNING or same)


@dataclass(frozen=True, slots=True)
class _Row:
    id: int
    halves: tuple[_Half, ...]
    draft_for: tuple[str, ...] = ()  # folders of the main models that it was chosen for, the latest last

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(half.repository for half in self.halves)

    @property
    def states(self) -> list[DownloadState]:
        return [half.state for half in self.halves]

    @property
    def is_finished(self) -> bool:
        return set(self.states) == {DownloadState.FINISHED}


class DownloadController(QObject):
    changed = Signal()
    installed = Signal(str, str)  # repository, folder
    paired = Signal(str, str)  # folders of a main model and of the draft that was installed for it

    def __init__(
        self, store: ModelLibrary, bridge: EngineBridge, settings: Settings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._settings = settings
        self._ids = itertools.count(1)
        self._rows: dict[int, _Row] = {}
        self._left: set[DownloadId] = set()  # rows resumed without them; their events may still come
        self._here: dict[str, str] = {}  # folders of installed models by repository
        self._to_go_on = dict(_split(each) for each in settings.going_downloads)  # revisions, by repository
        bridge.event_arrived.connect(self._on_event)
        self.changed.connect(self._keep_going)

    @property
    def entries(self) -> list[DownloadEntry]:
        return [_entry(row, self._settings.hub_endpoint) for row in self._rows.values()]

    @property
    def coming(self) -> dict[str, DownloadState]:
        """Progress of main models whose download did not fail."""
        return {entry.repository: entry.state for entry in self.entries if entry.state is not DownloadState.FAILED}

    def brings(self, repository: str, revision: str) -> bool:
        """Whether a download of that revision is running or has yet to end."""
        return any(half.brings(repository, revision) for row in self._rows.values() for half in row.halves)

    def install(self, repository: str, revision: str = "", *, draft_for: str = "") -> int:
        """`revision` "": the newest."""
        return self._install((repository.strip(),), revision or NEWEST, draft_for=draft_for)

    def install_pair(self, main: str, draft: str) -> int:
        """Download both halves as one row; an installed half is skipped. The pair is restored after a restart."""
        pair = main.strip(), draft.strip()
        self._settings.pair_downloads = (*self._other_pairs(pair), " ".join(pair))
        return self._install(pair)

    def pause(self, row: int) -> None:
        """Pause; shown at once, though stopping may take until a connection is made."""
        for half in self._halves(row, _RUNNING):
            if half.download is not None:
                self._to_go_on.pop(half.repository, None)
                self._store.pause(half.download)
                for number in self._rows_with(half.download):
                    self._put(number, replace(half, state=DownloadState.PAUSED, progress=None))

    def resume(self, row: int) -> None:
        """Resume from what is on disk, once it has stopped."""
        self._start(row, self._halves(row, (DownloadState.PAUSED, DownloadState.FAILED)))

    def go_on(self) -> None:
        """Resume what offline mode paused or refused."""
        for number, half in self._every(lambda half: half.offline or isinstance(half.error, HubOffline)):
            self._start(number, [half])

    def try_now(self, row: int) -> None:
        for half in self._halves(row, _RUNNING):
            if half.download is not None:
                self._store.try_now(half.download)

    def cancel(self, row: int) -> None:
        """End a download, delete its files, and remove the row."""
        for half in self._halves(row, (*_RUNNING, DownloadState.PAUSED, DownloadState.FAILED)):
            if half.download is not None and self._rows_with(half.download) == {row}:  # else another row still uses it
                self._left.add(half.download)
                self._store.cancel(half.download)
        self.dismiss(row)

    def dismiss(self, row: int) -> None:
        """Remove a row; files stay."""
        if (gone := self._rows.pop(row, None)) is not None:
            for name in gone.names:
                if not self._named(name):
                    self._to_go_on.pop(name, None)
            self._forget_pair(gone)
            self.changed.emit()

    def folders(self, row: int) -> tuple[str, ...]:
        """Folders of a finished download's models; empty before that."""
        found = self._rows.get(row)
        if found is None or not found.is_finished:
            return ()
        return tuple(half.folder for half in found.halves)

    def main_for(self, row: int) -> str:
        """The folder of the main model that a draft was downloaded for; else ""."""
        return self._rows[row].draft_for[-1] if row in self._rows and self._rows[row].draft_for else ""

    def _install(self, repositories: tuple[str, ...], revision: str = NEWEST, *, draft_for: str = "") -> int:
        for row in self._rows.values():
            under_way = {half.repository for half in row.halves if half.state in _RUNNING}
            if (row.names == repositories and under_way) or set(repositories) <= under_way:
                self._rows[row.id] = replace(row, draft_for=_with(row.draft_for, draft_for))
                return row.id
        same = [row for row in self._rows.values() if set(row.names) <= set(repositories)]
        number = same[0].id if same else next(self._ids)
        for row in same[1:]:
            del self._rows[row.id]
        known = {half.repository: half for row in same for half in row.halves}
        halves = tuple(replace(known.get(name, _Half(name)), revision=revision) for name in repositories)
        if len(halves) > 1:
            halves = tuple(self._as_installed(half) for half in halves)
        chosen_for = dict.fromkeys(main for row in same for main in row.draft_for)
        self._rows[number] = _Row(number, halves, _with(tuple(chosen_for), draft_for))
        done = (*_RUNNING, DownloadState.FINISHED) if len(halves) > 1 else _RUNNING
        self._start(number, [half for half in halves if half.state not in done])
        self._forget_pair_when_done(number)
        self.changed.emit()
        return number

    def _as_installed(self, half: _Half) -> _Half:
        folder = self._here.get(half.repository)
        if folder is None or half.state in _RUNNING:
            return half
        return _Half(half.repository, half.revision, state=DownloadState.FINISHED, folder=folder)

    def _start(self, number: int, halves: Iterable[_Half]) -> None:
        for half in halves:
            others = set() if half.download is None else self._rows_with(half.download)
            download = self._store.install(half.repository, half.revision)
            if half.download not in (None, download):
                self._left.add(half.download)
            begun = replace(half, download=download, state=DownloadState.WAITING, error=None, offline=False)
            begun = replace(begun, progress=None)
            for row in {number, *others}:  # two pairs may share a draft
                self._put(row, begun)

    def _on_event(self, event: Event) -> None:
        match event:
            case DownloadProgress() | DownloadFinished() | DownloadStopped() | DownloadFailed():
                self._on_download(event)
            case ModelDeleted(folder=folder):
                for number, half in self._every(lambda half: half.folder == folder):
                    self._drop(number, half)
            case LibraryScanned(models=models):
                self._here = {}
                for model in models:
                    if model.repository and model.info is not None:
                        self._here.setdefault(model.repository, model.folder)
                for number, half in self._every(lambda half: half.download is None and half.repository in self._here):
                    self._put(number, self._as_installed(half))  # an earlier run had finished it
                self._go_on_from_before()

    def _on_download(self, event: _DownloadEvent) -> None:
        for number, half in self._halves_of(event.download, event.repository):
            if isinstance(event, DownloadProgress) and half.download and half.state is DownloadState.PAUSED:
                continue  # sent before it was paused
            self._put(number, _after_event(replace(half, download=event.download), event))
            self._forget_pair_when_done(number)
        if _was_offline(event) and not self._settings.hub_offline:
            self.go_on()  # offline mode was switched off meanwhile
        if isinstance(event, DownloadFinished):
            self.installed.emit(event.repository, event.folder)

    def _halves_of(self, download: DownloadId, repository: str) -> list[tuple[int, _Half]]:
        """The halves that a download belongs to: two pairs may share a draft. One of an earlier run gets a row."""

        def is_meant(half: _Half) -> bool:
            unknown = half.download is None and half.state is not DownloadState.FINISHED
            return half.download == download or (unknown and half.repository == repository)

        if download in self._left:
            return self._every(lambda half: half.download == download)
        if found := self._every(is_meant):
            return found
        self._begin_again(repository)
        return self._every(is_meant)

    def _keep_going(self) -> None:
        """Remember downloads to resume at the next start: running ones, and those paused by offline mode."""
        under_way = self._every(lambda half: half.offline or half.state in _RUNNING)
        going = self._to_go_on | {half.repository: half.revision for _, half in under_way}
        self._settings.going_downloads = tuple(f"{name} {revision}" for name, revision in sorted(going.items()))

    def _go_on_from_before(self) -> None:
        """Resume downloads of an earlier run, once the store has reported them. Offline mode pauses them."""
        before = self._to_go_on
        self._to_go_on = {}
        for repository, revision in before.items():
            left = self._named(repository)
            if not left and repository not in self._here:
                self._begin_again(repository)
                left = self._named(repository)
            for number, half in left:
                if half.state is DownloadState.PAUSED:
                    self._go_on_with(number, replace(half, revision=revision))

    def _go_on_with(self, number: int, half: _Half) -> None:
        if self._settings.hub_offline:
            self._put(number, replace(half, offline=True))
        else:
            self._start(number, [half])

    def _begin_again(self, repository: str) -> None:
        """A row for a download of an earlier run, with the rest of its pair; another pair may have that already."""
        number = next(self._ids)
        known = {half.repository: half for row in self._rows.values() for half in row.halves}
        known[repository] = _Half(repository)
        halves = (known.get(name) or self._as_installed(_Half(name)) for name in self._with_its_pair(repository))
        self._rows[number] = _Row(number, tuple(halves))

    def _named(self, repository: str) -> list[tuple[int, _Half]]:
        return self._every(lambda half: half.repository == repository)

    def _with_its_pair(self, repository: str) -> tuple[str, ...]:
        """The pair that it was started with, or itself alone."""
        pairs = [tuple(pair.split(" ")) for pair in self._settings.pair_downloads]
        return next((pair for pair in pairs if repository in pair and len(pair) == 2), (repository,))

    def _every(self, wanted: Callable[[_Half], bool]) -> list[tuple[int, _Half]]:
        return [(row.id, half) for row in self._rows.values() for half in row.halves if wanted(half)]

    def _drop(self, number: int, half: _Half) -> None:
        """A model was deleted: remove it from finished rows; unfinished halves stay."""
        row = self._rows.get(number)
        if row is None or row.is_finished:
            self.dismiss(number)
        elif half.state is DownloadState.FINISHED:
            self._forget_pair(row)
            self._rows[number] = replace(row, halves=tuple(each for each in row.halves if each != half))
            self.changed.emit()

    def _rows_with(self, download: DownloadId) -> set[int]:
        return {number for number, _ in self._every(lambda half: half.download == download)}

    def _halves(self, number: int, states: tuple[DownloadState, ...]) -> list[_Half]:
        row = self._rows.get(number)
        return [] if row is None else [half for half in row.halves if half.state in states]

    def _put(self, number: int, half: _Half) -> None:
        row = self._rows[number]
        halves = tuple(half if each.repository == half.repository else each for each in row.halves)
        self._rows[number] = replace(row, halves=halves)
        self.changed.emit()

    def _other_pairs(self, pair: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(each for each in self._settings.pair_downloads if each != " ".join(pair))

    def _forget_pair(self, row: _Row) -> None:
        self._settings.pair_downloads = self._other_pairs(row.names)

    def _forget_pair_when_done(self, number: int) -> None:
        row = self._rows[number]
        if row.is_finished:
            self._forget_pair(row)
            draft = row.halves[-1].folder
            for main in _with(row.draft_for, row.halves[0].folder):
                if main != draft:
                    self.paired.emit(main, draft)


def _with(mains: tuple[str, ...], main: str) -> tuple[str, ...]:
    return (*(each for each in mains if each != main), main) if main else mains


def _split(going: str) -> tuple[str, str]:
    repository, _, revision = going.partition(" ")
    return repository, revision or NEWEST


def _after_event(half: _Half, event: _DownloadEvent) -> _Half:
    match event:
        case DownloadProgress(done_bytes=done, total_bytes=total):
            state = DownloadState.RUNNING if total else DownloadState.WAITING
            shown = max(done, min(half.kept_bytes, total or half.kept_bytes))
            return replace(half, state=state, progress=event, done_bytes=shown, total_bytes=total or half.total_bytes)
        case DownloadStopped(kept_bytes=kept, total_bytes=total, offline=offline):
            half = replace(half, state=DownloadState.PAUSED, progress=None, offline=offline)
            return replace(half, done_bytes=kept, kept_bytes=kept, total_bytes=total or half.total_bytes)
        case DownloadFailed(kept_bytes=kept, error=error):
            return replace(
                half, state=DownloadState.FAILED, progress=None, done_bytes=kept, kept_bytes=kept, error=error
            )
        case DownloadFinished(folder=folder):
            done = half.total_bytes
            return replace(half, state=DownloadState.FINISHED, progress=None, done_bytes=done, folder=folder)


def _was_offline(event: _DownloadEvent) -> bool:
    """Whether offline mode paused or refused it."""
    match event:
        case DownloadStopped(offline=True) | DownloadFailed(error=HubOffline()):
            return True
    return False


def _entry(row: _Row, hub: str) -> DownloadEntry:
    """`hub`: its address, for the page where access is requested."""
    failed = next((half for half in row.halves if half.state is DownloadState.FAILED), None)
    error = failed.error if failed is not None else None
    going = [half for half in row.halves if half.state is not DownloadState.FAILED] or row.halves
    running = [half.progress for half in row.halves if half.progress is not None]
    left = [progress.seconds_left for progress in running]
    waits = [progress for progress in running if progress.retry is not None]
    files = [_named(progress, len(row.halves) > 1) for progress in running]
    return DownloadEntry(
        id=row.id,
        repositories=row.names,
        done_bytes=sum(half.done_bytes for half in going),
        total_bytes=sum(half.total_bytes for half in going) if all(half.has_size for half in going) else 0,
        bytes_per_second=sum(progress.bytes_per_second for progress in running),
        seconds_left=None if None in left else max((each for each in left if each is not None), default=None),
        retry=waits[0].retry if waits else None,
        waiting=waits[0].repository.rpartition("/")[2] if 0 < len(waits) < len(running) else "",
        files=tuple(file for some in files for file in some),
        state=_state(row),
        error=error,
        failed=failed.repository if failed is not None else "",
        offline=any(half.offline for half in row.halves),
        page=_page(error, hub),
    )


def _page(error: EngineError | None, hub: str) -> str:
    if not isinstance(error, AccessDenied) or not error.gated:
        return ""
    page = "/".join(error.repository.split("/")[:2])  # a drafter's folder has its main model's page
    return f"{hub.rstrip('/') or PUBLIC_HUB}/{page}"


def _state(row: _Row) -> DownloadState:
    """The state of a row by its halves: running while any half runs, else waiting, paused or failed."""
    order = (DownloadState.RUNNING, DownloadState.WAITING, DownloadState.PAUSED, DownloadState.FAILED)
    return next((state for state in order if state in row.states), DownloadState.FINISHED)


def _named(progress: DownloadProgress, in_pair: bool) -> list[FileProgress]:
    """Names of a pair's files begin with their model's name."""
    if not in_pair:
        return list(progress.files)
    name = progress.repository.rpartition("/")[2]
    return [replace(file, name=f"{name}/{file.name}") for file in progress.files]
