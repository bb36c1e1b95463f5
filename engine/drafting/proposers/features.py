"""The cache of a drafter that is fed hidden states: one row for each token whose main model state it has read.

The states come from the main model's own forwards. Missing ones (the drafter was loaded later, or memory was short) are
computed again a chunk at a time, if the controller thinks it worth its time.
"""

from __future__ import annotations

from collections.abc import Sequence as Tokens
from dataclasses import dataclass
from functools import partial
from typing import Any

import mlx.core as mx

from engine.api.types import MAX_DRAFT_TOKENS
from engine.caches.base import CacheSet
from engine.caches.checkpoints import copy_beginning, needs_checkpoints
from engine.caches.window import SLACK_TOKENS
from engine.decoding.hidden_states import HiddenStates
from engine.decoding.sequence import PREFILL_CHUNK_TOKENS, Sequence
from engine.drafting.plans import Offer
from engine.drafting.proposers.base import Proposer
from engine.drafting.proposers.rows import HeadRows, StateNetwork
from engine.models.loading import LoadedModel
from engine.models.memory import is_short
from engine.prefix.memory import PrefixStore
from engine.vision.values import readable

MOST_WAITING_BYTES = 256 << 20  # of waiting states, in all replies: the first token waits for no draft prefill
_MOST_WAITING_PARTS = 256
_SPREAD = 0x9E3779B1  # odd, so x * this mod 2**32 differs for every x


@dataclass(frozen=True, slots=True)
class Part:
    """What a forward reads: the states at tokens up to position `end`, and the token after each of them."""

    following: mx.array  # (n,)
    states: mx.array  # (n, layers × width)
    end: int


