"""`python -m engine`: whatever it is given, wherever its output goes, one line on stderr at most and a fair code."""

from __future__ import annotations

import json
import logging
import os
import queue
import shutil
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import IO, cast
from unittest.mock import Mock

import pytest

from engine import Engine, Event, Finished, FinishReason, Request, RequestId, RequestStats, SpanKind, TextDelta
from engine.__main__ import WithoutWords, _write, main
from tests.engine.conftest import Zoo
from tests.helpers.samples import fair
from tests.helpers.tiny_models import rewrite

ROOT = Path(__file__).parents[2]
DIGITS = "9" * 5000
PATIENCE_S = 120.0

USAGE = {
    "models beside ranks": ["serve", "--model", "x", "--ranks", "2", "--models", "y", "--ttl", "5"],
    "all origins": ["serve", "--model", "x", "--allow-origin", "*"],
    "an origin with a path": ["serve", "--model", "x", "--allow-origin", "http://localhost:3000/"],
    "a name with a port": ["serve", "--model", "x", "--allow-host", "mac.example:4862"],
    "nothing": [],
    "no command": ["write"],
    "no model": ["generate", "--prompt", "x"],
    "no prompt": ["generate", "--model", "x"],
    "two prompts": ["generate", "--model", "x", "--prompt", "x", "--tokens", "[1]"],
    "tokens are no JSON": ["generate", "--model", "x", "--tokens", "[1,"],
    "tokens have no end": ["generate", "--model", "x", "--tokens", f"[{DIGITS}]"],
    "a token is below": ["generate", "--model", "x", "--tokens", "[-1]"],
    "a role is a list": ["generate", "--model", "x", "--chat", '[{"role": ["user"], "content": "x"}]'],
    "speculate is a power": ["generate", "--model", "x", "--prompt", "x", "--speculate", "\u00b2"],
    "tensor over nothing": ["generate", "--model", "x", "--prompt", "x", "--tensor"],
    "a station without a draft": ["generate", "--model", "x", "--prompt", "x", "--station", "local"],
    "temperature is text": ["generate", "--model", "x", "--prompt", "x", "--temperature", "warm"],
}
REFUSED = {
    "no such model": ["--model", "/nonexistent", "--prompt", "x"],
    "a name that no text has": ["--model", "a\udcff", "--prompt", "x"],
    "max tokens": ["--prompt", "x", "--max-tokens", "-5"],
    "temperature": ["--prompt", "x", "--temperature", "nan"],
    "seed": ["--prompt", "x", "--seed", "-1"],
    "token": ["--tokens", "[99999999]"],
    "no token": ["--tokens", "[]"],
    "half a character": ["--prompt", "\udcff"],
    "too many ranks": ["--prompt", "x", "--ranks", "9" * 15],
    "no such draft": ["--draft", "/nonexistent", "--prompt", "x"],
}


def one_line(text: str) -> str:
    assert len(text.splitlines()) == 1
    assert len(text) < 1000
    return text


@pytest.mark.parametrize("arguments", USAGE.values(), ids=USAGE)
def test_wrong_usage_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)

    assert end.value.code == 2
    assert one_line(capsys.readouterr().err).startswith("error: ")


@pytest.mark.costly
@pytest.mark.parametrize("arguments", REFUSED.values(), ids=REFUSED)
@pytest.mark.expect_log("could not load")
def test_a_refusal_is_one_line_of_json(arguments: list[str], zoo: Zoo, capsys: pytest.CaptureFixture[str]) -> None:
    model = [] if "--model" in arguments else ["--model", str(zoo.main)]

    assert main(["generate", *model, *arguments]) == 1
    assert json.loads(one_line(capsys.readouterr().err))["error"]


