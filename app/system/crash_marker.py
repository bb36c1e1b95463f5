"""Whether the last run ended well. A small file stands while the app runs and says which model it is loading."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from engine import patiently, write_atomically

log = logging.getLogger(__name__)


class SessionMark:
    """`ended_badly`: the file was still there. `was_loading`: the model that was being loaded then, or ""."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.ended_badly = os.path.lexists(file)  # raises nothing, whatever the disk says
        self.was_loading = _content(file)
        self._written: str | None = None
        self.set_loading("")

    def set_loading(self, folder: str) -> None:
        """Where the disk does not take the mark, the next start only knows less."""
        if folder != self._written:
            try:
                write_atomically(self._file, folder)
            except OSError as error:
                log.info("the mark of this run cannot be written: %s", error.strerror)
            self._written = folder

    def end(self) -> None:
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:
            log.info("the mark of this run cannot be removed: %s", error.strerror)


def _content(file: Path) -> str:
    """The path in it; nothing where it is no path, as after a damage."""
    try:
        folder = patiently(lambda: file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return folder if folder.isprintable() else ""
