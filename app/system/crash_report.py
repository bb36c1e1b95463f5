"""What a hard crash of an earlier run left: the stacks of its threads, with places in the source and no words."""

from __future__ import annotations

import time
from pathlib import Path

from app.system.failures import CRASHES
from app.system.small_file import read_small

EARLIER = "earlier-crash.log"


def put_aside(folder: Path) -> None:
    """Of the run before; the one that was put aside earlier stays where that run has left none. Raises OSError."""
    file = folder / CRASHES
    if file.is_file() and file.stat().st_size:
        file.replace(folder / EARLIER)


def earlier_crash(folder: Path) -> str:
    """When it was, and the stacks; "" where there was none."""
    file = folder / EARLIER
    try:
        moment = time.strftime("%Y-%m-%d %H:%M", time.localtime(file.stat().st_mtime))
        return f"{moment}\n{read_small(file).decode('utf-8', 'replace').strip()}"
    except (OSError, ValueError):
        return ""
