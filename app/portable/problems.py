"""Reasons why chats cannot be exported or imported; worded elsewhere."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from enum import StrEnum


class WhyNotWritten(StrEnum):
    FULL = "full"  # no room on the disk
    FORBIDDEN = "forbidden"
    GONE = "gone"  # the folder does not exist
    DISK = "disk"  # it fails


class WhyNotRead(StrEnum):
    """Of a file, or of one chat in it."""

    UNKNOWN = "unknown"  # unknown format
    EMPTY = "empty"  # a chat without messages, or a file without chats
    NOT_JSON = "not_json"
    TRUNCATED = "truncated"
    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"  # nested
    DUPLICATE = "duplicate"  # one name twice in an object
    CIRCLE = "circle"  # messages form a cycle
    WRONG = "wrong"  # a value has the wrong type
    NEWER = "newer"  # written by a newer version of this app
    ENCRYPTED = "encrypted"
    GONE = "gone"
    FORBIDDEN = "forbidden"
    DISK = "disk"
    TOO_MUCH = "too_much"  # reading took too much time or memory


@dataclass(frozen=True, slots=True)
class NotExported:
    why: WhyNotWritten
    folder: str


@dataclass(frozen=True, slots=True)
class NotImported:
    """`chat`: its title, or "" for the whole file."""

    file: str
    why: WhyNotRead
    chat: str = ""


class Unreadable(Exception):
    def __init__(self, why: WhyNotRead) -> None:
        super().__init__(why)
        self.why = why


_WRITING = {
    errno.ENOSPC: WhyNotWritten.FULL,
    errno.EDQUOT: WhyNotWritten.FULL,
    errno.EFBIG: WhyNotWritten.FULL,
    errno.EACCES: WhyNotWritten.FORBIDDEN,
    errno.EPERM: WhyNotWritten.FORBIDDEN,
    errno.EROFS: WhyNotWritten.FORBIDDEN,
    errno.ENOENT: WhyNotWritten.GONE,
    errno.ENOTDIR: WhyNotWritten.GONE,
}


def why_not_written(error: OSError) -> WhyNotWritten:
    return _WRITING.get(error.errno or 0, WhyNotWritten.DISK)


def why_not_read(error: OSError) -> WhyNotRead:
    known = {errno.ENOENT: WhyNotRead.GONE, errno.EACCES: WhyNotRead.FORBIDDEN, errno.EPERM: WhyNotRead.FORBIDDEN}
    return known.get(error.errno or 0, WhyNotRead.DISK)
