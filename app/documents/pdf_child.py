"""The process that reads a PDF: prints a line of JSON for each page, or the reason for failure."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterator

from app.documents.pdf import LIMITS
from app.documents.problems import WhyNot
from app.system.limited_child import given, set_limits

_MOST_PAGES = 10_000
_GAP = re.compile(r"[ \t]*\t[ \t]*")  # some programs write tabs between any two words


def main(arguments: list[str]) -> int:
    set_limits(LIMITS)
    logging.disable()
    from pypdf.errors import LimitReachedError

    try:
        for said in _pages(arguments[0], int(arguments[1])):
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()
    except (MemoryError, RecursionError, LimitReachedError):
        _refuse(WhyNot.TOO_COMPLEX)
    except Exception:  # noqa: BLE001  whatever a file that is not trusted makes a library do
        _refuse(WhyNot.DAMAGED)
    return 0


def _refuse(why: WhyNot) -> None:
    sys.stdout.write(json.dumps({"why": why}) + "\n")
    sys.stdout.flush()


def _pages(path: str, most_characters: int) -> Iterator[dict[str, object]]:
    from pypdf import PdfReader

    reader = PdfReader(path)
    if reader.is_encrypted and not reader.decrypt(""):
        yield {"why": WhyNot.ENCRYPTED}
        return
    count = len(reader.pages)
    taken = 0
    if count > _MOST_PAGES:
        yield {"why": WhyNot.TOO_COMPLEX}
        return
    for number, page in enumerate(reader.pages, start=1):
        text = _GAP.sub(" ", _storable(page.extract_text()))
        taken += len(text)
        if taken > most_characters:
            yield {"why": WhyNot.TOO_LONG}
            return
        yield {"page": number, "of": count, "text": text}


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


if __name__ == "__main__":
    sys.exit(main(given()))
