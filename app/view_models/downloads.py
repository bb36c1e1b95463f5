"""Downloads as plain values for their rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from engine import EngineError, FileProgress, Retry, is_drafter_folder

# owner/name, alone or in the address of one of its pages, also where the scheme was left out
_HOST = r"(?:https?://)?(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?/"
_REPOSITORY = re.compile(rf"(?:{_HOST})?(?:models/)?([\w.-]+/[\w.-]+)(?:[/?#]\S*)?", re.ASCII)
_INSIDE = re.compile(r"(?:/(?:tree|blob|resolve)/[^/?#\s]+)?/([\w.-]+)(?:[/?#]\S*)?", re.ASCII)
_NO_OWNERS = frozenset({"api", "blog", "collections", "datasets", "docs", "papers", "spaces"})  # of the public hub


class DownloadState(StrEnum):
    WAITING = "waiting"  # the hub has not reported a size yet
    RUNNING = "running"
    PAUSED = "paused"
    FAILED = "failed"
    FINISHED = "finished"  # until it is used or dismissed


UNDER_WAY = (DownloadState.WAITING, DownloadState.RUNNING, DownloadState.PAUSED)


@dataclass(frozen=True, slots=True)
class DownloadEntry:
    """One row: a model, or a main model with its draft. A cancelled or dismissed one leaves the list."""

    id: int
    repositories: tuple[str, ...]  # a pair: main model, draft
    done_bytes: int = 0
    total_bytes: int = 0  # 0: not known yet
    bytes_per_second: float = 0.0
    seconds_left: float | None = None
    retry: Retry | None = None
    waiting: str = ""  # the half that waits for `retry` while the other goes on
    files: tuple[FileProgress, ...] = ()
    state: DownloadState = DownloadState.WAITING
    error: EngineError | None = None  # of one half while the other goes on or is paused, too
    failed: str = ""  # the repository that it is of
    offline: bool = False  # paused by offline mode, until that is switched off
    page: str = ""  # where the model's terms can be accepted

    @property
    def repository(self) -> str:
        return self.repositories[0]


def share_done(entries: Sequence[DownloadEntry]) -> float:
    """Of all bytes that these take, as far as their sizes are known."""
    total_bytes = sum(entry.total_bytes for entry in entries)
    return min(1.0, sum(entry.done_bytes for entry in entries) / total_bytes) if total_bytes else 0.0


def repository_in(text: str) -> str:
    """The repository in a name or in the address of a page; "" for anything else.

    With the folder of a drafter within its main model's: "org/name/mtp". The hub knows whether it exists.
    """
    found = _REPOSITORY.fullmatch(text.strip())
    if found is None or found[1].partition("/")[0] in _NO_OWNERS:
        return ""
    inside = _INSIDE.fullmatch(text.strip()[found.end(1) :])
    return f"{found[1]}/{inside[1]}" if inside and is_drafter_folder(inside[1]) else found[1]


def revision_in(text: str) -> str:
    """The branch, tag or commit in the address of a page; "" if it has none."""
    repository = "/".join(repository_in(text).split("/")[:2])
    found = re.search(rf"{re.escape(repository)}/(?:tree|blob|resolve)/([^/?#\s]+)", text) if repository else None
    return unquote(found[1]) if found else ""
