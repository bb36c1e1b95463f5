"""Templates and tokenizers that never end, in the engine itself and without the trial in another process: the process
answers, can be told to stop, closes, and ends with status 0.

The gap that a window's thread sees is printed, not judged: on a busy machine the clock says little.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.bad_templates import ENDING_TEMPLATES
from tests.helpers.bad_tokenizers import BAD_TOKENIZERS, SLOW_TOKENIZERS

ROOT = Path(__file__).resolve().parents[2]
MOST_S = 30.0  # rendering may take two seconds of processor time, on a machine that is shared


def tried(folder: Path, names: list[str]) -> list[list[Any]]:
    command = [sys.executable, "-m", "tests.helpers.bad_model_child", str(folder), *names]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stdout[-300:] + child.stderr[-1500:]
    return [json.loads(line) for line in child.stdout.splitlines()]


def judge(answers: list[list[Any]], names: list[str]) -> None:
    assert [answer[0] for answer in answers] == names
    for answer in answers:
        print(answer)  # noqa: T201  the drill's report
    assert not [answer for answer in answers if max(answer[2:4]) > MOST_S]


@pytest.mark.drill
def test_no_template_or_tokenizer_holds_the_engine(tmp_path: Path) -> None:
    names = [*ENDING_TEMPLATES, *BAD_TOKENIZERS, *SLOW_TOKENIZERS]
    judge(tried(tmp_path, names), names)


def test_a_sample_of_them(tmp_path: Path) -> None:
    names = ["power", "slice", "loops", "replacements", "padding", "a catastrophe"]
    judge(tried(tmp_path, names), names)
