"""The text of PDF, Word and HTML files by page, read in another process (`pages_child`): they are not trusted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from app.documents.problems import Refused, WhyNot
from app.system.limited_child import ChildFailed, ChildLimits, Stop, lines_of

LIMITS = ChildLimits(cpu_s=60, memory_bytes=2 << 30, output_bytes=64_000_000)


class DocumentKind(StrEnum):
    PDF = "pdf"
    WORD = "word"  # .docx
    HTML = "html"


@dataclass(frozen=True, slots=True)
class PageText:
    number: int  # 0: the file has no pages
    of: int
    text: str


def kind_of(path: Path, head: bytes) -> DocumentKind | None:
    """By what it holds; an archive and a text also by its name. None: it is none of these."""
    suffix = path.suffix.lower()
    if b"%PDF-" in head:
        return DocumentKind.PDF
    if head.startswith(b"PK\x03\x04") and suffix == ".docx":
        return DocumentKind.WORD
    return DocumentKind.HTML if suffix in (".html", ".htm", ".xhtml") else None


def pages_of(
    path: Path, kind: DocumentKind, most_characters: int, stop: Stop, limits: ChildLimits | None = None
) -> Iterator[PageText]:
    """Raises Refused, or Stopped after `stop`."""
    limits = limits or LIMITS
    try:
        for line in lines_of("--read-pages", [str(path), kind, str(most_characters), str(limits.cpu_s)], limits, stop):
            said = json.loads(line)
            if "why" in said:
                raise Refused(WhyNot(said["why"]), most_characters)
            yield PageText(said["page"], said["of"], said["text"])
    except (ChildFailed, ValueError, KeyError, TypeError):
        raise Refused(WhyNot.TOO_COMPLEX) from None


def text_of(path: Path, kind: DocumentKind, most_characters: int, stop: Stop, progress: Callable[[float], None]) -> str:
    """All of its text. Raises Refused, or Stopped after `stop`."""
    pages: list[str] = []
    for page in pages_of(path, kind, most_characters, stop):
        pages.append(page.text.strip())
        progress(page.number / max(1, page.of))
    text = "\n\n".join(filter(None, pages))
    if not text:
        raise Refused(WhyNot.SCANNED if kind is DocumentKind.PDF else WhyNot.EMPTY)
    return text
