"""What a server is started with, and what it says about itself: values only, nothing of the network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from engine.api.connections import is_loopback
from engine.api.errors import EngineError
from engine.api.types import ModelInfo, Picture, Sampling

DEFAULT_PORT = 4862
MEGABYTE = 1 << 20
KEY_MISSING = "KeyMissing"


class ServerPhase(StrEnum):
    OFF = "off"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ServerOptions:
    host: str = ""  # "": 127.0.0.1 and ::1
    port: int = DEFAULT_PORT  # 0: a free one
    key: str | None = field(default=None, repr=False)  # mandatory beyond loopback; "": it cannot be read
    hosts: tuple[str, ...] = ()  # further names by which clients may address it
    origins: tuple[str, ...] = ()  # web pages that may use it, as "app://obsidian.md"
    any_name: bool = False  # answer to any model name with the loaded model
    vllm_names: bool = False  # figures under vLLM's names, too
    sampling: Sampling = field(default_factory=Sampling)  # where a request does not say
    kv_bits: int | None = None  # of keys and values, as in a request
    guests: bool = False  # its requests pause while others of the engine are queued or running
    most_requests: int = 64  # waiting, queued and running; further ones are refused with Retry-After
    ttl_s: float = 3600.0  # without a request, until a model that was loaded for one is unloaded; inf: never
    retry_s: float = 0.5  # until a model that cannot be loaded for now is asked for again
    stay_s: float = 30.0  # a model's requests go before those that wait for another, for so long after it came
    largest_body: int = 64 * MEGABYTE
    most_held: int = 512 * MEGABYTE  # of the bodies of all requests, and as much again of their pictures' pixels
    body_s: float = 60.0  # to receive a request's body
    header_s: float = 10.0  # to receive its header
    begin_s: float = 10.0  # until a stream begins though its request still waits for its turn
    silence_s: float = 10.0  # without output, until a stream says that it is alive
    stuck_s: float = 30.0  # for the engine to say that it works; no step of it takes so long
    send_s: float = 300.0  # for a client to take what it is sent

    @property
    def beyond_loopback(self) -> bool:
        return self.host not in {"", "localhost"} and not is_loopback(self.host)

    @property
    def lacks_key(self) -> bool:
        return self.key == "" or (self.key is None and self.beyond_loopback)


@dataclass(frozen=True, slots=True)
class ServerState:
    phase: ServerPhase = ServerPhase.OFF
    addresses: tuple[str, ...] = ()  # "http://127.0.0.1:4862"
    requests: int = 0  # of other programs, queued and running
    error: str = ""  # why it FAILED: KEY_MISSING, "InternalError" or an AddressProblem
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """One that clients may name, and the draft that comes with it. Both as their files say, loaded or not."""

    main: ModelInfo
    draft: ModelInfo | None = None
    chosen: bool = False  # by the user: time does not unload it
    loads: bool = True  # False: clients may use it only while it is loaded
    exact: bool = False  # with this draft and no other: a client has named it
    default: bool = False  # a client has named none, and means what the user chose


class ModelShelf(Protocol):
    """What is installed, and who loads it. Called on the server's thread; every call returns at once."""

    def models(self) -> Sequence[ServedModel]: ...

    def drafts(self) -> Sequence[ModelInfo]:
        """Those that clients may name as drafts; none where only the owner loads models."""

    def bring(self, model: ServedModel, refuse: Callable[[EngineError], None]) -> None:
        """Have the engine load it in place of what is loaded.

        Where that cannot begin, `refuse` is called, on any thread: with RepliesUnderWay while the user needs what is
        loaded, and it is asked for again.
        """

    def take_away(self, model: ServedModel) -> None:
        """Have the engine drop it, unless the user has chosen it, or another, since it was brought."""


class PictureProblem(StrEnum):
    """Why a file is no picture for a model."""

    KIND = "kind"  # no picture, or of a kind that is not read
    TOO_LARGE = "too_large"  # too many pixels
    TOO_NARROW = "too_narrow"
    DAMAGED = "damaged"
    NO_ROOM = "no_room"  # for what decodes it, on the disk or as a process: no fault of the file


class PictureRefused(Exception):
    def __init__(self, why: PictureProblem) -> None:
        super().__init__(why)
        self.why = why


class PictureDecoder(Protocol):
    """Decodes the pictures of one server's clients."""

    def __call__(self, data: bytes) -> Picture:
        """The pixels of a file that is not trusted. Called on threads of the server's, where it may take its time.

        Raises PictureRefused; anything after `stop`.
        """

    def stop(self) -> None:
        """End the calls that run, and every later one, at once. Any thread."""
