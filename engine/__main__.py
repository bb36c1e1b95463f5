"""A command line for developers: `python -m engine generate --model DIR … --json` writes one reply and its statistics,
`python -m engine serve --model DIR …` serves other programs until it is stopped. With `--ranks 2` the model's layers
run in two processes, which is experimental; the plan is printed on stderr first. `lend` on another machine and `pair`
here let `--with HOST:PORT` run some of them there.

Errors are one line on stderr. Exit codes: 0 written, 1 refused, failed or output not writable, 2 wrong usage, 130
stopped by Ctrl-C, 141 the reader of the output has closed it.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import queue
import re
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn, TextIO

from engine import (
    Acceptance,
    Constraint,
    ConstraintKind,
    Effort,
    Engine,
    EngineError,
    Event,
    Failed,
    Finished,
    Message,
    MessageRole,
    ModelFailed,
    ModelReady,
    Request,
    RequestStats,
    Sampling,
    Server,
    ServerPhase,
    SpanKind,
    Speculation,
    StationChanged,
    StationEnd,
    StationPhase,
    TextDelta,
)
from engine.cluster.command import add_arguments as add_rank_arguments
from engine.cluster.command import mode_words, plan_of, station_of
from engine.cluster.worker import follow
from engine.hub.library import scan_folders
from engine.machines.command import add_commands
from engine.machines.launched import launched_place
from engine.runtime.command_line import WriteReply
from engine.runtime.requests import LARGEST_CONSTRAINT
from engine.server.command import Ending, add_arguments, add_kv_bits, decoder_of, options_of, shelf_of

_STOPPED = 130
_STATION_S = 20.0
_OUTPUT_CLOSED = 141
_LONGEST_MESSAGE = 500
# All but line ends and tabs: an escape sequence of a model's would write to the clipboard, or over other lines.
_TERMINAL_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def main(arguments: Sequence[str] | None = None, write: WriteReply | None = None, key: str | None = None) -> int:
    """`write`, `key`: as `run_command_line` gets them."""
    try:
        options = _parser().parse_args(arguments, argparse.Namespace(write=write, key=key))
        _prepare_output(getattr(options, "log", False))
        if launched_place() and hasattr(options, "model"):
            follow(options.model)
        return int(options.run(options))
    except EngineError as error:
        return _refuse(error)
    except KeyboardInterrupt:
        return _STOPPED
    except OSError as error:  # of stdout: the engine handles its own
        _abandon(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return _OUTPUT_CLOSED
        _say(json.dumps({"error": "OutputFailed", "detail": error.strerror}))
        return 1


def _generate(options: argparse.Namespace) -> int:
    engine = Engine()
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    try:
        engine.subscribe(events.put)
        _load(engine, options, events)
        if options.station is not None:
            _await_station(events)
        write = options.write or partial(_write, as_json=options.json)
        return int(write(engine, _request(options), events))
    except EngineError as error:  # said before the engine is waited for
        return _refuse(error)
    finally:
        if not engine.close():
            _abandon(sys.stdout)


def _serve(options: argparse.Namespace) -> int:
    engine = Engine()
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    try:
        with Ending() as ending:
            settings = options_of(options)
            decode = decoder_of(options)
            _load(engine, options, events, ending)
            server = Server(engine, settings, ending.on_change, decode, shelf_of(options, engine))
            if not ending.asked:
                server.start()
                if (begun := ending.wait_for_begin()).phase is ServerPhase.RUNNING:
                    print(json.dumps({"serving": begun.addresses}), flush=True)
                    ending.wait()
                if (last := ending.state).phase is ServerPhase.FAILED:
                    _say(json.dumps({"error": last.error, "detail": last.detail}))
                    return 1
            server.stop()
            return 0
    except EngineError as error:
        return _refuse(error)
    finally:
        if not engine.close():
            _abandon(sys.stdout)


def _prepare_output(log: bool) -> None:
    """Escape characters that the terminal cannot show; silence libraries, and without `log` the engine's log."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    written: logging.Handler = logging.StreamHandler() if log else logging.NullHandler()
    written.setFormatter(WithoutWords("%(levelname)s:%(name)s:%(message)s"))
    logging.basicConfig(handlers=[written])


class WithoutWords(logging.Formatter):
    """Writes an exception as its kind and places: its own words may repeat a prompt."""

    def formatException(self, ei: Any) -> str:  # noqa: N802  logging's name
        error = ei[1]
        lines = list[str]()
        while error is not None:
            lines += [*traceback.format_tb(error.__traceback__), type(error).__name__]
            error = error.__cause__ or error.__context__
        return "\n".join(lines)


