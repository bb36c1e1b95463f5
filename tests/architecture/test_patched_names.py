"""What a test replaces is there: slow tests and drills seldom run, and may name what was renamed long ago."""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Iterator
from contextlib import suppress

from tests.architecture.project import name_of, python_files


def _imported(tree: ast.Module) -> dict[str, str]:
    """What the imported names of a file stand for, but those that are bound in another way too."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    found = {
        alias.asname or alias.name: f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        for node in imports
        for alias in node.names
    }
    bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return {name: path for name, path in found.items() if name not in bound}


def _replaced(text: str) -> Iterator[str]:
    """The full names of what a file replaces by `setattr` or `patch.object`, where it tells them."""
    tree = ast.parse(text)
    imported = _imported(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and not node.keywords]
    for call in calls:
        match call.args if ast.unparse(call.func).endswith((".setattr", "patch.object")) else []:
            case [ast.Constant(str(path)), _]:
                yield path
            case [ast.Name() | ast.Attribute() as target, ast.Constant(str(name)), _]:
                root, _, rest = ast.unparse(target).partition(".")
                yield from [".".join(filter(None, (imported[root], rest, name)))] if root in imported else []


def _is_there(path: str) -> bool:
    with suppress(ImportError, AttributeError):
        pkgutil.resolve_name(path)
        return True
    return False


def test_what_tests_replace_is_there() -> None:
    texts = {name_of(path): path.read_text(encoding="utf-8") for path in python_files("tests")}
    replacing = {file: text for file, text in texts.items() if ".setattr(" in text or "patch.object(" in text}
    names = {(file, name) for file, text in replacing.items() for name in _replaced(text)}
    assert [each for each in sorted(names) if not _is_there(each[1])] == []


def test_the_rule_finds_what_it_looks_for() -> None:
    text = """
import json.decoder as decoder, os
from os import path
def test(monkeypatch, named, raising):
    monkeypatch.setattr("json.decoder.gone", 1)
    monkeypatch.setattr(decoder.JSONDecoder, "gone", 2)
    monkeypatch.setattr(path, "join", 3)
    monkeypatch.setattr(os, "gone", 4, raising=False)
    monkeypatch.setattr(named, "gone", 5)
    with patch.object(os, "gone", 6): pass
"""
    told = {name: _is_there(name) for name in _replaced(text)}
    gone = ["json.decoder.gone", "json.decoder.JSONDecoder.gone", "os.gone"]
    assert told == dict.fromkeys(gone, False) | {"os.path.join": True}
