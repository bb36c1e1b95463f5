"""What processes and machines say to each other: values, never objects that run.

Sent as JSON, some with raw bytes after it. Nothing that arrives is trusted: `decoded` checks name, fields, types and
ranges.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from functools import cache
from math import isfinite
from types import MappingProxyType, UnionType
from typing import Any, ClassVar, Protocol, get_type_hints

PROTOCOL = 9
MOST_TEXT = 4096
MOST_NUMBERS = 1 << 16
_MOST = 1 << 53
_TUPLES = (tuple[int, ...], tuple[float, ...], tuple[str, ...])


class Value(Protocol):
    """A frozen dataclass of numbers, texts and tuples of them: those below, and those of ranks and stations."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


# Of a process


@dataclass(frozen=True, slots=True)
class Ping:
    pass


@dataclass(frozen=True, slots=True)
class Pong:
    pass


@dataclass(frozen=True, slots=True)
class Hello:
    """The first word."""

    protocol: int
    versions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankBroken:
    """The last word. `error`: the name of the error's type."""

    error: str
    detail: str

    @property
    def lacks_memory(self) -> bool:
        return self.error in ("ModelTooLarge", "OutOfMemory")


@dataclass(frozen=True, slots=True)
class RankAnswer:
    yes: bool


# Between two machines, before a rank or a station of one runs on the other


@dataclass(frozen=True, slots=True)
class Share:
    """One side's part of the exchange that pairs two machines (SPAKE2), with its name and certificate."""

    name: str
    certificate: str
    share: str


@dataclass(frozen=True, slots=True)
class Proof:
    """That the sender has the same key from the exchange, so the same code."""

    mac: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Whether the model with this digest is there, and how much memory would be lent to it.

    `versions`: of what computes (`versions.py`); others are refused. `repository` and `revision`: where it can be
    downloaded, if it comes from a hub.
    """

    versions: tuple[str, ...]
    digest: str
    repository: str = ""
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """Start a rank with that model; after the answer, Offer, the connection is the rank's own.

    `process`: that asks, by a number at random. A rank that it had before is ended: it may have lost that one. So is
    a station, but a rank is not ended for a station.
    `memory_bytes`: that the rank needs with a chat of useful length; 0 is refused. `drafts`: start a station instead,
    which drafts with that model for the machine that asks.
    """

    digest: str
    process: str
    memory_bytes: int
    drafts: bool = False


@dataclass(frozen=True, slots=True)
class MemoryOffer:
    """`chip`, `system`, `rdma`: of the machine that lends, as in `computers.py`."""

    memory_bytes: int
    chip: str = ""
    system: str = ""
    rdma: str = ""


@dataclass(frozen=True, slots=True)
class RankRefused:
    """`why` is a MachineRefusal; `detail` says who is helped instead, say."""

    why: str
    detail: str


@dataclass(frozen=True, slots=True)
class OfferFiles:
    """That the files of the model that was asked for last, and is not there, can be had at this port for a while."""

    repository: str
    revision: str
    port: int


Approach = Share | Proof | Ask | Start | OfferFiles | Ping
Response = Share | Proof | RankAnswer | MemoryOffer | RankRefused | Pong


class NotAValue(Exception):
    """What arrived is none of the expected values."""


def encoded(value: Value) -> bytes:
    return json.dumps({"is": type(value).__name__, **asdict(value)}).encode()


def decoded(data: bytes, allowed: UnionType) -> Value:
    """The value in `data`, if it is one of `allowed`; else raises NotAValue."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NotAValue(str(error)[:200]) from error
    kinds = {kind.__name__: kind for kind in allowed.__args__}
    name = content.pop("is", None) if isinstance(content, dict) else None
    kind = kinds.get(name) if isinstance(name, str) else None
    if kind is None or content.keys() != _types(kind).keys():
        raise NotAValue(f"{str(name)[:40]} with {len(content) if isinstance(content, dict) else 'no'} fields")
    value: Value = kind(**{field: _checked(name, content[field], wanted) for field, wanted in _types(kind).items()})
    return value


@cache
def _types(kind: Any) -> MappingProxyType[str, Any]:
    hints = get_type_hints(kind)
    return MappingProxyType({field.name: hints[field.name] for field in fields(kind)})


def _checked(name: object, value: object, wanted: Any) -> Any:
    if wanted is bool and type(value) is bool:
        return value
    if wanted is int and type(value) is int and 0 <= value < _MOST:
        return value
    if wanted is float and type(value) is float and isfinite(value):
        return value
    if wanted is str and isinstance(value, str) and len(value) <= MOST_TEXT:
        return value
    if isinstance(value, list) and len(value) <= MOST_NUMBERS and wanted in _TUPLES:
        return tuple(_checked(name, each, wanted.__args__[0]) for each in value)
    raise NotAValue(f"{name}: {str(value)[:40]}")
