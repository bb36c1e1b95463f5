"""The training of the starter, as far as it goes without torch: what is asked for, and that its files fit together."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

STARTER = Path(__file__).parents[2] / "packaging" / "starter"
FILES = {path.stem: ast.parse(path.read_text("utf-8")) for path in STARTER.glob("*.py")}
ASKED = """
import json, sys
import train
for arguments in json.load(sys.stdin):
    try:
        what = train.order(arguments)
        parts = (f"{name}:{plan.steps}:{plan.seed - train.SEED}" for name, plan in what.plans.items())
        print(what.resume, *parts, *sorted(what.favoured))
    except SystemExit as refusal:
        print(refusal.code)
assert "torch" not in sys.modules
"""
ORDERS = {
    "": "False main:1800:0 draft:500:1 dflash:1100:2 eagle3:1100:3 mtp:1100:4",
    "--drafters-only --steps 3": "False dflash:3:2 eagle3:3:3 mtp:3:4",
    "--only mtp main --resume 2": "True main:1800:20 mtp:1100:24",
    "--only main --favour top-p mlx": "False main:1800:0 mlx top-p",
    **dict.fromkeys(("--only mtq", "--steps few", "--steps 0", "--resume -1", "--favour nothing"), "2"),
}


def test_it_trains_what_is_asked_for_in_the_order_of_need_or_refuses_it() -> None:
    asked = json.dumps([order.split() for order in ORDERS])
    command = [sys.executable, "-c", ASKED]
    done = subprocess.run(command, cwd=STARTER, input=asked, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == list(ORDERS.values())
    for wrong in ("--only", "--steps", "--resume", "--favour"):
        assert f"error: argument {wrong}: " in done.stderr


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
