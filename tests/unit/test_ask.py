"""`hunch ask` and `hunch serve`: which models and settings they take, and what they print and end with."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app import ask as asking
from app.__main__ import main
from app.ask import _folders, _message, _pair, _parsed, _passed_on, _request, _served
from app.settings import STARTER_EYES, STARTER_FOLDER, STARTER_MOST_TOKENS, Settings
from app.system.paths import Paths
from app.system.secrets import Secrets
from tests.architecture.project import ROOT


def stored(folder: Path, **values: object) -> Settings:
    pair: dict[str, object] = {"main_folder": "/m/Main-8B", "draft_folder": "/m/Draft-1B"}
    pair |= {"recent_models": ["/m/Main-8B", "/m/Other-4B", "/m/Draft-1B"], "last_drafts": {"/m/Other-4B": "/m/S-1B"}}
    (folder / "settings.json").write_text(json.dumps(pair | values))
    return Settings(folder / "settings.json", folder / "token")


@pytest.mark.parametrize(
    ("model", "draft", "pair"),
    [
        ("", None, ("/m/Main-8B", "/m/Draft-1B")),
        ("", "none", ("/m/Main-8B", "")),
        ("", "", ("/m/Main-8B", "")),
        ("other-4b", None, ("/m/Other-4B", "/m/S-1B")),
        ("Other 4B", None, ("/m/Other-4B", "/m/S-1B")),  # as the window has it
        ("Other-4B", "Draft-1B", ("/m/Other-4B", "/m/Draft-1B")),
        ("starter", None, (STARTER_FOLDER, "")),
        ("unheard of", None, ("unheard of", "")),
        ("n" * 300, None, ("n" * 300, "")),
        ("~/", None, (str(Path.home()), "")),
    ],
)
def test_models_of_the_settings_or_named(tmp_path: Path, model: str, draft: str | None, pair: tuple[str, str]) -> None:
    assert _pair(stored(tmp_path), model, draft) == pair


@pytest.mark.parametrize(
    ("words", "message"),
    [([], "from a file\n"), (["Why", "so?"], "Why so?"), (["Sum up:", "-"], "Sum up:\n\nfrom a file")],
)
def test_words_and_stdin_become_one_message(words: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("from a file\n"))
    assert _message(words) == message


def test_ctrl_c_while_stdin_is_read_ends_it_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def read(self, _size: int | None = -1) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Terminal())
    assert main(["ask", "--profile-dir", str(tmp_path)]) == 130
    assert capsys.readouterr().err == ""


def test_bytes_of_stdin_that_are_no_text_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9\0\xff"), "utf-8"))
    assert _message(["Sum up:", "-"]) == "Sum up:\n\ncaf\ufffd\0\ufffd"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("다음 낱말을 추측하고 확인해요.", "cp949"), ("다음 낱말을", "utf-16"), ("a café", "latin-1")],
)
def test_stdin_is_read_in_its_encoding(monkeypatch: pytest.MonkeyPatch, text: str, encoding: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode(encoding)), "utf-8"))
    assert _message(["-"]) == text


@pytest.mark.parametrize(
    "arguments",
    ["hello world --json --seed 3", "--json hello --seed 3 world", "hello --json world --seed=3"],
)
def test_words_and_options_may_come_in_any_order(arguments: str) -> None:
    options, rest = _parsed(["ask", *arguments.split()])
    assert (options.command, options.text, rest) == ("ask", ["hello", "world"], [])
    assert _passed_on(options) == ["--json", "--seed=3"]


def test_all_after_two_dashes_are_words() -> None:
    options, rest = _parsed(["ask", "--json", "--", "--amend", "--json", "do"])
    assert (options.text, _passed_on(options), rest) == (["--amend", "--json", "do"], ["--json"], [])


def test_a_request_is_as_the_settings_say(tmp_path: Path) -> None:
    values: dict[str, object] = {"system_prompt": "Short.", "speculation_mode": "fixed", "speculation_tokens": 3}
    values["kv_bits"] = "8"
    settings = stored(tmp_path, temperature=0.4, max_tokens=50, thinking="normal", **values)
    told = _request(settings, settings.main_folder, "-x")
    assert json.loads(told[0].removeprefix("--chat=")) == [
        {"role": "system", "content": "Short."},
        {"role": "user", "content": "-x"},
    ]
    assert {"--temperature=0.4", "--max-tokens=50", "--effort=normal", "--kv-bits=8"} <= set(told)
    assert "--seed" not in " ".join(told)
    assert told[told.index("--speculate") + 1] == "3"


@pytest.mark.parametrize(
    ("thinking", "of_model", "told"),
    [("off", None, "off"), ("normal", "high", "high"), (300, None, "300"), ("low", "odd", "low")],
)
def test_effort_is_the_models_default_or_that_of_the_settings(
    tmp_path: Path, thinking: object, of_model: object, told: str
) -> None:
    settings = stored(tmp_path, thinking=thinking, model_defaults={"/m/Main-8B": {"thinking": of_model}})
    assert f"--effort={told}" in _request(settings, settings.main_folder, "x")
    options, _rest = _parsed(["ask", "x", "--effort", "high", "--schema", "a.json"])
    assert _passed_on(options) == ["--effort=high", "--schema=a.json"]


def test_a_models_own_defaults_hold_before_the_settings(tmp_path: Path) -> None:
    own = {"temperature": 0.1, "system_prompt": "In Latin. ", "speculation_mode": "off", "fastest": True}
    settings = stored(tmp_path, temperature=0.9, model_defaults={"/m/Main-8B": own})
    told = _request(settings, settings.main_folder, "x")
    assert json.loads(told[0].removeprefix("--chat="))[0] == {"role": "system", "content": "In Latin."}
    assert {"--temperature=0.1", "--fastest"} <= set(told)
    assert told[told.index("--speculate") + 1] == "off"


def test_replies_have_the_models_own_form(tmp_path: Path) -> None:
    settings = stored(tmp_path, model_defaults={"/m/Main-8B": {"schema": '{"type": "array"}'}})
    told = _request(settings, settings.main_folder, "x")
    assert '--schema={"type": "array"}' in told
    assert "matches this JSON schema" in told[0]
    assert "schema" not in " ".join(_request(settings, settings.main_folder, "x", is_free=True))


def test_the_starter_pair_ends_as_in_a_chat(tmp_path: Path) -> None:
    """Asked what it does not know, it may never end."""
    assert f"--max-tokens={STARTER_MOST_TOKENS}" in _request(stored(tmp_path), STARTER_FOLDER, "x")


def test_programs_may_have_what_is_installed_with_its_last_draft(tmp_path: Path) -> None:
    drafts = {"/m/Other-4B": "/m/S-1B", STARTER_EYES: "starter/eyes/draft", STARTER_FOLDER: STARTER_FOLDER}
    settings = stored(tmp_path, model_folders=["/disk/models"], last_drafts=drafts)
    paths = Paths.for_user(tmp_path)
    told = _served(settings, paths, [])
    assert {f"--models={paths.models}", "--models=/disk/models"} <= set(told)
    assert told[told.index("--pair") :] == ["--pair", "/m/Other-4B", "/m/S-1B"]


def test_programs_may_have_the_models_of_lm_studio_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the server of the window serves them."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert f"--models={tmp_path}/.lmstudio/models" in _served(stored(tmp_path), Paths.for_user(tmp_path), [])


def test_a_draft_of_the_settings_that_is_not_there_any_more_is_left_out(tmp_path: Path) -> None:
    assert _folders("/m/Main-8B", "/m/Draft-1B", is_named=False) == ["--model", "/m/Main-8B"]
    assert _folders("/m/Main-8B", "/m/Draft-1B", is_named=True)[2:] == ["--draft", "/m/Draft-1B"]
    assert _folders("/m/Main-8B", str(tmp_path), is_named=False)[2:] == ["--draft", str(tmp_path)]
    assert _folders(STARTER_FOLDER, "", is_named=True)[2:] == []


def test_serve_is_where_launch_looks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def run(arguments: list[str], key: str) -> int:
        told.extend([*arguments, key])
        return 0

    monkeypatch.setattr(asking, "run_command_line", run)
    secrets = Secrets(Paths.for_user(tmp_path).hub_token)
    secrets.keep_server_key("of-settings", "")
    secrets.write()
    stored(Paths.for_user(tmp_path).data, server_port=5005, server_any_name=True)
    assert main(["serve", "--profile-dir", str(tmp_path), "--port=6006"]) == 0
    assert "--any-name" in told
    assert told[-1] == "of-settings"
    assert [each for each in told if "--port" in each] == ["--port=5005", "--port=6006"]  # the last one holds
    assert [each for each in told if "--models" in each]
    told.clear()
    assert main(["serve", "--profile-dir", str(tmp_path), "--ranks", "2"]) == 0
    assert not [each for each in told if "--models" in each], "over several processes one model is loaded, and stays"


def test_serve_refuses_while_its_key_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(asking, "run_command_line", lambda _arguments, key: 0)
    stored(Paths.for_user(tmp_path).data, server_has_key=True)
    serve = ["serve", "--profile-dir", str(tmp_path)]
    assert main(serve) == 1
    assert "make a new key in Settings > Server" in capsys.readouterr().err
    assert main([*serve, "--api-key-file=key"]) == 0


def test_wrong_usage_is_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (["--bad"], ["--seed=x"], ["--tools=time", "--seed=x"]):
        assert main(["ask", "x", *wrong, "--profile-dir", str(tmp_path)]) == 2
        assert capsys.readouterr().err.startswith("error: "), "no other program than the user's is named"


@pytest.mark.parametrize("content", ["{", '{"top_k": "many"}'])
@pytest.mark.expect_log("settings file is damaged", "setting top_k is not possible")
def test_a_damaged_settings_file_is_left_to_the_app(
    tmp_path: Path, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which renames or copies it, says so, and deletes the oldest of such copies."""
    monkeypatch.setattr(asking, "run_command_line", lambda _arguments: 0)
    paths = Paths.for_user(tmp_path)
    paths.settings.write_text(content)
    assert main(["ask", "x", "--profile-dir", str(tmp_path)]) == 0
    assert paths.settings.read_text() == content
    assert not list(paths.data.glob("*-aside-*"))
    assert Settings(paths.settings, paths.hub_token).file.set_aside


