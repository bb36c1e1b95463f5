"""Templates and tokenizers that never end, chosen and asked in the real window: it stays alive, stops and closes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.bad_templates import ENDING_TEMPLATES, REFUSED_TEMPLATES
from tests.helpers.bad_tokenizers import BAD_TOKENIZERS, SLOW_TOKENIZERS
from tests.helpers.samples import drilled

ROOT = Path(__file__).resolve().parents[2]
MOST_GAP_S = 0.1  # of the GUI thread's processor time; what else could hold it, a call that waits, is forbidden
MOST_STALL_S = 1.0  # by the clock: a call that keeps every other thread waiting takes none of its processor time
MOST_CLOSE_S = 2.0
MOST_STOP_S = 30.0  # rendering may take two seconds of processor time, on a machine that is shared
EVERY = sorted([*ENDING_TEMPLATES, *BAD_TOKENIZERS, *SLOW_TOKENIZERS], key=lambda name: name != "loops")
SAMPLE = ["loops", "slice", "power", "replacements", "a catastrophe"]  # it is closed over the first


def tried(folder: Path, names: list[str], with_trial: bool) -> list[list[Any]]:
    command = [sys.executable, "-m", "tests.helpers.bad_model_window", str(folder), str(int(with_trial)), *names]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stdout[-300:] + child.stderr[-1500:]
    return [json.loads(line) for line in child.stdout.splitlines()]


@pytest.mark.parametrize(
    ("names", "with_trial"), [*drilled([(EVERY, False), ([*EVERY, *REFUSED_TEMPLATES], True)]), (SAMPLE, False)]
)
def test_no_template_or_tokenizer_holds_the_window(tmp_path: Path, names: list[str], with_trial: bool) -> None:
    """What holds the window once and not again was waiting for a busy machine."""
    held = judged(tried(tmp_path / "first", names, with_trial), names)
    if held:
        assert not judged(tried(tmp_path / "again", held, with_trial), held)


def judged(answers: list[list[Any]], names: list[str]) -> list[str]:
    """Those that held the window for too long."""
    *of_models, closed, waits = answers
    assert [answer[0] for answer in of_models] == names
    for answer in (*of_models, closed):
        print(answer)  # noqa: T201  the drill's report
    assert waits == []
    assert not [answer for answer in of_models if answer[3] > MOST_STOP_S]
    held = [answer[0] for answer in of_models if answer[1] > MOST_GAP_S or answer[2] > MOST_STALL_S]
    return held if closed[3] <= MOST_CLOSE_S else [*held, *(name for name in names[:1] if name not in held)]
