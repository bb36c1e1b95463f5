"""What a program is given to reach the server: for each client the text to paste, and where it goes.

The texts are what the clients read, and the same in every language; where they go is said in the user's.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from app.words.formats import fill

_NO_KEY = "hunch"  # for clients that insist on one


@dataclass(frozen=True, slots=True)
class Reached:
    address: str  # "http://127.0.0.1:4862"
    model: str = "default"  # which names whatever is loaded
    context_tokens: int = 0  # 0: not known
    key: str = ""

    @property
    def sent_key(self) -> str:
        return self.key or _NO_KEY

    @property
    def port(self) -> str:
        return self.address.rpartition(":")[2]


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    text: Callable[[Reached], str]
    place: Callable[[Reached], str]  # in words


def _claude_code(reached: Reached) -> str:
    return (
        _exports(
            ANTHROPIC_BASE_URL=reached.address,
            ANTHROPIC_AUTH_TOKEN=reached.sent_key,
            ANTHROPIC_MODEL=reached.model,
            ANTHROPIC_DEFAULT_HAIKU_MODEL=reached.model,
            CLAUDE_CODE_MAX_CONTEXT_TOKENS=str(reached.context_tokens or ""),
            CLAUDE_CODE_ATTRIBUTION_HEADER="0",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        )
        + "claude\n"
    )


def _codex(reached: Reached) -> str:
    lines = [
        f"model = {_quoted(reached.model)}",
        'model_provider = "hunch"',
        *([f"model_context_window = {reached.context_tokens}"] if reached.context_tokens else []),
        "",
        "[model_providers.hunch]",
        'name = "Hunch"',
        f"base_url = {_quoted(reached.address + '/v1')}",
        'wire_api = "responses"',
    ]
    if reached.key:
        lines.append(f'http_headers = {{ "Authorization" = {_quoted("Bearer " + reached.key)} }}')
    return "\n".join(lines) + "\n"


def _opencode(reached: Reached) -> str:
    model: dict[str, object] = {"name": reached.model}
    if reached.context_tokens:
        model["limit"] = {"context": reached.context_tokens, "output": _for_a_reply(reached)}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Hunch",
        "options": {"baseURL": f"{reached.address}/v1", "apiKey": reached.sent_key},
        "models": {reached.model: model},
    }
    config = {"$schema": "https://opencode.ai/config.json", "model": f"hunch/{reached.model}"}
    return _json(config | {"provider": {"hunch": provider}})


def _zed(reached: Reached) -> str:
    model: dict[str, object] = {"name": reached.model, "display_name": reached.model}
    if reached.context_tokens:
        model["max_tokens"] = reached.context_tokens
    house = {"api_url": f"{reached.address}/api/v0", "available_models": [model | {"supports_tool_calls": True}]}
    agent = {"default_model": {"provider": "lmstudio", "model": reached.model}}
    return _json({"language_models": {"lmstudio": house}, "agent": agent})


def _continue(reached: Reached) -> str:
    options = [
        "    defaultCompletionOptions:",
        f"      contextLength: {reached.context_tokens}",
        f"      maxTokens: {_for_a_reply(reached)}",
    ]
    lines = [
        "name: Hunch",
        "version: 1.0.0",
        "schema: v1",
        "models:",
        f"  - name: {_quoted(reached.model)}",
        "    provider: openai",
        f"    model: {_quoted(reached.model)}",
        f"    apiBase: {reached.address}/v1",
        f"    apiKey: {_quoted(reached.sent_key)}",
        "    roles: [chat, edit, apply]",
        *(options if reached.context_tokens else []),
    ]
    return "\n".join(lines) + "\n"


def _open_webui(reached: Reached) -> str:
    exports = _exports(OPENAI_API_BASE_URL=f"{reached.address}/v1", OPENAI_API_KEY=reached.sent_key)
    return exports + "open-webui serve\n"


def _aider(reached: Reached) -> str:
    exports = _exports(OPENAI_API_BASE=f"{reached.address}/v1", OPENAI_API_KEY=reached.sent_key)
    history = f" --max-chat-history-tokens {reached.context_tokens // 4}" if reached.context_tokens else ""
    return f"{exports}aider --model {shlex.quote('openai/' + reached.model)} --no-show-model-warnings{history}\n"


def _curl(reached: Reached) -> str:
    body = {"model": reached.model, "messages": [{"role": "user", "content": "Hello"}]}
    lines = [f"curl {reached.address}/v1/chat/completions", "-H 'content-type: application/json'"]
    if reached.key:
        lines.append(f"-H {shlex.quote('authorization: Bearer ' + reached.key)}")
    return " \\\n  ".join([*lines, f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}"]) + "\n"


def _in_file(path: str) -> Callable[[Reached], str]:
    return lambda _reached: fill(QCoreApplication.translate("Clients", "Add to %1."), path)


def _in_terminal(_reached: Reached) -> str:
    return QCoreApplication.translate("Clients", "Run in a terminal.")


def _in_xcode(reached: Reached) -> str:
    return fill(
        QCoreApplication.translate(
            "Clients", "In Xcode, Settings > Intelligence: add a locally hosted provider with port %1."
        ),
        reached.port,
    )


CLIENTS: dict[str, Client] = {
    "claude": Client("Claude Code", _claude_code, _in_terminal),
    "codex": Client("Codex", _codex, _in_file("~/.codex/config.toml")),
    "opencode": Client("opencode", _opencode, _in_file("~/.config/opencode/opencode.json")),
    "zed": Client("Zed", _zed, _in_file("~/.config/zed/settings.json")),
    "xcode": Client("Xcode", lambda reached: reached.port + "\n", _in_xcode),
    "continue": Client("Continue", _continue, _in_file("~/.continue/config.yaml")),
    "open-webui": Client("Open WebUI", _open_webui, _in_terminal),
    "aider": Client("aider", _aider, _in_terminal),
    "curl": Client("curl", _curl, _in_terminal),
}


def _exports(**values: str) -> str:
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in values.items() if value)


def _for_a_reply(reached: Reached) -> int:
    """Of the context; a client that keeps all of it for replies would have no room for a prompt."""
    return max(1, reached.context_tokens // 4)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _quoted(text: str) -> str:
    """As JSON, TOML and YAML all read it."""
    return json.dumps(text, ensure_ascii=False)
