"""`python -m tests.bench --record`: round times of real replies, for `tests/unit/test_recorded_rounds.py`.

The same greedy reply is written plainly, with other processes beside it and without, which tells what a token is worth
in either case; and then with drafts while they come and go. To be run on a machine that does nothing else.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from engine import Event, Request, RequestId, Sampling, Speculation
from engine.decoding.round import Round
from engine.drafting.costs import ReplyTime, RoundCosts, TimeInPlainRounds
from engine.runtime.queued import QueuedReply
from engine.runtime.reply import Reply
from engine.runtime.scheduler import Scheduler
from tests.bench import pairs
from tests.bench.setup import BenchSetup
from tests.helpers.loading import load_draft, load_model

FILE = Path("tests/unit/recorded_rounds.json")
_TOKENS = 112

Load = Callable[[int], bool]  # by number of the round: whether others run
_CASES = {
    "a gain": (0.15, 3),
    "a small loss": (0.4, 2),
    "a loss": (0.6, 8),
}  # noise in the draft's weights, fixed length
_LOADS: dict[str, Load] = {
    "quiet": lambda number: False,
    "busy at first": lambda number: number < 20,
    "busy later": lambda number: number >= 20,
    "in bursts": lambda number: (number // 9) % 3 == 1,
}


class Others:
    """Two processes that want all of both cores, stopped until they are wanted."""

    def __init__(self) -> None:
        self._processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
        self.run(wanted=False)

    def run(self, *, wanted: bool) -> None:
        for process in self._processes:
            os.kill(process.pid, signal.SIGCONT if wanted else signal.SIGSTOP)

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


# Whether others ran; who drafted; how many tokens were proposed, drafted, accepted and emitted; and four times in
# seconds: the round's, what the prices were told of it, what drafts have read until then, and since the round before.
Row = list[Any]


@contextmanager
def recorded() -> Iterator[list[Row]]:
    """What the rounds of the replies within tell the prices and the account, a row for each."""
    rows: list[Row] = []
    observed: list[float | None] = [None]
    observe, take, total = RoundCosts.observe, Reply.take, ReplyTime.total

    def observing(costs: RoundCosts, source: str, drafted: int, seconds: float) -> None:
        observed[0] = seconds
        observe(costs, source, drafted, seconds)

    def taking(reply: Reply, done: Round, *, others_s: float | None = None) -> None:
        counts = [done.proposed, done.drafted, done.accepted, len(done.emitted)]
        rows.append([reply.rounds.drafting.source_of(done), *counts, done.seconds, observed[0], 0.0])
        observed[0] = None
        take(reply, done, others_s=others_s)

    def totalling(account: ReplyTime, reading_s: float) -> TimeInPlainRounds:
        if rows:
            rows[-1][-1] = reading_s
        return total(account, reading_s)

    with (
        patch.object(RoundCosts, "observe", observing),
        patch.object(Reply, "take", taking),
        patch.object(ReplyTime, "total", totalling),
    ):
        yield rows


def written(
    scheduler: Scheduler, prompt: Sequence[int], speculation: Speculation, others: Others, load: Load
) -> list[Row]:
    """The rows of a reply's rounds."""
    greedy = Sampling(temperature=0)
    request = Request(tokens=tuple(prompt), sampling=greedy, max_tokens=_TOKENS, speculation=speculation)
    table: list[Row] = []
    with recorded() as rows:
        scheduler.add(QueuedReply(RequestId(1), request, _nobody))
        ended = time.perf_counter()
        while scheduler.busy:
            busy = load(len(rows))
            others.run(wanted=busy)
            scheduler.step()
            if len(rows) > len(table):
                begun, ended = ended, time.perf_counter()
                table.append([int(busy), *rows[-1], ended - begun])
    others.run(wanted=False)
    return table


def _nobody(event: Event) -> None:
    """Its events go nowhere."""


def record(setup: BenchSetup) -> None:
    others = Others()
    try:
        cases = [_case(name, setup, others) for name in _CASES]
    finally:
        others.close()
    text = json.dumps(cases, default=float)
    FILE.write_text(json.dumps(_rounded(json.loads(text)), separators=(",", ":")) + "\n", encoding="utf-8")


def _case(name: str, setup: BenchSetup, others: Others) -> dict[str, Any]:
    noise, length = _CASES[name]
    noised = pairs.noised(setup.draft, setup.folder / f"noised-{noise:g}", noise)
    scheduler = Scheduler()
    scheduler.set_main(load_model(setup.endless))
    assert scheduler.main is not None
    scheduler.set_draft(load_draft(pairs.endless(noised, setup.folder / f"endless-{noise:g}"), scheduler.main))
    while scheduler.pair._tuner.pending:
        scheduler.idle_step()
    calibration = scheduler.pair.history.costs.calibration
    prompt, off, fixed = setup.guide[3], Speculation.off(), Speculation.fixed(length)
    for speculation in (off, fixed):  # whatever is done once is done
        written(scheduler, prompt, speculation, others, _LOADS["quiet"])
    plain = [written(scheduler, prompt, off, others, load) for load in (_LOADS["quiet"], lambda number: True)]
    loads = {load: written(scheduler, prompt, fixed, others, busy) for load, busy in _LOADS.items()}
    print(f"  {name}: {', '.join(f'{load} {len(rows)} rounds' for load, rows in loads.items())}", flush=True)  # noqa: T201
    return {
        "name": name,
        "verify_s": dict(calibration.verify_s),
        "draft_s": calibration.draft_s["draft"],
        "round_s": calibration.round_s.get("draft", 0.0),
        "error": calibration.error,
        "plain_s": [statistics.median(row[-1] for row in rows[2:]) for rows in plain],
        "loads": loads,
    }


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return {key: _rounded(each) for key, each in value.items()} if isinstance(value, dict) else value
