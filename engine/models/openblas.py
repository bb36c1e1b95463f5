"""OpenBLAS, loaded before the reference BLAS of MLX's Linux wheel. No MLX is imported here.

With the reference library verifying five tokens takes five times as long as one, and no draft can pay; with OpenBLAS it
takes little longer than one, as on a GPU. It rounds wide and narrow forwards differently, so texts are equal but for
near ties. `packaging/openblas.py` builds the file; without it (macOS has Metal) MLX uses what it has.
"""

from __future__ import annotations

import ctypes
import logging
import os
import sys
from pathlib import Path

LIBRARY = Path(sys.prefix) / "lib" / "libopenblas-for-mlx.so"

_log = logging.getLogger(__name__)
_loaded = False


def put_in_front(library: Path = LIBRARY) -> bool:
    """Load it before the first import of MLX in this process; True when it is loaded.

    HUNCH_OPENBLAS=0 disables it; OPENBLAS_NUM_THREADS sets the number of threads. Default: one a core, but one core
    less for the window. MEASURED: its threads wait for each other, so on two busy cores two threads were five times
    slower.
    """
    if os.environ.get("HUNCH_OPENBLAS") == "0" or "mlx.core" in sys.modules or not library.exists():
        _log.info("MLX keeps the matrix library that it has")
        return False
    try:
        loaded = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        _log.info("OpenBLAS cannot be loaded: %s", error)
        return False
    global _loaded  # noqa: PLW0603  a loaded library stays loaded
    _loaded = True
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        cores = {_core(processor) for processor in os.sched_getaffinity(0)}  # two threads of one share its arithmetic
        loaded.scipy_openblas_set_num_threads(max(1, len(cores) - 1))
    return True


def has_openblas() -> bool:
    """Whether it is installed for this app."""
    return LIBRARY.exists()


def is_in_front() -> bool:
    return _loaded


def _core(processor: int) -> str:
    try:
        return Path(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list").read_text(encoding="ascii")
    except OSError:
        return str(processor)
