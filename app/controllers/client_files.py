"""Files of other programs, written for them when the user has seen what changes, and as they were again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.client_files import client_file
from app.client_files.client_file import Proposal, Refusal, Refused, Written
from app.system.worker import Worker
from app.words.clients import CLIENTS, Reached

_T = TypeVar("_T")


class ClientFiles(QObject):
    proposed = Signal(str, object)  # key of a client, Proposal: for the user to look at
    changed = Signal(str)  # what is known of a client's file

    def __init__(self, post: Callable[[Callable[[], None]], None], home: Path, parent: QObject | None = None) -> None:
        """`post` has a call made on the GUI thread."""
        super().__init__(parent)
        self._post = post
        self._home = home
        self._written: dict[str, Written] = {}
        self._refused: dict[str, Refusal] = {}

    def path(self, client: str) -> Path | None:
        """Of the file that can be written for it; None: there is none."""
        file = CLIENTS[client].file
        return None if file is None else self._home / file.path

    def written(self, client: str) -> Written | None:
        """What can be taken back."""
        return self._written.get(client)

    def refused(self, client: str) -> Refusal | None:
        """Why the latest that was asked for was not done."""
        return self._refused.get(client)

    def propose(self, client: str, reached: Reached) -> None:
        wanted = CLIENTS[client].wanted(reached, self._home)
        if wanted is not None:
            self._ask(client, partial(client_file.proposed, wanted), partial(self.proposed.emit, client))

    def write(self, client: str, proposal: Proposal) -> None:
        self._ask(client, partial(client_file.write, proposal), partial(self._written.__setitem__, client))

    def undo(self, client: str) -> None:
        if (written := self._written.get(client)) is not None:
            self._ask(client, partial(client_file.undo, written), lambda _: self._written.pop(client, None))

    def _ask(self, client: str, job: Callable[[], _T], done: Callable[[_T], object]) -> None:
        """On a thread of its own, since a home may lie on a slow disk."""

        def finish(outcome: _T) -> None:
            self._refused.pop(client, None)
            done(outcome)
            self.changed.emit(client)

        def fail(error: Exception) -> None:
            if not isinstance(error, Refused):
                raise error
            self._refused[client] = error.why
            self.changed.emit(client)

        worker = Worker("file of another program", self._post)
        worker.ask(job, finish, fail)
        worker.close(0.0)  # after that
