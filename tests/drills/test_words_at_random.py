"""Typing, sending, editing, deleting and leaving at random, on a disk that is slow or full now and then.

Every word that was typed is on the disk when the app has ended.
"""

from __future__ import annotations

import random
import threading
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.controllers.message_changes import Then
from app.storage import Database, EditKind
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.event_loop import after
from tests.helpers.full_disk import fill_up, make_room
from tests.helpers.samples import fair

pytestmark = pytest.mark.expect_log("was not stored: SQLITE_FULL")

_STEPS, _RUNS = 60, 2
_LONG = "x" * 6000  # more than the free pages that SQLite may still have
_KEPT = tuple(
    f"SELECT ifnull({column}, '') FROM {table}"
    for table, files in (("messages", "parts"), ("unsent", "attachments"), ("edits", "attachments"))
    for column in ("text", files)
)


class Person:
    """Each method is something that a person does, or that befalls the disk."""

    def __init__(self, harness: AppHarness, seed: int, typed: list[str]) -> None:
        self.dice = random.Random(seed)
        self.did: list[str] = []
        self._harness, self._chats, self._typed = harness, harness.chats, typed
        self._free: threading.Event | None = None

    def act(self) -> None:
        likely = {"type": 5, "send": 4, "write_into_field": 2, "save_edit": 2, "begin_edit": 2, "free": 2, "open": 2}
        names = [name for name in vars(Person) if name[0] != "_" and name not in ("act", "end")]
        (name,) = self.dice.choices(names, [likely.get(name, 1) for name in names])
        self.did.append(name)
        getattr(self, name)()
        if self.dice.random() < 0.5:
            QApplication.processEvents()

    def end(self) -> None:
        self.free()
        self.make_room()

    def _word(self) -> str:
        self._typed.append(f"w{len(self._typed)}e" + self.dice.choice(("", "", _LONG)))
        return self._typed[-1]

    def _any_message(self) -> int:
        messages = self._chats.transcript.messages
        return self.dice.choice(messages).id if messages else 0

    def type(self) -> None:
        edit = self._harness.window.composer.edit
        edit.moveCursor(edit.textCursor().MoveOperation.End)
        edit.insertPlainText(f" {self._word()}")

    def paste(self) -> None:
        self._harness.window.composer.edit.long_text_given.emit(self._word() + " long" * 1500)

    def send(self) -> None:
        QTest.keyClick(self._harness.window.composer.edit, Qt.Key.Key_Return)

    def new_chat(self) -> None:
        self._chats.new_chat()

    def open(self) -> None:
        listed = [row.chat_id for row in self._chats.conversations.rows if row.chat_id]
        if listed:
            self._chats.open_chat(self.dice.choice(listed))

    def begin_edit(self) -> None:
        message = self._chats.transcript.message(self._any_message())
        if message is not None and not message.under_way:
            self._chats.edits.begin(message.id, self.dice.choice(list(EditKind)))

    def write_into_field(self) -> None:
        edited = [each for each in self._chats.transcript.messages if each.edit is not None]
        if edited:
            message = self.dice.choice(edited)
            assert message.edit is not None
            self._chats.edits.type(message.id, f"{message.edit.text} {self._word()}")

    def save_edit(self) -> None:
        self._chats.edits.save(self._any_message(), self.dice.choice(list(Then)))

    def regenerate(self) -> None:
        self._chats.asking.regenerate(self._any_message())

    def go_on(self) -> None:
        self._chats.asking.continue_reply(self._any_message())

    def stop(self) -> None:
        self._chats.stop()

    def delete_message(self) -> None:
        self._chats.edits.delete(self._any_message(), following=self.dice.random() < 0.5)

    def delete_chat(self) -> None:
        self._chats.delete_chats([self._chats.chat_id])

    def undo(self) -> None:
        self._chats.deletions.undo()

    def press_the_banner(self) -> None:
        """Not the one that has an attachment searched: its words leave the message then."""
        banner = self._harness.window.banner
        if banner.isVisible() and banner.button.text() != "Search in it":
            banner.button.click()

    def wait(self) -> None:
        after(self.dice.choice((1, 30, 450)))

    def hold(self) -> None:
        """The disk answers nothing until it is free."""
        if self._free is None:
            self._free = free = threading.Event()
            self._change(lambda _stores: free.wait(60))

    def free(self) -> None:
        if self._free is not None:
            self._free.set()
            self._free = None

    def fill_up(self) -> None:
        self._change(fill_up)

    def make_room(self) -> None:
        self._change(make_room)

    def _change(self, change: object) -> None:
        self._harness.application.storage.write(change, lambda _: None, lambda _: None)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", fair(range(200), 4, 40, rest=pytest.mark.drill))
def test_no_word_is_lost_whatever_is_done(tmp_path: Path, qtbot: QtBot, seed: int) -> None:
    typed: list[str] = []
    for run in range(_RUNS):
        with open_app(tmp_path, qtbot) as harness:
            person = Person(harness, _RUNS * seed + run, typed)
            for _ in range(_STEPS):
                person.act()
            person.end()
        with closing(Database(harness.paths.database)) as database:
            kept = "\n".join(str(row[0]) for sql in _KEPT for row in database.rows(sql))
        assert [word[:12] for word in typed if word not in kept] == [], f"seed {seed}, run {run}: {person.did}"
