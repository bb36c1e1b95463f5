"""Putting a fault into a module that is imported already, by giving its functions other code."""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

from tests.mutants.faults import mutated


def swap(file: str, number: int) -> set[str]:
    """Put fault `number` into `file`: the functions that have changed. None have where it is in what an import runs."""
    try:
        importlib.import_module(file.removesuffix(".py").replace("/", "."))
    except Exception:  # noqa: BLE001  how that shows is seen where the import is part of the run
        return set()
    path, source = str(Path(file).resolve()), Path(file).read_text(encoding="utf-8")
    before, after = (compile(tree, path, "exec") for tree in (ast.parse(source), mutated(source, number)))
    pairs = list(_functions(before, after))
    changed = {place(old): new for old, new in pairs if old != new}
    alive = [each for each in _alive(path) if place(each.__code__) in changed]
    reached = {place(each.__code__) for each in alive}
    fits = all(each.__code__.co_freevars == changed[place(each.__code__)].co_freevars for each in alive)
    if _outside(before) != _outside(after) or not changed or reached != set(changed) or not fits:
        return set()
    for each in alive:
        each.__code__ = changed[place(each.__code__)]
    return reached


def _functions(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Those of a module and its classes, as they were and as they are to be."""
    for old, new in zip(_inner(before), _inner(after), strict=False):
        yield from [(old, new)] if _is_function(old) else _functions(old, new)


def _outside(code: CodeType) -> list[object]:
    """All that is not in a function, to compare."""
    rest = tuple(each for each in code.co_consts if not isinstance(each, CodeType))
    return [code.replace(co_consts=rest), *(_outside(each) for each in _inner(code) if not _is_function(each))]


def _inner(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _is_function(code: CodeType) -> bool:
    return bool(code.co_flags & inspect.CO_OPTIMIZED)


def place(code: CodeType) -> str:
    """Of a function: no two have the same."""
    return f"{code.co_filename}:{code.co_firstlineno}:{code.co_qualname}:{zlib.crc32(code.co_linetable)}"


def _alive(path: str) -> list[FunctionType]:
    gc.unfreeze()  # what is frozen is not listed
    return [each for each in gc.get_objects() if type(each) is FunctionType and each.__code__.co_filename == path]
