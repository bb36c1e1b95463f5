"""How a folder's tokenizer cuts a few texts, computed in a process of its own with limits of time and memory.

A tokenizer from elsewhere may run for ever, and while it is loaded or used no other Python thread runs.
"""

from __future__ import annotations

import json
import logging
import subprocess
from functools import lru_cache
from pathlib import Path

from engine.models.children import OUR_FAULTS, PROBE, PROBES, TRY_MODEL, command, environment
from engine.models.model_files import stamp

_PATIENCE_S = 5.0  # wall time
_MOST_KEPT = 64

Cuts = dict[str, list[int]]  # tokens, by language
_log = logging.getLogger(__name__)


def cuts(folder: Path) -> Cuts | None:
    """None if the tokenizer cannot be used, or takes too long."""
    try:
        return _cuts(folder, *stamp((folder / "tokenizer.json").stat()))
    except (OSError, subprocess.CalledProcessError) as error:
        _log.info("a tokenizer cannot be probed now: %s", error)
        return None


@lru_cache(_MOST_KEPT)
def _cuts(folder: Path, *_identity: int) -> Cuts | None:
    """Raises OSError or CalledProcessError, which is not cached, if the failure says nothing about the file."""
    try:
        child = subprocess.run(
            command(TRY_MODEL, str(folder), PROBE),
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
            check=True,
        )
        result = json.loads(child.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        if isinstance(error, subprocess.CalledProcessError) and error.returncode in OUR_FAULTS:
            raise
        _log.info("a tokenizer cannot be probed: %s", error)
        return None
    return result if isinstance(result, dict) and result.keys() == PROBES.keys() else None


def forget() -> None:
    """Clear the cache."""
    _cuts.cache_clear()
