"""Colours of code that is still written: only what may have changed is read again."""

from __future__ import annotations

import pytest

from app.markup.growing_code import GrowingCode
from app.markup.highlight import Role

FUNCTION = "int f(int x) {\n    return x + 1;  /* why */\n}\n\n"


def read_chars(language: str, code: str, step: int) -> tuple[int, dict[str, Role]]:
    """How many characters were read in all, and the colours of the last reading of each place."""
    growing, total = GrowingCode(language), 0
    colors: dict[int, tuple[str, Role]] = {}
    for end in range(step, len(code) + step, step):
        shown = code[:end]
        start, found = growing.spans(shown)
        total += len(shown) - start
        colors = {at: kept for at, kept in colors.items() if at < start}
        colors |= {span.start: (shown[span.start : span.start + span.length], span.role) for span in found}
    return total, dict(colors.values())


@pytest.mark.parametrize("language", ["c", "python", "javascript", "diff", "no-such-language", ""])
def test_long_code_is_read_a_few_times_at_most(language: str) -> None:
    code = FUNCTION * 200
    total, _ = read_chars(language, code, 40)
    assert total < 12 * len(code)


def test_comments_and_strings_that_go_on_are_not_begun_anew() -> None:
    code = 'a = """one\n\nimport two\n\nimport three"""\n\nimport four\n'
    _, colors = read_chars("python", code, 7)
    assert colors["import"] is Role.KEYWORD
    assert not any(text.strip() == "import" and role is Role.STRING for text, role in colors.items())
    _, colors = read_chars("c", "/* one\n\nint two\n\nint three */\n\nint four;\n", 7)
    assert sum(role is Role.COMMENT for role in colors.values()) >= 1
    assert colors["int"] is Role.KEYWORD


def test_a_place_inside_of_a_comment_is_not_safe() -> None:
    growing = GrowingCode("c")
    growing.spans("int a;\n\n/* begun\n\n")
    comment = len("int a;\n\n")
    start, found = growing.spans("int a;\n\n/* begun\n\nint b\n*/\nint c;\n")
    assert start <= comment
    assert {span.role for span in found if comment <= span.start < comment + 15} == {Role.COMMENT}
