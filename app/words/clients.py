"""How programs connect to the server: for each client a command or a text, and where to put it.

The texts are not translated, since programs read them; where they go is.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.words.formats import count, fill, spoken
from app.words.model_names import human_name

AGENT_TOKENS = 32_768  # of context: an agent's instructions and tools take some 12,000 before the first file is read
IN_DOCKER = "host.docker.internal"  # the Mac, for programs in a container of it
_NO_KEY = "hunch"  # for clients that require one
_OF_ANTHROPIC = ("FABLE", "OPUS", "SONNET", "HAIKU")  # what agents within Claude Code ask for, by these short names


@dataclass(frozen=True, slots=True)
class Reached:
    """The server, and the model that it answers with."""

    address: str  # "http://127.0.0.1:4862"
    model: str = "default"  # stands for whatever is loaded
    context_tokens: int = 0  # 0: not known
    key: str = ""
    calls_tools: bool = True
    sees: bool = False  # pictures

    @property
    def sent_key(self) -> str:
        return self.key or _NO_KEY

    @property
    def port(self) -> str:
        return self.address.rpartition(":")[2]


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """A terminal program that is configured by environment and arguments."""

    program: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def as_text(self) -> str:
        exports = [f"export {name}={shlex.quote(value)}" for name, value in self.environment.items()]
        return "\n".join([*exports, shlex.join((self.program, *self.arguments))]) + "\n"


@dataclass(frozen=True, slots=True)
class ClientProgram:
    name: str
    text: Callable[[Reached], str]  # to paste
    place: Callable[[Reached], str]  # in words
    command: Callable[[Reached], LaunchCommand] | None = None  # for `hunch launch`
    install: str = ""  # how to install a missing program
    is_agent: bool = False  # needs tool calls


def _claude(reached: Reached) -> LaunchCommand:
    environment = {
        "ANTHROPIC_BASE_URL": reached.address,
        "ANTHROPIC_AUTH_TOKEN": reached.sent_key,
        "ANTHROPIC_API_KEY": "",  # an account's key must not be sent here
        "ANTHROPIC_MODEL": reached.model,
        **{f"ANTHROPIC_DEFAULT_{name}_MODEL": reached.model for name in _OF_ANTHROPIC},
        "CLAUDE_CODE_SUBAGENT_MODEL": reached.model,
        "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_STREAM_IDLE_TIMEOUT_MS": "3600000",  # else 300 s to the first token; pings do not count (2.1.197)
    }
    if reached.context_tokens:
        environment["CLAUDE_CODE_MAX_CONTEXT_TOKENS"] = str(reached.context_tokens)
    return LaunchCommand("claude", environment=environment)


def _codex(reached: Reached) -> LaunchCommand:
    """Options in config.toml's syntax. The key is in the environment: other users can see arguments."""
    provider = {"name": "Hunch", "base_url": f"{reached.address}/v1", "wire_api": "responses"}
    environment = {}
    if reached.key:
        provider["env_key"] = "HUNCH_API_KEY"
        environment["HUNCH_API_KEY"] = reached.key
    options = {"model": _json(reached.model), "model_provider": _json("hunch")}
    options["model_supports_reasoning_summaries"] = "true"  # of a model that it does not know, else no effort is sent
    options |= {f"model_providers.hunch.{name}": _json(value) for name, value in provider.items()}
    if reached.context_tokens:
        options["model_context_window"] = str(reached.context_tokens)
    arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    return LaunchCommand("codex", tuple(arguments), environment)


def _opencode(reached: Reached) -> LaunchCommand:
    model: dict[str, object] = {"name": reached.model}
    if reached.context_tokens:
        model["limit"] = {"context": reached.context_tokens, "output": _for_a_reply(reached)}
    if reached.sees:
        model["modalities"] = {"input": ["text", "image"], "output": ["text"]}  # else no picture is sent
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Hunch",
        "options": {"baseURL": f"{reached.address}/v1", "apiKey": reached.sent_key},
        "models": {reached.model: model},
    }
    config = {"model": f"hunch/{reached.model}", "provider": {"hunch": provider}}
    return LaunchCommand("opencode", environment={"OPENCODE_CONFIG_CONTENT": _json(config)})


def _aider(reached: Reached) -> LaunchCommand:
    arguments = ["--model", f"openai/{reached.model}", "--no-show-model-warnings"]
    if reached.context_tokens:
        arguments += ["--max-chat-history-tokens", str(_for_a_reply(reached))]
    environment = {"OPENAI_API_BASE": f"{reached.address}/v1", "OPENAI_API_KEY": reached.sent_key}
    return LaunchCommand("aider", tuple(arguments), environment)


def _open_webui(reached: Reached) -> LaunchCommand:
    environment = {"OPENAI_API_BASE_URL": f"{reached.address}/v1", "OPENAI_API_KEY": reached.sent_key}
    return LaunchCommand("open-webui", ("serve",), environment)


