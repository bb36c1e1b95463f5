"""What a model writes never loads, opens or hides anything."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QImage, QTextCursor, QTextDocument
from pytestqt.qtbot import QtBot

from app.markup.blocks import split
from app.markup.document import DocumentBuilder
from app.theme import Theme
from app.views.transcript.part_context import PartContext
from app.views.transcript.parts import Part, PartKind
from app.views.transcript.text_parts import TextPart


@pytest.fixture
def text(qtbot: QtBot) -> TextPart:
    context = PartContext(Theme())
    widget = TextPart(context, None)  # type: ignore[arg-type]
    context.setParent(widget)
    qtbot.addWidget(widget)
    return widget


def show(widget: TextPart, source: str) -> str:
    part = Part(PartKind.TEXT, split(source)[0], 1, lambda: "Reply")
    widget.resize(400, widget.show_part(part, 400))
    return widget.toPlainText()


def test_an_image_is_its_description_and_address(text: TextPart) -> None:
    assert show(text, "![a cat](https://example.com/cat.png)") == "a cat (https://example.com/cat.png)"
    assert "<img" not in text.document().toHtml()


@pytest.mark.parametrize("address", ["file:///dev/zero", "/etc/passwd", "https://example.com/a.png", "formula:1"])
def test_every_address_is_the_same_pixel(text: TextPart, address: str) -> None:
    image = text.loadResource(QTextDocument.ResourceType.ImageResource.value, QUrl(address))
    assert isinstance(image, QImage)
    assert (image.width(), image.height()) == (1, 1)


@pytest.mark.parametrize("source", ["<a href='/x'>x</a>", "[x](#note:1)", "[x](#mark:1)"])
def test_what_only_looks_like_a_link_is_plain_text(text: TextPart, source: str) -> None:
    assert show(text, source) == source
    assert not any(each.charFormat().isAnchor() for each in cursors(text))


def cursors(widget: TextPart) -> list[QTextCursor]:
    result = []
    for position in range(1, widget.document().characterCount()):
        cursor = QTextCursor(widget.document())
        cursor.setPosition(position)
        result.append(cursor)
    return result


def test_bare_addresses_are_links_without_the_sentence_around_them(text: TextPart) -> None:
    show(text, "Look at https://example.com/a(b), 그리고 https://example.com/c를 봐요.")
    hrefs = {each.charFormat().anchorHref() for each in cursors(text)} - {""}
    assert hrefs == {"https://example.com/a(b)", "https://example.com/c"}


def test_documents_are_written_without_html(text: TextPart) -> None:
    document = QTextDocument()
    builder = DocumentBuilder(document, text.context.document_style(), text.context.formulas)
    builder.write(split("a <script>alert(1)</script> &lt;b&gt;")[0].tokens)
    assert document.toPlainText() == "a <script>alert(1)</script> <b>"
