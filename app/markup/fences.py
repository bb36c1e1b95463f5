"""Text as code in Markdown, between fences that it does not have: in prompts and exports."""

from __future__ import annotations

import re

_FENCE = "```"
_FENCES = re.compile("```+")  # begins with letters, so that megabytes are searched fast


def fenced(text: str, language: str = "") -> str:
    fence = max((_FENCE, *(found + "`" for found in _FENCES.findall(text))), key=len)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
