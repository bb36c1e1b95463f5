"""Tool servers from other programs' files and from pasted JSON. Those files are read, never written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.system.small_file import read_small
from app.tools.definitions import cleaned
from app.tools.servers import MOST_SERVERS, ServerConfig, checked
from app.tools.wire import RefusedServer, ServerFault, ServerProblem

_MOST_BYTES = 1 << 18
_LONGEST_NAME = 80
_GROUPS = ("mcpServers", "servers", "context_servers")
_ADDRESSES = ("url", "serverUrl", "httpUrl")
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}|<[A-Za-z_ -]+>|YOUR_[A-Z_]+")  # where the user must put a value
# Texts and comments without an end match, too, so that any text takes linear time.
_COMMENT = re.compile(r'("(?:[^"\\\n]++|\\.)*+"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\\n]++|\\.)*+"?)|,(?=\s*[}\]])')
_PLACES = {
    "Claude Desktop": (
        "Library/Application Support/Claude/claude_desktop_config.json",
        ".config/Claude/claude_desktop_config.json",
    ),
    "LM Studio": (".lmstudio/mcp.json", ".cache/lm-studio/mcp.json"),
    "Cursor": (".cursor/mcp.json",),
    "Visual Studio Code": ("Library/Application Support/Code/User/mcp.json", ".config/Code/User/mcp.json"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A server of another program, with the values of its variables and headers: for `ToolServers.add`."""

    server: ServerConfig
    env: dict[str, str] = field(default_factory=dict, repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Parsed:
    found: tuple[Found, ...] = ()
    refused: tuple[RefusedServer, ...] = ()
    is_json: bool = True


def sources(home: Path) -> dict[str, Path]:
    """Files of other programs that are there, by the program's name."""
    found = ((name, filter(Path.is_file, map(home.joinpath, places))) for name, places in _PLACES.items())
    return {name: path for name, files in found if (path := next(files, None)) is not None}


def parse_file(file: Path) -> Parsed:
    """Raises OSError."""
    try:
        return parse_servers(read_small(file, _MOST_BYTES).decode("utf-8-sig"))
    except ValueError:
        return Parsed(is_json=False)


def parse_servers(text: str) -> Parsed:
    """Of any JSON with servers in it, as other programs or the pages of servers have it. Raises nothing."""
    stored = _json(text) if len(text) <= _MOST_BYTES else None
    if not isinstance(stored, dict):
        return Parsed(is_json=False)
    found: list[Found] = []
    refused: list[RefusedServer] = []
    for count, (name, each) in enumerate(_entries(stored)):
        if count >= MOST_SERVERS:
            refused.append(RefusedServer("", ServerProblem.TOO_MANY, str(MOST_SERVERS)))
            break
        shown = cleaned(name, _LONGEST_NAME, lines=False)
        try:
            found.append(_found(shown, each))
        except ServerFault as fault:
            refused.append(RefusedServer(shown, fault.problem, cleaned(fault.detail, _LONGEST_NAME, lines=False)))
    return Parsed(tuple(found), tuple(refused))


def _json(text: str) -> object:
    """With comments and commas at the end, which some of these files have, or without the brackets around all."""
    plain = _LAST_COMMA.sub(lambda match: match[1] or "", _COMMENT.sub(lambda match: match[1] or "", text))
    quoted = f"{{{plain.strip().removesuffix(',')}}}"
    for each in (text, plain, *([quoted] if quoted[1] == '"' else [])):
        with suppress(ValueError, RecursionError):
            return json.loads(each)
    return None


def _entries(stored: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    inner = stored.get("mcp") if isinstance(stored.get("mcp"), dict) else stored
    for group in _GROUPS:
        if isinstance(inner, dict) and isinstance(inner.get(group), dict):
            yield from inner[group].items()
            return
    if _is_entry(stored):
        yield str(stored.get("name") or ""), stored
        return
    yield from ((name, each) for name, each in stored.items() if _is_entry(each))


def _is_entry(value: object) -> bool:
    return isinstance(value, dict) and any(isinstance(value.get(name), str) for name in ("command", *_ADDRESSES))


def _found(name: str, entry: Any) -> Found:
    if not _is_entry(entry):
        raise ServerFault(ServerProblem.VALUE, "command")
    address = next((str(entry[each]) for each in _ADDRESSES if isinstance(entry.get(each), str)), "")
    command = "" if address else entry["command"]
    args = entry.get("args") or []
    if not isinstance(args, list):
        raise ServerFault(ServerProblem.VALUE, "args")
    folder = entry.get("cwd")
    env, env_names = _values(entry, "env")
    headers, header_names = _values(entry, "headers")
    server = ServerConfig(
        "",
        name,
        command,
        tuple(_word(each, "args") for each in args),
        address,
        env=env_names,
        headers=header_names,
        folder=folder if isinstance(folder, str) else "",
    )
    return Found(checked(server), env, headers)


def _values(entry: dict[str, Any], kind: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Values, and all names: a value that the user must still give is none."""
    stored = entry.get(kind)
    if stored is not None and not isinstance(stored, dict):
        raise ServerFault(ServerProblem.VALUE, kind)
    every = {str(name): _word(value, name) for name, value in (stored or {}).items()}
    given = {name: value for name, value in every.items() if value and not _PLACEHOLDER.search(value)}
    return given, tuple(every)


def _word(value: object, name: str) -> str:
    """`name`: what has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise ServerFault(ServerProblem.VALUE, name)
