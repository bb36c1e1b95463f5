"""How often a draft changes a text by rounding, and whether each time two tokens were tied, as the app says they are.

MLX's own bfloat16 on a CPU rounds alike at every width. So the starter's main model runs on OpenBLAS, which does not,
and what each layer returns is rounded to bfloat16, as a GPU stores it. Replies have 500 tokens; they go on behind their
end.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import mlx.core as mx

from engine import Sampling
from engine.caches.hooks import hooked
from engine.decoding.round import plain_round, speculative_round
from engine.decoding.sampling import Sampler, gumbel_noise, normalised
from engine.decoding.sequence import Sequence
from engine.drafting.calibration import Tuner
from engine.drafting.costs import RoundCosts
from engine.drafting.plans import Plan
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from tests.bench import pairs
from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup
from tests.helpers.loading import load_draft, load_model

REPLY_TOKENS = 500
REPLIES = 24
SAMPLING = Sampling(temperature=1.6)  # the pair knows its texts so well that at less there are hardly any ties


def ties_beyond_rounding(setup: BenchSetup, runs: int) -> Row:
    """Of the first tokens that differ, those that were further apart than the measured rounding can part them."""
    main = load_model(pairs.endless(setup.starter / "main", setup.folder / "endless-main"))
    draft = load_draft(pairs.endless(setup.starter / "draft", setup.folder / "endless-draft"), main)
    with hooked(list(main.network.layers), _stored_in_half_precision):
        return _row(main, draft)


def _stored_in_half_precision(module: Any, run: Any, *arguments: Any, **keywords: Any) -> mx.array:
    states: mx.array = run(*arguments, **keywords)
    return states.astype(mx.bfloat16).astype(states.dtype)


def _row(main: LoadedModel, draft: LoadedModel) -> Row:
    closest = 2 * _measured(main)
    leads = [
        lead
        for seed, prompt in enumerate(islice(_prompts(main), REPLIES))
        if (lead := _lead_where_they_differ(main, draft, prompt, seed)) is not None
    ]
    detail = (
        f"{len(leads)} of {REPLIES} replies of {REPLY_TOKENS} tokens differ from plain decoding's, first at a token "
        f"that leads by up to {max(leads, default=0.0):.4f} nats; said to be possible below {closest:.4f}"
    )
    return Row("engine.ties.beyond_rounding", sum(lead > closest for lead in leads), "ties", "≤ 0", detail)


def _lead_where_they_differ(main: LoadedModel, draft: LoadedModel, prompt: list[int], seed: int) -> float | None:
    """In nats before the temperature, of plain decoding's token over the other where the texts first differ."""
    logits: list[mx.array] = []

    def noted(module: Any, run: Any, *arguments: Any, **keywords: Any) -> mx.array:
        logits.append(run(*arguments, **keywords)[0, -1:])
        return logits[-1][None]

    with hooked([main.network], noted):
        plain = _written(main, None, prompt, seed)
    drafted = _written(main, draft, prompt, seed)
    at = next((at for at, (one, other) in enumerate(zip(plain, drafted, strict=True)) if one != other), None)
    if at is None:
        return None
    noise = gumbel_noise(seed, at, 1, main.logit_width)
    row = logits[at - len(plain)][:, : main.logit_width]
    values = normalised(row.astype(mx.float32)) + SAMPLING.temperature * noise
    lead: float = (values[0, plain[at]] - values[0, drafted[at]]).item()  # type: ignore[assignment]
    return lead


def _prompts(main: LoadedModel) -> Any:
    questions = ("What is speculative decoding?", "How do I install a model?", "Where are my chats?", "Is it private?")
    for number in range(REPLIES):
        text = f"{questions[number % len(questions)]} {'And why? ' * (number // len(questions))}".strip()
        yield main.tokenizer.encode(text)


def _measured(main: LoadedModel) -> float:
    costs, tuner = RoundCosts(), Tuner()
    tuner.begin(main, None, costs)
    while tuner.pending:
        tuner.step()
    return costs.calibration.rounding


def _written(main: LoadedModel, draft: LoadedModel | None, prompt: list[int], seed: int) -> list[int]:
    sequence = Sequence(main, list(prompt))
    sampler = Sampler(SAMPLING, seed, main.logit_width, prompt)
    while sequence.uncached > 1:
        sequence.prefill_chunk()
    proposer = DraftModelProposer(draft, PrefixStore()) if draft is not None else None
    while len(sequence.tokens) < len(prompt) + REPLY_TOKENS:
        if proposer is None:
            plain_round(sequence, sampler, len)
            continue
        while proposer.offer(sequence.tokens).behind:
            proposer.read_on()
        done = speculative_round(
            sequence, sampler, lambda: proposer.propose(sequence.tokens, Plan("draft", 4), sampler), len
        )
        proposer.commit(done.emitted)
    return sequence.tokens[: len(prompt) + REPLY_TOKENS]


TIES: tuple[Measure, ...] = (ties_beyond_rounding,)
