"""The rows of the report: what each measures, against what, and the figure to beat."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import mlx.core as mx

from engine import Sampling, Speculation
from tests.bench.opponents import Ours, Run, Theirs, interleaved
from tests.bench.setup import BenchSetup

GREEDY = Sampling(temperature=0)
SAMPLED = Sampling(temperature=0.8, top_p=0.95, seed=7)
LENGTH = 96
FIXED = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
THEIR_DRAFTS = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32)


@dataclass(frozen=True)
class Row:
    id: str
    value: float
    unit: str
    target: str
    detail: str


Measure = Callable[[BenchSetup, int], Row]


def total_rate(runs: Sequence[Run]) -> float:
    """Tokens per second over all prompts together."""
    return sum(len(run.tokens) for run in runs) / sum(run.seconds for run in runs)


def compare(
    setup: BenchSetup, runs: int, prompts: Sequence[Sequence[int]], *sides: Callable[[Sequence[int]], Run]
) -> list[float]:
    """Median rate of each side over interleaved runs through all the prompts."""
    rounds: list[list[float]] = [[] for _ in sides]
    for results in interleaved(runs, *(partial(_all, side, prompts) for side in sides)):
        for rates, result in zip(rounds, results, strict=True):
            rates.append(total_rate(result))
    return [statistics.median(rates) for rates in rounds]


def _all(side: Callable[[Sequence[int]], Run], prompts: Sequence[Sequence[int]]) -> list[Run]:
    return [side(prompt) for prompt in prompts]


def ours(engine: Ours, speculation: Speculation, sampling: Sampling = GREEDY) -> Callable[[Sequence[int]], Run]:
    return lambda prompt: engine.run(prompt, LENGTH, speculation, sampling)


def plain(theirs: Theirs, sampling: Sampling = GREEDY) -> Callable[[Sequence[int]], Run]:
    return lambda prompt: theirs.plain(prompt, LENGTH, sampling)


def best_of_theirs(setup: BenchSetup, sampling: Sampling = GREEDY) -> tuple[int, Callable[[Sequence[int]], Run]]:
    """mlx-lm's speculative decoding at the draft length that serves it best on these prompts."""
    few = setup.guide[:6]
    rates = {
        n: total_rate([setup.theirs.speculative(prompt, LENGTH, n, sampling) for prompt in few]) for n in THEIR_DRAFTS
    }
    best = max(rates, key=lambda n: rates[n])
    return best, lambda prompt: setup.theirs.speculative(prompt, LENGTH, best, sampling)


def plain_vs_mlx_lm(setup: BenchSetup, runs: int) -> Row:
    a, b = compare(setup, runs, setup.guide[:6], ours(setup.ours, Speculation.off()), plain(setup.theirs))
    return Row("engine.plain.vs_mlx_lm", a / b, "ratio", "≥ 0.99", f"{a:.1f} / {b:.1f} tok/s")


def greedy_vs_plain(setup: BenchSetup, runs: int) -> Row:
    a, b = compare(setup, runs, setup.guide, ours(setup.ours, Speculation.auto()), plain(setup.theirs))
    return Row(
        "engine.greedy.vs_plain", a / b, "ratio", "≥ 2.0", f"{a:.1f} / {b:.1f} tok/s, {len(setup.guide)} questions"
    )


def greedy_vs_mlx_lm_spec(setup: BenchSetup, runs: int) -> Row:
    n, theirs = best_of_theirs(setup)
    a, b = compare(setup, runs, setup.guide, ours(setup.ours, Speculation.auto()), theirs)
    return Row("engine.greedy.vs_mlx_lm_spec", a / b, "ratio", "≥ 1.10", f"{a:.1f} / {b:.1f} tok/s, their n = {n}")


def sampled_vs_mlx_lm_spec(setup: BenchSetup, runs: int) -> Row:
    n, theirs = best_of_theirs(setup, SAMPLED)
    a, b = compare(setup, runs, setup.guide, ours(setup.ours, Speculation.auto(), SAMPLED), theirs)
    detail = f"{a:.1f} / {b:.1f} tok/s at temperature 0.8, top-p 0.95, their n = {n}"
    return Row("engine.sampled.vs_mlx_lm_spec", a / b, "ratio", "≥ 1.40", detail)


def hostile_vs_plain(setup: BenchSetup, runs: int) -> Row:
    """A draft that has learnt nothing, in replies of 192 tokens; the worst prompt counts."""
    engine = Ours(setup.endless, setup.stranger)
    ratios = []
    for prompt in setup.guide[:5]:
        long = partial(engine.run, prompt, 192, sampling=Sampling(temperature=1.5, seed=3))
        pairs = interleaved(2 * runs, partial(long, Speculation.auto()), partial(long, Speculation.off()))
        ratios.append(statistics.median(auto.rate / off.rate for auto, off in pairs))
    engine.close()
    worst = min(ratios)
    detail = "per prompt " + " ".join(f"{ratio:.3f}" for ratio in ratios)
    return Row("engine.hostile.vs_plain", worst, "ratio", "≥ 0.98", detail)


