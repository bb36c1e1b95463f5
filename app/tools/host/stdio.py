"""Messages over a server's stdin and stdout, in place of the SDK's transport.

The SDK's is quadratic in the length of a line, has no limit, and reports a byte that is no text after the time-out
only. Here reading is linear, a message has a limit, what breaks the protocol ends the server at once with the reason,
and nothing that the server has started is left at the end.
"""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter

from app.tools.processes import MARK, MOST_NOTED, end_family, family
from app.tools.wire import MESSAGE_BYTES, TAIL_LINE_BYTES, TAIL_LINES, ServerFault, ServerProblem, ServerReach

UNREQUESTED_PER_S = 200  # notifications and requests of a server; more are dropped
FLOOD_PER_S = 2_000  # messages of any kind
_STDERR_PER_S = 1 << 20  # bytes; a server that writes more waits
_STDERR_SAID_S = 1.0  # between two reports of its last lines
_QUEUED_BYTES = 1 << 20  # above that a server waits
_LAST_WORDS_S = 0.2  # between the end of a server and that of reading what it wrote
_POLITE_S = 1.0  # between closing its stdin and SIGTERM
_TERM_S = 0.7  # between SIGTERM and SIGKILL
_LONE_SURROGATE = re.compile(rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]..")
_NEVER_OFFERED = ("elicitation/create", "sampling/createMessage", "roots/list")

Received = SessionMessage | Exception


