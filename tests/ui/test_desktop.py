"""What Hunch does beside its window: Quick Ask, the icon beside the clock, notifications, one announcement."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import (
    QGuiApplication,
    QWindow,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QSystemTrayIcon
from pytestqt.qtbot import QtBot

from app.settings import STARTER_FOLDER
from app.storage import ChatSummary, Database
from app.view_models.attached import AttachedRow
from app.view_models.transcript import ReplyStatus
from app.views.shell import window_tools
from app.views.shell.desktop import Desktop, Notifications
from app.views.shell.quick_ask import QuickAsk
from app.views.transcript.message_footer import COPY_PLAIN, PIN
from app.views.transcript.status_parts import ANSWER_NOW
from engine import FinishReason, OutOfMemory
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.composing import compose, drag_over, drop, paste
from tests.helpers.fake_engine import Script


@pytest.fixture
def desktop(harness: AppHarness) -> Desktop:
    return harness.window.tools.desktop


@pytest.fixture
def quick(harness: AppHarness, desktop: Desktop, qtbot: QtBot) -> QuickAsk:
    harness.window.menu.quick_ask.trigger()
    qtbot.waitUntil(desktop.quick_ask.isActiveWindow)
    return desktop.quick_ask


def waiting(harness: AppHarness) -> list[AttachedRow]:
    """What is attached to the message that is being typed in the window."""
    return harness.window.attachments.model.rows


def look_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if another app were in front."""
    monkeypatch.setattr(QGuiApplication, "focusWindow", lambda: None)
    monkeypatch.setattr(QGuiApplication, "applicationState", lambda: Qt.ApplicationState.ApplicationInactive)


def ask(quick: QuickAsk, text: str) -> None:
    QTest.keyClicks(quick.edit, text)
    QTest.keyClick(quick.edit, Qt.Key.Key_Return)


def test_the_next_quick_question_waits_for_no_reply(harness: AppHarness, quick: QuickAsk, qtbot: QtBot) -> None:
    """The one before is written to its end in its chat."""
    harness.engine.gate.hold()
    ask(quick, "First")
    qtbot.waitUntil(lambda: quick.writing)
    ask(quick, "Second")
    qtbot.waitUntil(lambda: quick.model.messages[0].text == "Second")
    harness.engine.gate.open()
    harness.wait_until_quiet(qtbot)

    def first() -> ChatSummary:
        return next(each for each in harness.chats.quick_questions.latest(2) if each.title == "First")

    qtbot.waitUntil(lambda: first().unseen and not quick.writing)
    branch = harness.application.storage.read.messages.shown_branch(first().id)
    assert branch[-1].text == quick.model.messages[-1].text != ""


def test_its_card_never_fills_the_screen(harness: AppHarness, quick: QuickAsk, qtbot: QtBot) -> None:
    """Qt calls a window on a Mac one that may, unless it is customized: then it stands over one that does."""
    qtbot.waitUntil(quick.isActiveWindow)
    for entry in (harness.window.menu.full_screen, harness.window.menu.zoom):
        entry.trigger()
    assert quick.windowState() & ~Qt.WindowState.WindowActive == Qt.WindowState.WindowNoState
    assert quick.windowFlags() & Qt.WindowType.CustomizeWindowHint
    assert not harness.window.isFullScreen()


def test_asked_for_before_the_chats_are_open_it_comes_when_they_are(tmp_path: Path, qtbot: QtBot) -> None:
    """By a second start; also where that is done twice."""
    with AppHarness(tmp_path) as harness:
        for _ in range(2):
            harness.application.open_quick_ask()
        with qtbot.waitSignal(harness.application.opened):
            harness.application.show()
        qtbot.waitUntil(harness.window.tools.desktop.quick_ask.isVisible)


