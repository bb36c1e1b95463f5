"""`hunch launch PROGRAM`: starts another program with the model of the server that runs, and writes no file of it.

The program gets all by its environment and arguments, and takes the place of this process. What keeps it from
starting is one line on stderr, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from app.settings import Settings
from app.system.paths import Paths
from app.system.secrets import Secrets, system_keychain
from app.words.clients import CLIENTS, ClientProgram, Reached, lack_of

_PATIENCE_S = 10.0
# Where programs are that a terminal finds and a process of the Dock, or of a Shortcut, does not.
_FOLDERS = (
    "~/.local/bin",
    "~/.npm-global/bin",
    "~/.bun/bin",
    "~/.opencode/bin",
    "~/.claude/local",
    "/opt/homebrew/bin",
    "/usr/local/bin",
)
_STARTED = {key: client for key, client in CLIENTS.items() if client.command is not None}


class _Refused(Exception):
    """Why nothing is started, in a sentence."""


def launch(arguments: list[str]) -> int:
    options, passed_on = _parsed(arguments)
    folders = [str(Path(each).expanduser()) for each in _FOLDERS]
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *folders])
    if not options.program:
        _list(path)
        return 0
    client = _STARTED[options.program]
    try:
        _start(client, options, passed_on, path)
    except _Refused as refused:
        sys.stderr.write(f"{refused}\n")
    except OSError as error:
        sys.stderr.write(f"{client.name} cannot be started: {error.strerror}\n")
    return 1


def _parsed(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """What is ours, up to the program, and what is passed on to that."""
    parser = argparse.ArgumentParser(
        prog="hunch launch",
        allow_abbrev=False,
        description="Start a program with the model that Hunch serves. Without PROGRAM: which ones are installed.",
    )
    parser.add_argument("--model", default="", help="one that the server lists, in place of the one that is loaded")
    parser.add_argument("--port", type=int, help="of the server, where it is not that of Settings > Server")
    parser.add_argument("--profile-dir", type=Path, help="where chats, settings and models are kept")
    parser.add_argument("program", nargs="?", metavar="PROGRAM", choices=list(_STARTED), help=", ".join(_STARTED))
    at = next((at for at, argument in enumerate(arguments) if argument in _STARTED), len(arguments))
    return parser.parse_args(arguments[: at + 1]), arguments[at + 1 :]


def _list(path: str) -> None:
    for key, client in _STARTED.items():
        state = "" if _found(client, path) else f"  (not installed: {client.install})"
        sys.stdout.write(f"{key:12}{client.name}{state}\n")


def _start(client: ClientProgram, options: argparse.Namespace, passed_on: list[str], path: str) -> None:
    """Does not return. Raises _Refused."""
    program = _found(client, path)
    if program is None:
        raise _Refused(f"{client.name} is not installed: {client.install}")
    paths = Paths.for_user(options.profile_dir)
    secrets = Secrets(paths.hub_token, system_keychain if paths.of_user else lambda: None)
    settings = Settings(paths.settings, secrets, writer=None)
    reached = _reached(options.port or settings.server_port, settings.server_key, options.model)
    if not options.model and (lack := lack_of(client, reached)):
        raise _Refused(f"{lack} Name another one that is listed at {reached.address}/v1/models with --model.")
    assert client.command is not None
    command = client.command(reached)
    arguments = [command.program, *command.arguments, *passed_on]
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and what is started would, too
    os.execve(program, arguments, os.environ | command.environment | {"PATH": path})


def _found(client: ClientProgram, path: str) -> str | None:
    assert client.command is not None
    return shutil.which(client.command(Reached("")).program, path=path)


def _reached(port: int, key: str, name: str) -> Reached:
    """With the model of this name, or else the one that is loaded, or that the user has chosen."""
    address = f"http://127.0.0.1:{port}"
    models = _models(address, key)
    if name:
        wanted = [model for model in models if model["id"].lower() == name.lower()]
        if not wanted:
            raise _Refused(f"The server has no model {name}, but: {', '.join(model['id'] for model in models)}.")
    else:
        loaded = [model for model in models if model["status"]["value"] == "loaded"]
        wanted = loaded or [model for model in models if model["hunch"]["chosen"]]
        if not wanted:
            raise _Refused("No model is loaded: choose one in Hunch, or name one with --model.")
    model = wanted[0]
    sees = "image" in model["architecture"]["input_modalities"]
    return Reached(address, model["id"], model["context_length"], key, model["hunch"]["tools"], sees)


def _models(address: str, key: str) -> list[dict[str, Any]]:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    request = Request(f"{address}/v1/models", headers=headers)
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=_PATIENCE_S) as answer:
            models: list[dict[str, Any]] = json.load(answer)["data"]
            if all("hunch" in model for model in models):
                return models
    except HTTPError as error:
        if error.code in (401, 403):
            raise _Refused(f"The server at {address} has another key than Settings > Server.") from None
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        pass
    raise _Refused(f"No server of Hunch answers at {address}: turn on Settings > Server, or run hunch serve.")
