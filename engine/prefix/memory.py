"""Caches of finished replies, so that a chat's next turn prefills only what is new.

Bounded in bytes and number, because caches of abandoned branches and deleted chats are never used again. The newest of
each model stays.

A sequence is either here or in use: a chat's next turn takes its cache out. Another chat with the same beginning (the
same system prompt) may get a copy of that. With a disk (see `disk.py`), what is here is written while the engine is
idle, and read again from there. Engine thread only.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Generator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

from engine.caches.checkpoints import bytes_in, can_truncate, copy_beginning, needs_checkpoints, truncate
from engine.decoding.sequence import Sequence, common_prefix
from engine.models.loading import LoadedModel
from engine.models.model_files import FileError
from engine.prefix.disk import PrefixDisk

DEFAULT_LIMIT_BYTES = 2 << 30
SEQUENCES = 64  # as many as replies at once, with a draft each
_MOST_OVER = 1.5  # factor by which caches that are not written yet may exceed the limit

_DONE = object()

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class KeptSequence:
    sequence: Sequence
    nbytes: int
    written: bool = False
    leaving: bool = False  # its model is no longer loaded: evicted once it is written

    @property
    def is_to_write(self) -> bool:
        """The many prompts of other programs that nothing follows are a gigabyte each, of a drive that wears out."""
        sequence = self.sequence
        return not self.written and (sequence.is_continued or not sequence.owner or self.leaving)


class PrefixStore:
    def __init__(
        self,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
        disk: PrefixDisk | None = None,
        sequences: int = SEQUENCES,
        open_disk: Callable[[], PrefixDisk | None] = lambda: None,
    ) -> None:
        """`open_disk` is called with each `put` while there is no `disk`: it may have been full at the start."""
        self._limit_bytes = limit_bytes
        self._limit_sequences = sequences
        self._disk = disk
        self._open_disk = open_disk
        self._may_write = disk is not None  # False after a failure, until the next `put`
        self.readers: WeakSet[Any] = WeakSet()  # the drafters' caches of running replies
        self.kept: list[KeptSequence] = []  # least recently used first
        self._writing: tuple[KeptSequence, Generator[None]] | None = None

    @property
    def nbytes(self) -> int:
        return sum(kept.nbytes for kept in self.kept)

    @property
    def has_unwritten(self) -> bool:
        """Whether `write_step` has anything to write."""
        return self._may_write and any(kept.is_to_write for kept in self.kept)

    @property
    def over_limit(self) -> bool:
        """Whether the limit is exceeded, so that writing should not wait for an idle engine."""
        return self._is_over() and len(self.kept) > len(self._newest())

    def take(
        self, model: LoadedModel, tokens: list[int], least: int = 0, *, owner: str = "", may_copy: bool = False
    ) -> Sequence:
        """A sequence over `tokens`, with the kept cache of `owner` that has the longest usable prefix of them.

        `least`: take a cache sharing at least so many tokens even from a longer chat, unless the disk has it too.
        `may_copy`: copy the common beginning of a chat that keeps its cache.
        """
        needed = bool(least) and least > self.on_disk(model, tokens, owner)
        best, position = self._best(model, tokens, least if needed else 0, owner)
        if best is not None:
            sequence = self._take_out(best, position, model, tokens)
        else:
            sequence = Sequence(model, tokens, owner=owner)
            if may_copy:
                self._copy_beginning(sequence)
        sequence = self._extended(sequence)
        sequence.is_continued = 2 * sequence.caches.position >= len(tokens)
        return sequence

    def from_disk(self, model: LoadedModel, tokens: list[int], owner: str = "") -> Sequence:
        """The same from the disk alone; caches in memory stay."""
        return self._extended(Sequence(model, tokens, owner=owner))

    def on_disk(self, model: LoadedModel, tokens: list[int], owner: str = "") -> int:
        """How many of `tokens` `from_disk` would give."""
        if self._disk is None:
            return 0
        sequence = Sequence(model, tokens, owner=owner)
        if sequence.caches.others is not None:
            return 0
        with suppress(OSError):  # raised again, and logged, when it is read
            return self._disk.reach(sequence)
        return 0

    def _extended(self, sequence: Sequence) -> Sequence:
        """`sequence` extended from the disk; an empty one if that fails."""
        try:
            if self._disk is not None and sequence.caches.others is None:
                self._disk.extend(sequence)
        except (FileError, OSError) as error:
            _log.warning("a kept cache could not be read: %s", error)
        except Exception as error:  # noqa: BLE001  any error: kept caches are optional
            _log.warning("a kept cache does not fit: %r", error)
            return Sequence(sequence.model, sequence.tokens, owner=sequence.owner)
        return sequence

    def put(self, sequence: Sequence) -> None:
        if sequence.caches.position == 0 or sequence.forgotten:
            return
        self._disk = self._disk or self._open_disk()
        self._may_write = self._disk is not None
        nbytes = sequence.caches.nbytes + bytes_in(list(sequence.checkpoints.values()))
        # A model over several ranks is not written: each has only its own layers' rows.
        self.kept.append(KeptSequence(sequence, nbytes, written=sequence.caches.others is not None))
        self._evict_over_limit()

    def write_step(self) -> None:
        """Write one tensor that is not on disk yet, least recently used cache first."""
        if self._disk is None or not self._may_write:
            return
        if self._writing is None:
            kept = next(kept for kept in self.kept if kept.is_to_write)
            self._writing = kept, self._disk.write(kept.sequence)
        kept, steps = self._writing
        try:
            if next(steps, _DONE) is _DONE:
                self._has_written(kept)
        except OSError as error:
            _log.warning("caches are not kept on disk until the next reply has ended: %s", error)
            self._writing = None
            self._may_write = False
            self._evict_over_limit()
        except Exception as error:  # noqa: BLE001  a kind that no file can hold, or any error of a device
            _log.warning("caches of %s are not kept on disk: %s", kept.sequence.model.info.model_type, error)
            self._has_written(kept)

    def evict_oldest(self) -> bool:
        """Free memory at once, least recently used first, other programs' before the user's; False if none is there."""
        if not self.kept:
            return False
        self._drop(next((kept for kept in self.kept if kept.sequence.owner), self.kept[0]))
        return True

    def save(self, patience_s: float) -> None:
        """Write what is not on disk yet, for at most `patience_s` seconds; before models are dropped."""
        deadline = time.perf_counter() + patience_s
        while self.has_unwritten and time.perf_counter() < deadline:
            self.write_step()

    def drop_other_models(self, *models: LoadedModel | None) -> None:
        """Evict the caches of all models but these; rows not on disk yet stay until they are."""
        for kept in [kept for kept in self.kept if all(kept.sequence.model is not model for model in models)]:
            kept.leaving = True
            kept.sequence.let_network_go()
        self._evict_over_limit()

    def keep_only(self, conversations: Collection[str]) -> None:
        """Delete all other conversations, here and on disk; what has no conversation's id stays."""
        for kept in [kept for kept in self.kept if kept.sequence.conversation not in {"", *conversations}]:
            self._drop(kept)
        try:
            if self._disk is not None:
                self._disk.keep_only(conversations)
        except OSError as error:
            _log.warning("kept caches could not be removed: %s", error)

    def clear(self) -> None:
        self._stop_writing()
        self.kept.clear()

    def _take_out(self, kept: KeptSequence, position: int, model: LoadedModel, tokens: list[int]) -> Sequence:
        old = kept.sequence
        self._drop(kept)
        if kept.leaving:
            old.caches.replay = model.make_caches().replay
        if position == old.caches.position:
            old.keep_checkpoint()
        truncate(old.caches, position, old.checkpoints.get(position))
        sequence = Sequence(model, tokens, old.caches, owner=old.owner)
        sequence.go_on_from(old)
        return sequence

    def _copy_beginning(self, sequence: Sequence) -> None:
        """Copy from the chat that has most of its tokens."""
        own = [kept.sequence for kept in self.kept if kept.sequence.owner == sequence.owner]
        alike = [other for other in own if other.model is sequence.model]
        shared = [_copied(other, sequence.tokens) for other in alike]
        most = max(shared, default=0)
        if most:
            source = alike[shared.index(most)]
            sequence.checkpoints = {at: made for at, made in source.checkpoints.items() if at == most}
            copy_beginning(source.caches, sequence.caches, most, sequence.checkpoints.get(most))

    def _has_written(self, kept: KeptSequence) -> None:
        self._writing = None
        kept.written = True
        self._evict_over_limit()

    def _evict_over_limit(self) -> None:
        """Evict above the limit. Unwritten caches wait to be written, up to a factor; those of unloaded models only for
        that. However much other programs ask, half of the limit is the user's. The newest stays however large it is: a
        long chat needs it most.
        """
        for kept in [kept for kept in self.kept if kept.leaving and (kept.written or not self._may_write)]:
            self._drop(kept)
        newest = self._newest()
        while self._is_over():
            waits = self._may_write and not self._is_over(_MOST_OVER)
            leave = [kept for kept in self.kept if kept not in newest and not (kept.is_to_write and waits)]
            if not leave:
                return
            fair = (kept for kept in leave if bool(kept.sequence.owner) is self._programs_have_half)
            self._drop(next(fair, leave[0]))

    def _is_over(self, times: float = 1.0) -> bool:
        return len(self.kept) > times * self._limit_sequences or self.nbytes > times * self._limit_bytes

    @property
    def _programs_have_half(self) -> bool:
        """Whether other programs' caches take more than half of a limit: else it is the user's turn to lose some."""
        programs = [kept.nbytes for kept in self.kept if kept.sequence.owner]
        return 2 * len(programs) > self._limit_sequences or 2 * sum(programs) > self._limit_bytes

    def _newest(self) -> list[KeptSequence]:
        """The newest of each loaded model: the user's, and other programs'."""
        here = [kept for kept in self.kept if not kept.leaving]
        return list({(id(kept.sequence.model), bool(kept.sequence.owner)): kept for kept in here}.values())

    def _drop(self, kept: KeptSequence) -> None:
        if self._writing is not None and self._writing[0] is kept:
            self._stop_writing()
        self.kept.remove(kept)

    def _stop_writing(self) -> None:
        if self._writing is not None:
            self._writing[1].close()
            self._writing = None

    def _best(self, model: LoadedModel, tokens: list[int], least: int, owner: str) -> tuple[KeptSequence | None, int]:
        best = None
        most = 0
        for kept in (kept for kept in reversed(self.kept) if kept.sequence.owner == owner):
            position = self._usable(kept, model, tokens, least)
            if position > most:
                best = kept
                most = position
        return best, most

    def _usable(self, kept: KeptSequence, model: LoadedModel, tokens: list[int], least: int) -> int:
        """The position from which a chat with `tokens` could continue; 0: it stays with its own chat.

        Caches of an unloaded model are usable when the same files are loaded again.
        """
        sequence = kept.sequence
        if sequence.model is not model and not (kept.leaving and sequence.model.identity == model.identity):
            return 0
        held = sequence.caches.position
        shared = _shared(sequence, tokens)
        # Another chat that shares only the system prompt leaves it here; a regenerated turn takes it.
        same_turn = shared == len(tokens) - 1 or shared >= sequence.turn_end > 0
        if not same_turn and 2 * shared < held and not 0 < least <= shared:
            return 0
        if not needs_checkpoints(sequence.caches) or can_truncate(sequence.caches, shared):
            return shared
        return _checkpoint_before(sequence, shared)


def _copied(sequence: Sequence, tokens: list[int]) -> int:
    """How many of `tokens` can be copied from it: those shared, or those before a checkpoint where one is needed."""
    shared = _shared(sequence, tokens)
    if not needs_checkpoints(sequence.caches):
        return shared
    # Other ranks would have to copy checkpoints, too.
    return 0 if sequence.caches.others is not None else _checkpoint_before(sequence, shared)


def _checkpoint_before(sequence: Sequence, position: int) -> int:
    return max((at for at in sequence.checkpoints if at <= position), default=0)


def _shared(sequence: Sequence, tokens: list[int]) -> int:
    """Length of the common prefix; the last token is always fed."""
    return min(common_prefix(sequence.tokens[: sequence.caches.position], tokens), len(tokens) - 1)
