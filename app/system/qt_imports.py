"""Speeds up imports after PySide6.

PySide6 reads the source of each later imported module for `__feature__`s (snake case, properties), which nothing here
uses. MEASURED: 80 ms of the window's start, and 110 ms of importing MLX and transformers, during which the engine's
thread holds up the window.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

import PySide6.QtCore  # noqa: F401  it brings what is looked up below
from PySide6.QtCore import QObject, QTimer

_FEATURES = "shibokensupport.feature"
_READS = "_mod_uses_pyside"
# MEASURED: with what they import themselves, up to 60 ms each.
_PARTS = (
    "markdown_it",
    "app.markup.document",
    "app.markup.copying",
    "app.markup.blocks",
    "app.portable.markdown",
    "app.controllers.tool_servers",
    "app.views.transcript",
    "app.views.shell.overlay_menu",
    "app.views.shell.find_bar",
)


def read_no_sources() -> bool:
    """Make PySide6 skip reading sources. Returns whether this version of PySide6 allows it."""
    features = sys.modules.get(_FEATURES)
    if not hasattr(features, _READS):
        return False
    setattr(features, _READS, lambda _module: True)
    return True


def import_in_steps(owner: QObject, done: Callable[[], None], at: int = 0) -> None:
    """Import modules that the first frame does not need, one a turn of the event loop, until `owner` is deleted."""
    if at == len(_PARTS):
        done()
        return
    import_module(_PARTS[at])
    QTimer.singleShot(0, owner, lambda: import_in_steps(owner, done, at + 1))
