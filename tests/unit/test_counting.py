"""Where a text is cut to be counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine import CountId, Event, TokensCounted
from engine.runtime.commands import Count
from engine.runtime.counting import SLICE_CHARACTERS, Counting, slice_end


@given(st.lists(st.sampled_from(["a", " ", "\n", "가", "x" * 3000, "word " * 2000]), max_size=40).map("".join))
def test_slices_make_up_the_text(text: str) -> None:
    at, slices = 0, []
    while at < len(text):
        end = slice_end(text, at)
        assert at < end <= at + SLICE_CHARACTERS
        slices.append(text[at:end])
        at = end
    assert "".join(slices) == text


def test_an_empty_text_waits_for_no_others() -> None:
    posted: list[Event] = []
    counting = Counting(lambda _sink, event: posted.append(event))
    for number, text in enumerate(("word", "")):
        counting.add(Count(CountId(number), text, posted.append))
    assert posted == [TokensCounted(CountId(1), 0)]
    assert counting.busy


def test_a_cut_is_in_the_second_half_and_at_a_line_if_there_is_one() -> None:
    half, rest = SLICE_CHARACTERS // 2, "x" * SLICE_CHARACTERS
    for start in (0, 3):
        before = "x" * (start + half)
        assert slice_end(f"{before}\n x {rest}", start) == len(before) + 1  # a line, though a space comes later
        assert slice_end(f"{before} {rest}", start) == len(before)
        assert slice_end(f"{before[1:]}\n{rest}", start) == start + SLICE_CHARACTERS
        assert slice_end(f"{before}{rest[half + 1 :]}\n\n", start) == start + SLICE_CHARACTERS
    assert slice_end(" " * SLICE_CHARACTERS, 0) == SLICE_CHARACTERS
