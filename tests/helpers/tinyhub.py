"""A hub on this machine: real HTTP, real files, and faults on demand. Standard library only.

hub = TinyHub(); hub.add("org/name", files); hub.faults["org/name/model.safetensors"] = Fault(cut_after=100)
Its lists of models have what was added, and `hub.listed` besides; a fault at "search" is one of all
lists, and one at "search words" of those that are asked for with these words.
"""

from __future__ import annotations

import hashlib
import json
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit


@dataclass
class Fault:
    """What to do to requests for one file, or for one whole repository."""

    times: int = 10**9  # this often, then all is well
    status: int = 0
    code: str = ""  # X-Error-Code
    cut_after: int = -1  # close the line after so many bytes
    hold_after: int = -1  # fall silent after so many bytes, until the hub closes
    drip_after: int = -1  # send byte by byte from there, one each `drip_s`
    drip_s: float = 1.0
    before: bytes = b""  # what it sends before its answer
    soon: bytes = b""  # what it sends again and again in place of an answer, each time after `soon_s`
    soon_s: float = 0.0
    late_s: float = 0.0  # how long it says nothing behind the headers
    corrupt: bool = False
    extra: bytes = b""
    truncate: int = 0
    chunked: bool = False
    ignore_range: bool = False
    wrong_range: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    redirect: str = ""


@dataclass
class Seen:
    path: str
    headers: dict[str, str]


