"""What the menus of messages offer, done at random: a chat that is opened anew looks as it looked on the screen."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.view_models.transcript import TranscriptMessage
from app.views.transcript.message_footer import message_menu
from app.views.transcript.parts import Part
from app.views.transcript.view import TranscriptView
from app.views.widgets.dialog import Dialog
from app.views.widgets.message_edit import MessageEdit
from engine import FinishReason
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import Script
from tests.helpers.samples import drilled
from tests.helpers.stillness import still

_ELSEWHERE = ("Inspector", "Race", "Copy", "Delete This")  # what opens a window, or asks first


class Life:
    def __init__(self, app: AppHarness, qtbot: QtBot, seed: int) -> None:
        self._app, self._qtbot, self._rnd = app, qtbot, random.Random(seed)
        self.done: list[object] = []

    def step(self) -> None:
        chats = self._app.chats
        if not chats.transcript.messages:
            self._app.ask(self._qtbot, "Again")
        self._act()
        self._type()
        if self._rnd.random() < 0.3:
            self.done.append("undo")
            self._app.window.menu.undo.trigger()
        self._settle()
        branched = [message for message in chats.transcript.messages if message.siblings > 1]
        if branched and self._rnd.random() < 0.4:
            self.done.append("another version")
            self._view.copier.context.sibling_requested.emit(self._rnd.choice(branched).id, self._rnd.choice((-1, 1)))
            self._settle()

    def _act(self) -> None:
        row = self._rnd.randrange(len(self._app.chats.transcript.messages))
        menu = message_menu(self._view.copier.context, self._app.chats.transcript.messages[row], self._view)
        able = [each for each in menu.actions() if each.isEnabled() and each.text() and each.menu() is None]
        action = self._rnd.choice([each for each in able if not any(word in each.text() for word in _ELSEWHERE)])
        self.done.append((row, action.text()))
        action.trigger()
        menu.deleteLater()
        self._settle()

    def _type(self) -> None:
        """Where a field has opened: it is saved, or left."""
        field = QApplication.focusWidget()
        if isinstance(field, MessageEdit) and self._view.isAncestorOf(field):
            QTest.keyClicks(field, "typed")
            if self._rnd.random() < 0.3:
                QTest.keyClick(field, Qt.Key.Key_Escape)
            else:
                QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
            self._settle()

    def look_again(self) -> None:
        chats = self._app.chats
        chat, before, shown = chats.chat_id, list(chats.transcript.messages), self._shown()
        chats.new_chat()
        self._settle()
        chats.open_chat(chat)
        self._settle()
        self._view.grab()
        assert [_seen(message) for message in chats.transcript.messages] == [_seen(message) for message in before]
        again = self._shown()
        assert len(again) == len(shown)
        for one, other in zip(shown, again, strict=True):
            assert one == other or not one or not other, self.done[-4:]  # what is out of sight is not read yet

    def _shown(self) -> list[list[tuple[str, str]]]:
        return [[_look(part) for part in item.parts] for item in self._view.items]

    def _settle(self) -> None:
        self._app.wait_until_stored(self._qtbot)
        self._app.wait_until_quiet(self._qtbot)
        for dialog in self._app.window.findChildren(Dialog):
            dialog.close()
        still()

    @property
    def _view(self) -> TranscriptView:
        assert self._app.window.transcript is not None
        return self._app.window.transcript


def _look(part: Part) -> tuple[str, str]:
    return str(part.kind), str(getattr(part.content, "text", ""))


def _seen(message: TranscriptMessage) -> tuple[object, ...]:
    return message.from_user, message.text, message.thinking, message.status, message.sibling, message.siblings


@pytest.mark.parametrize(("seed", "steps"), [*drilled(product(range(48), [25])), (100, 12), (101, 12)])
def test_a_chat_looks_the_same_when_it_is_opened_anew(tmp_path: Path, qtbot: QtBot, seed: int, steps: int) -> None:
    with open_app(tmp_path, qtbot) as app:
        for number in range(80):
            pieces = ("**bold** ", "```py\nx = 1\n```\n") if number % 2 else (f"reply {number}",)
            thinking = ("a thought ",) if number % 3 == 0 else ()
            finish = FinishReason.LENGTH if number % 5 == 4 else FinishReason.STOP
            app.engine.scripts.append(Script(pieces=pieces, thinking=thinking, finish=finish))
        for question in ("One", "Two", "Three"):
            app.ask(qtbot, question)
        life = Life(app, qtbot, seed)
        for _ in range(steps):
            life.step()
            life.look_again()
