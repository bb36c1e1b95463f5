"""The text of each licence of what is in the app, for About, as the metadata of its packages has them.

What is inside of them: what their lists of contents say (of Rust's crates), and else `resources/licences/parts.toml`.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import Distribution
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from app.system.build import DISTRIBUTION, ROOT
from app.system.licences import licence_of, own_licence

_USUAL_NAMES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING")
_RESOURCES = ROOT / "resources"
_TEXTS = _RESOURCES / "licences"
_LINE = "=" * 72
_WRAP = textwrap.TextWrapper(80, "  ", "    ", break_long_words=False, break_on_hyphens=False)
_NAME = re.compile(r"[\w.+-]+")
_QT = "Qt and PySide6 are used under the LGPL, version 3; their libraries are separate files, which can be replaced."


@dataclass(frozen=True, slots=True)
class Component:
    name: str
    version: str
    licence: str
    texts: tuple[str, ...] = field(repr=False)
    crates: dict[str, list[str]] = field(default_factory=dict, repr=False)  # compiled into it, by licence


@dataclass(frozen=True, slots=True)
class Part:
    """`of`: a package, or Python; `module`: of Python, which brings it; `sign`: words that a library of it has."""

    name: str
    of: str
    licence: str
    copyright: str = ""
    module: str = ""
    sign: str = ""

    @property
    def notice(self) -> str:
        return f"{self.name}: Copyright (c) {self.copyright}" if self.copyright else self.name


def document(packages: Iterable[Distribution], python: str, python_text: str) -> str:
    """A line for each component, what is in them, then each text once, below the names of those that it is of.

    `python`: its version.
    """
    shipped = [component_of(each) for each in packages if each.name != DISTRIBUTION]
    shipped.append(Component("Python", python, "PSF-2.0", (python_text,)))
    shipped.append(Component("Lucide", "icons", "ISC", ((_RESOURCES / "icons" / "LICENSE").read_text("utf-8"),)))
    shipped.sort(key=lambda each: each.name.lower())
    table = parts()
    lines = ["Hunch: Apache-2.0", "", *(f"{each.name} {each.version}: {each.licence}" for each in shipped)]
    for each in shipped:
        if inside := _lines_inside(each, table):
            lines += ["", f"In {each.name}", *inside]
    by_text: dict[str, list[str]] = {own_licence().strip(): ["Hunch"]}
    for each in shipped:
        for text in each.texts:
            by_text.setdefault(text.strip(), []).append(each.name)
    blocks = ["\n".join(lines), _QT]
    blocks += [f"{_LINE}\n{', '.join(dict.fromkeys(names))}\n\n{text}" for text, names in by_text.items()]
    notices: dict[str, list[str]] = {}
    for part in table:
        notices.setdefault(part.licence, []).append(part.notice)
    for each in shipped:
        for licence in sorted({name for expression in each.crates for name in chosen(expression)}):
            notices.setdefault(licence, []).append(f"Libraries in {each.name}")
    for licence, said in sorted(notices.items()):
        blocks.append(f"{_LINE}\n{licence}\n" + "\n".join(dict.fromkeys(said)) + f"\n\n{text_of(licence).strip()}")
    return "\n\n".join(blocks) + "\n"


def parts() -> list[Part]:
    return [Part(**each) for each in tomllib.loads((_TEXTS / "parts.toml").read_text(encoding="utf-8"))["part"]]


def component_of(package: Distribution) -> Component:
    licence = licence_of(package)
    texts = tuple(_texts_within(package)) or tuple(_usual_texts(package, licence))
    return Component(package.name, package.version, licence, texts, _crates_in(package))


def chosen(licence: str) -> list[str]:
    """Of an expression, the licences whose texts are to be shown: of alternatives the first that is here."""
    names: list[str] = []
    for together in re.split(r"\bAND\b", licence):
        offered = [each for each in _NAME.findall(together) if each not in ("OR", "WITH", "LLVM-exception")]
        names.append(next((each for each in offered if text_of(each)), offered[0] if offered else together))
    return names


def text_of(name: str) -> str:
    """Of a licence by its SPDX name; "" where it is not here."""
    if name == "Apache-2.0":
        return own_licence()
    file = _TEXTS / f"{name}.txt"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def _crates_in(package: Distribution) -> dict[str, list[str]]:
    folder = Path(str(package.locate_file(f"{package.name.replace('-', '_')}-{package.version}.dist-info"))) / "sboms"
    found: dict[str, list[str]] = {}
    for file in sorted(folder.glob("*.json")):
        for each in json.loads(file.read_text(encoding="utf-8")).get("components", []):
            licence = " AND ".join(one["expression"] for one in each.get("licenses", []) if "expression" in one)
            if licence and each["name"] != package.name:
                found.setdefault(licence, []).append(f"{each['name']} {each['version']}")
    return found


def _lines_inside(component: Component, table: list[Part]) -> list[str]:
    inside = dict[str, list[str]]()
    for part in table:
        if _canonical(part.of) == _canonical(component.name):
            inside.setdefault(part.licence, []).append(part.name)
    by_licence = sorted([*inside.items(), *component.crates.items()])
    return [_WRAP.fill(f"{licence}: {', '.join(sorted(names))}") for licence, names in by_licence]


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _texts_within(package: Distribution) -> Iterator[str]:
    """By the names that its metadata has, or the usual ones: to list its files takes a second for the largest."""
    for name in package.metadata.get_all("License-File") or _USUAL_NAMES:
        if text := package.read_text(f"licenses/{name}") or package.read_text(name):
            yield text


def _usual_texts(package: Distribution, licence: str) -> Iterator[str]:
    """Of a package that comes without: the licence that it names."""
    if "LGPL" in licence:
        yield from ((_TEXTS / f"{name}.txt").read_text("utf-8") for name in ("LGPL-3.0", "GPL-3.0"))
    elif "Apache" in licence:
        yield own_licence()
    elif "MIT" in licence:
        authors = package.metadata.get_all("Author") or package.metadata.get_all("Author-email") or [package.name]
        yield f"Copyright (c) {authors[0]}\n\n{(_TEXTS / 'MIT.txt').read_text('utf-8')}"
