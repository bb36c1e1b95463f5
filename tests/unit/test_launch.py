"""`hunch launch`: which programs it lists, and in one line why it starts none. Its start is in `ui/test_server.py`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from app import launch as launching
from app.__main__ import main
from tests.architecture.project import ROOT

LOADED = {
    "id": "Main-8B",
    "context_length": 40960,
    "status": {"value": "loaded"},
    "architecture": {"input_modalities": ["text", "image"]},
    "hunch": {"tools": True, "chosen": True},
}


def program(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With two programs: one on PATH, one where a terminal alone finds it."""
    program(tmp_path / "bin", "claude")
    program(tmp_path / ".local" / "bin", "aider")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(launching, "_FOLDERS", ("~/.local/bin",))
    return tmp_path


@contextmanager
def answering(status: int, content: Any) -> Iterator[str]:
    """The port of a server that answers everything so."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield str(server.server_port)
        finally:
            server.shutdown()
            thread.join()


def refusal(capsys: pytest.CaptureFixture[str], profile: Path, *arguments: str) -> str:
    assert main(["launch", "--profile-dir", str(profile), *arguments]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err.strip()


def test_alone_it_lists_what_it_can_start_and_how_the_rest_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launch"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert list(lines) == ["claude", "codex", "opencode", "open-webui", "aider"]
    assert lines["claude"].endswith("Claude Code")
    assert lines["aider"].endswith("aider")
    assert lines["codex"].endswith("Codex  (not installed: npm install -g @openai/codex)")


def test_without_program_or_server_it_says_how_to_get_one(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, home, "codex") == "Codex is not installed: npm install -g @openai/codex"
    with answering(200, {"data": []}) as port:
        pass  # nobody listens there any more
    assert refusal(capsys, home, "--port", port, "claude").startswith(
        f"No server of Hunch answers at http://127.0.0.1:{port}: turn on Settings > Server"
    )


@pytest.mark.parametrize(
    ("status", "content", "arguments", "sentence"),
    [
        (401, {}, [], "has another key than Settings > Server."),
        (200, {"data": [{"id": "gpt-4"}]}, [], "No server of Hunch answers"),
        (200, "odd", [], "No server of Hunch answers"),
        (200, {"data": []}, [], "No model is loaded: choose one in Hunch"),
        (200, {"data": [LOADED]}, ["--model", "Other"], "The server has no model Other, but: Main-8B."),
        (200, {"data": [LOADED | {"context_length": 4096}]}, [], "tokens, and Main 8B has 4,096."),
    ],
)
def test_what_keeps_a_program_from_starting_is_one_line(
    home: Path, status: int, content: Any, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(status, content) as port:
        assert sentence in refusal(capsys, home, "--port", port, *arguments, "claude")


def test_a_program_learns_that_the_model_sees(home: Path) -> None:
    program(home / "bin", "opencode")
    (home / "bin" / "opencode").write_text('#!/bin/sh\nprintf %s "$OPENCODE_CONFIG_CONTENT"\n')
    with answering(200, {"data": [LOADED]}) as port:
        command = [sys.executable, "-m", "app", "launch", "--profile-dir", str(home), "--port", port, "opencode"]
        done = subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    (model,) = json.loads(done.stdout)["provider"]["hunch"]["models"].values()
    assert model["modalities"]["input"] == ["text", "image"]


def test_a_program_is_ended_by_a_closed_pipe_as_if_a_shell_had_started_it(home: Path) -> None:
    (home / "bin" / "claude").write_text("#!/bin/sh\nkill -PIPE $$\n")
    with answering(200, {"data": [LOADED]}) as port:
        command = [sys.executable, "-m", "app", "launch", "--profile-dir", str(home), "--port", port, "claude"]
        done = subprocess.run(command, check=False, cwd=ROOT)
    assert done.returncode == -signal.SIGPIPE
