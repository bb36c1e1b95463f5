"""The engine as callers see it. Any thread may call it; work is passed to the engine thread by a queue.

MLX binds streams, unevaluated arrays and random state to threads, so one engine thread imports MLX, loads, decodes and
unloads for the life of the process. It looks at commands between steps: one prefill chunk, one round, or one slice of a
load.
"""

from __future__ import annotations

import atexit
import itertools
import logging
import queue
import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.api.errors import EngineClosed, EngineError, MlxUnusable, as_engine_error
from engine.api.events import Event, ModelEvent, OwnThread, Queued, Sink, StationChanged
from engine.api.modes import RankMode
from engine.api.pairs import Published, nothing_published
from engine.api.ranks import Helping, RankPlan
from engine.api.station import StationPlace, StationState
from engine.api.types import CountId, EngineState, Request, RequestId, Speculation
from engine.models import mlx_build
from engine.models.openblas import put_in_front
from engine.runtime.commands import (
    Change,
    Close,
    Command,
    CommandQueue,
    Count,
    Load,
    SetDraft,
    Submit,
    Unload,
    refusal,
)
from engine.runtime.requests import check_request, check_speculation, check_text
from engine.runtime.state import state_after

if TYPE_CHECKING:
    from engine.runtime.worker import EngineThread

_log = logging.getLogger(__name__)


