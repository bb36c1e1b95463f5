"""Which part of Qt each part of the app may import. The layers among our own modules are import-linter's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.project import imported_modules, name_of, python_files

_WIDGETS = ["PySide6.QtWidgets"]
_SCREEN = ["PySide6.QtWidgets", "PySide6.QtGui"]

_FORBIDDEN = {
    "app/controllers/": _SCREEN,
    "app/view_models/": _WIDGETS,
    "app/storage/": _SCREEN,
    "app/markup/": _WIDGETS,
    "app/markup/blocks.py": ["PySide6"],
    "app/settings.py": _SCREEN,
    "app/bridge.py": _SCREEN,
    "app/words/notices_for_errors.py": _SCREEN,
    "app/system/paths.py": ["PySide6"],
}


@pytest.mark.parametrize("place", _FORBIDDEN)
def test_part_imports_no_more_of_qt_than_it_may(place: str) -> None:
    files = [path for path in python_files("app") if name_of(path).startswith(place)]
    assert files, f"nothing is left at {place}"
    found = [(name_of(path), module) for path in files for module in imported_modules(path)]
    assert [(name, module) for name, module in found if _is_within(module, _FORBIDDEN[place])] == []


def _is_within(module: str, forbidden: list[str]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in forbidden)


_ONLY_IN = {
    # Qt reads as rich text what looks like it. The tray's tooltip is the system's, which knows no tags.
    r"\.setToolTip\(": ["app/views/shell/desktop.py", "app/views/widgets/tooltips.py"],
    # In anybody else's words than our own, "[*]" is a place for Qt.
    r"\.setWindowTitle\((?!self\.tr\(|\")": ["app/views/widgets/plain_words.py"],
    # It leaves out what a terminal would act on. A field's own words go through Qt.
    r"\.clipboard\(\)\.set": ["app/views/widgets/clipboard.py"],
    # A painter that stays open on its widget is a segmentation fault some paints later; `with` ends it.
    r"(?<!with )\bQ(?:Style)?Painter\(": [],
    # It leaves out what a Mac says of its arrow keys.
    r"\.modifiers\(\)": ["app/views/widgets/held_keys.py"],
}


@pytest.mark.parametrize("call", _ONLY_IN)
def test_what_needs_care_is_done_at_one_place(call: str) -> None:
    files = [name_of(path) for path in python_files("app") if re.search(call, path.read_text(encoding="utf-8"))]
    assert files == _ONLY_IN[call]


def test_tests_wait_until_the_interface_is_still() -> None:
    """One turn of the event loop is enough on an idle machine alone. Drills and the bench count such turns."""
    files = [name_of(path) for path in python_files("tests") if ".processEvents" in path.read_text(encoding="utf-8")]
    ours = [name for name in files if not name.startswith(("tests/bench/", "tests/drills/", "tests/architecture/"))]
    assert ours == ["tests/helpers/stillness.py"]


def test_no_test_waits_with_the_interpreter_held() -> None:
    """`QTest.qWait` lets no other thread run; `tests/helpers/event_loop.py` does."""
    files = [name_of(path) for path in python_files("tests") if "qWait" + "(" in path.read_text(encoding="utf-8")]
    assert files == []


def test_tests_wait_as_long_as_conftest_says() -> None:
    """A shorter patience is a test by the clock."""
    found = [
        f"{name_of(path)}:{call.lineno}"
        for path in python_files("tests")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).rpartition(".")[2].startswith(("waitUntil", "waitSignal", "waitExposed"))
        and any(keyword.arg == "timeout" for keyword in call.keywords)
    ]
    assert found == []


_LONG_LIVED = ("app.controllers.", "app.view_models.", "app.settings", "app.theme")


def test_what_lives_longer_than_a_view_calls_its_methods() -> None:
    """Qt ends the connection to a method with its object. A lambda is called for as long as the sender lives."""
    found = [f"{name_of(path)}:{line}" for path in python_files("app/views") for line in _lambdas_of_others(path)]
    assert found == []


def _lambdas_of_others(path: Path) -> Iterator[int]:
    """Lines where a lambda with `self`, or a function within one, is connected to a controller, a view model or the
    settings that were given.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    kinds = {each.name for node in imports if (node.module or "").startswith(_LONG_LIVED) for each in node.names}
    for kind in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        methods = [node for node in kind.body if isinstance(node, ast.FunctionDef)]
        kept = {f"_{name}" for each in methods for name in _given(each, kinds)}
        for each in methods:
            known = _known_as(each, _given(each, kinds) | kept)
            inner = {node.name for node in ast.walk(each) if isinstance(node, ast.FunctionDef) and node is not each}
            calls = (node for node in ast.walk(each) if isinstance(node, ast.Call))
            yield from (call.lineno for call in calls if _is_lambda_of(call, known, inner))


def _given(function: ast.FunctionDef, kinds: set[str]) -> set[str]:
    arguments = [*function.args.args, *function.args.kwonlyargs]
    return {each.arg for each in arguments if _names(each.annotation) & kinds}


def _names(node: ast.AST | None) -> set[str]:
    """Of variables and of attributes."""
    nodes = [] if node is None else list(ast.walk(node))
    return {each.id for each in nodes if isinstance(each, ast.Name)} | {
        each.attr for each in nodes if isinstance(each, ast.Attribute)
    }


def _known_as(function: ast.FunctionDef, given: set[str]) -> set[str]:
    """With the names that the function gives them, also one by one in a loop."""
    known = set(given)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call) and _names(node.value) & known:
            known |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name) and _names(node.iter) & known:
            known.add(node.target.id)
    return known


def _is_lambda_of(call: ast.Call, senders: set[str], inner: set[str]) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(value=sender, attr="connect"), args=[ast.Lambda() | ast.Name() as slot, *_]):
            is_one = slot.id in inner if isinstance(slot, ast.Name) else "self" in _names(slot)
            return bool(_names(sender) & senders) and is_one
    return False
