"""Comments and docstrings use the field's words: those of mlx-lm, vLLM, Qt and the glossaries."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.project import ROOT, name_of, python_files, statements

# The word that is refused, as a regular expression, and the field's word for it (engine/ARCHITECTURE.md, glossary).
_REFUSED = {
    r"(?:stands?|standing)(?! for\b)|stood": "accepted, kept or committed",
    r"tells?|told|telling": "reports, sent, posted, says",
    r"gone": "used, evicted, deleted or ended",
    r"behind": "after; lagging, with the number of uncached tokens",
    r"fore(?:see|sees|seen|saw)": "draft, propose or predict",
    r"unread": "uncached",
    r"drawable": "a valid token",
    r"stretch(?:es)?": "segment, or interval",
    r"of late|lately": "recent",
    r"made of": "computed from, or consists of",
    r"whoever|whomever": "name the subject: the caller, the reply, the thread",
    r"nobody|somebody|anybody": "name the subject: the caller, the user, no thread",
    r"strangers?": "third-party, or not trusted",
    r"person|people": "user",
    r"under way": "running, or in progress",
    r"at rest": "idle",
    r"anew": "again",
    r"hears?|heard": "gets, or receives",
    r"(?:over|on) the line|lines to": "connection",
    r"mends?|mended": "repair",
    r"likewise": "the same, or say it in full",
    r"lest": "so that … not",
    r"unasked": "automatically",
    r"be it": "even if",
}
_SOURCES = python_files("app", "engine")
_WORDS = [(re.compile(rf"\b(?:{word})\b", re.IGNORECASE), instead) for word, instead in _REFUSED.items()]
_ANY = re.compile(rf"\b(?:{'|'.join(_REFUSED)})\b", re.IGNORECASE)
_CODE = re.compile(r"`[^`]*`|\"[^\"]{0,60}\"")  # names and texts of files are what they are


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of each comment and docstring. A file is read by tokens where a line of it looks suspicious."""
    source = path.read_text(encoding="utf-8")
    if any(_ANY.search(line.partition("#")[2]) for line in source.splitlines()):
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    for node in statements(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def problems_in(text: str) -> list[str]:
    """What is refused in a comment or docstring, each with the field's word."""
    prose = _CODE.sub("``", " ".join(text.split()))
    return [f"{found[0]!r}: write {instead}" for word, instead in _WORDS for found in word.finditer(prose)]


def test_comments_use_the_words_of_the_field() -> None:
    suspected = [path for path in _SOURCES if _ANY.search(" ".join(path.read_text("utf-8").split()))]
    found = [(name_of(path), *each) for path in suspected for each in prose_of(path)]
    assert [(name, line, problem) for name, line, text in found for problem in problems_in(text)] == []


@pytest.mark.parametrize(
    "path", [page for name in ("app", "engine") for page in sorted((ROOT / name).rglob("*.md"))], ids=name_of
)
def test_pages_use_them_too(path: Path) -> None:
    assert problems_in(path.read_text(encoding="utf-8")) == []
