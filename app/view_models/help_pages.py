"""Pages of Help: questions with answers in Markdown, a file for each page and language in `resources/help`.

A word in braces is a key: `{new_chat}` that of an entry of the menu bar, `{Shift+Return}` itself. Bold text is on the
screen in these words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from app.system.build import ROOT
from app.view_models.matching import distance
from app.words.languages import LANGUAGES

PAGES = ("first-steps", "drafts", "models", "files", "programs", "tools", "keys", "privacy", "troubles")
_FOLDER = ROOT / "resources" / "help"
_KEY = re.compile(r"\{([\w+]+)\}")
_MARKS = re.compile(r"[*`|]|---")


@dataclass(frozen=True, slots=True)
class HelpSection:
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class HelpPage:
    name: str
    title: str
    sections: tuple[HelpSection, ...]


@cache
def help_pages(language: str) -> tuple[HelpPage, ...]:
    """In a language without pages, the English ones."""
    folder = _FOLDER / (language if language in LANGUAGES else "en")
    return tuple(_page(name, (folder / f"{name}.md").read_text("utf-8")) for name in PAGES)


def _page(name: str, source: str) -> HelpPage:
    title, *sections = source.split("\n## ")
    parts = (each.partition("\n") for each in sections)
    return HelpPage(
        name, title.removeprefix("# ").strip(), tuple(HelpSection(first, rest.strip()) for first, _, rest in parts)
    )


def with_keys(answer: str, key_text: Callable[[str], str]) -> str:
    return _KEY.sub(lambda found: f"`{key_text(found[1])}`", answer)


def search(query: str, pages: Iterable[HelpPage]) -> list[tuple[HelpPage, HelpSection]]:
    """What fits, the nearest first."""
    found = []
    for page in pages:
        for section in page.sections:
            far = distance(query, section.question, page.title, _MARKS.sub("", section.answer))
            if far is not None:
                found.append((far, page, section))
    return [(page, section) for _, page, section in sorted(found, key=lambda each: each[0])]
