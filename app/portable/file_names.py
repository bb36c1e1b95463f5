"""Names of files from titles of chats: safe on every system, in the letters of the title."""

from __future__ import annotations

import re
import unicodedata

_MOST_BYTES = 120  # of UTF-8; systems take 255
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_NAMELESS = "Chat"


def safe_name(title: str) -> str:
    text = unicodedata.normalize("NFC", title.encode("utf-8", "replace").decode("utf-8"))
    text = " ".join(_FORBIDDEN.sub(" ", text).split()).strip(". ")
    text = text.encode()[:_MOST_BYTES].decode("utf-8", "ignore").strip(". ")
    if _RESERVED.fullmatch(text):
        text = f"{text}_"
    return text or _NAMELESS


class Names:
    """Names that no two files of a folder share, also where a system does not tell capitals from small letters."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}  # the number given last to files of that name

    def give(self, title: str) -> str:
        base = name = safe_name(title)
        number = self._last.get(_key(base), 1)
        while _key(name) in self._taken:
            number += 1
            name = f"{base} {number}"
        self._last[_key(base)] = number
        self._taken.add(_key(name))
        return name


def _key(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
