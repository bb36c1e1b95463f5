"""Making and checking Hunch.app: code for macOS, the disk image, and each fault that shows without a Mac."""

from __future__ import annotations

import hashlib
import importlib
import os
import plistlib
import random
import re
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QImage

from app.system import bundle_files, licences
from app.system.services import MESSAGE, TEXT
from app.views.shell.file_actions import SCHEME
from engine.machines.discovery import KIND
from engine.models.mlx_build import FOR_MACOS_26
from tests.architecture.project import ROOT


@pytest.fixture(scope="module")
def tools() -> Iterator[Callable[[str], Any]]:
    """Modules of packaging/mac, which run as scripts beside each other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "packaging" / "mac"), *sys.path])
        yield importlib.import_module


def command(kind: int, body: bytes) -> bytes:
    body = body.ljust((len(body) + 7) // 8 * 8, b"\0")
    return struct.pack("<2I", kind, 8 + len(body)) + body


def linking(kind: int, name: str, start: int) -> bytes:
    return command(kind, struct.pack("<I", start).ljust(start - 8, b"\0") + name.encode() + b"\0")


def signature(flags: int, entitlements: dict[str, bool], signed: bytes) -> bytes:
    """Of one page; the hashes of files beside it are there and say nothing yet."""
    hashes = bytes(_FILES * 32) + hashlib.sha256(signed).digest()
    numbers = struct.pack(">5I4B", 44 + _FILES * 32, 0, _FILES, 1, len(signed), 32, 2, 0, 12)
    directory = struct.pack(">4I", 0xFADE0C02, 44 + len(hashes), 0x20400, flags) + numbers + bytes(4) + hashes
    told = plistlib.dumps(entitlements)
    blobs = {0: directory, 5: struct.pack(">2I", 0xFADE7171, 8 + len(told)) + told} if entitlements else {0: directory}
    starts = [12 + 8 * len(blobs), 12 + 8 * len(blobs) + len(directory)]
    table = b"".join(struct.pack(">2I", kind, start) for kind, start in zip(blobs, starts, strict=False))
    content = table + b"".join(blobs.values())
    return struct.pack(">3I", 0xFADE0CC0, 12 + len(content), len(blobs)) + content


Signed = tuple[int, dict[str, bool]]
ADHOC: Signed = (0x2, {})
_FILES = 3


def code(
    *,
    architecture: int = 0x0100000C,
    macos: int = 14,
    sdk: int = 15,
    library: str = "",
    rpath: str = "",
    signed: Signed | None = ADHOC,
) -> bytes:
    commands = [command(0x32, struct.pack("<4I", 1, macos << 16, sdk << 16, 0))]
    commands += [linking(0xC, library, 24)] if library else []
    commands += [linking(0x8000001C, rpath, 12)] if rpath else []
    end = 32 + sum(map(len, commands)) + 16
    commands += [command(0x1D, struct.pack("<2I", end, 1 << 12))] if signed else []
    header = struct.pack("<7I", 0xFEEDFACF, architecture, 0, 6, len(commands), sum(map(len, commands)), 0) + bytes(4)
    whole = header + b"".join(commands)
    return whole + signature(*signed, whole) if signed else whole


def fat(*parts: bytes) -> bytes:
    """For Intel and arm64, or for Intel alone."""
    header, body = struct.pack(">2I", 0xCAFEBABE, len(parts)), b""
    for kind, part in zip((0x01000007, 0x0100000C), parts, strict=False):
        header += struct.pack(">5I", kind, 0, 64 + len(body), len(part), 3)
        body += part
    return header.ljust(64, b"\0") + body


def test_what_code_is_for_and_links_is_read(tmp_path: Path, tools: Callable[[str], Any]) -> None:
    file = tmp_path / "code"
    file.write_bytes(code(macos=13, library="@rpath/libmlx.dylib", rpath="@loader_path/lib"))
    read = tools("macho").read_macho(file)
    assert (read.architecture, read.minimum_macos, read.sdk) == (tools("macho").ARM64, (13, 0), (15, 0))
    assert (read.libraries, read.rpaths) == (("@rpath/libmlx.dylib",), ("@loader_path/lib",))
    assert read.signature == tools("macho").Signature(is_adhoc=True, is_hardened=False, entitlements={})
    file.write_bytes(b"\xca\xfe\xba\xbe" + struct.pack(">I", 0x34) + b"a class of Java")
    assert tools("macho").read_macho(file) is None
    assert not tools("macho").thin(file)


def test_the_sdk_is_set_and_nothing_else(tmp_path: Path, tools: Callable[[str], Any]) -> None:
    file = tmp_path / "code"
    file.write_bytes(code(sdk=27, library="@rpath/libmlx.dylib", signed=None))
    tools("macho").set_sdk(file, (15, 0))
    assert file.read_bytes() == code(sdk=15, library="@rpath/libmlx.dylib", signed=None)


def test_one_architecture_is_left(tmp_path: Path, tools: Callable[[str], Any]) -> None:
    file = tmp_path / "code"
    file.write_bytes(fat(code(architecture=0x01000007), code()))
    assert tools("macho").thin(file)
    assert file.read_bytes() == code()


def test_an_archive_for_a_linker_is_no_code(tmp_path: Path, tools: Callable[[str], Any]) -> None:
    (tmp_path / "archive.a").write_bytes(fat(b"!<arch>\n", b"!<arch>\n"))
    assert tools("macho").read_macho(tmp_path / "archive.a") is None


def test_code_that_changed_after_it_was_signed_is_named(app: Path, tools: Callable[[str], Any]) -> None:
    contents = app / "Contents"
    main, info = contents / "MacOS" / "Hunch", contents / "Info.plist"
    assert list(tools("macho").unlike_signature(main, {1: info})) == []
    whole = main.read_bytes()
    main.write_bytes(whole.replace(b"libSystem", b"libsystem"))
    assert list(tools("macho").unlike_signature(main, {})) == ["1 of 1 pages are not those that were signed"]
    main.write_bytes(whole)
    info.write_bytes(info.read_bytes() + b"\n")
    assert list(tools("checks").problems(app)) == ["Contents/MacOS/Hunch: signed with another Info.plist"]


def test_the_launcher_is_of_qt_s_sdk(
    tmp_path: Path, tools: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assemble = tools("assemble")
    monkeypatch.setattr(assemble, "run", lambda command: Path(command[-1]).write_bytes(code(sdk=27, signed=None)))
    assemble.write_launcher(Path("tools"), assemble.TARGETS["mac"], tmp_path / "MacOS" / "Hunch")
    assert tools("macho").read_macho(tmp_path / "MacOS" / "Hunch").sdk == (15, 0)


def test_of_the_second_build_what_is_compiled_is_kept(
    tmp_path: Path, tools: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assemble = tools("assemble")
    kept = [
        "mlx/core.cpython-313-darwin.so",
        "mlx/lib/libmlx.dylib",
        "mlx/lib/mlx.metallib",
        "mlx_metal-1.dist-info/WHEEL",
    ]

    def install(command: list[object], environment: dict[str, str]) -> None:
        assert environment["MACOSX_DEPLOYMENT_TARGET"] == "26.2"
        lock = Path(str(command[-1])).read_text("utf-8")
        assert re.findall(r"(?m)^\S+(?===)", lock) == ["mlx", "mlx-metal"]
        for name in (*kept, "mlx/nn/__init__.py", "mlx/include/mlx.h"):
            file = Path(str(command[command.index("--target") + 1])) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()

    monkeypatch.setattr(assemble, "run", install)
    assemble.install_second_mlx(Path("tools"), assemble.TARGETS["mac"], tmp_path / "second")
    files = [path for path in (tmp_path / "second").rglob("*") if path.is_file()]
    assert sorted(str(path.relative_to(tmp_path / "second")) for path in files) == kept


def test_wheels_are_asked_for_as_bootstrap_does_and_what_needs_a_newer_macos_is_named(
    tmp_path: Path, tools: Callable[[str], Any]
) -> None:
    wheels = tools("wheels")
    cases = wheels.cases((ROOT / "packaging" / "bootstrap.sh").read_text("utf-8"))
    oldest = [(python, (14, 4)) for python in ("3.11", "3.12", "3.13", "3.14")]
    assert cases == [*oldest, ("3.13", (15, 0)), ("3.13", (26, 2))]
    assert "macOS 14.4 or newer" in (ROOT / "README.md").read_text("utf-8")
    for name, macos in (("PySide6/QtCore.so", 15), ("shiboken6/x.so", 16), ("mlx/core.so", 15), ("numpy/x.so", 14)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(code(macos=macos))
    needed = wheels.needs(tmp_path)
    assert list(wheels.too_new(needed, (14, 4))) == [
        "mlx/core.so: needs macOS 15.0",
        "shiboken6/x.so: needs macOS 16.0",
    ]
    assert list(wheels.too_new(needed, (16, 0))) == []
    assert list(wheels.too_new({}, (14, 4))) == ["there is no code in it"]


def test_each_build_of_mlx_has_the_kernels_that_its_macos_is_for(tmp_path: Path, tools: Callable[[str], Any]) -> None:
    wrong_kernels, library = tools("wheels").wrong_kernels, tmp_path / "mlx" / "lib" / "mlx.metallib"
    assert list(wrong_kernels(tmp_path, (15, 0))) == ["0 libraries of kernels, not 1"]
    library.parent.mkdir(parents=True)
    for accelerated, macos, problems in (
        (0, (15, 0), 0),
        (1, (15, 0), 1),
        (999, (26, 2), 1),
        (1000, (26, 2), 0),
    ):
        library.write_bytes(kernels(accelerated))
        told = [f"mlx/lib/mlx.metallib: {accelerated} kernels are for neural accelerators"]
        assert list(wrong_kernels(tmp_path, macos)) == told * problems


def test_wheels_that_cannot_be_fetched_are_said_in_a_sentence(
    tools: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tools("assemble"), "run", lambda *_: subprocess.run(["false"], check=True))
    assert tools("wheels").main("tools") == 1
    told = "Python 3.11 on macOS 14.4: uv, whose reason is above, cannot get the locked wheels\n"
    assert capsys.readouterr().out == told


def test_an_image_has_the_bytes_of_the_volume(tmp_path: Path, tools: Callable[[str], Any]) -> None:
    random.seed(7)
    volume = random.randbytes(3 << 20) + bytes(2 << 20) + random.randbytes(512)  # what packs well, and what does not
    (tmp_path / "volume").write_bytes(volume)
    tools("udif").write_dmg(tmp_path / "volume", tmp_path / "image.dmg")
    image = (tmp_path / "image.dmg").read_bytes()
    trailer = image[-512:]
    assert trailer[:4] == b"koly"
    plist_at, plist_length = struct.unpack_from(">2Q", trailer, 216)
    assert plist_at + plist_length + 512 == len(image)
    (blocks,) = plistlib.loads(image[plist_at : plist_at + plist_length])["resource-fork"]["blkx"]
    data = blocks["Data"]
    (count,) = struct.unpack_from(">I", data, 200)
    unpacked = bytearray(len(volume))
    for index in range(count):
        kind, _, sector, sectors, offset, length = struct.unpack_from(">2I4Q", data, 204 + 40 * index)
        if kind == 0xFFFFFFFF:
            assert index == count - 1
            continue
        stored = image[offset : offset + length]
        unpacked[sector * 512 : (sector + sectors) * 512] = zlib.decompress(stored) if kind == 0x80000005 else stored
    assert unpacked == volume
    assert struct.unpack_from(">I", data, 72)[0] == zlib.crc32(volume)
    assert struct.unpack_from(">I", trailer, 88)[0] == zlib.crc32(image[:plist_at])
    assert struct.unpack_from(">Q", trailer, 492)[0] == len(volume) // 512


def kernels(accelerated: int) -> bytes:
    """A library of Metal, as far as names go."""
    names = [b"steel_gemm", *(f"steel_gemm_nax_{number}".encode() for number in range(accelerated))]
    return b"MTLB" + b"".join(b"NAME" + struct.pack("<H", len(name) + 1) + name + b"\0" for name in names)


LIBRARIES = Path("Contents/Resources/python/lib/python3.13/site-packages/mlx/lib")
UP = "../../../.."  # from there to Python's lib
SECOND = Path("Contents/Resources/python/lib", FOR_MACOS_26.name, "mlx/lib")


@pytest.fixture
def app(tmp_path: Path, sound: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "Hunch.app"))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, tools: Callable[[str], Any]) -> Path:
    """The smallest app without a fault."""
    app = tmp_path_factory.mktemp("app") / "Hunch.app"
    (app / "Contents" / "MacOS").mkdir(parents=True)
    (app / LIBRARIES).mkdir(parents=True)
    (app / "Contents" / "MacOS" / "Hunch").write_bytes(code(library="/usr/lib/libSystem.B.dylib"))
    (app / LIBRARIES / "libmlx.dylib").write_bytes(code())
    (app / LIBRARIES / "core.so").write_bytes(code(library="@rpath/libmlx.dylib", rpath="@loader_path/lib"))
    (app / LIBRARIES / "mlx.metallib").write_bytes(kernels(0))
    (app / SECOND).mkdir(parents=True)
    (app / SECOND / "libmlx.dylib").write_bytes(code(macos=26))
    (app / SECOND / "mlx.metallib").write_bytes(kernels(1000))
    for language in LANGUAGES:
        (app / LIBRARIES / f"hunch_{language}.qm").write_bytes(b"qm")
    bundle_files.write(app, tools("checks").VERSION)
    seal(app)
    return app


def seal(app: Path) -> None:
    contents = app / "Contents"
    files = [path for path in contents.rglob("*") if path.is_file()]
    hashes = {str(path.relative_to(contents)): hashlib.sha256(path.read_bytes()).digest() for path in files}
    (contents / "_CodeSignature").mkdir(exist_ok=True)
    entries = {"files2": {name: {"hash2": value} for name, value in hashes.items()}}
    (contents / "_CodeSignature" / "CodeResources").write_bytes(plistlib.dumps(entries))
    main = bytearray((contents / "MacOS" / "Hunch").read_bytes())
    start_of_hashes = main.index(struct.pack(">I", 0xFADE0C02)) + 44
    for number, name in ((1, "Info.plist"), (3, "_CodeSignature/CodeResources")):
        at = start_of_hashes + (_FILES - number) * 32
        main[at : at + 32] = hashlib.sha256((contents / name).read_bytes()).digest()
    (contents / "MacOS" / "Hunch").write_bytes(main)


LANGUAGES = ("en", "ko", "ja", "zh_CN")
WHEELS: dict[tuple[str, str], dict[str, bytes]] = {  # by package, and by the macOS that it is asked for
    ("mlx", "14.4"): {"mlx/core.cpython-313-darwin.so": code(library="@rpath/libmlx.dylib", rpath="@loader_path/lib")},
    ("mlx-metal", "14.4"): {"mlx/lib/libmlx.dylib": code(), "mlx/lib/mlx.metallib": kernels(0)},
    ("mlx", "26.2"): {"mlx/core.cpython-313-darwin.so": code(macos=26), "mlx/nn.py": b""},
    ("mlx-metal", "26.2"): {"mlx/lib/libmlx.dylib": code(macos=26), "mlx/lib/mlx.metallib": kernels(1000)},
    ("pyside6-essentials", "14.4"): {
        "PySide6/QtCore.abi3.so": fat(code(architecture=0x01000007), code(macos=15)),
        "PySide6/Qt/lib/QtCore.framework/QtCore": code(macos=13),
        "PySide6/Qt/plugins/platforms/libqcocoa.dylib": code(macos=13),
        "PySide6/Qt/translations/qtbase_ko.qm": b"qm",
    },
}
HUNCH = {f"i18n/hunch_{language}.ts": b"<TS version='2.1'/>" for language in LANGUAGES} | {"resources/a": b""}


def put_package(packages: Path, name: str, version: str, files: dict[str, bytes]) -> None:
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    told = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\nLicense-Expression: MIT\n"
    files = files | {f"{info}/METADATA": told.encode(), f"{info}/WHEEL": b"Wheel-Version: 1.0\n", f"{info}/RECORD": b""}
    for place, content in (files | {f"{info}/RECORD": "".join(f"{each},,\n" for each in files).encode()}).items():
        (packages / place).parent.mkdir(parents=True, exist_ok=True)
        (packages / place).write_bytes(content)


def stand_in(command: Iterable[object], environment: dict[str, str] | None = None) -> None:
    """For uv, zig, what signs, and what makes images where there is one."""
    words = list(map(str, command))
    if words[0] in ("hdiutil", "xorrisofs"):
        Path(words[-1] if words[0] == "hdiutil" else words[words.index("-o") + 1]).write_bytes(bytes(2048))
    elif "ziglang" in words:
        Path(words[-1]).write_bytes(code(library="/usr/lib/libSystem.B.dylib"))
    elif words[-1].endswith("entitlements.plist"):
        seal(Path(words[-2]))
    else:
        install(
            Path(words[words.index("--target") + 1]), words[-1], (environment or {}).get("MACOSX_DEPLOYMENT_TARGET")
        )


def install(packages: Path, what: str, macos: str | None) -> None:
    """Those of a lock that are stood in for; or Hunch."""
    if macos is None:
        put_package(packages, "hunch-chat", "0", HUNCH)
        return
    versions = dict(re.findall(r"(?m)^([\w-]+)==(\S+)", Path(what).read_text("utf-8")))
    for (name, wanted), files in WHEELS.items():
        if name in versions and macos == wanted:
            put_package(packages, name, versions[name], files)


def test_an_app_is_assembled_of_wheels_with_both_builds_of_mlx(
    tmp_path: Path, tools: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assemble = tools("assemble")
    monkeypatch.setattr(assemble, "run", stand_in)
    monkeypatch.setattr(sys, "argv", ["assemble.py", "--tools", "tools", "--out", str(tmp_path / "out")])
    status = assemble.main()
    told = capsys.readouterr().out
    assert status == 0, told
    assert "built for macOS 13.0: 2, 14.0: 3, 15.0: 1, 26.0: 2" in told
    assert "MLX for macOS 26.2: 1001 kernels, 1000 of them for neural accelerators" in told
    packed = zipfile.ZipFile(tmp_path / "out" / "Hunch.zip").namelist()
    assert f"Hunch.app/{SECOND}/mlx.metallib" in packed
    assert f"Hunch.app/{SECOND.parent}/nn.py" not in packed


def test_an_app_without_faults_has_none(app: Path, tools: Callable[[str], Any]) -> None:
    assert list(tools("checks").problems(app)) == []
    assert list(tools("checks").told(app)) == [
        "built for macOS 14.0: 3, 26.0: 1",
        "MLX for macOS 14: 1 kernels, 0 of them for neural accelerators",
        "MLX for macOS 26.2: 1001 kernels, 1000 of them for neural accelerators",
    ]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("core.so", code(architecture=0x01000007), "not for arm64"),
        ("core.so", code(macos=26), "needs macOS (26, 0)"),
        ("core.so", code(signed=None), "not signed"),
        ("core.so", code(rpath="/opt/homebrew/lib"), "looks for libraries in /opt/homebrew/lib"),
        ("core.so", code(library="/opt/homebrew/lib/libpq.dylib"), "links /opt/homebrew/lib/libpq.dylib"),
        ("core.so", code(library="@rpath/QtSql"), "links @rpath/QtSql, which is not there"),
        ("libmlx.dylib", None, "mlx.metallib is not beside libmlx.dylib"),
        ("mlx.metallib", None, "1 builds of MLX, not 2"),
        ("core.so", fat(code()), "of several architectures"),
        ("mlx.metallib", kernels(1), "mlx.metallib: 1 kernels are for neural accelerators"),
        (f"{UP}/{FOR_MACOS_26.name}/mlx/lib/mlx.metallib", kernels(999), ": 999 kernels are for neural accelerators"),
        (f"{UP}/../../../MacOS/Hunch", code(sdk=27), "built with SDK (27, 0), Qt with (15, 0)"),
        ("extra.pth", b"import os", "there is a .pth file"),
        ("hunch_ko.qm", None, "not all languages are compiled"),
    ],
)
def test_each_fault_is_named(
    app: Path, tools: Callable[[str], Any], name: str, content: bytes | None, problem: str
) -> None:
    if content is None:
        (app / LIBRARIES / name).unlink()
    else:
        (app / LIBRARIES / name).write_bytes(content)
    seal(app)
    found = list(tools("checks").problems(app))
    assert len(found) == 1
    assert found[0].endswith(problem)


def test_an_app_too_large_for_python(app: Path, tools: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools("checks"), "MOST_APP_MB", 30.0)
    assert list(tools("checks").problems(app)) == ["Hunch.app: 37 MB with a Python, above 30"]
    (app / LIBRARIES / "libpython3.13.dylib").write_bytes(code())
    seal(app)
    assert list(tools("checks").problems(app)) == []


def test_the_app_has_the_parts_of_qt_that_it_imports(tools: Callable[[str], Any]) -> None:
    words = "\n".join(each.read_text("utf-8") for each in (ROOT / "app").rglob("*.py"))
    assert set(re.findall(r"from PySide6\.(\w+) import", words)) == set(tools("pruning").BINDINGS)
    assert set(re.findall(r"from PySide6 import (.*)", words)) == set()


TO_DEBUG = {"com.apple.security.get-task-allow": True}


OURS = plistlib.loads((ROOT / "packaging" / "mac" / "entitlements.plist").read_bytes())


@pytest.mark.parametrize(
    ("flags", "entitlements", "problems"),
    [
        (0x10000, OURS, []),
        (0x0, OURS, ["it has no hardened runtime"]),
        (0x10002, {}, ["it has a hardened runtime"]),
        (0x10000, OURS | TO_DEBUG, ["its entitlements are "]),
        (0x2, TO_DEBUG, ["its entitlements are "]),
    ],
)
def test_entitlements_are_those_of_ours_and_none_without_a_developer_id(
    app: Path, tools: Callable[[str], Any], flags: int, entitlements: dict[str, bool], problems: list[str]
) -> None:
    (app / "Contents" / "MacOS" / "Hunch").write_bytes(code(signed=(flags, entitlements)))
    for library in (LIBRARIES / "libmlx.dylib", LIBRARIES / "core.so", SECOND / "libmlx.dylib"):
        (app / library).write_bytes(code(signed=(flags, {})))
    seal(app)
    found = list(tools("checks").problems(app))
    assert len(found) == len(problems)
    assert all(problem in each for each, problem in zip(found, problems, strict=True))


def test_a_library_that_another_team_or_none_signed_is_named(app: Path, tools: Callable[[str], Any]) -> None:
    (app / "Contents" / "MacOS" / "Hunch").write_bytes(code(signed=(0x10000, OURS)))
    for library in (LIBRARIES / "core.so", SECOND / "libmlx.dylib"):
        (app / library).write_bytes(code(signed=(0x10000, {})))
    seal(app)
    (found,) = tools("checks").problems(app)
    assert found.endswith("libmlx.dylib: signed ad hoc, unlike the rest")


def test_nothing_of_when_and_where_it_was_built_is_left(tmp_path: Path, tools: Callable[[str], Any]) -> None:
    """Else two builds of the same sources differ."""
    folder = tmp_path / "hunch_chat-1.dist-info"
    folder.mkdir()
    (folder / "uv_cache.json").write_text("now")
    (folder / "RECORD").write_text(f"app/a.py,sha256=1,2\n{folder.name}/uv_cache.json,sha256=3,4\n")
    tools("assemble").forget_build(tmp_path)
    assert {each.name: each.read_text() for each in folder.iterdir()} == {"RECORD": "app/a.py,sha256=1,2\n"}


def test_a_package_whose_licence_is_not_told_is_named(app: Path, tools: Callable[[str], Any]) -> None:
    for name, licence in (("told", "License-Expression: MIT"), ("silent", "Author: anybody")):
        folder = app / LIBRARIES.parents[1] / f"{name}-1.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1\n{licence}\n")
    seal(app)
    assert list(tools("checks").problems(app)) == ["silent: About has no licence of it"]


def test_about_shows_the_texts_that_were_written_as_the_app_was_assembled(
    tmp_path: Path, tools: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    packages, python = tmp_path / "site-packages", tmp_path / "python"
    (packages / "told-1.dist-info").mkdir(parents=True)
    (packages / "resources").mkdir()
    words = "Metadata-Version: 2.4\nName: told\nVersion: 1\nLicense-Expression: MIT\nLicense-File: LICENSE\n"
    (packages / "told-1.dist-info" / "METADATA").write_text(words)
    (packages / "told-1.dist-info" / "LICENSE").write_text("as it was granted")
    (python / "lib" / "python3.13").mkdir(parents=True)
    (python / "lib" / "python3.13" / "LICENSE.txt").write_text("of Python's makers")
    tools("assemble").write_licences(packages, python, tools("assemble").TARGETS["mac"])
    monkeypatch.setattr(licences, "ROOT", packages)
    shown = licences.document()
    assert "\ntold 1: MIT\n" in shown
    assert "\ntold\n\nas it was granted\n" in shown
    assert "\nPython\n\nof Python's makers\n" in shown


def test_what_the_lock_does_not_name_is_named(tmp_path: Path, tools: Callable[[str], Any]) -> None:
    packages, lock = tmp_path / "Hunch.app" / "site-packages", tmp_path / "lock"
    lock.write_text("told-so==1.0 \\\n    --hash=sha256:00\nother==2\n")
    for name, version in (("told_so", "1.0"), ("other", "3")):
        info = packages / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
        (info / "RECORD").write_text(f"{name}.py,,\n{info.name}/METADATA,,\n{info.name}/RECORD,,\n")
        (packages / f"{name}.py").touch()
    (packages / "told_so.pyc").touch()
    (packages / "stray.py").touch()
    assert list(tools("checks").beside_lock(packages.parent, lock)) == [
        "other 3: not what the lock names",
        "stray.py: of no package",
    ]


def test_what_changes_after_the_seal_is_named(app: Path, tools: Callable[[str], Any]) -> None:
    (app / LIBRARIES / "mlx.metallib").write_bytes(b"other")
    (app / LIBRARIES / "more").write_bytes(b"")
    found = sorted(tools("checks").problems(app))
    assert [each.rsplit("/", 1)[1] for each in found] == [
        "mlx.metallib: changed after it was sealed",
        "more: not sealed",
    ]


def test_addresses_and_documents_that_the_app_opens_are_those_that_macos_is_told(app: Path) -> None:
    told = plistlib.loads((app / "Contents" / "Info.plist").read_bytes())
    assert told["CFBundleURLTypes"][0]["CFBundleURLSchemes"] == [SCHEME]
    (documents,) = told["CFBundleDocumentTypes"]
    assert documents["LSHandlerRank"] == "Alternate"  # nothing of the user's opens in Hunch by itself
    read = {"public.text", "com.adobe.pdf", "org.openxmlformats.wordprocessingml.document", "public.image"}
    assert read <= set(documents["LSItemContentTypes"])


def test_the_service_is_the_message_that_is_answered_and_has_a_name_in_each_language(app: Path) -> None:
    contents = app / "Contents"
    (service,) = plistlib.loads((contents / "Info.plist").read_bytes())["NSServices"]
    assert (service["NSMessage"], service["NSPortName"]) == (MESSAGE, "Hunch")
    assert service["NSSendTypes"][0] == TEXT
    names = [plistlib.loads(each.read_bytes()) for each in contents.glob("Resources/*.lproj/ServicesMenu.strings")]
    assert len({name[service["NSMenuItem"]["default"]] for name in names}) == 4


@pytest.mark.parametrize("what", ["LocalNetwork", "RemovableVolumes", "AppleEvents", "RemindersFullAccess"])
def test_macos_is_told_in_each_language_why_hunch_or_a_tool_asks(app: Path, what: str) -> None:
    """Without it macOS says so in its own words, or refuses and asks nothing."""
    key, contents = f"NS{what}UsageDescription", app / "Contents"
    told = [plistlib.loads(each.read_bytes())[key] for each in contents.glob("Resources/*.lproj/InfoPlist.strings")]
    assert len(set(told)) == 4
    info = plistlib.loads((contents / "Info.plist").read_bytes())
    assert info[key] in told
    assert info["NSBonjourServices"] == [KIND]
    assert {"com.apple.security.automation.apple-events"} <= {each for each in OURS if OURS[each]}


def test_the_icon_has_every_size_that_macos_asks_for(app: Path) -> None:
    icns = (app / "Contents" / "Resources" / "Hunch.icns").read_bytes()
    found: dict[str, bytes] = {}
    assert struct.unpack_from(">4sI", icns) == (b"icns", len(icns))
    at = 8
    while at < len(icns):
        kind, length = struct.unpack_from(">4sI", icns, at)
        found[kind.decode()] = icns[at + 8 : at + length]
        at += length
    sizes = {kind: QImage.fromData(data).width() for kind, data in found.items() if data.startswith(b"\x89PNG")}
    packed = {"ic04", "ic05"}  # of 16 and 32
    assert sizes == {
        "ic07": 128,
        "ic08": 256,
        "ic09": 512,
        "ic10": 1024,
        "ic11": 32,
        "ic12": 64,
        "ic13": 256,
        "ic14": 512,
    }
    assert found.keys() - sizes.keys() == packed
    assert all(found[kind].startswith(b"ARGB") for kind in packed)


@pytest.mark.parametrize("compiles", [True, False])
def test_the_icon_is_compiled_where_xcode_does(
    tmp_path: Path, tools: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch, compiles: bool
) -> None:
    """By a stand-in for xcrun, which takes the place to write to as its fourth argument."""
    xcrun = tmp_path / "xcrun"
    does = 'test -f "$2/icon.json" && echo car >"$4/Assets.car"' if compiles else "echo no such tool; exit 72"
    xcrun.write_text(f"#!/bin/sh\n{does}\n")
    xcrun.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    resources = tmp_path / "Hunch.app" / "Contents" / "Resources"
    resources.mkdir(parents=True)
    why_not = tools("icon").add_catalog(ROOT / "resources" / "app_icon.svg", resources)
    assert why_not == ("" if compiles else "actool ended with 72: no such tool")
    bundle_files.write(tmp_path / "Hunch.app", "1")
    info = plistlib.loads((tmp_path / "Hunch.app" / "Contents" / "Info.plist").read_bytes())
    assert info.get("CFBundleIconName") == ("Hunch" if compiles else None)
    assert info["CFBundleIconFile"] == "Hunch"


def test_another_version_than_the_project_is_named(app: Path, tools: Callable[[str], Any]) -> None:
    plist = app / "Contents" / "Info.plist"
    plist.write_bytes(plistlib.dumps(plistlib.loads(plist.read_bytes()) | {"CFBundleVersion": "9"}))
    seal(app)
    assert list(tools("checks").problems(app)) == ["Info.plist: CFBundleVersion is 9"]
