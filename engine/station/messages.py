"""Messages between the engine and its station, sent as those between ranks (`machines/messages.py`)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.machines.messages import Hello, Ping, Pong, RankBroken


@dataclass(frozen=True, slots=True)
class LoadDraft:
    """Load the draft model in `folder`, for a main model with so many tokens, of which `ends` end a reply."""

    folder: str
    vocabulary: int
    ends: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Begin:
    """A conversation with the `tokens` that follow as bytes, and the law by which its tokens are drawn after them.

    Kept caches of an earlier conversation with the same beginning are used.
    """

    sequence: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Commit:
    """`tokens` were appended to the conversation, which had `position` tokens."""

    sequence: int
    position: int
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Propose:
    """Draft up to `length` tokens within so many microseconds, fewer by the stop rule of `floors` and `worth`.

    `pace_us`: microseconds that a token of the reply takes at present: what is not prepared must be worth its time.
    """

    sequence: int
    number: int  # of the answer
    length: int
    sharpness: int
    within_us: int
    pace_us: int
    floors: tuple[float, ...]
    worth: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class End:
    """Nothing is drafted for this conversation any more; its caches may serve the next one."""

    sequence: int


@dataclass(frozen=True, slots=True)
class Forget:
    """Nothing is kept of the conversations so far once they have ended: a chat was deleted."""


@dataclass(frozen=True, slots=True)
class DraftLoaded:
    context_tokens: int


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """The conversation's tokens are prefilled: from here on it drafts at once."""

    sequence: int


@dataclass(frozen=True, slots=True)
class Proposed:
    """Answer of Propose: tokens, with the draft's probability of each, and the draws of every level of sharpness.

    `hit`: all of it was prepared before. `worked_us`: microseconds that the station has computed since it began.
    """

    number: int
    tokens: tuple[int, ...]
    probabilities: tuple[float, ...]
    guesses: tuple[int, ...]
    hit: bool
    worked_us: int


Order = LoadDraft | Begin | Commit | Propose | End | Forget | Ping
Answer = Hello | DraftLoaded | CaughtUp | Proposed | Pong | RankBroken
