"""Documents of projects and chats as files beside an export."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.portable.writing import Names, safe_name
from app.system.limited_child import Stop
from engine import open_plain, sync_file, sync_folder

_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Document:
    """`path`: "" where it is a text without a file. `text`: what was read of it."""

    name: str
    path: str
    text: Callable[[], str]


Folder = tuple[str, Iterable[Document]]  # the name of a project or a chat, and its documents


def write_documents(folders: Iterable[Folder], made: Path, stop: Stop) -> int:
    """A new folder with one for each project and chat; of a missing file, the text that was read of it.

    Returns how many have neither. Without documents there is no folder. Raises OSError or Stopped.
    """
    names = Names()
    missing = 0
    for title, documents in folders:
        folder = made / names.give(title)
        folder.mkdir(mode=0o755, parents=True)
        own = Names()
        for each in documents:
            stop.check()
            missing += not _write(each, folder, own, stop)
        sync_folder(folder)
    return missing


def _write(document: Document, folder: Path, names: Names, stop: Stop) -> bool:
    source = _opened(document.path)
    if source is not None:
        with source:
            _copy(source, folder / _free(document.name, names), stop)
        return True
    text = document.text()
    if text:
        name = document.name if Path(document.name).suffix in (".txt", ".md") else f"{document.name}.txt"
        with (folder / _free(name, names)).open("xb") as file:
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            sync_file(file.fileno(), through_drive=False)
    return bool(text)


def _opened(path: str) -> BinaryIO | None:
    try:
        return open_plain(Path(path)) if path else None
    except (OSError, ValueError):
        return None


def _copy(source: BinaryIO, to: Path, stop: Stop) -> None:
    with to.open("xb") as file:
        while chunk := source.read(_CHUNK_BYTES):
            stop.check()
            file.write(chunk)
        file.flush()
        sync_file(file.fileno(), through_drive=False)


def _free(name: str, names: Names) -> str:
    """A name that is safe on every system, and that no other file of the folder has."""
    suffix = Path(name).suffix
    return names.give(name.removesuffix(suffix).replace("/", " - "), f".{safe_name(suffix)}" if suffix else "")
