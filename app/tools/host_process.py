"""`ToolHost`: the app's side of the tool host, the process that speaks with tool servers.

One thread starts the host on first use, sends it requests and reads its answers; callbacks are called there. The host
ends after five idle minutes, and is started again when it is needed, also after a crash. What servers have started is
noted in a file, so that what is left of it is ended, at the latest at the next start of the app.
"""

from __future__ import annotations

import base64
import io
import itertools
import json
import logging
import os
import re
import secrets
import selectors
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from app.system.build import own_version
from app.system.limited_child import child_command, child_environment
from app.system.small_file import read_small
from app.tools.definitions import Tool, ToolResult, cleaned, cut
from app.tools.processes import MARK, end_family, is_child
from app.tools.servers import ServerConfig
from app.tools.wire import (
    DETAIL_CHARACTERS,
    HOST,
    LINE_BYTES,
    MOST_ARGUMENTS,
    PATIENCE,
    PICTURE_BYTES,
    TAIL_LINE_BYTES,
    TAIL_LINES,
    ConnectionState,
    Patience,
    ServerFault,
    ServerProblem,
    ServerReach,
    SignInPages,
)
from engine import write_atomically

IDLE_S = 300.0
_READ_BYTES = 1 << 16
_ASK_S = 10.0  # between two signs of life that are asked of a host with requests
_SILENT_S = 60.0  # without one it is killed
_END_S = 3.5  # for the host to end its servers; then they are ended from here
_TERM_S = 0.5
_PROCESSES = "tool_processes-"  # names of files begin with it: one for each app or terminal whose host runs
_MOST_BYTES = 1 << 20  # of such a file

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerFailed:
    problem: ServerProblem
    detail: str = ""  # see `ServerProblem`


@dataclass(frozen=True, slots=True)
class ToolServerState:
    phase: ConnectionState = ConnectionState.STOPPED
    failure: ServerFailed | None = None
    stderr: tuple[str, ...] = ()  # last lines


Listed = tuple[Tool, ...]


@dataclass(slots=True)
class _Request:
    """`done` takes what the request is for, or why it failed."""

    server: str
    done: Callable[[Any], None]
    is_call: bool = False
    browse: Callable[[str], None] | None = None  # of a sign-in: gets the page where the user does it
    began: float = field(default_factory=time.monotonic)
    tools: list[Tool] = field(default_factory=list)
    pictures: list[bytes] = field(default_factory=list)
    picture: io.BytesIO = field(default_factory=io.BytesIO)  # the one that arrives

    def fail(self, failure: ServerFailed) -> None:
        if self.is_call:
            self.done(ToolResult(for_model(failure), True, seconds=time.monotonic() - self.began, outside=True))
        else:
            self.done(failure)


