"""The engine's child processes: how they are started, by Python or by an app that is its own interpreter."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import MappingProxyType

# The first argument of such an app; the rest is for the module's `run`.
TRY_MODEL = "--try-model"
RUN_RANK = "--run-rank"
RUN_STATION = "--run-station"
LEND = "--lend"
_MODULES = MappingProxyType(
    {
        TRY_MODEL: "engine.models.first_use_child",
        RUN_RANK: "engine.cluster.worker",
        RUN_STATION: "engine.station.worker",
        LEND: "engine.machines.lend_child",
    }
)
CHILDREN = tuple(_MODULES)
_START = str(Path(__file__).with_name("start_child.py"))

# Of the process that tries a model
OUR_FAULTS = frozenset({1, 2})  # exit statuses of a process that could not try: Python's, a wrong command line's
PROBE = "--probe"  # after the folder: print how these texts are cut
PROBES = {
    "en": "The quick brown fox doesn't jump over 13 lazy dogs.\n\n    return x + 1",
    "ko": "추측 디코딩은 작은 모델이 먼저 쓰고 큰 모델이 확인하는 방법이에요.",
    "ja": "小さなモデルが先に書いて、大きなモデルがまとめて確かめます。",
    "zh": "小模型先写几个词，大模型一次检查完，结果不变。",
}


def command(child: str, *arguments: str) -> list[str]:
    """In a frozen app, `sys.executable` is the app and takes no `-m`."""
    is_python = not getattr(sys, "frozen", False) and Path(sys.executable).name.lower().startswith("python")
    start = ["-P", _START, _MODULES[child]] if is_python else [child]
    return [sys.executable, *start, *arguments]


def environment() -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "TOKENIZERS_PARALLELISM": "false",
    }


def run_child(child: str, *arguments: str) -> int:
    """In such an app: run this child, one of CHILDREN, until it ends; returns its exit status."""
    return int(importlib.import_module(_MODULES[child]).run(*arguments))
