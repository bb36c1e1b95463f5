"""The training of the starter, as far as it goes without torch: what is asked for, and that its files fit together."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

STARTER = Path(__file__).parents[2] / "packaging" / "starter"
FILES = {path.stem: ast.parse(path.read_text("utf-8")) for path in STARTER.glob("*.py")}
ASKED = """
import sys
import train
what = train.order(sys.argv[1:])
assert "torch" not in sys.modules
print(what.resume, *(f"{name}:{plan.steps}:{plan.seed - train.SEED}" for name, plan in what.plans.items()))
"""


def asked(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", ASKED, *arguments]
    return subprocess.run(command, cwd=STARTER, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ((), "False main:1800:0 draft:500:1 dflash:1100:2 eagle3:1100:3 mtp:1100:4"),
        (("--drafters-only", "--steps", "3"), "False dflash:3:2 eagle3:3:3 mtp:3:4"),
        (("--only", "mtp", "main", "--resume", "2"), "True main:1800:20 mtp:1100:24"),
    ],
)
def test_it_trains_what_is_asked_for_in_the_order_of_need(arguments: tuple[str, ...], parts: str) -> None:
    assert asked(*arguments).stdout.split() == parts.split()


@pytest.mark.parametrize("arguments", [("--only", "mtq"), ("--steps", "few"), ("--steps", "0"), ("--resume", "-1")])
def test_wrong_arguments_are_refused(arguments: tuple[str, ...]) -> None:
    done = asked(*arguments)
    assert done.returncode == 2
    assert arguments[0] in done.stderr


@pytest.mark.parametrize("name", FILES)
def test_what_a_file_takes_from_another_is_there(name: str) -> None:
    for wanted in ast.walk(FILES[name]):
        if isinstance(wanted, ast.ImportFrom) and wanted.module in FILES:
            there = _names(FILES[wanted.module])
            assert not [alias.name for alias in wanted.names if alias.name not in there]


def _names(module: ast.Module) -> set[str]:
    names = set()
    for statement in module.body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef):
            names.add(statement.name)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return names
