"""What is known of the main model and possible drafts before they are loaded: how their files compare."""

from __future__ import annotations

from engine import DraftError, ModelInfo, ModelLibrary, PairCheck


class PairChecks:
    def __init__(self, store: ModelLibrary) -> None:
        self._store = store
        self._checks: dict[tuple[str, ...], PairCheck] = {}
        self._asked: set[tuple[str, ...]] = set()

    def known(self, main: ModelInfo, draft: ModelInfo) -> PairCheck | None:
        return self._checks.get(_key(main, draft))

    def ask(self, main: ModelInfo, draft: ModelInfo) -> None:
        """Have the files of the two compared, unless that is done or under way."""
        if (key := _key(main, draft)) not in self._asked:
            self._asked.add(key)
            self._store.check_pair(main.folder, draft.folder)

    def take(self, check: PairCheck, main: ModelInfo | None, draft: ModelInfo | None) -> None:
        """An answer; `main` and `draft` as they are known now, None where they are gone."""
        if main is not None and draft is not None:
            self._checks[_key(main, draft)] = check
        else:  # they may come back
            self._asked = {key for key in self._asked if (key[0], key[2]) != (check.main, check.draft)}

    def forget_failures(self) -> None:
        """What could not be read is asked for again, because the library was looked through anew."""
        for key, check in list(self._checks.items()):
            if check.error is not None and not isinstance(check.error, DraftError):
                del self._checks[key]
                self._asked.discard(key)


def _key(main: ModelInfo, draft: ModelInfo) -> tuple[str, ...]:
    """Other files in the same folders are another pair."""
    return main.folder, main.vocabulary_digest, draft.folder, draft.vocabulary_digest
