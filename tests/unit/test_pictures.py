"""Strangers' pictures: decoded in a process of its own, with limits; what is stored of them, and what is refused."""

from __future__ import annotations

import resource
import signal
import struct
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QColorSpace, QImage

from app.documents import picture_values, pictures
from app.documents.pictures import StoredPicture, kind_of, picture_of
from app.documents.problems import Refused, WhyNot
from app.documents.sent_pictures import Decoder
from app.system.limited_child import Stop, Stopped
from engine import PictureProblem, PictureRefused
from tests.helpers.picture_files import image, pixels_of_png, png, rgb_png, with_orientation, written


def by_child(folder: Path, data: bytes, name: str = "a.png") -> StoredPicture:
    """As the app does it."""
    (folder / name).write_bytes(data)
    return picture_of(folder / name, kind_of(data[:1024]) or "", Stop())


def read(folder: Path, data: bytes) -> StoredPicture:
    """What the child does, without starting one."""
    (folder / "a").write_bytes(data)
    return picture_values.as_stored(picture_values.read_image(folder / "a", kind_of(data[:1024]) or ""))


def refusal(folder: Path, data: bytes, reads: Callable[[Path, bytes], StoredPicture] = read) -> WhyNot:
    with pytest.raises(Refused) as refused:
        reads(folder, data)
    return refused.value.why


def stored(picture: QImage) -> tuple[int, int, bytes]:
    made = picture_values.as_stored(picture)
    return pixels_of_png(made.png)


def first_pixel(picture: QImage) -> tuple[int, ...]:
    return tuple(stored(picture)[2][:3])


def test_a_picture_is_stored_with_exactly_its_pixels(tmp_path: Path) -> None:
    """Written and read again without Qt; the name says nothing about what it is."""
    rgb = bytes((7 * at * at + at // 3) & 0xFF for at in range(9 * 5 * 3))
    made = by_child(tmp_path, rgb_png(9, 5, rgb), "a.jpg")
    assert (made.width, made.height) == (9, 5)
    assert pixels_of_png(made.png) == (9, 5, rgb)
    assert picture_values.rgb_of(made.png) == (9, 5, rgb)
    assert picture_values.rgb_of(made.png[:60]) is None


def test_a_phones_picture_stands_upright_and_keeps_no_notes(tmp_path: Path) -> None:
    picture = image(40, 20, "red")
    picture.fill("red")
    for x in range(20):
        for y in range(20):
            picture.setPixelColor(x, y, "blue")
    made = read(tmp_path, with_orientation(written(picture, "jpeg"), 6, b"Makers Place"))
    width, height, rgb = pixels_of_png(made.png)
    assert (width, height) == (20, 40)
    top, bottom = rgb[:3], rgb[-3:]
    assert top[2] - top[0] > 200  # what was at the left is on top
    assert bottom[0] - bottom[2] > 200
    assert b"Makers" not in made.png
    assert b"Exif" not in made.png


@pytest.mark.parametrize("kind", ["jpeg", "webp", "bmp"])
def test_what_other_programs_save_is_read(tmp_path: Path, kind: str) -> None:
    made = read(tmp_path, written(image(300, 10), kind))
    assert (made.width, made.height) == (300, 10)
    assert all(abs(a - b) < 4 for a, b in zip(pixels_of_png(made.png)[2][:3], (0x2F, 0x4B, 0xD8), strict=True))


def test_a_large_one_is_stored_smaller(tmp_path: Path) -> None:
    made = read(tmp_path, written(image(4100, 1025), "jpeg"))
    assert (made.width, made.height) == (2048, 512)
    assert QImage.fromData(QByteArray.fromBase64(made.thumbnail.encode())).size().toTuple() == (128, 128)


def test_alpha_lies_on_white_and_what_is_deep_or_in_other_colours_becomes_srgb() -> None:
    form = QImage.Format
    assert first_pixel(image(2, 2, "transparent", form.Format_ARGB32)) == (255, 255, 255)
    assert first_pixel(image(2, 2, "#80ff0000", form.Format_ARGB32)) == (255, 127, 127)
    assert first_pixel(image(2, 2, "#123456", form.Format_RGBX64)) == (0x12, 0x34, 0x56)
    assert first_pixel(image(2, 2, "#123456", form.Format_ARGB32_Premultiplied)) == (0x12, 0x34, 0x56)
    wide = image(2, 2, "#00ff00")
    wide.setColorSpace(QColorSpace(QColorSpace.NamedColorSpace.AdobeRgb))
    assert first_pixel(wide) == (0, 255, 0)
    wide.fill("#808000")
    assert first_pixel(wide) != (0x80, 0x80, 0)
    palette = image(2, 2, "white", form.Format_Mono)
    palette.setColorTable([0xFF336699, 0xFFFFFFFF])
    palette.fill(0)
    assert first_pixel(palette) == (0x33, 0x66, 0x99)


def test_a_picture_for_print_is_read(tmp_path: Path) -> None:
    made = read(tmp_path, written(image(64, 64, "#00ff00").convertToFormat(QImage.Format.Format_CMYK8888), "jpeg"))
    red, green, blue = pixels_of_png(made.png)[2][:3]
    assert green > 200
    assert max(red, blue) < 60


@pytest.mark.costly
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (png(10_000, 10_000), WhyNot.PICTURE_TOO_LARGE),
        (png(30_001, 200), WhyNot.PICTURE_TOO_LARGE),
        (png(1, 300), WhyNot.PICTURE_TOO_NARROW),
        (png(0, 5), WhyNot.PICTURE_DAMAGED),
        (png(64, 64, lines=bytes(500)), WhyNot.PICTURE_DAMAGED),
        (b"\x89PNG\r\n\x1a\n" + bytes(64), WhyNot.PICTURE_DAMAGED),
        (b"RIFF\0\0\0\0WEBPVP8 ", WhyNot.PICTURE_DAMAGED),
        (b"GIF89a" + bytes(20), WhyNot.PICTURE_DAMAGED),
    ],
    ids=lambda each: each if isinstance(each, str) else "data",
)
def test_what_is_no_sound_picture_of_a_possible_size_is_refused(tmp_path: Path, data: bytes, why: WhyNot) -> None:
    assert refusal(tmp_path, data) is why


