"""What a caller may count on, as protocols: the app is written against these, and a scripted engine can stand in.

Every method may be called from any thread and returns at once; what happens later arrives at the sink as events.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from engine.api.events import Sink
from engine.api.types import DownloadId, Request, RequestId


class ChatEngine(Protocol):
    """Loads models and writes replies."""

    def load(self, folder: Path | str, sink: Sink, draft: Path | str | None = None) -> None: ...

    def set_draft(self, folder: Path | str | None, sink: Sink) -> None: ...

    def unload(self, sink: Sink) -> None: ...

    def submit(self, request: Request, sink: Sink) -> RequestId: ...

    def cancel(self, request: RequestId) -> None: ...

    def close(self, timeout_s: float = 10.0) -> bool: ...


class ModelLibrary(Protocol):
    """Knows what models are on disk and fetches new ones. One sink, given at construction, hears everything.

    A download that was paused or failed goes on where it was when its repository is installed again, under a new id;
    cancelling it instead removes what it kept and reports DownloadStopped. The first scan reports downloads that an
    earlier run of the program left behind as DownloadStopped, too.
    """

    def scan(self) -> None: ...

    def install(self, repository: str, revision: str = "main") -> DownloadId: ...

    def pause(self, download: DownloadId) -> None: ...

    def cancel(self, download: DownloadId) -> None: ...

    def delete(self, folder: Path | str) -> None: ...

    def set_hub(self, endpoint: str | None, token: str | None) -> None: ...

    def set_folders(self, folders: Sequence[Path | str]) -> None: ...

    def close(self, timeout_s: float = 10.0) -> bool: ...
