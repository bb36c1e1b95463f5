"""`hunch ask TEXT` and `hunch serve`: the pair that Hunch uses, in a terminal, a script or a Shortcut.

With `--tools` the model may call some, see app/tools/terminal.py.

Both only choose the models and the settings; the rest is the engine's command line, with its output, its one line on
stderr and its exit codes: 0 written, 1 refused or failed, 2 wrong usage, 130 Ctrl-C, 141 its output is closed.
No window is opened and no chat is stored. A Hunch that runs has its models loaded for itself: they are loaded again.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from io import TextIOWrapper
from itertools import takewhile
from pathlib import Path

from app.controllers.chat_options import kv_bits_of, resolve
from app.documents.encodings import decoded
from app.settings import STARTER_FOLDER, STARTER_NAME, Settings, comes_with_app, from_setting
from app.system.paths import Paths
from app.system.secrets import Secrets, system_keychain
from app.words.model_names import human_name
from engine import SpeculationMode, default_hub_cache, model_name, neighbours, run_command_line

# Options that `ask` passes on, with their values; "": it has none.
_OF_ENGINE = {
    "--json": "",
    "--thinking": "",
    "--effort": "off|low|normal|high|N",
    "--schema": "FILE|JSON",
    "--fastest": "",
    "--log": "",
    "--speculate": "off|auto|N",
    "--temperature": "T",
    "--top-p": "P",
    "--top-k": "K",
    "--min-p": "P",
    "--repetition-penalty": "X",
    "--seed": "N",
    "--max-tokens": "N",
    "--kv-bits": "8|16",
    "--stop": "TEXT",
}
_STARTER = Path(__file__).resolve().parent.parent / "resources" / "starter"
DECODER = "app.documents.sent_pictures:Decoder"
_STDIN = "-"


def run_command(arguments: list[str]) -> int:
    options, rest = _parsed(arguments)
    paths = Paths.for_user(options.profile_dir)
    secrets = Secrets(paths.hub_token, system_keychain if paths.of_user else lambda: None)
    settings = Settings(paths.settings, secrets, writer=None)
    pair = _pair(settings, options.model, options.draft)
    models = _folders(*pair, is_named=options.draft is not None)
    if options.command == "serve":
        if settings.required_key == "" and not any(each.partition("=")[0] == "--api-key-file" for each in rest):
            advice = "unlock the keychain, make a new key in Settings > Server, or name one with --api-key-file"
            sys.stderr.write(f"hunch serve: error: the server's key cannot be read: {advice}\n")
            return 1
        served = ["serve", *models, *_served(settings, paths, rest), *rest]
        return run_command_line(served, key=settings.required_key)
    if options.tools and (rest or any(getattr(options, each) is not None for each in ("--json", "--schema", "--stop"))):
        words = "--tools goes with the options of `hunch ask --help` but --json, --schema and --stop"
        sys.stderr.write(f"hunch ask: error: {words}\n")
        return 2
    is_free = bool(options.tools) or getattr(options, "--schema") is not None
    request = _request(settings, pair[0], _message(options.text), is_free=is_free)
    asked = ["generate", *models, *request, *_passed_on(options), *rest]
    return _ask_with_tools(paths, secrets, asked, options) if options.tools else run_command_line(asked)


def _parsed(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Words and options of `ask` in any order."""
    command, *rest = arguments
    parser = argparse.ArgumentParser(prog=f"hunch {command}", allow_abbrev=False)
    parser.set_defaults(command=command)
    parser.add_argument("--model", default="", help="a folder, or the name of one that was used in Hunch")
    parser.add_argument("--draft", help='likewise; "none" for none')
    parser.add_argument("--profile-dir", type=Path, help="where chats, settings and models are kept")
    if command == "serve":
        parser.description = (
            "Serve other programs on this machine. Further options are those of `python -m engine serve`,"
        )
        parser.description += " such as --port N, --ttl S and --api-key-file FILE, in place of the key of the settings."
        return parser.parse_known_args(rest)
    parser.description = "Write one reply to TEXT."
    _add_options_of_ask(parser)
    ours = list(takewhile(lambda each: each != "--", rest))  # argparse refuses words with dashes after it, too
    options, passed_on = parser.parse_known_intermixed_args(ours)
    options.text += rest[len(ours) + 1 :]
    return options, passed_on


def _add_options_of_ask(ask: argparse.ArgumentParser) -> None:
    ask.add_argument("text", nargs="*", metavar="TEXT", help='"-" stands for what comes by stdin, as no TEXT does')
    for option, values in _OF_ENGINE.items():
        if values:
            ask.add_argument(option, dest=option, metavar=values)
        else:
            ask.add_argument(option, dest=option, action="store_const", const="")
    tools = "what the model may call: calculator, time, search_chats, list_folder, read_file, fetch_page, and"
    tools += " SERVER/TOOL, or SERVER/ for all of its tools, of servers that are switched on in Hunch"
    ask.add_argument("--tools", default="", metavar="NAMES", help=tools)
    ask.add_argument("--allow", action="append", default=[], metavar="NAME", help="a tool to call without asking")
    ask.add_argument(
        "--folder", action="append", default=[], metavar="PATH", help="what list_folder and read_file read"
    )


