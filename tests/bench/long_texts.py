"""What five megabytes take of the GUI thread: shown, scrolled, pasted and copied, in a process of its own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup

ROOT = Path(__file__).resolve().parents[2]


def app_long_texts_ms(setup: BenchSetup, runs: int) -> Row:
    """Its CPU time; of all kinds of text and all acts the worst."""
    command = [sys.executable, "-m", "tests.bench.long_texts", str(runs)]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    taken: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    medians = {name: statistics.median(each) for name, each in taken.items()}
    worst = sorted(medians, key=medians.__getitem__, reverse=True)[:4]
    detail = ", ".join(f"{name} {medians[name]:.0f}" for name in worst)
    return Row("app.long_texts_ms", medians[worst[0]], "ms", "≤ 100", detail)


LONG_TEXTS: tuple[Measure, ...] = (app_long_texts_ms,)


def main(runs: int) -> None:
    """In the process of its own."""
    from app.system.qt_application import qt_application
    from app.theme import Theme
    from app.views.widgets.message_edit import MessageEdit
    from tests.helpers import long_texts
    from tests.helpers.transcript_harness import TranscriptHarness, long_chat

    _qt = qt_application()
    taken: dict[str, list[float]] = defaultdict(list)

    def measure(act: long_texts.Act, what: str) -> None:
        for run in range(runs):
            if run:
                act.again()
            taken[f"{act.name} {what}"].append(1000 * long_texts.cpu_s(act.do))

    for unit in long_texts.SHOWN:
        for from_user in (True, False):
            harness = TranscriptHarness(long_chat(2))
            message = long_texts.large_message(unit, from_user=from_user)
            for act in long_texts.showing(harness, message):
                measure(act, f"{'question' if from_user else 'reply'} {unit[:12]!r}")
            for act in long_texts.copying(TranscriptHarness([message])):
                measure(act, f"{unit[:12]!r}")
    for unit in long_texts.PASTED:
        field = MessageEdit(Theme())
        field.resize(500, 200)
        field.show()
        measure(long_texts.pasting(field, long_texts.large(unit)), f"{unit[:12]!r}")
    sys.stdout.write(json.dumps(taken) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
