"""Code: its colours by role, also while it is written, and what of it goes to the clipboard."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.markup.growing_code import GrowingCode
from app.markup.highlight import ColoredSpan, Role, spans
from app.markup.safe_code import safe_code


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


# While it grows, only what may have changed is read again.


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


# What goes to the clipboard.


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("echo \x1b[31mred\x1b[0m", "echo red"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1bPq#0\x1b\\b", "ab"),
        ("a\x1b[", "a"),
        ("a\x9b2Jb", "ab"),
        ("ls\x00 \x08\x7f-l", "ls -l"),
        ("if admin \u202e} \u2066// x\u2069", "if admin } // x"),
        ("one\r\n\ttwo\rthree\n", "one\n\ttwothree\n"),
        ("a\x1b]0;never ends\nnext", "a\nnext"),
        ("가족 👩\u200d👩\u200d👧 \u05e9\u200f e\u0301 \u200b", "가족 👩\u200d👩\u200d👧 \u05e9\u200f e\u0301 \u200b"),
    ],
)
def test_what_a_terminal_acts_on_is_left_out(code: str, kept: str) -> None:
    assert safe_code(code) == (kept, len(code.replace("\r\n", "\n")) - len(kept))


@given(
    st.text(
        alphabet=st.sampled_from("ab[]0;m\\P_^X\n\t\r\x00\x07\x08\x1b\x7f\x85\x90\x9b\x9c\u202e\u2069"), max_size=40
    )
)
def test_nothing_of_it_is_left_whatever_is_nested(code: str) -> None:
    kept, _ = safe_code(code)
    assert all(char in "\n\t" or (" " <= char < "\x7f") for char in kept)
