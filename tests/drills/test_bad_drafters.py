"""Drafters with an absurd config or damaged weights: refused by name, or the text is plain decoding's; soon, and never
the end of the process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.bad_drafters import ASSISTANT, HEADS
from tests.helpers.tiny_drafters import KINDS

MOST_S = 10.0  # of processor time, for a load and a reply
_ROOT = Path(__file__).resolve().parents[2]


def attacked(kind: str, folder: Path, share: float) -> list[list[Any]]:
    command = [sys.executable, "-m", "tests.helpers.bad_drafters", kind, str(folder), str(share)]
    child = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stdout[-300:] + child.stderr[-1500:]
    return [json.loads(line) for line in child.stdout.splitlines()]


def judge(answers: list[list[Any]]) -> None:
    assert answers
    assert not [answer for answer in answers if answer[3] > MOST_S]
    assert not [answer for answer in answers if answer[2].startswith("InternalError")], "taken for a fault of ours"
    assert not [answer for answer in answers if not answer[4]], "another text than plain decoding's"


@pytest.mark.drill
@pytest.mark.parametrize("kind", [*KINDS, *HEADS, ASSISTANT])
def test_no_damage_to_a_drafter_changes_a_text_or_ends_the_process(kind: str, tmp_path: Path) -> None:
    judge(attacked(kind, tmp_path, 1))


def test_a_sample_of_them(tmp_path: Path) -> None:
    judge(attacked("a head of mimo", tmp_path, 0.01))
