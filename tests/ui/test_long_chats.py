"""A chat of very many messages, as an import brings: its end is there at once, and the window never waits."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.controllers.chat import AT_ONCE
from app.storage import Match, MessageStore
from app.storage import messages as storage_messages
from app.system.paths import Paths
from app.view_models.race import RaceState
from app.view_models.transcript import ReplyStatus
from app.views.transcript.message_item import MessageItem
from app.views.transcript.reading_places import ReadingPlace
from tests.drills.test_many_messages import fill
from tests.helpers.app_harness import AppHarness, open_app

MANY = 400
VERY_MANY = 3000  # not in one turn of the event loop


@pytest.fixture
def harness(request: pytest.FixtureRequest, tmp_path: Path, qtbot: QtBot) -> Iterator[AppHarness]:
    """One chat, whose messages have the numbers from 1 to MANY."""
    fill(Paths.for_user(tmp_path).database, 1, getattr(request, "param", MANY))
    with open_app(tmp_path, qtbot) as harness:
        yield harness


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The messages that the window's thread has read."""
    read: list[int] = []
    original = storage_messages._stored

    def noting(number: int, *others: Any) -> object:
        if threading.current_thread() is threading.main_thread():
            read.append(number)
        return original(number, *others)

    monkeypatch.setattr(storage_messages, "_stored", noting)
    return read


def open_whole(harness: AppHarness, qtbot: QtBot) -> None:
    harness.chats.open_chat(1)
    qtbot.waitUntil(lambda: not harness.chats.transcript.has_earlier)


def ask(harness: AppHarness, qtbot: QtBot) -> None:
    """Does not wait for the index of the search."""
    assert harness.chats.send("And?")
    with qtbot.waitSignal(harness.chats.replies.ended):
        pass


def ids(harness: AppHarness) -> list[int]:
    return [message.id for message in harness.chats.transcript.messages]


@pytest.mark.parametrize("harness", [VERY_MANY], indirect=True)
def test_the_end_is_there_at_once_and_the_rest_follows(harness: AppHarness, qtbot: QtBot, read_here: list[int]) -> None:
    counts: list[int] = []
    harness.chats.transcript.messages_prepended.connect(counts.append)
    harness.chats.open_chat(1)
    assert ids(harness) == list(range(VERY_MANY - AT_ONCE + 1, VERY_MANY + 1))
    qtbot.waitUntil(lambda: not harness.chats.transcript.has_earlier)
    assert ids(harness) == list(range(1, VERY_MANY + 1))
    assert all(harness.chats.transcript.row_of(number) == number - 1 for number in ids(harness))
    assert len(read_here) <= AT_ONCE + 10, "the window's thread has read more than the end"
    assert max(counts) <= 2000, "more rows at one go than a turn of the event loop has time for"

    items = [weakref.ref(item) for item in harness.transcript.items]

    def are_left() -> int:
        return sum(item() is not None for item in items)

    harness.chats.new_chat()
    assert are_left() == VERY_MANY
    qtbot.waitUntil(lambda: are_left() < 100)  # those that were in sight have parts that know them


class Paints(QObject):
    """Notes when a widget is painted."""

    def __init__(self, painted: QWidget, notes: list[str]) -> None:
        super().__init__(painted)
        self._notes = notes
        painted.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self._notes.append("painted")
        return False


def test_the_end_is_painted_first(harness: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    storage, _paints = harness.application.storage, Paints(harness.transcript.viewport(), notes)
    count = storage.count

    def noted(*asked: Any) -> None:
        notes.append("read")
        count(*asked)

    monkeypatch.setattr(storage, "count", noted)
    harness.chats.open_chat(1)
    qtbot.waitUntil(lambda: not harness.chats.transcript.has_earlier)
    assert "read" in notes
    assert notes[0] == "painted"

    harness.chats.new_chat()
    harness.chats.places.put(1, None)
    harness.chats.open_chat(1)
    view = harness.transcript
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() - 3000)
    place, highlights = view.place(), view.message_keys.highlights
    highlights.focus(AT_ONCE - 2)
    shown = {part.message_id: geometry.top() for part, geometry in view.visible_parts.shown()}
    with qtbot.waitSignal(harness.chats.transcript.messages_prepended):
        pass
    assert view.place() == place
    assert {part.message_id: geometry.top() for part, geometry in view.visible_parts.shown()} == shown
    qtbot.waitUntil(lambda: not harness.chats.transcript.has_earlier)
    assert view.place() == place
    assert highlights.focused_message() == MANY - 1
    assert view.items[MANY - 2].highlighted

    harness.chats.new_chat()
    place = ReadingPlace(40, 3.0)
    harness.chats.places.put(1, place)
    harness.chats.open_chat(1)
    assert view.place() == place  # also where it is left before that
    qtbot.waitUntil(lambda: not harness.chats.transcript.has_earlier)
    here = view.place()
    assert here is not None
    assert here.message_id == 40


