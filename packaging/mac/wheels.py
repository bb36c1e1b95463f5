"""Whether the locked wheels run on the macOS that bootstrap.sh takes them for: `make wheels`, or wheels.py TOOLS.

For each of its Pythons on the oldest macOS, and on each newer one with the Python of the app. Each build of MLX has
the kernels that it is taken for.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import assemble
import checks
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


def wrong_kernels(packages: Path, macos: tuple[int, int]) -> Iterator[str]:
    libraries = list(packages.rglob("mlx.metallib"))
    for library in libraries:
        of_second = macos >= checks.MACOS_OF_SECOND_MLX
        yield from (f"{library.relative_to(packages)}: {problem}" for problem in checks.of_kernels(library, of_second))
    if len(libraries) != 1:
        yield f"{len(libraries)} libraries of kernels, not 1"


def main(tools: str) -> int:
    failed = 0
    for python, macos in cases(_BOOTSTRAP.read_text("utf-8")):
        case = f"Python {python} on macOS {macos[0]}.{macos[1]}"
        target = replace(assemble.TARGETS["mac"], python=python)
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            try:
                assemble.install_wheels(Path(tools), target, folder, assemble.LOCK, macos, link="hardlink")
            except subprocess.CalledProcessError:
                print(f"{case}: uv, whose reason is above, cannot get the locked wheels")
                return 1
            needed = needs(folder)
            problems = [*too_new(needed, macos), *wrong_kernels(folder, macos)]
        counts = sorted(Counter(needed.values()).items())
        told = ", ".join(f"{major}.{minor}: {count}" for (major, minor), count in counts)
        print(f"{case}: {told}")
        for problem in problems:
            print(f"  {problem}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
