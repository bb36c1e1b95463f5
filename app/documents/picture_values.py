"""Pictures as QImage: read from a file with limits, converted for storage, and back into pixels.

Stored is our own PNG of at most 2,048 pixels a side: sRGB, upright, without alpha and without metadata such as place
and time. Needs no QGuiApplication.
"""

from __future__ import annotations

import base64
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QColorSpace, QImage, QImageReader, QImageWriter, QPainter, QTransform

from app.documents.picture_files import MOST_READ_BYTES, UPRIGHT, check_file, orientation_in
from app.documents.pictures import MOST_PIXELS, MOST_RATIO, MOST_SIDE, STORED_SIDE, StoredPicture
from app.documents.problems import Refused, WhyNot
from app.system.small_file import read_small

Image = QImage  # the name for modules that only pass it on
THUMBNAIL_PX = 400, 320  # half of it on a screen of twice the density
_LEAST_THUMBNAIL_PX = 128  # its longer side, of a smaller picture
_THUMBNAIL_QUALITIES = (80, 60, 40, 20)
_MOST_THUMBNAIL_BYTES = 45_000
_DOTS_PER_METER = 2835  # else Qt takes the screen's, and one picture would have different bytes
# MEASURED: what reading takes for each pixel, with the copy that is made to scale it.
_BYTES_A_PIXEL = {
    QImage.Format.Format_RGB32: 4,
    QImage.Format.Format_Mono: 6,
    QImage.Format.Format_Indexed8: 6,
    QImage.Format.Format_Grayscale8: 6,
    QImage.Format.Format_RGBX64: 9,
    QImage.Format.Format_Grayscale16: 12,
    QImage.Format.Format_RGBA64: 9,
}
_USUAL_A_PIXEL = 8
_PLAIN_WEBP_A_PIXEL = 4
_WEBP_A_PIXEL = 14
# By EXIF's orientation: whether left and right change places, and by how much it is turned then.
_TURNS = {2: (True, 0), 3: (False, 180), 4: (True, 180), 5: (True, 270), 6: (False, 90), 7: (True, 90), 8: (False, 270)}
SIPS = Path("/usr/bin/sips")
_SIPS_S = 20
_PNG_QUALITY = 70  # effort of zlib, as Qt counts it; always lossless


def can_read(kind: str) -> bool:
    if kind == "heic":
        return SIPS.is_file()
    return kind.encode() in {bytes(each.data()) for each in QImageReader.supportedImageFormats()}


def read_image(path: Path, kind: str) -> QImage:
    """The first frame, upright, and smaller where it is larger than what is stored. Raises Refused."""
    if kind == "heic":
        with TemporaryDirectory() as folder:
            copy = Path(folder) / "picture.heic"  # its own name would be on a command line
            copy.write_bytes(read_small(path))
            return read_image(_as_jpeg(copy, Path(folder)), "jpeg")
    data = read_small(path)
    check_file(kind, data)
    reader = QImageReader(str(path), QByteArray(kind.encode()))
    reader.setAutoDetectImageFormat(False)
    reader.setAutoTransform(True)
    size = reader.size()
    if kind == "bmp":
        size.setHeight(abs(size.height()))  # negative: the lines are in reverse order
    if not size.isValid() or size.isEmpty():
        raise Refused(WhyNot.PICTURE_DAMAGED)
    check_size(size.width(), size.height(), _most_pixels(kind, reader.imageFormat(), data))
    orientation = orientation_in(kind, data) if kind in ("png", "webp") else UPRIGHT
    del data  # it may be as large as the picture
    image = _read_small(reader, size)
    if image.isNull():
        raise Refused(WhyNot.PICTURE_DAMAGED)
    return _upright(image, orientation)


def _as_jpeg(path: Path, folder: Path) -> Path:
    """By macOS's own program: Qt would hold a phone's 24 or 48 megapixels twice. Raises Refused."""
    made = folder / "picture.jpg"
    try:
        told = _sips("-g", "pixelWidth", "-g", "pixelHeight", path)
        width, height = map(int, re.findall(r"(?m)^  pixel(?:Width|Height): (\d+)$", told))
        check_size(width, height)
        smaller = ("-Z", STORED_SIDE) if max(width, height) > STORED_SIDE else ()  # it would make others larger
        _sips("-s", "format", "jpeg", "-s", "formatOptions", "best", *smaller, path, "--out", made)
    except (OSError, ValueError, subprocess.SubprocessError):
        raise Refused(WhyNot.PICTURE_DAMAGED) from None
    return made


def _sips(*arguments: object) -> str:
    command = [str(SIPS), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=_SIPS_S).stdout


def _read_small(reader: QImageReader, size: QSize) -> QImage:
    if reader.imageFormat() != QImage.Format.Format_RGBA64:
        reader.setScaledSize(_fitting(size))
        return reader.read()
    image = reader.read()
    if image.isNull() or _fitting(size) == size:
        return image
    # Scaled in place: MEASURED, Qt would scale a second copy with as many bits.
    image.convertTo(QImage.Format.Format_ARGB32_Premultiplied)
    return _scaled(image)


