"""Records of each pair: its gain on this machine, and whether the user turned it off.

The gain is what the picker, the list of models and the inspector say of a pair: a mean of its latest replies, in which
a race counts for several, because it is known to a few per cent.
Gains of another machine, whose files were copied here, are not shown; that drafting was turned off is. A small JSON
file, written as a whole. A damaged one counts as missing: it can be measured again. One that cannot be read for now is
not overwritten: it is read before changes are written.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from app.system.small_file import read_small
from app.system.worker import IN_PLACE, JobQueue
from engine import write_atomically

_MOST = 200  # pairs; the oldest gains are dropped, of those that were turned off last
_LIMIT_BYTES = 4 << 20
_LARGEST_GAIN = 1e9
_MOST_WEIGHT = 8.0  # so that old measurements fade
_MOST_OF_REPLIES = 4.0  # weight of any number of replies without a race
_RACE_WEIGHT = 6.0
_LOSS = 0.95
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PairRecord:
    gain: float | None = None  # speed-up over plain decoding
    weight: float = 1.0  # of the gain, in replies
    off: bool = False  # the user has turned drafting off for it
    machine: str = ""  # that measured it; "" in older versions

    @property
    def loses(self) -> bool:
        """Whether a race found that drafts make this pair slower: a few replies may, where the machine was busy."""
        return self.gain is not None and self.weight >= _RACE_WEIGHT and self.gain < _LOSS


class PairRecords:
    """By folders of main model and draft. `writer` writes the file."""

    def __init__(
        self,
        file: Path,
        machine: str,
        writer: JobQueue = IN_PLACE,
        refused: Callable[[], None] = lambda: None,
        named: Callable[[str], str] = str,
    ) -> None:
        """`refused` is called when a write fails; `try_again` then retries it. `named`: a folder as it is stored."""
        self._named = named
        self._writer = writer
        self._file = file
        self._machine = machine
        self._records: dict[str, PairRecord] = {}
        self._is_read = False
        self._is_unkept = False  # the last write failed
        self._refused = refused
        self._read()

    def _read(self) -> None:
        """Values set meanwhile are newer than the file's."""
        try:
            stored = _stored(self._file)
        except OSError as error:
            _log.warning("what was measured of pairs cannot be read: %s", error.strerror)
            return
        self._is_read = True
        self._records = {self._key(*key.split("\n", 1)): each for key, each in stored.items()} | self._records

    def get(self, main: str, draft: str) -> PairRecord:
        record = self._records.get(self._key(main, draft), PairRecord())
        return record if record.machine in ("", self._machine) else PairRecord(off=record.off)

    def put_gain(self, main: str, draft: str, gain: float) -> None:
        """Of a reply."""
        known = self.get(main, draft)
        self._put_gain(main, draft, gain, 1.0, max(known.weight, _MOST_OF_REPLIES))

    def put_race(self, main: str, draft: str, gain: float) -> None:
        self._put_gain(main, draft, gain, _RACE_WEIGHT, _MOST_WEIGHT)

    def _put_gain(self, main: str, draft: str, gain: float, weight: float, most: float) -> None:
        known = self.get(main, draft)
        before = min(known.weight, most - weight) if known.gain is not None else 0.0
        mean = (before * math.log(known.gain or 1.0) + weight * math.log(gain)) / (before + weight)
        self._put(main, draft, replace(known, gain=math.exp(mean), weight=before + weight))

    def put_off(self, main: str, draft: str, off: bool) -> None:
        self._put(main, draft, replace(self.get(main, draft), off=off))

    def _put(self, main: str, draft: str, record: PairRecord) -> None:
        key = self._key(main, draft)
        self._records.pop(key, None)
        self._records[key] = replace(record, machine=self._machine)
        self._keep_all()

    def _key(self, *folders: str) -> str:
        """Of main model and draft. Earlier versions stored the folders of the app's own models, which may move."""
        return "\n".join(map(self._named, folders))

    def try_again(self) -> None:
        """Retry a failed write."""
        if self._is_unkept:
            self._keep_all()

    def _keep_all(self) -> None:
        if not self._is_read:
            self._read()
        while len(self._records) > _MOST:
            measured = (key for key, each in self._records.items() if not each.off)
            del self._records[next(measured, next(iter(self._records)))]
        if self._is_read:
            self._writer.ask(partial(self._keep, dict(self._records)), self._on_kept, self._on_refused)
        else:
            self._on_unkept()

    def _keep(self, records: dict[str, PairRecord]) -> None:
        data = json.dumps({key: asdict(each) for key, each in records.items()}, ensure_ascii=False, indent=1)
        write_atomically(self._file, data.encode("utf-8", "surrogatepass"), most_bytes=_LIMIT_BYTES)

    def _on_kept(self, _outcome: None) -> None:
        self._is_unkept = False

    def _on_refused(self, error: Exception) -> None:
        if not isinstance(error, OSError):
            raise error  # our own mistake, reported like any other
        if not self._is_unkept:
            _log.warning("what was measured of the pair is not kept: %s", error.strerror)
        self._on_unkept()

    def _on_unkept(self) -> None:
        self._is_unkept = True
        self._refused()


def _stored(file: Path) -> dict[str, PairRecord]:
    """The file's content; {} if missing or damaged. Raises OSError if it cannot be read."""
    try:
        content = json.loads(read_small(file, _LIMIT_BYTES))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, ValueError, RecursionError):
        return {}
    rows = content.items() if isinstance(content, dict) else ()
    return {
        key: PairRecord(
            _number(value.get("gain")),
            min(_number(value.get("weight")) or 1.0, _MOST_WEIGHT),
            value.get("off") is True,
            str(value.get("machine", "")),
        )
        for key, value in rows
        if isinstance(value, dict)
    }


def _number(value: Any) -> float | None:
    """None if impossible. The user's choice about the pair is kept."""
    return float(value) if isinstance(value, int | float) and 0 < value < _LARGEST_GAIN else None
