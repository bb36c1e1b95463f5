"""What a model writes loads nothing and opens nothing, and no link without a yes; and reading it ends soon.

The long form of the random tests is a drill.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QImage, QTextCursor, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.markup.blocks import Splitter, split
from app.markup.document import DocumentBuilder
from app.markup.links import is_in_message
from app.theme import Theme
from app.view_models.transcript import ReplyStatus
from app.views.link_dialog import ask_to_open
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part, PartKind
from app.views.transcript.text_parts import TextPart
from tests.helpers.hostile_markdown import ROWS, WHOLE, texts
from tests.helpers.stillness import still
from tests.helpers.transcript_harness import Opener, TranscriptHarness, reply

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
def harness(open_transcript: Opener, monkeypatch: pytest.MonkeyPatch) -> TranscriptHarness:
    def opened(url: object) -> bool:
        raise AssertionError(f"{url} was opened")

    monkeypatch.setattr(QDesktopServices, "openUrl", opened)
    return open_transcript([])


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
    still()


@pytest.mark.costly
@pytest.mark.parametrize("text", WHOLE)
def test_nothing_is_loaded_and_links_are_of_the_web_or_mail(harness: TranscriptHarness, text: str) -> None:
    with WATCH.nothing():
        show(harness, text)
    for part, _ in harness.view.visible_parts.shown():
        document = part.document
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


# One text by itself


@pytest.fixture
def text(qtbot: QtBot) -> TextPart:
    context = PartContext(Theme())
    widget = TextPart(context, None)  # type: ignore[arg-type]
    context.setParent(widget)
    qtbot.addWidget(widget)
    return widget


def written(widget: TextPart, source: str) -> str:
    part = Part(PartKind.TEXT, split(source)[0], 1, lambda: "Reply")
    widget.resize(400, widget.show_part(part, 400))
    return widget.toPlainText()


def test_an_image_is_its_description_and_address(text: TextPart) -> None:
    assert written(text, "![a cat](https://example.com/cat.png)") == "a cat (https://example.com/cat.png)"
    assert "<img" not in text.document().toHtml()


@pytest.mark.parametrize("address", ["file:///dev/zero", "/etc/passwd", "https://example.com/a.png", "formula:1"])
def test_every_address_is_the_same_pixel(text: TextPart, address: str) -> None:
    image = text.loadResource(QTextDocument.ResourceType.ImageResource.value, QUrl(address))
    assert isinstance(image, QImage)
    assert (image.width(), image.height()) == (1, 1)


@pytest.mark.parametrize("source", ["<a href='/x'>x</a>", "[x](#note:1)", "[x](#mark:1)"])
def test_what_only_looks_like_a_link_is_plain_text(text: TextPart, source: str) -> None:
    assert written(text, source) == source
    assert not any(each.charFormat().isAnchor() for each in cursors(text))


def cursors(widget: TextPart) -> list[QTextCursor]:
    result = []
    for position in range(1, widget.document().characterCount()):
        cursor = QTextCursor(widget.document())
        cursor.setPosition(position)
        result.append(cursor)
    return result


def test_bare_addresses_are_links_without_the_sentence_around_them(text: TextPart) -> None:
    written(text, "Look at https://example.com/a(b), 그리고 https://example.com/c를 봐요.")
    hrefs = {each.charFormat().anchorHref() for each in cursors(text)} - {""}
    assert hrefs == {"https://example.com/a(b)", "https://example.com/c"}


def test_a_link_whose_words_are_an_address_leads_where_the_link_does(text: TextPart) -> None:
    written(
        text, "See [https://example.com/ab…](https://example.com/abcd) or [**https://a.example**](https://b.example)."
    )
    hrefs = {each.charFormat().anchorHref() for each in cursors(text)} - {""}
    assert hrefs == {"https://example.com/abcd", "https://b.example"}


def test_documents_are_written_without_html(text: TextPart) -> None:
    document = QTextDocument()
    builder = DocumentBuilder(document, text.context.document_style(), text.context.formulas)
    builder.write(split("a <script>alert(1)</script> &lt;b&gt;")[0].tokens)
    assert document.toPlainText() == "a <script>alert(1)</script> <b>"


# The question before a link is opened


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    links: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: links.append(url.toString()))
    return links


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def test_opens_only_after_a_yes(parent: QWidget, opened: list[str]) -> None:
    box = ask_to_open("https://example.org/a?b=c", Theme(parent), parent)
    assert box is not None
    assert "example.org" in box.title.text()
    assert box.sentence.text() == "https://example.org/a?b=c"
    box.cancel_button.click()
    assert opened == []
    box = ask_to_open("https://example.org/a?b=c", Theme(parent), parent)
    assert box is not None
    box.act_button.click()
    assert opened == ["https://example.org/a?b=c"]


def test_a_host_hidden_behind_a_user_name_is_named(parent: QWidget) -> None:
    box = ask_to_open("https://bank.example@evil.example/", Theme(parent), parent)
    assert box is not None
    assert box.title.text() == "Open evil.example?"


@pytest.mark.costly
@pytest.mark.parametrize(
    "link",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https:///nowhere",
        "x",
        "data:text/html,x",
        "//host/x",
        "\\\\host\\share",
        "",
    ],
)
def test_other_kinds_are_never_followed(parent: QWidget, link: str) -> None:
    assert ask_to_open(link, Theme(parent), parent) is None
