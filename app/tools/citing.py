"""How passages of documents are given to a model, and cited by it."""

from __future__ import annotations

from collections.abc import Iterable

from app.storage.project_files import Passage

CITING = "Cite what you use in square brackets, as it is headed: [report.pdf, p. 3]."
_SHARE = 4  # of the context: a quarter of it for passages
_BYTES_EACH = 3  # of a token, at least in most texts


def source_of(passage: Passage) -> str:
    if passage.page:
        return f"[{passage.name}, p. {passage.page}]"
    return f"[{passage.name}, line {passage.line}]" if passage.line else f"[{passage.name}]"


def passages_text(passages: Iterable[Passage]) -> str:
    return "\n\n".join(f"{source_of(each)}\n{each.text.strip()}" for each in passages)


def fitting(passages: Iterable[Passage], context_tokens: int) -> list[Passage]:
    """The first of them, as many as take a quarter of the context."""
    room = context_tokens * _BYTES_EACH // _SHARE
    kept: list[Passage] = []
    for each in passages:
        room -= len(passages_text([each]).encode())
        if room < 0:
            break
        kept.append(each)
    return kept
