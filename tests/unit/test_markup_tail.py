"""What of growing text is shown: nothing that would have to be taken back."""

from __future__ import annotations

import pytest

from app.markup.blocks import presentable, whole_graphemes

FAMILY = "👩\u200d👩\u200d👧"
THUMB = "👍\U0001f3fd"
FLAG = "🇰🇷"


@pytest.mark.parametrize("cluster", [FAMILY, THUMB, FLAG, "❤\ufe0f", "\u1112\u1161\u11ab"])
def test_clusters_are_shown_whole(cluster: str) -> None:
    for cut in range(1, len(cluster) + 1):
        assert whole_graphemes("a" + cluster[:cut]) == 1
    text = "a" + cluster + "b"
    assert whole_graphemes(text) == len(text)


@pytest.mark.parametrize("text", ["", "word", "한글", "日本語", "中文。", "a\n", "🎉" * 40])
def test_ordinary_text_and_a_row_of_emoji_never_wait(text: str) -> None:
    assert whole_graphemes(text) == len(text)


@pytest.mark.parametrize(
    ("tail", "shown"),
    [
        ("some **bo", "some **bo**"),
        ("some **bold*", "some **bold**"),
        ("some **", "some "),
        ("a `co", "a `co`"),
        ("a *word", "a *word*"),
        ("~~gone", "~~gone~~"),
        ("`a ** b` and", "`a ** b` and"),
        ("see [page](https://exa", "see page"),
        ("x is $\\frac{1", "x is "),
        ("costs $5 and", "costs $5 and"),
        ("text\n#", "text\n"),
        ("text\n- ", "text\n"),
        ("text\n2.", "text\n"),
        ("text\n``", "text\n"),
        ("text\n```pyth", "text\n"),
        ("text\n$$", "text\n"),
        ("text\n---", "text\n"),
        ("text\n| a | b |", "text\n"),
        ("text\n\n| a | b |\n", "text\n\n"),
        ("| a |\n|---|\n| 1 |\n", "| a |\n|---|\n| 1 |\n"),
        ("done **bold** text", "done **bold** text"),
        ("2 * 3", "2 * 3"),
        ("- item\n  ```py\n  a ** b", "- item\n  ```py\n  a ** b"),
    ],
)
def test_the_end_of_growing_text(tail: str, shown: str) -> None:
    assert presentable(tail) == shown
