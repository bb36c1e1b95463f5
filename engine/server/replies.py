"""Requests of one client in the engine, as the event loop gets them. Nothing here waits for the engine's thread."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, TypeVar

from starlette.requests import Request as HttpRequest
from starlette.types import Receive, Scope

from engine.api.events import (
    Event,
    Failed,
    Finished,
    PromptFits,
    PromptProgress,
    Queued,
    TextDelta,
    TokensCounted,
    TokensScored,
    ToolCalled,
)
from engine.api.protocols import ChatEngine
from engine.api.types import EngineState, ModelInfo, Request, RequestId, SpanKind, TokenScore, ToolCall
from engine.server.fields import Fields
from engine.server.metrics import Metrics
from engine.server.model_queue import ModelQueue, Turn
from engine.server.options import ModelShelf, PictureDecoder, ServedModel, ServerOptions
from engine.server.parameters import check_limits
from engine.server.pictures import PictureReader, SentPictures
from engine.server.problems import Problem, overloaded, problem_of, problem_of_end, rank_lost, shutting_down
from engine.server.served_models import ServedModels

_T = TypeVar("_T")
_LONGEST_NAME = 4096  # characters that count of what a client names

Indexed = tuple[int, Event]  # (index of the client's request, event)


class ClientLeft(Exception):
    """The client has closed its connection: the answer has no reader."""


@dataclass(slots=True)
class ReplyOutcome:
    """What one request has brought so far."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    thinking_tokens: int = 0  # emitted up to the end of the thinking so far
    calls: list[ToolCall] = field(default_factory=list)
    scores: list[TokenScore] = field(default_factory=list)
    prompt_scores: list[TokenScore] = field(default_factory=list)
    finished: Finished = field(init=False)  # once it has


