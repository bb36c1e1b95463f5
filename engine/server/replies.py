"""Requests of one client in the engine, as the event loop gets them. Nothing here waits for the engine's thread."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, TypeVar

from starlette.types import Receive

from engine.api.events import (
    Event,
    Failed,
    Finished,
    PromptFits,
    PromptProgress,
    Queued,
    TextDelta,
    TokensScored,
    ToolCalled,
)
from engine.api.protocols import ChatEngine
from engine.api.stats import RequestStats
from engine.api.types import ModelInfo, Request, RequestId, SpanKind, TokenScore, ToolCall
from engine.server.asked import check_limits
from engine.server.metrics import Metrics
from engine.server.offer import Offer
from engine.server.options import ModelShelf, ServedModel, ServerOptions
from engine.server.problems import overloaded, problem_of, problem_of_end, shutting_down
from engine.server.supply import Supply, Turn

_T = TypeVar("_T")

_BEGIN_S = 10.0  # until a stream begins though its request still waits for its turn

Indexed = tuple[int, Event]  # which of the client's requests, from 0


class ClientLeft(Exception):
    """The client has closed its connection: the answer has no reader."""


@dataclass(slots=True)
class Outcome:
    """What one request has brought so far."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    thinking_tokens: int = 0  # emitted up to the end of the thinking so far
    calls: list[ToolCall] = field(default_factory=list)
    scores: list[TokenScore] = field(default_factory=list)
    prompt_scores: list[TokenScore] = field(default_factory=list)
    finished: Finished | None = None


