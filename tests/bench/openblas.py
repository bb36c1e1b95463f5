"""A fast matrix library in front of the reference one that the Linux wheel of MLX carries. Import before any MLX.

With the reference library, checking five tokens costs five times one, and no speculation can pay; with this one it
costs 1.2 times, as on a GPU.
"""

from __future__ import annotations

import ctypes
import os
import sys


def put_in_front() -> bool:
    """True where it is in place; elsewhere (macOS has Metal) nothing is to be done."""
    if not sys.platform.startswith("linux"):
        return False
    assert "mlx.core" not in sys.modules, "too late: MLX has bound its symbols"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        ctypes.CDLL("libopenblas.so.0", mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True
