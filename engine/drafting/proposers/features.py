"""What drafters of every kind keep of a chat: a row for each token whose hidden state in the main model they have read.

The states come from the main model's own forwards. Where some are missing (the drafter came later, or memory was short)
the chat's are made again, a chunk at a time, if the controller thinks it worth its time.
"""

from __future__ import annotations

from collections.abc import Sequence as Tokens
from typing import TYPE_CHECKING, Protocol

import mlx.core as mx

from engine.api.types import MAX_DRAFT_TOKENS
from engine.caches.base import CacheSet
from engine.caches.checkpoints import append_rows, needs_checkpoints, rows_between
from engine.decoding.hidden_states import HiddenStates
from engine.decoding.sequence import PREFILL_CHUNK_TOKENS, Sequence
from engine.drafting.plans import Offer
from engine.models.memory import is_short
from engine.prefix.memory import PrefixStore

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

MOST_WAITING_BYTES = 256 << 20  # of states that wait to be read, in all replies: the first token waits for no reading
_MOST_WAITING_PARTS = 256
_SPREAD = 0x9E3779B1  # odd, so that no two tokens have the same product in 32 bits


class Reader(Protocol):
    """The network of a drafter, as far as reading goes."""

    reads_next_token: bool  # a row is made of a token's state and of the token after it; else of the state alone

    def read(self, tokens: mx.array, states: mx.array, caches: CacheSet) -> mx.array:
        """Add a row for each of `states` (n, layers × width); `tokens` (n,) come right after them. Commits them.

        Returns its own states (n, width), or the last alone: that is what a draft begins with.
        """


