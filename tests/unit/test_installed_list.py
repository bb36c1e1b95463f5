"""Which installed models are shown, in which order, and which pairs are offered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.controllers.draft_choices import good_pairs, model_entry, pair_offers
from app.view_models.installed_list import ListView, ModelKind, ModelSort, best_that_sees, shown, starter_as_one
from app.view_models.model_list import ModelEntry
from app.views.models.model_facts import context_text, facts
from engine import (
    DrafterInfo,
    FitLevel,
    MemoryFit,
    ModelAbout,
    ModelInfo,
    ModelNotFound,
    ModelSource,
    load_catalog,
    memory_fit,
)
from engine.models.fit import memory_share
from tests.architecture.project import ROOT
from tests.helpers.fake_engine import model_info
from tests.helpers.fake_model_store import installed

GIB = 1 << 30


def entry(name: str, size: int = 1, used: int = 0, level: FitLevel = FitLevel.FITS, **fields: object) -> ModelEntry:
    fit = MemoryFit(level, 1, 1, 1)
    made = ModelEntry(f"/m/{name}", name, f"org/{name}", ModelSource.OWN, size, last_used=used, fit=fit)
    return replace(made, **fields)  # type: ignore[arg-type]


ENTRIES = [
    entry("Qwen3-13B", 13, 1, about=ModelAbout("Qwen3")),
    entry("Qwen3-2B", 2, 3, about=ModelAbout("Qwen3")),
    entry("giant", 99, level=FitLevel.TOO_LARGE),
    entry("head", 1, 2, drafter="eagle3", fit=None),
]


def test_what_sees_and_comes_with_the_app_follows_only_the_starter() -> None:
    starter = entry("Hunch Starter", source=ModelSource.STARTER, is_main=True)
    eyes = entry("eyes", source=ModelSource.STARTER, sees=True)
    own, other = entry("own", sees=True), entry("other", is_main=True)
    assert best_that_sees([starter, eyes]) is eyes
    assert best_that_sees([other, eyes]) is None
    assert best_that_sees([starter, replace(eyes, parameters=9), own]) is own
    assert best_that_sees([other, eyes, own]) is own


def test_what_a_chat_can_have_of_a_models_context() -> None:
    fits = MemoryFit(FitLevel.FITS, 1, 1, 40_960)
    whole = entry("m", context_tokens=40_960)
    assert context_text(replace(whole, fit=fits)) == "40,960 tokens"
    tight = replace(whole, fit=replace(fits, largest_context_tokens=9_000))
    assert context_text(tight) == "40,960 tokens · 9,000 fit in memory"
    limited = context_text(replace(tight, asked_tokens=2_048))
    assert limited.endswith("9,000 fit in memory · limited to 2,048 in Settings")
    more = context_text(replace(whole, fit=fits, asked_tokens=99_999))
    assert more == "40,960 tokens · 99,999 set in Settings"
    assert model_entry(installed(model_info("/m")), "", "", 100).fit == memory_fit(model_info("/m"), 100)


def names(view: ListView) -> list[str]:
    return [each.name for each in shown(ENTRIES, view)]


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (ListView(), ["giant", "head", "Qwen3-2B", "Qwen3-13B"]),
        (ListView(sort=ModelSort.SIZE), ["giant", "Qwen3-13B", "Qwen3-2B", "head"]),
        (ListView(sort=ModelSort.LAST_USED), ["Qwen3-2B", "head", "Qwen3-13B", "giant"]),
        (ListView(kind=ModelKind.CHAT), ["giant", "Qwen3-2B", "Qwen3-13B"]),
        (ListView(kind=ModelKind.DRAFTER), ["head"]),
        (ListView(fits_only=True), ["head", "Qwen3-2B", "Qwen3-13B"]),
        (ListView(text="QWEN 13"), ["Qwen3-13B"]),
        (ListView(text="nothing"), []),
    ],
)
def test_the_list_is_shown_as_asked(view: ListView, expected: list[str]) -> None:
    assert names(view) == expected


def drafter(folder: str, main: ModelInfo) -> ModelInfo:
    made = DrafterInfo("dflash", main.width, main.layers, main.vocabulary_rows, (1,))
    return replace(model_info(folder, 10), vocabulary_digest="", drafter=made)


def test_each_model_tells_which_main_models_it_drafts_for() -> None:
    main = replace(model_info("/m/Main-8B"), width=64, layers=9, vocabulary_rows=100)
    small, other = model_info("/m/Small-1B", 1_000_000_000), model_info("/m/Other", 10, "vocabulary-b")
    found = good_pairs([installed(each) for each in (main, small, other, drafter("/m/Main-8B-DFlash", main))])
    assert [(a.name, b.name) for a, b in found] == [("Main-8B", "Small-1B"), ("Main-8B", "Main-8B-DFlash")]


def told(name: str, model: ModelEntry) -> str:
    return dict(facts(model, 8_192)).get(name, "")


def test_the_precision_of_each_model_is_told() -> None:
    quantized = replace(model_info("/m"), weight_bytes=4_000_000_000)
    assert told("Precision", model_entry(installed(quantized), "", "")) == "4\u2011bit"
    named = replace(quantized, quantization="MXFP4")
    assert told("Precision", model_entry(installed(named), "", "")) == "4\u2011bit MXFP4"
    for bits in (16, 32):
        whole = replace(quantized, bits=None, weight_bytes=quantized.parameters * bits // 8)
        assert told("Precision", model_entry(installed(whole), "", "")) == f"{bits}\u2011bit"
    assert told("Precision", model_entry(installed(quantized, error=ModelNotFound("/m")), "", "")) == ""


def test_what_is_here_need_not_be_fetched() -> None:
    catalog, memory = load_catalog(ROOT / "resources" / "catalog.json"), memory_share(16 * GIB, is_mac=True)
    offer = pair_offers(catalog, "ko", [], lambda _main, _draft: None, memory)[0]
    assert offer.missing == (offer.main, offer.draft)
    halves = [replace(installed(model_info(f"/m/{name}")), repository=name) for name in (offer.main, offer.draft)]
    half = pair_offers(catalog, "ko", halves[1:], lambda _main, _draft: None, memory)[0]
    assert half.download_bytes < offer.download_bytes
    assert half.missing == (offer.main,)
    whole = pair_offers(catalog, "ko", halves, lambda _main, _draft: None, memory)[0]
    assert (whole.missing, whole.download_bytes) == ((), 0)


def test_what_comes_with_the_app_is_one_row() -> None:
    main, draft = (
        replace(entry(name), source=ModelSource.STARTER, parameters=number)
        for name, number in (("main", 5), ("draft", 1))
    )
    other = entry("other")
    assert starter_as_one([draft, other, main]) == [other, main]
    eyes = replace(draft, sees=True)
    assert starter_as_one([draft, eyes, main]) == [eyes, main]
    assert starter_as_one([other]) == [other]
