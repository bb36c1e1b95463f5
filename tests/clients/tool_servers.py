"""Tool servers of others, from npm and the Python index: each is connected, listed, called, cancelled and restarted.

They are installed for this alone, and started by our own tool host, as the app does it.
"""

from __future__ import annotations

import http.server
import json
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from app.tools.definitions import ToolResult
from app.tools.processes import family
from app.tools.servers import ServerConfig
from app.tools.wire import Patience
from tests.helpers.tool_hosts import HostUnderTest, wait_until

_FOLDER = Path("build/tool-servers").resolve()
_NODE = _FOLDER / "node_modules" / ".bin"
_PYTHON = _FOLDER / "python" / "bin"
_NPM = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "@playwright/mcp@0.0.83",
)
_PIP = ("mcp-server-fetch==2026.10.24", "mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19")
_CANCEL_S = 0.1


class NotInstalled(Exception):
    """Why a server cannot be tried here."""


def _from_npm(name: str) -> str:
    if shutil.which("npm") is None:
        raise NotInstalled("Node is not installed")
    if not all((_NODE.parent / package.rpartition("@")[0]).exists() for package in _NPM):
        command = [
            "npm",
            "install",
            "--silent",
            "--prefix",
            str(_FOLDER),
            "--no-fund",
            "--no-audit",
            "--ignore-scripts",
        ]
        if subprocess.run([*command, *_NPM], check=False).returncode:
            raise NotInstalled("npm could not fetch it")
    return str(_NODE / name)


def _from_python(name: str) -> str:
    if not (_PYTHON / name).exists():
        subprocess.run([sys.executable, "-m", "venv", str(_PYTHON.parent)], check=True)
        if subprocess.run([_PYTHON / "python", "-m", "pip", "install", "--quiet", *_PIP], check=False).returncode:
            raise NotInstalled("pip could not fetch it")
    return str(_PYTHON / name)


class _Tried:
    """One server, in a folder of its own."""

    def __init__(self, folder: Path, *command: str) -> None:
        self.folder = folder
        self.host = HostUnderTest(folder, Patience())
        self.server = self.host.server("tried", *command)

    def names(self) -> set[str]:
        tools = self.host.tools(self.server)
        again = self.host.tools(self.server)
        assert [each.digest for each in tools] == [each.digest for each in again]
        return {each.name for each in tools}

    def call(self, tool: str, **arguments: Any) -> ToolResult:
        return self.host.call("tried", tool, json.dumps(arguments))

    def cancel(self, tool: str, **arguments: Any) -> None:
        cancel, results = self.host.begin_call("tried", tool, json.dumps(arguments))
        began = time.monotonic()
        cancel()
        results.get(timeout=60)
        assert time.monotonic() - began < _CANCEL_S

    def restart(self) -> None:
        self.host.host.stop("tried")

    def close(self) -> None:
        (file,) = self.folder.glob("tool_processes-*.json")
        mark = json.loads(file.read_text())["mark"]
        assert family(mark, {})
        self.host.host.close(10)
        assert family(mark, {}) == {}


def _tried(command: Callable[[], list[str]], use: Callable[[_Tried], str]) -> str:
    try:
        words = command()
    except NotInstalled as missing:
        return f"nothing was checked: {missing}"
    with tempfile.TemporaryDirectory() as folder:
        tried = _Tried(Path(folder), *words)
        try:
            names = tried.names()
            done = use(tried)
            tried.restart()
            assert tried.names() == names
        finally:
            tried.close()
    return f"{len(names)} tools, {done}"


def everything() -> str:
    def use(tried: _Tried) -> str:
        assert "Hello" in tried.call("echo", message="Hello").text
        assert "5" in tried.call("get-sum", a=2, b=3).text
        (picture,) = tried.call("get-tiny-image").pictures
        assert picture.startswith(b"\x89PNG")
        tried.cancel("trigger-long-running-operation", duration=60, steps=120)
        assert "Hello" in tried.call("echo", message="Hello").text
        assert tried.call("no-such-tool").failed
        return "text, a picture, cancelled"

    return _tried(lambda: [_from_npm("mcp-server-everything")], use)