def _abandon(stream: TextIO | None) -> None:
    """Redirect the stream, so that the interpreter does not fail at exit on what could not be written."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _say(line: str) -> None:
    """To stderr; if that is closed or full, nowhere."""
    try:
        if sys.stderr is not None:
            print(line, file=sys.stderr, flush=True)
    except OSError:
        _abandon(sys.stderr)


def _write(engine: Engine, request: Request, events: queue.SimpleQueue[Event], as_json: bool) -> int:
    """Submit, listen, print: as text the answer alone, as a user reads it under folded thoughts."""
    engine.submit(request, events.put)
    answer: list[str] = []
    thinking: list[str] = []
    while not isinstance(event := events.get(), (Finished, Failed)):
        if isinstance(event, TextDelta):
            is_answer = event.kind is SpanKind.ANSWER
            (answer if is_answer else thinking).append(event.text)
            if not as_json:
                _show(event.text, is_answer=is_answer, begins=len(thinking) == 1)
    if isinstance(event, Failed):
        if as_json and (answer or thinking):  # its words are kept
            kept = {"text": "".join(answer), "thinking": "".join(thinking), "finish": "failed"}
            print(_as_json(kept), flush=True)
        elif answer:
            print(flush=True)
        return _refuse(event.error)
    report: dict[str, Any] = {
        "tokens": list(event.tokens),
        "text": "".join(answer),
        "thinking": "".join(thinking),
        "finish": event.reason.value,
        "seed": event.seed,
        "stats": _counters_and_rates(event.stats),
    }
    if request.trace:
        report["rounds"] = [asdict(each) for each in event.rounds]
    print(_as_json(report) if as_json else "", flush=True)
    return 0


def _as_json(said: dict[str, Any]) -> str:
    """JSON itself escapes no more than the controls before the space."""
    return _TERMINAL_CONTROLS.sub(lambda each: f"\\u{ord(each[0]):04x}", json.dumps(said, ensure_ascii=False))


def _show(text: str, *, is_answer: bool, begins: bool) -> None:
    """Thoughts may take a minute: a terminal says that there are some."""
    if is_answer:
        print(_TERMINAL_CONTROLS.sub("", text), end="", flush=True)
    elif begins and sys.stderr.isatty():
        _say("Thinking…")


def _load(
    engine: Engine, options: argparse.Namespace, events: queue.SimpleQueue[Event], ending: Ending | None = None
) -> None:
    """Returns early once the process is asked to end."""
    engine.set_station(station_of(options))
    engine.load(options.model, events.put, draft=options.draft, plan=plan_of(options, _say))
    awaited = 1 if options.draft is None else 2
    while awaited and (ending is None or not ending.asked):
        try:
            event = events.get(timeout=None if ending is None else 0.2)
        except queue.Empty:
            continue
        awaited -= isinstance(event, ModelReady)
        if isinstance(event, ModelFailed):
            raise event.error
    if (choice := engine.state().choice) is not None:
        _say(mode_words(choice))


def _await_station(events: queue.SimpleQueue[Event]) -> None:
    """At most so long: without it the reply is drafted here, or not at all."""
    until = time.monotonic() + _STATION_S
    with suppress(queue.Empty):
        while True:
            event = events.get(timeout=max(0.0, until - time.monotonic()))
            if isinstance(event, StationChanged) and (
                event.station.phase is StationPhase.READY or event.station.end is StationEnd.REFUSED
            ):
                return


def _refuse(error: EngineError) -> int:
    _say(json.dumps({"error": type(error).__name__} | asdict(error)))  # type: ignore[call-overload]
    return 1


def _counters_and_rates(stats: RequestStats) -> dict[str, Any]:
    rates = ("accept_rate", "tokens_per_pass", "tokens_per_second", "break_even", "speed_up", "draft_cost")
    return asdict(stats) | {rate: getattr(stats, rate) for rate in rates}


def _request(options: argparse.Namespace) -> Request:
    messages: tuple[Message, ...] = ()
    if options.prompt is not None:
        messages = (Message(MessageRole.USER, options.prompt),)
    elif options.chat is not None:
        messages = tuple(Message(MessageRole(turn["role"]), turn["content"]) for turn in options.chat)
    acceptance = Acceptance.REJECTION if options.fastest else Acceptance.COUPLED
    return Request(
        messages=messages,
        tokens=tuple(options.tokens or ()),
        sampling=Sampling(
            temperature=options.temperature,
            top_p=options.top_p,
            top_k=options.top_k,
            min_p=options.min_p,
            repetition_penalty=options.repetition_penalty,
            seed=options.seed,
        ),
        speculation=replace(options.speculate, acceptance=acceptance),
        max_tokens=options.max_tokens,
        stop=tuple(options.stop),
        thinking=options.effort != "off",
        effort=Effort(options.effort) if options.effort in tuple(Effort) else Effort.NORMAL,
        thinking_tokens=options.effort if isinstance(options.effort, int) else None,
        constraint=options.schema,
        trace=options.trace,
        kv_bits=options.kv_bits,
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, without the usage, which --help prints, and without a name, since `hunch ask` calls it, too."""
        _say(f"error: {' '.join(message.split())[:_LONGEST_MESSAGE]}")
        sys.exit(2)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m engine", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="generate|serve|lend|pair|machines")
    add_commands(commands, _say, scan_folders)
    serve = commands.add_parser("serve", help="serve other programs on this machine")
    add_arguments(serve)
    add_rank_arguments(serve)
    serve.set_defaults(run=_serve)
    generate = commands.add_parser("generate", help="write one reply")
    generate.set_defaults(run=_generate)
    generate.add_argument("--model", type=Path, required=True, metavar="DIR")
    generate.add_argument("--draft", type=Path, metavar="DIR")
    add_rank_arguments(generate)
    prompt = generate.add_mutually_exclusive_group(required=True)
    prompt.add_argument("--prompt", metavar="TEXT", help="one user message")
    prompt.add_argument("--chat", type=_chat, metavar="JSON", help='[{"role": "user", "content": "…"}, …]')
    prompt.add_argument("--tokens", type=_token_ids, metavar="JSON", help="[1, 2, …], fed as they are")
    generate.add_argument("--speculate", type=_speculation, default=Speculation.auto(), metavar="off|auto|N")
    generate.add_argument(
        "--fastest",
        action="store_true",
        help="accept more of what is drafted (rejection sampling); the same seed no longer gives the same text",
    )
    generate.add_argument("--temperature", type=float, default=0.0)
    generate.add_argument("--top-p", type=float, default=1.0)
    generate.add_argument("--top-k", type=int, default=0)
    generate.add_argument("--min-p", type=float, default=0.0)
    generate.add_argument("--repetition-penalty", type=float, default=1.0)
    generate.add_argument("--seed", type=int)
    generate.add_argument("--max-tokens", type=int)
    add_kv_bits(generate)
    generate.add_argument("--stop", action="append", default=[], metavar="TEXT", help="may be given several times")
    generate.add_argument(
        "--effort",
        type=_effort,
        default="off",
        metavar="off|low|normal|high|N",
        help="let the model think first, where its template can; N: at most so many tokens",
    )
    generate.add_argument("--thinking", action="store_const", dest="effort", const="normal", help="as --effort normal")
    generate.add_argument("--schema", type=_schema, metavar="FILE|JSON", help="a schema that the answer has to match")
    generate.add_argument("--trace", action="store_true", help="with --json: what was drafted in each round")
    generate.add_argument("--log", action="store_true", help="the engine's warnings and errors on stderr")
    generate.add_argument("--json", action="store_true", help="one JSON object instead of the text as it comes")
    return parser


