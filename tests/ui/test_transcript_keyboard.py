"""The transcript by keyboard and for screen readers: links by Tab, the words of a message, what is selected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Appearance
from app.view_models.transcript import (
    Attachment,
    AttachmentKind,
    EditKind,
    EditView,
    ReplyStatus,
    TranscriptMessage,
)
from app.views.transcript.formula_part import FormulaPart
from app.views.transcript.message_footer import MessageFooter
from app.views.transcript.parts import PartKind, PartWidget
from app.views.transcript.status_parts import ProgressPart
from app.views.transcript.text_parts import ReadOnlyText, TextPart
from app.views.widgets.roles import install_roles
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import PARAGRAPH, TranscriptHarness, long_chat, question, reply

SHIFT = Qt.KeyboardModifier.ShiftModifier
LINKED = "See [one](https://one.example/) and **[two](https://two.example/a?b=c)**, or https://three.example/x."


class Window:
    """A transcript between two fields, as in the app."""

    def __init__(self, messages: list[TranscriptMessage]) -> None:
        self.harness = TranscriptHarness(messages)
        self.view = self.harness.view
        self.window = QWidget()
        self.window.resize(800, 700)
        self.before, self.behind = QLineEdit(), QLineEdit()
        column = QVBoxLayout(self.window)
        for each in (self.before, self.view, self.behind):
            column.addWidget(each)
        self.asked: list[str] = []
        self.view.context.link_requested.connect(self.asked.append)
        self.window.show()
        self.window.activateWindow()
        still()

    def press(self, *keys: Qt.Key | tuple[Qt.Key, Qt.KeyboardModifier]) -> None:
        for key in keys:
            pressed, modifiers = key if isinstance(key, tuple) else (key, Qt.KeyboardModifier.NoModifier)
            QTest.keyClick(self.window.windowHandle(), pressed, modifiers)
            still()

    def follow_all(self, key: Qt.Key | tuple[Qt.Key, Qt.KeyboardModifier]) -> list[str]:
        """Goes from link to link, opens each, until the focus leaves the links."""
        self.asked.clear()
        self.press(key)
        while self.view.link.hasFocus():
            area = self.view.link.geometry()
            assert self.view.viewport().rect().contains(area), "the link in focus is not in sight"
            self.press(Qt.Key.Key_Return, key)
        return self.asked


@pytest.fixture
def open_window(qtbot: QtBot) -> Callable[[list[TranscriptMessage]], Window]:
    def open_one(messages: list[TranscriptMessage]) -> Window:
        window = Window(messages)
        qtbot.addWidget(window.window)
        qtbot.waitUntil(window.window.isActiveWindow)
        return window

    return open_one


def reading(widget: QWidget) -> QAccessibleInterface:
    interface = QAccessible.queryAccessibleInterface(widget)
    assert interface is not None
    return interface


def test_tab_reaches_every_link_and_return_asks_to_open_it(open_window: Callable[..., Window]) -> None:
    window = open_window([reply(1, LINKED), question(2), reply(3, "| a |\n|---|\n| [four](https://four.example/) |")])
    window.view.setFocus()
    expected = [f"https://{number}.example/{rest}" for number, rest in (("one", ""), ("two", "a?b=c"), ("three", "x"))]
    assert window.follow_all(Qt.Key.Key_Tab) == [*expected, "https://four.example/"]
    assert window.behind.hasFocus()
    assert window.follow_all((Qt.Key.Key_Tab, SHIFT)) == ["https://four.example/", *reversed(expected)]
    assert window.view.hasFocus()
    window.press((Qt.Key.Key_Tab, SHIFT))
    assert window.before.hasFocus()


def test_tab_reaches_links_that_are_out_of_sight(open_window: Callable[..., Window]) -> None:
    chat = long_chat(20)
    for number in (5, 20, 39):
        chat[number] = reply(chat[number].id, f"{PARAGRAPH * 9}\n\nat [{number}](https://example.com/{number})")
    chat[30] = question(chat[30].id, "https://example.com/mine is no link")
    window = open_window(chat)
    window.harness.scroll_to(0)
    window.view.setFocus()
    assert window.follow_all(Qt.Key.Key_Tab) == [f"https://example.com/{number}" for number in (5, 20, 39)]


def test_tab_reaches_links_of_a_section_that_nobody_has_read(open_window: Callable[..., Window]) -> None:
    text = "[first](https://example.com/first)\n\n" + f"{PARAGRAPH}\n\n" * 400 + "[last](https://example.com/last)"
    window = open_window([reply(1, text)])
    window.behind.setFocus()
    assert window.follow_all((Qt.Key.Key_Tab, SHIFT)) == ["https://example.com/last", "https://example.com/first"]


def test_tab_stays_in_the_message_in_focus(open_window: Callable[..., Window]) -> None:
    window = open_window([reply(1, LINKED), reply(3, "[other](https://other.example/)")])
    window.harness.scroll_to(0)
    window.view.message_keys.step(1)
    assert len(window.follow_all(Qt.Key.Key_Tab)) == 3
    assert QApplication.focusWidget() in window.view.findChildren(QWidget)  # its buttons are next


@pytest.mark.parametrize("links", ["", LINKED])
def test_tab_reaches_buttons_that_are_out_of_sight(open_window: Callable[..., Window], links: str) -> None:
    chat = long_chat(4)
    chat[3] = reply(chat[3].id, links + "\n\n" + PARAGRAPH * 60)
    window = open_window(chat)
    window.harness.scroll_to(0)
    window.view.message_keys.show(3)
    window.press(*[Qt.Key.Key_Tab] * (4 if links else 1))
    names = []
    while (focused := QApplication.focusWidget()) is not None and window.view.isAncestorOf(focused):
        shown = window.view.viewport().visibleRegion().boundingRect()
        assert shown.contains(focused.mapTo(window.view.viewport(), focused.rect().center()))
        names.append(focused.accessibleName())
        window.press(Qt.Key.Key_Tab)
    assert names == ["Copy message", "Edit message", "Regenerate reply", "Delete message", "More"]
    assert window.behind.hasFocus()
    window.press((Qt.Key.Key_Tab, SHIFT))
    assert focused_name() == "More"


def focused_name() -> str:
    focused = QApplication.focusWidget()
    return "" if focused is None else focused.accessibleName()


def test_a_link_in_focus_is_seen_and_heard(open_window: Callable[..., Window]) -> None:
    window = open_window([reply(1, LINKED)])
    plain = window.view.grab().toImage()
    window.view.setFocus()
    window.press(Qt.Key.Key_Tab)
    assert window.view.grab().toImage() != plain
    link = reading(window.view.link)
    assert link.text(QAccessible.Text.Name) == "Link: one"
    assert link.text(QAccessible.Text.Description) == "https://one.example/"
    assert link.state().focused
    window.press(Qt.Key.Key_Escape)
    assert window.view.hasFocus()
    assert not window.view.link.isVisible()


def test_tab_goes_through_the_buttons_in_sight_from_the_top(open_window: Callable[..., Window]) -> None:
    """Widgets that scrolled out above are lent again below."""
    code = "\n\n".join(f"Word {number}:\n\n```python\nx = {number}\n```" for number in range(30))
    window = open_window([question(91, "Code?"), replace(reply(92, code), thinking="Hm."), *long_chat(2)])
    for share in (0.2, 0.05, 0.3, 0.0):
        window.harness.scroll_to(int(share * window.harness.bottom))
    window.view.setFocus()
    reached = list[int]()
    window.press(Qt.Key.Key_Tab)
    while (focused := QApplication.focusWidget()) is not window.behind:
        assert focused is not None
        assert not focused.visibleRegion().isEmpty(), "the button in focus is not in sight"
        reached.append(
            focused.mapTo(window.view.viewport(), QPoint(0, 0)).y() + window.view.verticalScrollBar().value()
        )
        window.press(Qt.Key.Key_Tab)
    assert len(reached) == 31
    assert reached == sorted(reached)


def test_the_message_in_focus_is_heard_with_its_words(open_window: Callable[..., Window]) -> None:
    window = open_window([question(1, "What is it?"), reply(2, "It is a **word**.")])
    assert reading(window.view).text(QAccessible.Text.Name) == "Messages"
    window.view.message_keys.step(-1)
    assert reading(window.view).text(QAccessible.Text.Name) == "Reply, message 2 of 2"
    assert reading(window.view).text(QAccessible.Text.Description) == "It is a **word**."
    window.view.message_keys.step(-1)
    assert reading(window.view).text(QAccessible.Text.Description) == "What is it?"


def test_words_and_selection_of_each_part_are_heard(open_window: Callable[..., Window]) -> None:
    answer = "It is a **word**.\n\n```\nx = 1\n```\n\n| a |\n|---|\n| b |"
    window = open_window([question(1, "Which?"), reply(2, answer)])
    texts = window.view.findChildren(ReadOnlyText)
    window.view.selectAll()
    heard = {}
    for text in texts:
        interface = reading(text)
        words = interface.textInterface()
        assert words is not None
        # VoiceOver reads the words of an editable text, and of static text only the name.
        assert interface.role() is QAccessible.Role.EditableText
        assert interface.state().readOnly
        heard[words.text(0, words.characterCount())] = (interface.text(QAccessible.Text.Name), words.selectionCount())
    assert heard["Which?"] == ("Your message, 1 of 2", 1)
    assert heard["It is a word."] == heard["x = 1"] == ("Reply, message 2 of 2", 1)
    window.view.selection.clear()
    assert not any(reading(text).textInterface().selectionCount() for text in texts)


def test_messages_are_read_from_the_top(open_window: Callable[..., Window], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    window = open_window([*long_chat(10), question(21, "One?"), reply(22, "a\n\n```\nb\n```\n\nc")])
    for place in (0, window.harness.bottom):
        window.harness.scroll_to(place)
        told = reading(window.view.viewport())
        tops = [told.child(number).rect().top() for number in range(told.childCount()) if is_shown(told.child(number))]
        assert len(tops) > 4
        assert tops == sorted(tops)


def is_shown(told: QAccessibleInterface) -> bool:
    return isinstance(told.object(), PartWidget) and not told.state().invisible


def test_what_is_painted_is_heard(open_window: Callable[..., Window]) -> None:
    """macOS passes over what is only a widget, whatever its name."""
    install_roles()
    formulas = reply(2, "$$x$$\n\n$$y$$")
    waits = replace(reply(4, ""), status=ReplyStatus.QUEUED)
    window = open_window([question(1, "Which?"), formulas, question(3, "And?"), waits])
    view = window.view
    heard = [
        each for part, _ in view.visible_parts.shown() if isinstance(each := part.widget, FormulaPart | ProgressPart)
    ]
    assert sorted(each.accessibleName() for each in heard) == [
        "Reading the chat…",
        "Reply, message 2 of 4: x",
        "Reply, message 2 of 4: y",
    ]
    assert {reading(each).role() for each in heard} == {QAccessible.Role.StaticText}
    footers = [each for part, _ in view.visible_parts.shown() if isinstance(each := part.widget, MessageFooter)]
    roles = {(bool(each.accessibleName()), reading(each).role().name) for each in footers}
    assert roles == {(False, "Client"), (True, "StaticText")}
    view.message_keys.show(0)
    still()
    assert sum(reading(each).role() is QAccessible.Role.Grouping for each in footers) == 1, "it has buttons"


NOTED = f"Words[^1] and more[^two], not[^lost].\n\n{PARAGRAPH * 30}\n\n[^1]: The first.\n[^two]: The other.\n"


def test_return_goes_from_a_footnote_mark_to_its_note_and_back(open_window: Callable[..., Window]) -> None:
    window = open_window([reply(1, NOTED)])
    window.harness.scroll_to(0)
    window.view.setFocus()
    window.press(Qt.Key.Key_Tab, Qt.Key.Key_Tab)
    assert window.view.link.accessibleName() == "Footnote two"
    window.press(Qt.Key.Key_Return)
    assert window.view.link.accessibleName() == "Back from footnote two"
    assert window.view.viewport().rect().contains(window.view.link.geometry())
    assert window.harness.value > 0
    window.press(Qt.Key.Key_Return)
    assert window.view.link.accessibleName() == "Footnote two"
    assert window.view.viewport().rect().contains(window.view.link.geometry())
    window.press(Qt.Key.Key_Tab)
    assert window.view.link.accessibleName() == "Back from footnote 1"  # the mark without a note leads nowhere
    assert not window.asked


def test_a_click_on_a_footnote_mark_shows_the_note(open_window: Callable[..., Window]) -> None:
    window = open_window([reply(91, NOTED), *long_chat(3)])
    window.harness.scroll_to(0)
    text = window.harness.parts(PartKind.TEXT)[0].widget
    assert isinstance(text, TextPart)
    QTest.mouseClick(text.viewport(), Qt.MouseButton.LeftButton, pos=text.rect_of(5).center() + QPoint(3, -3))
    assert window.view.link.accessibleName() == "Back from footnote 1"
    assert window.harness.value > 0
    assert not window.asked


def stands_at(view: QWidget, focused: QWidget) -> tuple[str, str, QPoint]:
    name = focused.accessibleName() or getattr(focused, "text", str)()
    return type(focused).__name__, name, focused.mapTo(view, QPoint(0, 0))


def test_another_look_leaves_the_focus_where_it_is(open_window: Callable[..., Window]) -> None:
    """Whatever of a chat has it: links, code, icons of a message, its notice, its thinking, attachments, fields."""
    file = Attachment("notes.txt", AttachmentKind.TEXT, "words", 5)
    asked = replace(question(1), attachments=(file, replace(file, name="more.txt")))
    edited = replace(question(3), edit=EditView(EditKind.EDIT, True, "What?"))
    cut = replace(reply(2, f"{LINKED}\n\n```\ncode\n```", ReplyStatus.INTERRUPTED), thinking="Hm", thinking_s=1.0)
    window = open_window([asked, replace(cut, siblings=2, sibling=2), edited])
    view, theme = window.view, window.harness.theme
    view.message_keys.show(1)
    seen = set()
    appearances: list[Appearance] = ["dark", "light"] * 20
    for appearance in appearances:
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused is window.behind:
            break
        before = stands_at(view, focused)
        theme.set_appearance(appearance)
        still()
        now = QApplication.focusWidget()
        assert now is not None
        assert stands_at(view, now) == before
        seen.add(before[0])
        window.press(Qt.Key.Key_Tab)
    assert seen >= {"TranscriptView", "FocusedLink", "IconButton", "PillButton"}


def is_edged(window: Window) -> bool:
    """Whether there is a line of the accent colour along the left edge of the messages."""
    image = window.view.viewport().grab().toImage()
    ink, middle = window.harness.theme.palette.ink, image.height() // 2
    return any(image.pixelColor(x, middle).name() == ink.name() for x in range(6))


def test_the_messages_show_that_tab_has_led_to_them(open_window: Callable[..., Window]) -> None:
    window = open_window(long_chat(5))
    window.before.setFocus()
    assert not is_edged(window)
    window.press(Qt.Key.Key_Tab)
    assert window.view.hasFocus()
    assert is_edged(window)
    window.press(Qt.Key.Key_PageUp)
    assert is_edged(window)
    window.press((Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier))
    assert window.view.focused_row() is not None
    assert not is_edged(window)
    window.press(Qt.Key.Key_Escape)
    assert is_edged(window)
    QTest.mouseClick(window.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert window.view.hasFocus()
    assert not is_edged(window)
    window.press(Qt.Key.Key_Tab)
    window.behind.setFocus()
    assert not is_edged(window)


def test_a_button_with_the_focus_may_go_with_its_message(open_window: Callable[..., Window]) -> None:
    """Qt moves the focus on, to a button that goes next; nothing scrolls to that."""
    chat = [reply(number, f"{PARAGRAPH * 4}\n\n```python\nx = {number}\n```\n") for number in range(1, 4)]
    window = open_window(chat)
    for top in range(0, window.harness.bottom, 200):
        window.harness.scroll_to(top)
        for button in [each for each in window.view.findChildren(QAbstractButton) if each.isVisible()]:
            button.setFocus()
            window.harness.model.set_messages([question(9)])
            window.harness.model.set_messages(chat)
            window.harness.scroll_to(top)
