"""resources/app_icon.icns of resources/app_icon.svg: run this after a change of the drawing, and commit what it writes.

python packaging/mac/icns.py
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QGuiApplication, QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgRenderer

RESOURCES = Path(__file__).resolve().parents[2] / "resources"
_TYPES = {
    b"ic04": 16,
    b"ic05": 32,
    b"ic07": 128,
    b"ic08": 256,
    b"ic09": 512,
    b"ic10": 1024,
    b"ic11": 32,  # for screens of twice the density
    b"ic12": 64,
    b"ic13": 256,
    b"ic14": 512,
}
_PACKED = (b"ic04", b"ic05")  # as Apple's iconutil has them: a PNG of this size is not drawn for an app


def write_icns(drawing: Path, target: Path) -> None:
    parts = [(kind, (argb if kind in _PACKED else png)(drawing, size)) for kind, size in _TYPES.items()]
    body = b"".join(kind + struct.pack(">I", len(data) + 8) + data for kind, data in parts)
    target.write_bytes(b"icns" + struct.pack(">I", len(body) + 8) + body)


def argb(drawing: Path, size: int) -> bytes:
    """The channels one after another, packed: a byte n below 128 before n + 1 of them, else before one to repeat."""
    image = drawn(drawing, size).convertToFormat(QImage.Format.Format_ARGB32)
    pixels = bytes(image.constBits())  # rows of 4-byte pixels, blue first
    return b"ARGB" + b"".join(map(_packed, (pixels[at::4] for at in (3, 2, 1, 0))))


def _packed(channel: bytes) -> bytes:
    """Runs of three to 130; none takes the last byte, since macOS drops a run at the end."""
    packed, plain, at, end = b"", b"", 0, len(channel) - 1
    while at < len(channel):
        run = 1
        while run < 130 and at + run < end and channel[at + run] == channel[at]:
            run += 1
        if run >= 3:
            packed += _plain(plain) + bytes((run + 125, channel[at]))
            plain, at = b"", at + run
        else:
            plain, at = plain + channel[at : at + 1], at + 1
    return packed + _plain(plain)


def _plain(data: bytes) -> bytes:
    return b"".join(bytes((len(part) - 1,)) + part for part in (data[at : at + 128] for at in range(0, len(data), 128)))


def png(drawing: Path, size: int) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, b"png").write(drawn(drawing, size))
    return bytes(buffer.data().data())


def drawn(drawing: Path, size: int) -> QImage:
    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(drawing)).render(painter)
    painter.end()
    return image


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QGuiApplication([])
    write_icns(RESOURCES / "app_icon.svg", RESOURCES / "app_icon.icns")
