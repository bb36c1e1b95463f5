"""Picture files made by hand and by Qt: sound ones, damaged ones, and bombs."""

from __future__ import annotations

import struct
import zlib

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QColor, QImage, QImageWriter


def png(width: int, height: int, *, lines: bytes = b"", depth: int = 8, colours: int = 2) -> bytes:
    """`lines`: of the picture, each with its filter before it; it may be fewer than the header says."""
    head = struct.pack(">IIBBBBB", width, height, depth, colours, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def rgb_png(width: int, height: int, rgb: bytes) -> bytes:
    line = width * 3
    return png(width, height, lines=b"".join(b"\0" + rgb[at : at + line] for at in range(0, len(rgb), line)))


def pixels_of_png(data: bytes) -> tuple[int, int, bytes]:
    """Read without Qt: of a PNG of 8 bits a channel without alpha, as the app makes them."""
    at, packed, width, height = 8, b"", 0, 0
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        if name == b"IHDR":
            width, height, *kind = struct.unpack(">IIBBBBB", body)
            assert kind == [8, 2, 0, 0, 0]
        packed += body if name == b"IDAT" else b""
        at += 12 + size
    return width, height, _unfiltered(zlib.decompress(packed), width * 3)


def _unfiltered(lines: bytes, width: int) -> bytes:
    before, made = bytearray(width), bytearray()
    for at in range(0, len(lines), width + 1):
        kind, line = lines[at], bytearray(lines[at + 1 : at + 1 + width])
        for place in range(width):
            left = line[place - 3] if place >= 3 else 0
            corner = before[place - 3] if place >= 3 else 0
            line[place] = (line[place] + _predicted(kind, left, before[place], corner)) & 0xFF
        made += line
        before = line
    return bytes(made)


def _predicted(kind: int, left: int, above: int, corner: int) -> int:
    if kind == 4:
        likely = left + above - corner
        return min((left, above, corner), key=lambda each: abs(likely - each))
    return (0, left, above, (left + above) // 2)[kind]


def image(width: int, height: int, colour: str = "#2f4bd8", form: QImage.Format = QImage.Format.Format_RGB32) -> QImage:
    made = QImage(width, height, form)
    made.fill(QColor(colour))
    return made


def written(picture: QImage, kind: str, quality: int = 95) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(kind.encode()))
    writer.setQuality(quality)
    assert writer.write(picture), writer.errorString()
    return bytes(buffer.data().data())


def exif(orientation: int, note: bytes = b"") -> bytes:
    """As a phone writes it, with a word of its maker."""
    maker = note.ljust(4, b"\0")
    entries = struct.pack(">HHIHH", 0x0112, 3, 1, orientation, 0) + struct.pack(">HHII", 0x010F, 2, len(maker), 38)
    return b"MM\0*" + struct.pack(">IH", 8, 2) + entries + struct.pack(">I", 0) + maker


def with_orientation(jpeg: bytes, orientation: int, note: bytes = b"") -> bytes:
    body = b"Exif\0\0" + exif(orientation, note)
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:]


def png_with_orientation(data: bytes, orientation: int) -> bytes:
    return data[:33] + _chunk(b"eXIf", exif(orientation)) + data[33:]


def webp_with_orientation(data: bytes, orientation: int, width: int, height: int) -> bytes:
    """Of a simple one."""
    about = bytes([8, 0, 0, 0]) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    note = exif(orientation)
    parts = b"WEBP" + _riff(b"VP8X", about) + data[12:] + _riff(b"EXIF", note)
    return b"RIFF" + struct.pack("<I", len(parts)) + parts


def _riff(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def jpeg_header(width: int, height: int, *, progressive: bool, samples: tuple[int, ...], scans: int = 1) -> bytes:
    """With no pixels behind it; `samples`: a byte for each component, as the format has it."""
    parts = b"".join(bytes([number, each, 0]) for number, each in enumerate(samples))
    frame = struct.pack(">HBHHB", 8 + len(parts), 8, height, width, len(samples)) + parts
    scan = b"\xff\xda\0\x06\1\0\0\0"
    return b"\xff\xd8\xff" + (b"\xc2" if progressive else b"\xc0") + frame + scan * scans + b"\xff\xd9"
