"""The starter pair: how its training is asked for, as far as it goes without torch, and its refusals."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.settings import STARTER_NAME
from app.view_models.transcript import ReplyStatus, TranscriptMessage
from tests.architecture.project import ROOT

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


# Where it says that it knows only Hunch, a model is offered instead of a figure.


GUIDE = ROOT / "packaging" / "starter" / "guide"


def reply(text: str, model: str = STARTER_NAME) -> TranscriptMessage:
    return TranscriptMessage(1, False, text, model=model)


@pytest.mark.parametrize("language", ["en", "ko", "ja", "zh"])
def test_every_refusal_that_it_was_taught_is_known(language: str) -> None:
    for text in json.loads((GUIDE / "offtopic.json").read_text("utf-8"))[language]["answers"]:
        assert reply(text).needs_larger_model
        assert reply(text).has_notice
        assert not reply(text, model="Qwen3-8B").needs_larger_model
        assert not TranscriptMessage(1, False, text, model=STARTER_NAME, status=ReplyStatus.STREAMING).has_notice


def test_no_answer_that_it_was_taught_is_taken_for_a_refusal() -> None:
    lines = [line for file in GUIDE.glob("*.jsonl") for line in file.read_text("utf-8").splitlines() if line.strip()]
    answers = [one["answer"] for line in lines for one in json.loads(line).values() if isinstance(one, dict)]
    assert len(answers) > 100
    assert [text for text in answers if reply(text).needs_larger_model] == []
