"""Pages in a real browser that must not reach the server: of other sites, of files, and by names that point here.

Each page tries whatever a page may send. What arrives is told by a relay in front of the server, what came of it by
the server's own figures. A second browser enforces nothing for its user, so all that is refused the server refuses.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from socket import SHUT_WR, create_connection, create_server, socket

from tests.clients.programs import Servers
from tests.clients.servers import Server

PAGE = Path(__file__).with_name("attacks.html")
NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 120
_WRITTEN = ("hunch_requests_finished_total", "hunch_prompt_tokens_total", "hunch_generation_tokens_total")
_HOSTS = "MAP *.test 127.0.0.1"
_LOOSE = ("--disable-web-security", "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests")
_REQUEST = re.compile(rb"^([A-Z]+) (\S+) HTTP/1\.1\r$", re.MULTILINE)
_STATUS = re.compile(rb"^HTTP/1\.1 (\d{3}) ", re.MULTILINE)


@dataclass
class Relay:
    """What a page's host name points at: the page at first, and from then on the server."""

    target: int
    pages: dict[str, bytes] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)  # of what the server has answered

    def __post_init__(self) -> None:
        self._listener = create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=self._listener.accept()[:1], daemon=True).start()

    def _serve(self, client: socket) -> None:
        with client, suppress(OSError):
            first = client.recv(1 << 16)
            asked = _REQUEST.search(first)
            page = self.pages.get(asked.group(2).decode()) if asked else None
            if page is not None:
                head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n"
                client.sendall(f"{head}content-length: {len(page)}\r\n\r\n".encode() + page)
                return
            with create_connection(("127.0.0.1", self.target)) as server:
                server.sendall(first)
                back = threading.Thread(target=self._answer, args=(server, client), daemon=True)
                back.start()
                with suppress(OSError):
                    while data := client.recv(1 << 16):
                        server.sendall(data)
                    server.shutdown(SHUT_WR)
                back.join()

    def _answer(self, server: socket, client: socket) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 16):
                self.statuses.update(int(status) for status in _STATUS.findall(data))
                client.sendall(data)
            client.shutdown(SHUT_WR)


@contextmanager
def relays(server: Server) -> Iterator[tuple[Relay, Relay]]:
    both = tuple(Relay(int(server.address.rpartition(":")[2])) for _ in range(2))
    try:
        yield both[0], both[1]
    finally:
        for each in both:
            each.close()


def pages(servers: Servers) -> str:
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        return "Chromium is not installed: nothing was checked"
    arrived = 0
    with relays(servers.pair) as (here, there):
        ours = f"http://127.0.0.1:{here.port}"
        file = servers.folder / "page.html"
        file.write_bytes(_page(ours))
        here.pages = {"/page": _page(ours), "/rebound": _page(""), "/favicon.ico": b""}  # of a refusal in a window
        there.pages = here.pages
        addresses = {
            "a name that points here": f"http://rebound.test:{here.port}/rebound",
            "another site": f"http://evil.test:{here.port}/page",
            "another port": f"http://127.0.0.1:{there.port}/page",
            "a file": file.as_uri(),
        }
        assert visit(servers, program, f"{ours}/rebound", here)[1], "a page of the server's own origin reaches nothing"
        public = f"--ip-address-space-overrides=127.0.0.1:{there.port}=public"
        visits: list[tuple[str, str, tuple[str, ...]]] = [
            (name, address, flags) for name, address in addresses.items() for flags in ((), _LOOSE)
        ]
        visits.append(("a public site", f"http://evil.test:{there.port}/page", (public,)))
        for name, address, flags in visits:
            told, written, statuses = visit(servers, program, address, here, *flags)
            assert not written, f"{name} had something written: {written}"
            assert set(statuses) <= {403}, f"{name} was answered {statuses}: {told}"
            assert sum(statuses.values()) >= (20 if flags == _LOOSE else 1) or "public" in name, (name, statuses)
            arrived += sum(statuses.values())
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return f"{version}: {arrived} requests of {len(visits)} pages arrived, all were refused"


def visit(servers: Servers, program: str, address: str, relay: Relay, *flags: str) -> tuple[str, float, Counter[int]]:
    """What the page says, what the server has written since, and how it has answered."""
    before = _written(servers.pair)
    relay.statuses.clear()
    folder = servers.folder / "browser"
    shutil.rmtree(folder, ignore_errors=True)
    quiet = ("--no-first-run", "--disable-background-networking", "--disable-component-update", "--no-proxy-server")
    command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *quiet]
    command += ["--disable-popup-blocking", "--enable-logging=stderr", f"--user-data-dir={folder}"]
    command += [f"--host-resolver-rules={_HOSTS}", *flags, address]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as browser:
        giving_up = threading.Timer(PATIENCE_S, browser.kill)
        giving_up.start()
        try:
            assert browser.stderr is not None
            told = next((line for line in browser.stderr if "TOLD {" in line), "")
        finally:
            giving_up.cancel()
            browser.terminate()
    assert told, f"{address} has not come to its end"
    return told, _written(servers.pair) - before, Counter(relay.statuses)


def _page(target: str) -> bytes:
    return PAGE.read_text().replace('"TARGET"', json.dumps(target), 1).encode()


def _written(server: Server) -> float:
    """All that was asked of the engine, and said by it, once nothing is under way."""
    server.wait_until_quiet()
    return sum(value for name, value in server.figures().items() if name.partition("{")[0] in _WRITTEN)
