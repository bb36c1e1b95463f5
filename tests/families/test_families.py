"""Every model type that mlx-lm ships: the same tokens with a draft, without one, and from mlx-lm itself."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlx_lm import models
from mlx_lm.utils import MODEL_ARCHITECTURE_REMAPPING, MODEL_REMAPPING

from engine import DraftingState, Engine, ModelReady, Request, Speculation
from engine.caches.making import WIDTH_MATTERS
from engine.drafting.proposers.draft_model import DraftModelProposer
from engine.prefix.memory import PrefixStore
from tests.architecture.project import ROOT
from tests.families.configs import FAIR_PART, FAMILIES, NOT_FAMILIES, READS_OTHERWISE, UNBUILDABLE, config
from tests.families.examine import CLOSE, EVERY_LENGTH, LEAST_VARIETY, Outcome, examine
from tests.families.harness import GREEDY, PROMPT, REPLY_TOKENS, build, loaded, mlx_lm_reply, noised, reply
from tests.families.report import section
from tests.helpers.engine_client import EngineClient
from tests.helpers.samples import fair
from tests.helpers.tiny_models import build as build_qwen3
from tests.helpers.tiny_models import qwen3_config, save

REPORT = ROOT / "build" / "families.md"


def test_every_model_type_is_examined() -> None:
    """A new release of mlx-lm cannot bring a family that nobody has looked at."""
    shipped = {module.name for module in pkgutil.iter_modules(models.__path__)} - NOT_FAMILIES
    examined = {MODEL_REMAPPING.get(family, family) for family in FAMILIES}

    assert shipped == examined | set(UNBUILDABLE)
    assert {*MODEL_REMAPPING.values(), *MODEL_ARCHITECTURE_REMAPPING.values()} <= examined


@pytest.mark.slow
@pytest.mark.parametrize("family", FAIR_PART)
def test_a_fair_part_speculates_exactly(family: str) -> None:
    check(examine(family, lengths=(1, 4)))


@pytest.mark.parametrize(
    "family",
    fair(
        ["qwen3", "gemma3_text", "qwen3_5", "mamba2", "recurrent_gemma", "deepseek_v41"],
        "gemma3_text",
        "qwen3_5",
        "mamba2",
    ),
)
def test_any_family_can_draft(family: str) -> None:
    """Windows long wrapped and recurrent states forget what did not stand, on the draft's side too."""
    main, draft, tokens = loaded(build(family)), loaded(noised(build(family))), 36
    plain = reply(main, tokens=tokens)
    drafted = reply(main, proposer=DraftModelProposer(draft, PrefixStore()), length=lambda _: 4, tokens=tokens)

    assert drafted.tokens == plain.tokens
    assert {0, 4} & drafted.accepted
    assert len(drafted.accepted) >= 3


@pytest.mark.parametrize("family", fair(WIDTH_MATTERS, *(family for family in WIDTH_MATTERS if family != "phi3small")))
def test_what_cannot_speculate_says_so_and_decodes_plainly(family: str, tmp_path: Path) -> None:
    network, qwen3 = build(family), qwen3_config()
    told = {key: value for key, value in config(family).items() if not key.startswith("rope")}  # it has its own keys
    main = save(network, told, tmp_path / "main")
    draft = save(build_qwen3(qwen3), qwen3, tmp_path / "draft")
    engine = Engine()
    client = EngineClient(engine)
    assert isinstance(client.load(main), ModelReady)
    client.set_draft(draft)
    reply = client.run(
        Request(tokens=tuple(PROMPT), sampling=GREEDY, max_tokens=REPLY_TOKENS, speculation=Speculation.fixed(4))
    )
    assert engine.close()

    assert reply.stats.drafting is DraftingState.UNSUPPORTED
    assert reply.stats.drafted == 0
    assert list(reply.tokens) == mlx_lm_reply(network)


@pytest.fixture(scope="module")
def outcomes() -> Iterator[list[Outcome]]:
    """What the examination of every family has found so far; all of it is left in build/families.md."""
    found: list[Outcome] = []
    yield found
    if len(found) == len(FAMILIES):
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text(section(found))


@pytest.mark.families
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_speculates_exactly_or_says_that_it_does_not(family: str, outcomes: list[Outcome]) -> None:
    outcomes.append(examine(family, EVERY_LENGTH))
    check(outcomes[-1])


@pytest.mark.families
def test_the_documentation_lists_those_that_do_not(outcomes: list[Outcome]) -> None:
    if len(outcomes) < len(FAMILIES):
        pytest.skip("not every family was examined")
    table = section(outcomes).partition("| family |")[2]  # how many are equal to the bit is this machine's affair
    assert table in (ROOT / "engine" / "models" / "README.md").read_text(encoding="utf-8")


def check(outcome: Outcome) -> None:
    assert outcome.variety >= LEAST_VARIETY, "a reply that repeats itself proves nothing"
    assert outcome.plain_is_mlx_lm
    if outcome.family in WIDTH_MATTERS:
        assert not outcome.speculates
        return
    assert outcome.speculates
    assert outcome.unseen_counts == ()
    assert outcome.inexact_lengths == ()
    assert outcome.longest_is_exact
    assert outcome.warm_is_exact
    assert outcome.from_plain <= CLOSE
    assert outcome.from_prefill <= CLOSE or outcome.family in READS_OTHERWISE
    assert outcome.exact
