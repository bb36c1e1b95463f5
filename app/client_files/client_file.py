"""The file of another program: what it would say with what is wanted of it, written when the user has seen that.

A file that is not read as its program does, or cannot be changed without losing something, is not touched.
"""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.client_files import jsonc_text, toml_text, yaml_text
from app.client_files.merging import NotKept, Unreadable, merged
from app.system.small_file import read_small
from engine import remove_unfinished, write_atomically

_MOST_BYTES = 1 << 18
_MOST_COPIES = 20
_AROUND = 2  # lines that are shown beside those that change


@dataclass(frozen=True, slots=True)
class _Format:
    parsed: Callable[[str], Any]
    edited: Callable[[str, dict[str, Any]], str]
    written: Callable[[dict[str, Any]], str]


_YAML = _Format(yaml_text.parsed, yaml_text.edited, yaml_text.written)
_FORMATS = {
    ".json": _Format(jsonc_text.parsed, jsonc_text.edited, jsonc_text.written),
    ".toml": _Format(toml_text.parsed, toml_text.edited, toml_text.written),
    ".yaml": _YAML,
    ".yml": _YAML,
}


class Refusal(StrEnum):
    """Why a file is not changed."""

    UNREADABLE = "unreadable"
    NOT_KEPT = "not_kept"  # something else would be lost
    SAME = "same"  # it says so already
    OTHER = "other"  # since it was looked at
    DISK = "disk"  # or no permission


class Refused(Exception):
    def __init__(self, why: Refusal) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a program's file is to have. `alone`: besides, where there is no file yet."""

    path: Path
    change: dict[str, Any]
    alone: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Proposal:
    path: Path
    file: Path  # which that is, or leads to
    former: bytes | None  # None: there is none yet
    content: bytes

    @property
    def lines(self) -> list[str]:
        """What changes, as editors show it: "+" before new lines, "-" before those that go."""
        before, after = ((data or b"").decode().splitlines() for data in (self.former, self.content))
        compared = list(difflib.unified_diff(before, after, lineterm="", n=_AROUND))[2:]
        return [("…" if line.startswith("@@") else line) for line in compared][1:]


@dataclass(frozen=True, slots=True)
class Written:
    proposal: Proposal
    copy: Path | None  # of the former file, beside it


def proposed(wanted: Wanted) -> Proposal:
    """Raises Refused."""
    with _refusals():
        file = wanted.path.resolve()
        former = _read(file)
        if former is not None and not os.access(file, os.W_OK):
            raise Refused(Refusal.DISK)
        content = _with(former.decode() if former else "", wanted).encode()
    if content == former:
        raise Refused(Refusal.SAME)
    return Proposal(wanted.path, file, former, content)


def write(proposal: Proposal) -> Written:
    """Raises Refused."""
    file, former = proposal.file, proposal.former
    with _refusals():
        if _read(file) != former or proposal.path.resolve() != file:
            raise Refused(Refusal.OTHER)
        _clean(file)
        copy = None if former is None else _keep(file, former)
        write_atomically(file, proposal.content, mode=_mode(file))
    return Written(proposal, copy)


def undo(written: Written) -> None:
    """As it was before, unless it has been changed since then. Raises Refused."""
    file, former = written.proposal.file, written.proposal.former
    with _refusals():
        if _read(file) != written.proposal.content:
            raise Refused(Refusal.OTHER)
        _clean(file)
        if former is None:
            file.unlink()
        else:
            write_atomically(file, former, mode=_mode(file))
        if written.copy is not None and _read(written.copy) == former:
            written.copy.unlink()


def _with(text: str, wanted: Wanted) -> str:
    """Raises Unreadable or NotKept, also where the result would not be read as it is meant."""
    form = _FORMATS[wanted.path.suffix]
    if not text.strip():
        return form.written(wanted.alone | wanted.change)
    present = form.parsed(text)
    if not isinstance(present, dict):
        raise Unreadable
    expected = merged(present, wanted.change)
    windows = text.count("\r\n") == text.count("\n") > 0
    after = form.edited(text.replace("\r\n", "\n") if windows else text, wanted.change)
    after = after.replace("\n", "\r\n") if windows else after
    with suppress(Unreadable):
        if form.parsed(after) == expected:
            return after
    raise NotKept


def _keep(file: Path, former: bytes) -> Path:
    """A copy of it beside it; of several with other content each has a name."""
    for number in range(1, _MOST_COPIES + 1):
        copy = file.with_name(f"{file.name}.before-hunch{f'-{number}' if number > 1 else ''}")
        known = _read(copy)
        if known is None:
            write_atomically(copy, former, mode=_mode(file))
        if known is None or known == former:
            return copy
    raise Refused(Refusal.DISK)


def _clean(file: Path) -> None:
    """What a killed process has left of it and of its copies, with a key in it perhaps."""
    with suppress(OSError):
        remove_unfinished(file.parent, f"{file.name}.")


def _read(file: Path) -> bytes | None:
    """None: there is none. Raises OSError or ValueError."""
    try:
        return read_small(file, _MOST_BYTES)
    except FileNotFoundError:
        return None


def _mode(file: Path) -> int | None:
    return stat.S_IMODE(file.stat().st_mode) if file.exists() else None


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except NotKept as error:
        raise Refused(Refusal.NOT_KEPT) from error
    except (Unreadable, ValueError) as error:
        raise Refused(Refusal.UNREADABLE) from error
    except (OSError, RuntimeError) as error:  # a link may lead to itself
        raise Refused(Refusal.DISK) from error