class Engine:
    """A ChatEngine (see `api/protocols.py`) on this machine's MLX."""

    def __init__(
        self,
        cache_folder: Path | None = None,
        *,
        cache_memory_share: float = 0.125,
        cache_disk_bytes: int = 8 << 30,
        openblas: bool = True,
        light_drafters: bool = True,
        published: Published = nothing_published,
    ) -> None:
        """Kept caches take at most `cache_memory_share` of the memory; they and the calibrations are written to
        `cache_folder`.

        `openblas`: compute with that library, if it is installed. `light_drafters`: on a GPU, quantize drafters of 16
        bits when they are loaded. `published`: called on the engine thread for each pair that is loaded.
        """
        self._commands = CommandQueue()

        def make_worker() -> EngineThread:
            """Imports MLX; called on the engine thread, after the window is shown."""
            if mlx_build.is_too_new():
                raise MlxUnusable(mlx_build.system_name(), mlx_build.wheel(), "needs macOS 26.2")
            if openblas:
                put_in_front()
            from engine.runtime import worker

            caches = cache_folder, cache_memory_share, cache_disk_bytes
            return worker.make_worker(*caches, light_drafters, published, self._send_events, self._commands.ends)

        self._make_worker = make_worker
        self._ids = itertools.count(1)
        self._lock = threading.Lock()  # of the attributes below; no sink is called under it
        self._closed = False
        self._state = EngineState()
        self._subscribers: dict[object, Sink] = {}
        # Later commands about requests whose Queued is posted and whose own command is not sent yet.
        self._arriving: dict[RequestId, list[Change]] = {}
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()
        # MLX aborts or hangs a process that ends while a thread still computes.
        atexit.register(self.close)

    def load(
        self,
        folder: Path | str,
        sink: Sink,
        draft: Path | str | None = None,
        *,
        end_replies: bool = False,
        helping: Sequence[Helping] = (),
        mode: RankMode | None = None,
        plan: RankPlan | None = None,
    ) -> None:
        """`plan`: experimental, its layers run in several processes (engine/cluster/README.md).

        If one of those is lost, `sink` gets ModelUnloaded, and then the events of a second call like this one: the pair
        is loaded again by itself. Where it is lost again soon, or does not come, that is after a wait, longer each
        time: before it `sink` gets ModelFailed, which says when.
        """
        draft = None if draft is None else str(draft)
        self._send(Load(str(folder), sink, draft, end_replies, plan, tuple(helping), mode))

    def set_draft(self, folder: Path | str | None, sink: Sink) -> None:
        self._send(SetDraft(str(folder) if folder is not None else None, sink))

    def unload(self, sink: Sink) -> None:
        self._send(Unload(sink))

    def submit(self, request: Request, sink: Sink) -> RequestId:
        command = Submit(RequestId(next(self._ids)), request, sink)
        with self._lock:
            self._arriving[command.id] = []
        try:
            flags = (getattr(request, name, False) is True for name in ("background", "guest"))  # not checked yet
            self._send_events(sink, Queued(command.id, *flags))
        except KeyboardInterrupt:
            self.cancel(command.id)
            raise
        finally:
            self._send_submit(command)
        return command.id

    def count_tokens(self, text: str | Request, sink: Sink) -> CountId:
        command = Count(CountId(next(self._ids)), text, sink)
        try:
            if isinstance(text, Request):
                check_request(text)
            else:
                check_text("text", text)
        except EngineError as error:
            self._refuse(command, error)
        else:
            self._send(command)
        return command.id

    def cancel(self, request: RequestId) -> None:
        self._send_after(request, Change("cancel", lambda scheduler: scheduler.cancel(request)))

    def answer_now(self, request: RequestId) -> None:
        self._send_after(request, Change("answer now", lambda scheduler: scheduler.answer_now(request)))

    def set_speculation(self, request: RequestId, speculation: Speculation) -> None:
        check_speculation(speculation)
        change = Change("speculation", lambda scheduler: scheduler.set_speculation(request, speculation))
        self._send_after(request, change)

    def keep_only(self, conversations: Collection[str]) -> None:
        kept = frozenset(conversations)
        command = Change("keep only", lambda scheduler: scheduler.keep_only(kept))
        with self._lock:
            for meanwhile in self._arriving.values():
                meanwhile.append(command)
        self._send(command)

    def set_sparing(self, on: bool, *, on_battery: bool = False) -> None:
        self._send(Change("sparing", lambda scheduler: scheduler.pair.set_sparing(on, on_battery)))

    def set_station(self, place: StationPlace | None) -> None:
        def report(state: StationState) -> None:
            self._send_events(None, StationChanged(state))

        self._send(Change("station", lambda scheduler: scheduler.set_station(place, report)))

    def note_race(self, source: str, longer: float) -> None:
        self._send(Change("race", lambda scheduler: scheduler.pair.history.costs.ratios.correct(source, longer)))

    def subscribe(self, sink: Sink) -> Callable[[], None]:
        key = object()
        with self._lock:
            self._subscribers[key] = sink

        def unsubscribe() -> None:
            with self._lock:
                self._subscribers.pop(key, None)

        return unsubscribe

    def state(self) -> EngineState:
        with self._lock:
            return self._state

    def close(self, timeout_s: float = 10.0) -> bool:
        """Finish all replies as cancelled and end the thread; True when it ended in time.

        Further calls do nothing. Called at the exit of the process if it was not before. A sink may call it: on the
        engine's threads it cannot wait, and returns False.
        """
        with self._lock:
            if not self._closed:
                self._closed = True
                self._commands.put(Close())
        if not self._on_own_thread:
            self._thread.join(timeout_s)
        if self._thread.is_alive():
            return False
        atexit.unregister(self.close)
        return True

    @property
    def _on_own_thread(self) -> bool:
        thread = threading.current_thread()
        return thread is self._thread or isinstance(thread, OwnThread)

    def _send_after(self, request: RequestId, command: Change) -> None:
        """Send after the request's own command: a sink may call `cancel` as soon as it gets Queued."""
        with self._lock:
            if request in self._arriving:
                self._arriving[request].append(command)
                return
        self._send(command)

    def _send_submit(self, command: Submit) -> None:
        """Send the request, then the commands about it that arrived meanwhile."""
        try:
            check_request(command.request)
        except EngineError as error:
            self._refuse(command, error)
        else:
            self._send(command)
        finally:
            with self._lock:
                for said in self._arriving.pop(command.id):
                    if not self._closed:  # these commands have no answer
                        self._commands.put(said)

    def _send(self, command: Command) -> None:
        with self._lock:
            closed = self._closed
            if not closed:
                self._commands.put(command)
        if closed:
            self._refuse(command, EngineClosed())

    def _refuse(self, command: Command, error: EngineError) -> None:
        if not isinstance(command, Change | Close):
            self._send_events(command.sink, *refusal(command, error))

    def _send_events(self, sink: Sink | None, *events: Event) -> None:
        """Update the state with each event, then send it to `sink` and the subscribers.

        On a caller's thread a KeyboardInterrupt in a sink may be the user's Ctrl-C: it is raised once all are sent.
        """
        interrupts: list[KeyboardInterrupt] | None = None if self._on_own_thread else []
        for event in events:
            _forget_frames(getattr(event, "error", None))
            for listener in self._listeners(sink, event):
                _post(listener, event, interrupts)
        if interrupts:
            raise interrupts[0]

    def _listeners(self, sink: Sink | None, event: Event) -> list[Sink]:
        """The sinks of an event, after updating the state with it."""
        with self._lock:
            self._state = state_after(self._state, event)
            subscribers = list(self._subscribers.values()) if isinstance(event, ModelEvent) else []
        return [*([] if sink is None else [sink]), *(each for each in subscribers if each != sink)]

    # On the engine thread

    def _run(self) -> None:
        command: Command | None = self._commands.get()
        try:
            worker = None if isinstance(command, Close) else self._make_worker()
        except BaseException as error:  # noqa: BLE001  every command is answered, even without MLX
            _log.exception("the engine cannot work")
            self._refuse_all(command, _why_no_worker(error))
            return
        while worker is not None:
            self._carry_out(worker, command)
            if isinstance(command, Close):
                return
            command = self._next_command(worker)

    def _refuse_all(self, command: Command | None, error: EngineError) -> None:
        while command is not None and not isinstance(command, Close):
            self._refuse(command, error)
            command = self._commands.get()

    def _carry_out(self, worker: EngineThread, command: Command | None) -> None:
        """Carry out a command, or step if there is none. No error ends the thread."""
        try:
            if command is None:
                worker.step()
            else:
                worker.handle(command)
        except BaseException as error:  # noqa: BLE001  see above
            _log.exception("the engine thread caught an error")
            if command is not None:
                self._refuse(command, as_engine_error(error))

    def _next_command(self, worker: EngineThread) -> Command | None:
        """The next command; None if there is pending work to step."""
        if (draft := worker.loader.take_next_draft()) is not None:
            return draft
        try:
            return self._commands.get(not worker.has_work, worker.look_s)
        except queue.Empty:
            return None


def _why_no_worker(error: BaseException) -> EngineError:
    """The error for a failed import: MLX or a dependency, such as a wheel for another system."""
    if not isinstance(error, ImportError):
        return as_engine_error(error)
    return MlxUnusable(mlx_build.system_name(), mlx_build.wheel(), str(error)[:500])


def _forget_frames(error: EngineError | None) -> None:
    """Drop an error's traceback: its frames hold models and caches as long as the error is shown."""
    if error is not None:
        error.__traceback__ = error.__cause__ = error.__context__ = None


def _post(sink: Sink, event: Event, interrupts: list[KeyboardInterrupt] | None) -> None:
    """Call a sink. What it raises, even SystemExit, is logged; `interrupts` collects KeyboardInterrupts."""
    try:
        sink(event)
    except BaseException as error:  # noqa: BLE001  see above
        if interrupts is not None and isinstance(error, KeyboardInterrupt):
            interrupts.append(error)
        else:
            _log.exception("a sink raised on %s", type(event).__name__)