def auto_vs_best_fixed(setup: BenchSetup, runs: int) -> Row:
    """Guide questions, copying, and sampling that no draft foresees: auto against the best fixed length for each."""
    mixed = [(prompt, GREEDY) for prompt in (*setup.guide[:2], setup.copies[0])]
    mixed += [(prompt, Sampling(temperature=1.2, seed=5)) for prompt in setup.guide[3:4]]
    ratios = []
    for prompt, sampling in mixed:
        run = partial(setup.ours.run, prompt, LENGTH, sampling=sampling)
        sides = [partial(run, Speculation.fixed(n)) for n in FIXED] + [partial(run, Speculation.off())]
        results = list(interleaved(max(2, runs // 2), partial(run, Speculation.auto()), *sides))
        medians = [statistics.median(result[side].rate for result in results) for side in range(len(sides) + 1)]
        ratios.append(medians[0] / max(medians[1:]))
    detail = "per prompt " + " ".join(f"{ratio:.2f}" for ratio in ratios)
    return Row("engine.auto.vs_best_fixed", statistics.fmean(ratios), "ratio", "≥ 0.97", detail)


def copy_vs_plain(setup: BenchSetup, runs: int) -> Row:
    """The same question asked again: the answer stands in the chat already. No draft model."""
    setup.ours.set_draft(None)
    a, b = compare(setup, runs, setup.copies, ours(setup.ours, Speculation.auto()), ours(setup.ours, Speculation.off()))
    setup.ours.set_draft(setup.draft)
    return Row("engine.copy.vs_plain", a / b, "ratio", "≥ 2.5", f"{a:.1f} / {b:.1f} tok/s, lookup only")


def hybrid_vs_plain(setup: BenchSetup, runs: int) -> Row:
    engine = setup.hybrid
    a, b = compare(setup, runs, setup.noise, ours(engine, Speculation.auto()), ours(engine, Speculation.off()))
    stats = engine.run(setup.noise[0], LENGTH, Speculation.auto()).stats
    accepted = stats.accept_rate if stats is not None else None
    return Row(
        "engine.hybrid.vs_plain", a / b, "ratio", "≥ 1.5", f"{a:.1f} / {b:.1f} tok/s, accept rate {accepted or 0:.2f}"
    )


def ttft_draft_vs_none(setup: BenchSetup, runs: int) -> Row:
    """The sides are first by turns, and again twice: one reading of a prompt differs by 8 % from the next."""
    auto, off = Speculation.auto(), Speculation.off()
    ratios = []
    for number in range(runs + 1):
        prompt = [*setup.long[: 700 + number], 40 + number]
        times: dict[Speculation, float] = {auto: 0.0, off: 0.0}
        for speculation in (auto, off, off, auto) if number % 2 else (off, auto, auto, off):
            setup.ours.forget()
            times[speculation] += setup.ours.run(prompt, 8, speculation).first_s
        ratios.append(times[auto] / times[off])
    value = statistics.median(ratios[1:])
    return Row("engine.ttft.draft_vs_none", value, "ratio", "≤ 1.02", f"{len(ratios) - 1} cold prompts of 700 tokens")


def second_turn(setup: BenchSetup, runs: int) -> Row:
    ratios = []
    for number in range(max(2, runs // 2)):
        setup.ours.forget()
        history = [40 + number, *setup.long[:4000]]
        cold = setup.ours.run(history, 2, Speculation.auto())
        warm = setup.ours.run([*history, *cold.tokens, *setup.guide[number][:24]], 2, Speculation.auto())
        ratios.append(warm.first_s / cold.first_s)
    value = statistics.median(ratios)
    return Row("engine.prefix.second_turn", value, "ratio", "≤ 0.05", "turn 2 behind 4,000 tokens, to the first token")


def greedy_max_regret(setup: BenchSetup, runs: int) -> Row:
    """Where a greedy run first differs from mlx-lm's plain one: how much less likely its token is there."""
    worst, differing = 0.0, 0
    for prompt in setup.guide:
        base = setup.theirs.plain(prompt, LENGTH).tokens
        other = setup.ours.run(prompt, LENGTH, Speculation.auto()).tokens
        at = next((at for at, (x, y) in enumerate(zip(base, other, strict=False)) if x != y), None)
        if at is None:
            continue
        differing += 1
        logits = setup.theirs.network(mx.array([[*prompt, *base[:at]]]))[0, -1]
        logprobs: Any = (logits - mx.logsumexp(logits)).tolist()
        worst = max(worst, logprobs[base[at]] - logprobs[other[at]])
    detail = f"{differing} of {len(setup.guide)} runs differ somewhere"
    return Row("engine.greedy.max_regret_nats", worst, "nats", "≤ 0.001", detail)


ROWS: tuple[Measure, ...] = (
    plain_vs_mlx_lm,
    greedy_vs_plain,
    greedy_vs_mlx_lm_spec,
    sampled_vs_mlx_lm_spec,
    hostile_vs_plain,
    auto_vs_best_fixed,
    copy_vs_plain,
    hybrid_vs_plain,
    ttft_draft_vs_none,
    second_turn,
    greedy_max_regret,
)
