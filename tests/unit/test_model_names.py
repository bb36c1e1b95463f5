"""What a model is called, of names that are on the hub."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.words.model_names import human_name

NAMES = """
mlx-community/gemma-4-12B-it-4bit                     Gemma 4 12B
gemma-4-12B-it-assistant-4bit                         Gemma 4 12B Assistant
mlx-community/Qwen3-4B-Instruct-2507-4bit-DWQ-2510    Qwen3 4B Instruct 2507 2510
mlx-community/Qwen3-Coder-30B-A3B-Instruct-4bit-dwq-v2 Qwen3 Coder 30B A3B Instruct v2
z-lab/Qwen3.5-9B-DFlash                               Qwen3.5 9B DFlash
mlx-community/Meta-Llama-3.1-8B-Instruct-4bit         Meta Llama 3.1 8B Instruct
mlx-community/DeepSeek-R1-Distill-Qwen-7B-MLX-4Bit    DeepSeek R1 Distill Qwen 7B
mlx-community/deepseek-coder-6.7b-instruct-hf-4bit-mlx DeepSeek Coder 6.7B Instruct
mlx-community/gpt-oss-20b-MXFP4-Q8                    GPT OSS 20B
GLM-4.7-Flash-Eagle3                                  GLM 4.7 Flash EAGLE-3
mlx-community/Mistral-Small-3.2-24B-Instruct-2506-4bit Mistral Small 3.2 24B Instruct 2506
mlx-community/Phi-3.5-mini-instruct-4bit              Phi 3.5 Mini Instruct
mlx-community/exaone-4.0-32b-4bit                     EXAONE 4.0 32B
org/Some-Model-9B/mtp                                 Some Model 9B MTP
"""


@pytest.mark.parametrize(("repository", "told"), [line.split(maxsplit=1) for line in NAMES.strip().splitlines()])
def test_names_of_the_hub(repository: str, told: str) -> None:
    assert human_name(repository) == told.strip()


def test_how_a_drafter_is_built_is_not_part_of_its_name() -> None:
    assert human_name("dspark_gemma4_12b_block7") == "DSpark Gemma4 12B"
    assert human_name("eagle3_gemma4_12b_ttt7") == "EAGLE-3 Gemma4 12B"


def test_what_is_a_name_already_or_has_no_other_words_stays() -> None:
    for name in ("Hunch Starter", "Hunch Starter EAGLE-3", "4bit", ""):
        assert human_name(name) == name


@given(st.text(max_size=80))
def test_any_name_gives_one_that_has_words_where_it_has(name: str) -> None:
    told = human_name(name)
    assert told or not name.partition("/")[2] or not name
