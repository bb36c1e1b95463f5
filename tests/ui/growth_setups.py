"""Where long texts go: composer, system prompt, bubble, a reply opened or streamed, text of a race, colours of code."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QMimeData
from pytestqt.qtbot import QtBot

from app.theme import Theme
from app.view_models.transcript import ReplyStatus
from app.views.activity.race_window import RaceText
from app.views.settings.options import PromptField
from app.views.shell.composer import Composer
from app.views.transcript.code_part import CodePart
from app.views.transcript.parts import Part, PartKind
from app.views.widgets.long_text import LongText
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import TranscriptHarness, question, reply

STEP_CHARS = 100
Setup = Callable[[str], None]


class GrowthSetup:
    def __init__(self, qtbot: QtBot) -> None:
        self.composer = Composer(Theme())
        self.composer.resize(700, 100)
        qtbot.addWidget(self.composer)
        self.composer.show()
        self.prompt_field = PromptField(Theme())
        self.race_text = RaceText(Theme())
        for widget in (self.prompt_field, self.race_text):
            widget.resize(400, 300)
            qtbot.addWidget(widget)
            widget.show()
        self.harness = TranscriptHarness([])
        qtbot.addWidget(self.harness.view)

    def paste(self, text: str) -> None:
        data = QMimeData()
        data.setText(text)
        self.composer.set_text("")
        self.composer.edit.insertFromMimeData(data)
        still()
        self.composer.edit.viewport().repaint()

    def prompt(self, text: str) -> None:
        """Pasted into the field of a system prompt, and shown again in it."""
        data = QMimeData()
        data.setText(text)
        self.prompt_field.set_text("")
        self.prompt_field.insertFromMimeData(data)
        self._paint(self.prompt_field)
        self.prompt_field.set_text(text)
        self._paint(self.prompt_field)

    def race(self, text: str) -> None:
        self.race_text.show_text("")
        for end in range(STEP_CHARS, len(text) + STEP_CHARS, STEP_CHARS):
            self.race_text.show_text(text[:end])
        self._paint(self.race_text.text)
        self.race_text.show_text("another")
        self.race_text.show_text(text)
        self._paint(self.race_text.text)

    def _paint(self, field: LongText) -> None:
        still()
        field.viewport().repaint()

    def ask(self, text: str) -> None:
        self.harness.model.set_messages([question(1, text)])
        self._show()

    def open(self, text: str) -> None:
        self.harness.model.set_messages([reply(1, text)])
        self._show()

    def stream(self, text: str) -> None:
        self.harness.model.set_messages([reply(1, "", ReplyStatus.STREAMING)])
        for start in range(0, len(text), STEP_CHARS):
            self.harness.model.append_text(1, text[start : start + STEP_CHARS])
        self.harness.model.change(1, status=ReplyStatus.DONE)
        self._show()

    def color(self, language: str, code: str) -> None:
        self.harness.model.set_messages([reply(1, f"```{language}\n{code}\n```\n")])
        self._show()
        while any(isinstance(part.widget, CodePart) and part.widget.colors.is_active for part in self._code()):
            still()

    def _code(self) -> list[Part]:
        return self.harness.parts(PartKind.CODE)

    def _show(self) -> None:
        still()
        self.harness.view.viewport().repaint()