def test_no_file_gets_the_number_of_a_closed_stdin(tmp_path: Path) -> None:
    """MLX says of such a file that it cannot be opened."""
    look = "import os, sys; print(os.path.samefile(0, os.devnull), repr(sys.stdin.read()))"
    program = f"from app.__main__ import main; main(['ask', '--bad', '--profile-dir', sys.argv[1]]); {look}"
    command = [sys.executable, "-c", f"import sys; {program}", str(tmp_path)]
    closed = ["sh", "-c", 'exec "$@" <&-', "sh", *command]
    done = subprocess.run(closed, capture_output=True, check=False, cwd=ROOT, text=True)
    assert done.stdout == "True ''\n"


def ask(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Without a display, a home and a profile."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    command = [sys.executable, "-m", "app", "ask", "--json", "--max-tokens", "20", "--seed", "1", *arguments]
    question = "초안 모델이 뭐예요?"
    return subprocess.run(
        command, input=question, capture_output=True, check=False, cwd=ROOT, env=environment, text=True, timeout=300
    )


@pytest.mark.slow
def test_the_starter_pair_answers_what_comes_by_stdin(tmp_path: Path) -> None:
    done = ask(tmp_path)
    assert done.returncode == 0, done.stderr
    reply = json.loads(done.stdout)
    assert "초안" in reply["text"]
    assert reply["stats"]["accepted"] > 0


@pytest.mark.slow
def test_a_model_that_is_not_there_is_one_line_and_1(tmp_path: Path) -> None:
    done = ask(tmp_path, "--model", "/nonexistent")
    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads(done.stderr)["error"] == "ModelNotFound"
