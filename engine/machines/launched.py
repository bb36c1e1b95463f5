"""Under `mlx.launch`, which starts this program on every machine of its host file: rank 0 serves, the others follow.

Place 0 of the group is a child of rank 0's engine, as ever. What that is asked it passes on through the group itself
(`fabric.py`): between the machines there is nothing but MLX's sums, as mlx.launch has set them up.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

LAUNCHED = "launched"  # in place of a backend
_HOSTS = "MLX_IBV_DEVICES", "MLX_HOSTFILE"


def launched_place() -> int | None:
    """Of this process in the group; None: mlx.launch has not started it beside others."""
    return int(os.environ["MLX_RANK"]) if launched_size() > 1 else None


def launched_size() -> int:
    """Of the group; 1: there is none."""
    file = next((os.environ[name] for name in _HOSTS if os.environ.get(name)), "")
    with suppress(OSError, ValueError):  # others may have set these variables
        hosts = json.loads(Path(file).read_text(encoding="utf-8"))
        return len(hosts) if isinstance(hosts, list) and os.environ.get("MLX_RANK", "").isdecimal() else 1
    return 1
