"""What the names of models tell: which are conversions of one model, and which main model a drafter is named after."""

from __future__ import annotations

import re

_ENDINGS = re.compile(
    r"(?:[-_.](?:mlx|mxfp4|nvfp4|bf16|fp16|fp8|dwq|instruct|it|chat|hf|speculator|gs\d+|qat|\d(?:\.\d+)?-?bit|q\d))+$",
    re.IGNORECASE,
)
_MAKERS = "meta-"  # in the names of some models, and left out of those of their drafters


def stem(name: str) -> str:
    """What the conversions of one model have in common: "qwen3-8b" of "Qwen3-8B-4bit"."""
    return _ENDINGS.sub("", name).casefold()


def is_named_after(drafter: str, main: str) -> bool:
    """Whether a drafter's name has its main model's in it, however the two are written.

    "dspark_qwen3_8b_block7" is named after "Qwen3-8B-4bit", and "Qwen3.6-27B-DFlash" not after "Qwen3.8-27B".
    """
    return _letters(stem(main).removeprefix(_MAKERS)) in _letters(drafter)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())
