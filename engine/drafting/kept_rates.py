"""The accept rates of a pair on disk, by kind of text: what an earlier run of the program has learnt of it.

One small file a pair, beside the calibrations; of other weights it is another file. Engine thread only.
"""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

from engine.api.pairs import Published, nothing_published
from engine.drafting.controller import History
from engine.drafting.text_kind import TextKind
from engine.models.kept_files import read_kept, write_kept
from engine.models.loading import LoadedModel

_log = logging.getLogger(__name__)

_LIMIT_BYTES = 1 << 14  # largest file
_MOST_FILES = 100
_VERSION = 1

Kept = dict[str, list[list[float]]]  # by kind: (accepted, trials) of each group of positions


class KeptRates:
    def __init__(self, folder: Path | None, published: Published = nothing_published) -> None:
        self._folder = folder
        self._published = published
        self._path: Path | None = None
        self._source = ""
        self._history = History()
        self._written: Kept = {}

    def begin(self, main: LoadedModel | None, draft: LoadedModel | None, history: History) -> None:
        """Recall what is known of this pair into `history`, and write down what was learnt of the former one."""
        self.write()
        self._history = history
        self._path = None
        if main is None or draft is None:
            return
        history.expect(draft.source, self._published(main.info.folder, draft.info.folder))
        if self._folder is None:
            return
        pair = [_VERSION, main.identity, draft.identity]
        self._path = self._folder / f"{hashlib.sha256(json.dumps(pair).encode()).hexdigest()[:32]}.json"
        self._source = draft.source
        kept: Any = read_kept(self._path, _LIMIT_BYTES)
        for kind in TextKind:
            try:
                history.recall(self._source, kind, kept["rates"][kind.name])
            except (KeyError, TypeError, ValueError):  # not known, or damaged
                continue
        self._written = self._learnt()

    @property
    def has_news(self) -> bool:
        return self._path is not None and self._learnt() != self._written

    def write(self) -> None:
        """Write down what was learnt since the last time, if anything. Without room on disk it is learnt again."""
        if self._path is None or not self.has_news:
            return
        self._written = self._learnt()
        try:
            write_kept(self._path, {"rates": self._written}, _LIMIT_BYTES)
            others = (file for file in self._path.parent.glob("*.json") if file != self._path)
            for old in sorted(others, key=lambda file: file.stat().st_mtime)[: 1 - _MOST_FILES]:
                old.unlink()
        except (OSError, ValueError) as error:
            _log.warning("could not keep accept rates: %s", error)

    def _learnt(self) -> Kept:
        rates = {kind.name: self._history.rates.get((self._source, kind)) for kind in TextKind}
        return {
            name: [[round(count, 2) for count in group] for group in each.kept()]
            for name, each in rates.items()
            if each is not None and any(trials >= 1 for _, trials in each.kept())
        }
