"""Tool servers that the user has: how each is reached, whether it may run, and its secrets.

`tools.json` has no secret: variables and headers are named there, and their values are in `Secrets`. A server is off
until the user has seen its whole command, and again after the command has changed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shlex
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import urlsplit

from app.storage.codec import is_shallow, storable
from app.system.secrets import Secrets
from app.system.small_file import read_small
from app.tools.commands import PROGRAMS, ask_shell, find_command, server_environment
from app.tools.definitions import cleaned
from app.tools.public import in_ascii, may_be_address
from app.tools.wire import LONGEST_GRANT, ServerFault, ServerProblem, ServerReach
from engine import write_atomically

MOST_SERVERS = 64
_MOST_WORDS = 100  # of a command, and names of variables or headers
_LONGEST_WORD = 4_000
_LONGEST_VALUE = 20_000
_LONGEST_NAME = 80
_LONGEST_ID = 24
_GRANT = "grant"  # the kind of secret that a sign-in brings
_MOST_BYTES = 4 << 20
_REMOVED = "removed"  # in the file: ids of servers that were removed
_MOST_REMOVED = 500
_ID = re.compile(rf"[a-z0-9-]{{1,{_LONGEST_ID + 4}}}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")
# Variables that have a program run other code than its command shows.
_RUNS_CODE = re.compile(r"(LD_|DYLD_).*|NODE_OPTIONS|BASH_ENV|ENV|PYTHONSTARTUP|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS")
# Variables that say where a program finds code, packages and settings: they are part of the command that is shown.
_STEERS = re.compile(
    r"PATH|HOME|SHELL|ZDOTDIR|CLASSPATH|RUBYLIB|PERL5\w*|PS4|PROMPT_COMMAND|EDITOR|VISUAL|PAGER|LESSOPEN"
    r"|\w*(CA_BUNDLE|CERT_FILE|CERT_DIR|CA_CERTS|REGISTRY|PROXY)"
    r"|(PYTHON|NODE_|NPM_|YARN_|PNPM_|COREPACK_|UV_|PIP_|PIPX_|BUN_|DENO_|DOCKER_|CARGO_|RUST|GIT_|XDG_|JAVA_|GEM_"
    r"|BUNDLE_|GO(PROXY|FLAGS|PATH|ROOT)|ELECTRON_|BROWSER|CHROME_|PLAYWRIGHT_|PUPPETEER_).*",
    re.IGNORECASE,
)
_IS_SECRET = re.compile(r"TOKEN|PASSWORD|PASSWD|SECRET|_KEY|AUTH|CREDENTIAL", re.IGNORECASE)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """By a command with its arguments, or by an address."""

    id: str  # lower-case letters, digits and "-"
    name: str
    command: str = ""  # absolute once it was found
    args: tuple[str, ...] = ()
    address: str = ""
    env: tuple[str, ...] = ()  # names of variables; their values are secrets
    headers: tuple[str, ...] = ()  # names, in the same way
    has_query: bool = False  # of the address: it is a secret, because some have a key there
    folder: str = ""  # where the command runs; "": the home folder
    confirmed: str = ""  # digest of what the user has seen
    is_on: bool = False
    variables: tuple[str, ...] = ()  # "NAME=value", of those that are part of the command

    @property
    def shown(self) -> str:
        """The whole command, or the address, without any character that is not seen."""
        words = (*self.variables, self.command, *self.args)
        text = self.address + "?…" * self.has_query or shlex.join(words)
        if self.folder:
            text += f"  (in {self.folder})"
        return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)

    @property
    def identity(self) -> str:
        """What a consent is for: the command with its arguments, folder and variables, or the address's origin."""
        if self.address:
            url = urlsplit(self.address)
            return f"{url.scheme}://{url.netloc}"
        return json.dumps([self.command, *self.args, self.folder, *([self.variables] if self.variables else [])])

    @property
    def digest(self) -> str:
        seen = [self.command, self.args, self.address, self.has_query, self.folder, self.env, self.headers]
        seen += [self.variables] if self.variables else []
        return hashlib.sha256(json.dumps(seen).encode()).hexdigest()

    @property
    def enabled(self) -> bool:
        return self.is_on and self.confirmed == self.digest