def _curl(reached: Reached) -> LaunchCommand:
    body = {"model": reached.model, "messages": [{"role": "user", "content": "Hello"}]}
    headers = ["-H", "content-type: application/json"]
    if reached.key:
        headers += ["-H", f"authorization: Bearer {reached.key}"]
    return LaunchCommand("curl", (f"{reached.address}/v1/chat/completions", *headers, "-d", _json(body)))


def _zed(reached: Reached) -> str:
    """Zed knows LM Studio, and reads from it what each model takes and can do."""
    provider = {"api_url": f"{reached.address}/api/v0"}
    agent = {"default_model": {"provider": "lmstudio", "model": reached.model}}
    return json.dumps({"language_models": {"lmstudio": provider}, "agent": agent}, ensure_ascii=False, indent=2) + "\n"


def _continue(reached: Reached) -> str:
    """YAML, where a string may be written as in JSON."""
    lines = [
        "name: Hunch",
        "version: 1.0.0",
        "schema: v1",
        "models:",
        f"  - name: {_json(reached.model)}",
        "    provider: openai",
        f"    model: {_json(reached.model)}",
        f"    apiBase: {_json(reached.address + '/v1')}",
        f"    apiKey: {_json(reached.sent_key)}",
    ]
    if reached.context_tokens:
        lines += [
            "    defaultCompletionOptions:",
            f"      contextLength: {reached.context_tokens}",
            f"      maxTokens: {_for_a_reply(reached)}",
        ]
        able = {"tool_use": reached.calls_tools, "image_input": reached.sees}  # it guesses by the name otherwise
        lines.append(f"    capabilities: {_json([name for name, is_able in able.items() if is_able])}")
    return "\n".join(lines) + "\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _for_a_reply(reached: Reached) -> int:
    """Context tokens for the reply, leaving room for a prompt."""
    return max(1, reached.context_tokens // 4)


def _in_terminal(_reached: Reached) -> str:
    return QCoreApplication.translate("Clients", "Run in a terminal.")


def _in_file(path: str) -> Callable[[Reached], str]:
    return lambda _reached: fill(QCoreApplication.translate("Clients", "Add to %1."), path)


def _in_xcode(reached: Reached) -> str:
    return fill(
        QCoreApplication.translate(
            "Clients", "In Xcode, Settings > Intelligence: add a locally hosted provider with port %1."
        ),
        reached.port,
    )


def _in_open_webui(reached: Reached) -> str:
    """Where it runs already, settings of its own precede the environment."""
    running = QCoreApplication.translate(
        "Clients", "Already running: add %1 in Admin Panel > Settings > Connections, or %2 if it runs in Docker."
    )
    return fill(running, f"{reached.address}/v1", f"http://{IN_DOCKER}:{reached.port}/v1")


def _launched(
    key: str,
    name: str,
    command: Callable[[Reached], LaunchCommand],
    install: str,
    *,
    is_agent: bool = False,
    more: Callable[[Reached], str] = lambda _reached: "",
) -> ClientProgram:
    """`more`: another way to connect it."""

    def place(reached: Reached) -> str:
        sentence = QCoreApplication.translate("Clients", "Run in a terminal. In short: %1")
        way = fill(sentence, f"hunch launch {key}")
        other = more(reached)
        return spoken(way, other) if other else way

    return ClientProgram(name, lambda reached: command(reached).as_text(), place, command, install, is_agent)


CLIENTS: dict[str, ClientProgram] = {
    "claude": _launched("claude", "Claude Code", _claude, "npm install -g @anthropic-ai/claude-code", is_agent=True),
    "codex": _launched("codex", "Codex", _codex, "npm install -g @openai/codex", is_agent=True),
    "opencode": _launched("opencode", "opencode", _opencode, "npm install -g opencode-ai", is_agent=True),
    "zed": ClientProgram("Zed", _zed, _in_file("~/.config/zed/settings.json")),
    "xcode": ClientProgram("Xcode", lambda reached: reached.port + "\n", _in_xcode),
    "continue": ClientProgram("Continue", _continue, _in_file("~/.continue/config.yaml")),
    "open-webui": _launched("open-webui", "Open WebUI", _open_webui, "pipx install open-webui", more=_in_open_webui),
    "aider": _launched("aider", "aider", _aider, "pipx install aider-chat"),
    "curl": ClientProgram("curl", lambda reached: _curl(reached).as_text(), _in_terminal),
}


def lack_of(client: ClientProgram, reached: Reached) -> str:
    """Why the model cannot serve the program; "" if it can, or nothing is known."""
    if client.is_agent and not reached.calls_tools:
        sentence = QCoreApplication.translate("Clients", "%1 works with tools, and %2 calls none.")
        return fill(sentence, client.name, human_name(reached.model))
    if client.is_agent and 0 < reached.context_tokens < AGENT_TOKENS:
        sentence = QCoreApplication.translate("Clients", "%1 needs a context of %2 tokens, and %3 has %4.")
        name = human_name(reached.model)
        return fill(sentence, client.name, count(AGENT_TOKENS), name, count(reached.context_tokens))
    return ""
