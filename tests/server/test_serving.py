"""`python -m engine serve`: from its one line to the signal that ends it."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from app.ask import DECODER
from app.documents.sent_pictures import Decoder
from engine import InvalidRequest
from engine.__main__ import _parser, main
from engine.server.command import Ending, decoder_of, options_of
from tests.architecture.project import ROOT
from tests.helpers.served import PATIENCE_S, chat_body, client_of
from tests.helpers.tiny_models import build, qwen3_config, save
from tests.server.conftest import STARTER

COMMAND = [sys.executable, "-m", "engine", "serve", "--model", str(STARTER / "main"), "--port", "0"]


@contextmanager
def serving(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and its first address."""
    with subprocess.Popen([*COMMAND, *options], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())["serving"][0]
        finally:
            process.kill()


def test_a_signal_ends_it_in_the_middle_of_a_reply() -> None:
    body = chat_body("x", stream=True, logit_bias={"2": -100})
    with (
        serving() as (process, address),
        client_of(address) as http,
        http.stream("POST", "/v1/chat/completions", json=body) as answer,
    ):
        lines = answer.iter_lines()
        assert next(lines).startswith("data: ")
        process.send_signal(signal.SIGINT)
        assert any("shutting_down" in line for line in lines)
        assert process.wait(PATIENCE_S) == 0


@pytest.mark.expect_log("the server failed")
def test_a_server_that_fails_later_is_said_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    is_awaited = threading.Event()
    wait = Ending.wait

    def awaited(ending: Ending) -> None:
        is_awaited.set()
        wait(ending)

    def fails(_server: object, _connections: object) -> None:
        is_awaited.wait()
        raise RuntimeError

    monkeypatch.setattr(Ending, "wait", awaited)
    monkeypatch.setattr("uvicorn.Server.serve", fails)
    assert main(COMMAND[3:]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["serving"]
    assert json.loads(said.err) == {"error": "InternalError", "detail": "RuntimeError"}


@pytest.mark.parametrize(
    ("mode", "key", "allowed"),
    [
        (0o644, "secret", "0600"),
        (0o600, "", "1..4096"),
        (0o600, "열쇠", "a file with a key of ASCII letters"),  # which no client could send
    ],
    ids=["open", "empty", "hangul"],
)
def test_a_key_that_is_none_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: int, key: str, allowed: str
) -> None:
    file = tmp_path / "key"
    file.write_text(key, encoding="utf-8")
    file.chmod(mode)
    assert main([*COMMAND[3:], "--api-key-file", str(file)]) == 1
    assert json.loads(capsys.readouterr().err)["allowed"] == allowed


@pytest.mark.parametrize(("more", "key"), [(["--host", "0.0.0.0"], None), ([], "")], ids=["no key", "unreadable"])
def test_a_key_that_is_needed_is_asked_for_before_a_model_is_loaded(more: list[str], key: str | None) -> None:
    options = _parser().parse_args([*COMMAND[3:], *more], argparse.Namespace(key=key))
    with pytest.raises(InvalidRequest) as refused:
        options_of(options)
    assert refused.value.field == "api_key_file"


def test_a_program_that_runs_the_command_line_gives_a_key() -> None:
    given = argparse.Namespace(key="of settings")
    assert options_of(_parser().parse_args(COMMAND[3:], given)).key == "of settings"


def test_a_decoder_is_a_class_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert decoder_of(argparse.Namespace(decoder=DECODER)).__class__ is Decoder
    assert main([*COMMAND[3:], "--decoder", "app.documents.sent_pictures:none"]) == 1
    assert json.loads(capsys.readouterr().err)["field"] == "decoder"


@pytest.mark.slow
def test_models_in_a_folder_are_loaded_when_a_client_names_them(tmp_path: Path) -> None:
    config = qwen3_config()
    folder = save(build(config), config, tmp_path / "Beta")
    options = ["--models", str(tmp_path), "--pair", str(folder), "", "--ttl", "-1"]
    with serving(*options) as (process, address):
        body = chat_body("x", model="Beta", max_tokens=4)
        answer = httpx2.post(f"{address}/v1/chat/completions", json=body, timeout=PATIENCE_S, trust_env=False)
        assert (answer.status_code, answer.json()["hunch"]["draft_model"]) == (200, None)
        (running,) = httpx2.get(f"{address}/api/ps", trust_env=False).json()["models"]
        assert (running["name"], running["expires_at"][:4]) == ("Beta:latest", "2318")
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0


@pytest.mark.slow
def test_a_key_in_a_file_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.touch(0o600)
    file.write_text("secret\n")
    with serving("--api-key-file", str(file)) as (process, address):
        for key, status in (("secret", 200), ("other", 401)):
            answer = httpx2.get(f"{address}/v1/models", headers={"x-api-key": key}, trust_env=False)
            assert answer.status_code == status
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
