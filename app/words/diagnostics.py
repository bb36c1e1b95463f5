"""The text of Help → Copy Diagnostics and of a crash report: in English, for those who read it.

It holds no words of chats, presets or prompts, no tokens and keys, no addresses and no path of the user's home: of the
settings only switches, numbers and choices, of models the names of their folders, and the log, which never has words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtGui import QGuiApplication

from app.settings import Option, Settings, comes_with_app
from app.system import build
from app.system.logs import earlier_crash
from app.system.small_file import read_small

_LOG_LINES = 300
_HOMES = re.compile(r"/(?:Users|home)/[^/\s:]+")
_TOKEN = re.compile(r"\bhf_\w{6,}")
_HIDDEN = "…"


def diagnostics(settings: Settings, logs: Path) -> Callable[[], str]:
    """Reads the settings now, and the files when it is called, on any thread."""
    secrets = [each for each in (settings.hub_token, settings.server_key) if each]
    folders = _folders(settings)
    lines = [*_facts(settings), "", "Settings other than the defaults:", *_changed_settings(settings)]

    def text() -> str:
        parts = ["\n".join(lines)]
        if stacks := earlier_crash(logs):
            parts.append(f"The last crash: {stacks}")
        parts.append(f"The log:\n{_log(logs)}")
        return redacted("\n\n".join(parts), secrets, folders) + "\n"

    return text


def redacted(text: str, secrets: list[str], folders: list[str]) -> str:
    """Without the homes of this user and of others, which paths begin with; of `folders` the names stay."""
    for secret in secrets:
        text = text.replace(secret, _HIDDEN)
    for folder in folders:
        text = text.replace(folder, Path(folder).name)
    for home in dict.fromkeys(_own_homes()):
        text = text.replace(home, "~")
    return _TOKEN.sub(_HIDDEN, _HOMES.sub("~", text))


def _folders(settings: Settings) -> list[str]:
    """Of models, which the log names where one cannot be loaded. The longest first."""
    drafts = settings.last_drafts
    known = {settings.main_folder, settings.draft_folder, *settings.recent_models, *drafts, *drafts.values()}
    return sorted((each for each in known | {*settings.model_folders} if "/" in each[1:]), key=len, reverse=True)


def _own_homes() -> list[str]:
    """The longest first: one may lie in the other."""
    try:
        home = Path.home()
        found = [str(home), str(home.resolve())]
    except (OSError, RuntimeError):  # a user without one
        return []
    return sorted((each for each in found if len(each) > 1), key=len, reverse=True)


def _facts(settings: Settings) -> list[str]:
    made = f" ({build.build()})" if build.build() else ""
    libraries = ", ".join(f"{name} {version}" for name, version in build.libraries().items())
    models = [_model(settings.main_folder), _model(settings.draft_folder) or "none"]
    return [
        f"Hunch {build.own_version()}{made}",
        build.system(),
        libraries,
        f"Window: {QGuiApplication.platformName()}",
        f"Main model: {models[0]}; draft: {models[1]}",
    ]


def _model(folder: str) -> str:
    return folder if comes_with_app(folder) else Path(folder).name


def _changed_settings(settings: Settings) -> list[str]:
    options = settings.options()
    shown = [name for name in settings.values if name in options and _holds_no_words(options[name])]
    return [
        f"  {name} = {value}" for name in sorted(shown) if (value := getattr(settings, name)) != options[name].default
    ] or ["  none"]


def _holds_no_words(option: Option[object]) -> bool:
    """A switch, a number or one of some choices: it takes no words."""
    try:
        option.check("any words")
    except (TypeError, ValueError):
        return not isinstance(option.default, tuple | dict)
    return False


def _log(logs: Path) -> str:
    try:
        lines = read_small(logs / "hunch.log").decode("utf-8", "replace").splitlines()
    except (OSError, ValueError):
        return "none"
    return "\n".join(lines[-_LOG_LINES:])
