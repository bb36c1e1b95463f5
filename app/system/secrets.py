"""Where the hub token is kept: the system's keychain where `keyring` can be imported, else a file for the owner.

Never in the settings file, never in a log. A token in the file moves into the keychain once there is one.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Protocol

from engine import patiently, write_atomically

_SERVICE, _NAME = "Hunch", "hub token"
_MOST_CHARS = 1000

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
        self._token: str | None = None
        self._is_unread = False  # what the file holds is not known

    @cached_property
    def _keychain(self) -> Keychain | None:
        return self._find_keychain()

    @property
    def token(self) -> str:
        """Empty where there is none, or something that is no token."""
        if self._token is None:
            token = self._read()
            if self._is_unread:
                return token
            self._token = token
        return self._token

    def keep(self, token: str) -> None:
        if self._is_unread and not token:
            return
        if not self._into_keychain(token):
            self._into_file(token)
        else:
            self._file.unlink(missing_ok=True)
        self._token, self._is_unread = token, False

    def _read(self) -> str:
        filed = _as_token(self._from_file())
        if not filed:
            return _as_token(self._from_keychain())
        if self._into_keychain(filed):
            with suppress(OSError):
                self._file.unlink()
        return filed

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

    def _into_file(self, token: str) -> None:
        if token:
            write_atomically(self._file, token)
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

    def _into_keychain(self, token: str) -> bool:
        if self._keychain is None:
            return False
        try:
            if token:
                self._keychain.set_password(_SERVICE, _NAME, token)
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


def _as_token(text: str) -> str:
    token = text.strip()
    return token if token.isascii() and token.isprintable() and len(token) <= _MOST_CHARS else ""