def test_it_is_written_in_and_changed_while_it_comes(harness: AppHarness, qtbot: QtBot) -> None:
    harness.chats.open_chat(1)
    assert harness.chats.transcript.has_earlier
    ask(harness, qtbot)
    qtbot.waitUntil(lambda: not harness.chats.transcript.has_earlier)
    assert ids(harness) == list(range(1, MANY + 3))
    assert harness.chats.transcript.messages[-1].status is ReplyStatus.DONE

    before = ids(harness)
    harness.chats.edits.delete(100, following=False)
    harness.wait_until_stored(qtbot)
    qtbot.waitUntil(lambda: not harness.chats.transcript.has_earlier)
    assert ids(harness) == [each for each in before if each != 100]
    harness.chats.deletions.undo()
    harness.wait_until_stored(qtbot)
    qtbot.waitUntil(lambda: not harness.chats.transcript.has_earlier)
    assert ids(harness) == before

    harness.chats.new_chat()
    harness.chats.open_chat(1)
    last = ids(harness)[-1]
    with qtbot.waitSignal(harness.chats.replies.ended):
        assert harness.chats.asking.regenerate(last)
    assert (ids(harness)[-1], harness.chats.transcript.messages[-1].siblings) == (last + 1, 2)
    harness.chats.show_version(last + 1, -1)
    qtbot.waitUntil(lambda: ids(harness)[-2:] == before[-2:])
    qtbot.waitUntil(lambda: not harness.chats.transcript.has_earlier)
    assert ids(harness) == before


def test_requests_and_races_have_every_message(harness: AppHarness, qtbot: QtBot, read_here: list[int]) -> None:
    open_whole(harness, qtbot)
    read_here.clear()
    ask(harness, qtbot)
    assert len(harness.engine.requests[-1].messages) == MANY + 1
    assert harness.engine.requests[-1].messages[0].content.startswith("message 0 ")
    assert len(read_here) <= AT_ONCE + 30

    read_here.clear()
    race, actions = harness.application.speculation.race, harness.window.speculation
    actions.open_race(MANY)
    assert actions.race_window is not None
    assert not actions.race_window.go_button.isEnabled()
    actions.race_window.close()
    harness.wait_until_stored(qtbot)
    assert not race.under_way, "begun in a window that was closed"
    actions.open_race(MANY)
    qtbot.waitUntil(lambda: race.view.state is RaceState.DONE)
    assert len(harness.engine.requests[-1].messages) == MANY - 1
    assert len(read_here) <= 4


def stored_status(harness: AppHarness) -> ReplyStatus:
    """Of the reply that was asked for here."""
    stored = harness.application.storage.read.messages.message(MANY + 2)
    assert stored is not None
    return stored.status


def test_it_is_stopped_before_it_was_asked_for(harness: AppHarness, qtbot: QtBot) -> None:
    harness.chats.open_chat(1)
    asked = len(harness.engine.requests)
    with qtbot.waitSignal(harness.chats.generating_changed):
        assert harness.chats.send("And?")
    assert not harness.chats.send("And more?"), "two replies at once in one chat"
    with qtbot.waitSignal(harness.chats.generating_changed):
        harness.chats.stop()
    harness.wait_until_quiet(qtbot)
    assert len(harness.engine.requests) == asked
    assert stored_status(harness) == ReplyStatus.STOPPED
    assert harness.chats.transcript.messages[-1].status is ReplyStatus.STOPPED


