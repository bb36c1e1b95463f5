"""The mutation tester itself: its tables name what there is, and how a run ends is told apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.project import ROOT
from tests.mutants.__main__ import equivalent
from tests.mutants.covering import covering, modules
from tests.mutants.faults import mutants
from tests.mutants.process import Limit
from tests.mutants.trial import Outcome, Trials


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
