"""Which build of MLX is imported, and for which system it was made. No MLX is imported here.

Hunch.app has a second one in `FOR_MACOS_26`, with kernels for the neural accelerators of an M5: a prompt is read about
three times as fast there. It runs from macOS 26.2 on.
"""

from __future__ import annotations

import platform
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

FOR_MACOS_26 = Path(sys.prefix) / "lib" / "mlx-for-macos-26"
_NEEDS = (26, 2)  # though its wheel says 26.0


def system_name() -> str:
    """ "macOS 26.2", "Linux-6.8-x86_64"."""
    return f"macOS {'.'.join(map(str, macos_version()))}" if sys.platform == "darwin" else platform.platform(terse=True)


def macos_version() -> tuple[int, int]:
    """By Darwin's own: to a program that was built for an older SDK macOS says that it is 16.0."""
    major, minor = map(int, platform.release().split(".")[:2])
    return (major + 1 if major >= 25 else major - 9), minor


def prefer_newest(folder: Path = FOR_MACOS_26) -> None:
    """Called as this module is imported: `engine` does so first of all, in every process that imports MLX later."""
    if sys.platform == "darwin" and folder.is_dir() and macos_version() >= _NEEDS and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def wheel() -> str:
    """The platform of the wheel that has MLX's library, such as "macosx_15_0_arm64"; "" where there is none."""
    for package in ("mlx-metal", "mlx-cpu", "mlx"):
        with suppress(PackageNotFoundError):
            return (distribution(package).read_text("WHEEL") or "").rpartition("Tag: ")[2].strip().rpartition("-")[2]
    return ""


def is_too_new() -> bool:
    """Whether the system is older than the build asks for, which loads and then takes kernels that are not there."""
    return sys.platform == "darwin" and wheel().startswith("macosx_26") and macos_version() < _NEEDS


prefer_newest()