class Client:
    """The other end of a connection, once its body has come; it is watched in an `async with` block."""

    left: asyncio.Task[None]  # done once the connection is closed

    def __init__(self, receive: Receive, fields: Fields) -> None:
        self._receive = receive
        self._is_long = fields.is_long

    async def __aenter__(self) -> Client:
        self.left = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.left.cancel()
        with suppress(asyncio.CancelledError):
            await self.left

    async def unless_left(self, work: Coroutine[Any, Any, _T]) -> _T:
        """The result of the work. Raises ClientLeft as soon as the client has left."""
        task = asyncio.create_task(work)
        try:
            await asyncio.wait({task, self.left}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise ClientLeft
            return await task
        finally:
            task.cancel()

    async def beside(self, work: Callable[..., _T], *arguments: Any) -> _T:
        """What the work on the body brings: where that is long, on another thread, so that others are answered."""
        return await asyncio.to_thread(work, *arguments) if self._is_long else work(*arguments)

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


def owner_of(scope: Scope, fields: Fields) -> str:
    """Whose kept caches a request uses (see `Request.owner`): those of its program, as far as that is known.

    A program cannot forge the address of another machine, the origin of another page or a key that it does not know;
    but it can send the User-Agent and the `user` of another.
    """
    named = [fields.any(name) for name in ("user", "cache_salt")]
    counted = [name[:_LONGEST_NAME] if isinstance(name, str) else "" for name in named]
    return sha256(json.dumps([*scope["asked_by"], *counted]).encode()).hexdigest()


class SharedEngine:
    """The engine as clients share it: its models, their queue, pictures and figures, and all open requests."""

    def __init__(
        self,
        engine: ChatEngine,
        options: ServerOptions,
        on_change: Callable[[int], None],
        shelf: ModelShelf | None = None,
        decode: PictureDecoder | None = None,
    ) -> None:
        """Inside a running loop."""
        self.engine = engine
        self.options = options
        self._on_change = on_change
        self.metrics = Metrics(self._of_clients, options.vllm_names)
        self.models = ServedModels(engine, shelf, any_name=options.any_name)
        self.queue = ModelQueue(engine, shelf, self.models, options, self.metrics.loads.inc)
        self.pictures = PictureReader(decode, options.most_held)
        self.started = int(time.time())
        self._open: set[Replies] = set()
        self.requests = 0  # that the engine has not ended yet
        self.submitted = set[RequestId]()  # of these, in the engine
        self._expected = 0  # whose pictures are read first
        self.is_closed = False

    @contextmanager
    def replies(
        self,
        endpoint: str,
        requests: Sequence[Request],
        client: Client,
        model: ServedModel,
        keep_s: float | None,
        owner: str,
    ) -> Iterator[Replies]:
        """Begins the requests; leaving the block cancels those that have not ended. Raises Problem when there are too
        many.
        """
        self._check_room(len(requests))
        folder = model.main.folder
        guest = self.options.guests
        bits = self.options.kv_bits
        own = [replace(each, guest=guest, model=folder, owner=owner, kv_bits=bits) for each in requests]
        self.count(len(own))
        turn = self.queue.join(model)
        replies = Replies(self, endpoint, own, client, turn)
        self._open.add(replies)
        client.left.add_done_callback(replies.on_left)
        try:
            yield replies
        finally:
            client.left.remove_done_callback(replies.on_left)
            replies.cancel()
            self.queue.leave(turn, keep_s)
            self._open.discard(replies)

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
        if self.requests + self._expected + requests > self.options.most_requests:
            raise overloaded(self.options.most_requests)

    def _of_clients(self) -> EngineState:
        """The engine's state without others' requests."""
        state = self.engine.state()
        queued = tuple(each for each in state.queued if each in self.submitted)
        return replace(state, queued=queued, running=tuple(each for each in state.running if each in self.submitted))

    def count(self, change: int) -> None:
        self.requests += change
        self._on_change(self.requests)

    def end_requests(self) -> None:
        """End all requests, open and later ones."""
        self.is_closed = True
        self.queue.close()
        self.pictures.stop()
        for replies in self._open:
            replies.cancel()

    def close(self) -> None:
        self.end_requests()
        self.pictures.close()

    async def unwell(self) -> str | None:
        """Why the engine does not answer; None: it does."""
        loading = self.engine.state().loading_main is not None
        with suppress(Problem):  # which is an answer
            try:
                async with asyncio.timeout(self.options.stuck_s):
                    await self._counted("")  # between any two steps; an empty text waits for no others
            except TimeoutError:
                return "The engine does not answer"
        state = self.engine.state()
        if state.main is not None or (self.models.all() and not loading):
            return None
        if state.again_at is not None:
            return rank_lost(state.again_at).message
        return "Loading model" if loading else "No model is loaded"

    async def count_tokens(
        self, http: HttpRequest, fields: Fields, name: str, prompt_of: Callable[[SentPictures], Request]
    ) -> int:
        """Of the whole prompt, as the template of the model of that name makes it. Raises Problem, ClientLeft."""
        model = self.models.find(name)
        async with Client(http.receive, fields) as client:
            with self.pictures.sent(model.main, await client.beside(owner_of, http.scope, fields)) as sent:
                (prompt,) = await self.pictures.read(sent, [await client.beside(prompt_of, sent)])
                return await client.unless_left(self._counted_in_turn(model, prompt, client))

    async def _counted_in_turn(self, model: ServedModel, prompt: Request, client: Client) -> int:
        turn = self.queue.join(model)
        try:
            await turn.admitted
            return await self._counted(prompt, client)
        finally:
            self.queue.leave(turn)

    async def _counted(self, prompt: Request | str, client: Client | None = None) -> int:
        """Raises Problem."""
        loop = asyncio.get_running_loop()
        counted: asyncio.Future[TokensCounted] = loop.create_future()

        def take(event: TokensCounted) -> None:
            if not counted.done():
                counted.set_result(event)

        def on_event(event: Event) -> None:
            if isinstance(event, TokensCounted):
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(take, event)

        if client is None:
            self.engine.count_tokens(prompt, on_event)
        else:
            await client.beside(self.engine.count_tokens, prompt, on_event)
        answer = await counted
        if answer.error is not None:
            raise problem_of(answer.error)
        return answer.tokens


class Replies:
    """The replies to one client's request, from its turn on."""

    def __init__(
        self, shared: SharedEngine, endpoint: str, requests: Sequence[Request], client: Client, turn: Turn
    ) -> None:
        self._shared = shared
        self._endpoint = endpoint
        self._requests = requests
        self._client = client
        self._start = asyncio.create_task(self._submit(turn))
        self._is_cancelled = False
        self._events: asyncio.Queue[Indexed | Exception | None] = asyncio.Queue()  # None: the client has left
        self._early: deque[Indexed] = deque()  # came before the answer began
        self._awaited = set(range(len(requests)))  # whose end `events` has not given yet
        self.ids: dict[int, RequestId] = {}  # of requests in the engine
        self.model: ModelInfo | None = None  # that answers, once the turn has come
        self.outcomes = [ReplyOutcome() for _ in requests]
        self.progress = (0, 0)  # prompt tokens read, and all of them

    async def _submit(self, turn: Turn) -> None:
        """In its turn. A Problem, for what only the loaded model shows, is the next event."""
        submitted = 0
        try:
            await turn.admitted
            state = self._shared.engine.state()
            self.model = state.main
            check_limits(self._requests, state)
            loop = asyncio.get_running_loop()
            for index, request in enumerate(self._requests):
                if self._is_cancelled:
                    raise shutting_down()
                await self._client.beside(self._shared.engine.submit, request, self._sink(loop, index))
                submitted += 1
        except Exception as error:  # noqa: BLE001  it is the next event
            self._events.put_nowait(error)
        finally:
            if unsent := len(self._requests) - submitted:
                self._shared.count(-unsent)

    def cancel(self) -> None:
        self._is_cancelled = True
        for request in self.ids.values():
            self._shared.engine.cancel(request)

    def on_left(self, _: asyncio.Task[None]) -> None:
        self._shared.metrics.departures.inc()
        self._events.put_nowait(None)

    def _sink(self, loop: asyncio.AbstractEventLoop, index: int) -> Callable[[Event], None]:
        def hear(event: Event) -> None:
            with suppress(RuntimeError):  # the loop has ended; the request is being cancelled
                loop.call_soon_threadsafe(self._arrive, index, event)

        return hear

    def _arrive(self, index: int, event: Event) -> None:
        if isinstance(event, Queued):
            self.ids[index] = event.request
            self._shared.submitted.add(event.request)
            if self._is_cancelled:
                self._shared.engine.cancel(event.request)
        elif isinstance(event, Finished | Failed):
            self.ids.pop(index, None)
            self._shared.submitted.discard(event.request)
            self._shared.metrics.ended(self._endpoint, event)
            self._shared.count(-1)
        elif isinstance(event, ToolCalled):
            self._shared.metrics.calls.labels("true").inc()
        self._events.put_nowait((index, event))

    async def judged(self, streamed: Collection[str]) -> None:
        """Wait until every prompt is known to fit, so that a refusal can be a status. Raises Problem, ClientLeft.

        `streamed`: codes of problems that `events` raises.
        """
        waiting = set(range(len(self._requests)))
        until = asyncio.get_running_loop().time() + self._shared.options.begin_s
        while waiting:
            patience_s = until - asyncio.get_running_loop().time()
            found = await self._next(patience_s)
            if found is None:
                return
            index, event = found
            self._early.append(found)
            if isinstance(event, Failed):
                problem = problem_of(event.error, self._shared.engine.state().again_at)
                if problem.code in streamed:
                    return
                raise problem
            if not isinstance(event, Queued):
                waiting.discard(index)

    async def events(self, patience_s: Callable[[], float]) -> AsyncIterator[Indexed | None]:
        """Every event from a reply's turn to its last; None where `patience_s()` have passed without one.

        Raises Problem, ClientLeft.
        """
        while self._awaited:
            found = self._early.popleft() if self._early else await self._next(patience_s())
            if found is None or not isinstance(found[1], Queued | PromptFits):
                yield None if found is None else self._recorded(*found)

    async def whole(self) -> list[ReplyOutcome]:
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

    def _recorded(self, index: int, event: Event) -> Indexed:
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
                self._awaited.discard(index)
                outcome.finished = event
                if (problem := problem_of_end(reason)) is not None:
                    raise shutting_down() if self._shared.is_closed else problem
            case Failed(error=error):
                raise problem_of(error, self._shared.engine.state().again_at)
        return index, event
