"""The process that fetches an address: prints a line of JSON with its text, or why there is none."""

from __future__ import annotations

import codecs
import http.client
import json
import logging
import os
import re
import signal
import socket
import ssl
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urljoin

from app.documents.encodings import decoded
from app.documents.page_text import text_of_page
from app.system.limited_child import given, set_limits
from app.tools.builtin.addresses import Target, places_of, target_of
from app.tools.builtin.fetch import LIMITS
from app.tools.builtin.tool import Refusal
from app.tools.definitions import LONGEST_RESULT

_MOST_BYTES = 2 << 20
_MOST_REDIRECTS = 5
_CONNECT_S = 10
_WHOLE_S = 30
_PAGES = ("text/html", "application/xhtml+xml")
_TEXTS = (
    "application/json",
    "application/xml",
    "application/javascript",
    "application/rss+xml",
    "application/atom+xml",
)
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_META = re.compile(r"""<meta\s[^>]*?charset\s*=\s*["']?(?!utf-16)([\w.:-]+)""", re.IGNORECASE)  # or it were no text
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # hold whatever is named
_HEAD_BYTES = 2048  # in which a page names its encoding
# What is written under these names of Python's, which knows what each is also called.
_WIDER = {"euc_kr": "cp949", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"} | dict.fromkeys(
    ("iso8859-1", "ascii"), "cp1252"
)
_REDIRECTS = (301, 302, 303, 307, 308)
_HEADERS = {
    "User-Agent": "Hunch",
    "Accept": "text/html, text/*, application/json;q=0.9, */*;q=0.1",
    "Accept-Encoding": "identity",
}


def main(arguments: list[str]) -> int:
    set_limits(LIMITS)
    signal.alarm(_WHOLE_S)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    logging.disable()
    address, typed = arguments
    try:
        said = {"text": fetched(address, typed=bool(typed))}
    except Refusal as refusal:
        said = {"why": str(refusal)}
    except (MemoryError, RecursionError):
        said = {"why": "it is too large"}
    except Exception as error:  # noqa: BLE001  whatever a server that is not trusted makes a library do
        said = {"why": f"it cannot be read ({type(error).__name__})"}
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()
    return 0


def _end_with_parent(parent: int) -> None:
    """A killed app leaves no process that waits for a server."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def fetched(address: str, *, typed: bool) -> str:
    """Follows redirects within the same origin only. Raises Refusal."""
    target = target_of(address, typed=typed)
    for _ in range(_MOST_REDIRECTS + 1):
        status, headers, body, whole = _asked(target, typed=typed)
        if status in _REDIRECTS and (location := headers.get("location", "")):
            with suppress(UnicodeDecodeError):  # http.client has read the bytes as Latin-1; most are UTF-8
                location = location.encode("latin-1").decode()
            other = target_of(urljoin(target.address, location.replace(" ", "%20")), typed=typed)
            secured = other.scheme == "https" and (other.host, target.scheme) == (target.host, "http")
            if other.origin != target.origin and not (secured and (target.port, other.port) == (80, 443)):
                raise Refusal(f"it leads to another place, which can be fetched by itself: {other.address}")
            target = other
            continue
        return _text(target, status, headers, body, whole=whole)
    raise Refusal("it leads on and on")


def _asked(target: Target, *, typed: bool) -> tuple[int, dict[str, str], bytes, bool]:
    failed: OSError | None = None
    for family, place in places_of(target, typed=typed):
        connection = _Connection(target, family, place)
        try:
            connection.request("GET", target.path, headers=_HEADERS)
            answer = connection.getresponse()
            body = answer.read(_MOST_BYTES + 1)
        except ssl.SSLCertVerificationError:
            raise Refusal("its certificate is not valid") from None
        except http.client.HTTPException:
            raise Refusal("its server answers nonsense") from None
        except OSError as error:
            failed = error
            continue
        finally:
            connection.close()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        if answer.status not in _REDIRECTS:
            body = _unpacked(body, headers.get("content-encoding", "identity").lower())
        return answer.status, headers, body[:_MOST_BYTES], len(body) <= _MOST_BYTES
    raise Refusal("its server does not answer" if isinstance(failed, TimeoutError) else "it cannot be reached")


def _unpacked(body: bytes, encoding: str) -> bytes:
    """Some servers have only compressed what was asked for as it is. Raises Refusal."""
    if encoding in ("gzip", "x-gzip", "deflate"):
        with suppress(zlib.error):
            return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(body, _MOST_BYTES + 1)  # of either kind
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(body, _MOST_BYTES + 1)  # without its header, as some do
    if encoding in ("br", "zstd", "compress"):
        raise Refusal(f"it is compressed ({encoding})")
    return body


class _Connection(http.client.HTTPConnection):
    """To an address that was checked, whatever its name is looked up as later."""

    def __init__(self, target: Target, family: socket.AddressFamily, place: str) -> None:
        super().__init__(target.host, target.port, timeout=_CONNECT_S)
        self.default_port = 443 if target.scheme == "https" else 80  # what is not named in the header
        self._target = target
        self._family = family
        self._place = place

    def connect(self) -> None:
        connected = socket.socket(self._family, socket.SOCK_STREAM)
        connected.settimeout(_CONNECT_S)
        try:
            connected.connect((self._place.partition("%")[0], self._target.port))
            secured: Any = connected
            if self._target.scheme == "https":
                from httpcore2 import default_ssl_context  # on a Mac: what the keychain trusts, as for downloads

                secured = default_ssl_context().wrap_socket(connected, server_hostname=self._target.host)
        except BaseException:
            connected.close()
            raise
        self.sock = secured


def _text(target: Target, status: int, headers: dict[str, str], body: bytes, *, whole: bool) -> str:
    kind, _, more = headers.get("content-type", "text/html").partition(";")
    kind = kind.strip().lower()
    if not (kind in _PAGES or kind in _TEXTS or kind.startswith("text/") or kind.endswith(("+json", "+xml"))):
        raise Refusal(f"it is no text ({kind[:60]})")
    named = _CHARSET.search(more) or (_META.search(body[:_HEAD_BYTES].decode("latin-1")) if kind in _PAGES else None)
    text = _decoded(body, named[1].lower() if named else "")
    if kind in _PAGES:
        text = text_of_page(text, target.address)
    notes = list(_notes(status, text, whole=whole))
    return "\n\n".join([*notes, text[: LONGEST_RESULT - 1_000]])


def _decoded(body: bytes, charset: str) -> str:
    with suppress(LookupError, UnicodeError):
        if charset and not body.startswith(_MARKS):
            name = codecs.lookup(charset).name
            return body.decode(_WIDER.get(name, name), "replace").removeprefix("\ufeff")
    return decoded(body) or body.decode("utf-8", "replace")


def _notes(status: int, text: str, *, whole: bool) -> Iterator[str]:
    if status >= 400:
        yield f"[The server answered with status {status}.]"
    if not whole or len(text) > LONGEST_RESULT - 1_000:
        yield "[Only the beginning is here.]"


if __name__ == "__main__":
    sys.exit(main(given()))
