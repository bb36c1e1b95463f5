"""Five megabytes of one unit, and what a person does with them in the transcript and in a field."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QMimeData
from PySide6.QtWidgets import QApplication

from app.view_models.transcript import TranscriptMessage
from app.views.widgets.long_text import LongText
from tests.helpers.transcript_harness import TranscriptHarness, question, reply

LARGE_BYTES = 5_000_000
SHOWN = ["x", "말", "ab\n", "\n", "- item\n", "```py\nx = 1\n", "```\na\n```\n", "|a|b|\n", "🎉", "word " * 700 + "\n"]
PASTED = ["x", "말", "ab\n", "\n", "word " * 700 + "\n", "x" * 3_900 + "\n", "x" * 5_000 + "\nab\n"]


def large(unit: str) -> str:
    return unit * (LARGE_BYTES // len(unit.encode()))


def cpu_s(act: Callable[[], object]) -> float:
    started_s = time.thread_time()
    act()
    return time.thread_time() - started_s


@dataclass(frozen=True)
class Act:
    name: str
    do: Callable[[], object]
    again: Callable[[], object] = lambda: None  # what makes it possible once more


def large_message(unit: str, *, from_user: bool) -> TranscriptMessage:
    return question(900, large(unit)) if from_user else reply(900, large(unit))


def showing(harness: TranscriptHarness, message: TranscriptMessage) -> list[Act]:
    """The message after those that are there, then the middle of all."""
    before = list(harness.model.messages)

    def show() -> None:
        harness.model.append(message)
        QApplication.processEvents()
        harness.view.grab()

    def scroll() -> None:
        harness.scroll_to(harness.bottom // 2)
        QApplication.processEvents()
        harness.view.grab()

    return [
        Act("show", show, lambda: harness.model.set_messages(before)),
        Act("scroll", scroll, lambda: harness.model.set_messages([*before, message])),
    ]


def pasting(field: LongText, text: str) -> Act:
    data = QMimeData()
    data.setText(text)

    def paste() -> None:
        field.insertFromMimeData(data)
        QApplication.processEvents()
        field.grab()

    return Act("paste", paste, field.clear)


def copying(harness: TranscriptHarness) -> list[Act]:
    """The first message by itself, and all messages as a selection."""
    return [
        Act("copy message", lambda: harness.view.copier.copy_message(harness.model.messages[0].id)),
        Act("copy selection", lambda: harness.view.copier.copy_selection(markdown=False)),
    ]
