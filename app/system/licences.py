"""The libraries that Hunch consists of and their licences, as the metadata of the installed packages has them.

They are what Hunch asks for, what that asks for, and so on; other packages of the same Python are none of ours. What
is inside of them: what their lists of contents say (of Rust's crates), and else `resources/licences/parts.toml`.
"""

from __future__ import annotations

import json
import re
import sys
import sysconfig
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from app.system.build import DISTRIBUTION, ROOT, libraries, project

_ASKED = re.compile(r"\s*([\w.-]+)\s*(?:\[([^]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
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


@dataclass(frozen=True, slots=True)
class Part:
    """`of`: a package, or Python; `sign`: words that a library of the package has."""

    name: str
    of: str
    licence: str
    copyright: str = ""
    sign: str = ""

    @property
    def notice(self) -> str:
        return f"{self.name}: Copyright (c) {self.copyright}" if self.copyright else self.name


def components() -> list[Component]:
    """Sorted by name, Python and the icons included."""
    found = [component_of(each) for each in _packages()]
    icons = (_RESOURCES / "icons" / "LICENSE").read_text(encoding="utf-8")
    found += [Component("Python", libraries()["Python"], "PSF-2.0", (_of_python(),))]
    found += [Component("Lucide", "icons", "ISC", (icons,))]
    return sorted(found, key=lambda each: each.name.lower())


def own_licence() -> str:
    file = ROOT / "LICENSE"  # of a folder of sources
    return file.read_text(encoding="utf-8") if file.is_file() else "\n".join(_texts_within(distribution(DISTRIBUTION)))


def parts() -> list[Part]:
    """Of Python, those whose modules this one has."""
    table = tomllib.loads((_TEXTS / "parts.toml").read_text(encoding="utf-8"))["part"]
    here = [each for each in table if "module" not in each or find_spec(each.pop("module")) is not None]
    return [Part(**each) for each in here]


def crates_in(package: Distribution) -> dict[str, list[str]]:
    """What a package lists as compiled into it, by licence."""
    folder = Path(str(package.locate_file(f"{package.name.replace('-', '_')}-{package.version}.dist-info"))) / "sboms"
    found: dict[str, list[str]] = {}
    for file in folder.glob("*.json"):
        for each in json.loads(file.read_text(encoding="utf-8")).get("components", []):
            licence = " AND ".join(one["expression"] for one in each.get("licenses", []) if "expression" in one)
            if licence and each["name"] != package.name:
                found.setdefault(licence, []).append(f"{each['name']} {each['version']}")
    return found


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


def document() -> str:
    """A line for each component, what is in them, then each text once, below the names of those that it is of."""
    shipped, table = components(), parts()
    crates = {each.name: _crates_of(each) for each in shipped}
    lines = ["Hunch: Apache-2.0", "", *(f"{each.name} {each.version}: {each.licence}" for each in shipped)]
    for each in shipped:
        if inside := _lines_inside(each, table, crates[each.name]):
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
    for name, expressions in crates.items():
        for licence in {each for expression in expressions for each in chosen(expression)}:
            notices.setdefault(licence, []).append(f"Libraries in {name}")
    for licence, said in sorted(notices.items()):
        blocks.append(f"{_LINE}\n{licence}\n" + "\n".join(dict.fromkeys(said)) + f"\n\n{text_of(licence).strip()}")
    return "\n\n".join(blocks) + "\n"


def _crates_of(component: Component) -> dict[str, list[str]]:
    try:
        return crates_in(distribution(component.name))
    except PackageNotFoundError:  # Python, the icons
        return {}


def _lines_inside(component: Component, table: list[Part], crates: dict[str, list[str]]) -> list[str]:
    inside = dict[str, list[str]]()
    for part in table:
        if _canonical(part.of) == _canonical(component.name):
            inside.setdefault(part.licence, []).append(part.name)
    lines = (f"{licence}: {', '.join(sorted(names))}" for licence, names in sorted([*inside.items(), *crates.items()]))
    return [_WRAP.fill(line) for line in lines]


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _packages() -> list[Distribution]:
    """Where a package is not installed, its platform is another one: no condition but an extra is read."""
    found: dict[str, Distribution] = {}
    asked = [(each, "") for each in _asked_by_hunch()]
    seen: set[tuple[str, str]] = set()
    while asked:
        line, extra = asked.pop()
        condition = _EXTRA.search(line)
        match = _ASKED.match(line)
        if match is None or (condition is not None and condition[1] != extra):
            continue
        try:
            package = distribution(match[1])
        except PackageNotFoundError:
            continue
        name = package.name.lower()
        found[name] = package
        for more in {"", *(part.strip() for part in (match[2] or "").split(","))}:
            if (name, more) not in seen:
                seen.add((name, more))
                asked += [(each, more) for each in package.requires or []]
    return list(found.values())


def _asked_by_hunch() -> list[str]:
    try:
        return distribution(DISTRIBUTION).requires or []
    except PackageNotFoundError:
        asked = project()["dependencies"]
        return asked if isinstance(asked, list) else []


def component_of(package: Distribution) -> Component:
    licence = _licence_of(package)
    texts = tuple(_texts_within(package)) or tuple(_usual_texts(package, licence))
    return Component(package.name, package.version, licence, texts)


def _licence_of(package: Distribution) -> str:
    """Nothing where it says none."""
    if words := (_field(package, "License-Expression") or _field(package, "License")).strip():
        return words.splitlines()[0]
    classifiers = package.metadata.get_all("Classifier") or []
    return ", ".join(each.split("::")[-1].strip() for each in classifiers if "License ::" in each)


def _field(package: Distribution, name: str) -> str:
    return str((package.metadata.get_all(name) or [""])[0])


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
        author = _field(package, "Author") or _field(package, "Author-email") or package.name
        yield f"Copyright (c) {author}\n\n{(_TEXTS / 'MIT.txt').read_text('utf-8')}"


def _of_python() -> str:
    file = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    return file.read_text(encoding="utf-8") if file.is_file() else sys.copyright
