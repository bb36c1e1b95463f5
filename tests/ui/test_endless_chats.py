"""A chat that no longer fits, in the window: the line where reading begins, its menu, pinned messages, the question."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.view_models.chat_options import Scope
from app.view_models.transcript import ReplyStatus
from app.views.shell.message_actions import LongChatMenu
from app.views.transcript.beginning_part import BeginningPart
from app.views.transcript.message_footer import MessageFooter, message_menu
from app.views.transcript.parts import PartKind
from app.views.transcript.status_parts import NoticePart
from engine import ContextTooLong, FinishReason, Truncation
from tests.helpers.app_harness import AppHarness
from tests.helpers.fake_engine import Script
from tests.helpers.stillness import still


@pytest.fixture
def harness(app: AppHarness) -> AppHarness:
    app.chats.new_chat()
    app.engine.scripts.clear()
    return app


def talk(harness: AppHarness, qtbot: QtBot, *scripts: Script) -> None:
    for number, script in enumerate(scripts):
        harness.engine.scripts.append(script)
        harness.ask(qtbot, f"Question {number}")
        harness.wait_until_quiet(qtbot)


def parts(harness: AppHarness, kind: PartKind) -> list[tuple[int, object]]:
    """(row, widget) of those in sight."""
    still()
    shown = [part for part, _ in harness.transcript.visible_parts.shown() if part.kind is kind]
    return [(harness.chats.transcript.row_of(part.message_id) or 0, part.widget) for part in shown]


def footers(harness: AppHarness) -> list[MessageFooter]:
    return [widget for _, widget in parts(harness, PartKind.FOOTER) if isinstance(widget, MessageFooter)]


def opened_menu(harness: AppHarness) -> LongChatMenu:
    ((_, line),) = parts(harness, PartKind.BEGINNING)
    assert isinstance(line, BeginningPart)
    line.click()
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, LongChatMenu)
    return menu


def choice(menu: LongChatMenu, words: str) -> QAction:
    return next(action for action in menu.actions() if action.text() == words)


def test_a_line_is_where_the_model_reads_from(harness: AppHarness, qtbot: QtBot) -> None:
    talk(harness, qtbot, Script(), Script())
    assert parts(harness, PartKind.BEGINNING) == []
    talk(harness, qtbot, Script(first=2))
    ((row, line),) = parts(harness, PartKind.BEGINNING)
    assert row == 2
    assert isinstance(line, BeginningPart)
    assert (line.accessibleName(), line.accessibleDescription()) == (
        "The model reads from here on",
        "Show what is left out",
    )
    assert "2 earlier messages not read" in harness.window.composer.ring.accessibleName()
    talk(harness, qtbot, Script())
    assert [row for row, _ in parts(harness, PartKind.BEGINNING)] == [2]
    assert len(harness.engine.requests[-1].messages) == 5
    talk(harness, qtbot, Script(first=4))
    assert [row for row, _ in parts(harness, PartKind.BEGINNING)] == [6]
    assert "6 earlier messages not read" in harness.window.composer.ring.accessibleName()
    harness.chats.new_chat()
    assert "not read" not in harness.window.composer.ring.accessibleName()


def test_the_line_stays_though_its_message_is_deleted(harness: AppHarness, qtbot: QtBot) -> None:
    """The next reply is read from the question before it."""
    talk(harness, qtbot, *[Script()] * 3, Script(first=4))
    assert [row for row, _ in parts(harness, PartKind.BEGINNING)] == [4]
    deleted = harness.chats.transcript.messages[4].id
    harness.chats.edits.delete(deleted)
    qtbot.waitUntil(lambda: harness.chats.transcript.row_of(deleted) is None)
    assert [row for row, _ in parts(harness, PartKind.BEGINNING)] == [2]
    assert "2 earlier messages not read" in harness.window.composer.ring.accessibleName()
    chat_id = harness.chats.chat_id
    harness.chats.new_chat()
    harness.chats.open_chat(chat_id)
    assert [row for row, _ in parts(harness, PartKind.BEGINNING)] == [2]
    talk(harness, qtbot, Script())
    assert harness.engine.requests[-1].messages[0].content == "Question 1"
    harness.chats.deletions.undo()
    qtbot.waitUntil(lambda: harness.chats.transcript.row_of(deleted) is not None)


def test_what_is_left_out_and_what_stays(harness: AppHarness, qtbot: QtBot) -> None:
    harness.chats.options.put(Scope.CHAT, "system_prompt", "Be brief.")
    talk(harness, qtbot, *[Script()] * 3)
    harness.act(1, "Pin")
    harness.wait_until_quiet(qtbot)
    assert ["Pinned" in footer.accessibleName() for footer in footers(harness)] == [False, True] + [False] * 4
    talk(harness, qtbot, Script(first=5))
    assert harness.engine.requests[-1].kept == (2,)
    menu = opened_menu(harness)
    assert [action.text() for action in menu.actions()] == [
        "2 earlier messages not read",
        "Still read: the system prompt",
        "Still read: 1 pinned message",
        "A draft guesses, the main model checks.",
        "",
        "Long chats",
        "Leave out the oldest",
        "Summarize the oldest",
        "Ask me",
    ]
    assert [action.text() for action in menu.actions() if action.isChecked()] == ["Leave out the oldest"]
    choice(menu, "Ask me").trigger()
    menu.close()
    assert harness.chats.options.view(Scope.CHAT).own["long_chats"] == "ask"
    harness.act(1, "Unpin")
    harness.wait_until_quiet(qtbot)
    talk(harness, qtbot, Script())
    asked = harness.engine.requests[-1]
    assert (asked.kept, asked.truncation, len(asked.messages)) == ((), Truncation.NONE, 6)


def test_instructions_of_a_project_stay(harness: AppHarness, qtbot: QtBot) -> None:
    folder_id = harness.make_folder(qtbot)
    harness.chats.projects.put_instructions(folder_id, "We sell tea.")
    harness.chats.new_chat_in(folder_id)
    talk(harness, qtbot, Script(), Script(first=3))
    menu = opened_menu(harness)
    assert menu.actions()[1].text() == "Still read: the project's instructions"
    menu.close()


def test_a_reply_that_goes_on_in_a_larger_context_is_read_from_the_beginning(harness: AppHarness, qtbot: QtBot) -> None:
    """And so are those after it."""
    talk(harness, qtbot, Script(), Script(("Half ",), first=2, finish=FinishReason.CONTEXT))
    half = harness.chats.transcript.messages[-1]
    sql = "UPDATE messages SET stats = json_set(stats, '$.context_limit_tokens', 1024) WHERE id = ?"
    harness.change(qtbot, lambda stores: stores.database.execute(sql, (half.id,)))
    harness.engine.scripts.append(Script(("a reply.",)))
    assert harness.chats.asking.continue_reply(half.id)
    harness.wait_until_quiet(qtbot)
    assert harness.chats.transcript.messages[-1].text == "Half a reply."
    talk(harness, qtbot, Script())
    assert [len(each.messages) for each in harness.engine.requests[-2:]] == [4, 5]
    assert parts(harness, PartKind.BEGINNING) == []


def test_a_chat_that_asks(harness: AppHarness, qtbot: QtBot) -> None:
    harness.chats.options.put(Scope.CHAT, "long_chats", "ask")
    talk(harness, qtbot, Script(), Script((), error=ContextTooLong(4096, 5000, can_truncate=True)))
    ((_, notice),) = parts(harness, PartKind.NOTICE)
    assert isinstance(notice, NoticePart)
    buttons = [each.text() for each in notice.buttons if each.isVisible()]
    assert buttons == ["Leave out the oldest", "Summarize the oldest", "New chat"]
    notice.buttons[0].click()
    harness.wait_until_quiet(qtbot)
    assert harness.engine.requests[-1].truncation is Truncation.OLDEST
    assert [each.status for each in harness.chats.transcript.messages[1::2]] == [ReplyStatus.DONE] * 2
    assert parts(harness, PartKind.NOTICE) == []


def test_a_reply_that_filled_the_context_goes_on(harness: AppHarness, qtbot: QtBot) -> None:
    talk(harness, qtbot, Script(), Script(("Half ",), finish=FinishReason.CONTEXT))
    ((_, notice),) = parts(harness, PartKind.NOTICE)
    assert isinstance(notice, NoticePart)
    harness.engine.scripts.append(Script(("a reply.",)))
    notice.buttons[0].click()
    harness.wait_until_quiet(qtbot)
    assert harness.chats.transcript.messages[-1].text == "Half a reply."


def test_a_summary_of_a_message_that_is_deleted_meanwhile_is_not_kept(harness: AppHarness, qtbot: QtBot) -> None:
    harness.chats.options.put(Scope.CHAT, "long_chats", "summary")
    talk(harness, qtbot, Script(), Script())
    harness.engine.scripts += [Script(first=2), Script(("The secret", " was told."))]
    asked = len(harness.engine.requests)
    harness.chats.replies.ended.connect(harness.engine.gate.hold)
    harness.ask(qtbot, "And now?")
    qtbot.waitUntil(lambda: len(harness.engine.requests) == asked + 2)
    harness.chats.replies.ended.disconnect(harness.engine.gate.hold)
    deleted = harness.chats.transcript.messages[0].id
    harness.chats.edits.delete(deleted)
    qtbot.waitUntil(lambda: harness.chats.transcript.row_of(deleted) is None)
    harness.engine.gate.open()
    harness.engine.scripts.append(Script())
    harness.ask(qtbot, "And then?")
    harness.wait_until_quiet(qtbot)
    assert "The secret was told." not in [each.text for each in harness.chats.transcript.messages]


def test_a_summary_is_a_message_of_its_own(harness: AppHarness, qtbot: QtBot) -> None:
    harness.chats.options.put(Scope.CHAT, "long_chats", "summary")
    talk(harness, qtbot, Script(), Script())
    harness.engine.scripts.append(Script(first=2))
    harness.engine.scripts.append(Script(("Ducks were counted.",)))
    harness.ask(qtbot, "And now?")
    qtbot.waitUntil(lambda: any(each.summary for each in harness.chats.transcript.messages))
    harness.wait_until_quiet(qtbot)
    ((row, line),) = parts(harness, PartKind.BEGINNING)
    assert isinstance(line, BeginningPart)
    assert line.text() == "The model reads this summary, and what follows"
    message = harness.chats.transcript.messages[row]
    assert (message.text, message.summary, message.begins) == ("Ducks were counted.", True, True)
    menu = message_menu(harness.transcript.copier.context, message, harness.transcript)
    possible = {action.text(): action.isEnabled() for action in menu.actions() if action.text()}
    menu.deleteLater()
    assert [name for name in ("Edit", "Regenerate", "Continue", "Change to My Message") if possible[name]] == ["Edit"]
    talk(harness, qtbot, Script())
    assert "Ducks were counted." in harness.engine.requests[-1].messages[0].content
