"""Importing what the first frame does not need, a part at a time: together they would hold up the window."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from PySide6.QtCore import QObject, QTimer

# MEASURED: with what they import themselves, up to 60 ms each.
_PARTS = (
    "markdown_it",
    "app.markup.document",
    "app.markup.copying",
    "app.markup.blocks",
    "app.portable.markdown",
    "app.views.transcript",
    "app.views.shell.overlay_wiring",
    "app.views.shell.find_bar",
)


def import_in_steps(owner: QObject, done: Callable[[], None], at: int = 0) -> None:
    """One part in each turn of the event loop; nothing more once `owner` is deleted."""
    if at == len(_PARTS):
        done()
        return
    import_module(_PARTS[at])
    QTimer.singleShot(0, owner, lambda: import_in_steps(owner, done, at + 1))
