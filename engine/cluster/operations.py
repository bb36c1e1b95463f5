"""What rank 0 asks of the other ranks, and what they answer: messages (`machines/messages.py`)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from types import MappingProxyType

from engine.machines.messages import Hello, Ping, Pong, RankAnswer, RankBroken

ITEM_BYTES = MappingProxyType({"float32": 4, "float16": 2, "bfloat16": 2})  # of hidden states, by type


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


# From the other ranks


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


Operation = Join | Gathered | LoadPart | Forward | Commit | CanTruncate | Truncate | MakeCheckpoint | Copy | Drop | Ping
Reply = Hello | Gather | Joined | RankProgress | Loaded | Stepped | RankAnswer | Pong | RankBroken


def digest_of_states(data: bytes | bytearray | memoryview) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
