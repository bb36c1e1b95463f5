"""Checks whether Qt can start here, and names a missing system library. Imports no Qt at the top.

`python -m app.system.platform_check` prints the problem and exits with 1; in English, since Qt translates.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path


def qt_problem() -> str | None:
    """Why Qt cannot start here, with what to do about it, in one line; None when it can."""
    try:
        # Asked whether they load, not used: all that the app imports besides what these import themselves.
        import PySide6.QtNetwork
        import PySide6.QtSvg
        import PySide6.QtWidgets
    except ImportError as error:
        return _sentence(error)
    return _screen_problem(_screen_plugins(Path(PySide6.__file__).parent))


def _screen_problem(plugins: list[Path]) -> str | None:
    """A problem of the screen plugins; one that loads is enough, since Qt tries one after another."""
    failures: list[OSError] = []
    for plugin in plugins:
        try:
            ctypes.CDLL(str(plugin))
            return None
        except OSError as error:
            failures.append(error)
    return _sentence(failures[0]) if failures else None


def _screen_plugins(package: Path) -> list[Path]:
    """Plugins for windows on Linux, best first; none without a screen, or if the user chose another."""
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return []
    by_screen = {"WAYLAND_DISPLAY": "libqwayland.so", "DISPLAY": "libqxcb.so"}
    folder = package / "Qt" / "plugins" / "platforms"
    return [folder / plugin for screen, plugin in by_screen.items() if os.environ.get(screen)]


def _sentence(error: ImportError | OSError) -> str:
    """The problem with the loader's message, which names the library; packages differ by distribution."""
    more = "; install the package that has it (tests/README.md lists them)" if sys.platform == "linux" else ""
    return f"Qt cannot start here: {error}{more}"


if __name__ == "__main__":
    sys.exit(qt_problem())
