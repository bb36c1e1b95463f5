"""The catalog that ships, and what is recommended from it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import (
    HUB_FAMILIES,
    RECOMMENDED_SHARE,
    TYPICAL_OF_KIND,
    Catalog,
    CatalogAcceptance,
    CatalogDraft,
    CatalogModel,
    FitLevel,
    ForwardTimes,
    HubModel,
    HubQuery,
    drafter_names,
    fit_together,
    is_made_for,
    is_wanted,
    load_catalog,
    published_acceptance,
)
from engine.drafting.costs import acceptance_of
from engine.hub.catalog import PAIR_CONTEXT_TOKENS
from engine.models.drafter_kinds import drafter_kind
from engine.models.families import FAMILIES, family_name
from engine.models.fit import memory_share
from engine.models.inspect import check_config
from engine.models.mtp_families import FAMILIES as MTP_FAMILIES
from engine.models.mtp_families import family_of
from engine.models.names import is_named_after, stem
from engine.models.vision_config import tower_of
from tests.architecture.project import ROOT

FILE = ROOT / "resources" / "catalog.json"
GIB = 1 << 30
LEAST_GAIN = 1.1  # of a drafter that is recommended
LANGUAGES = ("en", "ko", "ja", "zh_CN")


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(FILE)


def test_every_entry_is_plausible(catalog: Catalog) -> None:
    entries: list[CatalogModel | CatalogDraft] = [*catalog.models, *catalog.drafts]
    for each in (catalog.models, catalog.drafts):  # a chat model may be in both
        assert len({entry.repository for entry in each}) == len(each)
    for entry in entries:
        estimate = entry.parameters * (16 if entry.bits is None else entry.bits + 0.5) / 8
        assert 0.6 < entry.download_bytes / estimate < 1.6, entry.repository
        assert entry.bits is None or 2 <= entry.bits <= 8
        assert entry.source == "public code that loads it" or entry.source.startswith("https://")
    for model in catalog.models:
        assert 2_048 <= model.context_tokens <= 2**20
        assert model.licence
        assert re.fullmatch(r"202[4-6]-(0[1-9]|1[0-2])", model.released)
        assert "en" in model.languages


def test_each_family_of_the_catalog_can_be_looked_for(catalog: Catalog) -> None:
    """By one of the names that a search offers; "LFM2" finds no LFM2.5."""
    missed = {"Nemotron", "Muse Glimmer", "MiniCPM"}  # a model each
    for model in catalog.models:
        told = HubModel(model.repository)
        found = any(is_wanted(told, HubQuery(family=family)) for family in HUB_FAMILIES)
        assert found is (model.family not in missed), model.repository


@pytest.mark.parametrize("name", HUB_FAMILIES)
def test_a_family_that_can_be_looked_for_is_one_of_the_engines(name: str) -> None:
    families = {family.name for family in FAMILIES.values()}
    assert any(family.startswith(name) for family in {family_name("", name), *families} - {""})


def test_every_drafters_main_model_is_there(catalog: Catalog) -> None:
    known = {model.repository: model for model in catalog.models}
    for draft in catalog.drafts:
        assert draft.mains
        assert set(draft.mains) <= known.keys(), draft.repository
        for main in draft.mains:
            assert draft.parameters < known[main].parameters, (draft.repository, main)
            if draft.kind is None:
                assert draft.download_bytes < known[main].download_bytes, (draft.repository, main)
        for gain in draft.gains:
            assert gain.main in draft.mains
            assert 0.2 < gain.times < 6
            assert gain.source.startswith("https://")
            assert gain.on in {"chat", "code", "math", "mixed"}
        for told in draft.acceptances:
            assert told.main in ("", *draft.mains)
            assert 1 < told.tokens_per_pass < 8
            assert told.drafted == 0 or told.tokens_per_pass < told.drafted + 1
            assert told.source.startswith("https://")
            assert told.on in {"chat", "code", "math", "mixed"}


def test_drafters_are_known_by_their_main_models_names(catalog: Catalog) -> None:
    """And not taken for those of the family's next, which have the same sizes."""
    for draft in (draft for draft in catalog.drafts if draft.kind is not None):
        for model in catalog.models:
            of_it = stem(model.name) in {stem(main.rpartition("/")[2]) for main in draft.mains}
            assert is_made_for(model.info(), draft.info()) is of_it, (draft.repository, model.repository)


MODEL_TYPES = {
    "Qwen3.5": "qwen3_5",
    "Qwen3.6": "qwen3_5",
    "Qwen3.8": "qwen3_5",
    "Gemma 3": "gemma3",
    "Gemma 4": "gemma4",
}


