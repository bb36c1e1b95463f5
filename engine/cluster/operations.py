"""Messages between ranks and between machines, and their answers: values, never objects that run.

Sent as JSON, some with raw bytes after it. Nothing that arrives is trusted: `decoded` checks name, fields, types and
ranges.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from functools import cache
from math import isfinite
from types import MappingProxyType, UnionType
from typing import Any, ClassVar, Protocol, get_type_hints

PROTOCOL = 7
ITEM_BYTES = MappingProxyType({"float32": 4, "float16": 2, "bfloat16": 2})  # of hidden states, by type
MOST_TEXT = 4096
MOST_NUMBERS = 1 << 16
_MOST = 1 << 53
_TUPLES = (tuple[int, ...], tuple[float, ...], tuple[str, ...])


class Value(Protocol):
    """A frozen dataclass of numbers, texts and tuples of them: those below, and those of a station."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


# From rank 0


@dataclass(frozen=True, slots=True)
class Join:
    """Join the group in which sharded layers are summed, as member `place`; before anything is loaded.

    `links` of backend "ring": each member's address; of "jaccl": for each pair of members, row by row, the first one's
    RDMA device, "" for itself.
    """

    place: int
    backend: str
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gathered:
    """To each rank that has sent a Gather: the bytes of all follow, by place."""


@dataclass(frozen=True, slots=True)
class LoadPart:
    """Hold this rank's layers of the model in `folder`: `split` has the number of layers by rank.

    Without that, a part of every layer: that of this rank's place in the group.
    """

    folder: str
    rank: int
    split: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Forward:
    """Run the layers over `tokens` of a sequence that holds `position` tokens; open its step.

    In a pipeline the hidden states of the ranks before this one follow as bytes of `dtype`, but to the first. A
    sequence that is not known begins. Sequence 0 has no caches: nothing of it is kept.

    `layers`: in tensor mode, those whose states are wanted, too, after the head's input in each token's row.
    """

    sequence: int
    position: int
    tokens: tuple[int, ...]
    dtype: str = ""
    layers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Commit:
    """Close the open step, and keep its first `kept` tokens."""

    sequence: int
    kept: int


@dataclass(frozen=True, slots=True)
class CanTruncate:
    """Whether these caches can be cut to `position` without a checkpoint."""

    sequence: int
    position: int


@dataclass(frozen=True, slots=True)
class Truncate:
    """Cut to `position`, from a checkpoint that was made there; 0: without one."""

    sequence: int
    position: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class MakeCheckpoint:
    sequence: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class Copy:
    """Begin a sequence with the first `end` tokens of `source`."""

    sequence: int
    source: int
    end: int


@dataclass(frozen=True, slots=True)
class Drop:
    """Forget these sequences and checkpoints; numbers that are not known are ignored."""

    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ping:
    pass


# From the other ranks


@dataclass(frozen=True, slots=True)
class Hello:
    """The first word of a rank."""

    protocol: int
    versions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gather:
    """While it joins: bytes follow that all members are to have."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Of a Join: what a sum over the group takes, and the speed at which a matrix is read (0: not measured here)."""

    sum_ns: int
    bytes_s: int


@dataclass(frozen=True, slots=True)
class RankProgress:
    """While it loads."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """`digest`: of what is in the files that it was loaded from."""

    digest: str
    needs_checkpoints: bool


@dataclass(frozen=True, slots=True)
class Stepped:
    """Of a Forward. `short`: little is left of the memory that it may use.

    The hidden states follow as bytes. In tensor mode all ranks have the same ones, of which they send a `digest`; the
    states follow from place 0 alone.
    """

    dtype: str
    short: bool = False
    digest: str = ""


@dataclass(frozen=True, slots=True)
class RankAnswer:
    yes: bool


@dataclass(frozen=True, slots=True)
class Pong:
    pass


@dataclass(frozen=True, slots=True)
class RankBroken:
    """The rank's last word."""

    error: str
    detail: str


# Between two machines, before a rank of one runs on the other


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

    `process`: that asks, by a number at random. A rank that it had before is ended: it may have lost that one.
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

Operation = Join | Gathered | LoadPart | Forward | Commit | CanTruncate | Truncate | MakeCheckpoint | Copy | Drop | Ping
Reply = Hello | Gather | Joined | RankProgress | Loaded | Stepped | RankAnswer | Pong | RankBroken


def digest_of_states(data: bytes | bytearray | memoryview) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


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
