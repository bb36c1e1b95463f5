"""Several replies of every model type with drafts in one forward: the same tokens as alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import Sampling, Speculation
from engine.runtime.batch import Batching, try_batching
from tests.engine.batch_harness import GREEDY, Harness, alone, asking, draft, model, prompt
from tests.families.configs import FAMILIES
from tests.helpers.loading import at_once

WARM = Sampling(temperature=0.8)
BY_TURNS = {
    "afm7",
    "deepseek_v41",
    "gemma2",
    "gpt_bigcode",
    "llama4",
    "longcat_flash_ngram",
    "minimax_m3_vl",
    "phi3small",
}
WITHOUT_DRAFTS = {"baichuan_m1"}  # one module changes its states and its keys


@pytest.mark.families
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.expect_log("cannot run in a batch", "cannot draft in a batch")
def test_every_family_drafts_in_company_exactly(family: str) -> None:
    """One begins behind the point where windows wrap, one wraps on the way, and one has a single token."""
    batching = at_once(try_batching(model(family)))
    shares = family not in BY_TURNS
    assert batching == Batching(shares, drafts=shares and family not in WITHOUT_DRAFTS)
    if not batching.drafts:
        return
    asked = [
        asking(prompt(length, salt), 30, replace(sampling, seed=salt), Speculation.fixed(2 + 2 * salt))
        for salt, (length, sampling) in enumerate([(40, GREEDY), (9, WARM), (1, WARM)])
    ]
    harness = Harness(model(family), draft(family))
    heard = [harness.submit(one) for one in asked]
    harness.run_dry()
    for reply, one in zip(heard, asked, strict=True):
        assert reply.tokens == alone(family, one).tokens
        assert reply.finished.stats.drafted > 9
    assert heard[0].finished.stats.shared_rounds > 4
