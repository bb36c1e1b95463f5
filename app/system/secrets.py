"""Hub tokens, the server's key and secrets of tool servers: in the system's keychain if there is `keyring`, or a file.

The file is separate from the settings and readable by the owner alone; its content is never logged, and moves into the
keychain once there is one. A token belongs to the origin (scheme, host and port) it was given for. The app and commands
in terminals have the same ones: what is written is put to what the others have written.
"""

from __future__ import annotations

import fcntl
import importlib
import json
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from app.system.small_file import read_small
from engine import PUBLIC_HUB, write_atomically

_SERVER = "server key"  # stored under this in place of an address
_TOOL = "tool "  # before the id of a tool server, a kind and a name
_SERVICE = "Hunch"
_NAME = "hub token"
_MOST_CHARS = 1000
_MOST_TOOL_CHARS = 250_000  # 20,000 characters as JSON
_PORTS = {"https": 443, "http": 80}

_log = logging.getLogger(__name__)


class Keychain(Protocol):
    """The interface of the module `keyring`. Each call may raise anything."""

    def get_password(self, service: str, name: str) -> str | None: ...

    def set_password(self, service: str, name: str, password: str) -> None: ...

    def delete_password(self, service: str, name: str) -> None: ...


class Secrets:
    """Reads the stored tokens at the first use. A new token applies at once.

    Tokens that cannot be read are read again at the next use, and never overwritten. Any thread may keep one; `write`
    is for one call at a time.
    """

    def __init__(self, file: Path, find_keychain: Callable[[], Keychain | None] = lambda: None) -> None:
        self._file = file
        self._find_keychain = find_keychain
        self._address: str | None = None  # the one in use when the first token was asked for
        self._stored: dict[str, str] | None = None  # by origin, the last one given comes last; None: not known
        self._is_unread = False  # the file could not be read
        self._keychain_is_read = False
        self._given: dict[str, str] = {}  # and not written yet, in the same order; "": removed
        self._lock = threading.Lock()  # of both, while they change
        self._writing = threading.Lock()

    @cached_property
    def _keychain(self) -> Keychain | None:
        return self._find_keychain()

    def token_for(self, address: str) -> str:
        """The token; "" if there is none or it is invalid. Address "": the public hub."""
        return self._known(address).get(origin_of(address), "")

    def server_key(self, address: str) -> str:
        """The key that other programs must send; "" if none is needed. `address`: of the present hub."""
        return self._known(address).get(_SERVER, "")

    def keep_server_key(self, key: str, address: str) -> None:
        self._known(address)
        self.keep(key, _SERVER)

    def origins(self, address: str) -> tuple[str, ...]:
        """Origins with a token, the latest last. `address`: of the present hub."""
        return tuple(each for each in self._known(address) if each != _SERVER and not each.startswith(_TOOL))

    def tool_secret(self, server_id: str, kind: str, name: str) -> str | None:
        """A value that a tool server gets; None if there is none."""
        stored = self._known("").get(f"{_TOOL}{server_id} {kind} {name}")
        try:
            value = json.loads(stored or "null")
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, str) else None

    def keep_tool_secret(self, server_id: str, kind: str, name: str, value: str) -> None:
        self.keep(json.dumps(value), f"{_TOOL}{server_id} {kind} {name}")

    def replace_tool_secret(self, server_id: str, kind: str, former: str, value: str) -> str:
        """Put a value without a name in the place of the former one, on the disk, unless another process or the user
        has changed it; returns what is stored then, "" if nothing is.
        """
        place = f"{_TOOL}{server_id} {kind} "
        with self._alone(), suppress(OSError):  # what cannot be written is written with the next
            self._stored = self._read()
            with self._lock:
                is_same = _merged(self._stored, self._given).get(place) == json.dumps(former)
                if is_same and value != former:
                    self._give(place, json.dumps(value))
            if value != former:
                self._write_given()
        return self.tool_secret(server_id, kind, "") or ""

    def forget_tool(self, server_id: str, kind: str = "") -> None:
        """All that it gets, or what is of one kind."""
        prefix = f"{_TOOL}{server_id} {kind} " if kind else f"{_TOOL}{server_id} "
        for each in [key for key in self._known("") if key.startswith(prefix)]:
            self.keep("", each)

    def keep(self, token: str, address: str) -> None:
        """Known from now on; `write` puts it on the disk. An empty one takes away what is known.

        What can be no token changes nothing.
        """
        origin = origin_of(address)
        if token and not _as_token(token, origin):  # the next start would not know it
            return
        seen = self._given if self._is_unread else self._known(address)
        if token or seen.get(origin):
            with self._lock:
                self._give(origin, token)

    def _give(self, origin: str, token: str) -> None:
        self._given = {each: given for each, given in self._given.items() if each != origin} | {origin: token}

    def write(self) -> None:
        """Store new tokens. Raises OSError if neither keychain nor file can be written or read."""
        if self._given:
            with self._alone():
                self._write_given()

    def _write_given(self) -> None:
        given = self._given
        stored = _merged(self._read(), given)
        self._write(_as_text(stored))
        with self._lock:
            self._stored = stored
            self._given = {each: token for each, token in self._given.items() if given.get(each) != token}

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other thread or process writes meanwhile."""
        descriptor = -1
        with self._writing:
            try:
                with suppress(OSError):  # some disks of other machines have no locks
                    descriptor = os.open(self._file.parent, os.O_RDONLY)
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
                yield
            finally:
                if descriptor >= 0:
                    os.close(descriptor)

    def _known(self, address: str) -> dict[str, str]:
        if self._address is None:
            self._address = address
        if self._stored is None:
            with suppress(OSError):
                found = self._read()
                with self._lock:
                    self._stored = found if self._stored is None else self._stored
        with self._lock:
            return _merged(self._stored or {}, self._given)

    def _read(self) -> dict[str, str]:
        """Read the stored tokens. One without an origin, of an earlier version, belongs to the present address.

        Raises OSError if the file cannot be read.
        """
        filed = self._from_file().strip()
        chained = self._from_keychain().strip()
        address = self._address or ""
        tokens = _as_tokens(chained, address) | _as_tokens(filed, address)
        text = _as_text(tokens)
        is_odd = text != (filed or chained) or (filed and self._keychain is not None)
        if tokens and is_odd and not self._given:  # else it is about to be written
            with suppress(OSError):
                self._write(text)
        return tokens

    def _write(self, text: str) -> None:
        if not self._into_keychain(text) and text:
            write_atomically(self._file, text)
        else:
            self._file.unlink(missing_ok=True)

    def _from_file(self) -> str:
        try:
            token = read_small(self._file).decode("utf-8-sig")
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError, ValueError):
            token = ""
        except OSError as error:
            _log.warning("the file of the token cannot be read: %s", error.strerror)
            self._is_unread = True
            raise
        self._is_unread = False
        return token

    def _from_keychain(self) -> str:
        self._keychain_is_read = True
        if self._keychain is None:
            return ""
        try:
            return self._keychain.get_password(_SERVICE, _NAME) or ""
        except Exception as error:  # noqa: BLE001 - of any system's keychain
            _log.warning("the keychain cannot be read: %s", type(error).__name__)
            self._keychain_is_read = False
            return ""

    def _into_keychain(self, text: str) -> bool:
        if self._keychain is None or not self._keychain_is_read:
            return False
        try:
            if text:
                self._keychain.set_password(_SERVICE, _NAME, text)
            elif self._keychain.get_password(_SERVICE, _NAME) is not None:
                self._keychain.delete_password(_SERVICE, _NAME)
        except Exception as error:  # noqa: BLE001 - of any system's keychain
            _log.warning("the keychain cannot be written: %s", type(error).__name__)
            return False
        return True


def system_keychain() -> Keychain | None:
    """The system's keychain; None if `keyring` is not installed or finds none."""
    try:
        keyring = importlib.import_module("keyring")
        has_one = keyring.get_keyring().priority >= 1
    except Exception:  # noqa: BLE001 - backends raise what they like
        return None
    return keyring if has_one else None


