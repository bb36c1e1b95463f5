"""Finding the commands of tool servers where an app that Finder started does not look."""

from __future__ import annotations

import os
import pwd
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_SHELL_S = 3.0
_SHOWN = re.compile(r"/[^\0\n]+")
_PLACES = (
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "~/.local/bin",
    "~/.nvm/versions/node/*/bin",  # the newest
    "~/.local/share/fnm/node-versions/*/installation/bin",
    "~/Library/Application Support/fnm/node-versions/*/installation/bin",
    "~/.volta/bin",
    "~/.local/share/mise/shims",
    "~/.asdf/shims",
    "~/.bun/bin",
    "~/.cargo/bin",
    "~/.deno/bin",
    "~/.docker/bin",
    "/Applications/Docker.app/Contents/Resources/bin",
    "/opt/local/bin",
    "/usr/bin",
    "/bin",
)
# Which program a command comes with, to say what is missing and how to get it.
PROGRAMS = {
    **dict.fromkeys(("npx", "npm", "node", "pnpm", "yarn"), "node"),
    **dict.fromkeys(("uvx", "uv"), "uv"),
    **dict.fromkeys(("bunx", "bun"), "bun"),
    **dict.fromkeys(("python", "python3", "pipx"), "python"),
    "docker": "docker",
    "deno": "deno",
}


def find_command(name: str) -> str:
    """The absolute path of a program in the known places or on the PATH; "" if it is in none."""
    if "/" in name:
        path = Path(name).expanduser()
        return str(path) if path.is_absolute() and _is_program(path) else ""
    for folder in (*_folders(), *map(Path, os.environ.get("PATH", "").split(os.pathsep))):
        if folder.is_absolute() and _is_program(folder / name):
            return str(folder / name)
    return ""


def ask_shell(name: str) -> str:
    """What the user's login shell finds; "" if nothing, or not in three seconds. Runs the user's shell profile."""
    if not re.fullmatch(r"[\w.+-]+", name):
        return ""
    with suppress(OSError, KeyError, subprocess.SubprocessError):
        shell = pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh"
        done = subprocess.run(
            [shell, "-l", "-i", "-c", f"command -v {name}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SHELL_S,
            check=False,
            start_new_session=True,  # an interactive shell takes the terminal otherwise
        )
        said = done.stdout.decode("utf-8", "replace").strip().splitlines()
        if said and _SHOWN.fullmatch(said[-1]) and _is_program(Path(said[-1])):
            return said[-1]
    return ""


def server_environment(command: str, given: dict[str, str]) -> dict[str, str]:
    """All of a server's environment: what programs need, the command's folder first in PATH, and what the user set."""
    user = pwd.getpwuid(os.getuid())
    usual = [*map(str, _folders()), "/usr/sbin", "/sbin"]
    path = [str(Path(command).parent), *(given["PATH"].split(os.pathsep) if "PATH" in given else usual)]
    basic = {
        "HOME": os.environ.get("HOME", user.pw_dir),
        "LANG": os.environ.get("LANG", "en_US.UTF-8"),
        "LOGNAME": user.pw_name,
        "PATH": os.pathsep.join(dict.fromkeys(path)),
        "SHELL": user.pw_shell or "/bin/sh",
        "USER": user.pw_name,
    }
    more = {name: os.environ[name] for name in ("LC_ALL", "TMPDIR") if name in os.environ}
    return basic | more | given | {"PATH": basic["PATH"]}


def _folders() -> Iterator[Path]:
    for place in _PLACES:
        path = Path(place).expanduser()
        if "*" not in place:
            yield path
            continue
        before, _, after = str(path).partition("/*/")
        with suppress(OSError):
            versions = sorted(Path(before).iterdir(), key=lambda each: _version(each.name))
            yield from (each / after for each in versions[-1:])


def _version(name: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", name)[:4]))


def _is_program(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False
