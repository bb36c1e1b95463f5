"""Marks of drafted text as they grow, and as they are stored."""

from __future__ import annotations

import random

import pytest

from app.view_models.drafted_text import DraftedText, DraftMark


def marked(*marks: DraftMark, thinking: bool = False) -> DraftedText:
    drafted = DraftedText()
    drafted.add(marks, 0, thinking=thinking)
    return drafted


def test_what_is_foreseen_side_by_side_is_one_mark() -> None:
    drafted = marked(DraftMark(0, 3), DraftMark(3, 5), DraftMark(6, 7))
    assert list(drafted.marks(thinking=False)) == [DraftMark(0, 5), DraftMark(6, 7)]


def test_a_continued_reply_counts_from_where_it_goes_on() -> None:
    drafted = marked(DraftMark(0, 3))
    drafted.add([DraftMark(1, 2, " no", 1, 4, 2)], 10, thinking=False)
    assert [(mark.start, mark.end) for mark in drafted.marks(thinking=False)] == [(0, 3), (11, 12)]


def test_stored_and_read_again() -> None:
    drafted = marked(
        DraftMark(0, 3), DraftMark(3, 5, ' "no"\n', 2, 4, 7), DraftMark(5, 6), DraftMark(9, 10, "", 1, 1, 8)
    )
    drafted.add([DraftMark(2, 4)], 0, thinking=True)
    again = DraftedText(drafted.to_json() or "")
    for thinking in (False, True):
        assert list(again.marks(thinking=thinking)) == list(drafted.marks(thinking=thinking))


def test_a_long_reply_stays_small() -> None:
    """20,000 tokens of three letters, seven in ten of them foreseen."""
    chance, drafted, at = random.Random(1), DraftedText(), 0
    for number in range(7000):
        accepted = chance.randrange(5)
        marks = [DraftMark(at, at + 3 * accepted)] if accepted else []
        at += 3 * accepted
        if accepted < 4:
            marks.append(DraftMark(at, at + 3, " foo", accepted + 1, 4, number))
        at += 3
        drafted.add(marks, 0, thinking=False)
    assert len(drafted.to_json() or "") < 4 * at


def test_marks_between_two_places() -> None:
    drafted = marked(DraftMark(0, 3), DraftMark(5, 8), DraftMark(10, 12))
    assert [mark.start for mark in drafted.between(3, 5, thinking=False)] == []
    assert [mark.start for mark in drafted.between(2, 6, thinking=False)] == [0, 5]
    assert [mark.start for mark in drafted.between(7, 100, thinking=False)] == [5, 10]


def test_a_cut_text_loses_the_marks_behind_the_cut() -> None:
    drafted = marked(DraftMark(0, 3), DraftMark(5, 8))
    drafted.drop_behind(6, thinking=False)
    assert list(drafted.marks(thinking=False)) == [DraftMark(0, 3)]


@pytest.mark.parametrize(
    "stored",
    [
        "{",
        "[]",
        "1",
        '{"answer":{"kept":[1]}}',
        '{"answer":{"kept":[1,"2"]}}',
        '{"answer":{"kept":[-1,2]}}',
        '{"answer":{"kept":[0,5],"overruled":[[2,2,"a",1,1,1]]}}',
        '{"answer":{"overruled":[[0,1]]}}',
        "[" * 100_000,
    ],
)
def test_damaged_marks_are_no_marks(stored: str) -> None:
    assert not DraftedText(stored)
    assert DraftedText(stored).to_json() is None
