"""The transcript's rows and what is said when they change."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from app.view_models.transcript import ReplyStatus, TranscriptMessage, TranscriptModel
from app.words.replies import reply_notice
from engine import NoModelLoaded, RequestStats
from tests.helpers.controller_harness import recorded


@pytest.fixture
def model() -> TranscriptModel:
    model = TranscriptModel()
    model.set_messages([TranscriptMessage(7, True, "Question"), TranscriptMessage(9, False, "Ans")])
    return model


def test_change_says_only_what_is_new(model: TranscriptModel) -> None:
    said = recorded(model.message_changed)
    model.change(9, status=ReplyStatus.STREAMING)
    model.change(9, status=ReplyStatus.STREAMING)
    assert said == [(1,)]


@pytest.mark.parametrize(
    ("status", "text", "can"),
    [
        (ReplyStatus.STOPPED, "Half", True),
        (ReplyStatus.INTERRUPTED, "Half", True),
        (ReplyStatus.FAILED, "Half", True),
        (ReplyStatus.STOPPED, "", False),
        (ReplyStatus.LENGTH, "Half", True),
        (ReplyStatus.DONE, "Whole", False),
        (ReplyStatus.STREAMING, "Half", False),
    ],
)
def test_only_unfinished_replies_with_text_can_go_on(status: ReplyStatus, text: str, can: bool) -> None:
    assert TranscriptMessage(1, False, text, status=status, stats=RequestStats()).can_continue is can
    assert TranscriptMessage(1, False, "Edited").can_continue  # a person wrote it
    assert not TranscriptMessage(1, True, "Asked").can_continue


@pytest.mark.parametrize("kept", [[7, 9, 20], [7, 20, 9], [20, 7, 9], [7], [9], [9, 7], []])
def test_another_state_of_the_branch_is_shown_by_what_differs(model: TranscriptModel, kept: list[int]) -> None:
    """Whoever follows the signals has the same rows."""
    rows = [message.id for message in model.messages]
    model.message_inserted.connect(lambda row: rows.insert(row, model.messages[row].id))
    model.messages_removed.connect(lambda first, count: rows.__delitem__(slice(first, first + count)))
    model.was_reset.connect(lambda: rows.__setitem__(slice(None), [each.id for each in model.messages]))
    changed = recorded(model.message_changed)
    model.show_branch(replace(model.message(number) or TranscriptMessage(number, False, "New")) for number in kept)
    assert rows == kept == [message.id for message in model.messages]
    assert [model.row_of(number) for number in kept] == list(range(len(kept)))
    assert not changed
    model.show_branch([TranscriptMessage(number, False, "Other") for number in kept])
    assert changed == [(row,) for row in range(len(kept))]


def test_a_notice_is_announced_exactly_where_there_are_words_for_one() -> None:
    for status, error in product(ReplyStatus, (None, NoModelLoaded())):
        message = TranscriptMessage(1, from_user=False, text="Half", status=status, error=error)
        assert message.has_notice == (reply_notice(status, error, empty=False) is not None), (status, error)
