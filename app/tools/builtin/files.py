"""Reading the files and folders that the user chose for the chat, and nothing else. Links are not followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, count
from pathlib import Path, PurePosixPath

from app.documents.problems import Refused
from app.documents.reading import read_file as read_document
from app.tools.builtin.documents import text_in
from app.tools.builtin.tool import Arguments, BuiltIn, Reach, Refusal, described, named_as, text_of
from app.tools.definitions import LONGEST_RESULT, ToolResult, cleaned

_MOST_ENTRIES = 500
_MOST_LOOKED_AT = 100_000
_LONGEST_NAME = 255


def _chosen(reach: Reach) -> dict[str, Path]:
    """What was chosen, by the name that a path begins with; a second one of that name gets a number."""
    found: dict[str, Path] = {}
    for path in reach.folders:
        name = cleaned(path.name or str(path), _LONGEST_NAME, lines=False)
        names = chain([name], (f"{name} {number}" for number in count(2)))
        found[next(each for each in names if each not in found)] = path
    if not found:
        raise Refusal("the user has chosen no file and no folder for this chat")
    return found


def _at(path: str, reach: Reach) -> Path:
    """The file or folder of that path. Raises Refusal for one that is not within what was chosen, or that a link leads
    to.
    """
    chosen = _chosen(reach)
    root, within = _root_of(path, chosen)
    here = root
    if not _is_plain(here):
        raise Refusal("it is not there any more, or is a link")
    for name in within.parts:
        if name == "..":
            raise Refusal('".." is not allowed')
        here = _within(here, name)
        if not _is_plain(here):
            raise Refusal(f'there is no "{cleaned(name, _LONGEST_NAME, lines=False)}" there, or it is a link')
    return here


def _root_of(path: str, chosen: dict[str, Path]) -> tuple[Path, PurePosixPath]:
    if "\0" in path:
        raise Refusal("that is no path")
    wanted = PurePosixPath(path)
    if wanted.is_absolute():
        for root in chosen.values():
            if wanted.is_relative_to(root):
                return root, wanted.relative_to(root)
    elif wanted.parts and (named := named_as(wanted.parts[0], chosen)) is not None:
        return named, PurePosixPath(*wanted.parts[1:])
    elif len(chosen) == 1:
        return next(iter(chosen.values())), wanted
    raise Refusal(f"only these may be read: {', '.join(sorted(chosen))}")


def _within(folder: Path, name: str) -> Path:
    here = folder / name
    if not _is_plain(here):
        with suppress(OSError):
            return named_as(name, {each.name: each for each in sorted(folder.iterdir())}) or here
    return here


def _is_plain(path: Path) -> bool:
    """Whether it is a file or a folder, and no link."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _list(arguments: Arguments, reach: Reach) -> ToolResult:
    path = text_of(arguments, "path")
    if path in ("", ".", "/"):
        return ToolResult(
            "\n".join(f"{name}{'/' * each.is_dir()}" for name, each in _chosen(reach).items()), outside=True
        )
    folder = _at(path, reach)
    if not folder.is_dir():
        raise Refusal("that is a file; read it")
    try:
        with os.scandir(folder) as entries:
            every = sorted(_counted(entries, reach), key=lambda entry: entry.name)
        lines = list(_lines(every[:_MOST_ENTRIES]))
    except OSError as error:
        raise Refusal(f"the folder cannot be read: {os.strerror(error.errno or 0)}") from None
    more = len(every) - _MOST_ENTRIES
    return ToolResult("\n".join([*lines, *([f"[{more} more]"] if more > 0 else [])]), outside=True)


def _counted(entries: Iterable[os.DirEntry[str]], reach: Reach) -> Iterator[os.DirEntry[str]]:
    for number, entry in enumerate(entries):
        if number % 100 == 0:
            reach.stop.check()
        if number >= _MOST_LOOKED_AT:
            raise Refusal(f"the folder has more than {_MOST_LOOKED_AT} files; list one within it")
        yield entry


def _lines(entries: Iterable[os.DirEntry[str]]) -> Iterator[str]:
    for entry in entries:
        name = cleaned(os.fsencode(entry.name).decode("utf-8", "replace"), _LONGEST_NAME, lines=False)
        if entry.is_symlink():
            yield f"{name} (a link, which is not followed)"
        elif entry.is_dir(follow_symlinks=False):
            yield f"{name}/"
        else:
            yield f"{name} ({entry.stat(follow_symlinks=False).st_size} bytes)"


def _read(arguments: Arguments, reach: Reach) -> ToolResult:
    name = text_of(arguments, "path")
    start, first_page, last_page = (_number(arguments, each) for each in ("start", "first_page", "last_page"))
    document = text_in(name, first_page, last_page, reach)
    if document is not None:
        return _from(document, start or 0)
    path = _at(name, reach)
    if path.is_dir():
        raise Refusal("that is a folder; list it")
    if first_page is not None:
        raise Refusal("pages are only of this chat's documents; use start")
    pictures: list[bytes] = []

    def keep(data: bytes) -> str:
        pictures.append(data)
        return ""

    try:
        text = read_document(path, reach.stop, lambda _share: None, keep).text
    except Refused as refused:
        raise Refusal(f"it cannot be read: {refused.why.value}") from None
    if pictures:
        return ToolResult("This file is a picture.", pictures=tuple(pictures), outside=True)
    return _from(text, start or 0)


def _number(arguments: Arguments, name: str) -> int | None:
    value = arguments.get(name)
    if value is not None and (not isinstance(value, int) or value < 0):
        raise Refusal(f"{name} must be a number")
    return value


def _from(text: str, start: int) -> ToolResult:
    rest = text[start:]
    if start and not rest:
        raise Refusal(f"it has {len(text)} characters")
    if len(rest) <= LONGEST_RESULT:
        return ToolResult(rest, outside=True)
    end = start + LONGEST_RESULT - 200
    note = f"[There are {len(text)} characters; this is up to {end}. Go on with start={end}.]"
    return ToolResult(f"{text[start:end]}\n\n{note}", outside=True)


_PATH = {"type": "string", "description": 'As listed, such as "folder/file.md"'}

TOOLS = (
    BuiltIn(
        described(
            "list_folder",
            "Lists a folder that the user chose for this chat, or one within it. Without a path: what was chosen.",
            {},
            {"path": _PATH},
        ),
        _list,
    ),
    BuiltIn(
        described(
            "read_file",
            "Reads a document of this chat or its project by its name, or a file that the user chose for this chat:"
            " text, code, or the text of a PDF.",
            {"path": _PATH},
            {
                "start": {"type": "integer", "description": "First character to read; for the rest of a long file"},
                "first_page": {"type": "integer", "description": "Of a document with pages"},
                "last_page": {"type": "integer"},
            },
        ),
        _read,
        is_free=lambda arguments, reach: named_as(str(arguments.get("path")), reach.documents) is not None,
    ),
)
