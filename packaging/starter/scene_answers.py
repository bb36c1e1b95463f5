"""What is asked about a scene, and what is right to say, in four languages. No MLX."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from numpy.random import Generator
from scenes import COLOURS, SHAPES, Scene

WORDS: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "scene_words.json").read_text("utf-8"))
LANGUAGES = tuple(WORDS)
TASKS = ("whole", "colour", "count", "shape", "digit")
_CLOSED_SYLLABLES = "013678"  # Korean digits that are read with a consonant at the end


def answer(scene: Scene | None, task: str, language: str) -> str:
    words = WORDS[language]
    if scene is None:
        return str(words["say"]["nothing"])
    if scene.shape == "unknown":
        return str(words["say"]["unknown"])
    kind, digit = [*SHAPES, "digit"].index(scene.shape), str(scene.digit)
    named = {
        "colour": words["colours"][list(COLOURS).index(scene.colour)],
        "shape": words["shapes"][kind],
        "shapes": words["many"][kind],
        "count": words["counts"][scene.count - 1],
        "digit": digit,
        "subject": "이" if digit in _CLOSED_SYLLABLES else "가",
        "copula": "이에요" if digit in _CLOSED_SYLLABLES else "예요",
    }
    said = words["say"][_manner(scene, task)]
    return str(said if isinstance(said, str) else said[scene.count > 1]).format(**named)


def _manner(scene: Scene, task: str) -> str:
    if scene.shape == "digit":
        return "whole_digit" if task == "whole" else task
    return "no_digit" if task == "digit" else task


def question(random: Generator, task: str, language: str) -> str:
    """One of those that are taught, as it may be typed."""
    asked = WORDS[language]["ask"][task]
    text = str(asked[random.integers(len(asked))])
    if random.random() < 0.2:
        text = text.rstrip("?？.。")
    return text[:1].lower() + text[1:] if random.random() < 0.2 else text


def texts() -> list[str]:
    """All that is asked and said, for a tokenizer."""
    found: list[str] = []
    for words in WORDS.values():
        for asked in words["ask"].values():
            found += asked
        for said in words["say"].values():
            for form in [said] if isinstance(said, str) else said:
                for at in range(10):
                    named = {key: words[f"{key}s"][at % len(words[f"{key}s"])] for key in ("colour", "shape", "count")}
                    many = words["many"][at % len(words["many"])]
                    copula, subject = ("이에요", "이") if at % 2 else ("예요", "가")
                    found.append(form.format(**named, shapes=many, digit=at, copula=copula, subject=subject))
    return found
