"""Pictures as attachments: which files are pictures, and how one is decoded. That is left to a process of its own
(`picture_child`): such a file is a program that is not trusted. What it prints is a PNG that it has made itself."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from pathlib import Path

from app.documents.problems import Refused, WhyNot
from app.system.limited_child import ChildFailed, ChildLimits, ChildTookTooMuch, Stop, lines_of

MOST_BYTES = 50_000_000  # of the file
MOST_PIXELS = 64_000_000
MOST_SIDE = 30_000
MOST_RATIO = 200  # of the longer side to the shorter
STORED_SIDE = 2_048
SAFE_PIXELS = 12_000_000  # that a picture of any kind may have
# Ended between two looks at its memory, it stays below 300 MB.
LIMITS = ChildLimits(cpu_s=5, memory_bytes=280_000_000, output_bytes=32_000_000, address_bytes=2 << 30)

_NOT_READ = (b"II*\0", b"MM\0*", b"\0\0\1\0", b"\x00\x00\x00\x0cJXL ", b"\xff\x0a", b"icns")  # pictures, and no text
_BEGINNINGS: dict[str, tuple[bytes, ...]] = {
    "png": (b"\x89PNG\r\n\x1a\n",),
    "jpeg": (b"\xff\xd8\xff",),
    "gif": (b"GIF87a", b"GIF89a"),
    "": _NOT_READ,
}
_BRANDS = {b"heic": "heic", b"heix": "heic", b"mif1": "heic", b"msf1": "heic", b"avif": ""}
_BMP_HEADERS = (12, 40, 52, 56, 108, 124)  # their sizes: a text may begin with BM


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """`thumbnail`: a square JPEG, as base64."""

    width: int
    height: int
    png: bytes
    thumbnail: str


def kind_of(head: bytes) -> str | None:
    """What it is by its first bytes, as Qt names it; None: no picture; empty: one of a kind that is not read."""
    for kind, begins in _BEGINNINGS.items():
        if head.startswith(begins):
            return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADERS:
        return "bmp"
    if head[4:8] == b"ftyp" and head[8:12] in _BRANDS:
        return _BRANDS[head[8:12]]
    return None


def picture_of(path: Path, kind: str, stop: Stop) -> StoredPicture:
    """Raises Refused or, when `stop` is asked, Stopped."""
    if not kind:
        raise Refused(WhyNot.IMAGE)
    try:
        said = json.loads(next(iter(list(lines_of("--read-picture", [str(path), kind], LIMITS, stop))), b"{}"))
        if "why" in said:
            raise Refused(WhyNot(said["why"]), said.get("limit", 0))
        png = base64.b64decode(said["png"], validate=True)
        return StoredPicture(int(said["width"]), int(said["height"]), png, str(said["thumbnail"]))
    except ChildTookTooMuch:
        raise Refused(WhyNot.PICTURE_TOO_LARGE, SAFE_PIXELS) from None
    except (ChildFailed, ValueError, KeyError, TypeError, binascii.Error):
        raise Refused(WhyNot.PICTURE_DAMAGED) from None
