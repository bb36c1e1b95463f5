"""The command that starts the process which tries a new model: by Python, or by an app that is its own interpreter."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import NoReturn

TRY_MODEL = "--try-model"  # the first argument of such an app; the second is the folder
_CHILD = "engine.models.first_use_child"
OUR_FAULTS = frozenset({1, 2})  # exit statuses of a process that could not try at all: Python's, and a command line's
PROBE = "--probe"  # after the folder: print how these texts are cut
PROBES = {
    "en": "The quick brown fox doesn't jump over 13 lazy dogs.\n\n    return x + 1",
    "ko": "추측 디코딩은 작은 모델이 먼저 쓰고 큰 모델이 확인하는 방법이에요.",
    "ja": "小さなモデルが先に書いて、大きなモデルがまとめて確かめます。",
    "zh": "小模型先写几个词，大模型一次检查完，结果不变。",
}


def command(folder: Path, *how: str) -> list[str]:
    """In a frozen app, `sys.executable` is the app and takes no `-m`."""
    is_python = not getattr(sys, "frozen", False) and Path(sys.executable).name.lower().startswith("python")
    start = ["-P", "-m", _CHILD] if is_python else [TRY_MODEL]
    return [sys.executable, *start, str(folder), *how]


def environment() -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "TOKENIZERS_PARALLELISM": "false",
    }


def try_model(folder: Path, *how: str) -> NoReturn:
    """Tries a folder's tokenizer and chat template, and ends the process with the exit status."""
    importlib.import_module(_CHILD).run(folder, *how)
    raise SystemExit  # not reached: `run` ends the process
