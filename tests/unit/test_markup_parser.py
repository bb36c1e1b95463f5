"""The Markdown dialect: emphasis in Korean, Japanese and Chinese, what links may be, formulas."""

from __future__ import annotations

import pytest
from markdown_it.token import Token

from app.markup.parser import is_allowed_link, parse


def inline(source: str) -> list[Token]:
    return next(token.children or [] for token in parse(source) if token.type == "inline")


def words(source: str, mark: str) -> list[str]:
    """The texts inside `strong`, `em` or `s`."""
    found: list[str] = []
    opened = False
    for token in inline(source):
        if token.type == f"{mark}_open":
            opened = True
            found.append("")
        elif token.type == f"{mark}_close":
            opened = False
        elif opened:
            found[-1] += token.content
    return found


@pytest.mark.parametrize(
    ("source", "bold"),
    [
        ("**수락률(accept rate)**은 중요해요", "수락률(accept rate)"),
        ("**重点：**内容", "重点："),
        ("**「引用」**と言う", "「引用」"),
        ("이것은**'초안'**이에요", "'초안'"),
        ("**제목:** 내용", "제목:"),
        ("plain **bold** text", "bold"),
        ("a**b**c", "b"),
    ],
)
def test_bold_beside_east_asian_text(source: str, bold: str) -> None:
    assert words(source, "strong") == [bold]
    assert words("~~취소선~~은", "s") == ["취소선"]
    assert words("*강조(x)*는", "em") == ["강조(x)"]


@pytest.mark.parametrize("source", ["2 * 3 * 4", "snake_case_name", "한_글_자", "** not bold **", "3 ** 2 ** 1"])
def test_marks_that_mean_nothing_stay(source: str) -> None:
    assert "".join(token.content for token in inline(source)) == source


@pytest.mark.parametrize("url", ["https://example.com", "http://a.b/c", "mailto:someone@example.com", "HTTPS://X.Y"])
def test_the_web_and_mail_are_links(url: str) -> None:
    assert is_allowed_link(url)
    assert any(token.type == "link_open" for token in inline(f"[x]({url})"))


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "ssh://host", "x-apple:y", "/etc/passwd", "a.md"],
)
def test_nothing_else_is_a_link(url: str) -> None:
    assert not is_allowed_link(url)
    assert not any(token.type == "link_open" for token in inline(f"[x]({url})"))


@pytest.mark.parametrize("source", ["<img src=x onerror=y>", "<style>a{}</style>", '<a href="x">y</a>', "<b>x</b>"])
def test_html_is_text(source: str) -> None:
    assert "".join(token.content for token in inline(source)) == source


@pytest.mark.parametrize("source", ["$x^2$", r"\(x^2\)", "값은 $x^2$이에요", "$x^2$ is 4", "$x^2$ is 4\\"])
def test_inline_formulas(source: str) -> None:
    assert [token.content for token in inline(source) if token.type == "math_inline"] == ["x^2"]


@pytest.mark.parametrize(
    "source", ["It costs $5 and $6.", "$5-$10", "US$5~US$6", "$6, `$A` b", "`$x$` is code", r"\$x\$"]
)
def test_money_and_code_are_no_formulas(source: str) -> None:
    assert not [token for token in inline(source) if token.type.startswith("math")]


@pytest.mark.parametrize("source", ["$$\nx\n$$", "\\[\nx\n\\]", "$$x$$", "text\n$$\nx\n$$\nmore", "- a\n\n  \\[ x \\]"])
def test_display_formulas(source: str) -> None:
    assert [token.content for token in parse(source) if token.type == "math_block"] == ["x"]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("source", "formulas"),
    [
        ("$$\nx\n$$.\n\ntext\n\n$$\ny\n$$", ["x\n.", "y"]),
        ("\\[\nx\n\\],\nwhere", ["x\n,"]),
        ("$$x$$.\ntext", ["x."]),
        ("\\[x\\],\ntext \\[y\\].", ["x,"]),
        ("\\begin{align}\nx\n\\end{align}.\ntext", ["\\begin{align}\nx\n\\end{align}."]),
        (
            "\\begin{bmatrix}\n\\begin{bmatrix}1\\end{bmatrix} & 2\n\\end{bmatrix}",
            ["\\begin{bmatrix}\n\\begin{bmatrix}1\\end{bmatrix} & 2\n\\end{bmatrix}"],
        ),
    ],
)
def test_a_display_formula_may_be_closed_before_a_full_stop(source: str, formulas: list[str], streaming: bool) -> None:
    tokens = parse(source, streaming=streaming)
    assert [token.content for token in tokens if token.type == "math_block"] == formulas
    assert all(token.meta["closed"] for token in tokens if token.type == "math_block")


def test_an_open_formula_is_one_only_while_text_grows() -> None:
    growing = parse("$$\nx = ", streaming=True)
    assert [(token.content, token.meta["closed"]) for token in growing if token.type == "math_block"] == [
        ("x =", False)
    ]
    assert not [token for token in parse("$$\nx = ") if token.type == "math_block"]


def test_dashes_under_a_line_are_a_rule() -> None:
    assert [token.type for token in parse("text\n---\n")][-1] == "hr"


@pytest.mark.parametrize("source", ["one<br>two", "one<br/>two", "one <BR /> two", "one<br>\ntwo"])
def test_a_break_of_html_is_a_break(source: str) -> None:
    assert [token.content.strip() or token.type for token in inline(source)] == ["one", "hardbreak", "two"]
    assert [token.type for token in inline(f"`{source}`") if token.type == "hardbreak"] == []
