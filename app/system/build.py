"""Version, build and system of this Hunch, for About and for reports."""

from __future__ import annotations

import platform
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from app.system.machine import machine_name
from engine import mlx_wheel, system_name

ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTION = "hunch-chat"  # as pyproject.toml calls it
_COMMIT = ROOT / "resources" / "build.txt"  # written by packaging
_LIBRARIES = {"Qt": "PySide6-Essentials", "MLX": "mlx", "mlx-lm": "mlx-lm"}


def own_version() -> str:
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:  # a folder of sources
        return str(project()["version"])


def project() -> dict[str, object]:
    """The metadata in pyproject.toml, in a source folder."""
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"])


def build() -> str:
    """The commit of an assembled app; "" otherwise."""
    return _COMMIT.read_text(encoding="utf-8").strip() if _COMMIT.is_file() else ""


def libraries() -> dict[str, str]:
    """Versions of the most important libraries."""
    found = {"Python": platform.python_version()}
    for name, package in _LIBRARIES.items():
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            found[name] = "?"
    if sys.platform == "darwin":
        found["MLX"] += f" ({mlx_wheel()})"
    return found


def system() -> str:
    name = system_name() if sys.platform == "darwin" else f"{platform.system()} {platform.release()}"
    kind = platform.machine()
    machine = machine_name()
    return ", ".join((name, machine) if machine.startswith(kind) else (name, kind, machine))
