"""The mutation tester itself: its tables name what there is, and how a run ends is told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.project import ROOT
from tests.mutants.__main__ import equivalent
from tests.mutants.covering import covering, modules
from tests.mutants.faults import mutants
from tests.mutants.trial import Limit, Outcome, run


def test_every_module_is_examined_by_tests_that_exist() -> None:
    named = {test for file in modules() for test in covering(file)}
    assert [test for test in sorted(named) if not (ROOT / test).exists()] == []


def test_equivalent_faults_are_still_there() -> None:
    made = {mutant.key for file in modules() for mutant in mutants(file, (ROOT / file).read_text(encoding="utf-8"))}
    assert equivalent() - made == set()


_ENDINGS = {
    "def f():\n    g()\ndef g(): pass\nf()\nwhile True: pass": Outcome.ENDLESS,
    "def f(): g()\nraise ValueError": Outcome.FAILED,
    "def f(): g()\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)": Outcome.UNDECIDED,
    "def f(): g()\nimport os\nos.abort()": Outcome.CRASHED,
    "def f(): g()": Outcome.PASSED,
}


@pytest.mark.drill
@pytest.mark.parametrize("source", _ENDINGS, ids=lambda source: _ENDINGS[source].name)
def test_how_a_real_run_ends_is_told_apart(tmp_path: Path, source: str) -> None:
    """The module's only fault leaves `g` out; what the module does besides decides how the run ends."""
    (tmp_path / "probe.py").write_text(source)
    (tmp_path / "test_it.py").write_text("def test_it():\n    import probe\n    probe.f()")
    assert run("probe.py:0", ["test_it.py"], Limit(5.0, 600.0), tmp_path) is _ENDINGS[source]