class ToolServers:
    """Read at the first use. Changes apply at once; `write` puts them on the disk, and may be called on any thread."""

    def __init__(self, file: Path, secrets: Secrets) -> None:
        self._file = file
        self._secrets = secrets
        self._lock = threading.Lock()
        self._servers: dict[str, ServerConfig] | None = None
        self._is_unread = False
        self._others: dict[str, Any] = {}  # what else is in the file, also of another version
        self._stored: dict[str, dict[str, Any]] = {}  # the servers as in the file, with fields of another version
        self._unknown: list[Any] = []  # entries that are no servers in this version: they stay in the file

    def all(self) -> tuple[ServerConfig, ...]:
        with self._lock:
            return tuple(self._known().values())

    def get(self, server_id: str) -> ServerConfig | None:
        with self._lock:
            return self._known().get(server_id)

    def add(
        self, server: ServerConfig, env: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> ServerConfig:
        """Off, with an id of its own. Raises ServerFault. `env`, `headers`: values, which are kept as secrets."""
        with self._lock:
            known = self._known()
            if len(known) >= MOST_SERVERS:
                raise ServerFault(ServerProblem.TOO_MANY, str(MOST_SERVERS))
            headers = headers or {}
            steering, env = _parted(env or {})
            name = _new_name(server.name or PurePath(server.command).name, known.values())
            new = replace(
                server,
                id=_new_id(name, [*known, *self._removed_ids, *self._unknown_ids]),
                name=name,
                command=find_command(server.command) or server.command,
                env=tuple(dict.fromkeys(each for each in (*server.env, *env) if each not in steering)),
                headers=tuple(dict.fromkeys((*server.headers, *headers))),
                variables=tuple(f"{each}={value}" for each, value in steering.items()),
                confirmed="",
                is_on=False,
            )
            new = self._without_query(checked(new))
            self._keep(new.id, "env", env)
            self._keep(new.id, "header", headers)
            known[new.id] = new
            return new

    def ask_shell(self, server_id: str) -> bool:
        """Find a command that is missing, by the login shell, too; whether that did. Waits up to three seconds.

        One that was found may be of a version that is no longer installed.
        """
        server = self.get(server_id)
        name = "" if server is None else PurePath(server.command).name
        if server is None or (server.command != name and (name not in PROGRAMS or find_command(server.command))):
            return False
        command = find_command(name) or ask_shell(name)
        with self._lock:
            if not command or self._known().get(server_id) != server:
                return False
            self._known()[server_id] = replace(server, command=command)
            return True

    def set_secret(self, server_id: str, kind: str, name: str, value: str) -> None:
        """`kind`: "env" or "header". Raises ServerFault for a value that cannot be one."""
        with self._lock:
            self._keep(server_id, kind, {name: value})

    def missing_secrets(self, server: ServerConfig) -> tuple[str, ...]:
        """Names of variables and headers without a value."""
        names = [("env", each) for each in server.env] + [("header", each) for each in server.headers]
        return tuple(name for kind, name in names if self._secrets.tool_secret(server.id, kind, name) is None)

    def grant(self, server_id: str) -> str:
        """What a sign-in has brought; "" if there is none."""
        return self._secrets.tool_secret(server_id, _GRANT, "") or ""

    def keep_grant(self, server_id: str, grant: str) -> None:
        """ "": forget it."""
        with self._lock:
            if not grant:
                self._secrets.forget_tool(server_id, _GRANT)
            elif server_id in self._known() and len(grant) <= LONGEST_GRANT:
                self._secrets.keep_tool_secret(server_id, _GRANT, "", grant)

    def renew_grant(self, server_id: str, former: str, grant: str) -> str:
        """After a refresh, on the disk at once; not where the user or another process has changed it meanwhile.

        Returns what is stored now, which with `grant` equal to `former` is all that it does. May wait for the keychain.
        """
        return self._secrets.replace_tool_secret(server_id, _GRANT, former, grant)

    def confirm(self, server_id: str, shown: str) -> bool:
        """Switch a server on. False, and off, if `shown`, which the user has seen, is not what would run."""
        with self._lock:
            server = self._known().get(server_id)
            if server is None or server.shown != shown:
                return False
            self._known()[server_id] = replace(server, confirmed=server.digest, is_on=True)
            return True

    def set_on(self, server_id: str, is_on: bool) -> None:
        """Switching on has no effect before `confirm`."""
        with self._lock:
            if server := self._known().get(server_id):
                self._known()[server_id] = replace(server, is_on=is_on and server.confirmed == server.digest)

    def remove(self, server_id: str) -> None:
        """With its secrets. No other server gets its id, by which chats and consents know its tools."""
        with self._lock:
            if self._known().pop(server_id, None) is not None:
                self._others[_REMOVED] = [*self._removed_ids, server_id][-_MOST_REMOVED:]
            self._secrets.forget_tool(server_id)
            with suppress(OSError):
                self._lock_file(server_id).unlink()

    def _lock_file(self, server_id: str) -> Path:
        return self._file.with_name(f"tool_sign_in-{server_id}.lock")

    @property
    def _removed_ids(self) -> list[str]:
        stored = self._others.get(_REMOVED)
        return [each for each in stored if isinstance(each, str)] if isinstance(stored, list) else []

    @property
    def _unknown_ids(self) -> list[str]:
        return [str(each.get("id")) for each in self._unknown if isinstance(each, dict)]

    def reach(self, server: ServerConfig) -> ServerReach:
        """With its secrets. Raises ServerFault, also where it is not this server that is on now.

        May wait for the keychain.
        """
        now = self.get(server.id)
        if now is None or not now.enabled or now.digest != server.digest:
            raise ServerFault(ServerProblem.STOPPED)
        env = {name: self._secret(server, "env", name) for name in server.env}
        headers = {name: self._secret(server, "header", name) for name in server.headers}
        if server.address:
            query = f"?{self._secret(server, 'query', '')}" if server.has_query else ""
            lock = str(self._lock_file(server.id))
            return ServerReach(address=server.address + query, headers=headers, grant=self.grant(server.id), lock=lock)
        command = server.command
        if not Path(command).is_absolute() or not find_command(command):
            raise ServerFault(ServerProblem.NO_COMMAND, PROGRAMS.get(PurePath(command).name, command))
        env |= {name: value for name, _, value in (each.partition("=") for each in server.variables)}
        return ServerReach((command, *server.args), server_environment(command, env), server.folder)

    def write(self) -> None:
        """Raises OSError."""
        with self._lock:
            if self._servers is None:
                return
            if self._is_unread:
                self._servers = self._read() | self._servers
            servers = [self._stored.get(each.id, {}) | asdict(each) for each in self._servers.values()]
            text = json.dumps(self._others | {"servers": [*servers, *self._unknown]}, indent=1)
        write_atomically(self._file, text, most_bytes=_MOST_BYTES)
        self._secrets.write()

    def _without_query(self, server: ServerConfig) -> ServerConfig:
        address, _, query = server.address.partition("?")
        if query:
            self._keep(server.id, "query", {"": query})
        return replace(server, address=address, has_query=server.has_query or bool(query))

    def _secret(self, server: ServerConfig, kind: str, name: str) -> str:
        value = self._secrets.tool_secret(server.id, kind, name)
        if value is None:
            raise ServerFault(ServerProblem.NO_SECRET, name)
        return value

    def _keep(self, server_id: str, kind: str, values: Mapping[str, str]) -> None:
        for name, value in values.items():
            is_plain = (value.isascii() and value.isprintable()) if kind == "header" else "\0" not in value
            if len(value) > _LONGEST_VALUE or not is_plain:
                raise ServerFault(ServerProblem.VALUE, name)
        for name, value in values.items():
            self._secrets.keep_tool_secret(server_id, kind, name, value)

    def _known(self) -> dict[str, ServerConfig]:
        if self._servers is None:
            self._servers = {}
            with suppress(OSError):
                self._servers = self._read()
        return self._servers

    def _read(self) -> dict[str, ServerConfig]:
        """Raises OSError where the disk fails; then nothing is overwritten. What is no such file is moved aside."""
        try:
            text = read_small(self._file, _MOST_BYTES)
            stored = json.loads(text)
            entries = _list(stored["servers"])
            self._others = {name: value for name, value in stored.items() if name != "servers"}
        except FileNotFoundError:
            entries = []
        except OSError as error:
            log.warning("the file of tool servers cannot be read: %s", error.strerror)
            self._is_unread = True
            raise
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            log.warning("the file of tool servers is damaged")
            entries = []
            with suppress(OSError):
                self._file.rename(self._file.with_name(f"{self._file.name}-aside-{time.time_ns()}"))
        self._is_unread = False
        return self._servers_in(entries)

    def _servers_in(self, entries: Iterable[Any]) -> dict[str, ServerConfig]:
        """A single wrong one is left out, but stays in the file."""
        found: dict[str, ServerConfig] = {}
        self._unknown = []
        for entry in filter(is_shallow, entries):
            server = _from_file(entry)
            if server is None or len(found) == MOST_SERVERS:
                self._unknown.append(entry)
            else:
                found[server.id] = server
                self._stored[server.id] = entry
        return found


def checked(server: ServerConfig) -> ServerConfig:
    """With bounded and plain values. Raises ServerFault: for one that cannot be a server."""
    if bool(server.command) == bool(server.address):
        raise ServerFault(ServerProblem.NO_COMMAND, "")
    words = (server.command, *server.args, server.folder, *server.variables)
    if any(len(each) > _LONGEST_WORD or "\0" in each for each in words):
        raise ServerFault(ServerProblem.VALUE, "args")
    if max(map(len, (words, server.env, server.headers))) > _MOST_WORDS:
        raise ServerFault(ServerProblem.TOO_MANY, str(_MOST_WORDS))
    if not (server.command + server.folder).isprintable() or any(each != storable(each) for each in words):
        raise ServerFault(ServerProblem.CHARACTERS, server.shown)
    address = ""
    with suppress(ValueError):
        address = in_ascii(server.address)
    if server.address and not may_be_address(address):
        raise ServerFault(ServerProblem.ADDRESS, server.address[:_LONGEST_NAME])
    steering = tuple(each.partition("=")[0] for each in server.variables)
    for names, kind in ((server.env, _VARIABLE), (steering, _VARIABLE), (server.headers, _HEADER)):
        for name in names:
            if not kind.fullmatch(name) or (kind is _VARIABLE and _RUNS_CODE.fullmatch(name)):
                raise ServerFault(ServerProblem.NAME, name[:_LONGEST_NAME])
    shown = cleaned(server.name, _LONGEST_NAME, lines=False) or PurePath(server.command).name or "server"
    return replace(server, name=shown, address=address)


def _parted(env: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Variables that are part of the command, and secrets. Raises ServerFault for one that would be both."""
    steering = {name: env[name] for name in env if _STEERS.fullmatch(name) and not _IS_SECRET.search(name)}
    for name, value in steering.items():
        if "://" in value and "@" in value:  # a password, which is neither shown nor stored
            raise ServerFault(ServerProblem.VALUE, name)
    return steering, {name: value for name, value in env.items() if name not in steering}


def _from_file(entry: Any) -> ServerConfig | None:
    """None for one that is wrong, or of another version."""
    try:
        server = ServerConfig(
            _text(entry["id"]),
            _text(entry["name"]),
            _text(entry["command"]),
            tuple(map(_text, entry["args"])),
            _text(entry["address"]),
            tuple(map(_text, entry["env"])),
            tuple(map(_text, entry["headers"])),
            entry.get("has_query") is True,  # the first versions had none
            _text(entry["folder"]),
            _text(entry["confirmed"]),
            entry["is_on"] is True,
            tuple(map(_text, entry.get("variables", ()))),
        )
        return checked(server) if _ID.fullmatch(server.id) else None
    except (ServerFault, TypeError, KeyError, AttributeError, ValueError):
        return None


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(type(value).__name__)
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return value


def _new_name(name: str, known: Iterable[ServerConfig]) -> str:
    """Unlike that of another server, and of the app, whose own tools bear its name."""
    taken = {"hunch", *(each.name.casefold() for each in known)}
    shown = cleaned(name, _LONGEST_NAME - 4, lines=False)
    names = (shown, *(f"{shown} {number}" for number in range(2, MOST_SERVERS + 3)))
    return next(each for each in names if each.casefold() not in taken) if shown else ""


def _new_id(name: str, taken: Iterable[str]) -> str:
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_ID].strip("-") or "server"
    ids = (base, *(f"{base}-{number}" for number in range(2, MOST_SERVERS + _MOST_REMOVED + 2)))
    return next(each for each in ids if each not in set(taken))
