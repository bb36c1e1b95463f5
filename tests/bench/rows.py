"""The rows of the report: what each measures, against what, and the figure to beat."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from engine import Constraint, ConstraintKind, Sampling, Speculation
from tests.bench.opponents import Ours, Run, Theirs, interleaved
from tests.bench.setup import BenchSetup

GREEDY = Sampling(temperature=0)
SAMPLED = Sampling(temperature=0.8, top_p=0.95, seed=7)
LENGTH = 96
FORM = Constraint(
    ConstraintKind.JSON,
    json.dumps(
        {
            "type": "object",
            "properties": {
                "topic": {"enum": ["models", "speed", "settings", "other"]},
                "answer": {"type": "string", "maxLength": 200},
                "steps": {"type": "array", "items": {"type": "string", "maxLength": 60}, "maxItems": 3},
                "certain": {"type": "boolean"},
            },
            "required": ["topic", "answer", "steps", "certain"],
            "additionalProperties": False,
        }
    ),
)
ANY_TEXT = Constraint(ConstraintKind.REGEX, "(?s:.*)")
FIXED = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
THEIR_DRAFTS = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32)


@dataclass(frozen=True)
class Row:
    id: str
    value: float
    unit: str
    target: str
    detail: str
    each: Sequence[float] = ()  # the figure of each reading by itself: how far they differ, some over several prompts

    @property
    def is_missed(self) -> bool:
        sign, _, figure = self.target.partition(" ")
        return (sign == "≥" and self.value < float(figure)) or (sign == "≤" and self.value > float(figure))

    @property
    def told(self) -> str:
        spread = f"; {min(self.each):.3f} to {max(self.each):.3f} in {len(self.each)} readings" if self.each else ""
        return self.detail + spread


Measure = Callable[[BenchSetup, int], Row]


@dataclass(frozen=True)
class Compared:
    """The rates of two sides, in tokens per second, in each of several interleaved rounds."""

    rounds: Sequence[tuple[float, float]]

    def row(self, name: str, target: str, detail: str = "") -> Row:
        a, b = (statistics.median(rates) for rates in zip(*self.rounds, strict=True))
        said = f"{a:.1f} / {b:.1f} tok/s{detail}"
        return Row(name, a / b, "ratio", target, said, [mine / other for mine, other in self.rounds])


def total_rate(runs: Sequence[Run]) -> float:
    """Tokens per second over all prompts together."""
    return sum(len(run.tokens) for run in runs) / sum(run.seconds for run in runs)


def compare(
    runs: int,
    prompts: Sequence[Sequence[int]],
    one: Callable[[Sequence[int]], Run],
    other: Callable[[Sequence[int]], Run],
) -> Compared:
    """Interleaved runs through all the prompts."""
    rounds = interleaved(runs, partial(_all, one, prompts), partial(_all, other, prompts))
    return Compared([(total_rate(mine), total_rate(theirs)) for mine, theirs in rounds])


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
    compared = compare(runs, setup.guide[:6], ours(setup.ours, Speculation.off()), plain(setup.theirs))
    return compared.row("engine.plain.vs_mlx_lm", "≥ 1.0")


def greedy_vs_plain(setup: BenchSetup, runs: int) -> Row:
    compared = compare(runs, setup.guide, ours(setup.ours, Speculation.auto()), plain(setup.theirs))
    return compared.row("engine.greedy.vs_plain", "≥ 2.0", f", {len(setup.guide)} questions")


def greedy_vs_mlx_lm_spec(setup: BenchSetup, runs: int) -> Row:
    n, theirs = best_of_theirs(setup)
    compared = compare(runs, setup.guide, ours(setup.ours, Speculation.auto()), theirs)
    return compared.row("engine.greedy.vs_mlx_lm_spec", "≥ 1.10", f", their n = {n}")


def sampled_vs_mlx_lm_spec(setup: BenchSetup, runs: int) -> Row:
    n, theirs = best_of_theirs(setup, SAMPLED)
    compared = compare(runs, setup.guide, ours(setup.ours, Speculation.auto(), SAMPLED), theirs)
    detail = f" at temperature 0.8, top-p 0.95, their n = {n}"
    return compared.row("engine.sampled.vs_mlx_lm_spec", "≥ 1.40", detail)


def hostile_vs_plain(setup: BenchSetup, runs: int) -> Row:
    """A draft that has learnt nothing, in replies of 192 tokens; the worst prompt counts."""
    engine = Ours(setup.endless, setup.stranger)
    ratios = []
    for prompt in setup.guide[:5]:
        long = partial(engine.run, prompt, 192, sampling=Sampling(temperature=1.5, seed=3))
        pairs = interleaved(2 * runs, partial(long, Speculation.auto()), partial(long, Speculation.off()))
        ratios.append([auto.rate / off.rate for auto, off in pairs])
    engine.close()
    worst = min(ratios, key=statistics.median)
    detail = "per prompt " + " ".join(f"{statistics.median(each):.3f}" for each in ratios)
    return Row("engine.hostile.vs_plain", statistics.median(worst), "ratio", "≥ 0.98", f"{detail}; the worst", worst)


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
    compared = compare(runs, setup.copies, ours(setup.ours, Speculation.auto()), ours(setup.ours, Speculation.off()))
    setup.ours.set_draft(setup.draft)
    return compared.row("engine.copy.vs_plain", "≥ 2.5", ", lookup only")


def schema_vs_free(setup: BenchSetup, runs: int) -> Row:
    """Answers in a form, beside the same questions answered freely; both with a draft that follows the main model in
    either: a small copy of it, a little wrong.
    """
    setup.ours.set_draft(setup.follower)
    row = _formed(setup, runs, "engine.schema.vs_free")
    setup.ours.set_draft(setup.draft)
    return row


def _formed(setup: BenchSetup, runs: int, name: str) -> Row:
    prompts = setup.guide[:3]
    run = partial(setup.ours.run, length=LENGTH, speculation=Speculation.auto())
    rounds = list(interleaved(runs, partial(_all, partial(run, constraint=FORM), prompts), partial(_all, run, prompts)))
    formed = rounds[-1][0]
    forced, tokens = sum(each.forced for each in formed), sum(len(each.tokens) for each in formed)
    passes = " and ".join(f"{_per_pass(each):.2f}" for each in rounds[-1])
    detail = f", {passes} tokens a pass, {forced} of {tokens} tokens drafted as forced"
    compared = Compared([(total_rate(mine), total_rate(free)) for mine, free in rounds])
    return compared.row(name, "≥ 0.95", detail)


def schema_any_vs_free(setup: BenchSetup, runs: int) -> Row:
    """Under a grammar that allows any text, beside none: the texts are equal, and so is what the draft foresees."""
    prompts = setup.guide[:3]
    run = partial(setup.ours.run, length=LENGTH, speculation=Speculation.auto())
    compared = compare(runs, prompts, partial(run, constraint=ANY_TEXT), run)
    return compared.row("engine.schema.any_vs_free", "≥ 0.95", ", what masks cost")


def schema_vs_plain(setup: BenchSetup, runs: int) -> Row:
    """Answers in a form with the draft and forced tokens, beside the same without either."""
    prompts = setup.guide[:3]
    run = partial(setup.ours.run, length=LENGTH, constraint=FORM)
    sides = (partial(run, speculation=Speculation.auto()), partial(run, speculation=Speculation.off()))
    return compare(runs, prompts, *sides).row("engine.schema.vs_plain", "≥ 1.0")


def _per_pass(runs: Sequence[Run]) -> float:
    known = [run.stats for run in runs if run.stats is not None]
    return sum(stats.generated_tokens for stats in known) / sum(stats.rounds for stats in known)


def hybrid_vs_plain(setup: BenchSetup, runs: int) -> Row:
    engine = setup.hybrid
    compared = compare(runs, setup.noise, ours(engine, Speculation.auto()), ours(engine, Speculation.off()))
    stats = engine.run(setup.noise[0], LENGTH, Speculation.auto()).stats
    accepted = stats.accept_rate if stats is not None else None
    return compared.row("engine.hybrid.vs_plain", "≥ 1.5", f", accept rate {accepted or 0:.2f}")


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
    counted = ratios[1:]
    detail = f"{len(counted)} cold prompts of 700 tokens"
    return Row("engine.ttft.draft_vs_none", statistics.median(counted), "ratio", "≤ 1.02", detail, counted)


ROWS: tuple[Measure, ...] = (
    plain_vs_mlx_lm,
    greedy_vs_plain,
    greedy_vs_mlx_lm_spec,
    sampled_vs_mlx_lm_spec,
    hostile_vs_plain,
    auto_vs_best_fixed,
    copy_vs_plain,
    schema_vs_free,
    schema_any_vs_free,
    schema_vs_plain,
    hybrid_vs_plain,
    ttft_draft_vs_none,
)
