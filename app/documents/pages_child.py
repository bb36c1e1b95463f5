"""The process that reads a PDF, Word or HTML file: prints a line of JSON for each page, or the reason for failure."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import BinaryIO

from app.documents.pages import LIMITS, DocumentKind
from app.documents.problems import Refused, WhyNot
from app.system.limited_child import given, set_limits

_MOST_PAGES = 10_000
_MOST_HTML_BYTES = 16_000_000
_GAP = re.compile(r"[ \t]*\t[ \t]*")  # some programs write tabs between any two words

_UNREADABLE = "[This page cannot be read.]"  # for the model, in place of what the library does not understand

_Said = dict[str, object]


def main(arguments: list[str]) -> int:
    path, kind, most_characters, cpu_s = arguments
    set_limits(replace(LIMITS, cpu_s=int(cpu_s)))
    logging.disable()
    try:
        # Nothing is waited for, as the writer of a pipe would be that has come in the place of the file.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            file.seek(0)  # raises for a pipe
            for said in _PAGES[DocumentKind(kind)](file, int(most_characters)):
                sys.stdout.write(json.dumps(said) + "\n")
                sys.stdout.flush()
    except Refused as refused:
        _refuse(refused.why)
    except Exception as error:  # noqa: BLE001  whatever a file that is not trusted makes a library do
        _refuse(WhyNot.TOO_COMPLEX if _is_too_much(error) else WhyNot.DAMAGED)
    return 0


def _is_too_much(error: Exception) -> bool:
    return isinstance(error, MemoryError | RecursionError) or type(error).__name__ == "LimitReachedError"


def _refuse(why: WhyNot) -> None:
    sys.stdout.write(json.dumps({"why": why}) + "\n")
    sys.stdout.flush()


def _of_pdf(file: BinaryIO, most_characters: int) -> Iterator[_Said]:
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(file.read()))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Refused(WhyNot.ENCRYPTED)
    count = len(reader.pages)
    taken = unreadable = 0
    if count > _MOST_PAGES:
        raise Refused(WhyNot.TOO_COMPLEX)
    for number, page in enumerate(reader.pages, start=1):
        try:
            text = _GAP.sub(" ", _storable(page.extract_text()))
        except Exception as error:
            if _is_too_much(error):
                raise
            text = _UNREADABLE
            unreadable += 1
        taken += len(text)
        if taken > most_characters:
            raise Refused(WhyNot.TOO_LONG)
        yield {"page": number, "of": count, "text": text}
    if unreadable and unreadable == count:
        raise Refused(WhyNot.DAMAGED)


def _of_word(file: BinaryIO, most_characters: int) -> Iterator[_Said]:
    from app.documents.word import text_of_word

    return _whole(text_of_word(file), most_characters)


def _of_html(file: BinaryIO, most_characters: int) -> Iterator[_Said]:
    from app.documents.encodings import decoded
    from app.documents.page_text import text_of_page

    html = decoded(file.read(_MOST_HTML_BYTES))
    if html is None:
        raise Refused(WhyNot.BINARY)
    return _whole(text_of_page(html, ""), most_characters)


def _whole(text: str, most_characters: int) -> Iterator[_Said]:
    if len(text) > most_characters:
        raise Refused(WhyNot.TOO_LONG)
    yield {"page": 0, "of": 0, "text": _storable(text)}


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


_PAGES = {DocumentKind.PDF: _of_pdf, DocumentKind.WORD: _of_word, DocumentKind.HTML: _of_html}

if __name__ == "__main__":
    sys.exit(main(given()))
