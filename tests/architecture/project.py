"""The files of this project, for tests that read code. What git ignores is not part of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_IGNORED = {".git", ".venv", "build", "dist", "__pycache__", "uv.lock", ".hypothesis", ".DS_Store"}


def project_files() -> list[Path]:
    return list(_files_in(ROOT))


def python_files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in _files_in(ROOT / folder) if path.suffix == ".py"]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported_modules(path: Path) -> set[str]:
    """Every module that the file imports anywhere; `from a import b` counts as both `a` and `a.b`."""
    found: set[str] = set()
    for node in statements(path):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


@cache
def statements(path: Path) -> tuple[ast.stmt, ...]:
    """All of a file, those within others too; expressions are not gone through, which would take longer."""
    found: list[ast.stmt] = []
    bodies: list[Any] = [ast.parse(path.read_text(encoding="utf-8"))]
    while bodies:
        node = bodies.pop()
        found += [node] if isinstance(node, ast.stmt) else []
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            bodies += reversed(getattr(node, name, ()))
    return tuple(found)


def _files_in(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in _IGNORED or path.name.endswith("_cache"):
            continue
        if path.is_dir():
            yield from _files_in(path)
        elif path.is_file():
            yield path
