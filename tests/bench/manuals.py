"""Whether a search finds the right passage in real manuals, by questions of people who have not read them.

The manuals are an operating system's installation guide and FAQ, in four languages, as their packages have them:
`installation-guide-amd64`, `debian-faq` and `debian-faq-ko`, `-ja` and `-zh-cn`, unpacked into `build/manuals`. Each of
the 40 pages that the questions are about is a document of a language's project, read as the app reads HTML.

`manuals.jsonl` has a fact a line: the paragraphs that tell it (page:number, from 0; elsewhere in a language where its
translation has others, none where it has not translated them) and two questions a language, a few words and a sentence.
The questions were written from the English text, and those in other languages without having seen theirs. Facts of odd
lines are the development half: only their misses may be looked at. The row is of the other half.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from app.documents.page_text import text_of_page
from app.storage.project_files import Passage, ProjectFiles, open_files
from tests.bench.documents import LANGUAGES
from tests.bench.rows import Measure, Row
from tests.bench.setup import BenchSetup

MANUALS = Path("build/manuals")
_GUIDE = MANUALS / "usr/share/doc/installation-guide-amd64"
_FAQ = MANUALS / "usr/share/doc/debian/FAQ"
_FACTS = Path(__file__).with_name("manuals.jsonl")
_PARAGRAPH = re.compile(r"<p[ >].*?</p>", re.DOTALL)
_NUMBERS = (1, 5, 12)


@dataclass(frozen=True)
class Asked:
    question: str
    places: tuple[tuple[str, int], ...]  # a document, and the middle of a paragraph in its text
    for_development: bool


def _page(name: str, language: str) -> str:
    guide = _GUIDE / {"zh": "zh_CN"}.get(language, language) / f"{name}.html"
    if guide.is_file():
        return guide.read_text("utf-8")
    code = {"zh": "zh-cn"}.get(language, language)
    return ((_FAQ if language == "en" else _FAQ / code) / f"{name}.{code}.html").read_text("utf-8")


@cache
def text_of(name: str, language: str) -> str:
    return text_of_page(_page(name, language), "")


def _middle(place: str, language: str) -> tuple[str, int]:
    name, _, number = place.partition(":")
    paragraph = text_of_page(_PARAGRAPH.findall(_page(name, language))[int(number)], "")
    return name, text_of(name, language).index(paragraph) + len(paragraph) // 2


def _facts() -> list[dict[str, Any]]:
    return [json.loads(line) for line in _FACTS.read_text("utf-8").splitlines()]


def questions(language: str) -> Iterator[Asked]:
    for number, fact in enumerate(_facts()):
        places = tuple(_middle(place, language) for place in fact.get(f"places_{language}", fact["places"]))
        for question in fact[language] if places else ():
            yield Asked(question, places, for_development=number % 2 == 0)


def put_manuals(files: ProjectFiles, language: str) -> None:
    for name in sorted({place.partition(":")[0] for fact in _facts() for place in fact["places"]}):
        files.add_text(f"{name}.html", text_of(name, language))


def place_among(found: Sequence[Passage], asked: Asked) -> float:
    """Which of the passages is the first right one, from 1; infinite if none is."""
    for number, passage in enumerate(found, 1):
        for name, middle in asked.places:
            if passage.name == f"{name}.html" and passage.start <= middle < passage.end:
                return number
    return math.inf


def _shares(places: Sequence[float]) -> tuple[float, ...]:
    return tuple(100 * sum(place <= number for place in places) / len(places) for number in _NUMBERS)


def app_manuals_found_percent(setup: BenchSetup, _runs: int) -> Row:
    if not _GUIDE.is_dir() or not _FAQ.is_dir():
        return Row("app.manuals_found_percent", math.nan, "%", "≥ 85", f"not measured: no manuals in {MANUALS}")
    worst = 100.0
    details = []
    for language in LANGUAGES:
        halves: dict[bool, list[float]] = {True: [], False: []}
        with closing(open_files(setup.folder / f"{language}.db")) as files:
            put_manuals(files, language)
            for asked in questions(language):
                found = files.search(asked.question, _NUMBERS[-1])
                halves[asked.for_development].append(place_among(found, asked))
        held, development = _shares(halves[False]), _shares(halves[True])
        worst = min(worst, held[1])
        told = (" / ".join(f"{share:.1f}" for share in half) for half in (held, development))
        details.append("{} {} (development {})".format(language, *told))
    first = " / ".join(map(str, _NUMBERS))
    detail = f"the worst first {_NUMBERS[1]} of: first {first}, {'; '.join(details)}"
    return Row("app.manuals_found_percent", worst, "%", "≥ 85", detail)


IN_MANUALS: tuple[Measure, ...] = (app_manuals_found_percent,)
