"""Loads and replaces the main model and the draft. Engine thread only; imports MLX. The scheduler runs the pair."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import monotonic

from engine.api.errors import EngineClosed, EngineError, LoadAborted, NoModelLoaded, RepliesUnderWay, as_engine_error
from engine.api.events import (
    Event,
    ModelChecking,
    ModelFailed,
    ModelLoading,
    ModelLoadProgress,
    ModelReady,
    ModelUnloaded,
    Sink,
)
from engine.api.types import ModelRole
from engine.cluster.loading import loading_over_ranks
from engine.cluster.plan import plan_with
from engine.drafting.drafters import loading_any_draft
from engine.models.first_use import FirstUse
from engine.models.loading import LoadedModel, Slices, loading, release_memory
from engine.models.memory import available_bytes
from engine.models.networks import LoadProgress, widens
from engine.models.watch import Question
from engine.runtime.background_load import BackgroundLoad
from engine.runtime.commands import Load, SetDraft, Unload, refusal
from engine.runtime.counting import Counting
from engine.runtime.scheduler import Scheduler

_log = logging.getLogger(__name__)

# A main model that was lost is loaded again at once, and where it is lost again or does not come back, after a wait of
# FIRST_WAIT_S that doubles each time up to MOST_WAIT_S. After HELD_S without a loss it is as at first.
FIRST_WAIT_S = 10.0
MOST_WAIT_S = 600.0
HELD_S = 600.0

# Sends an event to a sink; events about models to the subscribers too. None: to the subscribers alone.
Post = Callable[[Sink | None, Event], None]


class PairLoader:
    """Handles Load, SetDraft and Unload. Each ends in exactly one event."""

    def __init__(
        self,
        scheduler: Scheduler,
        counting: Counting,
        post: Post,
        aborted: Question,
        first_use: FirstUse,
        *,
        light_drafters: bool,
    ) -> None:
        """`aborted`: whether a command in the queue ends the load in progress."""
        self._scheduler = scheduler
        self._counting = counting
        self._post = post
        self._aborted = aborted
        self._first_use = first_use
        self._light_drafters = light_drafters and not widens()  # where 16 bits are computed as 32 it saves nothing
        self._next_draft: SetDraft | None = None  # waits for the main model in progress
        self._loaded_by: Load | None = None  # the command that loaded the main model, if any
        self._ready_at = 0.0  # when the main model was loaded
        self._lost: Load | None = None  # loads the lost main model again, now or at `_again_at`
        self._again_at: float | None = None  # None: it has begun
        self._wait_s = 0.0  # before the next time

    def load(self, command: Load) -> None:
        self._give_up_lost()
        self._load(command)

    def _load(self, command: Load) -> None:
        if self._scheduler.under_way and not command.end_replies:
            if self._scheduler.has_aborted_load:  # perhaps aborted for this command; it cannot continue
                self.abort_loads(LoadAborted)
            for answer in refusal(command, RepliesUnderWay(command.folder)):
                self._post(command.sink, answer)
            return
        self.abort_loads(LoadAborted)
        self._post(command.sink, ModelLoading(ModelRole.MAIN, command.folder))
        on_try = partial(self._post, command.sink, ModelChecking(command.folder))
        self._begin_load(ModelRole.MAIN, command, _slices_of(command, self._aborted, self._first_use, on_try))
        if command.draft is not None:
            self._next_draft = SetDraft(command.draft, command.sink)

    def set_draft(self, command: SetDraft) -> None:
        if self._scheduler.loads_main:
            self._refuse_next_draft(LoadAborted)
            self._next_draft = command
            return
        self.abort_loads(LoadAborted)
        main = self._scheduler.main
        folder = command.folder
        if self._lost is not None:
            self._lost = replace(self._lost, draft=folder)
        if folder is None:
            self._drop_draft(command.sink)
            return
        self._post(command.sink, ModelLoading(ModelRole.DRAFT, folder))
        if main is None:
            self._post(command.sink, ModelFailed(ModelRole.DRAFT, folder, NoModelLoaded()))
        else:
            slices = loading_any_draft(folder, main, self._aborted, light=self._light_drafters)
            self._begin_load(ModelRole.DRAFT, command, slices)

    def unload(self, command: Unload) -> None:
        self._give_up_lost()
        self.abort_loads(LoadAborted)
        was_loaded = self._scheduler.main is not None
        self.drop(command.sink)
        if not was_loaded:
            self._post(command.sink, ModelUnloaded(ModelRole.MAIN))

    def take_next_draft(self) -> SetDraft | None:
        """The draft's command that waited for a main model, once that is loaded or has failed."""
        if self._scheduler.loads_main:
            return None
        command = self._next_draft
        self._next_draft = None
        return command

    @property
    def waits(self) -> bool:
        """Whether `check_main` has something to do later."""
        return self._again_at is not None

    def check_main(self) -> None:
        """Drop a main model that has lost some of its layers, and load it again, at once or later.

        Queued replies wait for it. Its draft is loaded again too, also one that was being loaded.
        """
        if self._lost is not None and self._again_at is not None and monotonic() >= self._again_at:
            self._again_at = None
            self._load(self._lost)
        main = self._scheduler.main
        lost = None if main is None else main.lost()
        if lost is not None and self._loaded_by is not None:
            self._drop_lost(lost, self._loaded_by)

    def _drop_lost(self, lost: EngineError, loaded_by: Load) -> None:
        _log.warning("the model is not whole any more: %s", lost)
        draft = self._scheduler.draft
        draft_folder = None if draft is None else draft.info.folder
        if self._scheduler.load is not None:
            draft_folder = self._scheduler.load.folder
        another_comes = self._scheduler.loads_main
        if not another_comes:
            self.abort_loads(LoadAborted)
            self._scheduler.fail_started(lost)
        self.drop(loaded_by.sink)
        self._scheduler.why_no_main = lost
        if not another_comes:
            if monotonic() >= self._ready_at + HELD_S:
                self._wait_s = 0.0
            self._lost = replace(loaded_by, draft=draft_folder)
            self._try_lost_later(lost)

    def _try_lost_later(self, why: EngineError) -> None:
        """At once, or after a wait, which is longer each time; replies fail until it has begun."""
        assert self._lost is not None
        wait_s = self._wait_s
        self._wait_s = min(max(FIRST_WAIT_S, 2 * wait_s), MOST_WAIT_S)
        if not wait_s:
            self._load(self._lost)
            return
        self._again_at = monotonic() + wait_s
        self._scheduler.why_no_main = why
        self._post(self._lost.sink, ModelFailed(ModelRole.MAIN, self._lost.folder, why, again_at=self._again_at))

    def _give_up_lost(self) -> None:
        """Another command about the main model has come."""
        self._lost = None
        self._again_at = None
        self._wait_s = 0.0

    def abort_loads(self, reason: Callable[[str], EngineError]) -> None:
        load = self._scheduler.load
        if load is not None:
            self._scheduler.abort_load(reason(load.folder))
        self._refuse_next_draft(reason)

    def _refuse_next_draft(self, reason: Callable[[str], EngineError]) -> None:
        command = self._next_draft
        self._next_draft = None
        if command is not None:
            for answer in refusal(command, reason(command.folder or "")):
                self._post(command.sink, answer)

    def drop(self, sink: Sink | None) -> None:
        """Drop the pair. Running replies end, queued ones stay in the queue."""
        pair = [
            (ModelRole.DRAFT, self._scheduler.draft is not None),
            (ModelRole.MAIN, self._scheduler.main is not None),
        ]
        self._set_main(None)
        release_memory()
        for role in (role for role, was_loaded in pair if was_loaded):
            self._post(sink, ModelUnloaded(role))

    def _begin_load(self, role: ModelRole, command: Load | SetDraft, slices: Slices) -> None:
        folder = command.folder or ""
        sink = command.sink

        def ready(model: LoadedModel) -> None:
            self._install(role, model, sink)
            if isinstance(command, Load):
                self._loaded_by = command
                self._lost = None
                self._ready_at = monotonic()
            self._post(sink, ModelReady(role, model.info, model.choice))

        def failed(error: BaseException) -> None:
            wanted = isinstance(error, LoadAborted | EngineClosed)
            level = logging.INFO if wanted else logging.WARNING
            _log.log(level, "could not load %s", folder, exc_info=None if isinstance(error, EngineError) else error)
            if command is self._lost and not wanted:
                self._try_lost_later(as_engine_error(error))
                return
            if role is ModelRole.MAIN and not wanted:
                self._scheduler.why_no_main = as_engine_error(error)
            self._post(sink, ModelFailed(role, folder, as_engine_error(error)))
            if role is ModelRole.MAIN and self._scheduler.main is not None:
                self._refuse_next_draft(LoadAborted)  # it was for the aborted main model

        def report(progress: LoadProgress) -> None:
            if not progress.done_bytes:
                self._make_room(role, progress.total_bytes, sink)
                return
            self._post(sink, ModelLoadProgress(role, folder, progress.done_bytes, progress.total_bytes))

        self._scheduler.load_in_background(BackgroundLoad(role, folder, slices, ready, failed, report))

    def _make_room(self, role: ModelRole, weight_bytes: int, sink: Sink) -> None:
        """Called before weights are read: every check that is possible without them has passed.

        The loaded pair is dropped only now, for the next main model. A draft stays until the next one is loaded, unless
        there is no memory for both.
        """
        if role is ModelRole.MAIN:
            self.drop(sink)
        elif self._scheduler.draft is not None:
            held = [model.held_bytes for model in (self._scheduler.main, self._scheduler.draft) if model is not None]
            if weight_bytes + sum(held) > available_bytes():
                self._drop_draft(sink)

    def _drop_draft(self, sink: Sink) -> None:
        self._scheduler.set_draft(None)
        release_memory()
        self._post(sink, ModelUnloaded(ModelRole.DRAFT))

    def _install(self, role: ModelRole, model: LoadedModel, sink: Sink) -> None:
        """Make a loaded model part of the pair. If this raises, the pair is unchanged."""
        replaces = role is ModelRole.DRAFT and self._scheduler.draft is not None
        put = self._set_main if role is ModelRole.MAIN else self._scheduler.set_draft
        try:
            put(model)
        except BaseException:
            try:
                put(None)
            except Exception:  # noqa: BLE001  perhaps the same error; nothing uses the model by then
                _log.info("%s was not taken away in order", model.info.name, exc_info=True)
            model.close()
            raise
        finally:
            if role is ModelRole.DRAFT:
                release_memory()
            if replaces:
                self._post(sink, ModelUnloaded(ModelRole.DRAFT))

    def _set_main(self, model: LoadedModel | None) -> None:
        before = self._scheduler.main
        self._counting.stop()
        try:
            self._scheduler.set_main(model)
        finally:
            if before is not None and self._scheduler.main is not before:
                before.close()


def _slices_of(command: Load, aborted: Question, first_use: FirstUse, on_try: Callable[[], None]) -> Slices:
    if command.plan is not None or command.helping:
        planned = command.plan or partial(plan_with, command.folder, command.helping, mode=command.mode)
        return loading_over_ranks(planned, aborted, first_use, on_try)
    return loading(command.folder, aborted=aborted, first_use=first_use, on_try=on_try)
