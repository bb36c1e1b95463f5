"""Citations of documents in replies: links to the place, for documents of the chat alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.markup.links import citations, cited, links_of
from app.storage.project_files import FileState
from app.views.files.attachment_dialog import AttachmentDialog
from app.views.transcript.text_parts import TextPart
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import Script
from tests.helpers.pdf_files import pdf_bytes


@pytest.fixture
def app(tmp_path: Path, qtbot: QtBot) -> Iterator[AppHarness]:
    with open_app(tmp_path / "profile", qtbot) as harness:
        yield harness


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("See [report.pdf, p. 3].", ("report.pdf", 3)),
        ("[report.pdf, pp. 3-4]", ("report.pdf", 3)),
        ("[report.pdf]", ("report.pdf", 0)),
        ("[한글 100%.pdf, p. 12]", ("한글 100%.pdf", 12)),
        ("[other.pdf, p. 3]", None),
        ("[/etc/passwd]", None),
        ("report.pdf", None),
    ],
)
def test_only_documents_of_the_chat_are_cited(text: str, place: tuple[str, int] | None) -> None:
    found = list(citations(text, {"report.pdf", "한글 100%.pdf"}))
    assert [cited(address) for _, _, address in found] == ([] if place is None else [place])
    assert cited("https://example.com/#cited:1:a") is None


def test_a_chat_that_is_moved_cites_the_documents_of_its_new_project(
    app: AppHarness, tmp_path: Path, qtbot: QtBot
) -> None:
    made: list[int] = []
    app.chats.folders.made.connect(made.append)
    app.chats.folders.make()
    qtbot.waitUntil(lambda: bool(made))
    app.chats.documents.add_text(made[0], "a.txt", "About whales")
    qtbot.waitUntil(lambda: app.chats.documents.has_text(made[0]))
    app.ask(qtbot, "Hello")
    app.wait_until_quiet(qtbot)
    assert app.window.transcript is not None
    style = app.window.transcript.context.document_style
    assert "a.txt" not in style().cited
    app.chats.folders.move_chats([app.chats.chat_id], made[0])
    qtbot.waitUntil(lambda: "a.txt" in style().cited)


def test_a_click_shows_the_page_and_a_copy_is_the_plain_words(app: AppHarness, tmp_path: Path, qtbot: QtBot) -> None:
    chats = app.chats
    (tmp_path / "a.pdf").write_bytes(pdf_bytes(["About whales", "About tigers"]))
    chats.documents.add(0, [tmp_path / "a.pdf"])
    qtbot.waitUntil(lambda: [each.state for each in chats.documents.files(0)] == [FileState.READY])
    app.engine.scripts.append(Script(("Stripes [a.pdf, p. 2], not [b.pdf, p. 2].",)))
    app.window.composer.send("What do tigers have?")
    qtbot.waitUntil(lambda: len(chats.transcript.messages) == 2)
    app.wait_until_quiet(qtbot)
    assert app.window.transcript is not None
    texts = [part for part in app.window.transcript.findChildren(TextPart) if "Stripes" in part.toPlainText()]
    (link,) = links_of(texts[0].document())
    assert (link.words, cited(link.address)) == ("[a.pdf, p. 2]", ("a.pdf", 2))
    texts[0].context.follow(texts[0], link.address)
    qtbot.waitUntil(lambda: any(isinstance(each, AttachmentDialog) for each in QApplication.topLevelWidgets()))
    (dialog,) = (each for each in QApplication.topLevelWidgets() if isinstance(each, AttachmentDialog))
    assert dialog.text.toPlainText().strip() == "About tigers"
    dialog.reject()
