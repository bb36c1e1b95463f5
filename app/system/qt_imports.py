"""Imports as fast as without Qt.

PySide6 reads the source of each module that is imported after it, to see whether that uses its `__feature__`s: names in
snake case, and properties. Nothing here does. MEASURED: 80 ms of the window's start, and 110 ms of importing MLX and
transformers, during which the engine's thread holds up the window.
"""

from __future__ import annotations

import sys

import PySide6.QtCore  # noqa: F401  it brings what is looked up below

_FEATURES = "shibokensupport.feature"
_READS = "_mod_uses_pyside"


def read_no_sources() -> bool:
    """Have every module count as one that uses Qt and no feature. Whether this version of PySide6 could be asked to."""
    features = sys.modules.get(_FEATURES)
    if not hasattr(features, _READS):
        return False
    setattr(features, _READS, lambda _module: True)
    return True
