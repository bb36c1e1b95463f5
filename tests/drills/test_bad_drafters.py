"""Drafters with an absurd config or damaged weights: refused in a sentence of ours, or the text is plain decoding's;
soon, with little memory, and never the end of the process. Damaged files: `tests/unit/test_inspect_hostile.py`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.bad_drafters import ASSISTANT, DIALECTS, HEADS
from tests.helpers.samples import drilled
from tests.helpers.tiny_drafters import KINDS

MOST_S = 10.0  # of processor time, for a load and a reply
MOST_MIB = 64  # the drafters have less than one
_OUR_FAULTS = re.compile(
    r"(?:Type|Attribute|Index|Key|Name|UnboundLocal|ZeroDivision|Overflow|Recursion|Memory)Error: "
)
_ROOT = Path(__file__).resolve().parents[2]


def attacked(kind: str, folder: Path, share: float) -> list[list[Any]]:
    command = [sys.executable, "-m", "tests.helpers.bad_drafters", kind, str(folder), str(share)]
    child = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stdout[-300:] + child.stderr[-1500:]
    return [json.loads(line) for line in child.stdout.splitlines()]


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        *drilled(product([*KINDS, *DIALECTS, *HEADS, ASSISTANT], [1])),
        *product(["a head of mimo", "peagle of speculators"], [0.01]),
    ],
)
def test_no_damage_to_a_drafter_changes_a_text_or_ends_the_process(kind: str, share: float, tmp_path: Path) -> None:
    answers = attacked(kind, tmp_path, share)
    assert answers
    assert not [answer for answer in answers if answer[3] > MOST_S]
    assert not [answer for answer in answers if answer[5] > MOST_MIB]
    assert not [answer for answer in answers if answer[2].startswith("InternalError")], "taken for a fault of ours"
    assert not [answer for answer in answers if answer[2] == "drafted 0"], "loaded, but drafts nothing"
    if kind not in (*HEADS, ASSISTANT):  # their configs are read by mlx-lm
        assert not [answer for answer in answers if _OUR_FAULTS.search(answer[2])], "nobody looked at it"
    assert not [answer for answer in answers if not answer[4]], "another text than plain decoding's"
