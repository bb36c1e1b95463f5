"""Checks whether Qt can start on this machine, and names the missing system library if not. Imports no Qt at the top.

`python -m app.system.platform_check` prints that line and ends with 1. Qt is not there to translate it, so it is in
English.
"""

from __future__ import annotations

import ctypes
import os
import sys
from importlib.util import find_spec
from pathlib import Path

# What the PySide6 wheel for Linux expects from the system, and the packages of Debian and of Fedora that have it.
LIBRARIES = {
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libEGL.so.1": ("libegl1", "libglvnd-egl"),
    "libGL.so.1": ("libgl1", "libglvnd-glx"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    "libX11.so.6": ("libx11-6", "libX11"),
    "libzstd.so.1": ("libzstd1", "libzstd"),
    "libbrotlidec.so.1": ("libbrotli1", "libbrotli"),
    "libgssapi_krb5.so.2": ("libgssapi-krb5-2", "krb5-libs"),
}
# What its plugins for a screen expect on top of that.
SCREEN_LIBRARIES = {
    "libqxcb.so": {
        "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
        "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb"),
        "libxcb.so.1": ("libxcb1", "libxcb"),
        "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
        "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
        "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
        "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
        "libxcb-randr.so.0": ("libxcb-randr0", "libxcb"),
        "libxcb-render.so.0": ("libxcb-render0", "libxcb"),
        "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
        "libxcb-shape.so.0": ("libxcb-shape0", "libxcb"),
        "libxcb-shm.so.0": ("libxcb-shm0", "libxcb"),
        "libxcb-sync.so.1": ("libxcb-sync1", "libxcb"),
        "libxcb-util.so.1": ("libxcb-util1", "xcb-util"),
        "libxcb-xfixes.so.0": ("libxcb-xfixes0", "libxcb"),
        "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb"),
    },
    "libqwayland.so": {
        "libwayland-client.so.0": ("libwayland-client0", "libwayland-client"),
        "libwayland-cursor.so.0": ("libwayland-cursor0", "libwayland-cursor"),
    },
}


def qt_problem() -> str | None:
    """Why Qt cannot start here, with what to do about it, in one line; None when it can."""
    try:
        # Asked whether they load, not used: all that the app imports besides what these import themselves.
        import PySide6.QtNetwork
        import PySide6.QtSvg
        import PySide6.QtWidgets  # noqa: F401
    except ImportError as error:
        return _sentence(_missing(LIBRARIES), error)
    return _screen_problem(_screen_plugins())


def _screen_problem(plugins: list[Path]) -> str | None:
    """Qt falls back from one plugin to the next, so one that loads is enough."""
    failures = [failure for plugin in plugins if (failure := _load_error(str(plugin)))]
    if not plugins or len(failures) < len(plugins):
        return None
    return _sentence(_missing(SCREEN_LIBRARIES[plugins[0].name]), failures[0])


def _screen_plugins() -> list[Path]:
    """With what Qt may open a window on Linux, best first; none without a screen, or where the user chose another."""
    package = find_spec("PySide6")
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM") or package is None or package.origin is None:
        return []
    folder = Path(package.origin).parent / "Qt" / "plugins" / "platforms"
    by_screen = {"WAYLAND_DISPLAY": "libqwayland.so", "DISPLAY": "libqxcb.so"}
    return [folder / plugin for screen, plugin in by_screen.items() if os.environ.get(screen)]


def _missing(libraries: dict[str, tuple[str, str]]) -> list[tuple[str, str]]:
    return [packages for library, packages in libraries.items() if _load_error(library)]


def _load_error(library: str) -> OSError | None:
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return error
    return None


def _sentence(packages: list[tuple[str, str]], error: ImportError | OSError) -> str:
    if not packages or sys.platform != "linux":
        return f"Qt cannot start here: {error}"
    # The loader's own words are kept: on other distributions the package has another name.
    library = str(error).split(":", maxsplit=1)[0]
    debian, fedora = (" ".join(dict.fromkeys(names)) for names in zip(*packages, strict=True))
    return (
        f"Qt cannot start without {library}; on Debian or Ubuntu: sudo apt install {debian}; "
        f"on Fedora: sudo dnf install {fedora}"
    )


if __name__ == "__main__":
    sys.exit(qt_problem())
