"""MLX on a CPU would compile C++ into a folder that all users of a machine share; the engine must not let it."""

from __future__ import annotations

import ast
import os
import pkgutil
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import mlx.core as mx
import pytest
from mlx_lm import models

from engine.caches.replay import COMPILES_MODULES
from tests.architecture.project import ROOT, name_of, python_files
from tests.helpers.tiny_families import save_family

_PROGRAM = """
import sys
import mlx.core as mx
from engine.decoding.sequence import Sequence
from tests.helpers.loading import load_model
from mlx_lm.models.activations import swiglu
mx.eval(swiglu(mx.ones((4, 4)), mx.ones((4, 4))))
sequence = Sequence(load_model(sys.argv[1]), list(range(40, 60)))
sequence.prefill_chunk()
for kept in (1, 2):
    mx.eval(sequence.feed(mx.array([5, 6, 7])))
    sequence.caches.commit(kept)
    mx.eval(sequence.feed(mx.array([5])))
    sequence.caches.commit(0)
"""
_SWITCHES = {
    "disable_compile": "engine/models/networks.py",
    "enable_compile": "",
    "set_default_device": "",
    "set_default_stream": "",
    "set_memory_limit": "engine/models/memory.py",
    "set_cache_limit": "engine/models/memory.py",
    "set_wired_limit": "engine/models/memory.py",
}


@pytest.mark.skipif(mx.default_device() != mx.cpu, reason="a GPU's kernels are not compiled by g++")
def test_engine_compiles_nothing_at_run_time(tmp_path: Path) -> None:
    """Neither an activation of mlx-lm's nor a rollback."""
    folder = save_family("hybrid", tmp_path / "model")
    compiled = tmp_path / "compiled"
    compiled.mkdir()
    environment = {**os.environ, "TMPDIR": str(compiled)}
    subprocess.run([sys.executable, "-c", _PROGRAM, folder], cwd=ROOT, env=environment, check=True, timeout=120)
    assert list(compiled.iterdir()) == []


def test_every_switch_of_the_process_has_one_owner() -> None:
    for path in python_files("engine"):
        named = set(re.findall(r"\.(\w+)\b", path.read_text("utf-8")))
        wrong = [name for name in named & _SWITCHES.keys() if _SWITCHES[name] != name_of(path)]
        assert not wrong, f"{name_of(path)} sets {wrong}"


@pytest.mark.slow
def test_every_family_that_compiles_a_call_of_its_modules_is_known() -> None:
    """What a replay puts in place of a linear map must never be compiled into a function that stays."""
    compiling = {module.name for module in pkgutil.iter_modules(models.__path__) if _compiles_modules(module.name)}
    assert compiling == COMPILES_MODULES


def _compiles_modules(family: str) -> bool:
    spec = find_spec(f"mlx_lm.models.{family}")
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text("utf-8"))
    return any(_compiles_self(node) for node in ast.walk(tree))


def _compiles_self(node: ast.AST) -> bool:
    """`mx.compile(self.…)`, or a method that is decorated with it and calls `self.…(…)`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "mx.compile":
        return any(ast.unparse(argument).startswith("self") for argument in node.args)
    if isinstance(node, ast.FunctionDef) and any("mx.compile" in ast.unparse(each) for each in node.decorator_list):
        calls = [ast.unparse(inner.func) for inner in ast.walk(node) if isinstance(inner, ast.Call)]
        return any(call.startswith("self.") for call in calls)
    return False
