"""Names of models: conversions of one model, a drafter's main model, and what a hub calls a model and its state."""

from __future__ import annotations

import re

_ENDINGS = re.compile(
    r"(?:[-_.](?:mlx|mxfp\d|nvfp\d|bf16|fp(?:8|16|32)|instruct|it|chat|hf|speculator|gs\d+|qat|\d(?:\.\d+)?-?bit|q\d"
    r"|awq|gptq|optiq|ud|mixed[-_]\d|dwq(?:[-_](?:v\d|\d{4,8}))?))+$",
    re.IGNORECASE,
)
# A date that marks a later model of the same name: "2507".
_DATED = re.compile(r"(?:thinking)?2[3-9](?:0[1-9]|1[0-2])")
_PART = r"\w(?:[\w.-]{0,94}\w)?"
_REPOSITORY = re.compile(rf"{_PART}/{_PART}", re.ASCII)
_MAKERS = "meta-"  # which not all names of a model have


def stem(name: str) -> str:
    """The common part of the conversions of one model: "qwen3-8b" of "Qwen3-8B-4bit"."""
    return _ENDINGS.sub("", name).casefold().removeprefix(_MAKERS)


def is_named_after(drafter: str, main: str) -> bool:
    """Whether a drafter's name contains its main model's, however the two are written.

    "dspark_qwen3_8b_block7" is named after "Qwen3-8B-4bit", but "Qwen3.6-27B-DFlash" not after "Qwen3.8-27B"; nor
    "Qwen3-4B-Instruct-2507-DFlash" after "Qwen3-4B", which are two models.
    """
    name = _letters(drafter)
    wanted = _letters(stem(main))
    start = name.find(wanted) if wanted else -1
    return start >= 0 and _DATED.match(name, start + len(wanted)) is None


def is_repository(name: object) -> bool:
    return isinstance(name, str) and bool(_REPOSITORY.fullmatch(name)) and ".." not in name and "--" not in name


def is_commit(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{40}", value) is not None


def _letters(name: str) -> str:
    """Without "instruct", which is not always at the end."""
    return re.sub(r"[\W_]|instruct", "", name.casefold())
