"""Folders as settings keep them: the pair that comes with the app by name, because its path may change."""

from __future__ import annotations

from pathlib import Path

from app.settings import STARTER_FOLDER


def from_setting(stored: str, starter: Path) -> str:
    if stored != STARTER_FOLDER:
        return stored
    return str(starter) if starter.is_dir() else ""


def as_setting(folder: str, starter: Path) -> str:
    """The starter folder is stored by name, because its path may change with an update."""
    return STARTER_FOLDER if folder == str(starter) else folder
