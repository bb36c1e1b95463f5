"""`python -m engine serve`: serves a pair, and further models in folders on demand, until a signal ends it."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import signal
import stat
import threading
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from types import FrameType

from engine.api.errors import EngineError, InvalidRequest
from engine.api.events import Event
from engine.api.files import open_plain
from engine.api.protocols import ChatEngine
from engine.api.types import KV_BITS, EngineState, ModelInfo
from engine.hub.library import scan_folders
from engine.machines.launched import launched_size
from engine.models.compatibility import best_draft
from engine.server.options import (
    DEFAULT_PORT,
    ModelShelf,
    PictureDecoder,
    ServedModel,
    ServerOptions,
    ServerPhase,
    ServerState,
)

_LONGEST_KEY = 4096
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/*?#@A-Z]*")
_TTL = "without a request, until a model that was asked for is unloaded; -1: never"


def add_arguments(serve: argparse.ArgumentParser) -> None:
    serve.add_argument("--model", type=Path, required=True, metavar="DIR")
    serve.add_argument("--draft", type=Path, metavar="DIR")
    serve.add_argument(
        "--models", action="append", type=Path, default=[], metavar="DIR", help="with others, loaded when asked for"
    )
    serve.add_argument(
        "--pair",
        action="append",
        nargs=2,
        default=[],
        metavar=("DIR", "DRAFT"),
        help='the draft of one of these; "": none',
    )
    serve.add_argument("--ttl", type=_seconds, metavar="SECONDS", help=_TTL)
    add_kv_bits(serve)
    serve.add_argument("--host", default="", help="an address to listen at; without it 127.0.0.1 and ::1")
    serve.add_argument("--port", type=int, default=DEFAULT_PORT)
    serve.add_argument("--api-key-file", type=Path, metavar="FILE", help="with a key that clients must send")
    serve.add_argument(
        "--allow-host", action="append", type=_name, default=[], metavar="NAME", help="a further name of this server"
    )
    serve.add_argument(
        "--allow-origin", action="append", type=_origin, default=[], metavar="ORIGIN", help="of pages that may use it"
    )
    serve.add_argument("--vllm-metrics", action="store_true", help="figures at /metrics under vLLM's names, too")
    serve.add_argument("--any-name", action="store_true", help="answer to unknown models' names with that of --model")
    serve.add_argument(
        "--decoder", metavar="MODULE:NAME", help="a class that makes pixels of pictures; without it none are taken"
    )
    serve.add_argument("--log", action="store_true", help="the engine's warnings and errors on stderr")


def add_kv_bits(parser: argparse.ArgumentParser) -> None:
    text = "of keys and values; without it 8 where memory limits the context, else 16"
    parser.add_argument("--kv-bits", type=int, choices=KV_BITS, help=text)


def options_of(arguments: argparse.Namespace) -> ServerOptions:
    """Ends for a wrong usage; raises InvalidRequest without a key that is needed, or for a file of one that others may
    read, or that has none in it.
    """
    on_demand = {"--models": arguments.models, "--pair": arguments.pair, "--ttl": arguments.ttl is not None}
    if _over_ranks(arguments) and (given := [name for name, value in on_demand.items() if value]):
        arguments.usage_error(f"{', '.join(given)}: over several processes one model is loaded, and stays")
    if not 0 <= arguments.port <= 65535:
        raise InvalidRequest("port", str(arguments.port), "0..65535")
    options = ServerOptions(
        host=arguments.host,
        port=arguments.port,
        key=arguments.key if arguments.api_key_file is None else _key_in(arguments.api_key_file),
        hosts=tuple(arguments.allow_host),
        origins=tuple(arguments.allow_origin),
        any_name=arguments.any_name,
        vllm_names=arguments.vllm_metrics,
        kv_bits=arguments.kv_bits,
        ttl_s=ServerOptions().ttl_s if arguments.ttl is None else arguments.ttl,
    )
    if options.lacks_key:
        raise InvalidRequest("api_key_file", "none" if options.key is None else "unreadable", "a file with a key")
    return options


def _over_ranks(arguments: argparse.Namespace) -> bool:
    return arguments.ranks is not None or bool(arguments.machines) or launched_size() > 1


def shelf_of(arguments: argparse.Namespace, engine: ChatEngine) -> ModelShelf | None:
    """The models to serve, once the pair is loaded; None if that runs in several processes."""
    if _over_ranks(arguments):
        return None
    drafts = {Path(main).resolve(): Path(draft).resolve() if draft else None for main, draft in arguments.pair}
    state = engine.state()
    infos = [model.info for model in scan_folders(arguments.models) if model.info is not None]
    here = [] if state.draft is None else [state.draft]  # whether one fits is known by its main model
    return EngineShelf(engine, served_models(state, infos, drafts), [*here, *infos])


def _seconds(text: str) -> float:
    seconds = float(text)
    if not seconds < 1e9:
        raise ValueError(text)
    return seconds if seconds >= 0 else inf


def _name(text: str) -> str:
    """As clients write it before the port."""
    if not text or any(mark in text for mark in "/*@[]") or text.count(":") == 1:
        raise argparse.ArgumentTypeError("expected a name or an address, without a port")
    return text


def _origin(text: str) -> str:
    """As browsers write it, or only its beginning up to "://"."""
    if not _ORIGIN.fullmatch(text):
        raise argparse.ArgumentTypeError("expected an origin, as in http://localhost:3000 or app://")
    return text


def decoder_of(arguments: argparse.Namespace) -> PictureDecoder | None:
    """Raises InvalidRequest for one that cannot be imported."""
    if arguments.decoder is None:
        return None
    module, _, name = arguments.decoder.partition(":")
    try:
        decode: PictureDecoder = getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidRequest("decoder", arguments.decoder[:200], "MODULE:NAME") from error
    return decode


def _key_in(file: Path) -> str:
    try:
        if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & 0o077:
            raise InvalidRequest("api_key_file", "readable by others", "0600")
        with open_plain(file) as opened:
            key = opened.read(_LONGEST_KEY + 1).decode("ascii").strip()  # which every client can send in a header
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest("api_key_file", type(error).__name__, "a file with a key of ASCII letters") from error
    if not key or len(key) > _LONGEST_KEY:
        raise InvalidRequest("api_key_file", f"{len(key)} characters", f"1..{_LONGEST_KEY}")
    return key


class Ending:
    """Waits for SIGINT or SIGTERM, or for the end of the server."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._changed = threading.Event()
        self.state = ServerState()

    def __enter__(self) -> Ending:
        self._former = {each: signal.signal(each, self._on_signal) for each in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def on_change(self, state: ServerState) -> None:
        self.state = state
        if state.phase is not ServerPhase.STARTING:
            self._changed.set()
        if state.phase in {ServerPhase.FAILED, ServerPhase.OFF}:
            self._ended.set()

    def wait_for_begin(self) -> ServerState:
        while not self._changed.wait(0.2) and not self._ended.is_set():
            pass
        return self.state

    def wait(self) -> None:
        while not self._ended.wait(0.5):  # a wait without end would not let a signal's handler run everywhere
            pass

    @property
    def asked(self) -> bool:
        return self._ended.is_set()

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._ended.set()


class EngineShelf:
    """A ModelShelf for an engine that only clients use: models are replaced once no client uses them."""

    def __init__(self, engine: ChatEngine, models: Sequence[ServedModel], drafts: Sequence[ModelInfo] = ()) -> None:
        self._engine = engine
        self._models = tuple(models)
        self._drafts = tuple(drafts)

    def models(self) -> Sequence[ServedModel]:
        return self._models

    def drafts(self) -> Sequence[ModelInfo]:
        return self._drafts

    def bring(self, model: ServedModel, refuse: Callable[[EngineError], None]) -> None:
        state = self._engine.state()
        draft = None if model.draft is None else model.draft.folder
        if model.exact and state.main is not None and _key(state.main.folder) == _key(model.main.folder):
            self._engine.set_draft(draft, _unheard)
        else:
            self._engine.load(model.main.folder, _unheard, draft=draft)

    def take_away(self, model: ServedModel) -> None:
        """Unload a model; of the chosen pair only a draft named by a client."""
        chosen = next((each for each in self._models if each.chosen), None)
        if chosen is None or _key(chosen.main.folder) != _key(model.main.folder):
            self._engine.unload(_unheard)
        elif chosen.draft is None:
            self._engine.load(chosen.main.folder, _unheard)
        else:
            self._engine.set_draft(chosen.draft.folder, _unheard)


def served_models(
    state: EngineState, infos: Sequence[ModelInfo], drafts: Mapping[Path, Path | None]
) -> list[ServedModel]:
    """The loaded pair, which stays, and the other models, each with its draft of `drafts`, or the best one."""
    here = [] if state.main is None else [ServedModel(state.main, state.draft, chosen=True)]
    known = {_key(each.main.folder) for each in here}
    others = [info for info in infos if info.drafter is None and _key(info.folder) not in known]
    return [*here, *(ServedModel(info, _draft_of(info, infos, drafts)) for info in others)]


def _draft_of(main: ModelInfo, infos: Sequence[ModelInfo], drafts: Mapping[Path, Path | None]) -> ModelInfo | None:
    key = _key(main.folder)
    if key not in drafts:
        return best_draft(main, infos)
    return next((info for info in infos if drafts[key] is not None and _key(info.folder) == drafts[key]), None)


def _key(folder: Path | str) -> Path:
    return Path(folder).resolve()


def _unheard(_event: Event) -> None:
    """A sink that ignores events: the server has a subscription."""
