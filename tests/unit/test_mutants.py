"""The mutation tester itself: which faults it makes, and that its tables name what there is."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.project import ROOT
from tests.mutants.__main__ import equivalent
from tests.mutants.covering import covering, modules
from tests.mutants.faults import mutants, mutated


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("x = a < b", {"a < b → a <= b", "a < b → a >= b"}),
        ("x = a is None", {"a is None → a is not None"}),
        ("x = a + b", {"a + b → a - b"}),
        ("x = 3", {"3 → 4", "3 → 2"}),
        ("x = True", {"True → False"}),
        ("x = a and b", {"a and b → a or b"}),
        ("x = mx.maximum(a, b)", {"mx.maximum(a, b) → mx.minimum(a, b)"}),
        ("if a: b()", {"a → not a"}),
        ("if not a: b()", {"not a → a"}),
        ("def f() -> int: return a", {"return a → return 0"}),
        ("def f(): return a", {"return a → return None"}),
        ("def f(): a(b)", {"a(b) → nothing"}),
        ("def f(): self.a = b", {"self.a = b → nothing"}),
    ],
)
def test_fault_is_made(source: str, changes: set[str]) -> None:
    assert {mutant.change for mutant in mutants("a.py", source)} == changes


@pytest.mark.parametrize(
    "source", ["assert a < 3", "def f():\n  'words'", "_log.info(3)", "def f():\n  a = b", "x: Literal[3]", "import a"]
)
def test_what_no_test_could_see_is_left(source: str) -> None:
    assert mutants("a.py", source) == []


def test_mutant_differs_from_its_module_in_one_place_only() -> None:
    source = "def f(a: int) -> int:\n    a += 1\n    return a\n"
    made = [ast.unparse(mutated(source, mutant.number)) for mutant in mutants("a.py", source)]
    assert "def f(a: int) -> int:\n    a -= 1\n    return a" in made
    assert "def f(a: int) -> int:\n    pass\n    return a" in made
    assert len(made) == len(set(made)) == 5


def test_every_module_is_examined_by_tests_that_exist() -> None:
    named = {test for file in modules() for test in covering(file)}
    assert [test for test in sorted(named) if not (ROOT / test).exists()] == []


def test_equivalent_faults_are_still_there() -> None:
    made = {mutant.key for file in modules() for mutant in mutants(file, (ROOT / file).read_text(encoding="utf-8"))}
    assert equivalent() - made == set()
