"""Long texts in sections."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.markup.block import BlockKind
from app.markup.blocks import Splitter
from app.markup.cuts import LONGEST_PIECE, pieces
from app.markup.sections import LONGEST_WHOLE, MOST_LINES_WHOLE, plain_sections, sections

LINES = ("words in a line\n", "\n", "```py\n", "```\n", "~~~~\n", "   ```\n", "x" * 5000 + "\n", "말" * 900, "a ")


@given(st.lists(st.tuples(st.sampled_from(LINES), st.integers(1, 900)), max_size=12))
def test_sections_leave_out_nothing_but_blank_lines(runs: list[tuple[str, int]]) -> None:
    text = "".join(line * times for line, times in runs)[:300_000]
    cuts = sections(text)
    assert cuts[0].start == 0 or not text[: cuts[0].start].strip()
    assert cuts[-1].end == len(text)
    for above, below in pairwise(cuts):
        assert above.end <= below.start
        assert not text[above.end : below.start].strip()
    if len(text) > LONGEST_WHOLE or text.count("\n") > MOST_LINES_WHOLE:
        assert all(cut.end - cut.start <= LONGEST_PIECE for cut in cuts)
        assert all(text.count("\n", cut.start, cut.end) <= 500 for cut in cuts)


@pytest.mark.parametrize("after", ["", "x"])
@pytest.mark.parametrize("blank", ["\n", " "])
def test_blank_lines_of_any_number_are_passed_over_at_once(blank: str, after: str) -> None:
    text = "words" + blank * 2_000_000 + after
    first, last = sections(text)[0], sections(text)[-1]
    assert (first.start, last.end) == (0, len(text))
    assert sections(text[5:])[-1].end == len(text) - 5


@pytest.mark.parametrize("line", ["- a\n", "# a\n", "---\n", "a\n"])
def test_very_many_short_lines_are_not_read_as_a_whole(line: str) -> None:
    """Each may be a block of its own: 4,000 of them took a third of a second."""
    assert len(sections(line * (LONGEST_WHOLE // len(line)))) >= 8


def test_code_that_fills_many_sections_stays_code() -> None:
    code = "".join(f"x{number} = {number}\n" for number in range(4000))
    text = f"Look:\n\n```py\n{code}```\n\nThe end."
    shown = []
    for section in sections(text):
        splitter = Splitter(section.open_fence())
        splitter.append(text[section.start : section.end])
        splitter.finish()
        shown += splitter.blocks
    assert "".join(block.text for block in shown if block.kind is BlockKind.CODE) == code
    assert [block.kind for block in shown if block.kind is not BlockKind.CODE] == [BlockKind.TEXT, BlockKind.TEXT]
    assert {block.language for block in shown if block.kind is BlockKind.CODE} == {"py"}
    assert [block.continues_code for block in shown if block.kind is BlockKind.CODE].count(False) == 1


@given(st.text(st.sampled_from("ab \n말🎉"), max_size=60), st.integers(1, 4000))
def test_what_a_person_wrote_is_whole(text: str, times: int) -> None:
    text = (text * times)[:50_000]
    joined = "".join(cut.glue + text[cut.start : cut.end] for cut in plain_sections(text))
    assert joined == text


@pytest.mark.parametrize("line", ["x" * 9001, "word " * 2000, "👩\u200d👩\u200d👧" * 1500, "e\u0301" * 5000])
def test_pieces_of_a_line_are_cut_between_characters(line: str) -> None:
    cut = list(pieces(line))
    assert "".join(cut) == line
    assert all(len(piece) <= LONGEST_PIECE for piece in cut)
    assert not any(piece[0] in " \u200d\u0301" for piece in cut)
    if " " in line:
        assert all(piece[-1] == " " for piece in cut)


def test_adjacent_code_blocks_that_come_at_once_are_two() -> None:
    splitter = Splitter()
    splitter.append("```\na\n```\n```\nb\n```\nafter")
    splitter.finish()
    assert [block.text for block in splitter.blocks if block.kind is BlockKind.CODE] == ["a\n", "b\n"]
    assert splitter.blocks[-1].kind is BlockKind.TEXT