def test_a_cut_jpeg_is_refused(tmp_path: Path) -> None:
    """Its decoder would make grey of what is missing."""
    whole = with_orientation(written(image(400, 300), "jpeg"), 1)
    assert refusal(tmp_path, whole[: len(whole) * 2 // 3], by_child) is WhyNot.PICTURE_DAMAGED
    assert refusal(tmp_path, whole[:4], by_child) is WhyNot.PICTURE_DAMAGED
    assert refusal(tmp_path, b"\0\0\0\x18ftypavif" + bytes(64), by_child) is WhyNot.IMAGE
    assert by_child(tmp_path, whole + b"what a phone puts behind it").width == 400


@pytest.mark.costly
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"no picture", PictureProblem.KIND),
        (png(10_000, 10_000), PictureProblem.TOO_LARGE),
        (png(1, 300), PictureProblem.TOO_NARROW),
        (b"GIF89a" + bytes(20), PictureProblem.DAMAGED),
    ],
    ids=lambda each: each if isinstance(each, str) else "data",
)
def test_what_a_program_sends_is_refused_with_the_same_reasons(data: bytes, why: PictureProblem) -> None:
    with pytest.raises(PictureRefused) as refused:
        Decoder()(data)
    assert refused.value.why is why


def test_where_the_disk_takes_no_file_that_is_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "full"))
    with pytest.raises(PictureRefused) as refused:
        Decoder()(png(2, 2))
    assert refused.value.why is PictureProblem.NO_ROOM


def test_a_stop_ends_every_child_that_runs_and_lets_none_begin() -> None:
    stop, decoder = Stop(), Decoder()
    children = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
    for child in children[:2]:
        stop.hold(child)
    stop.ask()
    stop.hold(children[2])
    assert [child.wait() for child in children] == [-signal.SIGKILL] * 3
    decoder.stop()
    with pytest.raises(Stopped):
        decoder(png(2, 2))


BOMBS = [
    png(8000, 8000, lines=bytes(1 << 20)),
    png(7000, 7000, lines=bytes(7000 * 3000)),
]


@pytest.mark.parametrize("bomb", BOMBS, ids=("large", "cut"))
def test_a_bomb_takes_neither_much_time_nor_memory(tmp_path: Path, bomb: bytes) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    assert refusal(tmp_path, bomb, by_child) in (WhyNot.PICTURE_TOO_LARGE, WhyNot.PICTURE_DAMAGED)
    # A fifth of it on a quiet machine.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 2.0


def test_what_a_name_says_is_not_believed() -> None:
    assert kind_of(b"<svg xmlns='http://www.w3.org/2000/svg' width='100000' height='100000'/>") is None
    assert kind_of(b"BMW is a maker of cars and motorcycles") is None
    assert kind_of(b"BM" + bytes(12) + struct.pack("<I", 40)) == "bmp"
    assert kind_of(b"\0\0\0\x18ftypheic") == "heic"
    assert kind_of(b"P6 4 4 255 ") is None
    assert pictures.LIMITS.memory_bytes <= 300 << 20
