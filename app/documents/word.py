"""The text of a Word file (.docx): an archive, of which one XML file has the words. Runs within limits.

No schema, entity or other file is read, so that nothing in it can grow or lead elsewhere.
"""

from __future__ import annotations

import re
from typing import BinaryIO
from xml.parsers import expat
from zipfile import ZipFile

from app.documents.problems import Refused, WhyNot

_WORDS = re.compile(r"word/document\d*\.xml")  # Word in a browser gives it a number
_MOST_XML_BYTES = 128 << 20
_STEP_BYTES = 1 << 20
_HEADING = re.compile(r"(?i)heading ?([1-6])|([1-6])|title")
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# Have once more what others have: for older programs, before it was moved, or as it is spoken.
_OTHERS = ("Fallback", "moveFrom", "rt")


class _Document:
    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._is_text = False
        self._rows = 0  # of tables that are open
        self._others = 0  # of these that are open

    def start(self, name: str, values: dict[str, str]) -> None:
        element = name.rpartition(" ")[2]
        self._is_text = element == "t"
        self._others += element in _OTHERS
        if element in _BREAKS and not (element == "tab" and values):  # with values: where tabs stop
            self.pieces.append(_BREAKS[element])
        elif element == "tr":
            self._rows += 1
        elif element == "pStyle":
            style = next((each for key, each in values.items() if key.endswith(" val")), "")
            if found := _HEADING.fullmatch(style):
                self.pieces.append("#" * int(found[1] or found[2] or 1) + " ")

    def end(self, name: str) -> None:
        element = name.rpartition(" ")[2]
        self._is_text = False
        self._others -= element in _OTHERS
        if element == "p":
            self.pieces.append(" | " if self._rows else "\n\n")
        elif element == "tr":
            self._rows -= 1
            self.pieces.append("\n" if self._rows else "\n\n")

    def words(self, words: str) -> None:
        if self._is_text and not self._others:
            self.pieces.append(words)


def text_of_word(word_file: BinaryIO) -> str:
    """Raises Refused, or what the libraries raise."""
    document = _Document()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = document.start
    parser.EndElementHandler = document.end
    parser.CharacterDataHandler = document.words
    with ZipFile(word_file) as archive:
        words = next((each for each in archive.infolist() if _WORDS.fullmatch(each.filename)), None)
        if words is None or words.file_size > _MOST_XML_BYTES:
            raise Refused(WhyNot.DAMAGED if words is None else WhyNot.TOO_COMPLEX)
        with archive.open(words) as file:
            while data := file.read(_STEP_BYTES):
                parser.Parse(data)
    parser.Parse(b"", True)
    return "".join(document.pieces).strip()


def _refuse(*_declared: object) -> None:
    raise Refused(WhyNot.DAMAGED)
