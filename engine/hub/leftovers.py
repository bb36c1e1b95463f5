"""What an earlier run of the program left under `.downloads`: bytes to go on with, a last step to finish, rubbish.

What another process is at work on is none of that, and is left alone.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.hub.locks import Busy, alone_with, remove_unheld
from engine.hub.repository import is_source
from engine.hub.staging import (
    RECORD,
    STAGING,
    TRASH,
    kept_bytes,
    new_trash,
    recorded,
    recorded_bytes,
    recover,
    remove,
    staging_of,
    target_of,
)

_log = logging.getLogger(__name__)


def clean_up(root: Path) -> None:
    """Finishes installations that only lacked their last step, and deletes what was on its way out."""
    for trash in root.glob(f"{STAGING}/{TRASH}*"):
        with _told():
            remove(trash)
    for repository in _recorded(root):
        with _told(), suppress(Busy), alone_with(root, repository):
            recover(root, repository)
            if target_of(root, repository).exists() and not kept_bytes(root, repository):  # it was finished
                remove(staging_of(root, repository))
    remove_unheld(root)


@contextmanager
def _told() -> Iterator[None]:
    """What cannot be put in order does not keep the rest from it."""
    try:
        yield
    except OSError as error:
        _log.warning("What an earlier run left stays for now: %s", error)


def unfinished(root: Path) -> Iterator[str]:
    """Repositories that a later try can go on with."""
    for repository in _recorded(root):
        with suppress(Busy), alone_with(root, repository):
            yield repository


def known_total_bytes(root: Path, repository: str) -> int:
    """What the hub told of a download's size, when it was asked."""
    return recorded_bytes(staging_of(root, repository), "total_bytes")


def set_aside(root: Path, repository: str) -> Path | None:
    """Takes a download out of the way, unless somebody else goes on with it; deleting it may take longer."""
    staging, trash = staging_of(root, repository), new_trash(root)
    if not os.path.lexists(staging):
        return None
    with suppress(Busy, FileNotFoundError), alone_with(root, repository, time.sleep):
        staging.rename(trash)
        return trash
    return None


def _recorded(root: Path) -> Iterator[str]:
    for record in sorted(root.glob(f"{STAGING}/*/{RECORD}")):
        repository = recorded(record.parent).get("repository")
        if is_source(repository) and record.parent == staging_of(root, str(repository)):
            yield str(repository)
