"""The curated main models and their drafts: reads catalog.json, and selects pairs for a machine.

The file is data that comes with the program. No hub is asked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from typing import Any

from engine.api.types import (
    CacheSizes,
    DrafterInfo,
    DrafterKind,
    FitLevel,
    ForwardTimes,
    MemoryFit,
    ModelAbout,
    ModelInfo,
)
from engine.drafting.costs import acceptance_of, estimated_gain, times_like
from engine.hub.staging import repository_of
from engine.models.cache_sizes import at_eight_bits
from engine.models.compatibility import RECOMMENDED_SHARE
from engine.models.drafter_kinds import KINDS, known_kind
from engine.models.fit import estimated_weight_bytes, fit_together
from engine.models.model_files import MIB, FileError, read_object
from engine.models.names import is_repository, stem

CATALOG_LIMIT_BYTES = 1 * MIB
PAIR_CONTEXT_TOKENS = 8192  # of a chat that must fit beside a recommended pair
CLASSIC = "classic"  # a smaller chat model of the same vocabulary
_MOST_PAIRS = 4
_USUAL_BITS = 4.0
TYPICAL_OF_KIND = "typical"  # of an estimate: by published accept rates of other drafts of the kind
_EASY = ("code", "math")
_LEAST_GAIN = 1.1  # below this speed-up no pair is recommended for its speed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    repository: str
    parameters: int
    bits: float | None
    source: str  # page where the repository's name was found
    published_bytes: int  # of the download, if published
    active_parameters: int  # used by a token; 0: all

    @property
    def name(self) -> str:
        return self.repository.rpartition("/")[2]

    @property
    def download_bytes(self) -> int:
        return self.published_bytes or estimated_weight_bytes(self.parameters, self.bits)

    @property
    def step_bytes(self) -> float:
        """Bytes of its weights that a token uses."""
        return self.download_bytes * (self.active_parameters or self.parameters) / self.parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogModel(_Listed):
    """`active_parameters`: of a mixture of experts."""

    family: str
    context_tokens: int
    languages: tuple[str, ...]
    licence: str
    released: str  # "2026-08"
    caches: CacheSizes | None
    sees: bool  # pictures

    def speaks(self, language: str) -> bool:
        """`language` as in "pt_BR"."""
        return language.replace("_", "-").partition("-")[0] in self.languages

    def info(self) -> ModelInfo:
        """What is known of it without its files, for memory_fit."""
        return ModelInfo(
            folder="",
            name=self.name,
            model_type="",
            parameters=self.parameters,
            weight_bytes=self.download_bytes,
            bits=self.bits,
            vocabulary_tokens=0,
            vocabulary_digest="",
            context_tokens=self.context_tokens,
            caches=self.caches,
            about=ModelAbout(self.family, languages=self.languages, licence=self.licence),
            sparse=bool(self.active_parameters),
            sees=self.sees,
        )


@dataclass(frozen=True, slots=True)
class CatalogGain:
    """A published measurement."""

    main: str  # repository
    machine: str
    times: float  # tokens a second with the drafter, divided by those without
    on: str  # "chat", "code", "math", "mixed"
    source: str

    @property
    def expected_times(self) -> float:
        """The speed-up in a chat: code and maths are easier to draft, and gain about twice as much."""
        return 1 + (self.times - 1) / 2 if self.on in _EASY else self.times


@dataclass(frozen=True, slots=True)
class CatalogAcceptance:
    """A published accept rate of a draft."""

    main: str  # repository; "": any main model
    tokens_per_pass: float  # the main model's own token included
    drafted: int  # tokens a pass; 0: not published
    on: str  # as in CatalogGain
    source: str

    @property
    def share(self) -> float:
        """The accept rate of a drafted token."""
        return acceptance_of(self.tokens_per_pass, self.drafted)


@dataclass(frozen=True, slots=True)
class PredictedGain:
    """The predicted speed-up of a draft on this machine."""

    times: float  # at least 1
    on: str  # as in CatalogGain, or TYPICAL_OF_KIND


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogDraft(_Listed):
    """`active_parameters`: without the embedding, of which a token reads one row."""

    kind: DrafterKind | None  # None: a chat model
    mains: tuple[str, ...]
    gains: tuple[CatalogGain, ...]
    acceptances: tuple[CatalogAcceptance, ...]

    def gain_for(self, main: str) -> CatalogGain | None:
        """The one measured in chats, else the lowest, so that a chat does not disappoint."""
        published = [gain for gain in self.gains if gain.main == main]
        chats = [gain for gain in published if gain.on == "chat"]
        return min(chats or published, key=lambda gain: gain.times, default=None)

    def acceptance_for(self, main: str) -> CatalogAcceptance | None:
        """Chosen in the same way."""
        published = [each for each in self.acceptances if each.main in ("", main)]
        chats = [each for each in published if each.on == "chat"]
        return min(chats or published, key=lambda each: each.share, default=None)

    def lowest_acceptance(self) -> CatalogAcceptance | None:
        """With any main model, without code and maths."""
        published = [each for each in self.acceptances if each.on not in _EASY]
        return min(published, key=lambda each: each.share, default=None)

    def info(self) -> ModelInfo:
        drafter = None if self.kind is None else DrafterInfo(self.kind, 0, 0, 0, ())
        return ModelInfo("", self.name, "", self.parameters, self.download_bytes, self.bits, 0, "", 0, drafter=drafter)


@dataclass(frozen=True, slots=True)
class CatalogPair:
    main: CatalogModel
    draft: CatalogDraft
    fit: MemoryFit  # of both, with a chat
    gain: CatalogGain | None


@dataclass(frozen=True, slots=True)
class Catalog:
    models: tuple[CatalogModel, ...] = ()
    drafts: tuple[CatalogDraft, ...] = ()

    def model(self, repository: str) -> CatalogModel | None:
        return next((model for model in self.models if model.repository == repository), None)

    def drafts_for(self, main: str) -> tuple[CatalogDraft, ...]:
        """Those with the highest published speed-up first; then those made for it, then small chat models.

        Without a measurement with this main model, the one with another conversion or size of it is used.
        """
        fitting = [draft for draft in self.drafts if main in draft.mains]
        return tuple(sorted(fitting, key=lambda draft: _order(draft, main)))

    def listed_as(self, repository: str) -> str:
        """The catalog's conversion of the same model, if this one is not in the catalog itself."""
        alike = (model.repository for model in self.models if stem(model.name) == stem(repository.rpartition("/")[2]))
        return repository if self.model(repository) is not None else next(alike, repository)

    def predicted(self, main: str, draft: str, measured: Sequence[ForwardTimes]) -> PredictedGain | None:
        """Predicted speed-up here; None if nothing is known of the two, or of models like the main model.

        A draft without a published accept rate is assumed to have that of its kind.
        """
        model = self.model(main)
        drafter = next((each for each in self.drafts if each.repository == draft and main in each.mains), None)
        if model is None or drafter is None:
            return None
        published = drafter.acceptance_for(main)
        times = times_like(measured, model.download_bytes, sparse=bool(model.active_parameters))
        share = self.acceptance(main, draft)
        if times is None or share is None or (published is None and drafter.gain_for(main) is not None):
            return None
        weight = drafter.step_bytes / model.step_bytes
        by_block = drafter.kind is not None and KINDS[drafter.kind].in_one_forward
        gain = estimated_gain(times, weight, share, by_block=by_block)
        return PredictedGain(gain, TYPICAL_OF_KIND if published is None else published.on) if gain is not None else None

    def acceptance(self, main: str, draft: str) -> float | None:
        """The accept rate of a drafted token, by repositories: published, or else that of its kind."""
        drafter = next((each for each in self.drafts if each.repository == draft and main in each.mains), None)
        if drafter is None:
            return None
        published = drafter.acceptance_for(main)
        return self._typical_acceptance(drafter.kind) if published is None else published.share

    def _typical_acceptance(self, kind: DrafterKind | None) -> float | None:
        """The lower median of the lowest accept rates of a kind's drafts, without code and maths."""
        lowest = [draft.lowest_acceptance() for draft in self.drafts if draft.kind is kind]
        shares = [published.share for published in lowest if published is not None]
        return median_low(shares) if shares else None

    def best_that_sees(self, memory_bytes: int, language: str, but: Collection[str] = ()) -> CatalogModel | None:
        """The first main model of `pairs_for` that sees pictures and runs well.

        Where none of these sees, the best that fits without a draft. `but`: other repositories.
        """
        for pair in self.pairs_for(memory_bytes, language):
            if pair.fit.level is FitLevel.FITS and pair.main.sees and pair.main.repository not in but:
                return pair.main
        models = [each for each in self.models if each.sees and each.speaks(language) and each.repository not in but]
        able = [(model, _fit(memory_bytes, model)) for model in models]
        fitting = [(model, fit) for model, fit in able if fit.level is not FitLevel.TOO_LARGE]
        return min(fitting, key=lambda each: _rank(*each), default=(None,))[0]

    def pairs_for(self, memory_bytes: int, language: str) -> tuple[CatalogPair, ...]:
        """The best pair of each series of models that fits into `memory_bytes`, for users who write `language`."""
        pairs = [pair for model in self.models if (pair := self._pair(model, memory_bytes, language)) is not None]
        best: dict[str, CatalogPair] = {}
        for pair in sorted(pairs, key=_pair_rank):
            best.setdefault(_series(pair.main), pair)
        return tuple(best.values())[:_MOST_PAIRS]

    def _pair(self, main: CatalogModel, memory_bytes: int, language: str) -> CatalogPair | None:
        if not main.speaks(language):
            return None
        for draft in self.drafts_for(main.repository):
            gain = draft.gain_for(main.repository)
            fit = _fit(memory_bytes, main, draft)
            small = draft.kind is not None or draft.parameters <= RECOMMENDED_SHARE * main.parameters
            worth = small if gain is None else gain.expected_times >= _LEAST_GAIN
            if worth and fit.level is not FitLevel.TOO_LARGE:
                return CatalogPair(main, draft, fit, gain)
        return None


