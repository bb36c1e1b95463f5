"""The transcript's rows and what is said when they change."""

from __future__ import annotations

import pytest

from app.view_models.transcript import ReplyStatus, TranscriptMessage, TranscriptModel
from app.words.replies import reply_notice
from engine import EngineError, NoModelLoaded
from tests.helpers.controller_harness import recorded


@pytest.fixture
def model() -> TranscriptModel:
    model = TranscriptModel()
    model.set_messages([TranscriptMessage(7, True, "Question"), TranscriptMessage(9, False, "Ans")])
    return model


def test_messages_are_found_by_id(model: TranscriptModel) -> None:
    assert (model.row_of(7), model.row_of(9), model.row_of(8)) == (0, 1, None)
    message = model.message(9)
    assert message is not None
    assert message.text == "Ans"
    assert model.message(8) is None


def test_append_says_the_row(model: TranscriptModel) -> None:
    said = recorded(model.message_inserted)
    model.append(TranscriptMessage(12, True, "And?"))
    assert (said, model.row_of(12)) == ([(2,)], 2)


def test_text_grows_apart_from_thinking(model: TranscriptModel) -> None:
    said = recorded(model.text_appended)
    model.append_text(9, "wer")
    model.append_text(9, "Hm", thinking=True)
    assert (model.messages[1].text, model.messages[1].thinking, said) == ("Answer", "Hm", [(1,), (1,)])


def test_change_says_only_what_is_new(model: TranscriptModel) -> None:
    said = recorded(model.message_changed)
    model.change(9, status=ReplyStatus.STREAMING)
    model.change(9, status=ReplyStatus.STREAMING)
    assert said == [(1,)]


def test_remove_from_takes_the_rest(model: TranscriptModel) -> None:
    said = recorded(model.messages_removed)
    model.remove_from(1)
    model.remove_from(1)
    assert (said, model.row_of(9), len(model.messages)) == ([(1, 1)], None, 1)


def test_set_messages_starts_over(model: TranscriptModel) -> None:
    said = recorded(model.was_reset)
    model.set_messages([TranscriptMessage(3, True, "Other")])
    assert (said, model.row_of(3), model.row_of(7)) == ([()], 0, None)


@pytest.mark.parametrize(
    ("status", "text", "can"),
    [
        (ReplyStatus.STOPPED, "Half", True),
        (ReplyStatus.INTERRUPTED, "Half", True),
        (ReplyStatus.FAILED, "Half", True),
        (ReplyStatus.STOPPED, "", False),
        (ReplyStatus.DONE, "Whole", False),
        (ReplyStatus.STREAMING, "Half", False),
    ],
)
def test_only_unfinished_replies_with_text_can_go_on(status: ReplyStatus, text: str, can: bool) -> None:
    assert TranscriptMessage(1, False, text, status=status).can_continue is can
    assert not TranscriptMessage(1, True, text, status=status).can_continue


@pytest.mark.parametrize("status", list(ReplyStatus))
@pytest.mark.parametrize("error", [None, NoModelLoaded()], ids=str)
def test_a_notice_is_announced_exactly_where_there_are_words_for_one(
    status: ReplyStatus, error: EngineError | None
) -> None:
    message = TranscriptMessage(1, from_user=False, text="Half", status=status, error=error)
    assert message.has_notice == (reply_notice(status, error, empty=False) is not None)
