"""Formulas are drawn whole or not at all."""

from __future__ import annotations

import re

import pytest

from app.markup.formula import Drawing, FormulaKey, draw
from app.markup.tex import Letter, NotWhole, prepared, with_dashes

WHOLE = (
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}^{T}",
    r"\left(\begin{matrix}a\\b\end{matrix}\right)^{-1}",
    r"\begin{aligned} f(x) &= x^2 + 1 \\ &= (x+i)(x-i) \end{aligned}",
    r"\begin{align} a &= b \label{eq:1} \\ c &= d \nonumber \end{align}",
    r"f(x)=\begin{cases} 1 & x>0 \\ 0 & \text{otherwise} \end{cases}",
    r"\begin{cases}\begin{pmatrix}1\end{pmatrix}^2\\b\end{cases}^2",
    r"\begin{array}{rl} |x| & y \\ z & |w| \end{array}",
    r"\begin{dcases} \frac{a}{b} & x>0 \\ 0 & x=0 \end{dcases}",
    r"\begin{equation} \mathop{\mathrm{tr}} A \end{equation}",
    r"\{ a \}\_\% \left\{ x \right.",
    r"\sum_{i=1}^n \alpha_i \tag{1}",
    r"\text{R \& D: $a<b$, a < b} < \textbf{b<c}",
    r"\text{수락률} = \frac{1}{2} + \sqrt{x}",
    r"\rule{2em}{1em}",
    "x",
)
HALF = (
    r"\unknown{x} + y",
    r"x^{2",
    r"\frac{1}{",
    r"\begin{foo}x\end{foo}",
    r"\begin{pmatrix}x",
    r"\begin{pmatrix}x\end{bmatrix}",
    r"{\begin{pmatrix}x}\end{pmatrix}",
    r"\includegraphics{/etc/passwd}",
    r"\newcommand{\x}{\y}\x",
    r"\def\x{\x\x}\x",
    r"\hbox{if $a<b$ <!-- not -->}",
    r"\left[\begin{array}{cc|c} 1 & 2 & 3 \\ 4 & 5 & 6 \end{array}\right]",
    r"\begin{array}[t]{|c|} a \end{array}",
    r"\begin{array}{cc} p & q \\ \hline 0 & 1 \end{array}",
)


def drawn(tex: str, size_px: float = 16, color: str = "#000000") -> Drawing:
    made = draw(FormulaKey(tex, size_px, color, display=True))
    assert made is not None
    return made


@pytest.mark.costly
@pytest.mark.parametrize("tex", WHOLE)
def test_these_are_drawn(tex: str) -> None:
    drawn(tex)


@pytest.mark.parametrize("tex", HALF)
def test_what_would_be_drawn_in_part_is_not_drawn(tex: str) -> None:
    assert draw(FormulaKey(tex, 16, "#000000", display=True)) is None


def test_a_plain_sign_is_struck_through_where_it_is_denied() -> None:
    """The stroke stood before it: "/=" is another sign."""
    assert prepared(r"a \not= b \not < c \not\in D \notin E") == r"a \neq  b \nless  c \not\in D \notin E"
    struck, meant = (drawn(f"a {sign} b") for sign in (r"\not=", r"\neq"))
    assert struck == meant


@pytest.mark.parametrize(
    "tex", [r"\overline{x}", r"\underline{x}", r"\rule{1em}{1em}", r"\textcolor{black}{x}", r"x \tag{1}"]
)
def test_nothing_of_a_formula_is_black_on_a_dark_ground(tex: str) -> None:
    drawing = drawn(tex, color="#f2f2f3")
    assert set(re.findall(rb'(?:fill|stroke)="([^"]*)"', drawing.svg)) == {b"#f2f2f3"}


@pytest.mark.parametrize(
    ("tag", "words"),
    [(r"\tag{1}", r"\text{(1)}"), (r"\tag*{A}", r"\text{A}"), (r"\tag{$\ast$}", r"\text{(}{\ast}\text{)}")],
)
def test_a_tag_stands_close_behind_its_formula(tag: str, words: str) -> None:
    """It stood at the end of a page's width, and the formula at its beginning."""
    assert prepared("x " + tag) == rf"x \qquad{words}"
    plain, tagged = (drawn("x" + end) for end in ("", tag))
    assert plain.width_px < tagged.width_px < 150


@pytest.mark.costly
@pytest.mark.parametrize("space", ["[4pt]", "[0.5em]", " [ -2 mm ]", "[1ex]", "*", "*[2pt]"])
def test_the_space_after_a_row_is_not_drawn_as_words(space: str) -> None:
    rows = r"\begin{align*} a &= b \\%s c &= d \end{align*}"
    spaced, plain = (drawn(rows % each) for each in (space, ""))
    assert spaced == plain
    assert prepared(r"a \\ [b] \\[c]") == r"a \\ [b] \\[c]"


@pytest.mark.costly
@pytest.mark.parametrize("name", ["align", "align*", "aligned", "split"])
def test_equations_below_one_another_are_a_line_apart(name: str) -> None:
    """They stood as close as their ink allowed."""
    one, two, ended = (
        drawn(rf"\begin{{{name}}} {rows} \end{{{name}}}")
        for rows in ("a &= b", r"a &= b \\ c &= d", r"a &= b \\ c &= d \\")
    )
    assert two.height_px - one.height_px > 1.15 * 16
    assert ended.height_px - two.height_px < 8


@pytest.mark.parametrize(
    ("narrow", "wide", "more_px"),
    [
        (r"a\mathrm{mod}b", r"a \bmod b", 6),
        (r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}", r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}^{T}", 0),
    ],
)
def test_spaces_around_modulo_and_an_exponent_of_a_matrix(narrow: str, wide: str, more_px: int) -> None:
    less, more = (drawn(tex) for tex in (narrow, wide))
    assert more.width_px > less.width_px + more_px


@pytest.mark.costly
@pytest.mark.parametrize("command", [r"\text", r"\textbf", r"\mbox", r"\fbox", r"\colorbox{red}"])
@pytest.mark.parametrize("hidden", ["<!-- not -->", "<mspace/>", "<b>"])
def test_no_words_are_left_out_because_they_look_like_a_tag(command: str, hidden: str) -> None:
    plain, whole = (drawn(f"{command}{{{words}}}") for words in ("It is safe", f"It is {hidden} safe"))
    assert whole.width_px > plain.width_px + 30


@pytest.mark.parametrize("unit", ["{", "}", r"\begin{matrix}", r"\end{matrix}", "\\", r"\{", r"\def", "'"])
def test_any_row_of_marks_is_read_once(unit: str) -> None:
    try:
        result = prepared(unit * 20_000)
    except NotWhole:
        return
    assert len(result) <= 2 * len(unit) * 20_000


def test_rows_with_fractions_stand_apart() -> None:
    """Fractions of two rows nearly touched: the strut of a row of words is lower than they are."""

    def height_px(tex: str) -> float:
        drawing = drawn(tex, 20.0)
        return drawing.height_px

    rows = r"\begin{align*} a &= \frac{b}{c} \\ d &= \frac{e}{f} \end{align*}"
    assert height_px(rows) > 2 * height_px(r"\frac{b}{c}") + 8


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
