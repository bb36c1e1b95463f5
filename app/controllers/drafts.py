"""Which installed model suits as a draft for a main model, and how installed models are listed. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QCoreApplication

from app.view_models.model_list import DraftChoice, DraftGroup, ModelEntry
from app.words.notices_for_errors import notice_for
from engine import InstalledModel, ModelInfo, ModelSource, draft_problem

# A draft up to this share of the main model's parameters is worth its time on most machines.
RECOMMENDED_SHARE = 1 / 5


def draft_choice(main: ModelInfo, model: InstalledModel, entry: ModelEntry) -> DraftChoice:
    if model.info is None:
        return DraftChoice(DraftGroup.NOT_COMPATIBLE, heading(DraftGroup.NOT_COMPATIBLE), entry, entry.problem)
    problem = draft_problem(main, model.info)
    if problem is not None:
        reason = notice_for(problem).sentence
        return DraftChoice(DraftGroup.NOT_COMPATIBLE, heading(DraftGroup.NOT_COMPATIBLE), entry, reason)
    group = DraftGroup.RECOMMENDED if _is_small(main, model.info) else DraftGroup.COMPATIBLE
    return DraftChoice(group, heading(group), entry)


def best_draft(main: ModelInfo, installed: Iterable[InstalledModel]) -> str:
    """The folder of the largest recommended draft; "" when there is none."""
    infos = [model.info for model in installed if model.info is not None]
    good = [info for info in infos if draft_problem(main, info) is None and _is_small(main, info)]
    return max(good, key=lambda info: info.parameters).folder if good else ""


def model_entry(model: InstalledModel, main_folder: str, draft_folder: str) -> ModelEntry:
    info = model.info
    return ModelEntry(
        folder=model.folder,
        name=model.name,
        repository=model.repository,
        source_text=source_text(model.source),
        size_bytes=model.size_bytes,
        problem=notice_for(model.error).sentence if model.error else None,
        parameters=info.parameters if info else 0,
        bits=info.bits if info else None,
        context_tokens=info.context_tokens if info else 0,
        can_delete=model.source is ModelSource.OWN,
        is_main=model.folder == main_folder,
        is_draft=model.folder == draft_folder,
    )


def heading(group: DraftGroup) -> str:
    return {
        DraftGroup.RECOMMENDED: QCoreApplication.translate("Drafts", "Recommended"),
        DraftGroup.COMPATIBLE: QCoreApplication.translate("Drafts", "Compatible"),
        DraftGroup.NOT_COMPATIBLE: QCoreApplication.translate("Drafts", "Not compatible"),
    }[group]


def source_text(source: ModelSource) -> str:
    return {
        ModelSource.STARTER: QCoreApplication.translate("Drafts", "Comes with Hunch"),
        ModelSource.OWN: QCoreApplication.translate("Drafts", "Installed by Hunch"),
        ModelSource.HUB_CACHE: QCoreApplication.translate("Drafts", "Hugging Face cache"),
        ModelSource.ADDED: QCoreApplication.translate("Drafts", "Added folder"),
    }[source]


def _is_small(main: ModelInfo, draft: ModelInfo) -> bool:
    return draft.parameters <= main.parameters * RECOMMENDED_SHARE
