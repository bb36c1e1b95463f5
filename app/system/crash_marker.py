"""Whether the last run ended well. A small file stands while the app runs and says which model it is loading."""

from __future__ import annotations

from pathlib import Path

from engine import write_atomically


class SessionMark:
    """`ended_badly`: the file was still there. `was_loading`: the model that was being loaded then, or ""."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.ended_badly = file.exists()
        self.was_loading = file.read_text(encoding="utf-8") if self.ended_badly else ""
        self._written: str | None = None
        self.set_loading("")

    def set_loading(self, folder: str) -> None:
        if folder != self._written:
            write_atomically(self._file, folder)
            self._written = folder

    def end(self) -> None:
        self._file.unlink(missing_ok=True)
