"""The real app on a profile of its own, with real replies of the starter pair, ready to have its picture taken."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from app.application import Application
from app.settings import Settings
from app.storage import Database
from app.storage.parts import Summary, parts_to_json
from app.system.paths import Paths
from app.system.qt_application import qt_application
from app.view_models.model_list import PairState
from app.views.settings.window import SettingsWindow
from app.views.transcript.code_part import CodePart
from app.views.transcript.overlay import OverlayMode
from app.views.transcript.view import TranscriptView
from app.views.widgets.panel import Panel
from tests.end2end.test_starter_eyes import unseen
from tests.helpers.event_loop import after, until
from tests.helpers.stillness import still
from tests.screenshots.calls import called_parts

SEED = 1
SHOWCASE = "Markdown"
CALLS = "Tools"
LONG = "Long"
_DELETED = ("Plans for July", "여름 계획", "夏の計画", "七月的计划")
PICTURE = "picture of "  # before the language of a chat with one
# The first question of the empty chat, word for word, so that the starter pair knows the answer.
QUESTIONS = {
    "en": "What is speculative decoding?",
    "ko": "추측 디코딩이 뭐예요?",
    "ja": "投機的デコーディングとは何ですか？",
    "zh_CN": "什么是投机解码？",
}
_PAUSE_MS = 800


class ScreenshotHarness:
    def __init__(self, profile: Path, showcase: str) -> None:
        self.paths = Paths.for_user(profile)
        self._chats = {SHOWCASE: 1, CALLS: 90, LONG: 95}
        self._prepare(showcase)
        self.qt = qt_application()
        self.application = Application(self.paths)
        opened: list[bool] = []
        self.application.opened.connect(lambda: opened.append(True))
        self.application.show()
        until(lambda: bool(opened) and self.application.models.pair.state is PairState.READY)
        self.application.chats.delete_chats(range(2, 2 + len(_DELETED)))
        for language, question in QUESTIONS.items():
            self.application.chats.new_chat()
            self._ask(language, question)
        self._show_pictures()

    def _prepare(self, showcase: str) -> None:
        settings = Settings(self.paths.settings, self.paths.hub_token)
        settings.seed, settings.language = SEED, "en"
        settings.save()
        self.paths.database.parent.mkdir(parents=True, exist_ok=True)
        with closing(Database(self.paths.database)) as database, database.transaction():
            now = time.time()
            database.connection.execute(
                "INSERT INTO chats (id, title, renamed, created_at, updated_at, leaf_id) VALUES (1, ?, 1, ?, ?, 2)",
                (SHOWCASE, now, now),
            )
            database.connection.executemany(
                "INSERT INTO chats (id, title, renamed, created_at, updated_at) VALUES (?, ?, 1, ?, ?)",
                ((number, title, now, now) for number, title in enumerate(_DELETED, start=2)),
            )
            self._put_calls(database, now)
            self._put_long(database, now)
            thought = (
                "The person wants to see everything.\n\n1. Headings and lists\n2. Code and formulas\n\n> Keep it short."
            )
            database.connection.executemany(
                "INSERT INTO messages (id, chat_id, role, text, created_at) VALUES (?, ?, 'user', ?, ?)",
                ((100 + number, number, f"{title}?", now) for number, title in enumerate(_DELETED, start=2)),
            )
            database.connection.executemany(
                "INSERT INTO messages (id, chat_id, parent_id, role, text, thinking, thinking_s, created_at)"
                " VALUES (?, 1, ?, ?, ?, ?, ?, ?)",
                (
                    (1, None, "user", "Show me everything", "", 0, now),
                    (2, 1, "assistant", showcase, thought, 12, now),
                    (3, 1, "assistant", "Everything, in another version.", "", 0, now),
                ),
            )

    def _put_calls(self, database: Database, now: float) -> None:
        """A chat with a reply that has called tools, with each end that a call can have."""
        database.connection.execute(
            "INSERT INTO chats (id, title, renamed, created_at, updated_at, leaf_id) VALUES (90, ?, 1, ?, ?, 91)",
            (CALLS, now, now),
        )
        database.connection.execute(
            "INSERT INTO messages (id, chat_id, role, text, created_at) VALUES (90, 90, 'user', ?, ?)",
            ("What is in my notes, and what is open?", now),
        )
        database.connection.execute(
            "INSERT INTO messages (id, chat_id, parent_id, role, text, parts, created_at)"
            " VALUES (91, 90, 90, 'assistant', ?, ?, ?)",
            ("You want milk. **Two** issues are open.", parts_to_json(called_parts()), now),
        )

    def _put_long(self, database: Database, now: float) -> None:
        """A chat of which the model reads the end, a summary of the rest, and what is pinned."""
        database.connection.execute(
            "INSERT INTO chats (id, title, renamed, created_at, updated_at, leaf_id) VALUES (95, ?, 1, ?, ?, 957)",
            (LONG, now, now),
        )
        rows = (
            ("user", "What do I need for a week in the hills?", None, False),
            ("assistant", "A coat, boots, a map, and food for two days more than you plan.", None, True),
            ("user", "And the tent?", None, False),
            ("assistant", "A small one for the wind. Pitch it low, with its back to the west.", None, False),
            ("system", "A week in the hills in May, alone, with a small tent.", None, False),
            ("user", "Which stove?", None, False),
            ("assistant", "Gas, since you cook twice a day and never below zero.", 955, False),
        )
        database.connection.executemany(
            "INSERT INTO messages (id, chat_id, parent_id, role, text, reads_from, pinned, parts, created_at)"
            " VALUES (?, 95, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    950 + number,
                    949 + number if number > 1 else None,
                    role,
                    text,
                    first,
                    pinned,
                    parts_to_json((Summary(4),)) if role == "system" else None,
                    now,
                )
                for number, (role, text, first, pinned) in enumerate(rows, start=1)
            ),
        )

    def _ask(self, language: str, question: str, name: str = "") -> None:
        self.application.settings.language = language
        self.application.window.composer.send(question)
        until(lambda: bool(self.application.chats.transcript.messages))
        until(lambda: not self.application.chats.generating)
        self._chats[name or language] = self.application.chats.chat_id
        self.settle()

    def _show_pictures(self) -> None:
        """In a chat of each language, to the starter's model that sees; then the pair is the starter's again."""
        note = self.application.window.composer.unseen_note
        for asked, language in zip(unseen(len(QUESTIONS)), QUESTIONS, strict=True):
            self.application.chats.new_chat()
            self.attach(asked.png)
            if note.isVisible():
                self._use_other()
            self._ask(language, asked.question, PICTURE + language)
        self.application.chats.new_chat()
        self._use_other()

    def attach(self, *pngs: bytes) -> None:
        """As a screenshot is pasted."""
        composer = self.application.window.composer
        for png in pngs:
            data = QMimeData()
            data.setImageData(QImage.fromData(png))
            composer.edit.insertFromMimeData(data)
        until(lambda: not composer.attached.is_reading)
        self.settle()

    def _use_other(self) -> None:
        """What the note under the field offers."""
        note = self.application.window.composer.unseen_note
        note.use_button.click()
        until(lambda: not note.isVisible() and self.application.models.pair.state is PairState.READY)

    @property
    def transcript(self) -> TranscriptView:
        view = self.application.window.transcript
        assert view is not None
        return view

    @property
    def settings_window(self) -> SettingsWindow:
        window = self.application.show_settings()
        assert window is not None
        return window

    def look(self, language: str, appearance: str, scale: float) -> None:
        settings = self.application.settings
        settings.language, settings.appearance, settings.text_scale = language, appearance, scale
        self.settle()

    def open_chat(self, name: str) -> None:
        """By the language of its question, behind `PICTURE` of that about one, or the showcase."""
        self.application.chats.open_chat(self._chats[name])
        self.settle()

    def settle(self) -> None:
        """Until everything is stored, drawn and coloured."""
        until(lambda: not self.application.storage.pending)
        still()
        until(lambda: not any(_unfinished(part.widget) for part, _ in self.transcript.visible_parts.shown()))
        after(30)

    def pause(self) -> None:
        """For what begins a moment after the last key, as a search does."""
        after(_PAUSE_MS)
        self.settle()

    def put_away(self) -> None:
        """Closes what a page has opened over the window."""
        window = self.application.window
        window.models_view.leave()
        window.picker.hide()
        window.tools.palette.leave()
        for panel in window.findChildren(Panel):
            panel.hide()
        window.inspector.set_wanted(False)
        window.overlay.choose(OverlayMode.OFF)
        self.application.window.sidebar.search.clear()
        attached = self.application.window.composer.attached
        for number in list(attached.chips):
            attached.remove_requested.emit(number)
        self.application.window.composer.set_text("")
        for widget in QApplication.topLevelWidgets():
            if widget.isVisible() and widget is not self.application.window:
                widget.close()
        self.settle()

    def close(self) -> None:
        ended: list[bool] = []
        self.application.ended.connect(lambda: ended.append(True))
        self.application.window.close_at_once()
        until(lambda: bool(ended))


def _unfinished(widget: object) -> bool:
    return bool(getattr(widget, "pending", None)) or (isinstance(widget, CodePart) and widget.colors.is_active)


def dialog() -> QWidget:
    """The one that is open."""
    found = QApplication.activeModalWidget() or QApplication.activePopupWidget()
    assert found is not None
    return found