def test_a_model_is_said_to_see_where_the_engine_knows_its_vision_part(catalog: Catalog) -> None:
    for model in catalog.models:
        model_type = MODEL_TYPES.get(model.family, "")
        assert model.sees is (tower_of({"model_type": model_type}) is not None), model.repository
        assert model.info().sees is model.sees


def test_the_best_that_sees_fits_and_is_larger_on_a_larger_mac(catalog: Catalog) -> None:
    sizes = []
    for memory in (memory_share(gib * GIB, is_mac=True) for gib in (8, 16, 64)):
        best = catalog.best_that_sees(memory, "zh_CN")
        assert best is not None
        assert best.sees
        assert fit_together((best.info(),), PAIR_CONTEXT_TOKENS, memory).level is not FitLevel.TOO_LARGE
        other = catalog.best_that_sees(memory, "zh_CN", [best.repository])
        assert other is not None
        assert other.repository != best.repository
        sizes.append(best.parameters)
    assert sizes[0] < sizes[-1]
    assert sizes == sorted(sizes)
    assert catalog.best_that_sees(GIB, "en") is None
    assert catalog.best_that_sees(64 * GIB, "xx") is None


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("gib", [16, 24, 32, 36, 48, 64, 128])
def test_a_picture_is_offered_the_first_of_the_recommended_that_see(catalog: Catalog, gib: int, language: str) -> None:
    memory = memory_share(gib * GIB, is_mac=True)
    recommended = [pair.main.repository for pair in catalog.pairs_for(memory, language) if pair.main.sees]
    assert recommended
    here = list[str]()
    while (offered := catalog.best_that_sees(memory, language, here)) and offered.repository in recommended:
        here.append(offered.repository)
    assert here == recommended
    assert offered is not None  # there are more, of which none is recommended
    assert fit_together((offered.info(),), PAIR_CONTEXT_TOKENS, memory).level is FitLevel.FITS


def published_config(draft: CatalogDraft) -> dict[str, Any]:
    """What tells its dialect, of the config in which those who publish it publish drafters of its kind."""
    publisher, _, name = draft.repository.partition("/")
    assert draft.kind is not None
    if publisher == "RedHatAI":
        return {"speculators_model_type": draft.kind, "transformer_layer_config": {"hidden_act": "silu"}}
    if publisher == "deepseek-ai":
        part = "Eagle3" if draft.kind == "eagle3" else "DSpark"  # also of its DFlash
        return {"architectures": [f"{'Gemma4' if 'gemma4' in name else 'Qwen3'}{part}Model"]}
    if draft.kind == "mtp" and name.startswith("gemma-4"):
        return {"model_type": "gemma4_assistant"}
    if draft.kind == "mtp":
        families = {"Qwen3.5": "qwen3_5", "Qwen3.6": "qwen3_5", "Qwen3.8": "qwen3_5", "GLM-4.7": "glm4_moe_lite"}
        return {"model_type": next(f"{family}_mtp" for start, family in families.items() if name.startswith(start))}
    named = "LlamaForCausalLMEagle3" if draft.kind == "eagle3" else f"{drafter_names()[draft.kind]}DraftModel"
    return {"architectures": [named], "hidden_act": "silu"}


def test_every_drafter_of_the_catalog_is_of_a_dialect_that_is_computed_here(catalog: Catalog) -> None:
    """Recommendations are made of the whole list."""
    for draft in (draft for draft in catalog.drafts if draft.kind is not None):
        config = published_config(draft)
        check_config(draft.repository, config)
        assert drafter_kind(config) == draft.kind, draft.repository
        if draft.kind == "mtp" and config["model_type"] != "gemma4_assistant":
            assert family_of(config["model_type"], config) in MTP_FAMILIES, draft.repository


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("memory_gib", [8, 16, 24, 32, 64, 128])
def test_every_mac_gets_pairs_that_fit_it(catalog: Catalog, memory_gib: int, language: str) -> None:
    available = memory_share(memory_gib * GIB, is_mac=True)
    pairs = catalog.pairs_for(available, language)
    assert 1 <= len(pairs) <= 4
    assert len({pair.main.family for pair in pairs}) == len(pairs)
    for pair in pairs:
        assert pair.fit.level is not FitLevel.TOO_LARGE
        assert pair.main.download_bytes + pair.draft.download_bytes < pair.fit.needed_bytes <= available
        assert language[:2] in pair.main.languages
        assert pair.main.repository in pair.draft.mains
        # No chat model that the picker would not recommend, but where somebody has measured that it pays.
        small = pair.draft.parameters <= RECOMMENDED_SHARE * pair.main.parameters
        assert small or pair.gain is not None or pair.draft.kind is not None
    assert pairs[0].fit.level is FitLevel.FITS


