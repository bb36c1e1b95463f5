"""The text of a PDF, read in another process (`pdf_child`), since such files are not trusted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from app.documents.problems import Refused, WhyNot
from app.system.limited_child import ChildFailed, ChildLimits, Stop, lines_of

LIMITS = ChildLimits(cpu_s=60, memory_bytes=2 << 30, output_bytes=64_000_000)


def text_of(path: Path, most_characters: int, stop: Stop, progress: Callable[[float], None]) -> str:
    """The text of the PDF. Raises Refused, or Stopped after `stop`."""
    pages: list[str] = []
    try:
        for line in lines_of("--read-pdf", [str(path), str(most_characters)], LIMITS, stop):
            said = json.loads(line)
            if "why" in said:
                raise Refused(WhyNot(said["why"]), most_characters)
            pages.append(said["text"].strip())
            progress(said["page"] / max(1, said["of"]))
    except (ChildFailed, ValueError, KeyError, TypeError):
        raise Refused(WhyNot.TOO_COMPLEX) from None
    text = "\n\n".join(filter(None, pages))
    if not text:
        raise Refused(WhyNot.SCANNED)
    return text
