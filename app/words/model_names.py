"""A model's name as a user says it, from its repository's: "Gemma 4 12B" of mlx-community/gemma-4-12B-it-4bit.

What is left out is beside it where it matters: the precision among the facts, the repository in a tooltip.
"""

from __future__ import annotations

import re
from functools import lru_cache

from PySide6.QtCore import QCoreApplication

from app.settings import STARTER_EYES, comes_with_app
from engine import drafter_names

# How the weights are stored, and what every chat model is; a name says neither.
_PACKING = re.compile(
    r"(?:it|lm|hf|mlx|mxfp\d\w*|nvfp\d\w*|[bf]p?(?:8|16|32)|bf16|q\d(?:_\w+)?|\d+(?:\.\d+)?bits?|gs?\d+|dwq\w*|awq|gptq|optiq|block\d+|ttt\d+)",
    re.IGNORECASE,
)
_SIZE = re.compile(r"(?:[ae]?\d+(?:\.\d+)?|\d+x\d+(?:\.\d+)?)[bm]", re.IGNORECASE)
_VERSION = re.compile(r"v\d")
_SPELLED = (
    "DeepSeek EAGLE EXAONE GLM GPT InternLM LFM2 LLaVA MiMo MiniCPM MiniMax MoE"
    " OLMo OLMoE OSS QAT QwQ SmolLM SmolLM2 SmolLM3 SmolVLM StarCoder2 VL VLM"
)
_WRITTEN = {word.casefold(): word for word in _SPELLED.split(" ")} | drafter_names()

ARROW = " ← "  # between a main model and its draft


@lru_cache(maxsize=4096)
def human_name(repository: str) -> str:
    """Name for display of "owner/name", a name alone, or "owner/name/folder"; names with spaces stay."""
    name = repository.partition("/")[2].replace("/", "-") or repository
    if " " in name:
        return name  # written for users
    words = re.sub(r"(\d)[-_ ](bits?)\b", r"\1\2", name, flags=re.IGNORECASE)
    kept = [_word(word) for word in re.split(r"[-_ ]+", words) if word and not _PACKING.fullmatch(word)]
    return " ".join(kept) or name


def question_hint(main: str) -> str:
    """Placeholder of the composer. The models that come with the app answer only about one thing."""
    if main == STARTER_EYES:
        return QCoreApplication.translate("Composer", "Ask about a shape or a digit")
    if comes_with_app(main):
        return QCoreApplication.translate("Composer", "Ask about Hunch")
    return QCoreApplication.translate("Composer", "Ask anything")


def pair_name(main: str, draft: str = "") -> str:
    return ARROW.join(human_name(name) for name in (main, draft) if name)


def _word(word: str) -> str:
    if written := _WRITTEN.get(word.casefold()):
        return written
    if _SIZE.fullmatch(word):
        return re.sub(r"[abem]", lambda letter: letter[0].upper(), word.lower())
    return word[0].upper() + word[1:] if word.islower() and not _VERSION.match(word) else word
