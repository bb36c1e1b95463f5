"""What is inside of the packages that Hunch consists of: known, with the text of its licence, and not stale."""

from __future__ import annotations

import importlib
import re
import sysconfig
import tomllib
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

import pytest

from app.system.licences import installed
from tests.architecture.project import ROOT

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(ROOT / "packaging" / "mac")  # whose modules run as scripts beside each other
    licences: Any = importlib.import_module("licence_texts")
TABLE = tomllib.loads((ROOT / "resources" / "licences" / "parts.toml").read_text("utf-8"))
NOT_SHIPPED = {"_crypt", "_dbm", "_gdbm", "_tkinter", "nis"}  # of Python's modules
OF_THE_SYSTEM = {b"c", b"m", b"rt", b"dl", b"pthread", b"python"}
QT = ("Qt/lib/libQt6Core.so.6", "Qt/lib/libQt6Gui.so.6", "Qt/plugins/imageformats/*.so")
MLX = ("lib/libmlx.so", "core*.so")


def test_every_package_has_a_licence_with_its_text() -> None:
    shipped = [licences.component_of(each) for each in installed()]
    assert len(shipped) > 50
    assert [each.name for each in shipped if not each.licence or not each.texts or not all(each.texts)] == []


def test_every_part_has_the_text_of_its_licence() -> None:
    assert [each["name"] for each in TABLE["part"] if not licences.text_of(each["licence"])] == []


def test_the_parts_of_qt_are_those_of_the_version_that_is_shipped() -> None:
    """With another one, look at its list of third-party code first."""
    assert TABLE["qt"] == version("PySide6-Essentials")


@pytest.mark.parametrize(("of", "folder", "files"), [("PySide6_Essentials", "PySide6", QT), ("mlx", "mlx", MLX)])
def test_what_is_named_is_still_in_it(of: str, folder: str, files: tuple[str, ...]) -> None:
    place = Path(str(distribution(of).locate_file(folder)))
    code = b"".join(path.read_bytes() for pattern in files for path in place.glob(pattern))
    signs = {part.name: part.sign for part in licences.parts() if part.of == of and part.sign}
    assert len(signs) > 3
    assert [name for name, sign in signs.items() if sign.encode() not in code] == []


def test_every_module_of_python_that_brings_a_library_of_others_is_known() -> None:
    known = {each["module"] for each in TABLE["part"] if "module" in each} | NOT_SHIPPED
    bringing = set[str]()
    for path in (Path(sysconfig.get_path("platstdlib")) / "lib-dynload").glob("*.so"):
        libraries = set(re.findall(rb"\0lib([a-z]+)[\w.+-]*\.so(?:\.\d+)*\0", path.read_bytes()))
        if libraries - OF_THE_SYSTEM:
            bringing.add(path.name.partition(".")[0])
    assert bringing - known == {"_hashlib", "_elementtree", "_curses_panel"} & bringing  # the same as of another module


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("MIT OR Apache-2.0", ["MIT"]),
        ("Unlicense OR MIT", ["MIT"]),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", ["MIT", "Unicode-3.0"]),
        ("Apache-2.0 WITH LLVM-exception", ["Apache-2.0"]),
        ("Proprietary", ["Proprietary"]),
    ],
)
def test_of_alternatives_one_that_is_here_is_shown(expression: str, names: list[str]) -> None:
    assert licences.chosen(expression) == names
    assert all(licences.text_of(name) for name in names) == (expression != "Proprietary")


def test_about_names_what_is_compiled_into_packages() -> None:
    crates = licences.component_of(distribution("tokenizers")).crates
    assert any(name.startswith("aho-corasick ") for names in crates.values() for name in names)
    document = licences.document(installed(), "3.13", "of Python's makers")
    assert "\nPython\n\nof Python's makers\n" in document
    assert "\nIn Python\n  Apache-2.0: OpenSSL\n" in document
    assert "\nlibpng: Copyright (c) 1995-" in document
    assert "\nLibraries in tokenizers\n" in document
