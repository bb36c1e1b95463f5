"""The mutation tester itself: which faults it makes, and that its tables name what there is."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.project import ROOT
from tests.mutants.__main__ import equivalent
from tests.mutants.covering import covering, modules
from tests.mutants.faults import mutants, mutated
from tests.mutants.process import Limit
from tests.mutants.swap import swap
from tests.mutants.trial import Outcome, Trials


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
    "source",
    [
        "assert a < 3",
        "def f():\n  'words'",
        "_log.info(3)",
        "def f():\n  a = b",
        "def f(): return None",
        "x: Literal[3]",
        "import a",
    ],
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


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    with Trials() as made:
        yield made


_IMPORTED = """
import functools
LIMIT = 3
class Held:
    tokens: int = 7
def with_default(a=4):
    return a
def plain(a):
    return a + 1
@functools.cache
def wrapped(a):
    return [each - 1 for each in (a, 5)]
class Nested:
    @property
    def inner(self):
        return sum(each * 3 for each in (1, 5))
"""
_FIRST_LINE_IN_A_FUNCTION = 7


@pytest.mark.slow
def test_a_fault_in_a_function_is_put_into_what_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One in what runs at the import changes nothing: constants, attributes, defaults."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for mutant in mutants("imported.py", _IMPORTED):
        name = f"imported_{mutant.number}"
        (tmp_path / f"{name}.py").write_text(_IMPORTED)
        module = importlib.import_module(name)
        expected = module.LIMIT, module.Held.tokens, module.with_default.__defaults__
        assert bool(swap(f"{name}.py", mutant.number)) == (mutant.line >= _FIRST_LINE_IN_A_FUNCTION), mutant
        assert expected == (module.LIMIT, module.Held.tokens, module.with_default.__defaults__)
        told = module.with_default(), module.plain(1), module.wrapped(1), module.Nested().inner
        assert (told != (4, 2, [0, 4], 18)) == (mutant.line >= _FIRST_LINE_IN_A_FUNCTION), mutant


_LIMIT = Limit(processor_s=60.0, wall_s=600.0)
_PROBE = "engine/prefix/file.py"
_ENDINGS = {
    "def f():\n    g()\ndef g(): pass\nf()\nwhile True: pass": Outcome.ENDLESS,
    "def f(): g()\nraise ValueError": Outcome.NOT_IMPORTED,
    "def f(): g()\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)": Outcome.UNDECIDED,
    "def f(): g()": Outcome.PASSED,
}


@pytest.mark.drill
@pytest.mark.parametrize("source", _ENDINGS, ids=lambda source: _ENDINGS[source].name)
def test_how_a_real_run_ends_is_told_apart(trials: Trials, tmp_path: Path, source: str) -> None:
    """The module's only fault leaves `g` out; what the module does besides decides how the run ends."""
    (trials.folder / "tree" / _PROBE).write_text(source)
    test = tmp_path / "test_it.py"
    test.write_text("def test_it():\n    import engine.prefix.file")
    assert trials.outcome(_PROBE, 0, [str(test)], Limit(2.0, 600.0)) is _ENDINGS[source]


@pytest.mark.drill
def test_a_run_that_cannot_begin_has_noticed_nothing(tmp_path: Path) -> None:
    with Trials() as made:
        made.folder.rename(tmp_path / "elsewhere")
        assert made.outcome(_PROBE, 0, ["tests/none.py"], _LIMIT) is Outcome.UNDECIDED