def _most_pixels(kind: str, form: QImage.Format, data: bytes) -> int:
    """Most pixels that fit into MOST_READ_BYTES while scaling. JPEG decoders scale by themselves."""
    each = _BYTES_A_PIXEL.get(form, _USUAL_A_PIXEL)
    if kind == "webp":
        each = _PLAIN_WEBP_A_PIXEL if data[12:16] == b"VP8 " else _WEBP_A_PIXEL
    return min(MOST_PIXELS, MOST_PIXELS if kind == "jpeg" else MOST_READ_BYTES // each)


def _upright(image: QImage, orientation: int) -> QImage:
    mirrored, degrees = _TURNS.get(orientation, (False, 0))
    if mirrored:
        image = image.flipped(Qt.Orientation.Horizontal)
    return image.transformed(QTransform().rotate(degrees)) if degrees else image


def check_size(width: int, height: int, most: int = MOST_PIXELS) -> None:
    """Raises Refused."""
    longest = max(width, height)
    pixels = width * height
    if longest > MOST_SIDE:
        most = min(most, pixels * MOST_SIDE**2 // longest**2)  # a picture of this shape
    if pixels > most:
        raise Refused(WhyNot.PICTURE_TOO_LARGE, most)
    if longest > MOST_RATIO * min(width, height):
        raise Refused(WhyNot.PICTURE_TOO_NARROW)


def as_stored(image: QImage) -> StoredPicture:
    """Raises Refused for an extreme aspect ratio, as pasted pictures may have."""
    if image.isNull():
        raise Refused(WhyNot.PICTURE_DAMAGED)
    check_size(image.width(), image.height())
    if max(image.width(), image.height()) > STORED_SIDE:
        image = _scaled(image)
    page = _on_white(_in_srgb(image))
    return StoredPicture(page.width(), page.height(), _written(page, b"png", _PNG_QUALITY), _thumbnail(page))


def image_of(png: bytes) -> QImage | None:
    """The image of a stored PNG; None if it is damaged."""
    image = QImage.fromData(png, "PNG")  # type: ignore[arg-type]
    return None if image.isNull() else image


def rgb_of(png: bytes) -> tuple[int, int, bytes] | None:
    """Width, height and three bytes a pixel of a stored PNG; None if it is damaged."""
    found = image_of(png)
    if found is None:
        return None
    image = found.convertToFormat(QImage.Format.Format_RGB888)
    line = image.width() * 3
    data = bytes(image.constBits())
    stride = image.bytesPerLine()
    if stride != line:
        data = b"".join(data[at : at + line] for at in range(0, stride * image.height(), stride))
    return image.width(), image.height(), data


def _fitting(size: QSize) -> QSize:
    if max(size.width(), size.height()) <= STORED_SIDE:
        return size
    return size.scaled(STORED_SIDE, STORED_SIDE, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))


def _scaled(image: QImage) -> QImage:
    mode = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    return image.scaled(_fitting(image.size()), *mode)


def _in_srgb(image: QImage) -> QImage:
    plain = QColorSpace(QColorSpace.NamedColorSpace.SRgb)
    if not image.colorSpace().isValid() or image.colorSpace() == plain:
        return image
    made = image.convertedToColorSpace(plain, QImage.Format.Format_ARGB32)
    return image if made.isNull() else made


def _on_white(image: QImage) -> QImage:
    """A copy on white, which drops everything else from the file."""
    page = QImage(image.size(), QImage.Format.Format_RGB888)
    if page.isNull():
        raise Refused(WhyNot.PICTURE_TOO_LARGE)
    page.fill(Qt.GlobalColor.white)
    image.setDevicePixelRatio(1.0)
    with QPainter(page) as painter:
        painter.drawImage(0, 0, image.convertToFormat(QImage.Format.Format_ARGB32))
    return page


def _thumbnail(image: QImage) -> str:
    """In the picture's shape, no larger than it is unless it is tiny; a JPEG as base64."""
    most = QSize(*THUMBNAIL_PX)
    size = image.size().scaled(most, Qt.AspectRatioMode.KeepAspectRatio)
    if size.width() > image.width():
        least = max(_LEAST_THUMBNAIL_PX, image.width(), image.height())
        size = image.size().scaled(most.boundedTo(QSize(least, least)), Qt.AspectRatioMode.KeepAspectRatio)
    mode = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    small = image.scaled(size.expandedTo(QSize(1, 1)), *mode)
    tried = (_written(small, b"jpeg", quality) for quality in _THUMBNAIL_QUALITIES)
    jpeg = next((each for each in tried if len(each) <= _MOST_THUMBNAIL_BYTES), b"")
    return base64.b64encode(jpeg).decode()


def _written(image: QImage, kind: bytes, quality: int) -> bytes:
    image.setDotsPerMeterX(_DOTS_PER_METER)
    image.setDotsPerMeterY(_DOTS_PER_METER)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(kind))
    writer.setQuality(quality)
    if not writer.write(image):
        raise Refused(WhyNot.PICTURE_TOO_LARGE)
    return bytes(buffer.data().data())
