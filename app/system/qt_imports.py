"""Imports as fast as without Qt.

PySide6 reads the source of each module that is imported after it, to see whether that uses its `__feature__`s: names in
snake case, and properties. Nothing here does. MEASURED: 80 ms of the window's start, and 110 ms of importing MLX and
transformers, during which the engine's thread holds up the window.
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
    "app.views.transcript",
    "app.views.shell.overlay_menu",
    "app.views.shell.find_bar",
)


def read_no_sources() -> bool:
    """Have every module count as one that uses Qt and no feature. Whether this version of PySide6 could be asked to."""
    features = sys.modules.get(_FEATURES)
    if not hasattr(features, _READS):
        return False
    setattr(features, _READS, lambda _module: True)
    return True


def import_in_steps(owner: QObject, done: Callable[[], None], at: int = 0) -> None:
    """What the first frame does not need, a part a turn of the event loop; nothing more once `owner` is deleted."""
    if at == len(_PARTS):
        done()
        return
    import_module(_PARTS[at])
    QTimer.singleShot(0, owner, lambda: import_in_steps(owner, done, at + 1))
