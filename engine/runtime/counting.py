"""Texts whose tokens are counted, a slice at a time between the steps of replies. Engine thread only."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.api.errors import EngineError, NoModelLoaded, as_engine_error
from engine.api.events import Event, Sink, TokensCounted
from engine.decoding.text import encode
from engine.models.watch import Aborted, Question
from engine.runtime.commands import Count

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

SLICE_CHARACTERS = 16_000  # MEASURED: 10 ms


@dataclass(slots=True)
class _Count:
    """A text that is being counted. `model`: whose tokens these are; another one begins anew."""

    command: Count
    model: LoadedModel | None = None
    at: int = field(init=False)  # from the first slice on
    tokens: int = field(init=False)

    @property
    def is_done(self) -> bool:
        return self.at >= len(self.command.text)

    def count_slice(self, model: LoadedModel, aborted: Question) -> None:
        if model is not self.model:
            self.model, self.at, self.tokens = model, 0, 0
        end = slice_end(self.command.text, self.at)
        self.tokens += len(encode(self.command.text[self.at : end], model, aborted, special=False))
        self.at = end


class Counting:
    """The counts that are asked for and not told yet, one after another."""

    def __init__(self, tell: Callable[[Sink | None, Event], None], ends: Question) -> None:
        self._tell = tell
        self._ends = ends
        self._waiting: deque[_Count] = deque()

    @property
    def busy(self) -> bool:
        return bool(self._waiting)

    def add(self, command: Count) -> None:
        self._waiting.append(_Count(command))

    def step(self, model: LoadedModel | None) -> None:
        """Counts one slice."""
        count = self._waiting[0]
        try:
            if model is None:
                raise NoModelLoaded
            count.count_slice(model, self._ends)
        except Aborted:  # whatever ends it comes next on the queue
            return
        except Exception as error:  # noqa: BLE001  a count is answered whatever became of it
            self._answer(count, as_engine_error(error))
        else:
            if count.is_done:
                self._answer(count)

    def refuse_all(self, reason: Callable[[], EngineError]) -> None:
        while self._waiting:
            self._answer(self._waiting[0], reason())

    def _answer(self, count: _Count, error: EngineError | None = None) -> None:
        self._waiting.popleft()
        self._tell(count.command.sink, TokensCounted(count.command.id, 0 if error else count.tokens, error))


def slice_end(text: str, start: int) -> int:
    """Behind a line if there is one, else behind a word, so that no token is cut; at most SLICE_CHARACTERS on."""
    end = start + SLICE_CHARACTERS
    if end >= len(text):
        return len(text)
    for mark in ("\n", " "):
        if (at := text.rfind(mark, start + SLICE_CHARACTERS // 2, end)) >= 0:
            return at + 1 if mark == "\n" else at
    return end