def _chat(text: str) -> list[dict[str, str]]:
    turns = _json(text)
    roles = {role.value for role in MessageRole}
    if not isinstance(turns, list) or not all(
        isinstance(turn, dict) and str(turn.get("role")) in roles and isinstance(turn.get("content"), str)
        for turn in turns
    ):
        raise argparse.ArgumentTypeError(
            f"expected a list of messages with a role ({'|'.join(sorted(roles))}) and text"
        )
    return turns


def _token_ids(text: str) -> list[int]:
    tokens = _json(text)
    if not isinstance(tokens, list) or not all(type(token) is int and token >= 0 for token in tokens):
        raise argparse.ArgumentTypeError("expected a list of token ids")
    return tokens


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from error


def _speculation(text: str) -> Speculation:
    if text in ("off", "auto"):
        return Speculation.off() if text == "off" else Speculation.auto()
    if not text.isdecimal() or len(text) > 4:
        raise argparse.ArgumentTypeError("expected off, auto or a number of tokens")
    return Speculation.fixed(int(text))


def _effort(text: str) -> str | int:
    if text in ("off", *Effort):
        return text
    if not text.isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError("expected off, low, normal, high or a number of tokens")
    return int(text)


def _schema(file: str) -> Constraint:
    """In a file, or itself: then it begins as JSON does."""
    text = file
    try:
        if not file.startswith("{"):
            with Path(file).open(encoding="utf-8-sig") as opened:
                text = opened.read(LARGEST_CONSTRAINT + 1)
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if not isinstance(_json(text), dict):
        raise argparse.ArgumentTypeError("expected a JSON schema, which is an object")
    return Constraint(ConstraintKind.JSON, text)


if __name__ == "__main__":
    sys.exit(main())
