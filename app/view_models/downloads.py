"""Downloads as plain values for their rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine import EngineError, FileProgress, Retry


class DownloadState(StrEnum):
    WAITING = "waiting"  # the hub has not told a size yet
    RUNNING = "running"
    PAUSED = "paused"
    FAILED = "failed"
    FINISHED = "finished"  # until it is used or dismissed


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
    files: tuple[FileProgress, ...] = ()
    state: DownloadState = DownloadState.WAITING
    error: EngineError | None = None
    page: str = ""  # where the model's terms can be accepted

    @property
    def repository(self) -> str:
        return self.repositories[0]
