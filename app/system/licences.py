"""Licences of the libraries in Hunch, for About.

An assembled app has a file with all texts (`packaging/mac/licence_texts.py`). Other installations list the installed
packages with the licences in their metadata.
"""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from app.system.build import DISTRIBUTION, ROOT, libraries, project

TEXTS = "licences.txt"  # in resources, of an assembled app
_ASKED = re.compile(r"\s*([\w.-]+)\s*(?:\[([^]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


def document() -> str:
    made = ROOT / "resources" / TEXTS
    if made.is_file():
        return made.read_text(encoding="utf-8")
    named = {each.name: f"{each.name} {each.version}: {licence_of(each)}" for each in installed()}
    named |= {"Python": f"Python {libraries()['Python']}: PSF-2.0", "Lucide": "Lucide icons: ISC"}
    lines = "\n".join(line for _, line in sorted(named.items(), key=lambda each: each[0].lower()))
    return f"Hunch: Apache-2.0\n\n{lines}\n\n{own_licence()}"


def own_licence() -> str:
    file = ROOT / "LICENSE"  # of a folder of sources
    return file.read_text("utf-8") if file.is_file() else distribution(DISTRIBUTION).read_text("licenses/LICENSE") or ""


def licence_of(package: Distribution) -> str:
    """Nothing where it says none."""
    for name in ("License-Expression", "License"):
        if words := (package.metadata.get_all(name) or [""])[0].strip():
            return str(words.splitlines()[0])
    classifiers = package.metadata.get_all("Classifier") or []
    return ", ".join(each.split("::")[-1].strip() for each in classifiers if "License ::" in each)


def installed() -> list[Distribution]:
    """The packages that Hunch depends on, directly or not, if installed; other packages are left out.

    Markers other than extras are not evaluated: a package for another platform is not installed.
    """
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
