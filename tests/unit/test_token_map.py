"""One model's tokens as another's, by what they say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.token_map import TokenMap
from engine.models.vocabulary import MAX_TOKENS, Spelling, TokenTable

LETTERS = "abcdef"


def table(*texts: str, special: tuple[str, ...] = (), spelling: Spelling = Spelling.PLAIN) -> TokenTable:
    words = dict(enumerate((*texts, *special)))
    added = {token: True for token, text in words.items() if text in special}
    return TokenTable(words, added, spelling, ())


def test_a_shared_token_is_one_and_another_the_longest_that_fit() -> None:
    tokens = TokenMap(table("a", "b", "abcab", "x"), table("b", "a", "abc", "c"), MAX_TOKENS)
    assert tokens.single == {0: 1, 1: 0}
    assert tokens.spelling(2) == (2, 1, 0)  # abc a b
    assert len(tokens.spelling(3)) == 1  # which the draft cannot write
    assert len(tokens.spelling(999)) == 1  # padding
    assert tokens.shared == 2


def test_tokens_beyond_the_drafts_rows_are_not_its_own() -> None:
    tokens = TokenMap(table("a", "b", "ab"), table("a", "b", "ab"), 2)
    assert tokens.single == {0: 0, 1: 1}
    assert tokens.spelling(2) == (0, 1)
    assert tokens.highest == 1


def test_special_tokens_are_not_their_letters() -> None:
    tokens = TokenMap(table("a", special=("<end>",)), table("<end>", "a"), MAX_TOKENS)
    assert tokens.single == {0: 1}
    both = TokenMap(table("a", special=("<end>",)), table("b", "a", special=("<end>",)), MAX_TOKENS)
    assert both.single == {0: 1, 1: 2}


WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=4), unique=True, min_size=1, max_size=12)


@given(WORDS, WORDS, st.integers(1, 30), st.lists(st.integers(0, 30), max_size=20), st.integers(0, 20))
def test_longer_texts_begin_alike(main: list[str], draft: list[str], rows: int, tokens: list[int], cut: int) -> None:
    """What caches of the draft rely on; and no token is one that it has no row for."""
    mapped = TokenMap(table(*main), table(*draft), min(rows, len(draft)))
    whole, part = mapped.spell(tokens), mapped.spell(tokens[:cut])
    assert whole[: len(part)] == part
    assert len(whole) >= len(tokens)
    assert all(0 <= token < min(rows, len(draft)) for token in whole)
    said = dict(enumerate(draft))
    for token, text in enumerate(main):
        if token in mapped.single:
            assert said[mapped.single[token]] == text


@pytest.mark.parametrize(
    ("main", "draft", "shared", "fit"),
    [(10, 10, 9, True), (10, 10, 8, False), (10, 12, 10, False), (12, 10, 10, False), (9, 10, 9, True)],
)
def test_nine_in_ten_of_the_larger_vocabulary_are_shared(main: int, draft: int, shared: int, fit: bool) -> None:
    both = [f"both{number}" for number in range(shared)]
    ours, theirs = (
        [*both, *(f"{side}{at}" for at in range(more))] for side, more in (("m", main - shared), ("d", draft - shared))
    )
    tokens = TokenMap(table(*ours), table(*theirs), MAX_TOKENS)
    assert (tokens.shared, tokens.fits) == (shared, fit)


@pytest.mark.parametrize(("letters", "pieces"), [(256, 4), (257, 1024)])
def test_of_an_endless_token_the_beginning_is_spelt_with_tokens_of_up_to_256_letters(letters: int, pieces: int) -> None:
    tokens = TokenMap(table("a" * 100_000), table("a", "a" * letters), MAX_TOKENS)
    assert len(tokens.spelling(0)) == pieces


@pytest.mark.parametrize(
    ("text", "draft", "rows", "spelling"),
    [
        ("q", ("x", "y", " "), 3, (2,)),
        ("q", ("x", "y"), 2, (0,)),
        ("q", ("x",), 0, (0,)),
        ("axbcy", ("a", "bc"), 2, (0, 1)),  # only the letter that it cannot write is left out
        ("ab", ("a", "b", "abcdef"), 3, (0, 1)),
    ],
)
def test_what_the_draft_cannot_write(text: str, draft: tuple[str, ...], rows: int, spelling: tuple[int, ...]) -> None:
    tokens = TokenMap(table(text), table(*draft), rows)
    assert tokens.spelling(0) == spelling
    assert (tokens.highest, tokens.shared) == (rows - 1, 0)
