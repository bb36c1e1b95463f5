"""Rules for files and pages: named, opened with a sentence, free of this world's addresses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.architecture.project import ROOT, name_of, project_files, python_files

_MOST_WORDS = 1200
_MOST_CHARACTERS = 110  # in a line of a page; rows of tables are longer
_ONE_LINE_A_PARAGRAPH = ("resources/help/", "tests/screenshots/")
_LINK = re.compile(r"\]\(([^)#\s]+)")
_NAMED_FILE = re.compile(r"`((?:\w+/)*\w+\.py)`")
_EMPTY_NAMES = {"utils", "util", "misc", "common", "helper", "stuff", "manager", "managers"}
# In two halves, so that this file does not name them.
_REGISTRIES = [
    left + right
    for left, right in (
        ("pypi", ".org"),
        ("python", "hosted.org"),
        ("registry.npm", "js.org"),
        ("npm", "mirror.com"),
        ("deb.", "debian.org"),
        ("archive.", "ubuntu.com"),
        ("files.python", "hosted"),
        ("crates", ".io"),
        ("anaconda", ".org"),
        ("--index", "-url"),
        ("--find", "-links"),
    )
]

_SOURCES = python_files("app", "engine", "i18n", "tests", "packaging")


def test_every_module_opens_with_what_lives_there() -> None:
    # An __init__.py with nothing in it only says that the folder is a package.
    begun = {name_of(path): path.read_text(encoding="utf-8").strip() for path in _SOURCES}
    assert [name for name, text in begun.items() if text and not re.match('r?"""', text)] == []


def test_the_pages_of_the_two_programs_are_short() -> None:
    """What belongs to one room is in its README, and what was decided against in DECISIONS."""
    pages = [ROOT / program / "ARCHITECTURE.md" for program in ("app", "engine")]
    words = {name_of(page): len(page.read_text(encoding="utf-8").split()) for page in pages}
    assert {name: count for name, count in words.items() if count > _MOST_WORDS} == {}


def test_the_lines_of_every_page_are_short() -> None:
    pages = [path for path in project_files() if path.suffix == ".md"]
    long = [
        (name_of(page), number)
        for page in pages
        if not name_of(page).startswith(_ONE_LINE_A_PARAGRAPH)
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > _MOST_CHARACTERS and not line.startswith("|")
    ]
    assert long == []


def test_what_a_page_names_is_there() -> None:
    """Links, and files of ours in backquotes; those in docstrings and comments too."""
    pages = [path for path in project_files() if path.suffix == ".md"]
    names = {path.name for path in project_files()}
    lost = [
        (name_of(page), target)
        for page in pages
        for target in _LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    named = [
        (name_of(page), name)
        for page in (*pages, *_SOURCES)
        for name in _NAMED_FILE.findall(page.read_text(encoding="utf-8"))
        if name.rpartition("/")[2] not in names
    ]
    assert (lost, named) == ([], [])


def test_no_module_is_named_after_nothing() -> None:
    named = [path for path in _SOURCES if _EMPTY_NAMES & {path.stem, *path.relative_to(ROOT).parts}]
    assert [name_of(path) for path in named] == []


def test_no_file_names_a_registry() -> None:
    named = [(name_of(path), host) for path in project_files() for host in _REGISTRIES if host in _text(path)]
    assert named == []


def test_packaging_is_not_a_package() -> None:
    """With an __init__.py it would hide the library of that name."""
    assert not (ROOT / "packaging" / "__init__.py").exists()


@cache
def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="ignore").lower()


def test_files_reach_the_disk_by_one_way() -> None:
    """Which knows what a Mac needs. A download's first bytes only lessen what its end waits for."""
    files = [name_of(path) for path in python_files("app", "engine") if "os.fsync" in path.read_text(encoding="utf-8")]
    assert files == ["engine/api/files.py", "engine/hub/writer.py"]


# What these write is short whatever the user does.
_SHORT = {
    "app/portable/unfinished.py",
    "app/settings.py",  # aside, as it was read
    "app/system/crash_marker.py",
    "app/system/secrets.py",
    "app/tools/host_process.py",
    "engine/hub/staging.py",
    "engine/machines/identity.py",  # its key and certificate
}


def test_no_file_is_written_that_its_reader_would_refuse() -> None:
    """The next start would have nothing of it."""
    calls = [
        (name_of(path), call) for path in python_files("app", "engine") for call in _calls_of(path, "write_atomically")
    ]
    unlimited = {name for name, call in calls if all(each.arg != "most_bytes" for each in call.keywords)}
    assert unlimited == _SHORT


def _calls_of(path: Path, function: str) -> Iterator[ast.Call]:
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if f"{function}(" in text else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func) == function:
            yield node
