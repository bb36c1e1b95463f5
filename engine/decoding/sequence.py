"""A conversation's tokens and one model's cache of them.

INVARIANT: between its own rounds the cache holds all committed tokens but the last, which the next forward feeds. While
the reply is in a batch the cache is empty: the batch holds the row.
"""

from __future__ import annotations

from collections.abc import Sequence as Tokens
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import mlx.core as mx

from engine.caches.base import CacheSet
from engine.caches.checkpoints import Checkpoint, can_truncate, make_checkpoint, needs_checkpoints, truncate
from engine.caches.kinds import require
from engine.decoding.hidden_states import HiddenStates
from engine.vision.values import FIRST_NAME

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel
    from engine.vision.seeing import SequencePictures

PREFILL_CHUNK_TOKENS = 512
_COMPARED_AT_ONCE = 1024  # tokens compared as lists at a time: eight times as fast as one by one
CHECKPOINTS = 3  # at this turn's end, at the last reply's end, and the one before


class Widths(Protocol):
    def padded(self, width: int) -> int:
        """The width of the fastest forward of at least so many tokens."""


class LogitsReader(Protocol):
    def read(self, logits: mx.array, position: int, following: list[int]) -> None:
        """Gets a chunk's logits, its position, and the token that follows each of its tokens."""


