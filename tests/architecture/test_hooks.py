"""What an object calls is given to it when it is made, or is a signal: nothing outside of it assigns that later."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.architecture.project import name_of, python_files, statements

_FILES = python_files("app", "engine")
# Libraries that have no other way.
_OF_LIBRARIES = {
    ("app/documents/word.py", "StartDoctypeDeclHandler"),
    ("app/markup/parser.py", "validateLink"),
    ("app/system/logs.py", "excepthook"),
    ("engine/cluster/stage.py", "recv_like"),
    ("engine/cluster/stage.py", "send"),
    ("engine/cluster/stage.py", "all_gather"),
}
_OWN = {"self", "cls"}


def _assignments(nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.expr, ast.expr, ast.expr | None]]:
    """Targets and values, those of tuples one by one; and the annotation, if there is one."""
    for node in nodes:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            yield node.target, node.value, node.annotation
        for target in node.targets if isinstance(node, ast.Assign) else ():
            value = node.value  # type: ignore[attr-defined]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                yield from ((*pair, None) for pair in zip(target.elts, value.elts, strict=False))
            else:
                yield target, value, None


def _classes(nodes: Iterable[ast.AST]) -> list[ast.ClassDef]:
    return [node for node in nodes if isinstance(node, ast.ClassDef)]


def _methods(trees: Iterable[Iterable[ast.AST]]) -> set[str]:
    """Names that are a method's and never an attribute's."""
    bodies = [each for nodes in trees for node in _classes(nodes) for each in node.body]
    functions = [each for each in bodies if isinstance(each, ast.FunctionDef)]
    attributes = {each.target.id for each in bodies if isinstance(each, ast.AnnAssign) and hasattr(each.target, "id")}
    attributes |= {each.name for each in functions if each.decorator_list}
    return {each.name for each in functions} - attributes


def _assigned_callables(nodes: tuple[ast.AST, ...], methods: set[str]) -> Iterator[str]:
    """Attributes of other objects that get a lambda, a partial, a bound method or a function of the module."""
    within = {id(each) for node in _classes(nodes) for each in node.body}
    functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef) and id(node) not in within}
    for target, value, _ in _assignments(nodes):
        is_other = isinstance(target, ast.Attribute) and not (
            isinstance(target.value, ast.Name) and target.value.id in _OWN
        )
        is_callable = (
            isinstance(value, ast.Lambda)
            or (isinstance(value, ast.Call) and ast.unparse(value.func) in ("partial", "functools.partial"))
            or (isinstance(value, ast.Attribute) and value.attr in methods)
            or (isinstance(value, ast.Name) and value.id in functions)
        )
        if is_other and is_callable:
            yield target.attr  # type: ignore[attr-defined]


def _placeholders(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    """Public attributes for a callable that begin as nothing, so that something else has to assign them."""
    in_plain_classes = [
        each
        for node in _classes(nodes)
        if not node.decorator_list
        and not any(isinstance(base, ast.Name) and base.id[-5:] == "Tuple" for base in node.bases)
        for each in node.body
    ]
    of_self = [node for node in nodes if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute)]
    for target, value, annotation in _assignments([*in_plain_classes, *of_self]):
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "_")
        holds = annotation is not None and ast.unparse(annotation).startswith("Callable[")
        is_nothing = isinstance(value, ast.Lambda | ast.Constant) or ast.unparse(value).startswith("staticmethod(")
        if holds and is_nothing and not name.startswith("_"):
            yield name


@pytest.fixture(scope="module")
def methods() -> set[str]:
    return _methods(map(statements, _FILES))


def test_nothing_is_assigned_that_another_object_calls(methods: set[str]) -> None:
    found = {(name_of(path), name) for path in _FILES for name in _assigned_callables(statements(path), methods)}
    assert sorted(found - _OF_LIBRARIES) == []
    assert sorted(_OF_LIBRARIES - found) == []


def test_nothing_waits_for_a_callable() -> None:
    found = [(name_of(path), name) for path in _FILES for name in _placeholders(statements(path))]
    assert found == []


def test_both_rules_find_what_they_look_for(tmp_path: Path) -> None:
    file = tmp_path / "hooks.py"
    file.write_text(
        """
class Timer:
    done: Callable[[], None] = staticmethod(lambda: None)
    def __init__(self):
        self.rang: Callable[[], None] = lambda: None
        self.asked: Callable[[], bool] | None = None
        self._own: Callable[[], bool] | None = None
    def ring(self): ...
def beep(): ...
def connect(timer, other):
    timer.a = lambda: None
    timer.b, timer.c = partial(beep, 1), other.ring
    timer.d = beep
    timer.e = other.title
"""
    )
    nodes = statements(file)
    assert list(_assigned_callables(nodes, _methods([nodes]))) == ["a", "b", "c", "d"]
    assert sorted(_placeholders(nodes)) == ["asked", "done", "rang"]
