"""Checks whether Qt can start here, and names a missing system library. Imports no Qt at the top.

`python -m app.system.platform_check` prints the problem and exits with 1; in English, since Qt translates.
"""

from __future__ import annotations

import ctypes
import os
import sys
from importlib.util import find_spec
from pathlib import Path


def qt_problem() -> str | None:
    """Why Qt cannot start here, with what to do about it, in one line; None when it can."""
    try:
        # Asked whether they load, not used: all that the app imports besides what these import themselves.
        import PySide6.QtNetwork
        import PySide6.QtSvg
        import PySide6.QtWidgets  # noqa: F401
    except ImportError as error:
        return _sentence(error)
    return _screen_problem(_screen_plugins())


def _screen_problem(plugins: list[Path]) -> str | None:
    """A problem of the screen plugins; one that loads is enough, since Qt tries one after another."""
    failures = [failure for plugin in plugins if (failure := _load_error(str(plugin)))]
    if not plugins or len(failures) < len(plugins):
        return None
    return _sentence(failures[0])


def _screen_plugins() -> list[Path]:
    """Plugins for windows on Linux, best first; none without a screen, or if the user chose another."""
    package = find_spec("PySide6")
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM") or package is None or package.origin is None:
        return []
    folder = Path(package.origin).parent / "Qt" / "plugins" / "platforms"
    by_screen = {"WAYLAND_DISPLAY": "libqwayland.so", "DISPLAY": "libqxcb.so"}
    return [folder / plugin for screen, plugin in by_screen.items() if os.environ.get(screen)]


def _load_error(library: str) -> OSError | None:
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return error
    return None


def _sentence(error: ImportError | OSError) -> str:
    """The problem with the loader's message, which names the library; packages differ by distribution."""
    more = "; install the package that has it (tests/README.md lists them)" if sys.platform == "linux" else ""
    return f"Qt cannot start here: {error}{more}"


if __name__ == "__main__":
    sys.exit(qt_problem())
