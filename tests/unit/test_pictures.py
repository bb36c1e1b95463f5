"""Strangers' pictures: decoded in a process of its own, with limits; what is stored of them, and what is refused."""

from __future__ import annotations

import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QColor, QColorSpace, QImage

from app.documents import picture_values, pictures
from app.documents.pictures import StoredPicture, kind_of, picture_of
from app.documents.problems import NotAttached, Refused, WhyNot
from app.documents.sent_pictures import Decoder
from app.system.limited_child import ChildStopped, Stop
from app.words.notices_for_errors import not_attached
from engine import PictureProblem, PictureRefused
from tests.helpers.figures import read as read_figures
from tests.helpers.picture_files import (
    image,
    jpeg_header,
    pixels_of_png,
    png,
    png_with_orientation,
    rgb_png,
    webp_with_orientation,
    with_orientation,
    written,
)

ROOT = Path(__file__).parents[2]


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


def thumbnail_of(made: StoredPicture) -> QImage:
    return QImage.fromData(QByteArray.fromBase64(made.thumbnail.encode()))


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


CORNERS = "red", "lime", "blue", "white"  # from the left above, line by line
TURNED = {1: "0123", 2: "1032", 3: "3210", 4: "2301", 5: "0213", 6: "2031", 7: "3120", 8: "1302"}  # by the standard


