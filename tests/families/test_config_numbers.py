"""Every integer of every family's config, one after the other at a million and at 2 to the 40th: a typed answer within
seconds, in a process that may take little memory. Other kinds of values: `unit/test_inspect_hostile.py` and
`unit/test_numbers.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.families.configs import FAMILIES

MOST_S = 25.0  # of processor time, for a single load
_ROOT = Path(__file__).resolve().parents[2]


def bombed(family: str, folder: Path, share: float) -> list[list[Any]]:
    command = [sys.executable, "-m", "tests.helpers.number_bombs", family, str(folder), str(share)]
    child = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stdout[-300:] + child.stderr[-1500:]
    return [json.loads(line) for line in child.stdout.splitlines()]


@pytest.mark.parametrize(
    ("family", "share"),
    [
        *(pytest.param(name, 1, marks=[pytest.mark.drill, pytest.mark.families]) for name in sorted(FAMILIES)),
        *(pytest.param(name, 0.1, marks=pytest.mark.slow) for name in ("qwen3", "gpt2")),
    ],
)
def test_no_number_of_a_family_keeps_a_load_busy(family: str, share: float, tmp_path: Path) -> None:
    answers = bombed(family, tmp_path, share)
    assert answers
    assert not [answer for answer in answers if answer[3] > MOST_S]
