"""Footnotes: marks in the text, notes where they stand, and both again in a copy."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication, QTextCharFormat, QTextCursor, QTextDocument

from app.markup.block import Block, BlockKind
from app.markup.blocks import presentable, split
from app.markup.copying import length_of, markdown, plain_text
from app.markup.document import DocumentBuilder
from app.markup.formula import Formulas
from app.theme import Theme
from app.views.transcript.part_context import PartContext


def written(block: Block) -> QTextDocument:
    assert QGuiApplication.instance() is not None
    document = QTextDocument()
    DocumentBuilder(document, PartContext(Theme()).document_style(), Formulas()).write(block.tokens)
    return document


def raised(document: QTextDocument) -> str:
    result = ""
    for position in range(length_of(document)):
        cursor = QTextCursor(document)
        cursor.setPosition(position + 1)
        if cursor.charFormat().verticalAlignment() is QTextCharFormat.VerticalAlignment.AlignSuperScript:
            result += document.characterAt(position)
    return result


@pytest.mark.usefixtures("qapp")
def test_a_mark_is_raised_and_a_note_hangs_beside_its_mark() -> None:
    text, note = (written(block) for block in split("Words[^1] and[^note].\n\n[^1]: The *note*.\n"))
    assert text.toPlainText() == "Words1 andnote."
    assert raised(text) == "1note"
    assert note.toPlainText().replace("\u00a0", " ") == "1  The note."
    assert note.firstBlock().blockFormat().textIndent() < 0


@pytest.mark.usefixtures("qapp")
def test_a_copy_has_them_as_they_were_written() -> None:
    sources = ["Words[^1] and **more**[^note].", "[^1]: The *note*.\n\n    A second paragraph."]
    for source in sources:
        (block,) = split(source)
        document = written(block)
        assert markdown(document, 0, length_of(document)) == source
    document = written(split(sources[0])[0])
    assert plain_text(document, 0, length_of(document)) == "Words[1] and more[note]."


def test_notes_of_a_note_stay_in_it() -> None:
    blocks = split("[^1]: One\n[^2]: Two\n\n    ```py\n    x = 1\n    ```\n\nText")
    assert [block.kind for block in blocks] == [BlockKind.TEXT, BlockKind.TEXT, BlockKind.CODE, BlockKind.TEXT]
    assert [block.is_note for block in blocks] == [True, True, False, False]
    assert blocks[2].text == "x = 1\n"


@pytest.mark.parametrize("source", ["[^a-z]", "[^0-9]", "[^]", "[^ x]", "\\[^1]", "`[^1]`"])
def test_these_are_no_marks(source: str) -> None:
    (block,) = split(source)
    assert not any(token.type == "note_mark" for token in block.tokens[1].children or ())


@pytest.mark.parametrize(
    ("tail", "shown"), [("word[^", "word"), ("word[^1", "word"), ("word[^1]", "word[^1]"), ("[^1]", ""), ("[^1]: ", "")]
)
def test_half_a_mark_waits(tail: str, shown: str) -> None:
    assert presentable(tail) == shown