def _passed_on(options: argparse.Namespace) -> list[str]:
    given = {option: value for option in _OF_ENGINE if (value := getattr(options, option)) is not None}
    return [f"{option}={value}" if _OF_ENGINE[option] else option for option, value in given.items()]


def _pair(settings: Settings, model: str, draft: str | None) -> tuple[str, str]:
    """As the settings have them: the pair that was loaded last, or with `model` the draft that it had last."""
    main = _named(settings, model) if model else settings.main_folder
    if draft is not None:
        return main, "" if draft in ("", "none") else _named(settings, draft)
    return main, settings.draft_folder if main == settings.main_folder else settings.last_drafts.get(main, "")


def _named(settings: Settings, name: str) -> str:
    """A name that fits nothing is taken for a folder, which the engine refuses."""
    used = [*settings.recent_models, settings.main_folder, settings.draft_folder, *settings.last_drafts.values()]
    with suppress(OSError, RuntimeError):  # a name that is too long for a file, a folder of another user
        if (folder := Path(name).expanduser()).is_dir():
            return str(folder.resolve())
    latest_last = reversed(dict.fromkeys(filter(None, used)))
    folders = {each: model_name(Path(from_setting(each, _STARTER / "main"))) for each in latest_last}
    shown = {human_name(its).lower(): each for each, its in folders.items()}
    names = shown | {its.lower(): each for each, its in folders.items()}
    return (names | {STARTER_FOLDER: STARTER_FOLDER, STARTER_NAME.lower(): STARTER_FOLDER}).get(name.lower(), name)


def _folders(main: str, draft: str, *, is_named: bool) -> list[str]:
    """As in the window, nothing drafts where the draft of the settings is not there any more."""
    found = ["--model", from_setting(main, _STARTER / "main")]
    folder = from_setting(draft, _STARTER / "draft")
    return [*found, "--draft", folder] if folder and (is_named or Path(folder).is_dir()) else found


def _served(settings: Settings, paths: Paths, rest: list[str]) -> list[str]:
    """Where `hunch launch` looks for the server, the models that programs may ask for, which drafts these had last."""
    flags = [f"--decoder={DECODER}", f"--port={settings.server_port}"]
    flags += ["--any-name"] if settings.server_any_name else []
    if any(each.startswith(("--ranks", "--with")) for each in rest):  # one model, which stays
        return flags
    places = [paths.models, default_hub_cache(), *settings.model_folders]
    with suppress(RuntimeError):  # a user without a home folder
        places += [folder for _program, folder in neighbours(Path.home())]
    flags += [f"--models={place}" for place in places]
    for main, draft in settings.last_drafts.items():
        if not (comes_with_app(main) or comes_with_app(draft)):
            flags += ["--pair", main, draft]
    return flags


def _message(words: list[str]) -> str:
    parts = [_read_stdin() if word == _STDIN else word for word in words or [_STDIN]]
    return " ".join(parts) if _STDIN not in words else "\n\n".join(part.strip() for part in parts)


def _read_stdin() -> str:
    """In its own encoding, as an attached file; of what is no text, bytes are replaced."""
    if not isinstance(sys.stdin, TextIOWrapper):
        return sys.stdin.read()
    data = sys.stdin.buffer.read()
    return decoded(data) or data.decode("utf-8", "replace")


def _request(settings: Settings, main: str, message: str, *, is_free: bool = False) -> list[str]:
    """As in a new chat with the model. What is given later on the command line holds instead.

    `is_free`: of the form that the settings give replies.
    """
    layers = (settings.model_defaults.get(main, {}), {"schema": ""} if is_free else {})
    generation = resolve(settings, *layers, main=main)
    values = generation.values
    system = generation.system_prompt
    turns = [{"role": "system", "content": system}] if system else []
    turns.append({"role": "user", "content": message})
    flags = [f"--chat={json.dumps(turns)}"]
    for name in ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "seed", "max_tokens"):
        flags += [f"--{name.replace('_', '-')}={values[name]}"] if values[name] is not None else []
    if (bits := kv_bits_of(values["kv_bits"])) is not None:
        flags += [f"--kv-bits={bits}"]
    mode = values["speculation_mode"]
    flags += ["--speculate", str(values["speculation_tokens"]) if mode == SpeculationMode.FIXED else mode]
    flags += [f"--effort={values['thinking']}"]
    flags += [f"--schema={values['schema']}"] if values["schema"] else []
    return [*flags, *(["--fastest"] if values["fastest"] else [])]


def _ask_with_tools(paths: Paths, secrets: Secrets, asked: list[str], options: argparse.Namespace) -> int:
    from app.tools.terminal import Servers, Terminal, run

    servers = Servers(paths.data, secrets)
    names = [each.strip() for each in options.tools.split(",") if each.strip()]
    terminal = Terminal(names, frozenset(options.allow), tuple(options.folder), paths.database)
    try:
        return run(asked, " ".join(options.text), terminal, servers)
    finally:
        servers.close()
