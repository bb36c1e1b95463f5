"""Kept caches on disk: a folder of segments for each model, from which the cache of a chat's beginning is assembled.

A turn adds one or two small files; branches share their common segments. Least recently used segments are deleted above
a limit in bytes, a share of the free disk space, or CONVERSATIONS. A segment is deleted with the conversation that it
was first written for, and found by its owner alone: the digests by which it is found are keyed by the owner. Another
version of MLX rounds differently, so it starts an empty folder. Engine thread only; other processes may share it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from array import array
from collections.abc import Collection, Generator, Mapping
from collections.abc import Sequence as Tokens
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import mlx.core as mx
import mlx_lm

from engine.caches.base import CacheSet
from engine.caches.checkpoints import Rows, append_rows, bytes_in, make_checkpoint, needs_checkpoints, rows_between
from engine.decoding.sequence import Sequence, common_prefix
from engine.models.model_files import FileError
from engine.prefix.file import PART_SUFFIX, SUFFIX, Segment, read_index, read_segment, write_segment

DEFAULT_LIMIT_BYTES = 8 << 30
# Least recently used conversations above this number are deleted: most are never used again.
CONVERSATIONS = 128  # of all models, drafts included
_SHARE_OF_FREE = 0.1
_LATER_S = 1e-3
_FORMAT = 5
_PREFIX = "hunch-"
_LONGEST_SEGMENT_TOKENS = 2048  # so that sharing a short prefix does not read a whole long prompt
_LEAST_USABLE = 1 / 16  # recompute if less than 1/16 of a segment is usable

_log = logging.getLogger(__name__)


Part = tuple[Segment, int]  # (segment, position): its rows before the position are the conversation's


@dataclass(frozen=True, slots=True)
class Route:
    """Segments that lead from a cache's position to `end`, each up to some position, and the checkpoint at `end`."""

    parts: list[Part]
    end: int
    checkpoint: Segment | None = None