class Sequence:
    def __init__(
        self, model: LoadedModel, tokens: list[int], caches: CacheSet | None = None, *, owner: str = ""
    ) -> None:
        """`owner`: whose it is, as of a request. What is kept of it is used for that owner alone."""
        self.model = model
        self.tokens = tokens
        self.caches = caches if caches is not None else model.make_caches()
        self.hidden_states: HiddenStates | None = None  # recorded in every forward, while set
        self.pictures: SequencePictures | None = None  # None: there are none in its tokens
        self.owner = owner
        self.conversation = ""  # its name, by which what is kept of it can be forgotten
        self.forgotten = False  # deleted while in use: nothing of it is kept
        self.is_continued = False  # half of its prompt or more was found in kept caches
        self.turn_end = 0  # prompt tokens that another reply, or the next turn, can reuse
        self.shared_end = 0  # of these, those that other conversations can reuse
        self.checkpoints: dict[int, Checkpoint] = {}  # by position, the latest last
        self.states_to = 0  # number of tokens that the drafter has cached
        self.last_state: tuple[int, mx.array] | None = None  # (position, state) of the drafter's last row
        self.costs: Widths | None = None  # None: no forward is padded
        self.scores: LogitsReader | None = None  # of the prompt
        self.in_flight: mx.array | None = None  # the token drawn by a step started ahead, not yet read on the host
        require(self.caches.position < max(1, len(tokens)), "nothing is left to feed")

    @property
    def uncached(self) -> int:
        """Committed tokens that the cache lacks; 1 between rounds."""
        return len(self.tokens) - self.caches.position

    @property
    def ready(self) -> bool:
        """Whether the next round may feed the uncached tokens itself."""
        if self.pictures is not None and not self.pictures.has_rows(self.caches.position, len(self.tokens)):
            return False
        apart = self.uncached > self.caches.tail_tokens or self.scores is not None
        if self.uncached == 1 or apart or not self.caches.can_roll_back:  # rows may depend on the width
            return self.uncached == 1
        ends = max(self.turn_end, self.shared_end)
        return not (self.caches.position < ends and needs_checkpoints(self.caches))

    def prefill_chunk(self) -> None:
        """Prefill at most one chunk, or encode one picture in it. The last token is left to the first round."""
        start = self.caches.position
        end = min(start + PREFILL_CHUNK_TOKENS, len(self.tokens) - 1)
        if self.pictures is not None:
            end = self.pictures.chunk_end(start, end)
        if needs_checkpoints(self.caches):
            end = min((at for at in (self.shared_end, self.turn_end) if start < at < end), default=end)
        if self.pictures is not None and not self.pictures.has_rows(start, end):
            self.pictures.encode(start, end)
            return
        logits = self.feed(mx.array(self.tokens[start:end]))
        if self.scores is not None:
            self.scores.read(logits, start, self.tokens[start + 1 : end + 1])
        self.close_step(end - start)
        self.caches.evaluate()
        if self.hidden_states is not None:
            self.hidden_states.evaluate()
        if end in (self.shared_end, self.turn_end):
            self.keep_checkpoint()
        mx.clear_cache()

    def uncache_last(self) -> None:
        """Drop the newest cached token, if these caches can: a drafter needs its hidden state again."""
        position = self.caches.position - 1
        if position >= 0 and can_truncate(self.caches, position):
            truncate(self.caches, position)

    def keep_checkpoint(self) -> None:
        """Keep a checkpoint here, if these caches cannot be truncated to here without one.

        Older ones are dropped, except the one from which a drafter's missing hidden states are computed again, and the
        one at which other conversations part from this one.
        """
        if not (self.caches.position and needs_checkpoints(self.caches)):
            return
        self.checkpoints.pop(self.caches.position, None)
        self.checkpoints[self.caches.position] = make_checkpoint(self.caches)
        needed = max((at for at in self.checkpoints if at <= self.states_to), default=0)
        for older in list(self.checkpoints)[:-CHECKPOINTS]:
            if older not in (needed, self.shared_end):
                del self.checkpoints[older]

    def go_on_from(self, earlier: Sequence) -> None:
        """Copy the checkpoints of `earlier`, whose caches this sequence took over, as far as they are still valid."""
        held = self.caches.position
        self.checkpoints = {at: made for at, made in earlier.checkpoints.items() if at <= held}
        self.states_to = min(earlier.states_to, held)
        if earlier.last_state is not None and earlier.last_state[0] == held:
            self.last_state = earlier.last_state

    def belong_to(self, chat: Sequence | None) -> None:
        """Copy from the main model's sequence `chat` whose it is, and whether and where what it caches is kept."""
        if chat is not None:
            self.owner = chat.owner
            self.conversation = chat.conversation
            self.is_continued = chat.is_continued
            self.forgotten = chat.forgotten

    def let_network_go(self) -> None:
        """Drop references to the weights: from here on this sequence is only written to disk."""
        self.model = replace(self.model, network=None, make_caches=_no_caches, eight_bits=None, beside={})
        self.hidden_states = self.pictures = None
        self.caches.replay = None

    def feed(self, tokens: mx.array) -> mx.array:
        """One forward over `tokens` (n,); logits (n, vocabulary), not evaluated.

        Opens a step: the caller commits how many of the tokens to keep. Padded where a wider forward is faster: later
        tokens do not change earlier rows, and the commit drops them.
        """
        network = self.model.network
        layers = self.caches.layers
        width = self._width(tokens.size)
        tokens = within_vocabulary(tokens, self.model)
        padded = tokens
        if width > tokens.size:
            padded = mx.concatenate([tokens, mx.repeat(tokens[-1:], width - tokens.size)])
        with ExitStack() as hooks:
            if self.pictures is not None:
                hooks.enter_context(self.pictures.step(self.caches.position, width))
            if self.hidden_states is not None:
                hooks.enter_context(self.hidden_states.step())
            logits: mx.array = self.caches.forward(width, lambda: network(padded[None], cache=layers))
        return logits[0, : tokens.size]

    def _width(self, tokens: int) -> int:
        """Padded only if the caches can roll back, and never beyond the context."""
        width = tokens if self.costs is None else self.costs.padded(tokens)
        if width == tokens or not self.caches.can_roll_back:
            return tokens
        return width if self.caches.position + width <= self.model.info.context_tokens else tokens

    def close_step(self, kept: int) -> None:
        """Keep the first `kept` tokens of the open step."""
        if self.hidden_states is not None:
            self.hidden_states.keep(self.caches.position, kept)
        self.caches.commit(kept)

    def commit(self, emitted: list[int]) -> None:
        """Append `emitted`, and keep the step's rows of [uncached tokens, accepted draft].

        If the next step is already in flight, this one was closed before that.
        """
        if self.in_flight is None:
            self.close_step(self.uncached - 1 + len(emitted))
        self.tokens.extend(emitted)
        require(self.uncached == 1, f"{self.uncached} tokens are uncached between rounds")

    def discard_in_flight(self) -> None:
        """Roll back the step that was started ahead, if any; its token is never read."""
        if self.in_flight is not None:
            self.close_step(0)
            self.in_flight = None


def _no_caches() -> CacheSet:
    raise RuntimeError("the network has gone")


def within_vocabulary(tokens: mx.array, model: LoadedModel) -> mx.array:
    """`tokens`, with those beyond the vocabulary replaced by its last: the device would read out of bounds.

    They come from a main model with more rows than its draft, and from NO_TOKEN. For names of pictures the network gets
    its placeholder.
    """
    if model.vision is not None:
        tokens = tokens.astype(mx.uint32)
        tokens = mx.where((tokens >= FIRST_NAME) & (tokens < 2 * FIRST_NAME), model.vision.readable, tokens)
    return mx.minimum(tokens, model.logit_width - 1)


def common_prefix(a: Tokens[object], b: Tokens[object]) -> int:
    end = min(len(a), len(b))
    for start in range(0, end, _COMPARED_AT_ONCE):
        stop = min(start + _COMPARED_AT_ONCE, end)
        if a[start:stop] != b[start:stop]:
            differ = (at for at in range(start, stop) if a[at] != b[at])
            if (first := next(differ, None)) is not None:  # a list and a tuple of the same tokens are not equal
                return first
    return end
