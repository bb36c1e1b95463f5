"""Counts the tokens of texts on another thread, so that no reply waits. Engine thread only."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from engine.api.errors import EngineError, NoModelLoaded, as_engine_error
from engine.api.events import Event, Sink, TokensCounted
from engine.api.types import Request
from engine.decoding.prompt import encode_plain, prompt_tokens, with_places
from engine.models.encoding import AwaitedThread
from engine.models.loading import LoadedModel
from engine.models.watch import Question
from engine.runtime.commands import Count

SLICE_CHARACTERS = 16_000  # MEASURED: 10 ms


class Counting:
    """Pending counts, answered one after another."""

    def __init__(self, post: Callable[[Sink | None, Event], None]) -> None:
        self._post = post
        self._waiting: deque[Count] = deque()
        self._tokens: AwaitedThread[int] | None = None  # of the first pending text

    @property
    def busy(self) -> bool:
        return bool(self._waiting)

    def add(self, command: Count) -> None:
        """Queue a count. An empty text is answered at once, which shows that the engine thread works."""
        if command.text == "":
            self._post(command.sink, TokensCounted(command.id, 0))
        else:
            self._waiting.append(command)

    def step(self, model: LoadedModel | None, patience_s: float | None = None) -> None:
        """Start the first count, or wait for it up to `patience_s` seconds; posts its answer once it is known.

        Call `stop` before the model changes.
        """
        if model is None:
            self._answer(0, NoModelLoaded())
            return
        if self._tokens is None:
            self._tokens = AwaitedThread(partial(_tokens, self._waiting[0].text, model))
        if not self._tokens.wait(patience_s):
            return
        try:
            tokens = self._tokens.result()
        except Exception as error:  # noqa: BLE001  every count is answered, whatever fails
            self._answer(0, as_engine_error(error))
        else:
            self._answer(tokens)

    def stop(self) -> None:
        """Counts without an answer start again with the next model."""
        tokens = self._tokens
        self._tokens = None
        if tokens is not None:
            tokens.stop()

    def refuse_all(self, reason: Callable[[], EngineError]) -> None:
        self.stop()
        while self._waiting:
            self._answer(0, reason())

    def _answer(self, tokens: int, error: EngineError | None = None) -> None:
        self._tokens = None
        command = self._waiting.popleft()
        self._post(command.sink, TokensCounted(command.id, tokens, error))


def _tokens(text: str | Request, model: LoadedModel, aborted: Question) -> int:
    """A text in slices, which a tokenizer encodes in less time and memory than the whole."""
    if isinstance(text, Request):
        return len(prompt_tokens(with_places(text, model, aborted), model, aborted))
    tokens = at = 0
    while at < len(text):
        end = slice_end(text, at)
        tokens += len(encode_plain(text[at:end], model, aborted))
        at = end
    return tokens


def slice_end(text: str, start: int) -> int:
    """The end of a slice: after a line, else after a word, else after SLICE_CHARACTERS."""
    end = start + SLICE_CHARACTERS
    if end >= len(text):
        return len(text)
    for mark in ("\n", " "):
        if (at := text.rfind(mark, start + SLICE_CHARACTERS // 2, end)) >= 0:
            return at + 1 if mark == "\n" else at
    return end
