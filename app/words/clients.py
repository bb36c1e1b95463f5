"""What a program is given to reach the server: for each client the text to paste, and where it goes.

The texts are what the clients read, and the same in every language; where they go is said in the user's.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.client_files import jsonc_text, toml_text, yaml_text
from app.client_files.client_file import Refusal, Wanted, Written
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
class ConfigFile:
    """`change`: what is to be in it. `alone`: what else, where there is no file yet."""

    path: str  # from the user's home
    change: Callable[[Reached], dict[str, Any]]
    alone: Callable[[], dict[str, Any]] = dict


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    text: Callable[[Reached], str]
    place: Callable[[Reached], str]  # in words
    file: ConfigFile | None = None  # where one, in a format that is documented, has all of it

    def wanted(self, reached: Reached, home: Path) -> Wanted | None:
        if self.file is None:
            return None
        return Wanted(home / self.file.path, self.file.change(reached), self.file.alone())


def _claude_variables(reached: Reached) -> dict[str, str]:
    values = {
        "ANTHROPIC_BASE_URL": reached.address,
        "ANTHROPIC_AUTH_TOKEN": reached.sent_key,
        "ANTHROPIC_MODEL": reached.model,
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": reached.model,
        "CLAUDE_CODE_MAX_CONTEXT_TOKENS": str(reached.context_tokens or ""),
        "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_STREAM_IDLE_TIMEOUT_MS": "3600000",  # else 300 s to the first token; pings do not count (2.1.197)
    }
    return {name: value for name, value in values.items() if value}


def _claude_code(reached: Reached) -> str:
    return _exports(**_claude_variables(reached)) + "claude\n"


def _codex(reached: Reached) -> dict[str, Any]:
    provider: dict[str, Any] = {"name": "Hunch", "base_url": f"{reached.address}/v1", "wire_api": "responses"}
    if reached.key:
        provider["http_headers"] = {"Authorization": f"Bearer {reached.key}"}
    return {
        "model": reached.model,
        "model_provider": "hunch",
        **({"model_context_window": reached.context_tokens} if reached.context_tokens else {}),
        "model_providers": {"hunch": provider},
    }


def _opencode(reached: Reached) -> dict[str, Any]:
    model: dict[str, object] = {"name": reached.model}
    if reached.context_tokens:
        model["limit"] = {"context": reached.context_tokens, "output": _for_a_reply(reached)}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Hunch",
        "options": {"baseURL": f"{reached.address}/v1", "apiKey": reached.sent_key},
        "models": {reached.model: model},
    }
    return {"model": f"hunch/{reached.model}", "provider": {"hunch": provider}}


def _zed(reached: Reached) -> dict[str, Any]:
    model: dict[str, object] = {"name": reached.model, "display_name": reached.model}
    if reached.context_tokens:
        model["max_tokens"] = reached.context_tokens
    house = {"api_url": f"{reached.address}/api/v0", "available_models": [model | {"supports_tool_calls": True}]}
    agent = {"default_model": {"provider": "lmstudio", "model": reached.model}}
    return {"language_models": {"lmstudio": house}, "agent": agent}


def _continue(reached: Reached) -> dict[str, Any]:
    model: dict[str, Any] = {
        "name": reached.model,
        "provider": "openai",
        "model": reached.model,
        "apiBase": f"{reached.address}/v1",
        "apiKey": reached.sent_key,
    }
    if reached.context_tokens:
        limits = {"contextLength": reached.context_tokens, "maxTokens": _for_a_reply(reached)}
        model["defaultCompletionOptions"] = limits
    return {"models": [model]}


def _open_webui(reached: Reached) -> str:
    exports = _exports(OPENAI_API_BASE_URL=f"{reached.address}/v1", OPENAI_API_KEY=reached.sent_key)
    return exports + "open-webui serve\n"


def _aider(reached: Reached) -> str:
    exports = _exports(OPENAI_API_BASE=f"{reached.address}/v1", OPENAI_API_KEY=reached.sent_key)
    history = f" --max-chat-history-tokens {reached.context_tokens // 4}" if reached.context_tokens else ""
    return f"{exports}aider --model {shlex.quote('openai/' + reached.model)} --no-show-model-warnings{history}\n"


def _aider_options(reached: Reached) -> dict[str, Any]:
    return {
        "model": f"openai/{reached.model}",
        "openai-api-base": f"{reached.address}/v1",
        "openai-api-key": reached.sent_key,
        "show-model-warnings": False,
        **({"max-chat-history-tokens": reached.context_tokens // 4} if reached.context_tokens else {}),
    }


def _curl(reached: Reached) -> str:
    body = {"model": reached.model, "messages": [{"role": "user", "content": "Hello"}]}
    lines = [f"curl {reached.address}/v1/chat/completions", "-H 'content-type: application/json'"]
    if reached.key:
        lines.append(f"-H {shlex.quote('authorization: Bearer ' + reached.key)}")
    return " \\\n  ".join([*lines, f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}"]) + "\n"


def _of_file(name: str, file: ConfigFile, written: Callable[[dict[str, Any]], str]) -> Client:
    """One whose text to paste is what its file has."""
    return Client(
        name,
        lambda reached: written(file.alone() | file.change(reached)),
        lambda _reached: fill(QCoreApplication.translate("Clients", "Add to %1."), f"~/{file.path}"),
        file,
    )


def _in_terminal(_reached: Reached) -> str:
    return QCoreApplication.translate("Clients", "Run in a terminal.")


def _in_xcode(reached: Reached) -> str:
    return fill(
        QCoreApplication.translate(
            "Clients", "In Xcode, Settings > Intelligence: add a locally hosted provider with port %1."
        ),
        reached.port,
    )


_CLAUDE = ConfigFile(".claude/settings.json", lambda reached: {"env": _claude_variables(reached)})
_CODEX = ConfigFile(".codex/config.toml", _codex)
_OPENCODE = ConfigFile(
    ".config/opencode/opencode.json", _opencode, lambda: {"$schema": "https://opencode.ai/config.json"}
)
_ZED = ConfigFile(".config/zed/settings.json", _zed)
_CONTINUE = ConfigFile(
    ".continue/config.yaml", _continue, lambda: {"name": "Hunch", "version": "1.0.0", "schema": "v1"}
)
_AIDER = ConfigFile(".aider.conf.yml", _aider_options)

CLIENTS: dict[str, Client] = {
    "claude": Client("Claude Code", _claude_code, _in_terminal, _CLAUDE),
    "codex": _of_file("Codex", _CODEX, toml_text.written),
    "opencode": _of_file("opencode", _OPENCODE, jsonc_text.written),
    "zed": _of_file("Zed", _ZED, jsonc_text.written),
    "xcode": Client("Xcode", lambda reached: reached.port + "\n", _in_xcode),
    "continue": _of_file("Continue", _CONTINUE, yaml_text.written),
    "open-webui": Client("Open WebUI", _open_webui, _in_terminal),
    "aider": Client("aider", _aider, _in_terminal, _AIDER),
    "curl": Client("curl", _curl, _in_terminal),
}


def _exports(**values: str) -> str:
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in values.items() if value)


def _for_a_reply(reached: Reached) -> int:
    """Of the context; a client that keeps all of it for replies would have no room for a prompt."""
    return max(1, reached.context_tokens // 4)


def path_words(path: Path) -> str:
    """From the user's home, as a terminal has it."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def written_words(written: Written) -> str:
    path = path_words(written.proposal.path)
    if written.copy is None:
        return fill(QCoreApplication.translate("ClientFiles", "Written to %1."), path)
    sentence = QCoreApplication.translate("ClientFiles", "Written to %1. The former file is beside it as %2.")
    return fill(sentence, path, written.copy.name)


def refusal_words(why: Refusal, path: Path) -> str:
    name = path_words(path)
    match why:
        case Refusal.SAME:
            return fill(QCoreApplication.translate("ClientFiles", "%1 has all of this already."), name)
        case Refusal.UNREADABLE:
            sentence = QCoreApplication.translate("ClientFiles", "%1 has errors or is no text, so it is not changed.")
        case Refusal.NOT_KEPT:
            sentence = QCoreApplication.translate(
                "ClientFiles", "%1 has something else in these places, so it is not changed. Copy the text instead."
            )
        case Refusal.OTHER:
            sentence = QCoreApplication.translate("ClientFiles", "%1 was changed meanwhile, so it is left as it is.")
        case Refusal.DISK:
            sentence = QCoreApplication.translate("ClientFiles", "%1 cannot be read or written.")
    return fill(sentence, name)