class Context:
    """For one reply. Row i is computed from the main model's state at token i; the newest token has no state yet."""

    def __init__(
        self,
        drafter: LoadedModel,
        main: LoadedModel,
        store: PrefixStore,
        turn_end: int = 0,
        tokens: Tokens[int] = (),
        chat: Sequence | None = None,
    ) -> None:
        """`turn_end`: where the turn before the reply ends, where both keep checkpoints; `tokens`: the prompt's.

        `chat`: the main model's sequence; from its cache, missing states at the end of a chat are computed without the
        rest.
        """
        self.drafter = drafter
        self._reader: StateNetwork = drafter.network
        self.main = main
        self.store = store
        self.turn_end = turn_end
        self._tokens = tokens
        self._chat = chat
        self.sequence: Sequence | None = None  # of the tokens that its rows depend on
        self.waiting: list[tuple[int, mx.array]] = []  # (position, states), in order
        self.waiting_bytes = 0  # of these states
        store.readers.add(self)
        self._again: tuple[Sequence, HiddenStates] | None = None  # computes missing states by prefilling the chat again
        self._known_on_disk = -1, 0  # (rows cached, position up to which the disk has the main model's caches)
        self.last_state: mx.array | None = None  # of the last row, if it was computed in this reply
        self.rows: HeadRows | None = None  # that hold the caches, in a batch
        self._last_read: tuple[int, mx.array] | None = None  # (position, main model's state) of the last row

    @property
    def caches(self) -> CacheSet:
        return self.following.caches

    @property
    def _owner(self) -> str:
        return "" if self._chat is None else self._chat.owner

    def follow(self, tokens: Tokens[int]) -> None:
        """Append the tokens committed since the last call."""
        self._tokens = tokens
        if self.sequence is None:
            rows = self._rows(tokens)
            read_from = self.waiting[0][0] if self.waiting else None
            # If we have all states from token 0, start empty, and leave the kept rows to other chats. Otherwise the
            # main model took its cache from a kept chat: take at least as many rows from the store.
            take = partial(self.store.take, least=read_from or 0, owner=self._owner)
            self.sequence = Sequence(self.drafter, rows) if read_from == 0 else take(self.drafter, rows)
            self.sequence.turn_end = len(self._rows(tokens[: self.turn_end]))
            self._recall_last_state(self.sequence)
        self.sequence.tokens.extend(self._rows(tokens)[len(self.sequence.tokens) :])

    def _recall_last_state(self, sequence: Sequence) -> None:
        """If the chat departs right where the last reply ended, its last row was dropped; restore the state for it."""
        kept = sequence.last_state
        sequence.last_state = None
        if kept is not None and self.waiting and self.waiting[0][0] == kept[0] + 1:
            self.waiting.insert(0, kept)
            self.waiting_bytes += kept[1].nbytes

    def receive(self, position: int, states: mx.array) -> None:
        self.waiting.append((position, states))
        self._limit_waiting(states.nbytes)

    def _limit_waiting(self, more_bytes: int) -> None:
        """Bound the waiting states, after `more_bytes` were added."""
        self.waiting_bytes += more_bytes
        if self._too_much_waits() or len(self.waiting) > _MOST_WAITING_PARTS:
            self._take_in()

    def _too_much_waits(self) -> bool:
        """Whether the waiting states of all replies exceed the limit, for which memory is reserved once.

        Where memory is short it is 0: they are then read at once, or computed again later.
        """
        most_bytes = 0 if is_short() else MOST_WAITING_BYTES
        return sum(reader.waiting_bytes for reader in self.store.readers) > most_bytes

    def _take_in(self) -> None:
        """Read the waiting states early: a row takes less memory than the states it is computed from.

        If those that cannot be read yet exceed the limit, they are dropped, and computed again where that pays.
        """
        if self.sequence is None and self._tokens:
            self.follow(self._tokens)
        if self.sequence is not None:
            self.read()
            self.caches.evaluate()
        if self._too_much_waits():
            self.waiting = []
            self.waiting_bytes = 0
        self.waiting = _joined(self.waiting)
        mx.eval([held for _, held in self.waiting])

    def missing(self) -> int:
        """Number of tokens that the main model has to prefill again before a draft can be made."""
        end = self._gap_end(len(self._tokens) - 1)
        if end is None:
            return 0
        return end - (self._spared() if self._again is None else self._again[0].caches.position)

    def read_again(self) -> None:
        """Prefill a chunk of the tokens whose states are missing."""
        self._again = self._again or self._begun_again()
        sequence, kept = self._again
        sequence.prefill_chunk()
        position, states = kept.take()
        if states is not None:
            self._insert(position, states)
        if self._gap_end(len(self._tokens) - 1) is None or sequence.uncached <= 1:
            self._again = None

    def _spared(self) -> int:
        """The position up to which the main model has a cache, with no states missing before it."""
        held = self.caches.position
        by_chat = self._spared_by_chat(held)
        return by_chat if by_chat == held else max(by_chat, self._on_disk(held))

    def _spared_by_chat(self, held: int) -> int:
        """`_spared` by the reply's own cache; 0 in a batch, or where other ranks would have to copy checkpoints."""
        chat = self._chat
        if chat is None or held > chat.caches.position:
            return 0
        if not needs_checkpoints(chat.caches):
            return held
        if self.main.ranks > 1:
            return 0
        return max((at for at in chat.checkpoints if at <= held), default=0)

    def _on_disk(self, held: int) -> int:
        """`_spared` by the disk, which is asked once for each `held`."""
        if self._known_on_disk[0] != held:
            tokens = list(self._tokens[: held + 1])
            self._known_on_disk = held, self.store.on_disk(self.main, tokens, self._owner)
        return self._known_on_disk[1]

    def _begun_again(self) -> tuple[Sequence, HiddenStates]:
        spared = self._spared()
        if (chat := self._chat) is not None and 0 < spared == self._spared_by_chat(spared):
            sequence = Sequence(self.main, list(self._tokens))
            copy_beginning(chat.caches, sequence.caches, spared, chat.checkpoints.get(spared))
        else:
            sequence = self.store.from_disk(self.main, list(self._tokens[: spared + 1]), self._owner)
            sequence.tokens = list(self._tokens)
        if chat is not None and chat.pictures is not None:
            sequence.pictures = chat.pictures.copy()
        sequence.hidden_states = kept = HiddenStates(self.main.network, self._reader.reads, self.main.first_layer)
        return sequence, kept

    def read(self) -> None:
        """Compute rows of all waiting states, up to the first that is missing."""
        self.leave_rows()
        while (part := self.next_part()) is not None:
            rows = self._reader.read(part.following, part.states, self.caches)
            self.note_read(part, rows[-1:])
            if part.states.shape[0] == PREFILL_CHUNK_TOKENS:
                self.caches.evaluate()
            if part.end == self.turn_end:
                self.following.keep_checkpoint()

    def prepare_row(self) -> bool:
        """Read what a forward over rows of a batch cannot; returns whether this can be one of them."""
        part = self.next_part()
        if not self.caches.position or (part is not None and not self._is_short_and_last(part)):
            self.read()
            part = None
        return self.caches.position > 0 and (part is not None or self.last_state is not None)

    def _is_short_and_last(self, part: Part) -> bool:
        return part.states.shape[0] <= SLACK_TOKENS and part.end == len(self._tokens) - 1 != self.turn_end

    def note_read(self, part: Part, last_state: mx.array) -> None:
        """Its rows are computed; the last of them has this state (1, width)."""
        self.last_state = last_state
        self._last_read = part.end - 1, part.states[-1:]

    def leave_rows(self) -> None:
        """Take the caches out of a batch's rows."""
        if self.rows is not None and self.sequence is not None and self.sequence in self.rows:
            self.rows.release(self.sequence)
        self.rows = None

    def next_part(self) -> Part | None:
        """The waiting states right after the rows, up to where a forward ends; None: they are missing, or all read."""
        self.waiting = _joined(self.waiting)
        held = self.caches.position
        end = len(self._tokens) - 1
        part = None
        while self.waiting and self.waiting[0][0] <= held and part is None:
            position, states = self.waiting[0]
            last = min(position + states.shape[0], end)
            if held < last:
                stop = self._part_end(held, last)
                tokens = readable(self._tokens[held + 1 : stop + 1], self.main.vision)
                part = Part(mx.array(tokens, dtype=mx.uint32), states[held - position : stop - position], stop)
            elif position + states.shape[0] > end:  # the newest token's row may depend on the next token
                self.waiting[0] = end, states[max(0, end - position) :]
                break
            else:
                self.waiting.pop(0)
        self.waiting_bytes = sum(states.nbytes for _, states in self.waiting)
        return part

    def _part_end(self, start: int, last: int) -> int:
        """End of the next forward: a chunk, or the end of the turn where a checkpoint is needed there."""
        stop = min(start + PREFILL_CHUNK_TOKENS, last)
        return self.turn_end if start < self.turn_end < stop and needs_checkpoints(self.caches) else stop

    def close(self) -> None:
        """Put the cache into the store for the next turn, including the states after the last draft."""
        if self.sequence is not None:
            self.read()
            if self._last_read is not None:
                position, state = self._last_read
                self.sequence.last_state = position, state * 1  # a copy: a slice would keep the whole array alive
            if self._chat is not None:
                self._chat.states_to = self.caches.position
            self.sequence.belong_to(self._chat)
            self.store.put(self.sequence)
        self.sequence = self._again = None
        self.waiting = []
        self.waiting_bytes = 0

    @property
    def following(self) -> Sequence:
        if self.sequence is None:
            raise RuntimeError("nothing is followed yet")
        return self.sequence

    def _rows(self, tokens: Tokens[int]) -> list[int]:
        """Tokens that identify the rows: those of `reads_next_token` depend on token i + 1.

        The first row then depends on the first two tokens, which are combined into one number.
        """
        if not self._reader.reads_next_token:
            return list(tokens)
        return [_as_one(*tokens[:2]), *tokens[2:]] if len(tokens) > 1 else []

    def _gap_end(self, end: int) -> int | None:
        """End of the first gap in the states, neither read nor waiting; None: no gap."""
        held = self.caches.position
        for position, states in self.waiting:
            if position > held:
                return min(position, end)
            held = max(held, position + states.shape[0])
        return None if held >= end else end

    def _insert(self, position: int, states: mx.array) -> None:
        mx.eval(states)
        self.waiting = sorted([*self.waiting, (position, states)], key=lambda part: part[0])
        self._limit_waiting(states.nbytes)


