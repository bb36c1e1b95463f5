"""The engine's one thread and the queue that leads to it. Everything MLX happens on that thread, and nowhere else.

MLX binds streams, unevaluated arrays and random state to threads, so this thread imports, loads, decodes and unloads
for the life of the process. Commands are looked at between steps: one prefill chunk or one round.
"""

from __future__ import annotations

import itertools
import logging
import queue
import shutil
import threading
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.api.errors import EngineClosed, EngineError, InternalError, NoModelLoaded
from engine.api.events import Event, Failed, ModelFailed, ModelLoading, ModelReady, ModelUnloaded, Queued, Sink
from engine.api.stats import RequestStats
from engine.api.types import ModelRole, Request, RequestId

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel
    from engine.prefix.disk import PrefixDisk
    from engine.runtime.background_load import Arrival
    from engine.runtime.scheduler import Scheduler

_log = logging.getLogger(__name__)

Command = Callable[["Scheduler"], None]

_PREFIXES = "prefixes"


class Engine:
    """Loads a main model and a draft, and writes replies. Any thread may call any method; all return at once."""

    def __init__(
        self, cache_folder: Path | None = None, *, cache_memory_share: float = 0.125, cache_disk_bytes: int = 8 << 30
    ) -> None:
        """Caches of chats wait in that share of the memory, and in `cache_folder`, which outlives the process.

        What was measured of this machine is kept there too.
        """
        self._make_scheduler: Callable[[], Scheduler] = partial(
            _make_scheduler, cache_folder, cache_memory_share, cache_disk_bytes
        )
        self._commands: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self._ids = itertools.count(1)
        self._closed = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    @staticmethod
    def forget_chats(cache_folder: Path) -> None:
        """Delete what `cache_folder` keeps of chats, because one was deleted. Before an engine uses the folder."""
        shutil.rmtree(cache_folder / _PREFIXES, ignore_errors=True)

    def load(self, folder: Path | str, sink: Sink, draft: Path | str | None = None) -> None:
        """Load a main model in place of the present pair; then `draft`, if given."""
        sink = _quiet(sink)
        if not self._send(lambda scheduler: _load_main(scheduler, str(folder), sink)):
            sink(ModelFailed(ModelRole.MAIN, str(folder), EngineClosed()))
        elif draft is not None:
            self.set_draft(draft, sink)

    def set_draft(self, folder: Path | str | None, sink: Sink) -> None:
        """Load a draft for the present main model, or drop it; a running reply goes on with it from its next round."""
        sink = _quiet(sink)
        if folder is None:
            self._send(lambda scheduler: _drop_draft(scheduler, sink))
        elif not self._send(lambda scheduler: _load_draft(scheduler, str(folder), sink)):
            sink(ModelFailed(ModelRole.DRAFT, str(folder), EngineClosed()))

    def unload(self, sink: Sink) -> None:
        """Drop the pair and give its memory back."""
        sink = _quiet(sink)
        self._send(lambda scheduler: _unload(scheduler, sink))

    def submit(self, request: Request, sink: Sink) -> RequestId:
        """Write a reply. `sink` hears Queued first, and exactly one Finished or Failed last."""
        sink = _quiet(sink)
        request_id = RequestId(next(self._ids))
        sink(Queued(request_id))
        if not self._send(lambda scheduler: _submit(scheduler, request_id, request, sink)):
            sink(Failed(request_id, EngineClosed(), RequestStats()))
        return request_id

    def cancel(self, request: RequestId) -> None:
        """Finish early, after the step that is under way. Unknown and finished requests are ignored."""
        self._send(lambda scheduler: scheduler.cancel(request))

    def close(self, timeout_s: float = 10.0) -> bool:
        """Finish everything as cancelled and end the thread; True when it ended in time. More calls change nothing."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._commands.put(None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _send(self, command: Command) -> bool:
        with self._lock:
            if not self._closed:
                self._commands.put(command)
            return not self._closed

    def _run(self) -> None:
        scheduler: Scheduler | None = None
        while (command := self._next_command(scheduler)) is not _CLOSE:
            if scheduler is None:
                scheduler = self._make_scheduler()
            try:
                (command or _step)(scheduler)
            except BaseException:  # noqa: BLE001  the thread outlives every fault; each command reports its own
                _log.exception("the engine thread caught an error")
        if scheduler is not None:
            _shut_down(scheduler)

    def _next_command(self, scheduler: Scheduler | None) -> Command | None:
        """The next command, `_CLOSE`, or None when there is none and there is something to do."""
        busy = scheduler is not None and (scheduler.busy or scheduler.restless)
        try:
            command = self._commands.get(block=not busy)
        except queue.Empty:
            return None
        return _CLOSE if command is None else command


def _CLOSE(scheduler: Scheduler) -> None:  # noqa: N802  a sentinel that has a command's type
    """Never called: the loop ends when it meets it."""


def _make_scheduler(cache_folder: Path | None, memory_share: float, disk_bytes: int) -> Scheduler:
    """Imports MLX, here and now: on the engine thread, after the caller has had its window up."""
    from engine.drafting.calibration import Tuner
    from engine.models.memory import kept_caches_bytes
    from engine.prefix.memory import PrefixStore
    from engine.runtime.scheduler import Scheduler

    tuner = Tuner(cache_folder / "calibration" if cache_folder is not None else None)
    return Scheduler(tuner, PrefixStore(kept_caches_bytes(memory_share), _open_disk(cache_folder, disk_bytes)))


def _open_disk(folder: Path | None, limit_bytes: int) -> PrefixDisk | None:
    from engine.prefix.disk import PrefixDisk

    try:
        return PrefixDisk(folder / _PREFIXES, limit_bytes) if folder is not None else None
    except OSError as error:
        _log.warning("caches are not kept on disk: %s", error)
        return None


def _step(scheduler: Scheduler) -> None:
    if scheduler.busy:
        scheduler.step()
    else:
        scheduler.rest()


def _submit(scheduler: Scheduler, request_id: RequestId, request: Request, sink: Sink) -> None:
    from engine.runtime.reply import Reply

    scheduler.add(Reply(request_id, request, sink))


def _load_main(scheduler: Scheduler, folder: str, sink: Sink) -> None:
    from engine.models.loading import loading

    sink(ModelLoading(ModelRole.MAIN, folder))
    scheduler.await_arrival()
    _drop_pair(scheduler)
    arrival = _arrival(ModelRole.MAIN, folder, sink, loading(folder), scheduler.set_main)
    while not arrival.over():
        pass
    arrival.hand_over()


def _load_draft(scheduler: Scheduler, folder: str, sink: Sink) -> None:
    """Begin to; the main model goes on with its replies meanwhile."""
    from engine.models.loading import loading_draft

    sink(ModelLoading(ModelRole.DRAFT, folder))
    scheduler.await_arrival()
    main = scheduler.main
    if main is None:
        sink(ModelFailed(ModelRole.DRAFT, folder, NoModelLoaded()))
    else:
        slices = loading_draft(folder, main)
        scheduler.expect(_arrival(ModelRole.DRAFT, folder, sink, slices, scheduler.set_draft))


def _arrival(
    role: ModelRole,
    folder: str,
    sink: Sink,
    slices: Generator[None, None, LoadedModel],
    install: Callable[[LoadedModel], None],
) -> Arrival:
    from engine.runtime.background_load import Arrival

    def arrived(model: LoadedModel) -> None:
        install(model)
        sink(ModelReady(role, model.info))

    def failed(error: BaseException) -> None:
        _log.warning("could not load %s", folder, exc_info=None if isinstance(error, EngineError) else error)
        known = error if isinstance(error, EngineError) else InternalError(f"{type(error).__name__}: {error}"[:500])
        sink(ModelFailed(role, folder, known))

    return Arrival(slices, arrived, failed)


def _drop_draft(scheduler: Scheduler, sink: Sink) -> None:
    scheduler.await_arrival()
    scheduler.set_draft(None)
    _release()
    sink(ModelUnloaded(ModelRole.DRAFT))


def _unload(scheduler: Scheduler, sink: Sink) -> None:
    _drop_pair(scheduler)
    sink(ModelUnloaded(ModelRole.MAIN))


def _drop_pair(scheduler: Scheduler) -> None:
    scheduler.set_main(None)
    _release()


def _release() -> None:
    from engine.models.loading import release_memory

    release_memory()


def _shut_down(scheduler: Scheduler) -> None:
    import mlx.core as mx

    scheduler.give_up_arrival(EngineClosed())
    scheduler.cancel_all()
    _drop_pair(scheduler)
    mx.synchronize()
    mx.clear_streams()  # a thread that ends with streams of its own aborts the process at exit


def _quiet(sink: Sink) -> Sink:
    """A sink whose own error is logged and goes no further."""

    def post(event: Event) -> None:
        try:
            sink(event)
        except Exception:  # noqa: BLE001  the caller's fault must not end the reply or the thread
            _log.exception("a sink raised on %s", type(event).__name__)

    return post
