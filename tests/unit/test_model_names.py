"""Which main model the name of a drafter tells of."""

from __future__ import annotations

import pytest

from engine.models.names import is_named_after


@pytest.mark.parametrize(
    ("drafter", "main", "is_its"),
    [
        ("dspark_qwen3_8b_block7", "Qwen3-8B-4bit", True),
        ("Qwen3.6-27B-DFlash", "Qwen3.8-27B-4bit", False),
        ("Llama-3.1-8B-Instruct-speculator.eagle3", "Meta-Llama-3.1-8B-Instruct-4bit", True),
        ("Qwen3-4B-DFlash-b16", "Qwen3-4B-8bit", True),
        ("Qwen3-30B-A3B-Instruct-2507-speculator.eagle3", "Qwen3-30B-A3B-Instruct-2507-4bit", True),
        ("Qwen3-30B-A3B-Instruct-2507-speculator.eagle3", "Qwen3-30B-A3B-4bit", False),
        ("Qwen3-4B-Thinking-2507-DFlash", "Qwen3-4B-4bit", False),
        ("Qwen3-30B-A3B-speculator.dflash", "Qwen3-30B-A3B-4bit", True),
        ("anything", "", False),
        ("anything", "-4bit", False),
    ],
)
def test_a_drafter_is_named_after_one_model(drafter: str, main: str, is_its: bool) -> None:
    assert is_named_after(drafter, main) is is_its