def load_catalog(path: Path | str) -> Catalog:
    """Raises ValueError for a missing or invalid file."""
    try:
        content: dict[str, Any] = read_object(Path(path), CATALOG_LIMIT_BYTES)
        models = tuple(_model(row) for row in content["models"])
        drafts = tuple(_draft(row) for row in content["drafts"])
    except (FileError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
    return Catalog(models, drafts)


def published_acceptance(catalog: Path, main: str, draft: str) -> float:
    """The accept rate that the catalog has for two folders that were downloaded from a hub; 0: not known."""
    repositories = (repository_of(Path(folder)) for folder in (main, draft))
    try:
        return load_catalog(catalog).acceptance(*repositories) or 0.0
    except ValueError:
        return 0.0


def _worth(draft: CatalogDraft, main: str) -> float:
    gain = draft.gain_for(main)
    return gain.expected_times if gain is not None else 1.0


def _order(draft: CatalogDraft, main: str) -> tuple[float, bool, float, int]:
    elsewhere = max((gain.expected_times for gain in draft.gains), default=1.0)
    return -_worth(draft, main), draft.kind is None, -max(elsewhere, 1.0), draft.parameters


def _fit(memory_bytes: int, *models: CatalogModel | CatalogDraft) -> MemoryFit:
    return fit_together([model.info() for model in models], PAIR_CONTEXT_TOKENS, memory_bytes)


def _series(model: CatalogModel) -> str:
    """The series of a model: "Qwen" of "Qwen3.8", "Gemma" of "Gemma 4"."""
    found = re.match(r"[A-Za-z]+", model.family)
    return found[0] if found else model.family


def _pair_rank(pair: CatalogPair) -> tuple[bool, float]:
    return _rank(pair.main, pair.fit, pair.gain.expected_times if pair.gain is not None else 1.0)


def _rank(main: CatalogModel, fit: MemoryFit, gain: float = 1.0) -> tuple[bool, float]:
    """What fits well first; then twice the size, a year newer and twice the speed count the same.

    The size of a mixture of experts is the geometric mean of all parameters and those of a token.
    """
    year = int(main.released[:4]) + int(main.released[5:7]) / 12
    size = math.sqrt(main.parameters * (main.active_parameters or main.parameters))
    speed = gain * _USUAL_BITS / (main.bits or 16.0)
    return fit.level is not FitLevel.FITS, -(math.log2(size) + year + math.log2(speed))


def _model(row: dict[str, Any]) -> CatalogModel:
    caches = None
    if "token_bytes" in row:
        token_bytes = int(row["token_bytes"])
        caches = CacheSizes(token_bytes, int(row["fixed_bytes"]), at_eight_bits(token_bytes))
    return CatalogModel(
        **_listed(row),
        family=str(row["family"]),
        context_tokens=int(row["context_tokens"]),
        languages=tuple(map(str, row["languages"])),
        licence=str(row["licence"]),
        released=str(row["released"]),
        caches=caches,
        sees=row.get("sees", False) is True,
    )


def _draft(row: dict[str, Any]) -> CatalogDraft:
    kind = row["kind"]
    return CatalogDraft(
        **_listed(row),
        kind=None if kind == CLASSIC else known_kind(kind),
        mains=tuple(map(_repository, row["mains"])),
        gains=tuple(
            CatalogGain(_repository(gain["main"]), gain["machine"], float(gain["times"]), gain["on"], gain["source"])
            for gain in row["gains"]
        ),
        acceptances=tuple(_acceptance(published) for published in row.get("acceptances", ())),
    )


def _listed(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "repository": _repository(row["repository"]),
        "parameters": int(row["parameters"]),
        "bits": float(bits) if isinstance(bits := row["bits"], int | float) else None,
        "source": str(row["source"]),
        "published_bytes": int(row.get("download_bytes", 0)),
        "active_parameters": int(row.get("active_parameters", 0)),
    }


def _acceptance(row: dict[str, Any]) -> CatalogAcceptance:
    """Given as tokens a pass, or as the accept rate of drafted tokens."""
    drafted = int(row.get("drafted", 0))
    tokens = float(row["tokens_per_pass"]) if "tokens_per_pass" in row else 1 + float(row["accepted"]) * (drafted or 1)
    main = _repository(row["main"]) if "main" in row else ""
    alone = "accepted" in row and not drafted
    return CatalogAcceptance(main, tokens, 1 if alone else drafted, row["on"], row["source"])


def _repository(name: object) -> str:
    if not is_repository(name):
        raise ValueError(f"no name of a repository: {str(name)[:100]}")
    return str(name)
