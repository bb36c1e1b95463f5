"""`python -m app`: reads the command line, sees whether Qt can start, and hands over. Imports no Qt at the top."""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import time
from pathlib import Path

STARTED_AT = time.perf_counter()
_OF_ENGINE = ("--try-model", "--run-rank", "--run-station", "--lend")  # engine.CHILDREN, which is not imported for it
_COMMANDS = ("ask", "serve", "launch")
_MOST_FILES = 4096
_CHILDREN = ("--read-pages", "--read-picture", "--read-chats", "--fetch-page", "--tool-host")  # as in limited_child


def main(arguments: list[str] | None = None) -> int:
    # Until `Interrupts` gets it: nothing is open yet, and a KeyboardInterrupt within Qt's imports aborts or gets lost.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _allow_files()
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] and arguments[0] in (*_OF_ENGINE, *_CHILDREN):
        return _run_child(*arguments)
    if arguments[:1] and arguments[0] in _COMMANDS:
        return _run_command(arguments)
    options = _parse(arguments)
    if options.version or options.install_app is not None:
        return _install_app(options.install_app) if options.install_app is not None else _tell_version()
    alone = not _has_display()
    if alone:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from app.system.failures import note_failed_start, places
    from app.system.platform_check import qt_problem

    problem = qt_problem()
    if problem:
        _print_error(problem)
        note_failed_start(options.profile_dir, problem)
        return 1
    from app.system.qt_imports import read_no_sources

    read_no_sources()
    if options.smoke is not None or alone:
        return _prove_itself(options, alone)
    try:
        from app.application import run

        return run(options.profile_dir, options.quick_ask)
    except Exception as error:
        note_failed_start(options.profile_dir, places(error))
        raise


def _allow_files() -> None:
    """An app that the Finder starts may have 256 files and connections open: few for a server and a model in parts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _run_command(arguments: list[str]) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.stdin is None:  # closed; MLX reads no file that gets its number, 0
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115  to the end of the process
    try:
        if arguments[0] == "launch":
            from app.launch import launch

            return launch(arguments[1:])
        from app.ask import run_command

        return run_command(arguments)
    except KeyboardInterrupt:
        return 130


def _run_child(child: str, *arguments: str) -> int:
    """In an app that is its own interpreter, which has started itself for that."""
    if child in _OF_ENGINE:
        from engine import run_child as run_child_of_engine

        return run_child_of_engine(child, *arguments)
    from app.system.limited_child import run_child

    return run_child(child)


def _prove_itself(options: argparse.Namespace, alone: bool) -> int:
    if alone and options.smoke is None:
        _print_error("There is no display here: Hunch asks itself one question offscreen instead.")
    from app.smoke import smoke

    signal.signal(signal.SIGINT, signal.default_int_handler)  # it tidies up
    return smoke(options.smoke, STARTED_AT)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="hunch",
        description="Chat with language models on your own Mac.",
        epilog='"hunch ask TEXT" writes one reply here, "hunch serve" serves other programs, "hunch launch" '
        "starts one of them with its model; each has its own --help",
    )
    parser.add_argument("--version", action="store_true", help="say which Hunch this is")
    parser.add_argument("--profile-dir", type=Path, help="keep chats, settings and models in this folder")
    parser.add_argument(
        "--quick-ask", action="store_true", help="open Quick Ask, in the Hunch that runs or in a new one"
    )
    parser.add_argument(
        "--install-app",
        type=Path,
        nargs="?",
        const=Path("~/Applications"),
        metavar="FOLDER",
        help="on a Mac, write a Hunch.app that starts this Hunch, into FOLDER or ~/Applications",
    )
    parser.add_argument("--smoke", type=Path, metavar="PNG", help="ask one question, save a screenshot, print JSON")
    return parser.parse_args(arguments)


def _tell_version() -> int:
    from app.system.build import own_version

    sys.stdout.write(f"Hunch {own_version()}\n")
    return 0


def _install_app(folder: Path) -> int:
    from app.system.bundle import can_write_app, write_app

    if not can_write_app():
        _print_error("An app is written on a Mac, for a Hunch that uv tool or pipx installed.")
        return 1
    try:
        sys.stdout.write(f"{write_app(folder.expanduser())}\n")
    except (OSError, RuntimeError) as error:
        _print_error(f"Hunch.app cannot be written: {error}")
        return 1
    return 0


def _has_display() -> bool:
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _print_error(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")


if __name__ == "__main__":
    sys.exit(main())
