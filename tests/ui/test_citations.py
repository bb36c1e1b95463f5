"""Citations of documents in replies: links to the place, for documents of the chat alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.markup.links import Cited, citations, cited, links_of
from app.storage.project_files import FileState, Passage
from app.views.files.attachment_dialog import AttachmentDialog
from app.views.transcript.text_parts import TextPart
from tests.helpers.app_harness import AppHarness
from tests.helpers.fake_engine import Script
from tests.helpers.pdf_files import pdf_bytes


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("See [report.pdf, p. 3].", Cited("report.pdf", 3)),
        ("[report.pdf, pp. 3-4]", Cited("report.pdf", 3)),
        ("[report.pdf]", Cited("report.pdf")),
        ("[report.pdf, line 1200]", Cited("report.pdf", line=1200)),
        ("[report.pdf, lines 7–9]", Cited("report.pdf", line=7)),
        ("[한글 100%.pdf, p. 12]", Cited("한글 100%.pdf", 12)),
        ("[other.pdf, p. 3]", None),
        ("[/etc/passwd]", None),
        ("report.pdf", None),
    ],
)
def test_only_documents_of_the_chat_are_cited(text: str, place: Cited | None) -> None:
    found = list(citations(text, {"report.pdf", "한글 100%.pdf"}))
    assert [cited(address) for _, _, address in found] == ([] if place is None else [place])
    assert cited("https://example.com/#cited:1:0:a") is None


def test_a_chat_that_is_moved_cites_the_documents_of_its_new_project(
    app: AppHarness, tmp_path: Path, qtbot: QtBot
) -> None:
    folder = app.make_folder(qtbot)
    app.chats.documents.add_text(folder, "a.txt", "About whales")
    qtbot.waitUntil(lambda: app.chats.documents.has_text(folder))
    app.ask(qtbot, "Hello")
    app.wait_until_quiet(qtbot)
    assert app.window.transcript is not None
    style = app.window.transcript.context.document_style
    assert "a.txt" not in style().cited
    app.chats.folders.move_chats([app.chats.chat_id], folder)
    qtbot.waitUntil(lambda: "a.txt" in style().cited)


def opened(app: AppHarness, qtbot: QtBot, documents: Path, reply: str) -> AttachmentDialog:
    """What a click on the citation in this reply opens."""
    chats = app.chats
    chats.documents.add(-chats.chat_id, [documents])
    qtbot.waitUntil(lambda: [each.state for each in chats.documents.files(-chats.chat_id)] == [FileState.READY])
    app.engine.scripts.append(Script((reply,)))
    app.window.composer.send("What do tigers have?")
    qtbot.waitUntil(lambda: len(chats.transcript.messages) == 2)
    app.wait_until_quiet(qtbot)
    texts = [part for part in app.transcript.findChildren(TextPart) if "Stripes" in part.toPlainText()]
    (link,) = links_of(texts[0].document())
    texts[0].context.follow(texts[0], link.address)
    qtbot.waitUntil(lambda: any(isinstance(each, AttachmentDialog) for each in QApplication.topLevelWidgets()))
    (dialog,) = (each for each in QApplication.topLevelWidgets() if isinstance(each, AttachmentDialog))
    return dialog


def test_a_click_shows_the_page_and_opens_the_file(
    app: AppHarness, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: shown.append(url.toLocalFile()))
    (tmp_path / "a.pdf").write_bytes(pdf_bytes(["About whales", "About tigers"]))
    dialog = opened(app, qtbot, tmp_path / "a.pdf", "Stripes [a.pdf, p. 2], not [b.pdf, p. 2].")
    assert dialog.text.toPlainText().strip() == "About tigers"
    assert (dialog.facts.text(), dialog.open_button.text()) == ("Page 2", "Open the File")
    dialog.open_button.click()
    assert shown == [str(tmp_path / "a.pdf")]
    dialog.reject()


def test_a_page_that_is_none_shows_all_pages(app: AppHarness, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf_bytes(["About whales", "About tigers"]))
    dialog = opened(app, qtbot, tmp_path / "a.pdf", "Stripes [a.pdf, p. 20].")
    assert "About whales" in dialog.text.toPlainText()
    dialog.reject()


@pytest.mark.parametrize("filler", ["word\n" * 500, "word " * 40_000 + "\n" + "\n" * 499, "word\n" * 40_000])
def test_a_click_shows_the_line_that_a_passage_begins_on(
    app: AppHarness, tmp_path: Path, qtbot: QtBot, filler: str
) -> None:
    """Also below a line that is laid out in pieces, and among more than are laid out one by one."""
    (tmp_path / "a.py").write_text(f"{filler}\nTigers have stripes.\n\n{filler}")
    line = filler.count("\n") + 2
    app.chats.documents.add(-app.chats.chat_id, [tmp_path / "a.py"])
    qtbot.waitUntil(lambda: [each.state for each in app.chats.documents.files(-app.chats.chat_id)] == [FileState.READY])
    found: list[Passage] = []
    app.chats.documents.search((-app.chats.chat_id,), "tigers stripes", 1, found.extend)
    qtbot.waitUntil(lambda: bool(found))
    assert (tmp_path / "a.py").read_text().splitlines()[found[0].line - 1] in ("Tigers have stripes.", "word", "")
    assert line - 300 < found[0].line <= line
    dialog = opened(app, qtbot, tmp_path / "a.py", f"Stripes [a.py, line {line}].")
    qtbot.waitUntil(lambda: bool(dialog.text.extraSelections()))
    (lit,) = dialog.text.extraSelections()
    assert lit.cursor.selectedText() == "Tigers have stripes."
    assert dialog.text.viewport().rect().contains(dialog.text.cursorRect())
    assert dialog.open_button.text() == "Show in Folder"
    dialog.reject()
