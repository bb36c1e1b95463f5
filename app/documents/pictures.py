"""Pictures as attachments: which files are pictures, and decoding them in another process (`picture_child`).

Such files are not trusted; the process prints a PNG that it has encoded itself.
"""

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
SAFE_PIXELS = 12_000_000  # pixels allowed for every kind of picture
# Memory limit: between two checks it stays below 300 MB.
LIMITS = ChildLimits(cpu_s=5, memory_bytes=280_000_000, output_bytes=32_000_000, address_bytes=2 << 30)

_NOT_READ = (b"II*\0", b"MM\0*", b"\0\0\1\0", b"\x00\x00\x00\x0cJXL ", b"\xff\x0a", b"icns")  # other formats
_BEGINNINGS: dict[str, tuple[bytes, ...]] = {
    "png": (b"\x89PNG\r\n\x1a\n",),
    "jpeg": (b"\xff\xd8\xff",),
    "gif": (b"GIF87a", b"GIF89a"),
    "": _NOT_READ,
}
_BRANDS = {b"heic": "heic", b"heix": "heic", b"mif1": "heic", b"msf1": "heic", b"avif": ""}
_BMP_HEADERS = (12, 40, 52, 56, 108, 124)  # header sizes; a text may begin with BM, too


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """`thumbnail`: a small JPEG, as base64."""

    width: int
    height: int
    png: bytes
    thumbnail: str


def kind_of(head: bytes) -> str | None:
    """Qt's name of the format by the first bytes; None: no picture; "": a format that is not read."""
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
