"""Reads a file as an attachment: its kind and its text. PDF is read in another process (`pdf`)."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Callable
from pathlib import Path

from app.documents import pdf, pictures
from app.documents.encodings import decoded
from app.documents.pictures import StoredPicture
from app.documents.problems import Refused, WhyNot
from app.storage import Attachment, AttachmentKind
from app.storage.codec import as_title
from app.system.limited_child import Stop
from engine import open_plain

MOST_FILE_BYTES = 16_000_000
MOST_PDF_BYTES = 128_000_000
MOST_CHARACTERS = 4_000_000
_HEAD_BYTES = 1024
_END_BYTES = 1_000_000
_LEFT_OUT = "[…]\n"

Progress = Callable[[float], None]  # the share that is done
Keep = Callable[[bytes], str]  # stores the bytes of a picture, and returns their digest; raises OSError


def read_file(path: Path, stop: Stop, progress: Progress, keep: Keep, *, only_end: bool = False) -> Attachment:
    """Raises Refused or, when `stop` is asked, Stopped. `only_end`: of a text, its last lines."""
    try:
        return _read(path, stop, progress, keep, only_end)
    except FileNotFoundError:
        raise Refused(WhyNot.GONE) from None
    except PermissionError:
        raise Refused(WhyNot.FORBIDDEN) from None
    except (OSError, ValueError):  # ValueError: a name that no file can have
        raise Refused(WhyNot.UNREADABLE) from None


def _read(path: Path, stop: Stop, progress: Progress, keep: Keep, only_end: bool) -> Attachment:
    size = _size(path)
    head = _bytes(path, _HEAD_BYTES)
    if b"%PDF-" in head:
        _check_size(size, MOST_PDF_BYTES)
        text = pdf.text_of(path, MOST_CHARACTERS, stop, progress)
        kind = AttachmentKind.PDF
    elif (picture := pictures.kind_of(head)) is not None:
        if size > pictures.MOST_BYTES:  # of a text, its end could be attached
            raise Refused(WhyNot.PICTURE_FILE_TOO_LARGE, pictures.MOST_BYTES)
        return kept(pictures.picture_of(path, picture, stop), name_of(path), keep)
    elif only_end:
        text = end_of(_text(_bytes(path, _END_BYTES, size)), _END_BYTES)
        kind = AttachmentKind.TEXT
        size = len(text.encode())
    else:
        _check_size(size, MOST_FILE_BYTES)
        text = _text(_bytes(path, MOST_FILE_BYTES))
        kind = AttachmentKind.TEXT
    if len(text) > MOST_CHARACTERS:
        raise Refused(WhyNot.TOO_LONG, MOST_CHARACTERS)
    return Attachment(name_of(path), kind, text, size)


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


def _size(path: Path) -> int:
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
