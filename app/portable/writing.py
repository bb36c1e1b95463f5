"""Writes chats to files: complete or not at all, in a temporary place first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from app.portable import own
from app.portable.markdown import MarkdownWords, branch, markdown_of
from app.portable.unfinished import Unfinished, locked
from app.storage.portable import PortableChat
from app.system.limited_child import Stop
from engine import sync_file, sync_folder

Progress = Callable[[int], None]  # chats that are written
BytesOf = Callable[[str], bytes | None]  # of a picture, by its digest
_MOST_FOLDERS = 1000  # of one name
_MOST_BYTES = 120  # of UTF-8; systems take 255
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_NAMELESS = "Chat"
_MARKDOWN = ".md"


def safe_name(title: str) -> str:
    """Of a file, safe on every system, in the letters of the title."""
    text = unicodedata.normalize("NFC", title.encode("utf-8", "replace").decode("utf-8"))
    text = " ".join(_FORBIDDEN.sub(" ", text).split()).strip(". ")
    text = text.encode()[:_MOST_BYTES].decode("utf-8", "ignore").strip(". ")
    if _RESERVED.fullmatch(text):
        text = f"{text}_"
    return text or _NAMELESS


class Names:
    """Unique names of files in a folder, also where the system ignores case; without an ending none is ".md"."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}  # the number given last to files of that name

    def give(self, title: str, ending: str = "") -> str:
        base = safe_name(title)
        name = first = base + ending
        number = self._last.get(_key(first), 1)
        while _key(name) in self._taken or (_key(name).endswith(_MARKDOWN) and not ending):
            number += 1
            name = f"{base} {number}{ending}"
        self._last[_key(first)] = number
        self._taken.add(_key(name))
        return name


def _key(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def write_json(
    chats: Iterable[PortableChat],
    path: Path,
    unfinished: Unfinished,
    stop: Stop,
    progress: Progress,
    presets: Sequence[dict[str, Any]] = (),
) -> int:
    """Replaces an existing file. If it raises OSError or Stopped nothing has changed."""
    count = 0
    with _replacing(path, unfinished) as file:
        file.write(own.head(presets))
        for count, chat in enumerate(chats, start=1):
            stop.check()
            file.write(("," if count > 1 else "") + "\n" + own.line_of(chat))
            progress(count)
        file.write(own.TAIL)
    return count


def write_markdown(
    chat: PortableChat, words: MarkdownWords, path: Path, unfinished: Unfinished, bytes_of: BytesOf
) -> None:
    """As `write_json`; pictures are in a new folder beside it."""
    with _replacing(path, unfinished) as file, unfinished.beside(path) as made:
        folder = free_place(path.with_suffix(""))
        pictures = _pictures_of(chat, bytes_of)
        file.write(markdown_of(chat, words, _named(pictures, folder.name)))
        file.flush()
        sync_file(file.fileno())  # a disk that is full says so before there is a folder
        if pictures:
            _write_pictures(pictures, made)
            made.rename(folder)


def _pictures_of(chat: PortableChat, bytes_of: BytesOf) -> dict[str, bytes]:
    """Existing pictures of the written branch, by digest."""
    digests = dict.fromkeys(each.digest for message in branch(chat) for each in message.attachments if each.is_picture)
    return {digest: data for digest in digests if (data := bytes_of(digest)) is not None}


def _named(pictures: Mapping[str, bytes], folder: str) -> dict[str, str]:
    return {digest: f"{folder}/{number}.png" for number, digest in enumerate(pictures, start=1)}


def _write_pictures(pictures: Mapping[str, bytes], folder: Path) -> None:
    folder.mkdir(mode=0o755)
    for number, data in enumerate(pictures.values(), start=1):
        _write(folder / f"{number}.png", data)
    sync_folder(folder)


def _write(path: Path, data: bytes) -> None:
    """A new file. The drive has it once its folder is synced, too."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        sync_file(file.fileno(), through_drive=False)


def free_place(place: Path) -> Path:
    """The name, with a number if it is taken."""
    names = (place if number == 1 else place.with_name(f"{place.name} {number}") for number in range(1, _MOST_FOLDERS))
    for free in names:
        if not free.exists():
            return free
    raise FileExistsError(str(place))


def write_markdown_folder(
    chats: Iterable[PortableChat],
    words: MarkdownWords,
    path: Path,
    unfinished: Unfinished,
    stop: Stop,
    progress: Progress,
    bytes_of: BytesOf,
) -> Path:
    """A file for each chat in a new folder of that name, or of that name with a number. Returns the folder."""
    names = Names()
    with unfinished.beside(path) as made:
        made.mkdir(mode=0o700)
        with locked(made):
            for count, chat in enumerate(chats, start=1):
                stop.check()
                name = names.give(chat.title)
                pictures = _pictures_of(chat, bytes_of)
                file = made / f"{name}{_MARKDOWN}"
                if pictures:
                    _write_pictures(pictures, made / name)
                _write(file, markdown_of(chat, words, _named(pictures, name)).encode("utf-8", "replace"))
                progress(count)
            sync_folder(made)
            made.chmod(0o755)
            return _moved(made, path)


def _moved(made: Path, path: Path) -> Path:
    return made.rename(free_place(path))


@contextmanager
def _replacing(path: Path, unfinished: Unfinished) -> Iterator[IO[str]]:
    with unfinished.beside(path) as made:
        made.touch(mode=0o600, exist_ok=False)
        with made.open("w", encoding="utf-8", errors="replace", newline="\n") as file, locked(made):
            yield file
            file.flush()
            sync_file(file.fileno())
            made.replace(path)
