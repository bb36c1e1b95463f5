"""Pictures that other apps store in files beside their chats.

A name in a chat is never used as a path: it is looked up among the names of existing files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import IO

from app.storage.parts import Attachment, AttachmentKind
from engine import open_plain

USER_FILES = "user-files"  # LM Studio's, beside its "conversations"
_CONVERSATIONS = "conversations"
_MOST_NAMES = 200_000
_MOST_BYTES = 50_000_000  # of one picture, as for attachments
_ASSET = re.compile(r"file[-_][A-Za-z0-9]+")  # as ChatGPT numbers them; the names of its files begin with it

Open = Callable[[], AbstractContextManager[IO[bytes]]]
Named = tuple[str, Open]


def wanted(name: str, file: str) -> Attachment:
    """A picture whose bytes are to be found; its text is the name or id of its file."""
    return Attachment(name, AttachmentKind.PICTURE, file, 0)


def is_wanted(attachment: Attachment) -> bool:
    return attachment.is_picture and not attachment.digest


def asset_of(pointer: str) -> str:
    """The id of the file in ChatGPT's pointer; "" if there is none."""
    found = _ASSET.search(pointer.partition("://")[2])
    return found[0] if found else pointer


class Beside:
    """The files beside some chats, listed when the first is needed."""

    def __init__(self, files: Callable[[], Iterable[Named]] = tuple) -> None:
        self._files = files

    def read(self, name: str, most_bytes: int) -> bytes:
        """The bytes; None if it is missing, too large, or cannot be read."""
        opened = self._by_name.get(name)
        most = min(most_bytes, _MOST_BYTES)
        try:
            data = b""
            if opened is not None:
                with opened() as file:
                    data = file.read(most + 1)
        except Exception:  # noqa: BLE001  archives have an error for every way in which they can be damaged
            return b""
        return data if len(data) <= most else b""

    @cached_property
    def _by_name(self) -> dict[str, Open]:
        found: dict[str, Open] = {}
        for name, opened in islice(self._files(), _MOST_NAMES):
            asset = _ASSET.match(name)
            for each in (name, *([asset[0]] if asset else [])):
                found.setdefault(each, opened)
        return found


def beside(path: Path, depth: int) -> Beside:
    """Files in and below a folder; for a file, those around it; for LM Studio, its other folder as well."""
    top = path if path.is_dir() else path.parent
    homes = [each.parent for each in (top, *top.parents) if each.name == _CONVERSATIONS]
    return Beside(lambda: _files_in([top, *(each / USER_FILES for each in homes)], depth))


def _files_in(tops: Iterable[Path], depth: int) -> Iterator[Named]:
    for top in tops:
        for folder, below, names in os.walk(top):
            below[:] = sorted(below) if len(Path(folder).relative_to(top).parts) < depth else []
            for name in sorted(names):
                yield name, partial(_opened, Path(folder) / name)


def _opened(path: Path) -> IO[bytes]:
    """Links are not followed."""
    return open_plain(path, os.O_NOFOLLOW)
