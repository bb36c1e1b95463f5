"""Rows about what a round costs beyond its forwards, and about replies that share them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import mlx.core as mx

from engine import Sampling, Speculation
from engine.models.loading import LoadedModel, load_model
from engine.sequence import Sequence as TokenSequence
from tests.bench.opponents import Ours, interleaved
from tests.bench.rows import ROWS, Measure, Row
from tests.bench.stage import Stage

_DRAFTED = 4
_LENGTH = 160


def batch4_vs_mlx_lm(stage: Stage, runs: int) -> Row:
    prompts = stage.guide[:4]
    pairs = interleaved(runs, lambda: stage.ours.run_together(prompts, 96), lambda: stage.theirs.together(prompts, 96))
    results = list(pairs)
    a, b = (statistics.median(result[side] for result in results) for side in (0, 1))
    return Row("engine.batch4.vs_mlx_lm", a / b, "ratio", "≥ 0.98", f"{a:.1f} / {b:.1f} tok/s, four questions at once")


def hybrid_rollback_share(stage: Stage, runs: int) -> Row:
    """Rolling two of five tokens back, of a hybrid's round of drafting, verifying and rolling back."""
    main, draft = (load_model(stage.hybrid_folder / name) for name in ("main", "draft"))
    sequence = TokenSequence(main, list(stage.noise[0]))
    while sequence.unread > 1:
        sequence.prefill_chunk()
    forwards, rollbacks = [], []
    for _ in range(8 * runs):
        started = time.perf_counter()
        mx.eval(sequence.feed(mx.array([5, 6, 7, 8, 9])))
        fed = time.perf_counter()
        sequence.caches.commit(3)
        sequence.caches.evaluate()
        rolled = time.perf_counter()
        forwards.append(fed - started)
        rollbacks.append(rolled - fed)
        sequence.tokens[-1:] = [5, 6, 7, 8]
    drafting = _DRAFTED * statistics.median(bare_forwards(draft, 1, runs))
    rollback, forward = statistics.median(rollbacks), statistics.median(forwards)
    share = rollback / (rollback + forward + drafting)
    detail = f"{rollback * 1e3:.2f} of {(rollback + forward + drafting) * 1e3:.1f} ms"
    return Row("engine.hybrid.rollback_share", share, "share", "≤ 0.03", detail)


def bare_forwards(model: LoadedModel, width: int, runs: int) -> list[float]:
    """Seconds of forwards over `width` tokens and nothing else, behind a short context."""
    sequence = TokenSequence(model, list(range(20, 84)))
    while sequence.unread > 1:
        sequence.prefill_chunk()
    seconds = []
    for _ in range(8 * runs):
        started = time.perf_counter()
        mx.eval(mx.argmax(sequence.feed(mx.array(list(range(30, 30 + width)))), axis=-1))
        seconds.append(time.perf_counter() - started)
        sequence.caches.commit(0)
    return seconds


def overhead_share(stage: Stage, runs: int) -> Row:
    whole, bare = round_and_bare_s(stage.ours, stage.main, stage.draft, stage.guide[0], runs)
    detail = f"{(whole - bare) * 1e6:.0f} µs of {whole * 1e3:.2f} ms a round of {_DRAFTED} drafted tokens"
    return Row("engine.overhead_share", (whole - bare) / whole, "share", "≤ 0.03", detail)


def tiny_round_us(stage: Stage, runs: int) -> Row:
    whole, bare = round_and_bare_s(stage.tiny, stage.starter / "main", stage.draft, stage.guide[0], runs)
    detail = f"of {whole * 1e6:.0f} µs; what the starter pair's rounds take beyond their forwards"
    return Row("engine.tiny.round_us", (whole - bare) * 1e6, "µs", "lower", detail)


def round_and_bare_s(engine: Ours, main: Path, draft: Path, prompt: Sequence[int], runs: int) -> tuple[float, float]:
    """What a round takes in a long reply, events and text included, and its bare forwards; measured in turn."""
    networks = load_model(main), load_model(draft)
    rounds, bare = [], []
    for _ in range(runs + 1):
        run = engine.run(prompt, _LENGTH, Speculation.fixed(_DRAFTED), Sampling(temperature=1.3, seed=2))
        stats = run.stats
        assert stats is not None
        rounds.append(stats.decode_s / stats.rounds)
        plain, wide, step = (
            statistics.median(bare_forwards(network, width, 1))
            for network, width in ((networks[0], 1), (networks[0], _DRAFTED + 1), (networks[1], 1))
        )
        drafting = stats.draft_rounds / stats.rounds
        bare.append(drafting * (wide + _DRAFTED * step) + (1 - drafting) * plain)
    return statistics.median(rounds[1:]), statistics.median(bare[1:])


COSTS: tuple[Measure, ...] = (batch4_vs_mlx_lm, hybrid_rollback_share, overhead_share, tiny_round_us)
ALL: tuple[Callable[[Stage, int], Row], ...] = (*ROWS, *COSTS)
