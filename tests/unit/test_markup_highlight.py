"""Code colours by role, and East Asian text in formulas."""

from __future__ import annotations

import time
from itertools import islice

import pytest

from app.markup.formula import FormulaKey, draw
from app.markup.highlight import ColoredSpan, Role, spans
from app.markup.tex import Letter, with_dashes


def roles(code: str, language: str) -> dict[str, Role]:
    return {code[span.start : span.start + span.length]: span.role for span in spans(code, language) if span.role}


def test_python_has_roles() -> None:
    found = roles('def f(x):\n    return "a" + 1  # why\n', "python")
    assert found["def"] is Role.KEYWORD
    assert found["f"] is Role.NAME
    assert found["1"] is Role.NUMBER
    assert found["# why"] is Role.COMMENT
    assert Role.STRING in found.values()


@pytest.mark.parametrize("language", ["", "no-such-language", "plaintext"])
def test_unknown_languages_and_enormous_lines_stay_plain(language: str) -> None:
    assert not roles("def f(): pass", language)
    assert not list(spans("x = 1; " * 1000, "python"))


def test_the_last_line_needs_no_end() -> None:
    assert ColoredSpan(2, 3, Role.COMMENT) in spans("x # y", "python")


@pytest.mark.parametrize(
    ("language", "code"), [("rst", "\n" * 20_000), ("java", "\n" * 20_000), ("make", "+\n" * 9000)]
)
def test_a_quadratic_lexer_is_given_up(language: str, code: str) -> None:
    started_s = time.thread_time()
    list(spans(code, language))
    assert time.thread_time() - started_s < 3  # it took a quarter of a minute and more


def test_colours_and_what_stays_plain_come_lazily() -> None:
    """Or whoever takes a span at a time would wait for all of the code here."""
    assert ColoredSpan(4, 1, Role.NUMBER) in list(islice(spans("x = 1\n" * 10_000, "python"), 5))
    places = [span.start for span in islice(spans("\x01" * 900 + "\n" + "x = 1\n", "python"), 100)]
    assert places == list(range(100))


@pytest.mark.parametrize("code", ["=" * 1001, "x = 1\n" + " " * 1001, "x\n" + "\n" * 100, "\t\n" * 50, "'" * 4000])
def test_what_takes_a_lexer_long_for_one_token_stays_plain(code: str) -> None:
    assert not list(spans(code, "ini"))


def test_lines_and_spaces_of_some_length_have_colours() -> None:
    comment = "# " + "x" * 800
    assert roles(f"a = 1{' ' * 99}{comment}", "python")[comment] is Role.COMMENT


def test_east_asian_text_leaves_dashes() -> None:
    tex, letters = with_dashes(r"\text{수락률 rate} = 値")
    assert letters == "수락률値"
    assert tex.count("—") == 4
    assert r"\text{ rate}" in tex
    assert with_dashes(r"\frac{a}{b}") == (r"\frac{a}{b}", "")


@pytest.mark.parametrize(
    "tex", [r"\text{속도 향상} = \frac{\text{패스당 토큰 (tokens)}}{\text{손익분기점}}", r"\alpha_{초안}"]
)
def test_korean_formulas_are_drawn(tex: str) -> None:
    drawing = draw(FormulaKey(tex, 16, "#000000", display=True))
    assert drawing is not None
    assert [letter.text for letter in drawing.letters] == [char for char in tex if "가" <= char <= "힣"]
    assert all(isinstance(letter, Letter) and 5 < letter.em < 20 for letter in drawing.letters)


@pytest.mark.parametrize("tex", [r"\frac{a}{", "x" * 5000])
def test_what_is_no_formula_is_not_drawn(tex: str) -> None:
    assert draw(FormulaKey(tex, 16, "#000000", display=False)) is None
