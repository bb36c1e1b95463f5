"""Chats written to files: all or nothing, beside their place first and then moved to it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from app.portable import own
from app.portable.file_names import Names
from app.portable.markdown import MarkdownWords, markdown_of
from app.storage.portable import PortableChat
from app.system.limited_child import Stop

Progress = Callable[[int], None]  # chats that are written
_MOST_FOLDERS = 1000  # of one name


def write_json(
    chats: Iterable[PortableChat],
    path: Path,
    stop: Stop,
    progress: Progress,
    presets: Sequence[dict[str, Any]] = (),
) -> int:
    """Replaces a file that is there: whoever chose it was asked. Where it raises OSError or Stopped nothing changed."""
    count = 0
    with _replacing(path) as file:
        file.write(own.head(presets))
        for count, chat in enumerate(chats, start=1):
            stop.check()
            file.write(("," if count > 1 else "") + "\n" + own.line_of(chat))
            progress(count)
        file.write(own.TAIL)
    return count


def write_markdown(chat: PortableChat, words: MarkdownWords, path: Path) -> None:
    """Likewise."""
    with _replacing(path) as file:
        file.write(markdown_of(chat, words))


def write_markdown_folder(
    chats: Iterable[PortableChat], words: MarkdownWords, parent: Path, name: str, stop: Stop, progress: Progress
) -> Path:
    """A file for each chat in a new folder of that name, or of that name with a number. Returns the folder."""
    names, made = Names(), Path(tempfile.mkdtemp(prefix=".hunch-export-", dir=parent))
    try:
        for count, chat in enumerate(chats, start=1):
            stop.check()
            file = made / f"{names.give(chat.title)}.md"
            file.write_text(markdown_of(chat, words), encoding="utf-8", newline="\n")
            progress(count)
        made.chmod(0o755)
        return _moved(made, parent, name)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _moved(made: Path, parent: Path, name: str) -> Path:
    for number in range(1, _MOST_FOLDERS):
        target = parent / (name if number == 1 else f"{name} {number}")
        if not target.exists():
            made.rename(target)
            return target
    raise FileExistsError(str(parent / name))


@contextmanager
def _replacing(path: Path) -> Iterator[IO[str]]:
    handle, name = tempfile.mkstemp(prefix=".hunch-export-", dir=path.parent)
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:  # noqa: PTH123  of a handle
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
