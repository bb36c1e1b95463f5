"""Several chats at once: each shows its own state, says why nothing is drafted, and opens where it was left."""

from __future__ import annotations

import threading
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.view_models.transcript import ReplyStatus
from app.views.transcript.parts import PartKind
from app.views.transcript.status_parts import ProgressPart
from engine import DraftingState
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import Script
from tests.helpers.stillness import still

LINE_PX = 34  # with the gap below it


def progress(harness: AppHarness) -> str:
    """What stands in place of the first word; nothing else is done meanwhile."""
    view = harness.transcript
    widgets = [part.widget for part, _ in view.visible_parts.shown() if part.kind is PartKind.PROGRESS]
    return next((widget.accessibleName() for widget in widgets if isinstance(widget, ProgressPart)), "")


def last_status(harness: AppHarness) -> str:
    return harness.chats.transcript.messages[-1].status


def begin(harness: AppHarness, qtbot: QtBot, text: str) -> int:
    """Asks in a new chat and does not wait for the reply."""
    harness.chats.new_chat()
    harness.window.composer.send(text)
    qtbot.waitUntil(lambda: harness.chats.generating and len(harness.chats.transcript.messages) == 2)
    return harness.chats.chat_id


def test_stop_while_reading_and_waiting_for_others(harness: AppHarness, qtbot: QtBot) -> None:
    harness.engine.gate.hold()
    begin(harness, qtbot, "Hello")
    qtbot.waitUntil(lambda: "50" in progress(harness))
    harness.chats.stop()
    assert progress(harness) == "Stopping…"
    assert last_status(harness) == "stopping"
    harness.wait_until_quiet(qtbot)
    assert last_status(harness) == ReplyStatus.STOPPED

    first = begin(harness, qtbot, "One")
    begin(harness, qtbot, "Two")
    third = begin(harness, qtbot, "Three")
    qtbot.waitUntil(lambda: harness.chats.transcript.messages[-1].waits_for == 2)
    assert "2" in progress(harness)
    harness.chats.open_chat(first)
    assert harness.chats.generating
    assert last_status(harness) == ReplyStatus.READING
    harness.chats.open_chat(third)
    assert "2" in progress(harness)
    harness.chats.stop()
    harness.chats.open_chat(first)
    harness.engine.gate.open()
    harness.wait_until_quiet(qtbot)
    assert last_status(harness) == ReplyStatus.DONE
    harness.chats.open_chat(third)
    qtbot.waitUntil(lambda: last_status(harness) == ReplyStatus.STOPPED)


def test_in_company_the_chip_says_so_until_nobody_is_left(harness: AppHarness, qtbot: QtBot) -> None:
    harness.engine.scripts.append(Script(drafting=DraftingState.BATCHED))
    harness.engine.gate.hold()
    begin(harness, qtbot, "One")
    chip = harness.window.header.chip
    assert "answered together" not in chip.accessibleName()
    harness.engine.gate.let_through(1)
    qtbot.waitUntil(lambda: "answered together" in chip.accessibleName())
    assert "Drafting pauses" in chip.toolTip()
    harness.engine.gate.open()
    harness.wait_until_quiet(qtbot)
    qtbot.waitUntil(lambda: "answered together" not in chip.accessibleName())


def test_a_chat_opens_where_its_reader_left_it(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot) as harness:
        harness.engine.scripts.extend(Script(pieces=(f"{word} paragraph\n\n" * 80,)) for word in ("one", "two"))
        harness.ask(qtbot, "Long?")
        long_chat, view = harness.chats.chat_id, harness.transcript
        view.verticalScrollBar().setValue(700)
        still()
        left, bottom = view.verticalScrollBar().value(), view.verticalScrollBar().maximum()
        assert 0 < left < bottom - 500
        harness.chats.new_chat()
        harness.ask(qtbot, "Other?")
        other = harness.chats.chat_id
        harness.chats.open_chat(long_chat)
        assert abs(view.verticalScrollBar().value() - left) <= LINE_PX
    with open_app(tmp_path, qtbot) as harness:
        view = harness.transcript
        harness.chats.open_chat(long_chat)
        assert abs(view.verticalScrollBar().value() - left) <= LINE_PX
        view.jump_to_end()
        harness.chats.open_chat(other)
        assert view.place() is None, "the other was left at its end"
        harness.chats.open_chat(long_chat)
        assert view.place() is None


def test_what_the_disk_takes_late_is_seen_in_its_place(harness: AppHarness, qtbot: QtBot) -> None:
    """Another chat, or another version of the reply, is opened before the disk has taken it."""
    chats, storage = harness.chats, harness.application.storage
    harness.ask(qtbot, "Hello")
    chat_id, first = chats.chat_id, chats.transcript.messages[-1].id

    def stored() -> list[int]:
        return [message.id for message in storage.read.messages.shown_branch(chat_id)]

    for what in ("regenerate", "send", "send and look at another version"):
        taken, before = threading.Event(), max(stored())
        storage.write(lambda _stores: taken.wait(), lambda _: None, lambda _: None)  # noqa: B023
        if what == "regenerate":
            chats.asking.regenerate(chats.transcript.messages[-1].id)
        else:
            harness.window.composer.send("And then?")
        if what.endswith("version"):
            chats.show_version(chats.transcript.messages[1].id, -1)
            assert chats.transcript.messages[-1].id == first
        else:
            chats.new_chat()
            chats.open_chat(chat_id)
        taken.set()
        harness.wait_until_quiet(qtbot)
        assert [message.id for message in chats.transcript.messages] == stored(), what
        assert max(stored()) > before or what.endswith("version")
        assert harness.window.composer.is_empty
