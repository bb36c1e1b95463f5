"""Why a file cannot be attached, as values that are put into words elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class WhyNot(StrEnum):
    IMAGE = "image"  # of a kind that is not read
    PICTURE_TOO_LARGE = "picture_too_large"  # too many pixels
    PICTURE_FILE_TOO_LARGE = "picture_file_too_large"
    PICTURE_TOO_NARROW = "picture_too_narrow"
    PICTURE_DAMAGED = "picture_damaged"
    NOT_STORED = "not_stored"  # the disk takes no picture
    BINARY = "binary"
    FOLDER = "folder"
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    TOO_LONG = "too_long"  # its text
    TOO_MANY = "too_many"
    GONE = "gone"
    FORBIDDEN = "forbidden"
    UNREADABLE = "unreadable"  # the disk does not answer, or it is no file
    ENCRYPTED = "encrypted"  # a PDF with a password
    SCANNED = "scanned"  # a PDF without text
    DAMAGED = "damaged"  # a PDF that cannot be read
    TOO_COMPLEX = "too_complex"  # a PDF that takes too much time or memory


@dataclass(frozen=True, slots=True)
class NotAttached:
    name: str
    why: WhyNot
    limit: int = 0  # bytes, characters, files or pixels, where one was exceeded
    path: str = ""  # of a file that can be taken another way
    can_search: bool = False  # as a document to search in
    has_end: bool = False  # which can be attached alone


class Refused(Exception):
    """A file cannot be read as text."""

    def __init__(self, why: WhyNot, limit: int = 0) -> None:
        super().__init__(why)
        self.why = why
        self.limit = limit