class Client:
    """The other end of a connection, once its body has come."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Client:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    @property
    def left(self) -> asyncio.Task[None]:
        """Done once the connection is closed."""
        if self._task is None:
            raise RuntimeError("the client is not watched")
        return self._task

    async def unless_left(self, work: Coroutine[Any, Any, _T]) -> _T:
        """What the work brings. Raises ClientLeft as soon as the client has left."""
        task = asyncio.create_task(work)
        try:
            await asyncio.wait({task, self.left}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise ClientLeft
            return await task
        finally:
            task.cancel()

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


class Desk:
    """All requests that clients have in the engine."""

    def __init__(
        self,
        engine: ChatEngine,
        options: ServerOptions,
        on_change: Callable[[int], None],
        shelf: ModelShelf | None = None,
    ) -> None:
        """Inside a running loop."""
        self.engine = engine
        self._options = options
        self._on_change = on_change
        self.metrics = Metrics(engine.state, options.vllm_names)
        self.offer = Offer(engine, shelf, any_name=options.any_name)
        self.supply = Supply(engine, shelf, self.offer, options, self.metrics.loaded)
        self._open: set[Replies] = set()
        self.requests = 0  # that the engine has not ended yet
        self._expected = 0  # whose pictures are read first
        self.is_closed = False

    def replies(
        self, endpoint: str, requests: Sequence[Request], client: Client, model: ServedModel, keep_s: float | None
    ) -> Replies:
        """Raises Problem when there are too many. The requests begin with `async with`."""
        self._check_room(len(requests))
        return Replies(self, endpoint, [self._of_program(each, model) for each in requests], client, model, keep_s)

    def _of_program(self, request: Request, model: ServedModel) -> Request:
        return replace(request, guest=self._options.guests, model=model.main.folder)

    @contextmanager
    def expecting(self, requests: int) -> Iterator[None]:
        """Keeps room for requests while their pictures are read. Raises Problem when there are too many."""
        self._check_room(requests)
        self._expected += requests
        try:
            yield
        finally:
            self._expected -= requests

    def _check_room(self, requests: int) -> None:
        if self.is_closed:
            raise shutting_down()
        if self.requests + self._expected + requests > self._options.most_requests:
            raise overloaded(self._options.most_requests)

    def opened(self, replies: Replies) -> None:
        self._open.add(replies)

    def closed(self, replies: Replies) -> None:
        self._open.discard(replies)

    def count(self, change: int) -> None:
        self.requests += change
        self._on_change(self.requests)

    def close(self) -> None:
        """End every request; later ones are refused."""
        self.is_closed = True
        self.supply.close()
        for replies in self._open:
            replies.cancel()


class Replies(AbstractAsyncContextManager["Replies"]):
    """The replies to one client's request: one, or `n`. Whatever ends the block cancels those that have not ended."""

    def __init__(
        self,
        desk: Desk,
        endpoint: str,
        requests: Sequence[Request],
        client: Client,
        model: ServedModel,
        keep_s: float | None,
    ) -> None:
        self._desk = desk
        self._endpoint = endpoint
        self._requests = requests
        self._client = client
        self._model = model
        self._keep_s = keep_s
        self._turn: Turn | None = None
        self._start: asyncio.Task[None] | None = None  # once the turn has come
        self._events: asyncio.Queue[Indexed | Exception | None] = asyncio.Queue()  # None: the client has left
        self._early: deque[Indexed] = deque()  # came before the answer began
        self._ended: set[int] = set()  # in the engine
        self._unheard = set(range(len(requests)))  # whose end `events` has not given yet
        self.ids: list[RequestId] = []
        self.model: ModelInfo | None = None  # that answers, once the turn has come
        self.outcomes = [Outcome() for _ in requests]
        self.progress = (0, 0)  # prompt tokens read, and all of them

    async def __aenter__(self) -> Replies:
        self._client.left.add_done_callback(self._on_left)
        self._desk.opened(self)
        self._desk.count(len(self._requests))
        self._turn = self._desk.supply.join(self._model)
        try:
            if self._turn.come.done():
                self._turn.come.result()
                self._submit()
            else:
                self._start = asyncio.create_task(self._submit_in_turn(self._turn))
        except BaseException:
            self._close()
            raise
        return self

    async def _submit_in_turn(self, turn: Turn) -> None:
        try:
            await turn.come
            self._submit()
        except Exception as error:  # noqa: BLE001  it is the next event
            self._events.put_nowait(error)

    def _submit(self) -> None:
        """Raises Problem for what only the loaded model shows."""
        state = self._desk.engine.state()
        self.model = state.main
        check_limits(self._requests, state)
        loop = asyncio.get_running_loop()
        for index, request in enumerate(self._requests):
            self.ids.append(self._desk.engine.submit(request, self._sink(loop, index)))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def cancel(self) -> None:
        for index, request in enumerate(self.ids):
            if index not in self._ended:
                self._desk.engine.cancel(request)

    def _close(self) -> None:
        self._client.left.remove_done_callback(self._on_left)
        if self._start is not None:
            self._start.cancel()
        self.cancel()
        if unsent := len(self._requests) - len(self.ids):
            self._desk.count(-unsent)
        if self._turn is not None:
            self._desk.supply.leave(self._turn, self._keep_s)
        self._desk.closed(self)

    def _on_left(self, _: asyncio.Task[None]) -> None:
        self._desk.metrics.left()
        self._events.put_nowait(None)

    def _sink(self, loop: asyncio.AbstractEventLoop, index: int) -> Callable[[Event], None]:
        def hear(event: Event) -> None:
            with suppress(RuntimeError):  # the loop has ended; the request is being cancelled
                loop.call_soon_threadsafe(self._arrive, index, event)

        return hear

    def _arrive(self, index: int, event: Event) -> None:
        if isinstance(event, Finished | Failed):
            self._ended.add(index)
            self._desk.metrics.ended(self._endpoint, event)
            self._desk.count(-1)
        elif isinstance(event, ToolCalled):
            self._desk.metrics.called()
        self._events.put_nowait((index, event))

    async def judged(self) -> None:
        """Wait until every prompt is known to fit, so that a refusal can be a status. Raises Problem, ClientLeft."""
        waiting = set(range(len(self._requests)))
        until = asyncio.get_running_loop().time() + _BEGIN_S
        while waiting:
            patience_s = until - asyncio.get_running_loop().time()
            found = await self._next(patience_s)
            if found is None:
                return
            index, event = found
            self._early.append(found)
            if isinstance(event, Failed):
                raise problem_of(event.error)
            if not isinstance(event, Queued):
                waiting.discard(index)

    async def events(self, patience_s: Callable[[], float]) -> AsyncIterator[Indexed | None]:
        """Every event from a reply's turn to its last; None where `patience_s()` have passed without one.

        Raises Problem, ClientLeft.
        """
        while self._unheard:
            found = self._early.popleft() if self._early else await self._next(patience_s())
            if found is None or not isinstance(found[1], Queued | PromptFits):
                yield None if found is None else self._heard(*found)

    async def whole(self) -> list[Outcome]:
        async for _ in self.events(lambda: 3600.0):
            pass
        return self.outcomes

    async def _next(self, patience_s: float) -> Indexed | None:
        if self._client.left.done():
            raise ClientLeft
        if not self._events.empty():
            return self._checked(self._events.get_nowait())
        try:
            async with asyncio.timeout(max(0.0, patience_s)):
                return self._checked(await self._events.get())
        except TimeoutError:
            return None

    def _checked(self, found: Indexed | Exception | None) -> Indexed:
        if found is None:
            raise ClientLeft
        if isinstance(found, Exception):
            raise found
        return found

    def _heard(self, index: int, event: Event) -> Indexed:
        outcome = self.outcomes[index]
        match event:
            case PromptProgress(done_tokens=done, total_tokens=total):
                self.progress = (done, total)
            case TextDelta(kind=SpanKind.THINKING, text=text, stats=stats):
                outcome.thinking.append(text)
                outcome.thinking_tokens = stats.generated_tokens
            case TextDelta(text=text):
                outcome.text.append(text)
            case TokensScored(scores=scores, of_prompt=of_prompt):
                (outcome.prompt_scores if of_prompt else outcome.scores).extend(scores)
            case ToolCalled(call=call):
                outcome.calls.append(call)
            case Finished(reason=reason):
                self._unheard.discard(index)
                outcome.finished = event
                if (problem := problem_of_end(reason)) is not None:
                    raise shutting_down() if self._desk.is_closed else problem
            case Failed(error=error):
                raise problem_of(error)
        return index, event

    @property
    def stats(self) -> list[RequestStats]:
        return [outcome.finished.stats for outcome in self.outcomes if outcome.finished is not None]