@pytest.mark.expect_log("a count failed")
def test_where_it_cannot_be_read_the_reply_ends(
    harness: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.chats.open_chat(1)
    with monkeypatch.context() as patched:
        patched.setattr(harness.application.storage, "_address", "file:/nowhere/at/all?")
        ask(harness, qtbot)
        harness.wait_until_quiet(qtbot)
    assert stored_status(harness) == ReplyStatus.STOPPED


@pytest.mark.expect_log("was not stored: SQLITE_FULL")
@pytest.mark.parametrize("goes_on", [False, True], ids=["it stays stopped", "it goes on"])
def test_stopping_is_stored(harness: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, goes_on: bool) -> None:
    """A try that comes when the reply goes on already does not stop it again."""
    harness.chats.open_chat(1)
    with qtbot.waitSignal(harness.chats.generating_changed):
        assert harness.chats.send("And?")
    refusal = sqlite3.OperationalError("database or disk is full")
    refusal.sqlite_errorcode, refusal.sqlite_errorname = sqlite3.SQLITE_FULL, "SQLITE_FULL"

    def refuse(*_: object) -> None:
        raise refusal

    with monkeypatch.context() as full:
        full.setattr(MessageStore, "mark_stopped", refuse)
        harness.chats.stop()
        qtbot.waitUntil(lambda: harness.chats.transcript.messages[-1].status is ReplyStatus.UNSAVED)
        assert harness.chats.has_unsaved
    if goes_on:
        assert harness.chats.asking.continue_reply(MANY + 2)
    harness.chats.replies.ends.try_again()
    expected = ReplyStatus.DONE if goes_on else ReplyStatus.STOPPED
    qtbot.waitUntil(lambda: harness.chats.transcript.messages[-1].status is expected)
    harness.wait_until_stored(qtbot)
    assert (stored_status(harness), harness.chats.has_unsaved) == (expected, False)
    asked = "SELECT 1 FROM requests WHERE message_id = ?"
    assert len(harness.application.storage.read.database.rows(asked, (MANY + 2,))) == goes_on


@pytest.mark.parametrize("harness", [1000], indirect=True)
def test_copying_lays_nothing_out(harness: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    open_whole(harness, qtbot)
    view, made, sync = harness.transcript, [], MessageItem.sync

    def noting(item: MessageItem, width_px: int) -> bool:
        made.append(item)
        return sync(item, width_px)

    monkeypatch.setattr(MessageItem, "sync", noting)
    view.selectAll()
    for markdown in (False, True):
        view.copier.copy_selection(markdown=markdown)
        copied = QApplication.clipboard().text()
        assert [copied.count(f"message {number} ") for number in (0, 1, 77, 999)] == [1] * 4
    assert len(made) < 10


def test_other_colours_sizes_and_words_make_only_what_was_looked_at_anew(harness: AppHarness, qtbot: QtBot) -> None:
    open_whole(harness, qtbot)
    view, settings = harness.transcript, harness.application.settings
    for name, value in (("appearance", "dark"), ("language", "ko"), ("text_scale", 1.5)):
        before, height = [*view.items], view.column.height_px
        setattr(settings, name, value)
        harness.wait_until_stored(qtbot)
        anew = sum(one is not other for one, other in zip(before, view.items, strict=True))
        assert 0 < anew < 100, name
    assert view.column.height_px > 1.4 * height


def test_a_far_match_is_gone_to_and_steps_wait(harness: AppHarness, qtbot: QtBot) -> None:
    view = harness.transcript
    find_bar = harness.window.find_bar
    find_bar.open_match(1, Match(40, "", ("message 39",)))
    assert find_bar.isVisible()
    assert find_bar.field.words() == "message 39"
    qtbot.waitUntil(lambda: view.finder.current is not None)
    assert view.finder.current is not None
    assert view.finder.current.message_id == 40
    shown = [part.message_id for part, _ in view.visible_parts.shown()]
    assert 40 in shown
    qtbot.waitUntil(lambda: not (harness.chats.transcript.has_earlier or view.finder.is_reading))
    assert view.finder.current.message_id == 40, "what came later has moved the reader"

    find_bar.close()
    harness.chats.new_chat()
    harness.chats.open_chat(1)
    harness.chats.new_chat()
    harness.wait_until_stored(qtbot)
    assert ids(harness) == []
    harness.chats.open_at(1, 40)
    qtbot.waitUntil(lambda: not harness.chats.transcript.has_earlier)
    harness.wait_until_stored(qtbot)
    assert ids(harness) == list(range(1, MANY + 1))
    place = view.place()
    assert place is not None
    assert place.message_id == 40

    finder, told = view.finder, []
    finder.stepped.connect(lambda: told.append(finder.number))
    view.go_to(ReadingPlace(2, 0.0))
    finder.find("message")
    qtbot.waitUntil(lambda: finder.current is not None)
    first = finder.current
    assert first is not None
    read = [message for message in harness.chats.transcript.messages if finder.found.has_read(message.id)]
    for _ in range(3):
        finder.step(-1)
    assert len([each for each in ids(harness) if finder.found.has_read(each)]) <= len(read) + 3, "read at once"
    qtbot.waitUntil(lambda: len(told) == 3)
    assert finder.is_reading, "all was read for a step"
    row = harness.chats.transcript.row_of(first.message_id)
    assert row is not None
    assert finder.current is not None
    assert harness.chats.transcript.row_of(finder.current.message_id) == (row - 3) % MANY
    finder.close()
