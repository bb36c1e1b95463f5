"""The process that reads other apps' chats: writes them to a file, one a line, in our own format.

Prints lines of JSON: progress, each chat with its origin, and each problem.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from app.portable import chatgpt, lm_studio, own
from app.portable.beside import Beside, is_wanted
from app.portable.json_stream import JsonReader
from app.portable.problems import Unreadable, WhyNotRead
from app.portable.reading import LIMITS, Source, chunks, note, sources
from app.storage.codec import storable
from app.storage.parts import Attachment
from app.storage.portable import PortableChat, with_files
from app.system.limited_child import given, set_limits

_MOST_SPOOLED = 4 << 30  # characters
_MOST_PICTURE_BYTES = 2 << 30
_TITLE = 60
_REPORT_S = 0.1


def main(arguments: list[str]) -> int:
    set_limits(LIMITS)
    try:
        with Path(arguments[0]).open("w", encoding="utf-8") as spool:
            Import(spool).read([Path(each) for each in arguments[1:]])
    except OSError as error:  # of the disk that takes what is read
        _say(refused=error.errno or errno.EIO)
    _say(end=True)
    return 0


def _say(**values: object) -> None:
    sys.stdout.buffer.write(json.dumps(values, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


class Import:
    def __init__(self, spool: IO[str]) -> None:
        self._spool = spool
        self._spooled = 0
        self._picture_bytes = _MOST_PICTURE_BYTES  # that may still be read
        self._read = self._all = 0  # bytes
        self._reported_s = 0.0

    def read(self, paths: list[Path]) -> None:
        self._all = sum(each.size_bytes for path in paths for each in sources(path))
        for path in paths:
            for source in sources(path):
                self._read_source(source)

    def _count(self, read: int) -> None:
        self._read += read
        if time.monotonic() - self._reported_s > _REPORT_S:
            self._reported_s = time.monotonic()
            _say(done=self._read, all=self._all)

    def _read_source(self, source: Source) -> None:
        try:
            if not self._read_chats(source):
                raise Unreadable(WhyNotRead.EMPTY)
        except Unreadable as error:
            _say(file=source.name, why=error.why)
        except MemoryError:
            _say(file=source.name, why=WhyNotRead.TOO_MUCH)

    def _read_chats(self, source: Source) -> int:
        """Read all chats; returns their number, readable or not. Refuses a file of another kind at its first value."""
        reader = JsonReader()
        count = 0
        for element in reader.elements(chunks(source, self._count)):
            title: object = ""
            count += 1
            if count == 1 and (around := reader.head).get("format") == own.FORMAT:
                own.check_head(around)
                for preset in own.presets_of(around):
                    _say(preset=preset)
            try:
                if element.why is not None:
                    raise Unreadable(element.why)
                found = element.value
                title = found.get("title") or found.get("name") if isinstance(found, dict) else ""
                for chat in understood(found, source.folder):
                    self._put(chat, source.beside)
            except Unreadable as error:
                if error.why is WhyNotRead.UNKNOWN and count == 1:
                    raise
                _say(file=source.name, chat=_short(title), why=error.why)
        return count

    def _put(self, chat: PortableChat, beside: Beside) -> None:
        with_pictures = Filling(beside, min(own.MOST_PICTURE_BYTES, self._picture_bytes))
        line = own.line_of(with_pictures.of(chat))
        self._picture_bytes -= with_pictures.read
        self._spooled += len(line)
        if self._spooled > _MOST_SPOOLED:
            raise Unreadable(WhyNotRead.TOO_LARGE)
        self._spool.write(line + "\n")
        self._spool.flush()  # what is reported is there, should this process end
        _say(origin=chat.origin, messages=len(chat.messages), missing=with_pictures.missing)


class Filling:
    """Adds the bytes of a chat's pictures, once for each file; missing pictures become notes."""

    def __init__(self, beside: Beside, most_bytes: int) -> None:
        self._beside = beside
        self._most_bytes = most_bytes
        self._found: dict[str, Attachment | None] = {}
        self.read = self.missing = 0  # bytes, pictures

    def of(self, chat: PortableChat) -> PortableChat:
        """A chat of another app; our own format contains its pictures."""
        return with_files(chat, self._whole)

    def _whole(self, attachment: Attachment) -> Attachment:
        if not is_wanted(attachment):
            return attachment
        file = attachment.text
        found = self._found.get(file)
        if found is not None:
            return replace(found, name=attachment.name)
        data = b"" if file in self._found else self._beside.read(file, self._most_bytes - self.read)
        self._found[file] = None
        if not data:
            self.missing += 1
            return note(attachment.name or "image")
        self.read += len(data)
        digest = hashlib.sha256(data).hexdigest()
        text = base64.b64encode(data).decode()
        whole = replace(attachment, text=text, size_bytes=len(data), digest=digest, width=1, height=1)
        self._found[file] = replace(whole, text="")
        return whole  # the decoder finds its size


def _short(title: object) -> str:
    return storable(title)[:_TITLE] if isinstance(title, str) else ""


def understood(found: Any, folder: tuple[str, ...] = ()) -> Iterator[PortableChat]:
    """The chats in a value, by its format. Raises Unreadable."""
    if not isinstance(found, dict):
        raise Unreadable(WhyNotRead.UNKNOWN)
    if chatgpt.is_chatgpt(found):
        yield titled(chatgpt.chat_of(found))
    elif "origin" not in found and isinstance(found.get("id"), str) and "shown" in found:
        yield checked(own.chat_of(found))
    elif lm_studio.is_lm_studio(found):
        yield titled(lm_studio.chat_of(found, folder))
    elif found.get("format") == own.FORMAT:  # without chats
        raise Unreadable(WhyNotRead.EMPTY)
    else:
        raise Unreadable(WhyNotRead.UNKNOWN)


def checked(chat: PortableChat) -> PortableChat:
    if not chat.origin:
        raise Unreadable(WhyNotRead.WRONG)
    return chat


def titled(chat: PortableChat) -> PortableChat:
    """The chat with a title: its first words if it has none, as for new chats."""
    if chat.title.strip():
        return chat
    first = next((message.text for message in chat.messages if message.text.strip()), "")
    return replace(chat, title=" ".join(first[:200].split())[:_TITLE])


if __name__ == "__main__":
    sys.exit(main(given()))