@pytest.mark.parametrize("memory_gib", [8, 16, 24, 32, 64, 128])
def test_no_pair_has_a_draft_beside_which_a_faster_one_was_measured(catalog: Catalog, memory_gib: int) -> None:
    """One that nobody has measured comes before it only where that does not fit, or hardly gains."""
    available = memory_share(memory_gib * GIB, is_mac=True)
    for pair in catalog.pairs_for(available, "en"):
        main = pair.main
        fitting = [
            draft
            for draft in catalog.drafts
            if main.repository in draft.mains
            and fit_together((main.info(), draft.info()), PAIR_CONTEXT_TOKENS, available).level
            is not FitLevel.TOO_LARGE
        ]
        told = [gain.expected_times for draft in fitting if (gain := draft.gain_for(main.repository)) is not None]
        worth_it = [times for times in told if times >= LEAST_GAIN]
        own = pair.gain.expected_times if pair.gain is not None else 1.0
        assert own >= max(worth_it, default=1.0), (main.repository, pair.draft.repository)


def test_a_larger_mac_gets_a_larger_model_first(catalog: Catalog) -> None:
    memories = [memory_share(gib * GIB, is_mac=True) for gib in (8, 16, 64)]
    sizes = [catalog.pairs_for(memory, "ko")[0].main.parameters for memory in memories]
    assert sizes == sorted(set(sizes))
    assert catalog.pairs_for(0, "en") == ()


def test_newer_and_faster_comes_before_larger(catalog: Catalog) -> None:
    best = catalog.pairs_for(memory_share(48 * GIB, is_mac=True), "ja")[0]
    assert best.main.family == "Qwen3.8"
    assert best.gain is not None
    assert (best.gain.on, best.gain.times > 2) == ("chat", True)


def test_what_a_draft_may_bring_is_told_where_a_model_like_its_main_one_was_measured(catalog: Catalog) -> None:
    main, draft = "mlx-community/Qwen3-8B-8bit", "deepseek-ai/dspark_qwen3_8b_block7"
    by_width = {1: 0.04, 2: 0.041, 4: 0.043, 8: 0.05}
    like = ForwardTimes(8_000_000_000, False, tuple(by_width.items()))
    found = catalog.predicted(main, draft, [like])
    assert found is not None
    assert found.on == "chat"
    assert 1.3 < found.times < 3.72  # no more than the tokens of a pass that somebody has published
    for others in ((), (replace(like, weight_bytes=600_000_000),), (replace(like, sparse=True),)):
        assert catalog.predicted(main, draft, others) is None
    assert catalog.predicted(main, "deepseek-ai/dspark_qwen3_4b_block7", [like]) is None  # made for another one
    of_kind = catalog.predicted(main, "mlx-community/Qwen3-0.6B-4bit", [like])  # nobody told how far it is right
    assert of_kind is not None
    assert of_kind.on == TYPICAL_OF_KIND
    assert 1 < of_kind.times < found.times
    assert catalog.predicted("nobody/nothing", draft, [like]) is None


def test_a_pair_that_was_downloaded_has_the_accept_rate_that_is_published(tmp_path: Path) -> None:
    folders = []
    draft = next(draft for draft in load_catalog(FILE).drafts if draft.name == "dspark_qwen3_4b_block7")
    for name, repository in (("main", draft.mains[0]), ("draft", draft.repository)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "hunch.json").write_text(json.dumps({"repository": repository}))
        folders.append(str(tmp_path / name))

    assert published_acceptance(FILE, *folders) == pytest.approx(acceptance_of(3.64, 7))
    assert published_acceptance(FILE, folders[1], folders[1]) == 0
    assert published_acceptance(tmp_path / "none", *folders) == 0


def test_another_conversion_of_a_model_is_listed_as_the_one_that_is_known(catalog: Catalog) -> None:
    assert catalog.listed_as("somebody/Qwen3-8B-6bit").startswith("mlx-community/Qwen3-8B-")
    assert catalog.listed_as("mlx-community/Qwen3-8B-8bit") == "mlx-community/Qwen3-8B-8bit"
    assert catalog.listed_as("somebody/Qwen3-9B-6bit") == "somebody/Qwen3-9B-6bit"
    assert catalog.listed_as("somebody/Qwen3-8B-Instruct-2507-4bit").startswith("somebody/")
    assert catalog.listed_as("somebody/Llama-3.1-8B-Instruct-6bit").startswith("mlx-community/Meta-Llama-3.1-8B-")
    assert catalog.drafts_for(catalog.listed_as("somebody/Qwen3-8B-6bit"))


