"""Models loaded in one go, on the test's own thread; the engine loads them in slices."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, TypeVar

from engine.models.loading import LoadedModel, loading, loading_draft

Result = TypeVar("Result")


def load_model(folder: Path | str) -> LoadedModel:
    """Raises a ModelError that says why it cannot be used."""
    return at_once(loading(folder))


def load_draft(folder: Path | str, main: LoadedModel) -> LoadedModel:
    """One that is to draft for `main`."""
    return at_once(loading_draft(folder, main))


def at_once(slices: Generator[Any, None, Result]) -> Result:
    while True:
        try:
            next(slices)
        except StopIteration as done:
            result: Result = done.value
            return result