@pytest.mark.parametrize("command", [["generate", "--prompt", "x"], ["serve"]], ids=["generate", "serve"])
@pytest.mark.expect_log("could not load")
def test_a_refusal_is_said_before_the_engine_is_waited_for(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    close = Engine.close

    def closing(engine: Engine) -> bool:
        said.append(capsys.readouterr().err)
        return close(engine)

    monkeypatch.setattr(Engine, "close", closing)
    assert main([*command, "--model", "/nonexistent"]) == 1
    assert [json.loads(each)["error"] for each in said] == ["ModelNotFound"]


def write(
    model: Path, *arguments: str, stdout: int | IO[bytes] = subprocess.PIPE, stderr: int | IO[bytes] = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "engine", "generate", "--model", str(model), "--prompt", "x", *arguments]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.Popen(command, cwd=ROOT, env=buffered, stdout=stdout, stderr=stderr)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", fair(["--max-tokens=8", "--max-tokens=8 --json"], "--max-tokens=8"))
def test_a_full_device_is_said_in_one_line(zoo: Zoo, arguments: str) -> None:
    with Path("/dev/full").open("wb") as full:
        process = write(zoo.main, *arguments.split(), stdout=full)
        _, said = process.communicate(timeout=PATIENCE_S)

    assert json.loads(one_line(said.decode())) == {"error": "OutputFailed", "detail": "No space left on device"}
    assert process.returncode == 1


ENDLESS = ("--max-tokens", "1000000", "--temperature", "2", "--seed", "1")


@pytest.fixture
def roomy(zoo: Zoo, tmp_path: Path) -> Path:
    """The model, with no end token and a context that no test lives to see the end of."""
    folder = shutil.copytree(zoo.main, tmp_path / "roomy")
    rewrite(folder / "config.json", max_position_embeddings=10**7, eos_token_id=None)
    rewrite(folder / "tokenizer_config.json", eos_token=None)
    return folder


@pytest.mark.slow
def test_a_reader_that_goes_is_no_error(roomy: Path) -> None:
    process = write(roomy, *ENDLESS)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    with process.stderr:
        said = process.stderr.read()

    assert process.wait(PATIENCE_S) == 141
    assert said == b""


@pytest.mark.usefixtures("interrupts_raise")
def test_ctrl_c_ends_it_without_a_word(roomy: Path) -> None:
    process = write(roomy, *ENDLESS)
    assert process.stdout is not None
    process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 130
    assert said == b""


@pytest.mark.slow
def test_the_fastest_way_accepts_more_and_draws_another_text(zoo: Zoo, capsys: pytest.CaptureFixture[str]) -> None:
    """Not where nothing is drawn."""
    models = ["--model", str(zoo.main), "--draft", str(zoo.drafts["poor"]), "--prompt", "Hi", "--speculate", "4"]

    def tokens(*arguments: str) -> list[int]:
        given = ["--seed", "3", "--max-tokens", "60", "--json", *arguments]
        assert main(["generate", *models, *given]) == 0
        found: list[int] = json.loads(capsys.readouterr().out)["tokens"]
        return found

    assert tokens("--temperature", "1.0", "--fastest") != tokens("--temperature", "1.0")
    assert tokens("--fastest") == tokens()


def test_a_reply_and_its_trace_are_the_engines_own(zoo: Zoo, capsys: pytest.CaptureFixture[str]) -> None:
    """The same text with any draft."""
    prompt = list(range(40, 70))
    arguments = ["--model", str(zoo.main), "--draft", str(zoo.drafts["close"]), "--tokens", json.dumps(prompt)]
    arguments += ["--max-tokens", "32", "--temperature", "0.7", "--seed", "5", "--json", "--trace"]
    told = []
    for speculate in ("off", "4"):
        assert main(["generate", *arguments, "--speculate", speculate]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0]["tokens"] == told[1]["tokens"]
    rounds = told[1]["rounds"]
    assert sum(len(each["drafted"]) for each in rounds) == told[1]["stats"]["drafted"]
    first, *others, _ = rounds
    assert not first["drafted"]
    assert all(each["drafted"] for each in others)


@pytest.mark.parametrize("speculate", ["off", "4"])
def test_a_reply_matches_the_schema_of_a_file(
    zoo: Zoo, tmp_path: Path, capsys: pytest.CaptureFixture[str], speculate: str
) -> None:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3}))
    models = ["--model", str(zoo.main), "--draft", str(zoo.drafts["close"]), "--prompt", "x", "--speculate", speculate]
    assert main(["generate", *models, "--schema", str(file), "--effort", "high"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert len(said) <= 3
    assert set(said) <= {"a", "b"}


def said_by_a_model(*said: tuple[SpanKind, str]) -> queue.SimpleQueue[Event]:
    request = RequestId(1)
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    for kind, text in said:
        events.put(TextDelta(request, kind, text, RequestStats()))
    events.put(Finished(request, FinishReason.STOP, RequestStats(), (), 1))
    return events


@pytest.mark.parametrize("as_json", [False, True])
def test_what_a_terminal_would_act_on_is_not_printed(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """A model could write to the clipboard by it (OSC 52), or over other lines."""
    text = "".join(map(chr, range(0xA1)))
    seen = "".join(each for each in text if unicodedata.category(each) != "Cc" or each in "\t\n")
    events = said_by_a_model((SpanKind.ANSWER, text))
    assert _write(cast(Engine, Mock()), Request(), events, as_json) == 0
    out = capsys.readouterr().out
    assert set(out) <= set(seen)
    assert (json.loads(out)["text"] if as_json else out) == (text if as_json else f"{seen}\n")


@pytest.mark.parametrize(("as_json", "printed"), [(False, "Paris.\n"), (True, "Hm, a capital. Paris.\n")])
def test_thoughts_are_not_printed_into_the_answer(
    as_json: bool, printed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which a pipe takes on; as JSON they are apart. A terminal says that there are some."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    thoughts = (SpanKind.THINKING, "Hm, a capital. "), (SpanKind.THINKING, "")
    events = said_by_a_model(*thoughts, (SpanKind.ANSWER, "Paris."))
    assert _write(cast(Engine, Mock()), Request(), events, as_json) == 0
    out, err = capsys.readouterr()
    assert err == ("" if as_json else "Thinking…\n")
    said = json.loads(out) if as_json else {}
    assert (said["thinking"] + said["text"] + "\n" if as_json else out) == printed


def test_its_log_has_no_words_of_an_exception() -> None:
    words = ["of", "a", "prompt"]
    try:
        try:
            raise KeyError(" ".join(words))
        except KeyError as error:
            raise ValueError(" ".join(words)) from error
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "", 1, "a reply failed", (), sys.exc_info())
    text = WithoutWords("%(levelname)s:%(message)s").format(record)
    assert "of a prompt" not in text
    assert text.startswith("ERROR:a reply failed\n")
    assert "ValueError" in text
    assert "KeyError" in text