def everything_over_http(mode: str, path: str) -> str:
    """A server of others on a port of this machine, by either of the protocol's ways over HTTP."""
    try:
        command = _from_npm("mcp-server-everything")
    except NotInstalled as missing:
        return f"nothing was checked: {missing}"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = os.environ | {"PORT": str(port)}
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen([command, mode], env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as web,
    ):
        host = HostUnderTest(Path(folder), Patience())
        server = ServerConfig("web", "web", address=f"http://127.0.0.1:{port}{path}")
        try:
            wait_until(lambda: isinstance(host.ask(server), tuple), "it does not begin")
            tools = host.tools(server)
            assert "5" in host.call("web", "get-sum", '{"a": 2, "b": 3}').text
            slow = json.dumps({"duration": 60, "steps": 120})
            cancel, results = host.begin_call("web", "trigger-long-running-operation", slow)
            cancel()
            assert results.get(timeout=60).text == "The call was stopped."
            host.host.stop("web")
            assert host.tools(server)
        finally:
            host.host.close(10)
            web.terminate()
    return f"{len(tools)} tools, called, cancelled, connected again"


def filesystem() -> str:
    with tempfile.TemporaryDirectory() as allowed:

        def use(tried: _Tried) -> str:
            (Path(allowed) / "notes.md").write_text("of mine ✓")
            assert tried.call("read_text_file", path=f"{allowed}/notes.md").text == "of mine ✓"
            assert "notes.md" in tried.call("list_directory", path=allowed).text
            assert tried.call("read_text_file", path="/etc/passwd").failed
            tried.cancel("directory_tree", path=allowed)
            return "read, listed, refused outside of its folder, cancelled"

        return _tried(lambda: [_from_npm("mcp-server-filesystem"), allowed], use)


def memory() -> str:
    def use(tried: _Tried) -> str:
        tried.call("create_entities", entities=[{"name": "Ada", "entityType": "person", "observations": ["counts"]}])
        assert "counts" in tried.call("read_graph").text
        tried.call("delete_entities", entityNames=["Ada"])
        tried.cancel("read_graph")
        return "written, read, cancelled"

    return _tried(lambda: [_from_npm("mcp-server-memory")], use)


def playwright() -> str:
    def use(tried: _Tried) -> str:
        assert "browser_navigate" in tried.names()
        tried.cancel("browser_navigate", url="data:text/plain,x")
        return "listed, cancelled (no browser is installed for it)"

    return _tried(lambda: [_from_npm("playwright-mcp"), "--headless"], use)


def fetch() -> str:
    with _page("<h1>Of this machine</h1>") as address:

        def use(tried: _Tried) -> str:
            said = tried.call("fetch", url=address)
            assert "Of this machine" in said.text, said
            tried.cancel("fetch", url=f"{address}/hangs")
            return "fetched a page of this machine, cancelled"

        return _tried(lambda: [_from_python("mcp-server-fetch"), "--ignore-robots-txt", "--allow-private-ips"], use)


def time_server() -> str:
    def use(tried: _Tried) -> str:
        assert "Asia/Seoul" in tried.call("get_current_time", timezone="Asia/Seoul").text
        assert tried.call("get_current_time", timezone="Nowhere/None").failed
        tried.cancel("get_current_time", timezone="Asia/Seoul")
        return "asked, refused, cancelled"

    return _tried(lambda: [_from_python("mcp-server-time")], use)


def git() -> str:
    with tempfile.TemporaryDirectory() as repository:

        def use(tried: _Tried) -> str:
            subprocess.run(["git", "init", "--quiet", repository], check=True)
            (Path(repository) / "new.txt").write_text("new")
            assert "new.txt" in tried.call("git_status", repo_path=repository).text
            tried.cancel("git_status", repo_path=repository)
            return "asked, cancelled"

        return _tried(lambda: [_from_python("mcp-server-git")], use)


@contextmanager
def _page(html: str) -> Iterator[str]:
    left: queue.Queue[None] = queue.Queue()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.endswith("/hangs"):
                left.get()
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/page"
        left.put(None)
        server.shutdown()


TOOL_SERVERS: dict[str, Callable[[], str]] = {
    "mcp-everything": everything,
    "mcp-everything-http": partial(everything_over_http, "streamableHttp", "/mcp"),
    "mcp-everything-sse": partial(everything_over_http, "sse", "/sse"),
    "mcp-filesystem": filesystem,
    "mcp-memory": memory,
    "mcp-playwright": playwright,
    "mcp-fetch": fetch,
    "mcp-time": time_server,
    "mcp-git": git,
}
