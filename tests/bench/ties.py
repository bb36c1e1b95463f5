"""How often a draft changes a text by rounding, with and without the second look, where rounding is that of bfloat16.

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
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.drafting.calibration import Tuner
from engine.drafting.costs import RoundCosts
from engine.drafting.plans import Plan
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.models.loading import LoadedModel, load_draft, load_model
from engine.prefix.memory import PrefixStore
from tests.bench import pairs
from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup

REPLY_TOKENS = 500
REPLIES = 24
SAMPLING = Sampling(temperature=1.6)  # the pair knows its texts so well that at less there are hardly any ties


def ties_differences(setup: BenchSetup, runs: int) -> Row:
    main = load_model(pairs.endless(setup.starter / "main", setup.folder / "endless-main"))
    draft = load_draft(pairs.endless(setup.starter / "draft", setup.folder / "endless-draft"), main)
    with hooked(list(main.network.layers), _stored_in_half_precision):
        return _row(main, draft)


def _stored_in_half_precision(module: Any, run: Any, *arguments: Any, **keywords: Any) -> mx.array:
    states: mx.array = run(*arguments, **keywords)
    return states.astype(mx.bfloat16).astype(states.dtype)


def _row(main: LoadedModel, draft: LoadedModel) -> Row:
    rounding = _measured(main)
    careless = careful = looks = 0
    for seed, prompt in enumerate(islice(_prompts(main), REPLIES)):
        plain, _ = _written(main, None, prompt, seed, 0.0)
        careless += _written(main, draft, prompt, seed, 0.0)[0] != plain
        text, looked = _written(main, draft, prompt, seed, rounding)
        careful += text != plain
        looks += looked
    detail = (
        f"{careful} of {REPLIES} replies of {REPLY_TOKENS} tokens differ with the second look, {careless} without; "
        f"{looks / (REPLIES * REPLY_TOKENS):.2%} of tokens looked at twice; rounding {rounding:.3f}"
    )
    return Row("engine.ties.differences", careful / max(1, careless), "ratio", "≤ 0.1", detail)


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


def _written(
    main: LoadedModel, draft: LoadedModel | None, prompt: list[int], seed: int, rounding: float
) -> tuple[list[int], int]:
    sequence = Sequence(main, list(prompt))
    sequence.rounding = rounding
    sampler = Sampler(SAMPLING, seed, main.logit_width, prompt)
    while sequence.unread > 1:
        sequence.prefill_chunk()
    proposer = DraftModelProposer(draft, PrefixStore()) if draft is not None else None
    looks = 0
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
        looks += done.second_looks
    return sequence.tokens[: len(prompt) + REPLY_TOKENS], looks


TIES: tuple[Measure, ...] = (ties_differences,)
