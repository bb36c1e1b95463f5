"""Models loaded in one go, on the test's own thread; the engine loads them in slices."""

from __future__ import annotations

from pathlib import Path

from engine.models.loading import LoadedModel, Slices, loading, loading_draft


def load_model(folder: Path | str) -> LoadedModel:
    """Raises a ModelError that says why it cannot be used."""
    return at_once(loading(folder))


def load_draft(folder: Path | str, main: LoadedModel) -> LoadedModel:
    """One that is to draft for `main`."""
    return at_once(loading_draft(folder, main))


def at_once(slices: Slices) -> LoadedModel:
    while True:
        try:
            next(slices)
        except StopIteration as done:
            loaded: LoadedModel = done.value
            return loaded
