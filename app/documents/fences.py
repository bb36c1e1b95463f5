"""The text of a file in a prompt, between fences that it does not have."""

from __future__ import annotations

import re

_FENCE = "```"
_FENCES = re.compile("```+")  # begins with letters, so that megabytes are searched fast


def fenced(text: str) -> str:
    fence = max((_FENCE, *(found + "`" for found in _FENCES.findall(text))), key=len)
    return f"{fence}\n{text.rstrip()}\n{fence}"
