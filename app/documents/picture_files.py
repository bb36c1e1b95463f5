"""Checks of a picture file that its decoder does not make. No Qt.

Decoders of JPEG, GIF and BMP fill missing parts with grey or black, a JPEG may overwrite its pixels many times, and Qt
reads the orientation of JPEG alone.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import suppress

from app.documents.problems import Refused, WhyNot

MOST_READ_BYTES = 210_000_000  # of a whole picture, in memory while it is made smaller
UPRIGHT = 1

_MOST_SCANNED = 1_000_000_000  # pixels in all scans of a JPEG
_MOST_PARTS = 250_000  # of a file
_JPEG_MARK = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
_JPEG_FRAMES = (0xC0, 0xC1, 0xC2, 0xC9, 0xCA)
_ORIENTATION = 0x0112


def check_file(kind: str, data: bytes) -> None:
    """Raises Refused."""
    try:
        if kind == "jpeg":
            _check_jpeg(data)
        elif (kind == "gif" and not _has_first_frame(data)) or (kind == "bmp" and not _has_all_lines(data)):
            raise Refused(WhyNot.PICTURE_DAMAGED)
    except (IndexError, ValueError, struct.error, ZeroDivisionError):
        raise Refused(WhyNot.PICTURE_DAMAGED) from None


def orientation_in(kind: str, data: bytes) -> int:
    """The EXIF orientation, 1 to 8, of a PNG or a WebP."""
    with suppress(IndexError, struct.error):
        for name, body in _chunks(kind, data):
            if name in (b"eXIf", b"EXIF"):
                return _of_exif(body.removeprefix(b"Exif\0\0"))
    return UPRIGHT


def _check_jpeg(data: bytes) -> None:
    """Check that it has an end, and the decoder's work and memory for it."""
    pixels = kept_bytes = scans = 0
    at = 2
    for _ in range(_MOST_PARTS):
        if (found := _JPEG_MARK.search(data, at)) is None:
            break
        mark = found[0][1]
        at = found.end()
        if mark == 0xD9 and scans:
            return
        if mark in _JPEG_FRAMES:
            pixels, kept_bytes = _size_of_jpeg(data[at : at + 776])
        scans += mark == 0xDA
        if scans > 1 and scans * pixels > _MOST_SCANNED:
            break
        if (mark in (0xC2, 0xCA) or scans > 1) and kept_bytes > MOST_READ_BYTES:
            raise Refused(WhyNot.PICTURE_TOO_LARGE, pixels * MOST_READ_BYTES // kept_bytes)
        at += 0 if mark in (0x01, 0xD8, 0xD9) else int.from_bytes(data[at : at + 2], "big")
    raise Refused(WhyNot.PICTURE_DAMAGED)


def _size_of_jpeg(frame: bytes) -> tuple[int, int]:
    """Pixels, and the bytes that a decoder keeps between several scans."""
    height, width, components = struct.unpack_from(">HHB", frame, 3)
    samples = [(each >> 4) * (each & 15) for each in frame[9 : 8 + 3 * components : 3]]
    return width * height, 2 * width * height * sum(samples) // max(samples)


def _has_first_frame(data: bytes) -> bool:
    """Whether a GIF has a complete first frame."""
    at = 13 + _table_bytes(data[10])
    parts = _MOST_PARTS
    while parts:
        is_frame = data[at] == 0x2C
        if not is_frame and data[at] != 0x21:
            return False
        at += 11 + _table_bytes(data[at + 9]) if is_frame else 2
        while data[at] and parts:
            at = at + 1 + data[at]
            parts -= 1
        if is_frame:
            return parts > 0
        at += 1
        parts = max(0, parts - 1)
    return False


def _table_bytes(flags: int) -> int:
    """Bytes of the colour table that follows in a GIF."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _has_all_lines(data: bytes) -> bool:
    """Whether a BMP is complete; for packed ones the decoder checks."""
    start, header = struct.unpack_from("<II", data, 10)
    width, height, _planes, bits = struct.unpack_from("<HHHH" if header == 12 else "<iiHH", data, 18)
    is_packed = header != 12 and struct.unpack_from("<I", data, 30)[0] in (1, 2)
    return is_packed or start + (abs(width) * bits + 31) // 32 * 4 * abs(height) <= len(data)


def _chunks(kind: str, data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks with their names."""
    at = 8 if kind == "png" else 12
    for _ in range(_MOST_PARTS):
        if at + 8 > len(data):
            return
        if kind == "png":
            size, name = struct.unpack_from(">I4s", data, at)
            after = 4
        else:
            name, size = struct.unpack_from("<4sI", data, at)
            after = size & 1
        yield name, data[at + 8 : at + 8 + size]
        at += 8 + size + after


def _of_exif(exif: bytes) -> int:
    order = "<" if exif[:2] == b"II" else ">"
    (first,) = struct.unpack_from(order + "I", exif, 4)
    (entries,) = struct.unpack_from(order + "H", exif, first)
    for at in range(first + 2, first + 2 + 12 * entries, 12):
        tag, _kind, _count, value = struct.unpack_from(order + "HHIH", exif, at)
        if tag == _ORIENTATION:
            return int(value)
    return UPRIGHT
