"""Which drafts a main model may have: installed ones with their checks, pairs of the catalog; and list entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from app.storage.pair_records import PairRecord
from app.view_models.installed_list import PairOffer
from app.view_models.model_list import DraftChoice, DraftGroup, ModelEntry
from app.words.pairs import PairGain
from engine import (
    Catalog,
    CatalogPair,
    DraftError,
    DraftVocabularyDiffers,
    EngineError,
    FitLevel,
    ForwardTimes,
    InstalledModel,
    ModelAbout,
    ModelInfo,
    ModelLibrary,
    ModelSource,
    PairCheck,
    best_draft,
    draft_problem,
    is_good_draft,
    may_share_tokens,
    memory_fit,
    model_memory_bytes,
    split_problem,
)

CHAT_TOKENS = 8192  # of the chat that a model's memory and fit are computed for, unless the user set another


def draft_choice(
    main: ModelInfo, model: InstalledModel, entry: ModelEntry, check: PairCheck | None = None
) -> DraftChoice:
    """`check`: the result of comparing the two models' files."""
    if model.info is not None and check is None and needs_check(main, model.info):
        return DraftChoice(DraftGroup.COMPARING, entry)
    error = model.error if model.info is None else pair_problem(main, model.info, check)
    if model.info is None or error is not None:
        return DraftChoice(DraftGroup.NOT_COMPATIBLE, entry, error, check)
    if model.info.own_drafter is not None and model.folder == main.folder:
        entry = replace(entry, drafter=model.info.own_drafter.kind)
    good = is_good_draft(main, model.info) and not (check is not None and check.by_text)
    group = DraftGroup.RECOMMENDED if good else DraftGroup.COMPATIBLE
    extra_bytes = entry.fit.needed_bytes if entry.fit is not None and model.folder != main.folder else 0
    return DraftChoice(group, entry, None, check, extra_bytes)


def draft_order(choice: DraftChoice) -> tuple[int, bool, int]:
    """By group, then by kind, then by size."""
    return list(DraftGroup).index(choice.group), choice.model.drafter is None, choice.model.parameters


def pair_problem(main: ModelInfo, draft: ModelInfo, check: PairCheck | None) -> EngineError | None:
    """Why `draft` cannot draft for `main`, as far as is known; different vocabularies need a check of the files."""
    problem = draft_problem(main, draft)
    return check.error if check is not None and isinstance(problem, DraftVocabularyDiffers) else problem


def needs_check(main: ModelInfo, draft: ModelInfo) -> bool:
    """Whether their files have to be compared."""
    differs = isinstance(draft_problem(main, draft), DraftVocabularyDiffers)
    return differs and may_share_tokens(main, draft) and draft.weight_bytes < main.weight_bytes


def best_installed_draft(main: ModelInfo, installed: Iterable[InstalledModel]) -> str:
    """The folder of the best installed draft; "" if there is none."""
    best = best_draft(main, [model.info for model in installed if model.info is not None])
    return best.folder if best is not None else ""


def model_entry(
    model: InstalledModel, main_folder: str, draft_folder: str, context_tokens: int = CHAT_TOKENS
) -> ModelEntry:
    """`context_tokens`: length of the chat for which memory is computed."""
    info = model.info
    fit = memory_fit(info, context_tokens) if info else None
    too_large = fit is not None and fit.level is FitLevel.TOO_LARGE
    return ModelEntry(
        folder=model.folder,
        name=model.name,
        repository=model.repository,
        source=model.source,
        size_bytes=model.size_bytes,
        error=model.error,
        parameters=info.parameters if info else 0,
        bits=info.bits if info else None,
        full_bits=_full_bits(info) if info else 0,
        quantization=info.quantization if info else "",
        context_tokens=info.context_tokens if info else 0,
        can_delete=model.source is ModelSource.OWN,
        is_main=model.folder == main_folder,
        is_draft=model.folder == draft_folder,
        drafter=info.drafter.kind if info and info.drafter else None,
        about=info.about if info else ModelAbout(),
        fit=fit,
        indivisible=split_problem(info) if info and too_large else None,
        sees=info is not None and info.sees,
        own_head=info is not None and info.own_drafter is not None,
    )


