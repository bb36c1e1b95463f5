"""The sidebar's list and the table of requests as Qt models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time, timedelta

import pytest
from PySide6.QtCore import QModelIndex, Qt, QTimer
from pytestqt.modeltest import ModelTester

from app.storage import ChatSummary, Listing, ReplyStatus
from app.view_models.conversation_list import PAGE_CHATS, ROW, ConversationListModel
from app.view_models.request_table import (
    RequestRole,
    RequestRow,
    RequestTableModel,
)
from app.words.chat_groups import ChatGroup
from app.words.replies import status_text
from app.words.requests import RequestColumn
from engine import RequestStats
from tests.helpers.controller_harness import recorded
from tests.helpers.zones import KIRIBATI, LORD_HOWE, NEW_YORK, in_zone

DAY_S = 86_400
NOW = datetime(2026, 11, 20, 12).astimezone()
NOW_S = NOW.timestamp()
pytestmark = pytest.mark.usefixtures("qapp")  # the list has a timer


class Chats(list[ChatSummary]):
    def find(self, query: str, limit: int, done: Callable[[Listing], None]) -> None:
        found = [chat for chat in self if query in chat.title]
        done(Listing(found[:limit], more=len(found) > limit))


@pytest.fixture
def chats() -> Chats:
    return Chats(
        [
            ChatSummary(9, "Pinned one", True, NOW_S - 90 * DAY_S),
            ChatSummary(5, "Now", False, NOW_S),
            ChatSummary(4, "A day ago", False, NOW_S - DAY_S),
            ChatSummary(3, "Days ago", False, NOW_S - 4 * DAY_S),
            ChatSummary(2, "Long ago", False, 1_600_000_000),
            ChatSummary(1, "Longer ago", False, 1_599_990_000),
        ]
    )


@pytest.fixture
def model(chats: Chats, qtmodeltester: ModelTester) -> ConversationListModel:
    model = ConversationListModel(chats.find, today=NOW.date)
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    model.refresh()
    return model


def asking(query: str) -> tuple[ConversationListModel, list[Callable[[Listing], None]]]:
    """A model that searches, and its questions, for the test to answer."""
    asked: list[Callable[[Listing], None]] = []
    model = ConversationListModel(lambda _query, _limit, done: asked.append(done), today=NOW.date)
    model.set_query(query)
    return model, asked


def titles(model: ConversationListModel) -> list[str]:
    return [str(model.index(row).data()) for row in range(model.rowCount())]


def test_chats_stand_under_their_days(model: ConversationListModel) -> None:
    assert titles(model) == [
        *("Pinned", "Pinned one"),
        *("Today", "Now"),
        *("Yesterday", "A day ago"),
        *("Previous 7 days", "Days ago"),
        *("September 2020", "Long ago", "Longer ago"),
    ]
    heading, chat = model.index(0), model.index(1)
    assert (heading.data(ROW).group, chat.data(ROW).group) == (ChatGroup.PINNED, None)
    assert not model.flags(heading) & Qt.ItemFlag.ItemIsSelectable
    assert model.flags(chat) & Qt.ItemFlag.ItemIsSelectable


def test_chats_stand_under_their_days_also_after_midnight(chats: Chats) -> None:
    days = [NOW.date()]
    model = ConversationListModel(chats.find, today=lambda: days[-1])
    model.refresh()
    (midnight,) = model.findChildren(QTimer)
    days.append(days[0] + timedelta(1))
    midnight.timeout.emit()
    assert titles(model)[2:4] == ["Yesterday", "Now"]
    assert midnight.isActive()


@pytest.mark.parametrize("day", [date(2026, 3, 8), date(2026, 11, 1), date(2026, 4, 5), date(2026, 10, 4)])
@pytest.mark.parametrize("zone", [NEW_YORK, LORD_HOWE, KIRIBATI])
def test_a_day_begins_and_ends_at_midnight_also_when_summer_time_does(zone: str, day: date) -> None:
    def listed() -> list[str]:
        """Of a chat in each minute from two days before, the headings, each with the first and the last minute."""
        start, end = (datetime.combine(day + timedelta(days), time()).timestamp() for days in (-1, 1))
        minutes = [ChatSummary(int(at), str(at), False, at) for at in range(int(start), int(end), 60)][::-1]
        model = ConversationListModel(lambda _query, _limit, done: done(Listing(minutes)), today=lambda: day)
        model.refresh()
        headings = [number for number, row in enumerate(model.rows) if row.is_heading]
        assert [model.rows[number].group for number in headings] == [ChatGroup.TODAY, ChatGroup.YESTERDAY]
        edges = [1, headings[1] - 1, headings[1] + 1, len(model.rows) - 1]
        return [f"{datetime.fromtimestamp(model.rows[edge].chat_id):%d %H:%M}" for edge in edges]

    with in_zone(zone):
        before = day - timedelta(1)
        assert listed() == [f"{day:%d} 23:59", f"{day:%d} 00:00", f"{before:%d} 23:59", f"{before:%d} 00:00"]


def test_a_search_that_has_not_answered_is_not_begun_anew_by_scrolling(chats: Chats) -> None:
    model, asked = asking("long")
    asked[0](Listing(chats, more=True))
    for _ in range(3):
        model.fetchMore(QModelIndex())
    assert len(asked) == 2
    asked[1](Listing(chats, more=True))
    assert model.canFetchMore(QModelIndex())


def test_what_a_search_has_found_so_far_is_listed_and_no_more_is_asked_for(chats: Chats) -> None:
    model, asked = asking("o")
    assert model.is_searching
    asked[0](Listing(chats[:2], partial=True))
    assert (titles(model)[1::2], model.is_searching) == (["Pinned one", "Now"], True)
    assert not model.canFetchMore(QModelIndex())
    asked[0](Listing(chats[:3]))
    assert (titles(model)[1::2], model.is_searching) == (["Pinned one", "Now", "A day ago"], False)


def test_an_answer_that_is_asked_for_again_keeps_its_rows_until_all_of_it_is_there(chats: Chats) -> None:
    model, asked = asking("o")

    def listed() -> tuple[list[int], bool]:
        return [row.chat_id for row in model.rows if row.chat_id], model.is_searching

    asked[0](Listing(chats[:4]))
    model.refresh()
    asked[1](Listing(chats[:1], partial=True))
    assert listed() == ([9, 5, 4, 3], True)
    asked[1](Listing(chats[1:3]))
    assert listed() == ([5, 4], False)
    model.set_query("L")
    asked[2](Listing(chats[4:5], partial=True))
    assert listed() == ([2], True)


def test_query_leaves_what_fits_without_a_reset(model: ConversationListModel) -> None:
    resets, removed = recorded(model.modelReset), recorded(model.rowsRemoved)
    model.set_query(" Long ")
    assert (titles(model), model.query, resets) == (["September 2020", "Long ago", "Longer ago"], "Long", [])
    assert removed
    model.set_query("")
    assert len(titles(model)) == 11


def test_change_of_a_chat_changes_its_row_only(model: ConversationListModel, chats: Chats) -> None:
    changed, inserted = recorded(model.dataChanged), recorded(model.rowsInserted)
    chats[1] = replace(chats[1], title="Renamed")
    model.refresh()
    assert (titles(model)[3], len(changed), inserted) == ("Renamed", 1, [])
    model.set_generating([5])
    assert model.index(3).data(ROW).generating
    assert len(changed) == 2


def test_chat_that_moves_to_the_top_is_moved_alone(model: ConversationListModel, chats: Chats) -> None:
    inserted = recorded(model.rowsInserted)
    chats.insert(1, replace(chats.pop(4), updated_at=NOW_S))
    model.refresh()
    assert titles(model)[2:5] == ["Today", "Long ago", "Now"]
    assert len(inserted) == 1
    assert [model.index_of(chat).row() for chat in (2, 77, 0)] == [3, -1, -1]


def test_only_as_many_chats_are_asked_for_as_were_scrolled_to(chats: Chats) -> None:
    chats[:] = [ChatSummary(number, str(number), False, NOW_S) for number in range(1, 3 * PAGE_CHATS)]
    model = ConversationListModel(chats.find, today=NOW.date)
    model.refresh()
    assert (model.rowCount(), model.canFetchMore(QModelIndex())) == (PAGE_CHATS + 1, True)
    model.fetchMore(QModelIndex())
    model.fetchMore(QModelIndex())
    assert (model.rowCount(), model.canFetchMore(QModelIndex())) == (len(chats) + 1, False)


STATS = RequestStats(
    generated_tokens=30, rounds=11, drafted=40, accepted=19, decode_s=1.0, plain_rounds=20.0,
    drafted_by_position=(10, 10, 10, 10), accepted_by_position=(8, 6, 3, 2),
)  # fmt: skip


@pytest.fixture
def table(qtmodeltester: ModelTester) -> RequestTableModel:
    table = RequestTableModel()
    qtmodeltester.check(table)  # type: ignore[no-untyped-call]
    table.put(RequestRow(1, "Old", "Main", ReplyStatus.DONE))
    table.put(RequestRow(2, "New", "Main ← Draft", ReplyStatus.STREAMING, STATS))
    return table


def cells(table: RequestTableModel, row: int) -> list[str]:
    return [str(table.index(row, column).data()) for column in RequestColumn]


def test_requests_stand_newest_first_with_their_numbers(table: RequestTableModel) -> None:
    by_position = "position 1: 80%, position 2: 60%, position 3: 30%, position 4: 20%"
    new = ["New", "Writing", "1.4×", "48%", "2.9", by_position, "", "–", "29.0"]
    assert cells(table, 0) == new
    assert cells(table, 1) == ["Old", "Done", "–", "–", "–", "", "", "–", "–"]
    assert table.index(0, RequestColumn.SPEED_UP).data(RequestRole.SECOND_LINE) == "0.4 s saved"
    assert table.index(0, RequestColumn.CHAT).data(RequestRole.SECOND_LINE) == "Main ← Draft"
    table.put(RequestRow(3, "Odd", "a folder ← of mine ← Draft-1B-4bit"))
    assert table.index(0, RequestColumn.CHAT).data(RequestRole.SECOND_LINE) == "a folder ← of mine ← Draft 1B"


def test_every_end_has_words_of_its_own() -> None:
    ends = [status for status in ReplyStatus if not status.under_way and status.name not in ("UNSAVED", "UNREADABLE")]
    assert len({status_text(status) for status in ends}) == len(ends)


def test_put_of_a_known_request_changes_its_row(table: RequestTableModel) -> None:
    changed = recorded(table.dataChanged)
    row = table.row(2)
    assert row is not None
    table.put(row)
    assert changed == []
    table.put(replace(row, status=ReplyStatus.DONE))
    assert (len(changed), table.rowCount(), cells(table, 0)[1]) == (1, 2, "Done")
