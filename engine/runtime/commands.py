"""Commands to the engine thread, on a queue; safe to log.

Their repr leaves out texts and sinks. `refusal` gives the last events of a command that is not carried out.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.api.errors import EngineError
from engine.api.events import Event, Failed, ModelFailed, ModelUnloaded, Sink, TokensCounted
from engine.api.modes import RankMode
from engine.api.ranks import Helping, RankPlan
from engine.api.stats import RequestStats
from engine.api.types import CountId, ModelRole, Request, RequestId

if TYPE_CHECKING:
    from engine.runtime.scheduler import Scheduler


@dataclass(frozen=True, slots=True)
class Load:
    """Replace the pair by this main model, then `draft`; refused while replies run, unless `end_replies`."""

    folder: str
    sink: Sink = field(repr=False)
    draft: str | None = None
    end_replies: bool = False
    plan: RankPlan | None = field(default=None, repr=False)  # None: all layers in this process
    helping: tuple[Helping, ...] = field(default=(), repr=False)  # without a plan: machines that hold some of them
    mode: RankMode | None = None  # in which they do


@dataclass(frozen=True, slots=True)
class SetDraft:
    """Replace the draft, or drop it (None)."""

    folder: str | None
    sink: Sink = field(repr=False)


@dataclass(frozen=True, slots=True)
class Unload:
    """Drop the pair."""

    sink: Sink = field(repr=False)


@dataclass(frozen=True, slots=True)
class Submit:
    """Write a reply."""

    id: RequestId
    request: Request = field(repr=False)
    sink: Sink = field(repr=False)


@dataclass(frozen=True, slots=True)
class Count:
    """Count the tokens of a text, or of a request's prompt."""

    id: CountId
    text: str | Request = field(repr=False)
    sink: Sink = field(repr=False)


@dataclass(frozen=True, slots=True)
class Change:
    """Change replies, or how the engine works. No answer."""

    name: str
    act: Callable[[Scheduler], object] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Close:
    """Finish everything and end the thread. The last command on the queue."""


Command = Load | SetDraft | Unload | Submit | Count | Change | Close


class CommandQueue:
    """Commands for the engine thread. Any thread may put."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._ending = 0  # commands in the queue that end any load
        self._loads = 0  # Load commands in the queue: they are refused while replies run

    def ends(self, in_use: bool = False) -> bool:
        """Whether a command in the queue will discard what is being loaded. `in_use`: replies run."""
        return self._ending > 0 or (self._loads > 0 and not in_use)

    def put(self, command: Command) -> None:
        self._count(command, 1)
        self._queue.put(command)

    def get(self, block: bool = True, timeout_s: float | None = None) -> Command:
        """The next command; raises queue.Empty when there is none and `block` is false, or none in time."""
        command = self._queue.get(block, timeout_s)
        self._count(command, -1)
        return command

    def _count(self, command: Command, number: int) -> None:
        with self._lock:
            if isinstance(command, Load) and not command.end_replies:
                self._loads += number
            elif isinstance(command, Load | Unload | Close):
                self._ending += number


def refusal(command: Command, error: EngineError) -> tuple[Event, ...]:
    """The last events of a command that cannot be carried out; none for commands without an answer.

    Dropping a model cannot fail: without the engine thread there is no model either.
    """
    match command:
        case Load(folder=folder, draft=draft):
            drafts = () if draft is None else (ModelFailed(ModelRole.DRAFT, draft, error, began=False),)
            return ModelFailed(ModelRole.MAIN, folder, error, began=False), *drafts
        case SetDraft(folder=str(folder)):
            return (ModelFailed(ModelRole.DRAFT, folder, error, began=False),)
        case SetDraft() | Unload():
            return (ModelUnloaded(ModelRole.DRAFT if isinstance(command, SetDraft) else ModelRole.MAIN),)
        case Submit(id=request):
            return (Failed(request, error, RequestStats()),)
        case Count(id=count):
            return (TokensCounted(count, 0, error),)
    return ()
