"""Finding commands and settings by a few letters, in four scripts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.view_models import matching
from app.view_models.matching import distance, folded

FOUND = [
    ("", "anything"),
    ("new", "New Chat"),
    ("nwc", "New Chat"),
    ("chat new", "New Chat"),
    ("cafe", "Café"),
    ("ＡＢ", "about"),
    ("ㅊㅌ", "채팅 복제"),
    ("ㅅㅊㅌ", "새 채팅"),
    ("채티", "새 채팅"),
    ("채ㅌ", "새 채팅"),
    ("チャット", "新しいちゃっと"),
    ("ちゃ", "チャット"),
    ("ﾁｬｯﾄ", "チャット"),
    ("模型", "选择模型…"),
]


@pytest.mark.parametrize(("query", "text"), FOUND)
def test_found(query: str, text: str) -> None:
    assert distance(query, text) is not None


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("xyz", "New Chat"),
        ("tahc", "New Chat"),
        ("ㅌㅊ", "채팅"),
        ("채타", "채팅"),
        ("new log", "New Chat"),
        ("が", "か"),
    ],
)
def test_not_found(query: str, text: str) -> None:
    assert distance(query, text) is None


def test_what_begins_with_it_comes_before_what_has_it_inside() -> None:
    texts = ["Context", "Show text", "Text size", "The exit"]
    assert sorted(texts, key=lambda text: (distance("text", text) is None, distance("text", text) or 0)) == [
        "Text size",
        "Show text",
        "Context",
        "The exit",
    ]
    near, far = distance("size", "Text size", "For everything"), distance("size", "Model", "Its size on disk")
    assert (near or 0) < (far or 0)  # a name is nearer than an explanation


@given(st.text(max_size=30), st.text(max_size=60))
def test_any_text_can_be_asked_for_and_is_found_in_itself(query: str, text: str) -> None:
    distance(query, text)
    if folded(text).split():
        assert distance(text, text) is not None


def test_letters_that_repeat_take_no_longer_than_others() -> None:
    """Backtracking over these would not end."""
    assert distance("a" * 25 + "c", "a a " * 60) is None


def test_of_a_long_text_that_was_pasted_little_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def noting(look: Callable[[str, str], object]) -> Callable[[str, str], object]:
        def looks(word: str, text: str) -> object:
            looked.append(word)
            return look(word, text)

        return looks

    for name in ("_find", "_is_spread"):
        monkeypatch.setattr(matching, name, noting(getattr(matching, name)))
    assert distance("x" * 30_000, "x" * 20, "an explanation") is None
    assert distance("new chat " * 3000, "New Chat") is not None
    assert looked == ["new", "chat"]
