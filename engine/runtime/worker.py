"""The engine thread's work: carries out commands, and steps replies and loads between them. Engine thread only.

Importing this module imports MLX.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

import mlx.core as mx

from engine.api.errors import EngineClosed
from engine.api.pairs import Published
from engine.drafting.calibration import Tuner
from engine.models.encoding import BETWEEN_S
from engine.models.first_use import FirstUse
from engine.models.memory import most_bytes
from engine.prefix.disk import PrefixDisk
from engine.prefix.memory import PrefixStore
from engine.runtime.commands import Change, Close, Command, Count, Load, SetDraft, Submit, Unload
from engine.runtime.counting import Counting
from engine.runtime.pair_loader import PairLoader, Post
from engine.runtime.queued import QueuedReply
from engine.runtime.scheduler import Scheduler

_log = logging.getLogger(__name__)

LOOK_S = 1.0  # interval in which an idle engine checks that the ranks are alive, or loads a lost model again

Ends = Callable[[bool], bool]  # `CommandQueue.ends`


def make_worker(
    cache_folder: Path | None,
    cache_memory_share: float,
    cache_disk_bytes: int,
    light_drafters: bool,
    published: Published,
    post: Post,
    ends: Ends,
) -> EngineThread:
    """The first arguments as of an Engine."""
    calibration, prefixes, tried = (
        None if cache_folder is None else cache_folder / name for name in ("calibration", "prefixes", "tried.json")
    )
    open_disk = partial(_open_disk, prefixes, cache_disk_bytes)
    store = PrefixStore(int(cache_memory_share * most_bytes()), open_disk(), open_disk=open_disk)
    return EngineThread(
        Scheduler(Tuner(calibration, published), store), post, ends, FirstUse(tried), light_drafters=light_drafters
    )


def _open_disk(folder: Path | None, limit_bytes: int) -> PrefixDisk | None:
    try:
        return PrefixDisk(folder, limit_bytes) if folder is not None else None
    except (OSError, ValueError) as error:  # ValueError: an invalid file name
        _log.warning("caches are not kept on disk: %s", error)
        return None


class EngineThread:
    def __init__(
        self, scheduler: Scheduler, post: Post, ends: Ends, first_use: FirstUse, *, light_drafters: bool = False
    ) -> None:
        self._scheduler = scheduler
        self._post = post
        self._counting = Counting(post)
        self.loader = PairLoader(
            scheduler,
            self._counting,
            post,
            lambda: ends(scheduler.under_way),
            first_use,
            light_drafters=light_drafters,
        )

    @property
    def has_work(self) -> bool:
        return self._counting.busy or self._scheduler.busy or self._scheduler.has_idle_work

    @property
    def look_s(self) -> float | None:
        """The longest time between two calls of `step` without work; None: unlimited."""
        main = self._scheduler.main
        looks = self.loader.waits if main is None else main.ranks > 1
        return LOOK_S if looks else None

    def handle(self, command: Command) -> None:
        """Carry out a command. A load only begins here; `step` continues it."""
        _log.debug("%r", command)
        match command:
            case Load():
                self.loader.load(command)
            case SetDraft():
                self.loader.set_draft(command)
            case Unload():
                self.loader.unload(command)
            case Submit():
                self._scheduler.add(QueuedReply(command.id, command.request, partial(self._post, command.sink)))
            case Count():
                self._counting.add(command)
            case Change():
                command.act(self._scheduler)
            case Close():
                self._shut_down()

    def step(self) -> None:
        """A slice of pending work. An error that does not belong to one reply ends all replies."""
        if self._counting.busy:
            rests = not (self._scheduler.busy or self._scheduler.has_idle_work)
            self._counting.step(self._scheduler.main, BETWEEN_S if rests else 0.0)
        try:
            if self._scheduler.busy:
                self._scheduler.step()
            elif self._scheduler.has_idle_work:
                self._scheduler.idle_step()
                for news in self._scheduler.pair.news():
                    self._post(None, news)
        except BaseException as error:
            self._scheduler.fail_all(error)
            raise
        finally:
            self.loader.check_main()

    def _shut_down(self) -> None:
        try:
            self.loader.abort_loads(lambda folder: EngineClosed())
            self._counting.refuse_all(EngineClosed)
            self._scheduler.cancel_all()
            self.loader.drop(None)
            self._scheduler.pair.close_station()
        finally:
            mx.synchronize()
            mx.clear_streams()  # a thread that ends with streams of its own aborts the process at exit
