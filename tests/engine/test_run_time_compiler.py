"""What the engine does to MLX for the whole process; that nothing is compiled is seen in test_engine_thread.py."""

from __future__ import annotations

import ast
import pkgutil
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from mlx_lm import models

from engine.caches.replay import COMPILES_MODULES
from tests.architecture.project import name_of, python_files

_SWITCHES = {
    "disable_compile": "engine/models/loading.py",
    "enable_compile": "",
    "set_default_device": "",
    "set_default_stream": "",
    "set_memory_limit": "engine/models/memory.py",
    "set_cache_limit": "engine/models/memory.py",
    "set_wired_limit": "engine/models/memory.py",
}


def test_every_switch_of_the_process_has_one_owner() -> None:
    for path in python_files("engine"):
        called = re.findall(r"\.(\w+)\(", path.read_text("utf-8"))
        wrong = [name for name in _SWITCHES.keys() & set(called) if _SWITCHES[name] != name_of(path)]
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
