"""The Models view in the window: how it is come to and left, where the focus is, and what does not reach the chat."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.words.notices import NoticeAction
from engine import HubModel
from tests.helpers.app_harness import AppHarness, focused


def shown(harness: AppHarness) -> str:
    """The tab; "" while the chat is shown."""
    place = harness.window.models_view
    if not place.is_shown:
        assert harness.window.composer.isVisible()
        return ""
    assert place.view.isVisible()
    assert not harness.window.composer.isVisible()
    return place.view.tab


def test_the_chat_is_away_meanwhile_and_back_with_what_became_of_it(harness: AppHarness, qtbot: QtBot) -> None:
    harness.ask(qtbot, "Hello")
    chat = harness.chats.chat_id
    ways: list[Callable[[], object]] = [
        lambda: harness.chats.open_chat(chat),
        harness.window.menu.new_chat.trigger,
    ]
    for go in ways:
        harness.show_models("find")
        assert harness.window.header.title.text() == "Models"
        go()
        assert shown(harness) == ""

    harness.ask(qtbot, "Hello")
    harness.show_models("yours")
    harness.chats.rename(harness.chats.chat_id, "Renamed")
    qtbot.waitUntil(lambda: harness.chats.title == "Renamed")
    assert shown(harness) == "yours"
    assert harness.window.header.title.text() == harness.window.windowTitle() == "Models"
    harness.window.models_view.leave()
    assert harness.window.header.title.text() == "Renamed"

    harness.ask(qtbot, "Hello")
    window = harness.window
    window.inspector.set_wanted(True)
    assert window.inspector.panel.isVisible()
    harness.show_models("yours")
    assert not window.inspector.panel.isVisible()
    assert not window.inspector.isVisible()
    window.models_view.leave()
    assert window.inspector.panel.isVisible()
    assert window.inspector.isVisible()

    harness.chats.new_chat()
    harness.engine.gate.hold()
    assert harness.chats.send("Hello")
    harness.show_models("yours")
    harness.engine.gate.open()
    harness.wait_until_quiet(qtbot)
    qtbot.waitUntil(lambda: harness.chats.quick_questions.latest(1)[0].unseen)
    harness.window.models_view.leave()
    qtbot.waitUntil(lambda: not harness.chats.quick_questions.latest(1)[0].unseen)


def test_every_way_leads_there_and_escape_back(harness: AppHarness, qtbot: QtBot) -> None:
    assert "view" not in vars(harness.window.models_view)

    harness.store.on_hub = [HubModel("org/Model")]
    window = harness.window
    window.composer.edit.insertPlainText("half a question")
    ways: dict[str, Callable[[], object]] = {
        "button": window.sidebar.models_button.click,
        "menu": window.menu.models.trigger,
        "notice": lambda: window.follow(NoticeAction.OPEN_MODELS),
        "picker": window.picker.more.models_button.click,
        "empty chat": window.empty_chat.offer_button.click,
    }
    for way, go in ways.items():
        go()
        assert shown(harness) == ("find" if way == "empty chat" else "yours"), way
        assert window.models_view.view.isAncestorOf(focused())
        QTest.keyClick(focused(), Qt.Key.Key_Escape)
        assert shown(harness) == ""
        assert (window.composer.edit.hasFocus(), window.composer.text()) == (True, "half a question"), way

    harness.show_models("yours")
    QTest.keyClicks(focused(), "abc")
    assert window.composer.text() == "half a question", "keys do not reach the chat"
    assert shown(harness) == "yours"

    view = harness.show_models("yours")
    QTest.keyClick(view.tabs.buttons[0], Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert view.tab == "find"
    assert view.discover.text.hasFocus()

    qtbot.waitUntil(lambda: view.discover.list.model().rowCount() > 0)
    view.discover.list.choose(view.discover.list.model().index(0, 0))
    assert view.discover.page.isVisible()
    QTest.keyClick(focused(), Qt.Key.Key_Escape)
    assert view.discover.list.isVisible()
    QTest.keyClick(focused(), Qt.Key.Key_Escape)
    assert shown(harness) == ""