class Context:
    """Of one reply. Row i holds the main model's state at token i; all but the newest token have one."""

    def __init__(self, drafter: LoadedModel, main: LoadedModel, store: PrefixStore, layers: Tokens[int]) -> None:
        self._drafter = drafter
        self._reader: Reader = drafter.network
        self._main = main
        self._layers = layers
        self._store = store
        self.turn_end = 0  # the main model's sequence's, so that what both have is kept or taken alike
        self._tokens: Tokens[int] = ()
        self._chat: Sequence | None = None  # the main model's, of the same reply
        self._sequence: Sequence | None = None  # over the tokens that its rows depend on
        self._waiting: list[tuple[int, mx.array]] = []  # (position, states), in order
        self._waiting_bytes = 0
        store.readers.add(self)
        self._again: tuple[Sequence, HiddenStates] | None = None  # reads the chat anew, for states that are missing
        self._known_on_disk = -1, 0  # (rows held, what the disk has of the main model's caches up to there)
        self.last_state: mx.array | None = None  # of the last row that was read, if it was read in this reply
        self._last_read: tuple[int, mx.array] | None = None  # the main model's state that it was made of, and where

    @property
    def caches(self) -> CacheSet:
        return self._following.caches

    @property
    def waiting_bytes(self) -> int:
        """Of states that wait to be read."""
        return self._waiting_bytes

    def begin(self, turn_end: int, tokens: Tokens[int], chat: Sequence | None = None) -> None:
        """Before anything else: of which chat the first states will be, so that not all of a prompt's have to wait.

        `chat` is the main model's sequence: with its rows, what is missing at a chat's end is read without the rest.
        """
        self.turn_end, self._tokens, self._chat = turn_end, tokens, chat

    def follow(self, tokens: Tokens[int]) -> None:
        """Take in what was committed since the last look."""
        self._tokens = tokens
        if self._sequence is None:
            rows, read_from = self._rows(tokens), self._waiting[0][0] if self._waiting else None
            # Of a chat that the main model has read from its start, no rows are taken that another chat may need. What
            # it did not read it took of some chat, however little they share: the rows go with that.
            fresh, least = read_from == 0, read_from or 0
            self._sequence = Sequence(self._drafter, rows) if fresh else self._store.take(self._drafter, rows, least)
            self._sequence.turn_end = len(self._rows(tokens[: self.turn_end]))
            self._recall_last_state(self._sequence)
        self._sequence.tokens.extend(self._rows(tokens)[len(self._sequence.tokens) :])

    def _recall_last_state(self, sequence: Sequence) -> None:
        """A chat that parts where its last reply ended loses the last row, whose state no forward will make again."""
        kept, sequence.last_state = sequence.last_state, None
        if kept is not None and self._waiting and self._waiting[0][0] == kept[0] + 1:
            self._waiting.insert(0, kept)
            self._waiting_bytes += kept[1].nbytes

    def receive(self, position: int, states: mx.array) -> None:
        self._waiting.append((position, states))
        self._limit_waiting(states.nbytes)

    def _limit_waiting(self, more_bytes: int) -> None:
        """Of the states that wait, so many have just come."""
        self._waiting_bytes += more_bytes
        if self._too_much_waits() or len(self._waiting) > _MOST_WAITING_PARTS:
            self._take_in()

    def _too_much_waits(self) -> bool:
        """In all replies together; memory is admitted for so much once."""
        return sum(reader.waiting_bytes for reader in self._store.readers) > _most_waiting_bytes()

    def _take_in(self) -> None:
        """Read what waits, though nobody drafts: a row takes less room than the states that it is made of.

        What cannot be read yet and is too much is forgotten: it is missing then, and made again where that pays.
        """
        if self._sequence is None and self._tokens:
            self.follow(self._tokens)
        if self._sequence is not None:
            self.read()
            self.caches.evaluate()
        if self._too_much_waits():
            self._waiting, self._waiting_bytes = [], 0
        self._waiting = _joined(self._waiting)
        mx.eval([held for _, held in self._waiting])

    def missing(self) -> int:
        """How many tokens the main model has to read again before a draft can be made; 0: none."""
        end = self._gap_end(len(self._tokens) - 1)
        if end is None:
            return 0
        return end - (self._spared() if self._again is None else self._again[0].caches.position)

    def read_again(self) -> None:
        """A chunk of what is missing."""
        self._again = self._again or self._begun_again()
        sequence, kept = self._again
        sequence.prefill_chunk()
        position, states = kept.take()
        if states is not None:
            self._insert(position, states)
        if self._gap_end(len(self._tokens) - 1) is None or sequence.unread <= 1:
            self._again = None

    def _spared(self) -> int:
        """Up to where the main model need not read again: its caches of that are at hand, and no states are lacking."""
        held = self.caches.position
        by_chat = self._spared_by_chat(held)
        return by_chat if by_chat == held else max(by_chat, self._on_disk(held))

    def _spared_by_chat(self, held: int) -> int:
        """The same by what the reply has in use. While it is in a batch that is nothing."""
        chat = self._chat
        if chat is None or held > chat.caches.position:
            return 0
        if not needs_checkpoints(chat.caches):
            return held
        return max((at for at in chat.checkpoints if at <= held), default=0)

    def _on_disk(self, held: int) -> int:
        """The same by the disk; it is asked once for each place."""
        if self._known_on_disk[0] != held:
            self._known_on_disk = held, self._store.on_disk(self._main, list(self._tokens[: held + 1]))
        return self._known_on_disk[1]

    def _begun_again(self) -> tuple[Sequence, HiddenStates]:
        spared = self._spared()
        if (chat := self._chat) is not None and 0 < spared == self._spared_by_chat(spared):
            sequence = Sequence(self._main, list(self._tokens))
            rows = rows_between(chat.caches, 0, spared)
            append_rows(sequence.caches, [rows], spared, chat.checkpoints.get(spared))
        else:
            sequence = self._store.from_disk(self._main, list(self._tokens[: spared + 1]))
            sequence.tokens = list(self._tokens)
        sequence.hidden_states = kept = HiddenStates(self._main.network, self._layers)
        return sequence, kept

    def read(self) -> None:
        """Make a row of every state that waits, up to the first that is missing."""
        tokens, waiting = self._tokens, _joined(self._waiting)
        held, end = self.caches.position, len(tokens) - 1
        while waiting and waiting[0][0] <= held:
            position, states = waiting.pop(0)
            last = min(position + states.shape[0], end)
            while held < last:
                stop = self._part_end(held, last)
                following = mx.array(list(tokens[held + 1 : stop + 1]), dtype=mx.uint32)
                rows = self._reader.read(following, states[held - position : stop - position], self.caches)
                self.last_state = rows[-1:]
                self._last_read = stop - 1, states[stop - 1 - position : stop - position]
                if stop - held == PREFILL_CHUNK_TOKENS:
                    self.caches.evaluate()
                held = stop
                if held == self.turn_end:
                    self._following.keep_checkpoint()
            if position + states.shape[0] > end:  # of the newest token: its row may need the one behind it
                waiting.insert(0, (end, states[max(0, end - position) :]))
                break
        self._waiting = waiting
        self._waiting_bytes = sum(states.nbytes for _, states in waiting)

    def _part_end(self, start: int, last: int) -> int:
        """How far to read in one go: a chunk, or to the end of the turn where that is to be remembered."""
        stop = min(start + PREFILL_CHUNK_TOKENS, last)
        return self.turn_end if start < self.turn_end < stop and needs_checkpoints(self.caches) else stop

    def close(self) -> None:
        """Keep what is known of the chat for its next turn, with the states that came after the last draft."""
        if self._sequence is not None:
            self.read()
            if self._last_read is not None:
                position, state = self._last_read
                self._sequence.last_state = position, state * 1  # a slice would keep all of them
            if self._chat is not None:
                self._chat.states_to = self.caches.position
            self._sequence.belong_to(self._chat)
            self._store.put(self._sequence)
        self._sequence = self._again = None
        self._waiting, self._waiting_bytes = [], 0

    @property
    def _following(self) -> Sequence:
        if self._sequence is None:
            raise RuntimeError("nothing is followed yet")
        return self._sequence

    def _rows(self, tokens: Tokens[int]) -> list[int]:
        """What two chats must share for their rows to be the same: row i of some kinds depends on token i + 1.

        The first row of those depends on the first two tokens, so it goes by both.
        """
        if not self._reader.reads_next_token:
            return list(tokens)
        return [_as_one(*tokens[:2]), *tokens[2:]] if len(tokens) > 1 else []

    def _gap_end(self, end: int) -> int | None:
        """Up to where states are missing that no row holds and that do not wait; None when there is no gap."""
        held = self.caches.position
        for position, states in self._waiting:
            if position > held:
                return min(position, end)
            held = max(held, position + states.shape[0])
        return None if held >= end else end

    def _insert(self, position: int, states: mx.array) -> None:
        mx.eval(states)
        self._waiting = sorted([*self._waiting, (position, states)], key=lambda part: part[0])
        self._limit_waiting(states.nbytes)