class PrefixDisk:
    def __init__(
        self, folder: Path, limit_bytes: int = DEFAULT_LIMIT_BYTES, conversations: int = CONVERSATIONS
    ) -> None:
        self._limit_bytes = limit_bytes
        self._conversations = conversations
        self._latest_use = 0.0
        self._root = folder
        self._folder = folder / _version()
        self._known: dict[Path, dict[str, Segment]] = {}
        _make_private(folder, self._folder)
        self._remove_leftovers()
        self._evict()

    def extend(self, sequence: Sequence) -> None:
        """Add what the disk has of `sequence`'s uncached tokens; raises FileError when a file is damaged."""
        route = self._route(sequence)
        if route.end > sequence.caches.position:
            self._follow(route, sequence.caches)

    def reach(self, sequence: Sequence) -> int:
        """The position up to which its caches could hold its tokens by the files here."""
        return self._route(sequence).end

    def write(self, sequence: Sequence) -> Generator[None]:
        """Write what is not on disk yet, one tensor each step. The caches must not change until the last step.

        A chat so large that it would evict all others, and then its own beginning, is not written.
        """
        self._model_folder(sequence.model.identity)
        limit = self._evict()  # first, as the disk may be full by now
        missing = self._missing(sequence)
        if 2 * bytes_in(rows_between(sequence.caches, 0, sequence.caches.position)) > limit:
            return
        for start, end in missing:
            yield from self._write(sequence, start, end)
        self._evict()

    def keep_only(self, conversations: Collection[str]) -> None:
        """Delete what was written for other conversations, of all models; what has no conversation's name stays."""
        names = {"", *map(_name, conversations)}
        for path in self._files():
            if _conversation(path) not in names:
                try:
                    path.unlink(missing_ok=True)
                except OSError as error:  # the others are still deleted
                    _log.warning("a kept cache could not be removed: %s", error)

    def _missing(self, sequence: Sequence) -> list[tuple[int, int]]:
        """(start, end) of the segments to write: cut at checkpoints, and at the longest length."""
        held = sequence.caches.position
        start = _chain(self._matching(sequence, held), 0, 0)[1]
        cuts = {at for at in sequence.checkpoints if start < at < held} | {held}
        cuts |= set(range(start + _LONGEST_SEGMENT_TOKENS, held, _LONGEST_SEGMENT_TOKENS))
        ends = sorted(cuts)
        return [(a, b) for a, b in zip([start, *ends], ends, strict=False) if a < b]

    def _write(self, sequence: Sequence, start: int, end: int) -> Generator[None]:
        caches = sequence.caches
        tokens = sequence.tokens
        checkpoint = sequence.checkpoints.get(end)
        if checkpoint is None and end == caches.position and needs_checkpoints(caches):
            checkpoint = make_checkpoint(caches)
        folder = self._model_folder(sequence.model.identity)
        digests = _digests(tokens, {start, end}, sequence.owner)
        path = folder / f"{digests[end]}-{_name(sequence.conversation)}-{start}{SUFFIX}"
        before = digests[start]
        segment = Segment(path, start, before, tuple(tokens[start:end]), checkpoint is not None, _model(folder))
        yield from write_segment(segment, rows_between(caches, start, end), checkpoint)
        self._segments(sequence.model.identity)[path.name] = segment
        self._touch([segment for segment, _ in _chain(self._matching(sequence, end), 0, 0)[0]])

    def _route(self, sequence: Sequence) -> Route:
        matching = self._matching(sequence, len(sequence.tokens) - 1)
        chosen, reach = _chain(matching, sequence.caches.position, _LEAST_USABLE)
        if not needs_checkpoints(sequence.caches):
            return Route(chosen, reach)
        whole = [segment for segment, shared in matching if segment.has_checkpoint and shared == segment.end <= reach]
        last = max(whole, key=lambda segment: segment.end, default=None)
        end = last.end if last is not None else 0
        return Route([(segment, min(upto, end)) for segment, upto in chosen if segment.start < end], end, last)

    def _follow(self, route: Route, caches: CacheSet) -> None:
        here = caches.position
        segments = []
        checkpoint = None
        for segment, upto in route.parts:
            rows, noted = self._read(segment)
            first, end = (at - segment.start for at in (here, upto))
            segments.append([[stored[..., first:end, :] for stored in arrays] for arrays in rows])
            here = upto
            checkpoint = noted if segment is route.checkpoint else checkpoint
        if route.checkpoint is not None and checkpoint is None:
            checkpoint = self._read(route.checkpoint)[1]
        used = [segment for segment, _ in route.parts] + ([] if route.checkpoint is None else [route.checkpoint])
        try:
            append_rows(caches, segments, route.end, checkpoint)
        except (ValueError, IndexError, TypeError, AttributeError) as error:  # cannot be loaded later either
            for segment in used:
                self._discard(segment.path, f"{segment.path.name} does not fit: {error!r}")
            raise
        self._touch(used)

    def _read(self, segment: Segment) -> tuple[Rows, list[object] | None]:
        try:
            return read_segment(segment.path)
        except FileError as error:
            self._discard(segment.path, str(error))
            raise

    def _matching(self, sequence: Sequence, upto: int) -> list[Part]:
        """Its owner's segments that begin like its first `upto` tokens, by start, each with its common prefix."""
        tokens = tuple(sequence.tokens[:upto])  # as they are in segments, else they are compared one by one
        near = [segment for segment in self._segments(sequence.model.identity).values() if segment.start < upto]
        digests = _digests(tokens, {segment.start for segment in near}, sequence.owner)
        same = [segment for segment in near if segment.before == digests[segment.start]]
        shared = [(s, s.start + common_prefix(s.tokens, tokens[s.start : s.end])) for s in same]
        return sorted(shared, key=lambda pair: (pair[0].start, -pair[1]))

    def _segments(self, model: str) -> dict[str, Segment]:
        """The segments in the model's folder now: new files are read, deleted ones are forgotten."""
        folder = self._model_folder(model)
        known = self._known.setdefault(folder, {})
        present = {path.name: path for path in folder.iterdir()}
        for name in known.keys() - present.keys():
            del known[name]
        for name in present.keys() - known.keys():
            if present[name].suffix == SUFFIX:
                self._learn(present[name], known)
        return known

    def _learn(self, path: Path, known: dict[str, Segment]) -> None:
        try:
            segment = read_index(path)
            if segment.model != _model(path.parent):
                raise FileError(f"{path.name}: of another model, or another version")
            known[path.name] = segment
        except FileError as error:
            self._discard(path, str(error))

    def _discard(self, path: Path, reason: str) -> None:
        _log.warning("dropping a kept cache: %s", reason)
        path.unlink(missing_ok=True)
        self._known.get(path.parent, {}).pop(path.name, None)

    def _model_folder(self, model: str) -> Path:
        folder = self._folder / model
        _make_private(self._root, self._folder, folder)  # another program may have removed them
        return folder

    def _touch(self, segments: Tokens[Segment]) -> None:
        """Give all segments of a conversation the same time, so that none is evicted long before the others.

        It is later than any other conversation's, even if the clock was set back.
        """
        self._latest_use = max(time.time(), self._latest_use + _LATER_S)
        for segment in segments:
            with suppress(FileNotFoundError):  # another process may evict, too
                os.utime(segment.path, (self._latest_use, self._latest_use))

    def _evict(self) -> float:
        """Delete above the limits, and return that in bytes. However many requests without a conversation's name there
        are, which are other programs', half of the limits is left to the others.
        """
        found = self._files()
        self._latest_use = max([self._latest_use, *_uses(found).values()])
        free = shutil.disk_usage(self._folder).free
        limit = min(self._limit_bytes, _SHARE_OF_FREE * (_bytes(found) + free))
        named = {path: stat for path, stat in found.items() if _conversation(path)}
        programs = {path: stat for path, stat in found.items() if path not in named}
        most = self._conversations
        _evict_from(programs, max(limit / 2, limit - _bytes(named)), max(most // 2, most - len(_uses(named))))
        _evict_from(named, limit - _bytes(programs), most - len(_uses(programs)))
        return limit

    def _files(self) -> dict[Path, os.stat_result]:
        found = {}
        for path in self._folder.glob(f"*/*{SUFFIX}"):
            with suppress(FileNotFoundError):  # another process may evict, too
                found[path] = path.stat()
        return found

    def _remove_leftovers(self) -> None:
        """Delete folders of other versions, and partial files of processes that have ended."""
        for path in self._root.glob(f"{_PREFIX}*"):
            if path != self._folder:
                shutil.rmtree(path, ignore_errors=True)
        for path in self._folder.glob(f"*/*{PART_SUFFIX}"):
            if not _is_alive(path.stem.rpartition(".")[2]):
                path.unlink(missing_ok=True)


def _make_private(*folders: Path) -> None:
    for folder in folders:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)


def _chain(matching: list[Part], here: int, worth: float) -> tuple[list[Part], int]:
    """Consecutive segments from `here`, and the position up to which their rows are the conversation's."""
    chosen: list[Part] = []
    reach = here
    for segment, shared in matching:
        if segment.start <= reach and shared - reach > worth * len(segment.tokens):
            chosen.append((segment, shared))
            reach = shared
    return chosen, reach


def _bytes(found: Mapping[Path, os.stat_result]) -> int:
    return sum(stat.st_size for stat in found.values())


def _uses(found: Mapping[Path, os.stat_result]) -> dict[str, float]:
    """When each conversation was used last."""
    uses: dict[str, float] = {}
    for path, stat in found.items():
        key = _key(path, stat)
        uses[key] = max(stat.st_mtime, uses.get(key, 0.0))
    return uses


def _key(path: Path, stat: os.stat_result) -> str:
    """Of the conversation; without a name it is what was used at one time."""
    return _conversation(path) or str(stat.st_mtime_ns)


def _evict_from(found: dict[Path, os.stat_result], limit: float, conversations: int) -> None:
    """Delete above the limits, least recently used first; of one conversation its end first."""
    uses = _uses(found)
    spared = set(sorted(uses, key=lambda key: uses[key], reverse=True)[:conversations])
    left = _bytes(found)
    for path, stat in sorted(found.items(), key=lambda pair: (pair[1].st_mtime, -_start(pair[0]))):
        if left > limit or _key(path, stat) not in spared:
            path.unlink(missing_ok=True)
            left -= stat.st_size
            del found[path]


def _digests(tokens: Tokens[int], ends: set[int], owner: str) -> dict[int, str]:
    """By position `end`, a digest of the first `end` tokens, which differs for each owner."""
    digests = {}
    key = hashlib.blake2b(owner.encode()).digest() if owner else b""
    running = hashlib.blake2b(digest_size=16, key=key)
    done = 0
    for end in sorted(ends):
        running.update(array("I", tokens[done:end]).tobytes())
        digests[end] = running.copy().hexdigest()
        done = end
    return digests


def _version() -> str:
    return f"{_PREFIX}{_FORMAT}-mlx{mx.__version__}-lm{mlx_lm.__version__}-{mx.default_device().type.name}"  # type: ignore[attr-defined]


def _model(folder: Path) -> str:
    """The model's name in the files of `folder`, so that a file copied from another folder is noticed."""
    return f"{folder.parent.name}/{folder.name}"


def _start(path: Path) -> int:
    start = path.stem.rpartition("-")[2]
    return int(start) if start.isdecimal() else 0


def _name(conversation: str) -> str:
    """The conversation's id in names of files; "" without one."""
    return (
        hashlib.blake2b(conversation.encode(errors="surrogatepass"), digest_size=8).hexdigest() if conversation else ""
    )


def _conversation(path: Path) -> str:
    """The `_name` of the conversation that a segment was first written for."""
    return path.stem.partition("-")[2].rpartition("-")[0]


def _is_alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