@pytest.mark.parametrize(
    "ending",
    [
        "4bit-DWQ",
        "4bit-DWQ-053125",
        "4bit-DWQ-2510",
        "4bit-dwq-v2",
        "OptiQ-4bit",
        "UD-MLX-4bit",
        "AWQ",
        "mixed-4-6bit",
        "mxfp8",
        "fp32",
    ],
)
def test_a_conversion_that_was_improved_is_one_of_its_model(catalog: Catalog, ending: str) -> None:
    assert catalog.listed_as(f"somebody/Qwen3-14B-{ending}").startswith("mlx-community/Qwen3-14B-")
    main = replace(catalog.models[0].info(), name=f"Qwen3-14B-{ending}")
    assert is_made_for(main, replace(catalog.drafts[0].info(), name="Qwen3-14B_eagle3"))


@pytest.mark.parametrize(
    ("drafter", "main", "is_meant"),
    [
        ("EAGLE3-LLaMA3.1-Instruct-8B", "Meta-Llama-3.1-8B-Instruct-4bit", True),
        ("EAGLE3-LLaMA3.1-Instruct-8B", "Llama-3.3-8B-Instruct-4bit", False),
        ("Qwen3-4B-Instruct-2507-DFlash", "Qwen3-4B-Instruct-2507-8bit", True),
        ("Qwen3-4B-Instruct-2507-DFlash", "Qwen3-4B-8bit", False),
        ("Qwen3-4B-Thinking-2507-DFlash", "Qwen3-4B-Instruct-2507-8bit", False),
    ],
)
def test_where_instruct_is_in_a_drafters_name_makes_no_difference(drafter: str, main: str, is_meant: bool) -> None:
    assert is_named_after(drafter, main) is is_meant


def test_of_a_model_made_of_experts_a_step_takes_only_those_that_a_token_needs(catalog: Catalog) -> None:
    """So a draft costs more of a step than it has of the weights."""
    main, draft = "mlx-community/Qwen3.6-35B-A3B-4bit", "mlx-community/Qwen3.6-35B-A3B-MTP-4bit"
    flat = ForwardTimes(20_000_000_000, True, ((1, 0.01), (2, 0.01), (8, 0.01)))
    found = catalog.predicted(main, draft, [flat])
    assert found is not None
    assert 1.5 < found.times < 2  # not 4.1, as by its share of all weights


def test_how_far_a_draft_is_right_is_read_in_both_ways(tmp_path: Path) -> None:
    def told(**row: object) -> CatalogAcceptance:
        draft = {"repository": "a/b", "kind": "mtp", "mains": ["a/m"], "parameters": 1, "bits": 4, "source": "x"}
        content = {
            "models": [],
            "drafts": [draft | {"gains": [], "acceptances": [row | {"on": "chat", "source": "x"}]}],
        }
        (tmp_path / "catalog.json").write_text(json.dumps(content))
        return load_catalog(tmp_path / "catalog.json").drafts[0].acceptances[0]

    assert (told(tokens_per_pass=2.5).tokens_per_pass, told(tokens_per_pass=2.5).drafted) == (2.5, 0)
    assert (told(accepted=0.5, drafted=3).tokens_per_pass, told(accepted=0.5, drafted=3).drafted) == (2.5, 3)
    assert (told(accepted=0.5).tokens_per_pass, told(accepted=0.5).drafted) == (1.5, 1)
    assert told(tokens_per_pass=2.5, main="a/m").main == "a/m"


def test_drafters_with_a_published_gain_come_first(catalog: Catalog) -> None:
    drafts = catalog.drafts_for("mlx-community/Qwen3.8-27B-4bit")
    assert [draft.kind for draft in drafts[:2]] == ["dspark", "dflash2"]
    unmeasured = [draft for draft in drafts if not draft.gains]
    assert unmeasured[-1].kind is None
    assert catalog.drafts_for("nobody/nothing") == ()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"models": [], "drafts": 3}',
        '{"models": [{"repository": "no-owner"}], "drafts": []}',
        '{"models": [], "drafts": [{"repository": "a/b", "kind": "magic"}]}',
    ],
)
def test_a_broken_catalog_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "catalog.json").write_text(content)
    with pytest.raises(ValueError, match=r"catalog\.json"):
        load_catalog(tmp_path / "catalog.json")
