"""The text that can be read in a document, and where in the document each of its characters is.

A formula in a line of text reads as its source; pieces of one long line read as one line.
"""

from __future__ import annotations

from PySide6.QtGui import QTextDocument

from app.markup.copying import length_of
from app.markup.document import OBJECT
from app.markup.inline_formula import TEX
from app.markup.lines import blocks_in, fragments
from app.markup.long_lines import LINE_SEPARATOR, goes_on


class VisibleText:
    def __init__(self, document: QTextDocument) -> None:
        pieces: list[str] = []
        self._places: list[int] = []  # of each character, in Qt's units
        for block in blocks_in(document):
            if pieces and not goes_on(block):
                pieces.append("\n")
                self._places.append(block.position() - 1)
            pieces += (
                self._read(each.text(), each.position(), each.charFormat().property(TEX)) for each in fragments(block)
            )
        self._places.append(length_of(document))
        self.text = "".join(pieces)

    def _read(self, text: str, place: int, tex: object) -> str:
        if tex and OBJECT in text:
            source = str(tex) * text.count(OBJECT)
            self._places += [place] * len(source)
            return source
        for char in text:
            self._places.append(place)
            place += 2 if char > "\uffff" else 1
        return text.replace(LINE_SEPARATOR, "\n")

    def range_of(self, first: int, last: int) -> tuple[int, int]:
        """The range of the document with characters `first` to `last` of the text."""
        start = self._places[first]
        end = self._places[last]
        return start, max(end, start + 1)
