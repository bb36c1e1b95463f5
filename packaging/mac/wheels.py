"""Whether a checkout's wheels run on the macOS that bootstrap.sh takes them for: wheels.py TOOLS. `make app` asks.

For each of its Pythons on the oldest macOS, and on each newer one with the Python of the app.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import assemble
import macho

_BOOTSTRAP = assemble.ROOT / "packaging" / "bootstrap.sh"
# Their wheels promise macOS 13, as Qt's own files do; what they call is in 14.4 (the C++ library of LLVM 18).
_SAY_NEWER = {"PySide6": (15, 0), "shiboken6": (15, 0)}


def cases(bootstrap: str) -> list[tuple[str, tuple[int, int]]]:
    """Pythons with a macOS each: all with the oldest, the app's with the others."""
    (pythons,) = re.findall(r"(?m)^\s*for candidate in (.+?); do$", bootstrap)
    versions = sorted(set(re.findall(r"3\.\d+", pythons)))
    oldest, *newer = sorted({(int(major), int(minor)) for major, minor in re.findall(r"macos=(\d+)\.(\d+)", bootstrap)})
    own = assemble.TARGETS["mac"].python
    return [*((version, oldest) for version in versions), *((own, macos) for macos in newer)]


def needs(packages: Path) -> dict[Path, tuple[int, int]]:
    """The least macOS of each file of code."""
    files = [path for path in packages.rglob("*") if path.is_file() and not path.is_symlink()]
    return {path.relative_to(packages): code.minimum_macos for path in files if (code := macho.read_macho(path))}


def too_new(needed: dict[Path, tuple[int, int]], macos: tuple[int, int]) -> Iterator[str]:
    for place, least in sorted(needed.items()):
        if least > max(macos, _SAY_NEWER.get(place.parts[0], macos)):
            yield f"{place}: needs macOS {least[0]}.{least[1]}"
    if not needed:
        yield "there is no code in it"


def main(tools: str) -> int:
    failed = 0
    for python, macos in cases(_BOOTSTRAP.read_text("utf-8")):
        with tempfile.TemporaryDirectory() as folder:
            target = replace(assemble.TARGETS["mac"], python=python)
            assemble.install_wheels(Path(tools), target, Path(folder), assemble.LOCK, macos, link="hardlink")
            needed = needs(Path(folder))
        counts = sorted(Counter(needed.values()).items())
        told = ", ".join(f"{major}.{minor}: {count}" for (major, minor), count in counts)
        print(f"Python {python} on macOS {macos[0]}.{macos[1]}: {told}")
        for problem in too_new(needed, macos):
            print(f"  {problem}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
