"""A conversation's tokens and one model's cache of them.

INVARIANT: between rounds of its own the cache holds all committed tokens but the last, which the next forward feeds.
In a batch it is empty: the batch holds the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Tokens
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import mlx.core as mx

from engine.caches.base import CacheSet
from engine.caches.checkpoints import Checkpoint, can_truncate, make_checkpoint, needs_checkpoints, truncate
from engine.caches.kinds import require
from engine.decoding.hidden_states import HiddenStates

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

PREFILL_CHUNK_TOKENS = 512
# So few tokens the first round reads itself, drawing after the last of them: a forward less before the first token.
TAIL_TOKENS = 64
_COMPARED_AT_ONCE = 1024  # tokens, by the list itself: eight times as fast as one by one
CHECKPOINTS = 3  # this turn's, the last reply's end, and the turn's before it


class Sequence:
    def __init__(self, model: LoadedModel, tokens: list[int], caches: CacheSet | None = None) -> None:
        self.model = model
        self.tokens = tokens
        self.caches = caches if caches is not None else model.make_caches()
        self.hidden_states: HiddenStates | None = None  # kept of every forward, while this is set
        self.conversation = ""  # by this name what is kept of it is forgotten later
        self.forgotten = False  # while it was in use: nothing of it is to be kept
        self.turn_end = 0  # where another reply, or a next turn that forgets this one's thinking, would start from
        self.checkpoints: dict[int, Checkpoint] = {}  # by position, the latest last
        self.states_to = 0  # tokens whose hidden states a drafter has in its cache
        self.last_state: tuple[int, mx.array] | None = None  # (position, hidden state) of the drafter's last row
        self.padded_width: Callable[[int], int] = int  # maps a forward's width to a faster, wider one; int: itself
        self.reads_trees = False  # whether a forward lets a token see its ancestors only, at the positions of a chain
        self.in_flight: mx.array | None = None  # the draw of a step that was opened ahead, on a token not yet read
        require(self.caches.position < max(1, len(tokens)), "nothing is left to feed")

    @property
    def unread(self) -> int:
        """Committed tokens that the cache lacks; 1 between rounds."""
        return len(self.tokens) - self.caches.position

    @property
    def ready(self) -> bool:
        """Whether a round may come next, and read what is unread."""
        if self.unread == 1 or self.unread > TAIL_TOKENS or not self.caches.can_roll_back:  # for some, width matters
            return self.unread == 1
        return not (self.caches.position < self.turn_end and needs_checkpoints(self.caches))

    def prefill_chunk(self) -> None:
        """Read on, at most one chunk, leaving the last token to the first round."""
        start = self.caches.position
        end = min(start + PREFILL_CHUNK_TOKENS, len(self.tokens) - 1)
        if start < self.turn_end < end and needs_checkpoints(self.caches):
            end = self.turn_end
        self.feed(mx.array(self.tokens[start:end]))
        self.close_step(end - start)
        self.caches.evaluate()
        if self.hidden_states is not None:
            self.hidden_states.evaluate()
        if end == self.turn_end:
            self.keep_checkpoint()
        mx.clear_cache()

    def read_last_again(self) -> None:
        """Take back the newest token that was read, where these caches can: somebody needs its hidden state."""
        position = self.caches.position - 1
        if position >= 0 and can_truncate(self.caches, position):
            truncate(self.caches, position)

    def keep_checkpoint(self) -> None:
        """Remember the state here, if these caches can be truncated to here no other way.

        Of older ones the one stays from which a drafter has hidden states made again that it missed.
        """
        if not (self.caches.position and needs_checkpoints(self.caches)):
            return
        self.checkpoints.pop(self.caches.position, None)
        self.checkpoints[self.caches.position] = make_checkpoint(self.caches)
        needed = max((at for at in self.checkpoints if at <= self.states_to), default=0)
        for older in list(self.checkpoints)[:-CHECKPOINTS]:
            if older != needed:
                del self.checkpoints[older]

    def go_on_from(self, earlier: Sequence) -> None:
        """This one has the caches of `earlier`, perhaps cut: take over what of its checkpoints still holds."""
        held = self.caches.position
        self.checkpoints = {at: made for at, made in earlier.checkpoints.items() if at <= held}
        self.states_to = min(earlier.states_to, held)
        if earlier.last_state is not None and earlier.last_state[0] == held:
            self.last_state = earlier.last_state

    def belong_to(self, chat: Sequence | None) -> None:
        """To the same conversation as this sequence of the main model."""
        if chat is not None:
            self.conversation, self.forgotten = chat.conversation, chat.forgotten

    def let_network_go(self) -> None:
        """For one that is only to be written to disk from here on: the weights need not stay for that."""
        self.model = replace(self.model, network=None, make_caches=_no_caches)
        self.hidden_states = None
        self.caches.let_network_go()

    def feed(self, tokens: mx.array) -> mx.array:
        """One forward over `tokens` (n,) after what the cache holds; logits (n, vocabulary), not evaluated.

        Opens a step: the caller commits how many of the tokens stand. Where a wider forward is faster it is padded;
        later tokens cannot touch earlier ones, and the commit forgets them.
        """
        network, layers, width = self.model.network, self.caches.layers, self._width(tokens.size)
        tokens = within_vocabulary(tokens, self.model)
        padded = tokens
        if width > tokens.size:
            padded = mx.concatenate([tokens, mx.repeat(tokens[-1:], width - tokens.size)])
        with self.hidden_states.step() if self.hidden_states is not None else nullcontext():
            logits: mx.array = self.caches.forward(width, lambda: network(padded[None], cache=layers))
        return logits[0, : tokens.size]

    def _width(self, tokens: int) -> int:
        """Padding is forgotten again, which not all caches can, and takes no place beyond the context."""
        width = self.padded_width(tokens)
        if width == tokens or not self.caches.can_roll_back:
            return tokens
        return width if self.caches.position + width <= self.model.info.context_tokens else tokens

    def close_step(self, kept: int, rows: list[int] | None = None) -> None:
        """Of the open step, the first `kept` tokens stand; with `rows`, those at the first `kept` of them."""
        if rows is not None:
            self.caches.move_to_front(rows)
        if self.hidden_states is not None:
            self.hidden_states.keep(self.caches.position, kept, rows)
        self.caches.commit(kept)

    def commit(self, emitted: list[int], path: Tokens[int] = ()) -> None:
        """`emitted` now follow the last token; of the step over [what was unread, draft…], as many more stand.

        `path` are the indices of the accepted tokens in the draft, which are the first ones unless it is a tree. When
        the next step is already in flight, this one was closed before that one began.
        """
        if self.in_flight is None:
            kept = self.unread - 1 + len(emitted)
            moved = [*range(self.unread), *(self.unread + index for index in path)]
            self.close_step(kept, None if moved == list(range(len(moved))) else moved)
        self.tokens.extend(emitted)
        require(self.unread == 1, f"{self.unread} tokens are unread between rounds")

    def discard_in_flight(self) -> None:
        """Take back the step that was opened ahead, if there is one: nobody will read its draw."""
        if self.in_flight is not None:
            self.close_step(0)
            self.in_flight = None


def _no_caches() -> CacheSet:
    raise RuntimeError("the network has gone")


def within_vocabulary(tokens: mx.array, model: LoadedModel) -> mx.array:
    """`tokens`, and the last of the vocabulary for any beyond: the device would read behind the model's table.

    Such come from a main model with more rows than its draft, and where no token could be drawn.
    """
    return mx.minimum(tokens, model.logit_width - 1)


def common_prefix(a: Tokens[int], b: Tokens[int]) -> int:
    """How many tokens both begin with."""
    end = min(len(a), len(b))
    for start in range(0, end, _COMPARED_AT_ONCE):
        stop = min(start + _COMPARED_AT_ONCE, end)
        if a[start:stop] != b[start:stop]:
            differ = (at for at in range(start, stop) if a[at] != b[at])
            if (first := next(differ, None)) is not None:  # a list and a tuple of the same tokens are not equal
                return first
    return end
