"""Reports of exceptions without their texts, which may contain the user's data; and notes of a failed start.

Imports no package at the top: one may be missing.
"""

from __future__ import annotations

import os
from pathlib import Path
from traceback import extract_tb

CRASHES = "crash.log"  # of the present run, in the folder of logs


def kind_of(error: BaseException) -> str:
    """The kind of an exception, and what the system says of it."""
    detail = error.strerror if isinstance(error, OSError) else getattr(error, "sqlite_errorname", None)
    return f"{type(error).__name__}: {detail}" if detail else type(error).__name__


def places(error: BaseException) -> str:
    """Kinds and source positions of an exception and its causes."""
    lines: list[str] = []
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        frames = extract_tb(cause.__traceback__)
        lines += [kind_of(cause), *(f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)]
        cause = cause.__cause__ or cause.__context__
    return "\n".join(lines)


def note_failed_start(profile: Path | None, words: str) -> None:
    """Write the error where the launcher's alert looks for it: an app started by the Dock has no terminal."""
    try:
        from app.system.paths import Paths

        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK  # does not block on a pipe
        with os.fdopen(os.open(Paths.for_user(profile).logs / CRASHES, flags, 0o600), "a", encoding="utf-8") as file:
            file.write(f"{words}\n")
    except (ImportError, OSError):
        return  # which the alert says