def test_a_quick_question_is_answered_and_kept_in_its_chat(harness: AppHarness, quick: QuickAsk, qtbot: QtBot) -> None:
    harness.ask(qtbot, "In the window")
    here = harness.chats.chat_id
    low = quick.height()
    ask(quick, "Quickly")
    harness.wait_until_quiet(qtbot)
    qtbot.waitUntil(lambda: not quick.writing)
    assert [message.text for message in quick.model.messages] == ["Quickly", "A draft guesses, the main model checks."]
    assert quick.answer.isVisible()
    assert quick.height() > low
    assert quick.edit.text() == ""
    assert harness.chats.chat_id == here  # what is open stays open
    assert len(harness.chats.transcript.messages) == 2
    asked = harness.chats.quick_questions.latest(1)[0]
    assert (asked.title, asked.unseen) == ("Quickly", False)
    quick.open_button.click()
    assert not quick.isVisible()
    assert harness.chats.transcript.messages[0].text == "Quickly"

    quick.come_to_front()
    harness.engine.gate.hold()
    ask(quick, "Quickly")
    qtbot.waitUntil(lambda: quick.writing)
    QTest.keyClick(quick.edit, Qt.Key.Key_Escape)
    assert not quick.isVisible()
    harness.engine.gate.open()
    harness.wait_until_quiet(qtbot)
    qtbot.waitUntil(lambda: harness.chats.quick_questions.latest(1)[0].unseen)
    quick.come_to_front()
    qtbot.waitUntil(lambda: not harness.chats.quick_questions.latest(1)[0].unseen)

    harness.engine.gate.hold()
    ask(quick, "Slowly")
    qtbot.waitUntil(lambda: quick.writing)
    harness.engine.gate.let_through(2)
    qtbot.waitUntil(lambda: bool(quick.model.messages[-1].text))
    assert quick.model.messages[-1].under_way, "its text grows while it is written"
    assert quick.button.accessibleName() == "Stop"
    reply, context = quick.model.messages[-1].id, quick.answer.context
    for act in (ANSWER_NOW, COPY_PLAIN):
        context.act_requested.emit(reply, act)
    assert len(harness.engine.answers_now) == quick.isVisible() == 1
    quick.button.click()
    harness.engine.gate.open()
    qtbot.waitUntil(lambda: quick.model.messages[-1].status is ReplyStatus.STOPPED)
    quick.answer.selection.select_all()
    quick.answer.quote_requested.emit()
    assert harness.window.composer.text().startswith("> Slowly")
    for asked_for, *of_it in ((context.act_requested, PIN), (context.consent_answered, None, None)):
        quick.show()
        asked_for.emit(reply, *of_it)
        assert (quick.isVisible(), harness.chats.transcript.messages[-1].id) == (False, reply)


def test_what_is_quoted_comes_into_no_other_chats_message(harness: AppHarness, quick: QuickAsk, qtbot: QtBot) -> None:
    ask(quick, "Quickly")
    harness.wait_until_quiet(qtbot)
    qtbot.waitUntil(lambda: bool(quick.model.messages) and not quick.writing)
    harness.chats.delete_chats([harness.chats.quick_questions.latest(1)[0].id])
    harness.wait_until_stored(qtbot)
    quick.answer.selection.select_all()
    quick.answer.quote_requested.emit()
    assert harness.window.composer.text() == ""


