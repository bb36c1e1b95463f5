"""Drafters that read hidden states, in a batch: one forward drafts for all what each would be drafted alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import mlx.core as mx
import pytest

from engine import Sampling
from engine.decoding.accept import integers
from engine.decoding.sampling import Sampler
from engine.drafting.drafters import loading_any_draft, proposer_of
from engine.drafting.plans import PLAIN, Plan
from engine.drafting.proposers.base import Guarded, draft_together
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from engine.runtime.batch import try_draft_rows
from tests.engine.test_block_reference import CONFIGS
from tests.engine.test_drafters_chain import DIALECTS
from tests.helpers import tiny_drafters as tiny
from tests.helpers import tiny_heads as heads
from tests.helpers.loading import at_once, load_model
from tests.helpers.samples import fair
from tests.helpers.tiny_families import save_family

IN_ROWS = [*DIALECTS, *CONFIGS, *(family for family in heads.MAINS if family != "qwen3")]


def loaded_pair(name: str, folder: Path) -> tuple[LoadedModel, LoadedModel]:
    """A main model, and its drafter of that dialect or family."""
    main = folder
    if name in heads.MAINS:
        heads.save_main_with_head(name, folder, heads.head_weights(name))
    else:
        main = folder / "main"
        save_family("dense", main)
        if name in DIALECTS:
            config, head_norms = DIALECTS[name]
            weights = tiny.eagle_weights(config, head_norms=head_norms)
        else:
            config = CONFIGS[name]
            weights = tiny.block_weights(config)
        tiny.save_drafter(folder, config, weights)
    loaded = load_model(main)
    return loaded, at_once(loading_any_draft(folder, loaded))


class Text:
    """A text that random tokens are added to, with random states, and its proposer in a batch."""

    def __init__(self, main: LoadedModel, draft: LoadedModel, chance: Random) -> None:
        self._pair = draft, main
        self._chance = chance
        self._states = mx.random.normal((200, draft.network.reads_width))
        self._received = 0
        self.tokens = [chance.randrange(1, 200) for _ in range(chance.randrange(2, 30))]
        self.guarded = Guarded(proposer_of(draft, main, PrefixStore(), 0))
        self.sampler = Sampler(Sampling(temperature=0), 0, main.logit_width, self.tokens)

    def plan(self) -> Plan:
        """For its next draft, of which it has all states; or none, and it waits."""
        position = self._received
        self._received = len(self.tokens) - 1
        self.guarded.receive_states(position, self._states[position : self._received])
        most = self.guarded.offer(self.tokens).most
        return Plan(self.guarded.name, self._chance.randrange(1, 6)) if most and self._chance.randrange(4) else PLAIN

    def drafted_alone(self, plan: Plan) -> list[int]:
        proposer: Any = proposer_of(*self._pair, PrefixStore(), 0)
        proposer.receive_states(0, self._states[: len(self.tokens) - 1])
        proposer.offer(self.tokens)
        return integers(proposer.propose(self.tokens, plan, self.sampler).tokens)

    def go_on(self) -> None:
        self.tokens += [self._chance.randrange(1, 200) for _ in range(self._chance.randrange(1, 25))]


@pytest.mark.parametrize("name", fair(IN_ROWS, "sliding layers", "qwen3_5", "deepseek_v3", "causal windows"))
def test_drafters_draft_in_company_what_they_draft_alone(name: str, tmp_path: Path) -> None:
    """Replies come and go, wait, and read few tokens or many between two drafts."""
    main, draft = loaded_pair(name, tmp_path)
    assert at_once(try_draft_rows(draft)).drafts
    mx.random.seed(7)
    chance = Random(3)
    texts = [Text(main, draft, chance) for _ in range(4)]
    shapes = Counter[int]()  # forwards, by how many texts each is of

    def counted(forward: Any) -> Any:
        def run(tokens: mx.array, *others: Any) -> Any:
            shapes[tokens.shape[0]] += 1
            return forward(tokens, *others)

        return run

    for turn in range(8):
        if turn == 4:
            texts[1] = Text(main, draft, chance)
        plans = [(text, text.plan()) for text in texts]
        wanted = [text.guarded.wanted(text.tokens, plan, text.sampler) for text, plan in plans]
        counting = {name: counted(getattr(draft.network, name)) for name in ("rows", "ahead")}
        with patch.multiple(draft.network, **counting):
            draft_together([each for each in wanted if each is not None])
            drafting = [(text, plan) for text, plan in plans if plan.length]
            made = [integers(text.guarded.propose(text.tokens, plan, text.sampler).tokens) for text, plan in drafting]
        assert made == [text.drafted_alone(plan) for text, plan in drafting]
        for text in texts:
            text.go_on()
    for text in texts:  # now one after the other
        text.plan()
        plan = Plan(text.guarded.name, 3)
        assert integers(text.guarded.propose(text.tokens, plan, text.sampler).tokens) == text.drafted_alone(plan)
    assert not any(text.guarded.failed for text in texts)
    assert shapes[4] > 8
    assert shapes[4] > shapes[1] / 2


def test_a_head_whose_rows_are_not_what_its_texts_are_alone_drafts_for_one_after_the_other(tmp_path: Path) -> None:
    _, draft = loaded_pair("authors", tmp_path)
    rows = draft.network.rows

    def uneven(tokens: mx.array, *others: Any) -> mx.array:
        made: mx.array = rows(tokens, *others)
        return made * mx.arange(1, tokens.shape[0] + 1)[:, None, None]

    with patch.object(draft.network, "rows", uneven):
        assert not at_once(try_draft_rows(draft)).drafts