class ToolHost:
    """`reach` says how a server is reached, with its secrets; it is called on the thread and may raise ServerFault.
    `renew` is called there, too, with a server's id, the grant that its connection has, and the one that a refresh has
    brought; it returns the one that counts now. `changed` is called there when a server's state has become another one,
    but for what it writes to stderr.

    Every method may be called from any thread and returns at once. Nothing is started before the first request.
    """

    def __init__(
        self,
        folder: Path,
        reach: Callable[[ServerConfig], ServerReach],
        renew: Callable[[str, str, str], str] = lambda *_: "",
        changed: Callable[[], None] = lambda: None,
        *,
        idle_s: float = IDLE_S,
        patience: Patience = PATIENCE,
    ) -> None:
        self._folder = folder
        self._file = folder / f"{_PROCESSES}{secrets.token_hex(4)}.json"
        self._reach = reach
        self._renew = renew
        self._changed = changed
        self._idle_s = idle_s
        self._patience = patience
        self._states: dict[str, ToolServerState] = {}
        self._configs: dict[str, ServerConfig] = {}
        self._lacking: dict[str, str] = {}  # see `lacking`
        self._numbers = itertools.count(1)
        self._jobs: deque[Callable[[], None]] = deque()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()  # of the thread's start and end
        self._is_closed = False
        self._wake_read = -1
        self._wake_write = -1
        # Of the thread alone
        self._is_running = True
        self._requests: dict[int, _Request] = {}
        self._told: set[str] = set()  # servers that the running host connects
        self._processes: dict[str, dict[int, str]] = {}
        self._mark = ""
        self._host: subprocess.Popen[bytes] | None = None
        self._unsent = bytearray()
        self._line = bytearray()
        self._heard = 0.0
        self._asked = 0.0
        self._used = 0.0

    def list_tools(self, server: ServerConfig, done: Callable[[Listed | ServerFailed], None]) -> None:
        """As the server describes them now; connects first, if necessary.

        That takes at the most 20 seconds, or 120 where the command may have to fetch the server.
        """
        request = _Request(server.id, done)
        self._post(lambda: self._list(server, request))

    def call(self, server_id: str, name: str, arguments: str, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        """Of a server whose tools were listed. `arguments`: a JSON object. Fails after 60 seconds without progress, and
        after 600. What is returned cancels it: `done` gets a failed result at once, and the server is asked to stop.
        """
        request = _Request(server_id, done, is_call=True)
        number = next(self._numbers)
        values = {"do": "call", "name": name, "arguments": arguments}
        self._post(lambda: self._ask(request, values, number))
        return lambda: self._post(lambda: self._cancel(number))

    def sign_in(
        self,
        server: ServerConfig,
        pages: SignInPages,
        browse: Callable[[str], None],
        done: Callable[[str | ServerFailed], None],
    ) -> Callable[[], None]:
        """`browse` gets the page of the server where the user signs in, which is https or on this machine; `done` the
        grant, "" where none is wanted. Fails after five minutes. What is returned cancels it, and so does `stop`.
        What the server is `lacking` is asked for, too.
        """
        request = _Request(server.id, done, browse=browse)
        number = next(self._numbers)
        values = {"do": "sign_in", "pages": asdict(pages), "more": self.lacking(server.id)}
        self._post(lambda: self._sign_in(server, values, request, number))
        return lambda: self._post(lambda: self._cancel(number))

    def revoke(self, server: ServerConfig, grant: str) -> None:
        """Have the server forget a grant that is no longer kept, if it offers that."""
        at = ServerReach(address=server.address, grant=grant)
        request = _Request(server.id, lambda _: None)
        self._post(lambda: self._ask_host(request, {"do": "revoke", "at": asdict(at)}, next(self._numbers)))

    def stop(self, server_id: str) -> None:
        """End the server; the next request starts it again."""
        self._post(lambda: self._stop(server_id))

    def state(self, server_id: str) -> ToolServerState:
        return self._states.get(server_id, ToolServerState())

    def lacking(self, server_id: str) -> str:
        """What its calls need beside what the user has allowed it at the sign-in: scopes; "" until it says so."""
        return self._lacking.get(server_id, "")

    def end_leftovers(self) -> None:
        """End what an earlier run of the app has left, if it could not. Starts nothing if there is nothing."""
        if self._files():
            self._post(self._end_leftovers)

    def close(self, timeout_s: float = 5.0) -> None:
        """End the host and all servers; waits for that. Requests fail as stopped."""
        with self._lock:
            was_closed = self._is_closed
            self._is_closed = True
            thread = self._thread
            if thread is not None and not was_closed:
                self._hand_over(self._end_thread)
        if thread is not None:
            thread.join(timeout_s)

    # On the caller's thread

    def _post(self, job: Callable[[], None]) -> None:
        with self._lock:
            if self._is_closed:
                return
            if self._thread is None:
                self._wake_read, self._wake_write = os.pipe()
                os.set_blocking(self._wake_read, False)
                os.set_blocking(self._wake_write, False)
                self._thread = threading.Thread(target=self._run, name="tool host", daemon=True)
                self._thread.start()
            self._hand_over(job)

    def _hand_over(self, job: Callable[[], None]) -> None:
        """With the lock held, so that the thread does not close the pipe in between."""
        self._jobs.append(job)
        with suppress(BlockingIOError):  # it has enough to wake it
            os.write(self._wake_write, b"x")

    # On the thread

    @cached_property
    def _selector(self) -> selectors.BaseSelector:
        return selectors.DefaultSelector()

    def _run(self) -> None:
        with self._selector as selector:
            selector.register(self._wake_read, selectors.EVENT_READ, self._on_wake)
            while self._is_running:
                for key, _ in selector.select(self._next_look_s()):
                    if key in selector.get_map().values():  # the host may have ended by an earlier one
                        key.data()
                self._look_at_time()
        with self._lock:
            os.close(self._wake_read)
            os.close(self._wake_write)

    def _on_wake(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._wake_read, _READ_BYTES)
        while self._jobs:
            self._safely(self._jobs.popleft())

    def _safely(self, job: Callable[[], None]) -> None:
        """A fault in a callback must not end the thread."""
        try:
            job()
        except Exception:
            log.exception("a callback of the tool host failed")

    def _next_look_s(self) -> float | None:
        if self._host is None:
            return None
        return 1.0 if self._requests else max(0.1, self._used + self._idle_s - time.monotonic())

    def _look_at_time(self) -> None:
        now = time.monotonic()
        if self._host is None:
            return
        if not self._requests and now - self._used >= self._idle_s:
            self._end_host()
        elif self._requests and now - self._heard >= _SILENT_S:
            log.warning("the tool host does not answer")
            self._host.kill()
            self._heard = now  # its end is noticed by its output
        elif self._requests and now - max(self._heard, self._asked) >= _ASK_S:
            self._asked = now
            self._send({"do": "ping"})

    def _list(self, server: ServerConfig, request: _Request) -> None:
        if self._configs.get(server.id) != server:
            self._configs[server.id] = server
            self._told.discard(server.id)
        self._ask(request, {"do": "list"}, next(self._numbers))

    def _ask(self, request: _Request, values: dict[str, Any], number: int) -> None:
        """Start the host and connect the server, if necessary, and send the request."""
        name = request.server
        config = self._configs.get(name)
        if config is None:
            request.fail(ServerFailed(ServerProblem.STOPPED))
            return
        if len(values.get("arguments", "")) > MOST_ARGUMENTS:
            request.fail(ServerFailed(ServerProblem.ARGUMENTS))
            return
        try:
            reach = self._reached(config) if name not in self._told else None
        except ServerFault as fault:
            self._fail_one(request, fault)
            return
        if reach is not None:
            self._told.add(name)
            self._put_state(name, ToolServerState(ConnectionState.STARTING))
            values |= {"reach": asdict(reach)}
        self._ask_host(request, values, number)

    def _reached(self, server: ServerConfig) -> ServerReach:
        """Raises ServerFault, whatever goes wrong: a request is always answered."""
        try:
            return self._reach(server)
        except ServerFault:
            raise
        except Exception as error:
            log.exception("how a tool server is reached is not known")
            raise ServerFault(ServerProblem.CANNOT_START, type(error).__name__) from None

    def _ask_host(self, request: _Request, values: dict[str, Any], number: int) -> None:
        try:
            if self._host is None:
                self._start_host()
        except ServerFault as fault:
            self._told.discard(request.server)
            self._fail_one(request, fault)
            return
        if not self._requests:
            self._heard = time.monotonic()
        self._requests[number] = request
        self._send(values | {"n": number, "server": request.server})

    def _sign_in(self, server: ServerConfig, values: dict[str, Any], request: _Request, number: int) -> None:
        try:
            at = self._reached(server)
        except ServerFault as fault:
            self._fail_one(request, fault)
            return
        self._ask_host(request, values | {"at": asdict(at)}, number)

    def _fail_one(self, request: _Request, fault: ServerFault | ServerFailed) -> None:
        failure = ServerFailed(fault.problem, fault.detail)
        self._put_state(request.server, ToolServerState(ConnectionState.FAILED, failure))
        request.fail(failure)

    def _cancel(self, number: int) -> None:
        request = self._requests.pop(number, None)
        if request is not None:
            self._used = time.monotonic()
            self._send({"do": "cancel", "n": number})
            request.fail(ServerFailed(ServerProblem.STOPPED))

    def _put_state(self, name: str, state: ToolServerState) -> None:
        if self._states.get(name) != state:
            self._states[name] = state
            self._safely(self._changed)

    def _stop(self, name: str) -> None:
        if self._host is not None and name in self._told:
            self._told.discard(name)
            self._send({"do": "stop", "server": name})
        self._lacking.pop(name, None)
        self._put_state(name, ToolServerState())
        for number in [number for number, each in self._requests.items() if each.server == name and each.browse]:
            self._cancel(number)
        self._fail_all(ServerFailed(ServerProblem.STOPPED), name)

    def _fail_all(self, failure: ServerFailed, name: str = "") -> None:
        failed = [number for number, each in self._requests.items() if not name or each.server == name]
        for number in failed:
            request = self._requests.pop(number)
            self._safely(partial(request.fail, failure))

    # The process

    def _start_host(self) -> None:
        """Raises ServerFault."""
        self._end_leftovers()
        self._mark = f"{secrets.token_hex(8)}."
        self._processes = {}
        self._store_processes()
        try:
            self._host = subprocess.Popen(
                child_command(HOST),
                env=child_environment() | {MARK: self._mark},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # Ctrl-C in a terminal is for the app alone
            )
        except OSError as error:
            raise ServerFault(ServerProblem.HOST_CANNOT_START, error.strerror or "") from None
        assert self._host.stdin is not None
        assert self._host.stdout is not None
        for pipe in (self._host.stdin, self._host.stdout):
            os.set_blocking(pipe.fileno(), False)
        self._selector.register(self._host.stdout, selectors.EVENT_READ, self._on_output)
        self._heard = self._used = time.monotonic()
        self._send({"do": "begin", "mark": self._mark, "version": own_version(), "patience": asdict(self._patience)})

    def _send(self, values: dict[str, Any]) -> None:
        if self._host is not None:
            self._unsent += json.dumps(values).encode() + b"\n"
            self._flush()

    def _flush(self) -> None:
        assert self._host is not None
        assert self._host.stdin is not None
        pipe = self._host.stdin
        try:
            while self._unsent:
                del self._unsent[: os.write(pipe.fileno(), self._unsent)]
        except BlockingIOError:
            with suppress(KeyError):
                self._selector.register(pipe, selectors.EVENT_WRITE, self._flush)
            return
        except OSError:
            self._unsent.clear()  # it has ended, which its output says
        with suppress(KeyError):
            self._selector.unregister(pipe)

    def _on_output(self) -> None:
        assert self._host is not None
        assert self._host.stdout is not None
        try:
            data = os.read(self._host.stdout.fileno(), _READ_BYTES)
        except BlockingIOError:
            return
        self._heard = time.monotonic()
        if not data or len(self._line) > 2 * LINE_BYTES:
            self._on_end_of_host()
            return
        *lines, rest = data.split(b"\n")
        for each in lines:
            line = bytes(self._line) + each
            self._line.clear()
            self._safely(partial(self._take, line))
        self._line += rest

    def _on_end_of_host(self) -> None:
        """By itself: a crash, or its memory."""
        host = self._host
        assert host is not None
        self._forget_host()
        host.kill()
        host.wait()
        for name in self._told:
            self._put_state(name, ToolServerState(ConnectionState.FAILED, ServerFailed(ServerProblem.HOST_ENDED)))
        self._told.clear()
        self._fail_all(ServerFailed(ServerProblem.HOST_ENDED))
        self._end_leftovers()

    def _end_host(self) -> None:
        host = self._host
        if host is not None:
            self._forget_host()
            with suppress(subprocess.TimeoutExpired):
                host.wait(_END_S)
            for name in self._told:
                self._put_state(name, ToolServerState())
            self._told.clear()
            self._fail_all(ServerFailed(ServerProblem.STOPPED))
            host.kill()
            host.wait()
            self._end_leftovers()

    def _forget_host(self) -> None:
        host = self._host
        assert host is not None
        assert host.stdin is not None
        assert host.stdout is not None
        self._host = None
        self._unsent.clear()
        self._line.clear()
        self._selector.unregister(host.stdout)
        with suppress(KeyError):
            self._selector.unregister(host.stdin)
        host.stdin.close()
        host.stdout.close()

    def _end_thread(self) -> None:
        self._end_host()
        self._is_running = False

    # What is left

    def _store_processes(self) -> None:
        noted = {number: started for each in self._processes.values() for number, started in each.items()}
        with suppress(OSError):  # they are ended without it, unless the app is killed, too
            write_atomically(self._file, json.dumps({"owner": os.getpid(), "mark": self._mark, "processes": noted}))

    def _files(self) -> list[Path]:
        with suppress(OSError):
            return [each for each in self._folder.iterdir() if each.name.startswith(_PROCESSES)]
        return []

    def _end_leftovers(self) -> None:
        """Of hosts that have ended, and of those whose app has."""
        for file in self._files():
            owner, mark, noted = _read_processes(file)
            if mark and is_child(mark, owner):
                continue
            if mark and (left := end_family(mark, noted, _TERM_S)):
                log.warning("%d processes of tool servers cannot be ended", len(left))
            with suppress(OSError):
                file.unlink(missing_ok=True)

    # What the host says

    def _take(self, line: bytes) -> None:
        said = json.loads(line)
        if "family" in said:
            self._processes[said["family"]] = {int(each): started for each, started in said["processes"].items()}
            self._store_processes()
        elif "ended" in said:
            self._told.discard(said["ended"])
            failure = self._failure(said["ended"], said)
            failed = ToolServerState(ConnectionState.FAILED, failure, _lines(said["stderr"]))
            stopped = failure.problem is ServerProblem.STOPPED
            self._put_state(said["ended"], ToolServerState() if stopped else failed)
        elif "connected" in said:
            name = said["connected"]
            self._put_state(name, replace(self.state(name), phase=ConnectionState.READY))
        elif "renewal" in said:
            grant = self._renew(said["server"], said["former"], said["granted"])
            self._send({"do": "renewed", "renewal": said["renewal"], "grant": grant})
        elif "server" in said:
            self._states[said["server"]] = replace(self.state(said["server"]), stderr=_lines(said["stderr"]))
        elif (request := self._requests.get(said.get("n", 0))) is not None:
            self._take_answer(said["n"], request, said)

    def _take_answer(self, number: int, request: _Request, said: dict[str, Any]) -> None:
        match said:
            case {"tool": tool}:
                request.tools.append(self._tool(request.server, tool))
                return
            case {"piece": data, "last": last, "size": size}:
                _add_picture(request, data, last, min(size, PICTURE_BYTES))
                return
            case {"browse": address} if request.browse is not None:
                request.browse(address)
                return
        del self._requests[number]
        self._used = time.monotonic()
        match said:
            case {"listed": _}:
                now = replace(self.state(request.server), phase=ConnectionState.READY, failure=None)
                self._put_state(request.server, now)
                request.done(tuple(request.tools))
            case {"result": text, "left_out": left_out, "is_error": failed}:
                seconds = time.monotonic() - request.began
                request.done(ToolResult(cut(text, left_out), failed, tuple(request.pictures), seconds, outside=True))
            case {"granted": grant}:
                request.done(grant)
            case {"failed": _} if request.browse is not None:
                self._fail_one(request, self._failure(request.server, said))
            case {"failed": _}:
                request.fail(self._failure(request.server, said))

    def _failure(self, server: str, said: dict[str, Any]) -> ServerFailed:
        failure = ServerFailed(ServerProblem(said["failed"]), cleaned(said["detail"], DETAIL_CHARACTERS))
        if failure.problem is ServerProblem.SIGN_IN_MORE:
            self._lacking[server] = failure.detail
        return failure

    def _tool(self, server: str, said: dict[str, Any]) -> Tool:
        schema = json.loads(said["schema"]) if said["schema"] else None
        config = self._configs[server]
        tool = Tool.of(
            server,
            said["name"],
            said["description"],
            schema,
            reads_only=said["reads_only"],
            origin=config.identity,
        )
        assert tool.digest  # computed on this thread, not on the window's
        return tool


def for_model(failure: ServerFailed) -> str:
    """The result of a call that failed, in English, for the model."""
    said = {
        ServerProblem.STOPPED: "The call was stopped.",
        ServerProblem.TIME_OUT: f"The tool server did not answer in {failure.detail} seconds.",
        ServerProblem.REFUSED: f"The tool server refused the call: {failure.detail}",
        ServerProblem.SIGNED_OUT: "The user has to sign in to the tool server first, in the settings.",
        ServerProblem.SIGN_IN_MORE: "The user has to sign in to the tool server again, in the settings, to allow this.",
        ServerProblem.INPUT: "The tool server asked the user for input, which is not offered.",
        ServerProblem.ARGUMENTS: "The arguments are no JSON object, or too large.",
        ServerProblem.ENDED: f"The tool server ended ({failure.detail}).",
        ServerProblem.TOO_LARGE: f"The tool server sent a message of more than {failure.detail} MiB.",
    }
    return said.get(failure.problem, f"The tool server failed ({failure.problem.value}).")


def _lines(said: list[str]) -> tuple[str, ...]:
    return tuple(cleaned(each, TAIL_LINE_BYTES, lines=False) for each in said[-TAIL_LINES:])


def _add_picture(request: _Request, data: str, last: bool, size: int) -> None:
    """It is held once: the buffer has its size from the beginning, and becomes the bytes."""
    if request.picture.tell() == 0:
        request.picture.seek(max(0, size - 1))
        request.picture.write(b"\0")
        request.picture.seek(0)
    request.picture.write(base64.b64decode(data))
    if last:
        request.pictures.append(request.picture.getvalue())
        request.picture = io.BytesIO()


def _read_processes(file: Path) -> tuple[int, str, dict[int, str]]:
    """Whose child the host is, its mark, and what it has started; no mark where the file does not say so."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        stored = json.loads(read_small(file, _MOST_BYTES))
        noted = {int(number): str(started) for number, started in stored["processes"].items()}
        if re.fullmatch(r"[0-9a-f]{16}\.", stored["mark"]):
            return int(stored["owner"]), stored["mark"], noted
    return 0, "", {}