class FeatureProposer(Proposer):
    """Base of proposers that are fed hidden states: offers and prefill. Subclasses define `propose`."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._network: Any = context.drafter.network
        self.name = context.drafter.source
        self.layers = self._network.reads
        self.reads_next_token = self._network.reads_next_token
        self._missing = 0

    @property
    def _longest(self) -> int:
        """The most tokens that it drafts."""
        return MAX_DRAFT_TOKENS

    @property
    def _most_context(self) -> int:
        """Tokens of a chat with which it can draft."""
        return self.context.drafter.info.context_tokens

    def receive_states(self, position: int, states: mx.array) -> None:
        self.context.receive(position, states)

    def offer(self, tokens: Tokens[int]) -> Offer:
        self.context.follow(tokens)
        room = self._most_context - len(tokens)
        self._missing = missing = self.context.missing() if room > 0 else 0
        most = 0 if missing else max(0, min(self._longest, room))
        return Offer(self.name, most, has_probabilities=True, behind=missing)

    def read_on(self) -> None:
        """Prefill states that were missing at the last offer; those of the latest round arrive later."""
        if self._missing:
            self.context.read_again()

    def close(self) -> None:
        self.context.close()


def _as_one(first: int, second: int) -> int:
    """A pair of tokens hashed to 32 bits, unique for `first` given `second`. Kept on disk: must not change."""
    return ((first + 1) * _SPREAD + second) % (1 << 32)


def _joined(parts: list[tuple[int, mx.array]]) -> list[tuple[int, mx.array]]:
    """The same states, consecutive ones joined into one array."""
    runs: list[tuple[int, list[mx.array]]] = []
    for position, states in parts:
        if runs and position == runs[-1][0] + sum(held.shape[0] for held in runs[-1][1]):
            runs[-1][1].append(states)
        else:
            runs.append((position, [states]))
    return [(position, mx.concatenate(held)) for position, held in runs]
