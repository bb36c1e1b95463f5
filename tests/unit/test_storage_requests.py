"""Requests in the database: a row for each end of a reply, and totals over them."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, replace

import pytest

from app.storage import Grouping, ReplyStatus, ReplyText, Stores
from app.words.requests import RequestColumn, cell_text, total_cells
from engine import DraftingState, RequestStats

GAIN = RequestStats(
    generated_tokens=101,
    rounds=51,
    draft_rounds=50,
    drafted=100,
    accepted=50,
    drafted_by_position=(50, 50),
    accepted_by_position=(30, 20),
    decode_s=2.0,
    plain_rounds=60.0,
    drafting=DraftingState.ACTIVE,
)
PLAIN = RequestStats(generated_tokens=31, rounds=31, decode_s=1.0, drafting=DraftingState.NO_DRAFT)


def record(stores: Stores, stats: RequestStats, text: str = "Some words.", draft: str = "Draft") -> int:
    chat = stores.chats.create("A chat")
    question = stores.messages.add_user(chat, None, "Why?")
    reply = stores.messages.begin_reply(chat, question, "Main", draft)
    stores.end_reply(ReplyText(reply, text, "", 0.0), ReplyStatus.DONE, stats, None, '{"answer":{}}')
    return reply


def test_an_end_is_stored_with_its_row_and_marks(stores: Stores) -> None:
    reply = record(stores, GAIN)
    (request,) = stores.requests.recent(10)
    assert (request.message_id, request.title, request.main_name, request.draft_name) == (
        reply,
        "A chat",
        "Main",
        "Draft",
    )
    assert request.stats == GAIN
    stored = stores.messages.message(reply)
    assert stored is not None
    assert stored.drafting == '{"answer":{}}'


def test_an_end_that_the_disk_refuses_leaves_no_row(stores: Stores) -> None:
    chat = stores.chats.create("A chat")
    question = stores.messages.add_user(chat, None, "Why?")
    reply = stores.messages.begin_reply(chat, question, "Main", "Draft")
    stores.database.execute("DROP TABLE requests")
    with pytest.raises(sqlite3.Error):
        stores.end_reply(ReplyText(reply, "Words", "", 0.0), ReplyStatus.DONE, GAIN, None, None)
    stored = stores.messages.message(reply)
    assert stored is not None
    assert (stored.text, stored.status) == ("", ReplyStatus.STREAMING)


def test_older_ones_page_by_page(stores: Stores) -> None:
    replies = [record(stores, GAIN) for _ in range(5)]
    stores.database.execute("UPDATE requests SET created_at = 1.0")  # all at once: the id decides
    first = stores.requests.recent(2)
    second = stores.requests.recent(2, first[-1].id)
    assert [each.message_id for each in (*first, *second)] == replies[:-5:-1]
    assert (stores.requests.older(first[-1].id), stores.requests.older(second[-1].id)) == (3, 1)


def test_rates_by_position_are_summed(stores: Stores) -> None:
    record(stores, replace(GAIN, drafted_by_position=(10, 5), accepted_by_position=(8, 1)))
    record(stores, replace(GAIN, drafted_by_position=(10, 5, 4), accepted_by_position=(4, 1, 1)))
    number = record(stores, GAIN)
    damaged = '{"drafted": 1, "drafted_by_position": {"x": 1}}'
    stores.database.execute("UPDATE requests SET stats = ? WHERE message_id = ?", (damaged, number))
    stores.database.execute("UPDATE requests SET stats = '{' WHERE message_id = ?", (record(stores, GAIN),))
    (total,) = stores.requests.totals(Grouping.PAIR)
    assert total.drafted.accept_rate_by_position == pytest.approx((12 / 20, 2 / 10, 1 / 4))


def test_a_row_outlives_its_chat_and_says_nothing_of_it(stores: Stores) -> None:
    record(stores, GAIN)
    stores.database.execute("DELETE FROM messages")
    stores.database.execute("DELETE FROM chats")
    (request,) = stores.requests.recent(10)
    assert (request.title, request.stats) == ("", GAIN)
    reply = record(stores, GAIN)
    stores.requests.clear()
    assert stores.requests.recent(10) == []
    assert stores.requests.totals(Grouping.PAIR) == []
    assert stores.messages.message(reply) is not None


def test_rates_of_a_total_are_those_of_one_long_reply(stores: Stores) -> None:
    """Not the mean of rates: a reply of three tokens would count as much as one of a thousand."""
    record(stores, GAIN)
    record(stores, replace(GAIN, generated_tokens=11, rounds=11, drafted=10, accepted=0, plain_rounds=11.0))
    (total,) = stores.requests.totals(Grouping.PAIR)
    assert total.key == ("Main", "Draft")
    assert total.requests == 2
    assert total.drafted.accept_rate == pytest.approx(50 / 110)
    assert total.drafted.tokens_per_pass == pytest.approx((100 + 10) / (50 + 10))
    assert total.judged.speed_up == pytest.approx((110 / 60) / (71 / 60))


def test_plain_requests_count_but_dilute_no_rate(stores: Stores) -> None:
    record(stores, GAIN)
    record(stores, PLAIN)
    record(stores, replace(GAIN, plain_rounds=0.0))  # drafted, and not compared with plain decoding
    (total,) = stores.requests.totals(Grouping.PAIR)
    assert total.requests == 3
    assert total.drafted.tokens_per_pass == pytest.approx(2.0)
    assert total.judged.speed_up == pytest.approx(GAIN.speed_up)


def test_totals_by_language_and_content(stores: Stores) -> None:
    record(stores, GAIN, "초안 모델이 추측해요.")
    record(stores, GAIN, "A draft guesses.")
    record(stores, GAIN, "- one\n- two")
    assert {total.key[1]: total.requests for total in stores.requests.totals(Grouping.LANGUAGE)} == {"en": 2, "ko": 1}
    assert {total.key[1]: total.requests for total in stores.requests.totals(Grouping.CONTENT)} == {
        "prose": 2,
        "list": 1,
    }


@pytest.mark.parametrize("damage", ["{", "null", '{"drafted":"many"}', "[]", '{"plain_rounds":NaN}', ""])
def test_damaged_rows_hide_no_others(stores: Stores, damage: str) -> None:
    record(stores, GAIN)
    number = record(stores, GAIN)
    stores.database.execute("UPDATE requests SET stats = ? WHERE message_id = ?", (damage, number))
    assert GAIN in [each.stats for each in stores.requests.recent(10)]
    (total,) = stores.requests.totals(Grouping.PAIR)
    assert total.drafted.accept_rate == pytest.approx(0.5)


_IMPOSSIBLE: list[object] = [-1, -1e308, 1e308, 2**63, 10**400, 1.5, True, "9", None, {}, [9], [-1, 1e308], [1] * 9999]


def test_no_impossible_number_breaks_the_table_or_a_total(stores: Stores) -> None:
    """Every counter of a row may be anything: the row is told all the same, and no sum has no end."""
    record(stores, GAIN)
    sql = "INSERT INTO requests (main_name, status, stats, created_at) VALUES (?, 'done', ?, 1.0)"
    for name in asdict(GAIN):
        for value in _IMPOSSIBLE:
            stores.database.execute(sql, (f"{name} {value!r:.20}", json.dumps(asdict(GAIN) | {name: value})))
    recent = stores.requests.recent(10_000)
    assert len(recent) > 0.9 * len(asdict(GAIN)) * len(_IMPOSSIBLE)
    for request in recent:
        for column in list(RequestColumn)[RequestColumn.STATE :]:
            assert len(cell_text(column, request.status, request.stats)) < 1000
    totals = [total for grouping in Grouping for total in stores.requests.totals(grouping)]
    assert all(total_cells(total) for total in totals)
    assert max(total.drafted.generated_tokens for total in totals) < 1e6


def test_an_end_that_is_stored_twice_has_one_row(stores: Stores) -> None:
    """It is tried again while the disk has not answered the time before."""
    reply = record(stores, GAIN)
    stores.end_reply(ReplyText(reply, "Some words.", "", 0.0), ReplyStatus.DONE, GAIN, None, None)
    assert [total.requests for total in stores.requests.totals(Grouping.PAIR)] == [1]
    stores.messages.resume_reply(reply)
    stores.end_reply(ReplyText(reply, "Some words. More.", "", 0.0), ReplyStatus.DONE, GAIN, None, None)
    assert len(stores.requests.recent(10)) == 2