def origin_of(address: str) -> str:
    """Scheme, host and port in a comparable form; other addresses unchanged."""
    try:
        url = urlsplit(address or PUBLIC_HUB)
        host = url.hostname
        port = url.port
    except ValueError:
        return address
    if not (url.scheme and host):
        return address
    host = f"[{host}]" if ":" in host else host
    return f"{url.scheme}://{host}" + (f":{port}" if port not in (None, _PORTS.get(url.scheme)) else "")


def _merged(stored: dict[str, str], given: dict[str, str]) -> dict[str, str]:
    older = {origin: token for origin, token in stored.items() if origin not in given}
    return older | {origin: token for origin, token in given.items() if token}


def _as_text(tokens: dict[str, str]) -> str:
    return json.dumps(tokens) if tokens else ""


def _as_tokens(text: str, address: str) -> dict[str, str]:
    try:
        stored = json.loads(text)
    except (ValueError, RecursionError):
        stored = text
    found = stored if isinstance(stored, dict) else {origin_of(address): text}
    return {origin: token for origin, each in found.items() if (token := _as_token(each, origin))}


def _as_token(stored: Any, origin: str) -> str:
    token = stored.strip() if isinstance(stored, str) else ""
    most = _MOST_TOOL_CHARS if origin.startswith(_TOOL) else _MOST_CHARS
    return token if token.isascii() and token.isprintable() and len(token) <= most else ""
