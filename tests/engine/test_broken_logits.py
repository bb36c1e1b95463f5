"""A model whose numbers break: the reply that meets them ends with the reason, at the same token whoever drafts."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import mlx.core as mx
import pytest

from engine import Acceptance, Failed, LogitsBroken, Request, Sampling, Speculation, SpeculationMode
from engine.models.loading import LoadedModel
from tests.engine.batch_harness import GREEDY, SAMPLED, Harness, Recorder, alone, asking, draft, model, prompt
from tests.helpers.samples import sampled

FAULTS: dict[str, tuple[float, slice]] = {  # what the logits are, and how many of them
    "NaN": (math.nan, slice(None)),
    "a single NaN": (math.nan, slice(5, 6)),
    "nothing possible": (-math.inf, slice(None)),
    "infinite": (math.inf, slice(5, 6)),
}
LENGTH = 20
# Every fault in one family, and one fault in families of other caches.
CASES = [*((fault, "qwen3") for fault in FAULTS), ("NaN", "gemma3_text"), ("nothing possible", "qwen3_5")]


def kind(sampling: Sampling) -> str:
    return f"temperature {sampling.temperature}"


class Breaking:
    """A network whose logits are broken after one token."""

    def __init__(self, network: Any, fault: str, after: int) -> None:
        self._network, self._fault, self._after = network, fault, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)

    def __call__(self, tokens: mx.array, cache: Any = None) -> mx.array:
        logits = self._network(tokens, cache=cache)
        value, where = FAULTS[self._fault]
        broken = mx.array(logits)
        broken[..., where] = value
        return mx.where((tokens == self._after)[..., None], broken, logits)


def breaking(family: str, fault: str, after: int) -> LoadedModel:
    main = model(family)
    return replace(main, network=Breaking(main.network, fault, after))


def write(main: LoadedModel, *requests: Request, drafts: LoadedModel | None = None) -> list[Recorder]:
    harness = Harness(main, drafts)
    heard = [harness.submit(request) for request in requests]
    harness.run_dry()
    assert all(len(recorder.terminal) == 1 for recorder in heard)
    return heard


def rare_token(family: str, request: Request) -> int:
    """One that the reply says for the first time in its middle, and its prompt does not."""
    tokens = alone(family, request).tokens
    return next(token for at, token in enumerate(tokens) if at > 8 and token not in {*tokens[:at], *request.tokens})


@pytest.mark.costly
@pytest.mark.parametrize(
    ("case", "sampling"),
    sampled(
        {"-".join(case): case for case in CASES},
        {kind(each): each for each in (GREEDY, SAMPLED, Sampling(temperature=0.8, seed=3, top_k=1))},
        rest=pytest.mark.slow,
    ),
)
def test_broken_logits_end_the_reply_where_plain_decoding_meets_them(case: tuple[str, str], sampling: Sampling) -> None:
    fault, family = case
    plain = asking(prompt(12), LENGTH, sampling, Speculation.off())
    main = breaking(family, fault, rare_token(family, plain))
    (expected,) = write(main, plain)
    assert isinstance(expected.failed.error, LogitsBroken)
    assert expected.failed.stats.generated_tokens >= 8

    for speculation in (Speculation.fixed(3), Speculation.fixed(8), Speculation.auto()):
        (heard,) = write(main, replace(plain, speculation=speculation), drafts=draft())
        assert isinstance(heard.failed.error, LogitsBroken)
        assert heard.text == expected.text
        assert heard.failed.stats.generated_tokens == expected.failed.stats.generated_tokens


@pytest.mark.costly
@pytest.mark.parametrize(
    ("case", "alike"),
    sampled({"-".join(case): case for case in CASES}, {"alike": True, "unlike": False}, rest=pytest.mark.slow),
)
def test_a_row_that_breaks_leaves_the_others_alone(case: tuple[str, str], alike: bool) -> None:
    """In a batch, drawn together or each by itself; what each says is what it says alone."""
    fault, family = case
    samplings = [Sampling(temperature=0.9, seed=salt, min_p=0.0 if alike else 0.01 * salt) for salt in range(3)]
    asked = [asking(prompt(12, salt), LENGTH, one, Speculation.off()) for salt, one in enumerate(samplings)]
    broken = rare_token(family, asked[1])
    main = breaking(family, fault, broken)
    says = [broken in (*request.tokens, *alone(family, request).tokens) for request in asked]
    single = [write(main, one)[0] if breaks else alone(family, one) for one, breaks in zip(asked, says, strict=True)]
    assert isinstance(single[1].failed.error, LogitsBroken)
    assert any(not isinstance(each.events[-1], Failed) for each in single)

    for together, by_itself in zip(write(main, *asked), single, strict=True):
        assert together.text == by_itself.text
        assert type(together.events[-1]) is type(by_itself.events[-1])


@cache
def unbroken(request: Request) -> tuple[int, ...]:
    return write(model("qwen3"), request, drafts=draft())[0].tokens


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_reply_whose_drafts_are_judged_by_rejection_breaks_too(fault: str) -> None:
    speculation = Speculation(SpeculationMode.FIXED, 4, Acceptance.REJECTION)
    for seed in range(3):
        asked = asking(prompt(12), LENGTH, Sampling(temperature=0.8, seed=seed), speculation)
        main = breaking("qwen3", fault, next(token for token in unbroken(asked)[6:] if token not in asked.tokens))
        assert isinstance(write(main, asked, drafts=draft())[0].failed.error, LogitsBroken)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("fault", "sampling", "speculation"),
    sampled(
        list(FAULTS),
        {"greedy": GREEDY, "sampled": SAMPLED},
        {"fixed": Speculation.fixed(4), "auto": Speculation.auto()},
    ),
)
def test_a_broken_draft_costs_no_word(fault: str, sampling: Sampling, speculation: Speculation) -> None:
    for after in (0, 5):
        broken = replace(draft(), network=Breaking(draft().network, fault, after))
        asked = asking(prompt(12), LENGTH, sampling, speculation)
        assert write(model("qwen3"), asked, drafts=broken)[0].tokens == alone("qwen3", asked).tokens


class Watching:
    """A network that remembers the largest token it was fed."""

    def __init__(self, network: Any) -> None:
        self._network, self.largest = network, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)

    def __call__(self, tokens: mx.array, cache: Any = None) -> Any:
        largest = mx.max(tokens).item()
        assert isinstance(largest, int)
        self.largest = max(self.largest, largest)
        return self._network(tokens, cache=cache)


@pytest.mark.parametrize("speculation", [Speculation.fixed(4), Speculation.auto()], ids=lambda each: each.mode)
def test_a_draft_with_fewer_rows_is_fed_none_that_it_lacks(speculation: Speculation) -> None:
    """Models of one vocabulary are padded differently; the device would read behind the smaller one's table."""
    watching = Watching(draft().network)
    rows = 16
    asked = asking([*prompt(12), rows + 2], LENGTH, Sampling(temperature=1.5, seed=2), speculation)
    plain = alone("qwen3", asked)
    assert max(plain.tokens) > rows

    smaller = replace(draft(), network=watching, logit_width=rows)
    assert write(model("qwen3"), asked, drafts=smaller)[0].tokens == plain.tokens
    assert 0 < watching.largest < rows
