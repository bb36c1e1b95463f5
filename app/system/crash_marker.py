"""Whether the last run ended cleanly: a small file that exists while the app runs, with the model that is loading."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path

from app.system.small_file import read_small
from engine import Event, ModelFailed, ModelLoading, ModelReady, ModelRole, write_atomically

_DRAFT = "draft:"  # prefix of a draft's folder

log = logging.getLogger(__name__)


class SessionMark:
    """`ended_badly`: the file of the last run still existed. `was_loading`: the model in it, or "". `was_draft`: it was
    loading as the draft.

    Written by the engine's thread and one of the app's, by neither after the end.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.ended_badly = os.path.lexists(file)  # raises nothing, whatever the disk says
        content = _content(file)
        self.was_loading = content.removeprefix(_DRAFT)
        self.was_draft = content.startswith(_DRAFT)
        self._written: str | None = None
        self._loading = ModelRole.MAIN, ""
        self._ended = False
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Not on the GUI thread, since it waits for the disk."""
        with self._lock:
            if self._written is None:
                self._write("")

    def note(self, event: Event) -> None:
        """On the engine's thread, when it posts the event: a load continues once the file is written."""
        match event:
            case ModelLoading(role=role, folder=folder):
                self._loading = role, folder
                self.set_loading(_DRAFT + folder if role is ModelRole.DRAFT else folder)
            case ModelReady(role=role) if self._loading[0] is role:
                self.set_loading("")
            case ModelFailed(role=role, began=True) if self._loading[0] is role:
                self.set_loading("")

    def set_loading(self, folder: str) -> None:
        with self._lock:
            if folder != self._written:
                self._write(folder)

    def end(self) -> None:
        with self._lock:
            self._ended = True
            try:
                self._file.unlink(missing_ok=True)
            except OSError as error:
                log.info("the mark of this run cannot be removed: %s", error.strerror)

    def _write(self, folder: str) -> None:
        """A failure only means that the next start knows less."""
        if self._ended:
            return
        try:
            write_atomically(self._file, folder.encode("utf-8", "replace"))
        except OSError as error:
            log.info("the mark of this run cannot be written: %s", error.strerror)
        self._written = folder


def _content(file: Path) -> str:
    """The model's path in the file; "" if it is damaged."""
    try:
        folder = read_small(file).decode("utf-8")
    except (OSError, ValueError):
        return ""
    return "" if any(each < " " for each in folder) else folder