class TinyHub:
    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.commits: dict[str, dict[str, bytes]] = {}  # every one that was told of; a test may forget them
        self.branches: dict[tuple[str, str], dict[str, bytes]] = {}  # by repository and revision, beside "main"
        self.renamed: dict[str, str] = {}  # former names of repositories, which lead to them
        self.faults: dict[str, Fault] = {}
        self.extra_entries: list[object] = []  # in every list of files
        self.listed: list[Any] = []  # in every list of models, as a hub would say it
        self.seen: list[Seen] = []
        self.counting = threading.Lock()
        self.closing = threading.Event()
        self.holding = threading.Event()
        self.answered = threading.Semaphore(0)  # counts questions whose answers have been written
        self.page_size = 1000
        self.path = ""  # below which everything is, as behind a company's gateway
        handler = type("BoundHandler", (_Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._scheme = "http" if tls is None else "https"
        if tls is not None:  # each handshake is for the thread of its connection
            wrapped = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
            self._server.socket = wrapped
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def endpoint(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}{self.path}"

    def add(self, repository: str, files: Mapping[str, bytes]) -> None:
        self.repositories[repository] = dict(files)

    def commit(self, repository: str, revision: str = "main") -> str:
        files = sorted((name, _digests(data)) for name, data in self._branch(repository, revision).items())
        return hashlib.sha1(repr(files).encode()).hexdigest()

    def _branch(self, repository: str, revision: str) -> dict[str, bytes]:
        return self.branches.get((repository, revision), self.repositories[repository])

    def files_at(self, repository: str, revision: str) -> dict[str, bytes] | None:
        """None where there is no such commit, or no longer."""
        if len(revision) != 40:
            self.commits[self.commit(repository, revision)] = dict(self._branch(repository, revision))
            return self._branch(repository, revision)
        return self.commits.get(revision)

    def entries(self) -> list[Any]:
        return [*(_listed(name, files) for name, files in self.repositories.items()), *self.listed]

    def requests_for(self, name: str) -> list[Seen]:
        return [seen for seen in self.seen if urlsplit(seen.path).path.endswith(name)]

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a short answer waits 40 ms for the client to acknowledge its headers
    hub: TinyHub

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the standard library
        """Tests look at `seen` instead."""

    def do_GET(self) -> None:
        try:
            self._answer_anything()
            self.wfile.flush()
            self.hub.answered.release()
        except ConnectionError:  # a download that is paused hangs up
            self.close_connection = True

    def _answer_anything(self) -> None:
        self.hub.seen.append(Seen(self.path, dict(self.headers)))
        self.path = self.path.removeprefix(self.hub.path)
        parts = unquote(urlsplit(self.path).path).strip("/").split("/")
        if parts == ["api", "models"]:
            words = parse_qs(urlsplit(self.path).query).get("search", [""])[0].casefold()
            searched = self._fault("search") or self._fault(f"search {words}") or Fault()
            if not self._only_says_soon(searched):
                self._search(searched)
            return
        question = parts[:2] == ["api", "models"]
        repository = "/".join(parts[2:4] if question else parts[:2])
        fault = self._fault(repository) or (None if question else self._fault("/".join([repository, *parts[4:]])))
        if fault is not None and self._only_says_soon(fault):
            return
        if fault is not None and fault.redirect:
            self._send(302, b"", {"Location": fault.redirect + self.path})
        elif fault is not None and fault.status:
            self._send(fault.status, b"{}", ({"X-Error-Code": fault.code} if fault.code else {}) | fault.headers)
        elif repository in self.hub.renamed:
            self._send(307, b"", {"Location": self.path.replace(repository, self.hub.renamed[repository])})
        elif repository not in self.hub.repositories:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        elif question:
            self._answer(repository, parts[4], parts[5], fault or Fault())
        else:
            files = self.hub.files_at(repository, parts[3]) or {}
            self._send_file(files.get("/".join(parts[4:])), fault or Fault())

    def _only_says_soon(self, fault: Fault) -> bool:
        """Whether that is all that it says; until nobody listens any more."""
        self.wfile.write(fault.before)
        with suppress(OSError):
            while fault.soon and not self.hub.closing.wait(fault.soon_s):
                self.wfile.write(fault.soon)
        self.close_connection = bool(fault.soon)
        return bool(fault.soon)

    def _fault(self, key: str) -> Fault | None:
        with self.hub.counting:  # several downloads ask at once
            fault = self.hub.faults.get(key)
            if fault is None or fault.times <= 0:
                return None
            fault.times -= 1
            return fault

    def _search(self, fault: Fault) -> None:
        if fault.status:
            self._send(fault.status, b"{}", fault.headers)
            return
        asked = parse_qs(urlsplit(self.path).query)
        words = asked.get("search", [""])[0].casefold().split()
        tags, author = set(asked.get("filter", [])), asked.get("author", [""])[0]
        found = [entry for entry in self.hub.entries() if _answers(entry, words, author, tags)]
        found.sort(key=lambda entry: _rank(entry, asked.get("sort", ["downloads"])[0]), reverse=True)
        start = int(asked.get("cursor", ["0"])[0])
        size = int(asked.get("limit", ["1000"])[0])
        more = urlencode(asked | {"cursor": [str(start + size)]}, doseq=True)
        link = {"Link": f'<{self.hub.endpoint}/api/models?{more}>; rel="next"'} if start + size < len(found) else {}
        body = fault.extra or json.dumps(found[start : start + size]).encode()
        self._send(200, body, link | fault.headers, fault)

    def _answer(self, repository: str, kind: str, revision: str, fault: Fault) -> None:
        files = self.hub.files_at(repository, revision)
        if files is None:
            self._send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            return
        if kind == "revision":
            commit = revision if len(revision) == 40 else self.hub.commit(repository, revision)
            listed = _listed(repository, files)
            self._send(200, json.dumps(listed | {"sha": commit, "siblings": []}).encode(), fault.headers)
            return
        entries = [*(_entry(name, data) for name, data in files.items()), *self.hub.extra_entries]
        start, size = int(urlsplit(self.path).query.partition("cursor=")[2] or 0), self.hub.page_size
        link = f'<{self.hub.endpoint}{urlsplit(self.path).path}?cursor={start + size}>; rel="next"'
        more = {"Link": link} if start + size < len(entries) else {}
        self._send(200, json.dumps(entries[start : start + size]).encode(), more | fault.headers)

    def _send_file(self, data: bytes | None, fault: Fault) -> None:
        if data is None:
            self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
            return
        body = bytes(len(data)) if fault.corrupt else data[: len(data) - fault.truncate] + fault.extra
        asked = self.headers.get("Range")
        start = int(asked[len("bytes=") : -1]) if asked and not fault.ignore_range else 0
        if start >= len(body) > 0:
            self._send(416, b"", {})
            return
        told = start + 7 if fault.wrong_range else start
        ranged = {"Content-Range": f"bytes {told}-{len(body) - 1}/{len(body)}"} if start else {}
        self._send(206 if start else 200, body[start:], {"ETag": '"x"'} | ranged | fault.headers, fault)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str], fault: Fault | None = None) -> None:
        self.send_response(status)
        chunked = fault is not None and fault.chunked
        framing = {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(len(body))}
        for name, value in {**framing, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(
            f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n" if chunked else self._spoiled(body, fault)
        )

    def _spoiled(self, body: bytes, fault: Fault | None) -> bytes:
        if fault is not None and fault.late_s:
            self.wfile.flush()
            self.hub.closing.wait(fault.late_s)
        if fault is not None and 0 <= fault.hold_after < len(body):
            self.wfile.write(body[: fault.hold_after])
            self.wfile.flush()
            self.hub.holding.set()
            self.hub.closing.wait()
            self.close_connection = True
            return b""
        if fault is not None and 0 <= fault.drip_after < len(body):
            return self._drip(body, fault)
        if fault is not None and 0 <= fault.cut_after < len(body):
            self.close_connection = True
            return body[: fault.cut_after]
        return body

    def _drip(self, body: bytes, fault: Fault) -> bytes:
        self.wfile.write(body[: fault.drip_after])
        self.close_connection = True
        for at in range(fault.drip_after, len(body)):
            self.wfile.flush()
            if self.hub.closing.wait(fault.drip_s):
                break
            with suppress(OSError):  # nobody listens any more
                self.wfile.write(body[at : at + 1])
                continue
            break
        return b""


@lru_cache(maxsize=64)
def _digests(data: bytes) -> tuple[str, str]:
    """What git calls it, and its SHA-256."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest(), hashlib.sha256(data).hexdigest()


def _listed(repository: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    """A model as the public hub lists it."""
    config = json.loads(files.get("config.json", b"{}"))
    kept = {key: config[key] for key in ("model_type", "architectures", "quantization_config") if key in config}
    weights = sum(len(data) for name, data in files.items() if name.endswith(".safetensors"))
    return {
        "id": repository,
        "downloads": 0,
        "likes": 0,
        "gated": False,
        "lastModified": "2026-01-01T00:00:00.000Z",
        "tags": ["mlx", "safetensors", str(config.get("model_type", "")), "license:apache-2.0"],
        "config": kept,
        "safetensors": {"parameters": {"BF16": weights // 2}, "total": weights // 2},
    }


def _answers(entry: Any, words: list[str], author: str, tags: set[str]) -> bool:
    """Hostile entries answer everything."""
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str) or not isinstance(entry.get("tags"), list):
        return True
    name = entry["id"].casefold()
    by = not author or name.startswith(f"{author.casefold()}/")
    return by and all(word in name for word in words) and tags <= {str(tag) for tag in entry["tags"]}


def _rank(entry: Any, key: str) -> tuple[float, str]:
    value = entry.get(key) if isinstance(entry, dict) else None
    return (float(value) if type(value) is int and value < 2**53 else 0.0, value if isinstance(value, str) else "")


def _entry(name: str, data: bytes) -> dict[str, object]:
    blob, content = _digests(data)
    entry: dict[str, object] = {"type": "file", "path": name, "size": len(data), "oid": blob}
    if name.endswith((".safetensors", ".bin", "tokenizer.json")):
        entry["lfs"] = {"oid": content, "size": len(data), "pointerSize": 134}
        entry["oid"] = "0" * 40  # of the pointer, which nobody needs
    return entry
