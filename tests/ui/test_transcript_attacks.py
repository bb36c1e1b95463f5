"""What a model writes opens no file, no connection and no program, whatever it is; and reading it ends soon.

The long form of the random tests is a drill.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QDesktopServices, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.markup.blocks import Splitter, split
from app.markup.links import is_in_message
from app.view_models.transcript import ReplyStatus
from app.views.link_dialog import ask_to_open
from tests.helpers.hostile_markdown import ROWS, WHOLE, texts
from tests.helpers.transcript_harness import TranscriptHarness, reply

_TOUCHED = (
    "open",
    "socket.connect",
    "socket.getaddrinfo",
    "subprocess.Popen",
    "os.system",
    "os.posix_spawn",
    "os.exec",
)
_OURS = (".pyc", ".py", "site-packages", "/lib/", "/proc/", "fonts", "/resources/icons/")
_STEPS_PER_CHAR = 400  # calls of Python functions
_STEPS = 60_000


class Watch:
    """What the process touched outside of itself. One audit hook for all tests, because none can be removed."""

    def __init__(self) -> None:
        self.seen: list[str] | None = None
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[object, ...]) -> None:
        if self.seen is not None and event.startswith(_TOUCHED):
            told = f"{event} {args[0]!r}"
            if not any(each in told for each in _OURS):
                self.seen.append(told)

    @contextmanager
    def nothing(self) -> Iterator[None]:
        self.seen = []
        yield
        seen, self.seen = self.seen, None
        assert not seen


WATCH = Watch()


@pytest.fixture
def harness(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> TranscriptHarness:
    def opened(url: object) -> bool:
        raise AssertionError(f"{url} was opened")

    monkeypatch.setattr(QDesktopServices, "openUrl", opened)
    harness = TranscriptHarness([])
    qtbot.addWidget(harness.view)
    return harness


def show(harness: TranscriptHarness, text: str) -> None:
    """Streamed, finished, opened anew, selected and copied."""
    harness.model.set_messages([reply(1, "", ReplyStatus.STREAMING)])
    for start in range(0, len(text), 64):
        harness.model.append_text(1, text[start : start + 64])
    harness.model.change(1, status=ReplyStatus.DONE)
    harness.model.set_messages([reply(2, text)])
    harness.view.viewport().grab()
    harness.view.selectAll()
    harness.view.copy()
    harness.view.selection.clear()
    QApplication.processEvents()


@pytest.mark.costly
@pytest.mark.parametrize("text", WHOLE)
def test_nothing_is_loaded_or_opened_and_every_link_is_one_of_the_web_or_of_mail(
    harness: TranscriptHarness, text: str
) -> None:
    with WATCH.nothing():
        show(harness, text)
    for part, _ in harness.view.visible_parts.shown():
        document = part.selectable.document_of() if part.selectable else None
        if document is None:
            continue
        for position in range(document.characterCount()):
            cursor = QTextCursor(document)
            cursor.setPosition(position)
            address = cursor.charFormat().anchorHref()
            outward = address and not is_in_message(address)
            assert not outward or address.split(":")[0].lower() in ("http", "https", "mailto")


@pytest.mark.slow
def test_clicks_everywhere_open_nothing(harness: TranscriptHarness) -> None:
    with WATCH.nothing():
        harness.model.set_messages([reply(1, "\n\n".join(WHOLE))])
        for y in range(4, harness.view.height(), 16):
            for x in range(30, harness.view.width(), 90):
                QTest.mouseClick(harness.view.windowHandle(), Qt.MouseButton.LeftButton, pos=QPoint(x, y))


def test_the_question_shows_letters_that_only_look_alike(harness: TranscriptHarness) -> None:
    dialog = ask_to_open("https://аррӏе.example/\u202egnp.exe", harness.theme, harness.view)
    assert dialog is not None
    words = dialog.title.text() + dialog.sentence.text() + dialog.detail.text()
    assert "xn--" in words
    assert "\u202e" not in words
    dialog.reject()


class Steps:
    """Counts calls of Python functions: the same on a busy machine."""

    def __init__(self, most: int) -> None:
        self._left = most

    def __enter__(self) -> None:
        sys.setprofile(self._count)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _count(self, _frame: object, event: str, _argument: object) -> None:
        if event == "call":
            self._left -= 1
            assert self._left > 0, "reading it takes too many steps"


@pytest.mark.costly
@pytest.mark.parametrize("row", ROWS)
def test_reading_takes_steps_by_length_however_deep_it_is(row: str) -> None:
    text = (row * 2000)[:2000]
    with Steps(_STEPS + _STEPS_PER_CHAR * len(text)):
        split(text)
        splitter = Splitter()
        for start in range(0, len(text), 400):
            splitter.append(text[start : start + 400])
        splitter.finish()


def check_random(harness: TranscriptHarness, text: str) -> None:
    with WATCH.nothing():
        show(harness, text)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts)
def test_random_markdown_breaks_nothing(harness: TranscriptHarness, text: str) -> None:
    check_random(harness, text)


@pytest.mark.drill
@settings(max_examples=3000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts)
def test_much_random_markdown_breaks_nothing(harness: TranscriptHarness, text: str) -> None:
    check_random(harness, text)
