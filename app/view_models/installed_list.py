"""The list of installed models with its filters and order, and offered pairs. Values only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from app.view_models.model_list import ModelEntry
from app.words.pairs import PairGain
from engine import DrafterKind, FitLevel, MemoryFit


class ModelSort(StrEnum):
    NAME = "name"
    SIZE = "size"
    LAST_USED = "last_used"


class ModelKind(StrEnum):
    ALL = "all"
    CHAT = "chat"
    DRAFTER = "drafter"


@dataclass(frozen=True, slots=True)
class ListView:
    text: str = ""
    kind: ModelKind = ModelKind.ALL
    fits_only: bool = False
    sort: ModelSort = ModelSort.NAME


@dataclass(frozen=True, slots=True)
class PairOffer:
    """A pair of the catalog: two repositories, what they take, and what was measured."""

    main: str
    draft: str
    main_name: str
    draft_name: str
    drafter: DrafterKind | None
    download_bytes: int  # of what is not here yet; about
    fit: MemoryFit
    gain: PairGain | None = None
    missing: tuple[str, ...] = ()  # repositories that are not here
    sees: bool = False  # the main model; pictures


@dataclass(frozen=True, slots=True)
class ModelOffer:
    """A model of the catalog that is not here yet."""

    repository: str
    name: str
    download_bytes: int  # about


def best_that_sees(entries: Iterable[ModelEntry]) -> ModelEntry | None:
    """The installed main model that sees pictures and is best to continue with: one that fits, used last.

    The one that comes with the app is used only in place of the starter.
    """
    listed = list(entries)
    of_starter = any(each.is_main and each.comes_with_app for each in listed)
    able = [each for each in listed if each.sees and each.error is None and not each.is_main]
    fitting = [each for each in able if each.fit is None or each.fit.level is not FitLevel.TOO_LARGE]
    own = [each for each in fitting if not each.comes_with_app]
    seeing = own or (fitting if of_starter else [])
    return max(seeing, key=lambda each: (each.last_used, each.parameters), default=None)


def shown(entries: Iterable[ModelEntry], view: ListView) -> list[ModelEntry]:
    found = [entry for entry in entries if _is_wanted(entry, view)]
    if view.sort is ModelSort.SIZE:
        return sorted(found, key=lambda entry: (-entry.size_bytes, reading_order(entry.name)))
    if view.sort is ModelSort.LAST_USED:
        return sorted(found, key=lambda entry: (-entry.last_used, reading_order(entry.name)))
    return sorted(found, key=lambda entry: reading_order(entry.name))


def starter_as_one(entries: Iterable[ModelEntry]) -> list[ModelEntry]:
    """Of what comes with the app only its main model and what sees: drafts are not managed."""
    listed = list(entries)
    starter = [entry for entry in listed if entry.comes_with_app]
    main = max(starter, key=lambda entry: entry.parameters, default=None)
    return [entry for entry in listed if not entry.comes_with_app or entry is main or entry.sees]


def disk_bytes(entries: Iterable[ModelEntry]) -> int:
    return sum(entry.size_bytes for entry in entries)


def reading_order(name: str) -> list[tuple[str, int]]:
    """A sort key that puts 2B before 13B and ignores case."""
    return [(words, int(digits or 0)) for words, digits in re.findall(r"(\D*)(\d*)", name.casefold())]


def _is_wanted(entry: ModelEntry, view: ListView) -> bool:
    words = view.text.casefold().split()
    haystack = f"{entry.name} {entry.repository} {entry.about.family}".casefold()
    of_kind = view.kind is ModelKind.ALL or (view.kind is ModelKind.DRAFTER) == (entry.drafter is not None)
    fits = not view.fits_only or (entry.error is None and not is_too_large(entry))
    return all(word in haystack for word in words) and of_kind and fits


def is_too_large(entry: ModelEntry) -> bool:
    return entry.fit is not None and entry.fit.level is FitLevel.TOO_LARGE
