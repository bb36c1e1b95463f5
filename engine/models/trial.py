"""How the process that tries a new model is started: by Python, or by an app that is its own interpreter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

TRY_MODEL = "--try-model"  # the first argument of such an app; the second is the folder


def command(folder: Path) -> list[str]:
    """In an app that was made one file, or has a starter of its own, `sys.executable` is that and takes no `-m`."""
    is_python = not getattr(sys, "frozen", False) and Path(sys.executable).name.lower().startswith("python")
    how = ["-P", "-m", "engine.models.first_use_child"] if is_python else [TRY_MODEL]
    return [sys.executable, *how, str(folder)]


def try_model(folder: Path) -> NoReturn:
    """Tries a folder's tokenizer and chat template, and ends the process with the answer."""
    from engine.models.first_use_child import run

    run(folder)
