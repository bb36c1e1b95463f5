"""What of code goes to the clipboard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.markup.safe_code import safe_code


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