def good_pairs(installed: Iterable[InstalledModel]) -> list[tuple[ModelInfo, ModelInfo]]:
    """Installed main models with each good draft, without drafters in their own folders."""
    infos = [model.info for model in installed if model.info is not None]
    families: dict[str, list[ModelInfo]] = {}
    for info in infos:
        if info.drafter is None:
            families.setdefault(info.vocabulary_digest, []).append(info)
    chats = [info for info in infos if info.drafter is None]
    pairs = (
        (main, draft)
        for draft in infos
        for main in (chats if draft.drafter is not None else families[draft.vocabulary_digest])
        if main.folder != draft.folder
    )
    return [(main, draft) for main, draft in pairs if draft_problem(main, draft) is None and is_good_draft(main, draft)]


def _full_bits(info: ModelInfo) -> int:
    """Bits of unquantized weights: 16 or 32; else 0."""
    if info.bits is not None or not info.parameters:
        return 0
    return 16 if info.weight_bytes < 3 * info.parameters else 32


class PairChecks:
    """Results of comparing the main model's files with those of possible drafts."""

    def __init__(self, store: ModelLibrary) -> None:
        self._store = store
        self._checks: dict[tuple[str, ...], PairCheck] = {}
        self._asked: set[tuple[str, ...]] = set()

    def known(self, main: ModelInfo, draft: ModelInfo) -> PairCheck | None:
        return self._checks.get(_key(main, draft))

    def ask(self, main: ModelInfo, draft: ModelInfo) -> None:
        """Compare the two models' files, unless that is done or running."""
        if (key := _key(main, draft)) not in self._asked:
            self._asked.add(key)
            self._store.check_pair(main.folder, draft.folder)

    def take(self, check: PairCheck, main: ModelInfo | None, draft: ModelInfo | None) -> None:
        """Store a result; `main` and `draft` are None if they were removed meanwhile."""
        if main is not None and draft is not None:
            self._checks[_key(main, draft)] = check
        else:  # they may be back later
            self._asked = {key for key in self._asked if (key[0], key[2]) != (check.main, check.draft)}

    def forget_failures(self) -> None:
        """Ask failed checks again: the list of models was read again."""
        for key, check in list(self._checks.items()):
            if check.error is not None and not isinstance(check.error, DraftError):
                del self._checks[key]
                self._asked.discard(key)


def _key(main: ModelInfo, draft: ModelInfo) -> tuple[str, ...]:
    """Changes with the files in the two folders."""
    return main.folder, main.vocabulary_digest, draft.folder, draft.vocabulary_digest


def has_known_draft(catalog: Catalog, repository: str) -> bool:
    name = catalog.listed_as(repository)
    return any(name in draft.mains for draft in catalog.drafts)


def pair_offers(
    catalog: Catalog,
    language: str,
    installed: Iterable[InstalledModel],
    gain: Callable[[str, str], PairGain | None],
    memory_bytes: int | None = None,
) -> list[PairOffer]:
    """Pairs of the catalog for this machine, as values for a card. `gain`: of two repositories."""
    here = {model.repository for model in installed if model.info is not None}
    memory = model_memory_bytes() if memory_bytes is None else memory_bytes
    offers = [_offer(pair, here) for pair in catalog.pairs_for(memory, language)]
    return [replace(offer, gain=gain(offer.main, offer.draft)) for offer in offers]


def pair_gain(
    record: PairRecord, catalog: Catalog, main: str, draft: str, measured: Sequence[ForwardTimes]
) -> PairGain | None:
    """Of two repositories. `record`: what was measured of them here; `measured`: what forwards take on this machine."""
    if record.gain is not None:
        return PairGain(record.gain, loses=record.loses)
    predicted = catalog.predicted(main, draft, measured)
    if predicted is not None:
        return PairGain(predicted.times, predicted.on, is_estimate=True)
    known = next((each for each in catalog.drafts if each.repository == draft), None)
    elsewhere = known.gain_for(main) if known is not None else None
    return PairGain(elsewhere.times, elsewhere.on, elsewhere.machine) if elsewhere is not None else None


def _offer(pair: CatalogPair, here: set[str]) -> PairOffer:
    halves = (pair.main, pair.draft)
    missing = [half for half in halves if half.repository not in here]
    return PairOffer(
        main=pair.main.repository,
        draft=pair.draft.repository,
        main_name=pair.main.name,
        draft_name=pair.draft.name,
        drafter=pair.draft.kind,
        download_bytes=sum(half.download_bytes for half in missing),
        fit=pair.fit,
        missing=tuple(half.repository for half in missing),
        sees=pair.main.sees,
    )
