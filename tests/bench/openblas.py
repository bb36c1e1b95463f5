"""The engine's fast matrix library, in front of the reference one of MLX's Linux wheel. Import before any MLX."""

from __future__ import annotations

import os
import sys

from engine.models.openblas import put_in_front as put_before_mlx


def put_in_front() -> bool:
    """True where it is in place; elsewhere (macOS has Metal) nothing is to be done. One thread, for steady figures."""
    assert "mlx.core" not in sys.modules, "too late: MLX has bound its symbols"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return put_before_mlx()
