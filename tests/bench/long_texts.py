"""Long odd texts in the transcript: the longest time that one of them keeps the GUI thread, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup

_ROOT = Path(__file__).resolve().parents[2]
KINDS = {
    "joined emoji": "👩\u200d" * 10_000,
    "emoji": "🎉😀🚀" * 1000,
    "tags": "\U000e0067" * 20_000,
    "soft hyphens": "\u00ad" * 100_000,
    "marks": "a" + "\u0301" * 100_000,
    "conjuncts": "क\u094d" * 50_000,
    "one word": "x" * 1_000_000,
    "items": "- a\n" * 100_000,
    "rules": "---\n\n" * 30_000,
    "formulas": "$a" * 50_000,
    "wide table": "|" + "a|" * 38 + "\n|" + "-|" * 38 + "\n" + ("|" + "a|" * 38 + "\n") * 38,
    "large table": "|" + "a|" * 300 + "\n|" + "-|" * 300 + "\n" + ("|" + "a|" * 300 + "\n") * 300,
}


def app_long_texts_ms(setup: BenchSetup, runs: int) -> Row:
    """CPU time; the least of several runs for each kind and act, and of those the longest."""
    command = [sys.executable, "-m", "tests.bench.long_texts", str(runs)]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    ended = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=True)
    taken: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    worst = sorted(taken, key=taken.__getitem__, reverse=True)[:4]
    detail = ", ".join(f"{name} {taken[name]:.0f}" for name in worst)
    return Row("app.long_texts_ms", taken[worst[0]], "ms", "≤ 100", detail)


LONG_TEXTS: tuple[Measure, ...] = (app_long_texts_ms,)


def _main(runs: int) -> None:
    """In the process of its own."""
    from PySide6.QtWidgets import QApplication

    from app.system.qt_application import qt_application
    from app.view_models.transcript import ReplyStatus
    from tests.helpers.transcript_harness import TranscriptHarness, long_chat, question, reply

    _qt = qt_application()
    taken: dict[str, float] = {}

    def turns_ms(harness: TranscriptHarness, act: Callable[[], object]) -> float:
        """The longest turn of the event loop until nothing is left to do."""
        longest = _cpu_ms(act)
        for _ in range(100):
            longest = max(longest, _cpu_ms(QApplication.processEvents))
            if not harness.view.visible_parts.has_more and not harness.view.finder.is_reading:
                break
        return max(longest, _cpu_ms(harness.view.viewport().repaint))

    def measure(harness: TranscriptHarness, name: str, act: Callable[[], object]) -> None:
        taken[name] = min(taken.get(name, float("inf")), turns_ms(harness, act))

    for kind, text in KINDS.items():
        for _ in range(runs):
            for make in (question, reply):
                harness = TranscriptHarness(long_chat(2))
                view = harness.view
                measure(harness, f"open {kind}", lambda: harness.model.append(make(900, text)))  # noqa: B023
                measure(harness, f"resize {kind}", lambda: view.resize(700, 600))  # noqa: B023
                measure(harness, f"find {kind}", lambda: view.finder.find(text[:1]))  # noqa: B023
                view.finder.close()
                measure(harness, f"select {kind}", view.selectAll)
                measure(harness, f"copy {kind}", lambda: view.copier.copy_selection(markdown=False))  # noqa: B023
            harness = TranscriptHarness([reply(900, text[:100], ReplyStatus.STREAMING)])
            measure(harness, f"append {kind}", lambda: harness.model.append_text(900, text))  # noqa: B023
    sys.stdout.write(json.dumps(taken) + "\n")


def _cpu_ms(act: Callable[[], object]) -> float:
    started_s = time.thread_time()
    act()
    return 1000 * (time.thread_time() - started_s)


if __name__ == "__main__":
    _main(int(sys.argv[1]))
