"""What a hub's lists say: each field is right, or as good as missing; nothing in them harms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from engine import HubKind, HubModel, HubQuery, drafter_names, is_wanted
from engine.hub.searches import drafts_for, hub_model, hub_models, questions
from engine.models.drafter_kinds import KINDS, is_drafter_folder
from tests.helpers.fake_engine import model_info

ENTRY: dict[str, Any] = {
    "id": "mlx-community/Qwen3-8B-4bit",
    "downloads": 123,
    "likes": 7,
    "gated": "manual",
    "lastModified": "2025-04-28T17:00:00.000Z",
    "tags": ["mlx", "qwen3", "license:apache-2.0", "base_model:Qwen/Qwen3-8B", "base_model:quantized:Qwen/Qwen3-8B"],
    "config": {"model_type": "qwen3", "quantization_config": {"bits": 4}},
    "safetensors": {"parameters": {"BF16": 256_000_000, "U32": 1_023_000_000}, "total": 1_279_000_000},
}


def listed(**changed: Any) -> HubModel:
    model = hub_model({**ENTRY, **changed})
    assert model is not None
    return model


def test_an_honest_entry_is_read_whole() -> None:
    assert listed() == HubModel(
        repository="mlx-community/Qwen3-8B-4bit",
        model_type="qwen3",
        parameters=8_184_000_000,  # of the packed words
        bits=4.0,
        size_bytes=4_604_000_000,
        downloads=123,
        likes=7,
        updated_at=1_745_859_600.0,
        gated=True,
        license="apache-2.0",
        base_models=("Qwen/Qwen3-8B",),
    )


EYES: dict[str, Any] = {"tags": ["mlx", "image-text-to-text"], "config": {"model_type": "gemma3"}}


@pytest.mark.parametrize(
    ("changed", "sees"),
    [
        (EYES, True),
        ({**EYES, "tags": [], "pipeline_tag": "image-text-to-text"}, True),
        ({**EYES, "tags": [], "pipeline_tag": ["image-text-to-text"]}, False),
        ({**EYES, "tags": ["mlx", "text-generation"]}, False),
        ({**EYES, "config": {"model_type": "kimi_vl"}}, False),  # the engine refuses its pictures
        ({**EYES, "config": {"model_type": "llava"}}, False),  # any vision part
        ({**EYES, "config": {}}, False),
        ({**EYES, "id": "org/gemma-3-4b-EAGLE3"}, False),
    ],
)
def test_who_sees_is_said_where_tags_tell_and_the_engine_does(changed: dict[str, Any], sees: bool) -> None:
    assert listed(**changed).sees is sees


def test_drafts_are_searched_by_the_name_that_all_makers_use() -> None:
    main = replace(MAIN, name="Meta-Llama-3.1-8B-Instruct-4bit")
    asked = [parse_qs(urlsplit(path).query)["search"][0] for path in questions(HubQuery(drafts_for=main))]
    assert "llama-3.1-8b EAGLE" in asked


NAMES = [
    "../x/y",
    "a",
    "a/b\n",
    "a/\u202egpj",
    "/etc/passwd",
    7,
    ["a/b"],
    {"a": "b"},
    "a b/c",
]


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_what_no_repository_can_be_called_is_left_out(name: object) -> None:
    assert hub_model({**ENTRY, "id": name}) is None
    rubbish: list[Any] = [None, 1, "x", [], {}, {"id": name}, {"tags": 3}]
    assert [model.repository for model in hub_models([*rubbish, ENTRY])] == [ENTRY["id"]]


HOSTILE: list[Any] = ["1e9", -1, 10**400, 1.5, float("inf"), True, None, [], {}, "\u202e", "9" * 5000, [[[[]]]]]


@pytest.mark.parametrize("field", [key for key in ENTRY if key != "id"])
def test_a_field_that_makes_no_sense_is_as_good_as_missing(field: str) -> None:
    for value in HOSTILE:
        model = listed(**{field: value})
        numbers = (model.parameters, model.size_bytes, model.downloads, model.likes)
        assert all(type(number) is int and 0 <= number < 2**62 for number in numbers), value
        assert 0 <= model.updated_at < 1e12, value
        assert 0 <= model.bits <= 16, value
        texts = (model.model_type, model.license, *model.base_models)
        assert all(text.isascii() and text.isprintable() for text in texts), value


def test_neither_does_one_further_down() -> None:
    keys = ("model_type", "quantization_config", "architectures", "markov_rank", "dflash_config")
    for name, key in (*(("config", key) for key in (*keys, "speculators_model_type")), ("safetensors", "parameters")):
        for value in HOSTILE:
            listed(**{name: {**ENTRY[name], key: value}})
            listed(**{name: {key: {"U32": value, "bits": value}}})


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (HubQuery(), True),
        (HubQuery(bits=4, family="Qwen3", author="MLX-community", most_bytes=5_000_000_000, kind=HubKind.CHAT), True),
        (HubQuery(bits=8), False),
        (HubQuery(family="llama"), False),
        (HubQuery(family="Qwen3.5"), False),
        (HubQuery(author="mlx"), False),
        (HubQuery(most_bytes=4_000_000_000), False),
        (HubQuery(kind=HubKind.DRAFTER), False),
    ],
)
def test_limits(query: HubQuery, wanted: bool) -> None:
    assert is_wanted(listed(), query) is wanted


def test_where_the_hub_says_no_size_the_name_does_and_what_has_none_is_not_said_to_fit() -> None:
    model = listed(safetensors=None)
    assert (model.parameters, model.size_bytes, model.size_is_estimated) == (8_000_000_000, 4_500_000_000, True)
    whole = listed(id="org/Whole-8B-bf16", config={}, tags=[], safetensors=None)
    assert whole.size_bytes == 16_000_000_000
    unknown = listed(id="org/name", safetensors=None)
    assert unknown.size_bytes == 0
    assert not is_wanted(unknown, HubQuery(most_bytes=10**12))


DRAFTERS: list[tuple[str, str | None]] = [
    ("z-lab/Qwen3-8B-DFlash-b16", "dflash"),
    ("deepseek-ai/dspark_qwen3_8b_block7", "dspark"),
    ("z-lab/Qwen3.8-27B-DFlash2", "dflash2"),
    ("mlx-community/Qwen3-8B-DFly-MLX", "dfly"),
    ("org/Wildfly-8B-4bit", None),
    ("org/Qwen3-8B-EAGLE3", "eagle3"),
    ("amazon/GPT-OSS-20B-P-EAGLE", "peagle"),
    ("RedHatAI/Qwen3-8B-speculator.peagle", "peagle"),
    ("AngelSlim/Qwen3-8b-dflare", "dflare"),
    ("org/Qwen3-8B-Domino", "domino"),
    ("org/domino-8b-4bit", None),
    ("google/gemma-4-12B-it-assistant", "mtp"),
    ("mlx-community/gemma-4-E4B-it-assistant-bf16", "mtp"),
    ("mlx-community/gemma-4-12B-it-qat-assistant-4bit", "mtp"),
    ("somebody/gemma-4-12B-korean-assistant", None),  # a chat model
    ("meta-models/Muse-Glimmer-30B-assistant", "dflash"),
    ("mlx-community/Qwen3-8B-4bit", None),
    ("rapid-mlx/Qwen3-8B-4bit-MTP-MLX", None),  # the whole model with its head: it has that size
]


@pytest.mark.parametrize(("name", "kind"), DRAFTERS)
def test_a_drafter_is_known_by_its_name(name: str, kind: str | None) -> None:
    assert listed(id=name).drafter == kind


def test_a_config_or_a_size_tells_a_drafter_without_its_name() -> None:
    config = {"architectures": ["DFlashDraftModel"], "dflash_config": {"mask_token_id": 1}}
    assert listed(config=config).drafter == "dflash"
    assert listed(id="org/Qwen3-8B-MTP-4bit", safetensors={"parameters": {"U32": 40_000_000}}).drafter == "mtp"


def test_every_kind_of_drafter_is_found_by_its_name() -> None:
    assert {kind for _, kind in DRAFTERS if kind} == set(KINDS)
    names = {*drafter_names(), *drafter_names().values()}
    assert {name for name in names if not is_drafter_folder(name)} == set()


MAIN = model_info("/models/Qwen3-8B-4bit", 4_000_000_000)


@pytest.mark.parametrize(
    ("changed", "fits"),
    [
        ({"id": "z-lab/Qwen3-8B-DFlash-b16"}, True),
        ({"id": "z-lab/Qwen3-4B-DFlash-b16", "tags": []}, False),
        ({"id": "deepseek-ai/dspark_qwen3_8b_block7", "tags": []}, True),
        ({"id": "org/my-DFlash", "tags": ["base_model:Qwen/Qwen3-8B"]}, True),
        ({"id": "org/my-DFlash", "tags": ["base_model:Qwen/Qwen3-4B"]}, False),
    ],
)
def test_a_drafter_goes_with_its_own_main_model(changed: dict[str, Any], fits: bool) -> None:
    assert drafts_for(listed(**changed), MAIN) is fits


def test_a_smaller_model_of_the_family_may_draft() -> None:
    config = {"model_type": MAIN.model_type}
    few, many = ({"parameters": {"BF16": number}} for number in (MAIN.parameters // 8, MAIN.parameters))
    assert drafts_for(listed(id="org/Small", config=config, safetensors=few), MAIN)
    assert not drafts_for(listed(id="org/Large", config=config, safetensors=many), MAIN)
    assert not drafts_for(listed(id="org/Other", config={"model_type": "other"}, safetensors=few), MAIN)


@pytest.mark.parametrize(
    ("name", "family", "is_of_it"),
    [
        ("Qwen3-8B", "Qwen3", True),
        ("Qwen3.5-4B-4bit", "Qwen3", False),
        ("DeepSeek-R1-Qwen3-8B", "qwen3", True),
        ("SmolLM2-1.7B", "SmolLM", True),
        ("gpt-oss-20b", "GPT-OSS", True),
        ("CodeLlama-7B", "Llama", False),
        ("x", "(", False),
    ],
)
def test_families_are_told_apart_by_their_names(name: str, family: str, is_of_it: bool) -> None:
    assert is_wanted(listed(id=f"org/{name}"), HubQuery(family=family)) is is_of_it
