"""Reads a file as an attachment: its kind and its text. PDF and Word are read in another process (`pages`)."""

from __future__ import annotations

import codecs
import os
import stat
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.documents import pages, pictures
from app.documents.encodings import decoded
from app.documents.pages import DocumentKind
from app.documents.pictures import StoredPicture
from app.documents.problems import Refused, WhyNot
from app.storage import Attachment, AttachmentKind
from app.storage.codec import as_title
from app.system.limited_child import ChildLimits, Stop
from engine import open_plain

MOST_FILE_BYTES = 16_000_000
MOST_SEARCHED_BYTES = 64_000_000  # of a text
MOST_PDF_BYTES = 128_000_000
MOST_CHARACTERS = 4_000_000
_HEAD_BYTES = 1024
_END_BYTES = 1_000_000
_PART_CHARACTERS = 20_000  # of a text that is searched
_LEFT_OUT = "[…]\n"

Progress = Callable[[float], None]  # the share that is done
Keep = Callable[[bytes], str]  # stores the bytes of a picture, and returns their digest; raises OSError


def read_file(path: Path, stop: Stop, progress: Progress, keep: Keep, *, only_end: bool = False) -> Attachment:
    """Raises Refused or, when `stop` is asked, Stopped. `only_end`: of a text, its last lines."""
    with disk_refusals():
        return _read(path, stop, progress, keep, only_end)


@contextmanager
def disk_refusals() -> Iterator[None]:
    """What the disk refuses, as Refused."""
    try:
        yield
    except FileNotFoundError:
        raise Refused(WhyNot.GONE) from None
    except PermissionError:
        raise Refused(WhyNot.FORBIDDEN) from None
    except (OSError, ValueError):  # ValueError: a name that no file can have
        raise Refused(WhyNot.UNREADABLE) from None


def _read(path: Path, stop: Stop, progress: Progress, keep: Keep, only_end: bool) -> Attachment:
    size = size_of(path)
    head = _bytes(path, _HEAD_BYTES)
    paged = pages.kind_of(path, head)
    if paged in (DocumentKind.PDF, DocumentKind.WORD):
        _check_size(size, MOST_PDF_BYTES)
        text = pages.text_of(path, paged, MOST_CHARACTERS, stop, progress)
        kind = AttachmentKind.PDF if paged is DocumentKind.PDF else AttachmentKind.TEXT
    elif (picture := pictures.kind_of(head)) is not None:
        if size > pictures.MOST_BYTES:  # of a text, its end could be attached
            raise Refused(WhyNot.PICTURE_FILE_TOO_LARGE, pictures.MOST_BYTES)
        return kept(pictures.picture_of(path, picture, stop), name_of(path), keep)
    elif only_end:
        mark = head[:2] if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else b""
        text = end_of(_text(mark + _bytes(path, _END_BYTES, size)), _END_BYTES)
        kind = AttachmentKind.TEXT
        size = len(text.encode())
    else:
        _check_size(size, MOST_FILE_BYTES)
        text = _text(_bytes(path, MOST_FILE_BYTES))
        kind = AttachmentKind.TEXT
    if len(text) > MOST_CHARACTERS:
        raise Refused(WhyNot.TOO_LONG, MOST_CHARACTERS)
    return Attachment(name_of(path), kind, text, size)


def pages_in(path: Path, most_characters: int, stop: Stop, limits: ChildLimits) -> Iterator[tuple[int, str]]:
    """Pages with their numbers, to be searched; parts of a text are pages without a number.

    Raises Refused or, when `stop` is asked, Stopped.
    """
    with disk_refusals():
        size = size_of(path)
        head = _bytes(path, _HEAD_BYTES)
        kind = pages.kind_of(path, head)
        _check_size(size, MOST_SEARCHED_BYTES if kind is None else MOST_PDF_BYTES)
        if kind is None and pictures.kind_of(head) is not None:
            raise Refused(WhyNot.IMAGE)
        text = _text(_bytes(path, MOST_SEARCHED_BYTES)) if kind is None else ""
    found = bool(text)
    if kind is None:
        yield from ((0, part) for part in _parts(text))
    else:
        for page in pages.pages_of(path, kind, most_characters, stop, limits):
            found = found or bool(page.text.strip())
            yield from ((page.number, f"{part.strip()}\n\n" if page.number else part) for part in _parts(page.text))
    if not found:
        raise Refused(WhyNot.SCANNED if kind is DocumentKind.PDF else WhyNot.EMPTY)


def _parts(text: str) -> Iterator[str]:
    """Of what is longer than a page, whole lines where they are short enough."""
    start = 0
    while len(text) - start > _PART_CHARACTERS:
        end = text.rfind("\n", start + _PART_CHARACTERS // 2, start + _PART_CHARACTERS) + 1
        yield text[start : end or start + _PART_CHARACTERS]
        start = end or start + _PART_CHARACTERS
    yield text[start:]


def end_of(text: str, characters: int) -> str:
    """The last lines with at most so many characters, after a mark that text is left out."""
    end = text[-max(1, characters) :]
    return _LEFT_OUT + end[end.find("\n") + 1 :]


def beginning_of(text: str, characters: int) -> str:
    """The first lines with at most so many characters, before a mark that text is left out."""
    beginning = text[: max(1, characters)]
    return beginning[: beginning.rfind("\n") + 1 or len(beginning)] + _LEFT_OUT


def kept(made: StoredPicture, name: str, keep: Keep) -> Attachment:
    """Store the bytes before anything names them. Raises Refused."""
    try:
        digest = keep(made.png)
    except OSError:
        raise Refused(WhyNot.NOT_STORED) from None
    kind = AttachmentKind.PICTURE
    return Attachment(name, kind, "", len(made.png), 0, digest, made.width, made.height, made.thumbnail)


def name_of(path: Path) -> str:
    """The name for display and storage: names may be invalid text, and some systems decompose letters."""
    try:
        name = os.fsencode(path.name)
    except UnicodeEncodeError:  # half a character, which no name on a disk has
        name = path.name.encode("utf-8", "replace")
    return as_title(unicodedata.normalize("NFC", name.decode("utf-8", "replace")))


def size_of(path: Path) -> int:
    """Its size; not opened, since opening a pipe would block."""
    found = path.stat()
    if stat.S_ISDIR(found.st_mode):
        raise Refused(WhyNot.FOLDER)
    if not stat.S_ISREG(found.st_mode):
        raise Refused(WhyNot.UNREADABLE)
    if found.st_size == 0:
        raise Refused(WhyNot.EMPTY)
    return found.st_size


def _bytes(path: Path, most: int, end: int = 0) -> bytes:
    """The first ones, or the last ones before `end`."""
    with open_plain(path) as file:
        file.seek(max(0, end - most))
        return file.read(most)


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise Refused(WhyNot.TOO_LARGE, limit)


def _text(data: bytes) -> str:
    text = decoded(data)
    if text is None:
        raise Refused(WhyNot.BINARY)
    if not text.strip():
        raise Refused(WhyNot.EMPTY)
    return text
