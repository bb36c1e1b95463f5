"""Documents of a project: how often a search finds the right passage, what it takes among many, what reading takes.

The questions are those of the starter pair's guide, in other words than its answers, in four languages. All of its
facts but those about the assistant itself are put into 40 documents a language, in random order; a passage is right if
it has the middle half of the answer. The wordings `ask` were looked at while the words that only ask were chosen; the
wordings `unseen`, which count here, were not. The documents are short, and all about one subject; `manuals` asks real
ones, with questions that were written apart.
"""

from __future__ import annotations

import json
import random
import resource
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.documents.indexing import Indexing
from app.storage.project_files import FileState, ProjectFiles, open_files
from tests.bench.rows import Measure, Row
from tests.bench.setup import GUIDE, BenchSetup
from tests.helpers.pdf_files import pdf_bytes

LANGUAGES = ("en", "ko", "ja", "zh")
DOCUMENTS, QUESTIONS, FIRST = 40, 200, 5
_OF_ASSISTANT = "hunch.jsonl"  # who it is, and greetings: several answers are right
PAGES, PAGES_EACH, SENTENCES = 40_000, 40, 28
PDFS = 25


@dataclass(frozen=True)
class Asked:
    question: str
    answer: str  # a part of it that a right passage has


def facts() -> list[dict[str, Any]]:
    files = (path for path in sorted(GUIDE.glob("*.jsonl")) if path.name != _OF_ASSISTANT)
    return [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()]


def questions(language: str, wording: str = "unseen") -> list[Asked]:
    found = []
    for number in range(2):
        for fact in facts():
            answer = fact[language]["answer"]
            middle = answer[len(answer) // 4 : len(answer) * 3 // 4]
            found.append(Asked(fact[language][wording][number], middle))
    return found[:QUESTIONS]


def put_documents(files: ProjectFiles) -> None:
    for language in LANGUAGES:
        answers = [fact[language]["answer"] for fact in facts()]
        random.Random(3).shuffle(answers)
        for number in range(DOCUMENTS):
            files.add_text(f"{language}-{number:02}.md", "\n\n".join(answers[number::DOCUMENTS]))


def found_share(files: ProjectFiles, asked: Sequence[Asked]) -> float:
    """Of the questions of which one of the first passages is right, in percent."""
    right = [any(each.answer in found.text for found in files.search(each.question, FIRST)) for each in asked]
    return 100 * sum(right) / len(right)


def app_documents_found_percent(setup: BenchSetup, _runs: int) -> Row:
    with closing(open_files(setup.folder / "found.db")) as files:
        put_documents(files)
        shares = {each: found_share(files, questions(each)) for each in LANGUAGES}
    detail = ", ".join(f"{language} {share:.1f}" for language, share in shares.items())
    detail += f"; {QUESTIONS} questions each, {DOCUMENTS} documents each in one project"
    return Row("app.documents_found_percent", min(shares.values()), "%", "≥ 85", f"the worst of {detail}")


def app_documents_search_ms_p95(setup: BenchSetup, runs: int) -> Row:
    """CPU of the thread: questions of many common words are the slowest."""
    with closing(open_files(setup.folder / "many.db")) as files:
        index_s = _put_pages(files)
        asked = [one.question for language in ("en", "ko") for one in questions(language)[:40]]
        asked += [" ".join(asked[place : place + 4]) for place in (0, 40)]
        taken = sorted(min(_search_ms(files, question) for _ in range(runs)) for question in asked)
    detail = (
        f"{PAGES:,} pages, {len(asked)} questions; half under {taken[len(taken) // 2]:.0f}, the worst {taken[-1]:.0f};"
    )
    detail += f" indexing their text took {index_s:.0f} s of CPU"
    return Row("app.documents_search_ms_p95", taken[int(len(taken) * 0.95)], "ms", "≤ 100", detail)


def app_documents_read_minutes(setup: BenchSetup, _runs: int) -> Row:
    """From PDF files to passages, CPU of all processes, for 1,000 files of 40 pages; measured on some of them."""
    generator = random.Random(5)
    words = [word for one in questions("en") for word in one.question.split() if word.isascii()]
    words = [word.translate(str.maketrans("", "", "()\\")) for word in words]
    paths = []
    for number in range(PDFS):
        path = setup.folder / f"{number}.pdf"
        path.write_bytes(pdf_bytes([" ".join(generator.choices(words, k=400)) for _ in range(PAGES_EACH)]))
        paths.append(path)
    with closing(open_files(setup.folder / "read.db")) as files:
        files.add(paths)
        indexing = Indexing(files)
        started = _children_s()
        slices = []
        goes_on = True
        while goes_on:
            began = time.thread_time()
            goes_on = indexing.step()
            slices.append(1000 * (time.thread_time() - began))
        taken = _children_s() - started + sum(slices) / 1000
        assert {each.pages for each in files.all()} == {PAGES_EACH}
    minutes = taken * PAGES / (PDFS * PAGES_EACH) / 60
    detail = f"{PDFS} PDFs of {PAGES_EACH} pages in {taken:.1f} s, times {PAGES // (PDFS * PAGES_EACH)};"
    detail += f" in the app's process {sum(slices) / 1000:.1f} s of CPU, the longest slice {max(slices):.0f} ms"
    return Row("app.documents_read_minutes", minutes, "min", "≤ 20", detail)


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _search_ms(files: ProjectFiles, question: str) -> float:
    started = time.thread_time()
    files.search(question, FIRST)
    return 1000 * (time.thread_time() - started)


def _put_pages(files: ProjectFiles) -> float:
    """Text made of the guide's words, as often as they come there, and of words that hardly any other page has."""
    generator = random.Random(5)
    words = {each: [word for fact in facts() for word in fact[each]["answer"].split()] for each in ("en", "ko")}
    started = time.thread_time()
    for number in range(PAGES // PAGES_EACH):
        added = files.add([Path(f"/{number}")]).ids[0]
        files.begin(added, 1, 1)
        chosen = words[generator.choice(("en", "ko"))]
        for first in range(0, PAGES_EACH, 8):
            files.put_pages(added, [(first + page, _page(generator, chosen)) for page in range(8)])
        files.end(added, FileState.READY)
    return time.thread_time() - started


def _page(generator: random.Random, words: Sequence[str]) -> str:
    rare = "".join(generator.choices("abcdefghijklmnopqrstuvwxyz", k=8))
    return " ".join((*generator.choices(words, k=SENTENCES * 15), rare))


IN_DOCUMENTS: tuple[Measure, ...] = (
    *(app_documents_found_percent, app_documents_search_ms_p95, app_documents_read_minutes),
)
