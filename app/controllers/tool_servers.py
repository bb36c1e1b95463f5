"""Tool servers: which the user has, switching them on, and their tools and calls by the tool host.

The host calls back on its own thread; all that is here is on the GUI thread. What changes is written by the thread for
small files.
"""

from __future__ import annotations

import logging
import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, Signal

from app.system.secrets import Secrets
from app.system.worker import Deliver, JobQueue, ask_once, ignore
from app.tools.definitions import Tool, ToolResult
from app.tools.host_process import ServerFailed, ToolHost
from app.tools.imports import Found, Parsed, parse_file, parse_servers, sources
from app.tools.public import may_lead_to
from app.tools.servers import ServerConfig, ToolServers
from app.tools.wire import ConnectionState, RefusedServer, ServerFault, ServerProblem, SignInPages
from app.view_models.tools import AddedServers, ServerRow, SignIn

_MAY_SIGN_IN = (
    ServerProblem.SIGNED_OUT,
    ServerProblem.SIGN_IN_MORE,
    ServerProblem.SIGN_IN_LATE,
    ServerProblem.SIGN_IN_REFUSED,
    ServerProblem.SIGN_IN_FAILED,
)
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)

_log = logging.getLogger(__name__)

Listed = Callable[[tuple[Tool, ...]], None]


@dataclass(slots=True)
class _SignIn:
    """One that is waited for."""

    cancel: Callable[[], None] = field(default=lambda: None)
    host: str = ""  # of the page in the browser


