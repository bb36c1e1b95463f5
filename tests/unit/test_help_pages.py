"""The texts of Help: the same in each language, and in the words that are on the screen."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.view_models.help_pages import PAGES, HelpSection, help_pages, search, with_keys
from app.words.languages import LANGUAGES

_TS = Path(__file__).resolve().parents[2] / "i18n"
_BOLD = re.compile(r"\*\*(.+?)\*\*")
KEY = re.compile(r"\{([\w+]+)\}")
LANGUAGE = pytest.mark.parametrize("language", LANGUAGES)


@cache
def on_the_screen(language: str) -> frozenset[tuple[str, str]]:
    """Words in English and in that language."""
    root = ElementTree.parse(_TS / f"hunch_{'ko' if language == 'en' else language}.ts").getroot()
    other = "source" if language == "en" else "translation"
    texts = ((each.findtext("source", ""), each.findtext(other, "")) for each in root.iter("message"))
    return frozenset((english.rstrip("…"), text.rstrip("…")) for english, text in texts)


def names(section: HelpSection) -> set[str]:
    """What is bold, a route by its parts."""
    return {name.rstrip("…") for bold in _BOLD.findall(section.answer) for name in bold.split(" → ")}


@LANGUAGE
def test_each_language_has_the_same_questions_and_keys(language: str) -> None:
    for english, page in zip(help_pages("en"), help_pages(language), strict=True):
        assert len(page.sections) == len(english.sections), page.name
        for one, other in zip(english.sections, page.sections, strict=True):
            assert sorted(KEY.findall(one.answer)) == sorted(KEY.findall(other.answer)), other.question
            assert len(_BOLD.findall(one.answer)) == len(_BOLD.findall(other.answer)), other.question


@LANGUAGE
def test_what_is_bold_is_called_so_on_the_screen(language: str) -> None:
    """The very same thing as in the English answer."""
    told = 0
    for english, page in zip(help_pages("en"), help_pages(language), strict=True):
        for one, other in zip(english.sections, page.sections, strict=True):
            known = {text for source, text in on_the_screen(language) if source in names(one)}
            assert names(other) - known == set(), other.question
            told += len(names(other))
    assert told > 50


@LANGUAGE
def test_privacy_names_all_that_chats_and_keys_are_sent_to(language: str) -> None:
    (others,) = {text for english, text in on_the_screen(language) if english == "Other Macs"}
    (privacy,) = (page for page in help_pages(language) if page.name == "privacy")
    assert others in names(privacy.sections[0])
    servers = {"en": "tool server", "ko": "도구 서버", "ja": "ツールサーバ", "zh_CN": "工具服务器"}
    assert servers[language] in privacy.sections[-2].answer  # of tokens and keys


@LANGUAGE
def test_nothing_in_it_leads_to_the_internet(language: str) -> None:
    text = "".join(section.answer for page in help_pages(language) for section in page.sections)
    assert not re.search(r"https?:|\]\(|<", text)


def test_a_language_without_pages_has_the_english_ones() -> None:
    assert [page.name for page in help_pages("eo")] == list(PAGES)
    assert help_pages("eo") == help_pages("en")


@pytest.mark.parametrize(
    ("language", "query", "page"),
    [
        ("en", "gguf", "models"),
        ("en", "2.1× faster", "drafts"),
        ("ko", "ㅇㅁㅈ", "files"),
        ("ja", "さーば", "programs"),
        ("zh_CN", "隐私", "privacy"),
    ],
)
def test_the_nearest_comes_first(language: str, query: str, page: str) -> None:
    assert search(query, help_pages(language))[0][0].name == page
    assert search("qqqq", help_pages(language)) == []


def test_keys_take_the_place_of_their_names() -> None:
    assert with_keys("Press {new_chat} or {Shift+Return}.", str.upper) == "Press `NEW_CHAT` or `SHIFT+RETURN`."
