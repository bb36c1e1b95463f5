"""The libraries that Hunch consists of and their licences, as the metadata of the installed packages has them.

They are what Hunch asks for, what that asks for, and so on; other packages of the same Python are none of ours.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from app.system.build import ROOT, libraries, project

_ASKED = re.compile(r"\s*([\w.-]+)\s*(?:\[([^]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_USUAL_NAMES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING")
_RESOURCES = ROOT / "resources"
_QT = "Qt and PySide6 are used under the LGPL, version 3; their libraries are separate files, which can be replaced."


@dataclass(frozen=True, slots=True)
class Component:
    name: str
    version: str
    licence: str
    texts: tuple[str, ...] = field(repr=False)


def components() -> list[Component]:
    """Sorted by name, Python and the icons included."""
    found = [component_of(each) for each in _packages()]
    icons = (_RESOURCES / "icons" / "LICENSE").read_text(encoding="utf-8")
    found += [Component("Python", libraries()["Python"], "PSF-2.0", (_of_python(),))]
    found += [Component("Lucide", "icons", "ISC", (icons,))]
    return sorted(found, key=lambda each: each.name.lower())


def own_licence() -> str:
    file = ROOT / "LICENSE"  # of a folder of sources
    return file.read_text(encoding="utf-8") if file.is_file() else "\n".join(_texts_within(distribution("hunch")))


def document() -> str:
    """A line for each component, then each text once, below the names of those that it is of."""
    shipped = components()
    lines = ["Hunch: Apache-2.0", "", *(f"{each.name} {each.version}: {each.licence}" for each in shipped)]
    by_text: dict[str, list[str]] = {own_licence().strip(): ["Hunch"]}
    for each in shipped:
        for text in each.texts:
            by_text.setdefault(text.strip(), []).append(each.name)
    parts = ["\n".join(lines), _QT]
    parts += [f"{'=' * 72}\n{', '.join(dict.fromkeys(names))}\n\n{text}" for text, names in by_text.items()]
    return "\n\n".join(parts) + "\n"


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
        return distribution("hunch").requires or []
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
        yield from ((_RESOURCES / "licences" / f"{name}.txt").read_text("utf-8") for name in ("LGPL-3.0", "GPL-3.0"))
    elif "Apache" in licence:
        yield own_licence()
    elif "MIT" in licence:
        author = _field(package, "Author") or _field(package, "Author-email") or package.name
        yield f"Copyright (c) {author}\n\n{(_RESOURCES / 'licences' / 'MIT.txt').read_text('utf-8')}"


def _of_python() -> str:
    file = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    return file.read_text(encoding="utf-8") if file.is_file() else sys.copyright
