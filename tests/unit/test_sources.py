"""Which tokens a text comes from: beside a list that holds each character with its tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.decoding.sources import Run, Sources


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 5), st.integers(0, 12))))
def test_each_character_comes_from_the_tokens_since_the_last_characters(steps: list[tuple[int, int, int]]) -> None:
    """Each step tells some tokens, then characters that they made, and takes some of those that are there."""
    sources, text = Sources(), list[tuple[int, int]]()
    tokens = silent = 0
    for told, made, wanted in steps:
        for _ in range(told):
            sources.count_token()
        tokens += told
        sources.add(made)
        if made:
            text += [(silent, tokens)] * made
            silent = tokens
        expected = text[:wanted]
        taken = sources.take(len(expected))
        assert [(run.first, run.end) for run in taken for _ in range(run.chars)] == expected
        assert len(taken) == len(set(expected))
        del text[:wanted]


def test_characters_that_come_later_are_the_last_tokens() -> None:
    """As when a token that was told makes one character at once and, at the end of the text, another."""
    sources = Sources()
    sources.count_token()
    sources.count_token()
    sources.add(1)
    sources.add(2)
    assert sources.take(3) == (Run(1, 0, 2), Run(2, 1, 2))
