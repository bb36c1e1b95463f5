"""What is told of a model for people, and whether it fits: from its files alone."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlx_lm.tokenizer_utils import _infer_tool_parser

from engine import (
    CacheSizes,
    FitLevel,
    ModelAbout,
    ModelInfo,
    estimated_weight_bytes,
    fit_together,
    inspect_model,
    memory_fit,
)
from engine.models.about import _calls_tools, read_about
from engine.models.families import family_name
from engine.models.model_files import JsonObject
from tests.helpers.model_folders import model_files, write_folder

GB = 1_000_000_000
README = b"""---
base_model: Qwen/Qwen3-8B
language:
- en
- "ko"
- not a language
license: apache-2.0
---
# language: xx
"""
INFO = ModelInfo("/m", "m", "qwen3", int(8e9), 4 * GB, 4.0, 1000, "d", 40_000, caches=CacheSizes(100_000, 1_000_000))


def about(tmp_path: Path, **files: bytes) -> ModelAbout:
    names = {"readme": "README.md", "template": "chat_template.jinja", "tokenizer_config": "tokenizer_config.json"}
    named = {names[name]: data for name, data in files.items()}
    return inspect_model(write_folder(tmp_path / "Qwen3-8B-4bit", model_files() | named)).about


def test_family_languages_and_licence(tmp_path: Path) -> None:
    told = about(tmp_path, readme=README)
    assert (told.family, told.languages, told.licence) == ("Qwen3", ("en", "ko"), "apache-2.0")


@pytest.mark.parametrize(
    "readme",
    [b"", b"\xff\xfe", b"---\n", b"no front matter\nlicense: mit", b"---\nlicense: " + b"x" * 90_000, b"---\n- a\n---"],
)
def test_a_readme_without_plain_answers_tells_nothing(tmp_path: Path, readme: bytes) -> None:
    told = about(tmp_path, readme=readme)
    assert (told.languages, told.licence) == ((), "")


def test_a_readme_that_is_a_pipe_tells_nothing_and_nobody_waits_for_it(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "Qwen3-8B-4bit", model_files())
    os.mkfifo(folder / "README.md")
    assert inspect_model(folder).about.licence == ""


@pytest.mark.parametrize(
    ("template", "thinking", "tools"),
    [
        ("{{ messages }}", False, False),
        ("{% if tools %}{{ tools }}{% endif %}", False, False),
        ("{% if tools %}{{ tools }}{% endif %}[TOOL_CALLS]", False, True),
        ("{{ calls }}[TOOL_CALLS]", False, False),
        ("{% if enable_thinking %}<think>{% endif %}", True, False),
    ],
)
def test_what_a_template_can_do(tmp_path: Path, template: str, thinking: bool, tools: bool) -> None:
    told = about(tmp_path, template=template.encode())
    assert (told.template, told.thinking, told.tools) == (True, thinking, tools)


@pytest.mark.parametrize(
    "settings",
    [{"tool_parser_type": "pythonic"}, {"response_template": {"fields": {"tool_calls": {"open": "<call>"}}}}, {}],
    ids=["named", "declared", "neither"],
)
def test_the_tokenizers_config_may_say_how_calls_are_written(tmp_path: Path, settings: dict[str, object]) -> None:
    told = about(tmp_path, tokenizer_config=json.dumps({"chat_template": "{{ tools }}"} | settings).encode())
    assert told.tools is bool(settings)


_SIGNS = [
    *("<|tool_call>", "<tool_call|>", "<tool_call>", "\\n<function=", "\n<function=", "tool_call.name", "<arg_key>"),
    *("<minimax:tool_call>", "<start_function_call>", "<longcat_tool_call>", "<|tool_list_start|>", "[TOOL_CALLS]"),
    *("<|tool_call_start|>", "<|tool_calls_section_begin|>", '<function name="', '<param name="'),
    "<atem:function_calls>",
]


@given(st.lists(st.sampled_from(_SIGNS), max_size=3))
def test_a_syntax_of_calls_is_known_where_mlx_lm_infers_one(signs: list[str]) -> None:
    template = "{{ tools }}" + "".join(signs)
    inferred = _infer_tool_parser(SimpleNamespace(chat_template=template, get_vocab=dict))
    assert _calls_tools(Path("/none"), template) is (inferred is not None)


@pytest.mark.parametrize(
    "told", ["{{ tools }}<arg_key>", [{"name": [], "template": "{{ tools }}<arg_key>"}], {"a": "{{ tools }}<arg_key>"}]
)
@pytest.mark.parametrize("other", [7, [], [7], {"a": {}}, ""])
def test_a_template_in_the_tokenizers_config(tmp_path: Path, told: object, other: object) -> None:
    one, none = (
        about(tmp_path, tokenizer_config=json.dumps({"chat_template": each}).encode()) for each in (told, other)
    )
    assert one.tools
    assert not none.template


@pytest.mark.parametrize(
    ("model_type", "name", "family"),
    [
        ("qwen2", "Qwen2.5-7B-Instruct-4bit", "Qwen2.5"),
        ("qwen3_5", "Qwen3.8-27B-4bit", "Qwen3.8"),
        ("llama", "Meta-Llama-3.1-8B-Instruct-4bit", "Llama 3"),
        ("llama", "mine", "Llama"),
        ("unheard_of", "x", "unheard_of"),
        ("", "x", ""),
    ],
)
def test_families_are_called_by_the_name_that_people_use(model_type: str, name: str, family: str) -> None:
    assert family_name(model_type, name) == family


def test_a_chat_counts_towards_the_fit() -> None:
    fit = memory_fit(INFO, 10_000, 10 * GB)
    assert (fit.level, fit.needed_bytes) == (FitLevel.FITS, 5_201_000_000)
    assert memory_fit(INFO, 10_000, 6 * GB).level is FitLevel.TIGHT
    assert memory_fit(INFO, 10_000, 5 * GB).level is FitLevel.TOO_LARGE
    longest, longer = (memory_fit(INFO, tokens, 100 * GB) for tokens in (40_000, 10**9))
    assert longest.needed_bytes == longer.needed_bytes  # no chat is longer than the model can read


def test_the_largest_context_fits_and_one_token_more_does_not() -> None:
    fit = memory_fit(INFO, 40_000, 5 * GB)
    assert fit.largest_context_tokens == 7_990
    assert memory_fit(INFO, 7_990, 5 * GB).level is FitLevel.TIGHT
    assert memory_fit(INFO, 7_991, 5 * GB).level is FitLevel.TOO_LARGE
    assert memory_fit(INFO, 7_991, 4 * GB).largest_context_tokens == 0


def test_where_memory_limits_the_context_keys_and_values_count_at_8_bits() -> None:
    """If the model has them, and unless the chat says otherwise."""
    info = replace(INFO, caches=CacheSizes(100_000, 1_000_000, 53_125))
    limits = {bits: memory_fit(info, 40_000, 5 * GB, bits).largest_context_tokens for bits in (16, 8, None)}
    assert limits == {16: 7_990, 8: 15_040, None: 15_040}
    assert memory_fit(info, 15_040, 5 * GB).level is FitLevel.TIGHT
    roomy = {bits: memory_fit(info, 10_000, 8 * GB, bits).needed_bytes for bits in (16, 8, None)}
    assert roomy[None] == roomy[16] > roomy[8]  # 32,768 tokens fit, and few chats are longer
    assert memory_fit(INFO, 10_000, 5 * GB, 8) == memory_fit(INFO, 10_000, 5 * GB, 16)


def test_a_draft_changes_the_context_that_fits_and_not_the_bits() -> None:
    info = replace(INFO, caches=CacheSizes(100_000, 1_000_000, 53_125))
    draft = replace(info, weight_bytes=info.weight_bytes // 10)
    fits = {bits: fit_together((info, draft), 10_000, 8 * GB, bits) for bits in (None, 16, 8)}
    assert memory_fit(info, 10_000, 8 * GB) == memory_fit(info, 10_000, 8 * GB, 16)
    assert fits[None] == fits[16] != fits[8]
    assert fits[16].largest_context_tokens < 32_768


def test_what_is_not_here_is_estimated() -> None:
    away = replace(INFO, folder="", caches=None, weight_bytes=estimated_weight_bytes(int(8e9), 4.0))
    fit = memory_fit(away, 10_000, 10 * GB)
    assert 4.4 * GB < away.weight_bytes < fit.needed_bytes < 7 * GB
    assert estimated_weight_bytes(1000, None) == 2000


@pytest.mark.parametrize(
    ("own", "inner", "family"), [("mimo_mtp", "mimo", "MiMo"), ("gemma4", "x", "Gemma 4"), ("x_mtp", "", "x_mtp")]
)
def test_a_drafter_is_of_the_family_of_its_text_part(tmp_path: Path, own: str, inner: str, family: str) -> None:
    config: JsonObject = {"model_type": own, "text_config": {"model_type": inner}}
    assert read_about(tmp_path, config, "head", drafts=True).family == family