class FeatureProposer:
    """What proposers that draft from a context share: what they read and offer. `propose` is theirs."""

    def __init__(self, drafter: LoadedModel, main: LoadedModel, store: PrefixStore, layers: tuple[int, ...]) -> None:
        self.name = drafter.source
        self.layers = layers
        self.reads_next_token: bool = drafter.network.reads_next_token
        self._context = Context(drafter, main, store, layers)
        self._longest = MAX_DRAFT_TOKENS
        self._room = drafter.info.context_tokens
        self._missing = 0

    def begin(self, turn_end: int, tokens: Tokens[int] = (), chat: Sequence | None = None) -> None:
        """Says of which chat the states will be, and where the turn ends that the reply answers."""
        self._context.begin(turn_end, tokens, chat)

    def receive_states(self, position: int, states: mx.array) -> None:
        self._context.receive(position, states)

    def offer(self, tokens: Tokens[int]) -> Offer:
        self._context.follow(tokens)
        room = self._room - len(tokens)
        self._missing = missing = self._context.missing() if room > 0 else 0
        most = 0 if missing else max(0, min(self._longest, room))
        return Offer(self.name, most, tells_probabilities=True, behind=missing)

    def read_on(self) -> None:
        """Only what was missing at the last offer: the states of a round that has just ended are still to come."""
        if self._missing:
            self._context.read_again()

    def commit(self, emitted: Tokens[int]) -> None:
        """A draft leaves no trace; the next offer takes in what was emitted."""

    def close(self) -> None:
        self._context.close()


def _most_waiting_bytes() -> int:
    """None where memory is short: before a reply ends for it, states are read, or made again later."""
    return 0 if is_short() else MOST_WAITING_BYTES


def _as_one(first: int, second: int) -> int:
    """Two tokens as a number of 32 bits, another one for each `first`. Kept rows go by it, so it has to stay."""
    return ((first + 1) * _SPREAD + second) % (1 << 32)


def _joined(parts: list[tuple[int, mx.array]]) -> list[tuple[int, mx.array]]:
    """The same states, with those that follow on one another as one array."""
    runs: list[tuple[int, list[mx.array]]] = []
    for position, states in parts:
        if runs and position == runs[-1][0] + sum(held.shape[0] for held in runs[-1][1]):
            runs[-1][1].append(states)
        else:
            runs.append((position, [states]))
    return [(position, mx.concatenate(held)) for position, held in runs]
