"""Where hub tokens are kept: the system's keychain where `keyring` can be imported, else a file for the owner.

Never in the settings file, never in a log. What is in the file moves into the keychain once there is one. Each token
belongs to the origin (scheme, host and port) that it was given for, and is told for no other.
"""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from engine import PUBLIC_HUB, patiently, write_atomically

_SERVICE, _NAME = "Hunch", "hub token"
_MOST_CHARS = 1000
_PORTS = {"https": 443, "http": 80}

_log = logging.getLogger(__name__)


class Keychain(Protocol):
    """As the module `keyring` has it. Each may raise anything: a locked keychain, or none."""

    def get_password(self, service: str, name: str) -> str | None: ...

    def set_password(self, service: str, name: str, password: str) -> None: ...

    def delete_password(self, service: str, name: str) -> None: ...


class Secrets:
    """Reads once, and looks for a keychain no earlier. Writing raises OSError where not even a file can be written.

    A file that the disk does not give is asked for again the next time, and stays when no token is put in its place.
    """

    def __init__(self, file: Path, find_keychain: Callable[[], Keychain | None] = lambda: None) -> None:
        self._file = file
        self._find_keychain = find_keychain
        self._tokens: dict[str, str] | None = None  # by origin, the last one given comes last
        self._is_unread = False  # what the file holds is not known

    @cached_property
    def _keychain(self) -> Keychain | None:
        return self._find_keychain()

    def token_for(self, address: str) -> str:
        """Empty where there is none, or something that is no token. An address of "" is the public hub."""
        return self._known(address).get(origin_of(address), "")

    def origins(self, address: str) -> tuple[str, ...]:
        """Of all tokens that are kept, the last one given comes last. `address`: the one in use now."""
        return tuple(self._known(address))

    def keep(self, token: str, address: str) -> Callable[[], None]:
        """Known from now on; what is returned writes it, by whichever thread, one after another."""
        if self._is_unread and not token:  # nobody could see what would be deleted
            return lambda: None
        tokens = {origin: each for origin, each in self._known(address).items() if origin != origin_of(address)}
        if token:
            tokens[origin_of(address)] = token
        self._tokens, self._is_unread = tokens, False
        return partial(self._write, _as_text(tokens))

    def _known(self, address: str) -> dict[str, str]:
        if self._tokens is None:
            tokens = self._read(address)
            if self._is_unread:
                return tokens
            self._tokens = tokens
        return self._tokens

    def _read(self, address: str) -> dict[str, str]:
        """A token without an origin was written by an earlier version, for the `address` in use; now it is bound."""
        filed, chained = self._from_file().strip(), self._from_keychain().strip()
        tokens = _as_tokens(chained, address) | _as_tokens(filed, address)
        text = _as_text(tokens)
        if tokens and not self._is_unread and (text != (filed or chained) or (filed and self._keychain is not None)):
            with suppress(OSError):
                self._write(text)
        return tokens

    def _write(self, text: str) -> None:
        if self._into_keychain(text):
            self._file.unlink(missing_ok=True)
        else:
            self._into_file(text)

    def _from_file(self) -> str:
        try:
            token = patiently(lambda: self._file.read_text(encoding="utf-8"))
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError, ValueError):
            token = ""
        except OSError as error:
            _log.warning("the file of the token cannot be read: %s", error.strerror)
            self._is_unread = True
            return ""
        self._is_unread = False
        return token

    def _into_file(self, text: str) -> None:
        if text:
            write_atomically(self._file, text)
        else:
            self._file.unlink(missing_ok=True)

    def _from_keychain(self) -> str:
        if self._keychain is None:
            return ""
        try:
            return self._keychain.get_password(_SERVICE, _NAME) or ""
        except Exception as error:  # noqa: BLE001 - of any system's keychain
            _log.warning("the keychain cannot be read: %s", type(error).__name__)
            return ""

    def _into_keychain(self, text: str) -> bool:
        if self._keychain is None:
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
    """None where `keyring` is not installed, or knows no keychain of this system."""
    try:
        keyring = importlib.import_module("keyring")
        has_one = keyring.get_keyring().priority >= 1
    except Exception:  # noqa: BLE001 - backends raise what they like
        return None
    return keyring if has_one else None


def origin_of(address: str) -> str:
    """Scheme, host and port, as they are compared; an address that has none stands for itself."""
    try:
        url = urlsplit(address or PUBLIC_HUB)
        host, port = url.hostname, url.port
    except ValueError:
        return address
    if not (url.scheme and host):
        return address
    host = f"[{host}]" if ":" in host else host
    return f"{url.scheme}://{host}" + (f":{port}" if port not in (None, _PORTS.get(url.scheme)) else "")


def _as_text(tokens: dict[str, str]) -> str:
    return json.dumps(tokens) if tokens else ""


def _as_tokens(text: str, address: str) -> dict[str, str]:
    try:
        stored = json.loads(text)
    except (ValueError, RecursionError):
        stored = text
    found = stored if isinstance(stored, dict) else {origin_of(address): text}
    return {origin: token for origin, each in found.items() if (token := _as_token(each))}


def _as_token(stored: Any) -> str:
    token = stored.strip() if isinstance(stored, str) else ""
    return token if token.isascii() and token.isprintable() and len(token) <= _MOST_CHARS else ""
