"""Comparing text without case, width or encoding, and finding where a match stands in the text as it was written."""

from __future__ import annotations

import cProfile
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.markup.folding import fold, occurrences, occurrences_of_any

NFD_HANGUL = unicodedata.normalize("NFD", "한글 검색")


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("Über Äpfel", "äpfel", ["Äpfel"]),
        ("Straße", "ss", ["ß"]),
        ("Straße", "STRASSE", ["Straße"]),
        ("ａｂｃ１２", "bc1", ["ｂｃ１"]),
        ("ﾊﾞﾅﾅとカメラ", "バナナ", ["ﾊﾞﾅﾅ"]),
        (NFD_HANGUL, "검색", [unicodedata.normalize("NFD", "검색")]),
        ("한글 검색", unicodedata.normalize("NFD", "검색"), ["검색"]),
        (unicodedata.normalize("NFD", "café au lait"), "CAFÉ", [unicodedata.normalize("NFD", "café")]),
        ("ΣΊΣΥΦΟΣ σίσυφος", "σίσυφοσ", ["ΣΊΣΥΦΟΣ", "σίσυφος"]),
        ("😀 emoji 😀", "😀", ["😀", "😀"]),
        ("aaaa", "aa", ["aa", "aa"]),
        ("abc", "", []),
        ("resume", "résumé", []),
    ],
)
def test_a_word_is_found_however_it_is_written(text: str, word: str, found: list[str]) -> None:
    assert [text[first:last] for first, last in occurrences(text, word)] == found


def test_words_side_by_side_or_in_one_another_are_one_stretch() -> None:
    text = "speculative decoding"
    found = [text[slice(*span)] for span in occurrences_of_any(text, ["spec", "ecul", "ative", "cod"])]
    assert found == ["speculative", "cod"]


def test_a_long_question_reads_a_text_once() -> None:
    """What a search found is painted with all its words in it, each time."""
    text, asked = "…" + "long words " * 40, ["long", "words", "and", "others"]

    def calls(words: list[str]) -> int:
        profile = cProfile.Profile()
        profile.runcall(occurrences_of_any, text, words)
        return sum(entry.callcount for entry in profile.getstats())

    assert occurrences_of_any(text, asked * 50) == occurrences_of_any(text, asked)
    assert calls(asked * 50) < 2 * calls(asked)


@given(before=st.text(max_size=20), word=st.text(min_size=1, max_size=8), after=st.text(max_size=20))
def test_a_word_between_spaces_is_found_where_it_stands(before: str, word: str, after: str) -> None:
    if not fold(word).strip() or word != word.strip():
        return
    text = f"{before} {word} {after}"
    spans = list(occurrences(text, word))
    assert any(fold(word) in fold(text[first:last]) for first, last in spans)
    assert all(0 <= first < last <= len(text) for first, last in spans)