@pytest.mark.parametrize("orientation", TURNED)
@pytest.mark.parametrize("kind", ["jpeg", "png", "webp"])
def test_all_ways_to_hold_a_phone_stand_upright_without_notes(tmp_path: Path, kind: str, orientation: int) -> None:
    picture = image(64, 32)
    for number, colour in enumerate(CORNERS):
        row, column = divmod(number, 2)
        for x in range(32):
            for y in range(16):
                picture.setPixelColor(32 * column + x, 16 * row + y, colour)
    data = written(picture, kind, 100)
    if kind == "jpeg":
        data = with_orientation(data, orientation, b"Makers Place")
    elif kind == "png":
        data = png_with_orientation(data, orientation)
    else:
        data = webp_with_orientation(data, orientation, 64, 32)
    made = read(tmp_path, data)
    wide, high = (64, 32) if orientation < 5 else (32, 64)
    assert (made.width, made.height) == (wide, high)
    assert b"Makers" not in made.png
    assert b"Exif" not in made.png
    page = QImage.fromData(made.png)
    for number, wanted in enumerate(TURNED[orientation]):
        row, column = divmod(number, 2)
        seen = page.pixelColor(wide // 4 + column * wide // 2, high // 4 + row * high // 2)
        right = QColor(CORNERS[int(wanted)])
        told = [(each.red(), each.green(), each.blue()) for each in (seen, right)]
        assert max(abs(a - b) for a, b in zip(*told, strict=True)) < 60, number


@pytest.mark.parametrize(("width", "height", "smaller"), [(8064, 6048, True), (5712, 4284, True), (1600, 1200, False)])
def test_photos_of_a_phone_are_made_small_by_macos(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, height: int, smaller: bool
) -> None:
    """A stand-in for its program: Qt has no decoder for them elsewhere."""
    program, calls, photo = tmp_path / "sips", tmp_path / "calls", tmp_path / "a photo.heic"
    (tmp_path / "made").write_bytes(written(image(40, 30), "jpeg"))
    program.write_text(
        f'#!/bin/sh\necho "$*" >>"{calls}"\ncase "$1" in\n'
        f'-g) printf "%s\\n  pixelWidth: {width}\\n  pixelHeight: {height}\\n" "$5" ;;\n'
        f'*) for out; do :; done; cp "{tmp_path}/made" "$out" ;;\nesac\n'
    )
    program.chmod(0o755)
    photo.write_bytes(b"\0\0\0\x18ftypheic")
    monkeypatch.setattr(picture_values, "SIPS", program)
    assert picture_values.can_read("heic")
    found = picture_values.read_image(photo, "heic")
    assert (found.width(), found.height()) == (40, 30)
    assert ("-Z 2048" in calls.read_text(), "a photo" in calls.read_text()) == (smaller, False)
    program.write_text("#!/bin/sh\nexit 13\n")
    with pytest.raises(Refused) as refused:
        picture_values.read_image(photo, "heic")
    assert refused.value.why is WhyNot.PICTURE_DAMAGED


@pytest.mark.parametrize("kind", ["jpeg", "webp", "bmp"])
def test_what_other_programs_save_is_read(tmp_path: Path, kind: str) -> None:
    made = read(tmp_path, written(image(300, 10), kind))
    assert (made.width, made.height) == (300, 10)
    assert all(abs(a - b) < 4 for a, b in zip(pixels_of_png(made.png)[2][:3], (0x2F, 0x4B, 0xD8), strict=True))


def test_a_bitmap_whose_first_line_is_the_one_above_is_read(tmp_path: Path) -> None:
    """As programs of Windows and screenshots have it; usually it is the one below."""
    picture = image(40, 3, "red")
    for x in range(40):
        picture.setPixelColor(x, 2, "blue")
    data = written(picture, "bmp")
    made = read(tmp_path, data[:22] + struct.pack("<i", -3) + data[26:])
    width, height, rgb = pixels_of_png(made.png)
    assert (width, height) == (40, 3)
    assert (rgb[:3], rgb[-3:]) == (b"\0\0\xff", b"\xff\0\0")
    assert refusal(tmp_path, data[:22] + struct.pack("<i", -4) + data[26:]) is WhyNot.PICTURE_DAMAGED


def test_the_screenshot_of_a_large_screen_with_deep_colours_is_read(tmp_path: Path) -> None:
    """What is half clear is half white, and nothing on the way takes more memory than a child may have."""
    red = struct.pack(">4H", 0xFFFF, 0, 0, 0xFFFF)
    clear = struct.pack(">4H", 0, 0, 0xFFFF, 0x8000)
    line = b"\0" + red * 2560 + clear * 2560
    made = by_child(tmp_path, png(5120, 2880, lines=line * 2880, depth=16, colours=6))
    assert (made.width, made.height) == (2048, 1152)
    page = QImage.fromData(made.png)
    assert [page.pixelColor(x, 500).name() for x in (100, 1900)] == ["#ff0000", "#7f7fff"]


def test_a_large_one_is_stored_smaller(tmp_path: Path) -> None:
    made = read(tmp_path, written(image(4100, 1025), "jpeg"))
    assert (made.width, made.height) == (2048, 512)
    assert thumbnail_of(made).size().toTuple() == (400, 100)


def test_a_thumbnail_has_the_pictures_shape_and_few_bytes_whatever_is_in_it() -> None:
    for size, small in (((300, 200), (300, 200)), ((30, 20), (128, 85)), ((1000, 2000), (160, 320))):
        assert thumbnail_of(picture_values.as_stored(image(*size))).size().toTuple() == small
    noise = QImage(random.Random(1).randbytes(400 * 320 * 4), 400, 320, QImage.Format.Format_RGB32)
    made = picture_values.as_stored(noise)
    assert thumbnail_of(made).size().toTuple() == (400, 320)
    assert len(made.thumbnail) < 64_000


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


@pytest.mark.parametrize("kind", ["bmp", "gif"])
def test_one_whose_decoder_would_make_black_of_what_is_missing_is_refused(tmp_path: Path, kind: str) -> None:
    whole = written(image(300, 200), kind) if kind == "bmp" else GIF
    assert read(tmp_path, whole).width == (300 if kind == "bmp" else 3)
    for size in (len(whole) - 20 if kind == "bmp" else len(whole) - 4, 60 if kind == "bmp" else 12):
        assert refusal(tmp_path, whole[:size]) is WhyNot.PICTURE_DAMAGED


GIF = bytes.fromhex("47494638376103000200810000000000ffffff0000000000002c000000000300020000080700030010283020003b")


@pytest.mark.parametrize(
    ("data", "most"),
    [
        (png(7200, 7200, colours=6), 26_250_000),  # it is converted before it is made smaller
        (png(7200, 7200, colours=0), 35_000_000),
        (png(8000, 8000), 52_500_000),
        (png(4900, 4900, depth=16, colours=6), 23_333_333),
        (png(31_000, 1000), 31_000_000 * 900 // 961),  # one of this shape
        (jpeg_header(7900, 7900, progressive=True, samples=(0x11, 0x11, 0x11)), 35_000_000),  # all is kept to the end
        (jpeg_header(7900, 7900, progressive=False, samples=(0x11, 0x11, 0x11, 0x11), scans=4), 26_250_000),
    ],
    ids=["alpha", "grey", "colour", "deep", "long", "progressive", "print"],
)
def test_what_would_take_too_much_memory_is_refused_with_what_would_not(tmp_path: Path, data: bytes, most: int) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(Refused) as refused:
        picture_values.read_image(tmp_path / "a", kind_of(data[:1024]) or "")
    assert (refused.value.why, refused.value.limit) == (WhyNot.PICTURE_TOO_LARGE, most)
    of_one = not_attached([NotAttached("a", refused.value.why, refused.value.limit)])
    assert read_figures(of_one.hint) == f"Up to {most // 1_000_000},000,000 pixels."


def test_a_jpeg_with_its_pixels_again_and_again_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    """Its 300 scans would take half a minute."""
    data = jpeg_header(8000, 8000, progressive=True, samples=(0x22, 0x11, 0x11), scans=300)
    assert refusal(tmp_path, data, by_child) is WhyNot.PICTURE_DAMAGED


def test_a_childs_memory_is_its_own_whatever_its_parent_has_had() -> None:
    held = bytearray(b"x") * (300 << 20)
    code = "from app.system.limited_child import most_resident_bytes as most; print(most())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert 1 << 20 < int(said.stdout) < len(held) // 3


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
    with pytest.raises(ChildStopped):
        decoder(png(2, 2))


@pytest.mark.parametrize(("edge_px", "size"), [(8000, 1 << 20), (7000, 7000 * 3000)], ids=("large", "cut"))
def test_a_bomb_takes_neither_much_time_nor_memory(tmp_path: Path, edge_px: int, size: int) -> None:
    bomb = png(edge_px, edge_px, lines=bytes(size))
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