def test_quick_ask_hands_files_over(harness: AppHarness, quick: QuickAsk, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("What was said.", encoding="utf-8")
    harness.ask(qtbot, "In the window")
    QTest.keyClicks(quick.edit, "Sum this up")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    quick.edit.insertFromMimeData(data)
    assert (quick.isVisible(), quick.edit.text()) == (False, "")
    assert harness.chats.is_new  # a new chat
    qtbot.waitUntil(lambda: [row.name for row in waiting(harness)] == ["notes.txt"])
    assert harness.window.composer.text() == "Sum this up"

    quick.come_to_front()
    paste(quick.edit, "line\n" * 20_000)
    qtbot.waitUntil(lambda: len(waiting(harness)) == 2)
    assert not quick.isVisible()

    quick.come_to_front()  # dropped beside its field
    assert drag_over(quick, data, QPoint(4, 4))
    assert quick.drop_target is not None
    sign = quick.drop_target.sign
    assert (sign.isVisible(), sign.size()) == (True, quick.size())
    drop(quick, data, QPoint(4, 4))
    assert not sign.isVisible()
    qtbot.waitUntil(lambda: len(waiting(harness)) == 3)
    assert not quick.isVisible()
    harness.wait_until_quiet(qtbot)

    quick.come_to_front()
    asked = len(harness.engine.requests)
    assert quick.edit.placeholderText() == "Ask anything"
    harness.application.settings.main_folder = STARTER_FOLDER
    assert quick.edit.placeholderText() == "Ask about Hunch"

    harness.application.settings.send_key = "control_return"
    ask(quick, "one")
    assert (quick.edit.text(), len(harness.engine.requests)) == ("one\n", asked)

    quick.edit.set_text("")
    harness.application.settings.send_key = "return"
    compose(quick.edit, "안녕")
    QTest.keyClick(quick.edit, Qt.Key.Key_Return)
    assert len(harness.engine.requests) == asked, "never what is composed"
    quick.close()
    assert quick.edit.text() == "안녕"


def test_the_dock_counts(harness: AppHarness, desktop: Desktop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[int] = []
    monkeypatch.setattr(QGuiApplication, "setBadgeNumber", lambda _app, number: shown.append(number))
    for question in ("One", "Two"):
        assert harness.chats.send(question)
        harness.chats.new_chat()
        harness.wait_until_quiet(qtbot)
    qtbot.waitUntil(lambda: shown[-1:] == [2])
    first, second = (each.id for each in harness.application.storage.read.chats.find())
    harness.chats.delete_chats([second])
    qtbot.waitUntil(lambda: shown[-1] == 1)
    harness.chats.open_chat(first)
    qtbot.waitUntil(lambda: shown[-1] == 0)

    shown.clear()
    harness.ask(qtbot, "One")
    harness.wait_until_stored(qtbot)
    assert not any(shown), "it is in sight"
    other = harness.show_settings()
    for way in ("another app is in front", "minimized"):
        with monkeypatch.context() as meanwhile:
            if way == "minimized":
                harness.window.showMinimized()
            else:
                look_away(meanwhile)
            harness.ask(qtbot, "Two")
            qtbot.waitUntil(lambda: shown[-1:] == [1])
        harness.window.showNormal()
        other.activateWindow()
        qtbot.waitUntil(other.isActiveWindow)
        harness.window.activateWindow()
        qtbot.waitUntil(lambda: shown[-1] == 0)

    dock = harness.window.tools.desktop.dock
    harness.application.settings.language = "ko"
    dock.menu.aboutToShow.emit()
    new_chat, quick_ask = dock.menu.actions()
    assert [each.text() for each in (new_chat, quick_ask)] == ["새 채팅", "빠른 질문…"]
    new_chat.trigger()
    assert harness.chats.is_new
    quick_ask.trigger()
    assert harness.window.tools.desktop.quick_ask.isVisible()


def test_closing_the_window_keeps_a_quick_question(harness: AppHarness, quick: QuickAsk, qtbot: QtBot) -> None:
    """What was asked and written is kept, and asked once more it is no trouble."""
    harness.engine.scripts.append(Script(pieces=("half ", "and the rest")))
    harness.engine.gate.hold()
    ask(quick, "Quickly")
    qtbot.waitUntil(lambda: quick.writing)
    with qtbot.waitSignal(harness.application.ended):
        harness.window.close()
    ask(quick, "Too late")
    harness.engine.gate.open()
    with closing(Database(harness.paths.database)) as database:
        assert [row["text"] for row in database.rows("SELECT text FROM messages WHERE role = 'user'")] == ["Quickly"]
        assert database.rows("SELECT id FROM messages WHERE status = 'streaming'") == []


def test_without_a_model_the_words_stay(tmp_path: Path, qtbot: QtBot) -> None:
    with open_app(tmp_path, qtbot, put_settings={"main_folder": "", "draft_folder": ""}) as harness:
        quick = harness.window.tools.desktop.quick_ask
        quick.come_to_front()
        ask(quick, "Kept")
        assert quick.edit.text() == "Kept"
        assert harness.window.banner.isVisible()


def test_notifications(harness: AppHarness, desktop: Desktop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    alerts: list[object] = []
    monkeypatch.setattr(QApplication, "alert", alerts.append)
    monkeypatch.setattr(sys, "platform", "linux")
    harness.ask(qtbot, "Secret question")
    assert alerts == []
    look_away(monkeypatch)
    harness.ask(qtbot, "Another")
    assert alerts == [harness.window]
    with monkeypatch.context() as on_a_mac:
        on_a_mac.setattr(sys, "platform", "darwin")
        harness.ask(qtbot, "On a Mac, where the icon in the Dock would bounce until the user comes")
    assert len(alerts) == 1
    last = harness.chats.transcript.messages[-1].id
    assert desktop.notifications.words(harness.chats.chat_id, last, ReplyStatus.DONE) == ("Hunch", "Reply finished.")
    harness.application.settings.notification_words = True
    title, text = desktop.notifications.words(harness.chats.chat_id, last, ReplyStatus.DONE)
    assert title == "Secret question"
    assert text == "A draft guesses, the main model checks."
    harness.application.settings.notifications = False
    harness.ask(qtbot, "Third")
    assert len(alerts) == 1

    harness.application.settings.notifications = True
    harness.chats.new_chat()
    harness.ask(qtbot, "One")
    one = harness.chats.chat_id
    harness.chats.new_chat()
    harness.window.showMinimized()
    desktop.tray.icon.messageClicked.emit()
    assert harness.chats.chat_id == one
    assert not harness.window.isMinimized()

    monkeypatch.setattr(harness.chats.quick_questions, "words_of", lambda *_ids: ("Title", "<img src='/x'>Seen"))
    for platform, shown in (("linux", "‹img src='/x'>Seen"), ("darwin", "<img src='/x'>Seen")):
        monkeypatch.setattr(sys, "platform", platform)  # Macs know no markup in a notification
        assert desktop.notifications.words(1, 1, ReplyStatus.DONE) == ("Title", shown)


class ShownIcon(QSystemTrayIcon):
    """As where the system has a place for it."""

    shown = True

    def isVisible(self) -> bool:  # noqa: N802 - Qt's name
        return self.shown

    def hide(self) -> None:
        self.shown = False


@pytest.fixture
def icon_beside_the_clock(harness: AppHarness, desktop: Desktop) -> None:
    harness.application.settings.tray_icon = True
    desktop.tray.icon = ShownIcon()


@pytest.mark.usefixtures("icon_beside_the_clock")
def test_with_its_icon_the_app_stays(harness: AppHarness, desktop: Desktop, qtbot: QtBot) -> None:
    assert desktop.tray.lines() == ["Main 8B ← Draft 1B", "Not writing"]
    harness.engine.gate.hold()
    QTest.keyClicks(harness.window.composer.edit, "Long")
    harness.press_return()
    qtbot.waitUntil(lambda: harness.chats.generating)
    assert desktop.tray.lines()[1] == "1 reply being written"
    harness.engine.gate.open()
    desktop.tray.fill()
    entries = [action for action in desktop.tray.menu.actions() if not action.isSeparator()]
    assert [action.isEnabled() for action in entries] == [False, False, True, True, True, True]
    harness.wait_until_quiet(qtbot)

    ended: list[object] = []
    harness.application.ended.connect(lambda: ended.append(1))
    harness.window.activateWindow()
    qtbot.waitUntil(harness.window.isActiveWindow)
    QTest.keyClicks(harness.window.composer.edit, "Half a")
    harness.window.menu.close_window.trigger()
    assert not harness.window.isVisible()
    assert harness.application.has_window()  # a second start hands over to it
    assert ended == []
    desktop.show_window()
    assert harness.window.isVisible()
    assert harness.window.composer.text() == "Half a"


@pytest.mark.usefixtures("icon_beside_the_clock")
@pytest.mark.costly
@pytest.mark.parametrize("way", ["menu", "icon", "system"])
def test_quitting_ends_it(harness: AppHarness, desktop: Desktop, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[object] = []
    harness.application.ended.connect(lambda: ended.append(1))
    monkeypatch.setattr(window_tools, "is_quitting", lambda: way == "system")
    {
        "menu": harness.window.menu.quit.trigger,
        "icon": desktop.tray.menu.actions()[-1].trigger,
        "system": harness.window.close,
    }[way]()
    assert ended == [1]
    harness.close()


def test_without_its_icon_closing_the_window_ends_the_app(harness: AppHarness) -> None:
    """And one that only brought a message goes when somebody is back."""
    settings, app = harness.application.settings, QGuiApplication.instance()
    assert isinstance(app, QGuiApplication)
    for wanted in (True, False):
        icon, settings.tray_icon = ShownIcon(harness.window), wanted
        kept = Notifications(settings, harness.chats, icon, harness.window)
        app.focusWindowChanged.emit(None)
        assert icon.isVisible()
        app.focusWindowChanged.emit(QWindow())
        assert icon.isVisible() is wanted
        kept.deleteLater()

    ended: list[object] = []
    harness.application.ended.connect(lambda: ended.append(1))
    settings.tray_icon = True  # where there is no place for one
    harness.window.close()
    assert ended == [1]
    assert not harness.application.has_window()


@pytest.mark.usefixtures("icon_beside_the_clock")
def test_a_window_that_fills_the_screen_leaves_it_before_it_hides(harness: AppHarness, qtbot: QtBot) -> None:
    """A Mac would keep its space, in black."""
    window, states = harness.window, list[tuple[bool, bool]]()
    window.showFullScreen()
    qtbot.waitUntil(window.isFullScreen)
    hides = window.hide

    def noted() -> None:
        states.append((window.isVisible(), window.isFullScreen()))
        hides()

    window.hide = noted  # type: ignore[method-assign]
    window.close()
    assert states == []  # the system has not said yet that it has left
    qtbot.waitUntil(lambda: not window.isVisible())
    assert states == [(True, False)]


def test_announcements(
    harness: AppHarness,
    desktop: Desktop,
    announced: list[tuple[object, str]],
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def told() -> list[str]:
        """What is not the words of a notice."""
        return [words for at, words in announced if at is harness.window]

    harness.ask(qtbot, "One")
    assert told() == ["Reply finished."]
    assert harness.chats.send("Two")
    harness.chats.new_chat()
    qtbot.waitUntil(lambda: len(told()) == 2)
    assert told()[1] == "Reply finished in another chat."

    announced.clear()
    alerts: list[object] = []
    monkeypatch.setattr(QApplication, "alert", alerts.append)
    monkeypatch.setattr(sys, "platform", "linux")
    look_away(monkeypatch)
    harness.engine.scripts.append(Script(pieces=("Half",), error=OutOfMemory("")))
    harness.ask(qtbot, "Fails")
    assert (told(), len(alerts)) == (["Reply failed."], 1)
    failed = harness.chats.transcript.messages[-1]
    assert desktop.notifications.words(harness.chats.chat_id, failed.id, failed.status)[1] == "Reply failed."
    harness.engine.scripts.append(Script(pieces=("All",), finish=FinishReason.LENGTH))
    harness.ask(qtbot, "Long")
    assert told()[1:] == ["Reply ended early."]
    harness.engine.gate.hold()
    QTest.keyClicks(harness.window.composer.edit, "Stopped")
    harness.press_return()
    qtbot.waitUntil(lambda: harness.chats.generating)
    harness.chats.stop()
    harness.engine.gate.open()
    harness.wait_until_quiet(qtbot)
    assert (len(told()), len(alerts)) == (2, 2)