class Tail:
    """The last lines of a stream of bytes, in bounded memory and linear time."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque(maxlen=TAIL_LINES)
        self._line = bytearray()

    def add(self, data: bytes) -> None:
        first, *others = data.split(b"\n")
        self._grow(first)
        for each in others[-TAIL_LINES - 1 :]:
            self._lines.append(bytes(self._line))
            self._line.clear()
            self._grow(each)

    def lines(self) -> list[str]:
        every = [*self._lines, bytes(self._line)] if self._line else [*self._lines]
        return [each.decode("utf-8", "replace").rstrip("\r") for each in every[-TAIL_LINES:]]

    def _grow(self, more: bytes) -> None:
        self._line += more[: TAIL_LINE_BYTES - len(self._line)]


class StdioTransport(asyncio.SubprocessProtocol):
    """As the SDK's `Client` takes it: entered, it has started the server and returns the two streams.

    `failure` says why it ended. On the loop are called `on_failure`, at the first one, `on_family`, when there are
    other processes, and `on_stderr`, with the last lines, at most once a second.
    """

    def __init__(
        self,
        reach: ServerReach,
        mark: str,
        on_failure: Callable[[ServerFault], None],
        on_family: Callable[[dict[int, str]], None],
        on_stderr: Callable[[list[str]], None],
    ) -> None:
        self.failure: ServerFault | None = None
        self.tail = Tail()
        self.refused: set[str] = set()  # methods that the server requested of us
        self._reach = reach
        self._mark = mark
        self._on_failure = on_failure
        self._on_family = on_family
        self._on_stderr = on_stderr
        self._will_say_stderr = False
        self._noted: dict[int, str] = {}
        self._process: asyncio.SubprocessTransport | None = None
        self._line = bytearray()
        self._lines: deque[bytes] = deque()
        self._queued_bytes = 0
        self._something = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._exited = asyncio.Event()
        self._second = time.monotonic()
        self._messages = 0  # in this second
        self._unrequested = 0
        self._stderr_bytes = 0
        self._is_ending = False
        self._paused: set[int] = set()  # pipes that are not read (Python 3.11.2 has no `is_reading` of a pipe)
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> tuple[MemoryObjectReceiveStream[Received], MemoryObjectSendStream[SessionMessage]]:
        words = self._reach.command
        folder = self._reach.folder or str(Path.home())
        if not await asyncio.to_thread(Path(folder).is_dir):
            raise ServerFault(ServerProblem.NO_FOLDER, folder)
        try:
            self._process, _ = await asyncio.get_running_loop().subprocess_exec(
                lambda: self,
                *words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._reach.environment | {MARK: self._mark},
                cwd=folder,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise ServerFault(ServerProblem.NO_COMMAND, words[0]) from None
        except (OSError, ValueError) as error:
            raise ServerFault(
                ServerProblem.CANNOT_START, getattr(error, "strerror", "") or type(error).__name__
            ) from None
        self._to_session, receive = anyio.create_memory_object_stream[Received](0)
        send, self._from_session = anyio.create_memory_object_stream[SessionMessage](0)
        # Nothing is awaited from here on: a caller that is cancelled there would leave the process.
        self._tasks = [asyncio.create_task(each) for each in (self._read(), self._write(), self.note_family())]
        for task in self._tasks:
            task.add_done_callback(self._on_task_done)
        return receive, send

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_ending = True
        with anyio.CancelScope(shield=True):
            await self._end_processes()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._to_session.close()
            self._from_session.close()
            if self._process is not None:
                with suppress(OSError):
                    self._process.close()

    def fail(self, problem: ServerProblem, detail: str = "") -> None:
        """The first reason counts."""
        if self.failure is None and not self._is_ending:
            self.failure = ServerFault(problem, detail)
            self._to_session.close()
            self._on_failure(self.failure)

    async def note_family(self) -> None:
        """Note which processes there are: a child may leave the server's group, and lose its parent."""
        found = await asyncio.to_thread(family, self._mark, self._noted)
        if found != self._noted and len(found) <= MOST_NOTED:
            self._noted = found
            self._on_family(found)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        """A fault in one of them would otherwise be a server that never answers."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail(ServerProblem.NOT_PROTOCOL, type(error).__name__)

    # As asyncio calls them

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._take_stderr(data)
        elif self.failure is None:
            self._take(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 0:
            self._room.set()
            self.later(ServerProblem.CLOSED, "input")
        elif fd == 1:
            self.later(ServerProblem.CLOSED, "output")

    def process_exited(self) -> None:
        self._exited.set()
        self.later(ServerProblem.ENDED, "")

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()

    def later(self, problem: ServerProblem, detail: str) -> None:
        """Fail, but first read what is in the pipe; of a process that has ended the end is the reason."""

        def fail() -> None:
            status = self._process.get_returncode() if self._process is not None else None
            if status is not None:
                self.fail(ServerProblem.ENDED, _status(status))
            else:
                self.fail(problem, detail)

        asyncio.get_running_loop().call_later(_LAST_WORDS_S, fail)

    def _pipe(self, fd: int) -> Any:
        return self._process.get_pipe_transport(fd) if self._process is not None else None

    def _take_stderr(self, data: bytes) -> None:
        self.tail.add(data)
        if not self._will_say_stderr:
            self._will_say_stderr = True
            asyncio.get_running_loop().call_later(_STDERR_SAID_S, self._say_stderr)
        self._begin_second()
        self._stderr_bytes += len(data)
        if self._stderr_bytes > _STDERR_PER_S and self._pause(2):
            asyncio.get_running_loop().call_later(1.0, self._resume, 2)

    def _say_stderr(self) -> None:
        self._will_say_stderr = False
        if not self._is_ending:
            self._on_stderr(self.tail.lines())

    def _take(self, data: bytes) -> None:
        begin = 0
        while (end := data.find(b"\n", begin)) >= 0:
            self._line += data[begin:end]
            self._lines.append(bytes(self._line))
            self._queued_bytes += len(self._line)
            self._line.clear()
            begin = end + 1
        self._line += data[begin:]
        if len(self._line) > MESSAGE_BYTES or self._queued_bytes > 2 * MESSAGE_BYTES:
            self._line.clear()
            self.fail(ServerProblem.TOO_LARGE, str(MESSAGE_BYTES >> 20))
        if self._queued_bytes > _QUEUED_BYTES:
            self._pause(1)
        self._something.set()

    def _pause(self, fd: int) -> bool:
        """Whether it was read until now."""
        pipe = self._pipe(fd)
        if pipe is None or pipe.is_closing() or fd in self._paused:
            return False
        self._paused.add(fd)
        pipe.pause_reading()
        return True

    def _resume(self, fd: int) -> None:
        pipe = self._pipe(fd)
        if pipe is not None and not pipe.is_closing() and fd in self._paused:
            self._paused.discard(fd)
            pipe.resume_reading()

    async def _read(self) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while self.failure is None:
                await self._something.wait()
                self._something.clear()
                while self._lines and self.failure is None:
                    line = self._lines.popleft()
                    self._queued_bytes -= len(line)
                    message = self._message(line)
                    if message is not None:
                        await self._to_session.send(SessionMessage(message))
                self._resume(1)

    async def _write(self) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for each in self._from_session:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                await self._room.wait()
                pipe = cast("asyncio.WriteTransport | None", self._pipe(0))
                if pipe is not None and not pipe.is_closing():
                    pipe.write(text.encode("utf-8", "replace") + b"\n")

    def _message(self, line: bytes) -> JSONRPCMessage | None:
        """None for what the session needs not see: lines that servers print by mistake, and too many notifications."""
        self._begin_second()
        self._messages += 1
        if self._messages > FLOOD_PER_S:
            self.fail(ServerProblem.FLOOD)
            return None
        try:
            line.decode()
        except UnicodeDecodeError:
            self.fail(ServerProblem.NOT_TEXT)
            return None
        if b'"jsonrpc"' not in line or line.lstrip()[:1] not in (b"{", b"["):  # some log each message, too
            return None
        message = _parsed(line)
        if message is None:
            self.fail(ServerProblem.NOT_PROTOCOL, line[:200].decode("utf-8", "replace"))
            return None
        if not isinstance(message, JSONRPCNotification | JSONRPCRequest):
            return message
        if isinstance(message, JSONRPCRequest) and message.method in _NEVER_OFFERED:
            self.refused.add(message.method)
        self._unrequested += 1
        return message if self._unrequested <= UNREQUESTED_PER_S else None

    def _begin_second(self) -> None:
        now = time.monotonic()
        if now - self._second >= 1.0:
            self._second = now
            self._messages = self._unrequested = self._stderr_bytes = 0

    async def _end_processes(self) -> None:
        await self.note_family()
        if (pipe := self._pipe(0)) is not None:
            pipe.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), _POLITE_S)
        left = await asyncio.to_thread(end_family, self._mark, self._noted, _TERM_S)
        self._on_family(left)


def _parsed(line: bytes) -> JSONRPCMessage | None:
    """Some servers send half of a surrogate pair where they cut a text; it becomes U+FFFD."""
    for each in (line, _LONE_SURROGATE.sub(rb"\\ufffd", line)):
        with suppress(ValueError, RecursionError):
            return jsonrpc_message_adapter.validate_json(each, by_name=False)
    return None


def _status(status: int) -> str:
    if status >= 0:
        return str(status)
    with suppress(ValueError):
        return signal.Signals(-status).name
    return str(status)
