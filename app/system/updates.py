"""The notice of a new version: its limits, its signature, and how this copy of Hunch is updated.

INVARIANT: a notice is text. Nothing is downloaded or run for it; its page is below `Channel.pages`.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.system.bundle import own_bundle

_VERSION = re.compile(r"\d{1,5}(?:\.\d{1,5}){1,3}")
_PAGE = re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
_LANGUAGE = re.compile(r"[A-Za-z_]{2,10}")
# characters and lines: it is a dialog's text, and the page has more
_MOST_NOTE = 400
_MOST_LINES = 8
_MOST_LANGUAGES = 20
_MOST_NOTICE = 100_000
_CASKS = ("/opt/homebrew/Caskroom", "/usr/local/Caskroom")


@dataclass(frozen=True, slots=True)
class Channel:
    """Where notices are published, their public key, and the address of their pages."""

    address: str
    pages: str
    public_key: bytes


# None: this build asks for no notice and shows no switch for it. A release sets it, with the public key that
# `packaging/sign_notice.py new-key` printed: Channel("https://…/notice.json", "https://…/", bytes.fromhex("…")).
CHANNEL: Channel | None = None


class NotANotice(Exception):
    """The notice is invalid. Its message contains nothing of the notice."""


@dataclass(frozen=True, slots=True)
class UpdateNotice:
    version: str
    page: str  # a path
    notes: Mapping[str, str] = field(default_factory=dict)  # by language

    def notes_in(self, language: str) -> str:
        return self.notes.get(language) or self.notes.get("en", "")


def read_answer(answer: object, public_key: bytes) -> UpdateNotice:
    """Of `{"notice": …, "signature": …}`. Raises NotANotice."""
    from cryptography.exceptions import InvalidSignature  # loaded only where there is a notice
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not isinstance(answer, dict):
        raise NotANotice("no object")
    text = answer.get("notice")
    signature = answer.get("signature")
    if not isinstance(text, str) or not isinstance(signature, str) or len(text) > _MOST_NOTICE:
        raise NotANotice("a field is missing")
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(base64.b64decode(signature, validate=True), text.encode())
    except (InvalidSignature, ValueError):  # a lone surrogate, too
        raise NotANotice("not signed by Hunch") from None
    return notice_of(text)


def notice_of(text: str) -> UpdateNotice:
    """Raises NotANotice."""
    try:
        values = json.loads(text)
        version = values["version"]
        page = values["page"]
        notes = values.get("notes", {})
        languages = [_LANGUAGE.fullmatch(each) for each in notes]
        said = [len(each) <= _MOST_NOTE and len(each.splitlines()) <= _MOST_LINES for each in notes.values()]
        fits = _VERSION.fullmatch(version) and _PAGE.fullmatch(page) and all(languages) and all(said)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NotANotice(type(error).__name__) from error
    if not fits or len(notes) > _MOST_LANGUAGES:
        raise NotANotice("a field that cannot be")
    return UpdateNotice(version, page, dict(notes))


def is_newer(version: str, than: str) -> bool:
    """Whether it is newer. A version that is not a list of numbers is not older: its user built it."""
    return all(map(_VERSION.fullmatch, (version, than))) and _numbers(version) > _numbers(than)


def _numbers(version: str) -> list[int]:
    numbers = [int(each) for each in version.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


def update_command(prefix: str = sys.prefix, executable: str = sys.executable, casks: tuple[str, ...] = _CASKS) -> str:
    """The terminal command that updates this copy; "" if it is downloaded from the page."""
    parts = Path(prefix).parts
    for folder, tool in ((("uv", "tools"), "uv tool"), (("pipx", "venvs"), "pipx")):
        for at in range(len(parts) - 2):
            if parts[at : at + 2] == folder:
                return f"{tool} upgrade {parts[at + 2]}"
    if own_bundle(executable) is not None and any(Path(each, "hunch").is_dir() for each in casks):
        return "brew upgrade --cask hunch"
    return ""