class ToolServersController(QObject):
    changed = Signal()
    removed = Signal(str)  # a server, for good
    browse = Signal(str)  # the page where the user signs in to a server

    def __init__(
        self,
        folder: Path,
        secrets: Secrets,
        deliver: Deliver,
        writer: JobQueue,
        parent: QObject | None = None,
    ) -> None:
        """`folder`: of the app's data. Nothing is read or started before it is asked for."""
        super().__init__(parent)
        self._deliver = deliver
        self._writer = writer
        self._servers = ToolServers(folder / "tools.json", secrets)
        self._host = ToolHost(folder, self._servers.reach, self._servers.renew_grant, lambda: deliver(self._tell))
        self._tools: dict[str, tuple[Tool, ...]] = {}  # as they were listed last
        # servers as they were listed last, of those with no other change since
        self._shown: dict[str, tuple[ServerRow | None, tuple[Tool, ...]]] = {}
        self._listings: dict[str, list[Listed]] = {}  # those that wait for a server's tools; one answer is for all
        self._sign_ins: dict[str, _SignIn] = {}  # that are waited for, by server
        self._removed: dict[str, bool] = {}  # servers that may be put back, and whether they were on

    def start(self) -> None:
        """End what an earlier run has left."""
        self._host.end_leftovers()

    def close(self) -> None:
        self.forget_removed()
        self._host.close()
        self._write()  # a grant that the disk has refused, too

    # What there is

    def rows(self) -> tuple[ServerRow, ...]:
        return tuple(map(self._row, self._servers.all()))

    def name_of(self, server: str) -> str:
        config = self._servers.get(server)
        return server if config is None else config.name

    def known(self, server: str) -> tuple[Tool, ...]:
        return self._tools.get(server, ())

    def _row(self, config: ServerConfig) -> ServerRow:
        state = self._host.state(config.id)
        failure = state.failure
        waited = self._sign_ins.get(config.id)
        return ServerRow(
            config.id,
            config.name,
            config.shown,
            state.phase if config.enabled else ConnectionState.OFF,
            stderr="\n".join(state.stderr),
            problem="" if failure is None else failure.problem.value,
            detail="" if failure is None else failure.detail,
            secrets=(*config.env, *config.headers),
            missing=self._servers.missing_secrets(config) if config.env or config.headers else (),
            is_removed=config.id in self._removed,
            seen=config.confirmed == config.digest,
            sign_in=self._sign_in_of(config, failure),
            sign_in_at="" if waited is None else waited.host,
            lacks=self._host.lacking(config.id),
        )

    def _sign_in_of(self, config: ServerConfig, failure: ServerFailed | None) -> SignIn:
        if config.id in self._sign_ins:
            return SignIn.WAITS
        is_refused = failure is not None and failure.problem in _MAY_SIGN_IN
        if config.enabled and (is_refused or self._host.lacking(config.id)):
            return SignIn.OFFERED
        return SignIn.DONE if config.address and self._servers.grant(config.id) else SignIn.NONE

    # What the user does

    def confirm(self, server: str, shown: str) -> bool:
        is_on = self._servers.confirm(server, shown)
        self._write()
        return is_on

    def set_on(self, server: str, on: bool) -> None:
        self._servers.set_on(server, on)
        if not on:
            self._stop(server)
        self._write()

    def restart(self, server: str) -> None:
        """A program that was missing may be there by now; then its whole command is to be seen first."""
        self._stop(server)
        self.list_tools(server)
        if (config := self._servers.get(server)) is not None:
            self._find(config)

    def _stop(self, server: str) -> None:
        """A listing that runs is answered by it; what is asked from now on begins another."""
        self._listings.pop(server, None)
        self._host.stop(server)

    def remove(self, server: str) -> None:
        """Until it is put back. Its secrets stay until `forget_removed`."""
        config = self._servers.get(server)
        if config is not None:
            self._removed[server] = config.enabled
            self.set_on(server, False)

    def put_back(self, server: str) -> None:
        was_on = self._removed.pop(server, False)
        self.set_on(server, was_on)

    def forget_removed(self) -> None:
        removed = list(self._removed)
        self._removed.clear()
        for server in removed:
            self._servers.remove(server)
            self._tools.pop(server, None)
            self.removed.emit(server)
        if removed:
            self._write()

    def set_secret(self, server: str, name: str, value: str) -> bool:
        """False for a value that cannot be one."""
        config = self._servers.get(server)
        if config is None:
            return False
        try:
            self._servers.set_secret(server, "header" if name in config.headers else "env", name, value)
        except ServerFault:
            return False
        self._stop(server)
        self._write()
        return True

    def sign_in(self, server: str, pages: SignInPages) -> None:
        """`browse` says where; one at a time for a server."""
        config = self._servers.get(server)
        if config is None or server in self._sign_ins:
            return
        waited = self._sign_ins[server] = _SignIn()
        waited.cancel = self._host.sign_in(
            config,
            pages,
            lambda page: self._deliver(partial(self._on_page, config, waited, page)),
            lambda end: self._deliver(partial(self._on_signed_in, server, waited, end)),
        )
        self._tell()

    def cancel_sign_in(self, server: str) -> None:
        if waited := self._sign_ins.pop(server, None):
            waited.cancel()
            self._tell()

    def sign_out(self, server: str) -> None:
        """What is kept is deleted at once, and what the server knows of it once it is reached."""
        config = self._servers.get(server)
        if config is not None:
            grant = self._servers.grant(server)
            self._servers.keep_grant(server, "")
            self._write()
            self._host.revoke(config, grant)
            self.restart(server)

    def _on_page(self, config: ServerConfig, waited: _SignIn, page: str) -> None:
        if self._sign_ins.get(config.id) is waited and may_lead_to(config.address, page):
            waited.host = urlsplit(page).hostname or ""
            self.browse.emit(page)
            self._tell()

    def _on_signed_in(self, server: str, waited: _SignIn, end: str | ServerFailed) -> None:
        if self._sign_ins.get(server) is not waited:
            return
        del self._sign_ins[server]
        if isinstance(end, ServerFailed):
            self._tell()
            return
        former = self._servers.grant(server)
        self._servers.keep_grant(server, end)
        self._write()
        config = self._servers.get(server)
        if former and config is not None:
            self._host.revoke(config, former)
        self.restart(server)

    def list_tools(self, server: str) -> None:
        self.listed(server, ignore)

    def add_text(self, text: str) -> AddedServers:
        """A command as in a terminal, an address, or JSON. Each server is off until it is confirmed."""
        text = text.strip()
        if text.startswith(("{", "[", '"', "/*", "//")):
            return self._add(parse_servers(text))
        try:
            words = shlex.split(re.sub(r"\\\r?\n", "", text))
        except ValueError:
            words = []
        if not words:
            return AddedServers(understood=False)
        return self._add(Parsed((_of_words(words),)))

    def sources(self) -> tuple[str, ...]:
        return tuple(self._sources())

    def import_from(self, source: str) -> AddedServers:
        file = self._sources().get(source)
        try:
            return self._add(parse_file(file)) if file is not None else AddedServers(understood=False)
        except OSError:
            return AddedServers(understood=False)

    def _sources(self) -> dict[str, Path]:
        try:
            return sources(Path.home())
        except RuntimeError:  # a user without a home folder
            return {}

    def _add(self, parsed: Parsed) -> AddedServers:
        names: list[str] = []
        refused = list(parsed.refused)
        for found in parsed.found:
            try:
                added = self._servers.add(found.server, found.env, found.headers)
                names.append(added.name)
                self._find(added)
            except ServerFault as fault:
                refused.append(RefusedServer(found.server.name, fault.problem, fault.detail))
        if names:
            self._write()
        return AddedServers(tuple(names), tuple(refused), parsed.is_json and bool(names or refused))

    def _find(self, server: ServerConfig) -> None:
        """A command that is in no known place, or no longer there, is looked for by the user's shell, too."""
        found = partial(self._servers.ask_shell, server.id)
        ask_once("login shell", self._deliver, found, self._on_asked_shell, ignore)

    def _on_asked_shell(self, is_found: bool) -> None:
        if is_found:
            self._write()

    def _write(self) -> None:
        def failed(error: Exception) -> None:
            _log.warning("the tool servers could not be stored: %s", type(error).__name__)

        self._writer.ask(self._servers.write, ignore, failed)
        self._tell()

    def _tell(self) -> None:
        self._shown.clear()
        self.changed.emit()

    # For requests and calls

    def listed(self, server: str, done: Listed) -> None:
        """Connects first, where that is necessary. A server that is off, or fails, has no tools."""
        config = self._servers.get(server)
        if config is None or not config.enabled or server in self._removed:
            done(())
            return
        if server in self._listings:
            self._listings[server].append(done)
            return
        waiting = self._listings[server] = [done]
        self._host.list_tools(config, lambda outcome: self._deliver(partial(self._on_listed, server, waiting, outcome)))

    def _on_listed(self, server: str, waiting: list[Listed], outcome: tuple[Tool, ...] | ServerFailed) -> None:
        tools = () if isinstance(outcome, ServerFailed) else outcome
        if not isinstance(outcome, ServerFailed):
            known = {each.digest: each for each in self._tools.get(server, ())}
            tools = tuple(known.get(each.digest, each) for each in tools)  # of equal bytes: a prompt has them
            self._tools[server] = tools
        if self._listings.get(server) is waiting:
            del self._listings[server]
        config = self._servers.get(server)
        now = (None if config is None else self._row(config), tools)
        if self._shown.get(server) != now:
            self._tell()
            self._shown[server] = now
        for done in waiting:
            done(tools)

    def call(self, tool: Tool, arguments: str, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        def called(result: ToolResult) -> None:
            if self._host.lacking(tool.server):
                self._tell()
            done(result)

        return self._host.call(tool.server, tool.name, arguments, lambda result: self._deliver(partial(called, result)))


def _of_words(words: list[str]) -> Found:
    """Of a command line, which may begin with variables, or of an address."""
    env: dict[str, str] = {}
    while len(words) > 1 and (assigned := _ASSIGNED.fullmatch(words[0])):
        env[assigned[1]] = assigned[2]
        words = words[1:]
    scheme, separator, rest = words[0].partition("://")
    if len(words) == 1 and scheme.lower() in ("http", "https") and separator:
        name = ""
        with suppress(ValueError):  # what is no address is refused as one
            name = urlsplit(words[0]).hostname or ""
        return Found(ServerConfig("", name, address=f"{scheme.lower()}://{rest}"), {})
    words = [str(Path(each).expanduser()) if f"{each}/".startswith("~/") else each for each in words]
    name = next((each for each in words[1:] if not each.startswith("-")), words[0])
    return Found(ServerConfig("", PurePath(name).name, words[0], tuple(words[1:])), env)
