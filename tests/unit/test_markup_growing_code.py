"""Colours of code that is still written: only what may have changed is read again."""

from __future__ import annotations

import subprocess
import sys

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
        colors |= {span.start: (shown[span.start : span.start + span.length], span.role) for span in found if span.role}
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


def test_the_first_code_of_a_language_in_a_run_is_coloured_while_it_grows() -> None:
    """Making the lexer takes longer than a reading may."""
    script = (
        "from app.markup.growing_code import GrowingCode\n"
        "growing = GrowingCode('c')\n"
        "growing.spans('int a;\\n')\n"
        "print(len(growing.spans('int a;\\nint b;\\n')[1]))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(told.stdout) > 0


def test_code_that_is_slow_to_read_stays_plain_until_it_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """One slow reading may be the machine's fault."""
    readings_s = iter([0.02, 0.0, 0.02, 0.02, 0.0])
    times = (at for took in readings_s for at in (0.0, took))
    monkeypatch.setattr("app.markup.growing_code.thread_time", lambda: next(times))
    growing = GrowingCode("python")
    found = [len(growing.spans("a = 1\n" * lines)[1]) for lines in range(1, 6)]
    assert all(found[:4])
    assert not found[4]


def test_a_place_inside_of_a_comment_is_not_safe() -> None:
    growing = GrowingCode("c")
    growing.spans("int a;\n\n/* begun\n\n")
    comment = len("int a;\n\n")
    start, found = growing.spans("int a;\n\n/* begun\n\nint b\n*/\nint c;\n")
    assert start <= comment
    assert {span.role for span in found if comment <= span.start < comment + 15} == {Role.COMMENT}
