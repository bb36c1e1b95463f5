"""Pairs of the catalog for this machine, as values for a card. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.view_models.installed_list import PairOffer
from engine import Catalog, CatalogPair, ForwardTimes, InstalledModel, model_memory_bytes


def pair_offers(
    catalog: Catalog,
    language: str,
    installed: Iterable[InstalledModel],
    memory_bytes: int | None = None,
    measured: Sequence[ForwardTimes] = (),
) -> list[PairOffer]:
    """`measured`: what forwards take on this machine."""
    here = {model.repository for model in installed if model.info is not None}
    memory = model_memory_bytes() if memory_bytes is None else memory_bytes
    offers = [_offer(pair, here) for pair in catalog.pairs_for(memory, language)]
    return [replace(offer, predicted=catalog.predicted(offer.main, offer.draft, measured)) for offer in offers]


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
        languages=pair.main.languages,
        gain_times=pair.gain.times if pair.gain else None,
        gain_on=pair.gain.on if pair.gain else "",
        gain_machine=pair.gain.machine if pair.gain else "",
        installed=not missing,
    )
