"""Coding agents as `hunch launch` starts them: two turns, and a task with tools.

Turn 2 must find what turn 1 has read; the figures are those that the agents themselves print.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from app.words.clients import CLIENTS, Reached
from tests.clients.caller import AFTER, BEFORE
from tests.clients.npm import MODULES
from tests.clients.npm import install as install_packages
from tests.clients.programs import Servers, run
from tests.clients.servers import KEY, LONG_TOKENS, Server

NODE = MODULES / ".bin"
PACKAGES = ("@anthropic-ai/claude-code@2.1.197", "@openai/codex@0.169.0", "opencode-ai@1.18.33")
PUT_IN_PLACE = ("@anthropic-ai/claude-code/install.cjs", "opencode-ai/postinstall.mjs")  # their programs
TURNS = ("Say hello", "Say it again")
TASK = "Read {}, put 'the main model' where it says 'a draft', and read it again."


def install() -> None:
    if all((NODE / name).exists() for name in AGENTS):
        return
    install_packages(*PACKAGES)
    for script in PUT_IN_PLACE:
        subprocess.run(["node", MODULES / script], cwd=(MODULES / script).parent, check=True)


def reached(server: Server, key: str = "") -> Reached:
    return Reached(server.address, server.model_of(key), LONG_TOKENS, key)


def claude(servers: Servers) -> str:
    def turn(words: str, server: Reached, more: str) -> dict[str, Any]:
        said = launched(servers, "claude", server, f"-p {json.dumps(words)} --output-format json {more}")
        answer = json.loads(said.splitlines()[-1])
        assert not answer["is_error"], answer
        return dict(answer)

    pair = reached(servers.pair)
    first, second = (turn(words, pair, more) for words, more in zip(TURNS, ("", "--continue"), strict=True))
    usages = [answer["usage"] for answer in (first, second)]
    read, again = (usage["input_tokens"] + usage["cache_read_input_tokens"] for usage in usages)
    cached = usages[1]["cache_read_input_tokens"]
    done = task(servers, lambda words, server: turn(words, server, "--allowedTools Read,Edit")["result"])
    return told(servers, "claude", read, again, cached, done)


def codex(servers: Servers) -> str:
    def turn(words: str, server: Reached, more: str = "") -> list[dict[str, Any]]:
        options = "--skip-git-repo-check --json --dangerously-bypass-approvals-and-sandbox"
        said = launched(servers, "codex", server, f"exec {options} {more} {json.dumps(words)}")
        events = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        assert events[-1]["type"] == "turn.completed", events
        return events

    pair = reached(servers.pair)
    first, second = turn(TURNS[0], pair), turn(TURNS[1], pair, "resume --last")
    sums = [events[-1]["usage"] for events in (first, second)]  # of the session up to then
    read = sums[0]["input_tokens"]
    again, cached = (sums[1][name] - sums[0][name] for name in ("input_tokens", "cached_input_tokens"))
    done = task(servers, lambda words, server: json.dumps(turn(words, server)))
    return told(servers, "codex", read, again, cached, done)


def opencode(servers: Servers) -> str:
    def turn(words: str, server: Reached, more: str = "") -> list[dict[str, Any]]:
        said = launched(servers, "opencode", server, f"run --format json {more} {json.dumps(words)}")
        events = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        assert not [event for event in events if event["type"] == "error"], events
        return events

    pair = reached(servers.pair)
    first, second = turn(TURNS[0], pair), turn(TURNS[1], pair, "--continue")
    ends = [last(events, "step_finish")["part"]["tokens"] for events in (first, second)]
    read, again = (end["input"] + end["cache"]["read"] for end in ends)
    done = task(servers, lambda words, server: json.dumps(turn(words, server)))
    return told(servers, "opencode", read, again, ends[1]["cache"]["read"], done)


def task(servers: Servers, ask: Callable[[str, Reached], str]) -> str:
    """Over the script: a file is read, edited and read again by the agent's own tools."""
    note = servers.folder / "work" / "note.txt"
    note.write_text(f"Here is {BEFORE}.\n")
    said = ask(TASK.format(note), reached(servers.caller, KEY))
    assert note.read_text() == f"Here is {AFTER}.\n", (note.read_text(), said[-3000:])
    assert "I have read the results." in said, said[-3000:]
    return "a file edited"


def told(servers: Servers, name: str, read: int, again: int, cached: int, done: str) -> str:
    """`read`: tokens of turn 1's prompt; `again`: of all prompts of turn 2, which it is part of; `cached`: of these."""
    found = f"turn 2 found {cached} of {again} tokens, turn 1's {read} among them"
    assert again >= read, found
    assert cached >= 0.95 * again, found
    version = run_in(servers, [name, "--version"]).splitlines()[-1]
    return f"{version}: {found}, {done}"


def launched(servers: Servers, client: str, server: Reached, more: str) -> str:
    """What the agent prints; `more`: words of its command line, as a shell has them."""
    make = CLIENTS[client].command
    assert make is not None
    command = make(server)
    return run_in(servers, [command.program, *command.arguments, *shlex.split(more)], command.environment)


def run_in(servers: Servers, command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    folder = servers.folder / "work"
    folder.mkdir(exist_ok=True)
    path = {"PATH": f"{NODE}:{os.environ['PATH']}"}
    said = run(command, servers, path | dict(environment or {}), cwd=folder)
    with (MODULES.parent / "agents.log").open("a") as log:
        log.write(f"{shlex.join(command)}\n{said}\n\n")
    return said


def last(events: Iterable[dict[str, Any]], kind: str) -> dict[str, Any]:
    return [event for event in events if event["type"] == kind][-1]


AGENTS: dict[str, Callable[[Servers], str]] = {"claude": claude, "codex": codex, "opencode": opencode}
