"""Facts in a row of the models page about a model or an offered pair."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.view_models.downloads import UNDER_WAY, DownloadState
from app.view_models.installed_list import PairOffer
from app.view_models.model_list import ModelEntry, Upkeep, UpkeepState
from app.words.formats import count, fill, percent, size
from app.words.hub import install_text
from app.words.model_names import human_name
from app.words.notices_for_errors import notice_for
from app.words.pairs import (
    abilities_text,
    draft_details,
    drafting_text,
    fit_text,
    gain_text,
    kind_text,
    languages_text,
    memory_text,
    parameters_text,
    precision_text,
    seeing_text,
    some,
    tokens_text,
)


def facts(entry: ModelEntry, context_tokens: int) -> list[tuple[str, str]]:
    """As (name of the fact, fact); what is not known is left out."""
    about = entry.about
    drafts = entry.drafter is not None
    chat_tokens = min(context_tokens, entry.context_tokens or context_tokens)  # no chat is longer than the model holds
    drafting = drafting_text(
        about,
        entry.drafts_for,
        entry.drafts,
        is_drafter=drafts,
        own_head=entry.own_head,
        drafts_now=entry.is_draft,
    )
    rows = [
        (QCoreApplication.translate("Models", "Family"), about.family),
        (QCoreApplication.translate("Models", "Kind"), "" if entry.error else kind_text(entry.drafter, about.template)),
        (QCoreApplication.translate("Models", "Parameters"), parameters_text(entry.parameters)),
        (
            QCoreApplication.translate("Models", "Precision"),
            precision_text(entry.bits, entry.full_bits, entry.quantization),
        ),
        (QCoreApplication.translate("Models", "Context"), "" if drafts else context_text(entry)),
        (QCoreApplication.translate("Models", "Memory"), _memory(entry, chat_tokens)),
        (QCoreApplication.translate("Models", "Can do"), abilities_text(about, sees=entry.sees)),
        (QCoreApplication.translate("Models", "Drafting"), "" if entry.error else drafting),
        (QCoreApplication.translate("Models", "Languages"), languages_text(about.languages)),
        (QCoreApplication.translate("Models", "License"), about.licence),
        (QCoreApplication.translate("Models", "Repository"), entry.repository),
        (QCoreApplication.translate("Models", "Folder"), entry.folder),
    ]
    return [(name, fact) for name, fact in rows if fact]


def _memory(entry: ModelEntry, chat_tokens: int) -> str:
    """Its memory; a drafter's is beside its main model's."""
    if entry.fit is None:
        return ""
    if entry.drafter is not None:
        return " · ".join(draft_details(entry.fit.needed_bytes, None))
    return memory_text(entry.fit, chat_tokens)


def context_text(entry: ModelEntry) -> str:
    """The model's context, and how much of it memory or the user's limit allows."""
    holds = entry.context_tokens
    fit = entry.fit
    parts = [tokens_text(holds)] if holds else []
    if fit is not None and 0 < fit.largest_context_tokens < holds:
        parts.append(fill(QCoreApplication.translate("Models", "%1 fit in memory"), count(fit.largest_context_tokens)))
    if 0 < entry.asked_tokens < holds:
        parts.append(fill(QCoreApplication.translate("Models", "limited to %1 in Settings"), count(entry.asked_tokens)))
    elif 0 < holds < entry.asked_tokens:
        parts.append(fill(QCoreApplication.translate("Models", "%1 set in Settings"), count(entry.asked_tokens)))
    return " · ".join(parts)


def uses_text(entry: ModelEntry) -> str:
    """Where a model is in use, for the question before deleting it; "" if it is not."""
    if entry.is_main:
        return QCoreApplication.translate("Models", "In use as main model; the starter pair replaces it.")
    if entry.is_draft:
        return QCoreApplication.translate("Models", "In use as draft; replies continue without one.")
    if entry.drafts_for:
        return fill(QCoreApplication.translate("Models", "It can draft for %1."), some(entry.drafts_for))
    return ""


def upkeep_text(upkeep: Upkeep) -> str:
    """Result of a check of its files, or for a newer version."""
    return {
        UpkeepState.NONE: "",
        UpkeepState.DELETING: "",  # which the row says
        UpkeepState.VERIFYING: fill(QCoreApplication.translate("Models", "Reading files, %1"), percent(upkeep.share)),
        UpkeepState.SOUND: QCoreApplication.translate("Models", "All files are intact."),
        UpkeepState.DAMAGED: fill(
            QCoreApplication.translate("Models", "Damaged or missing: %1."),
            some(upkeep.files),
        ),
        UpkeepState.UNKNOWN: QCoreApplication.translate("Models", "Cannot tell: not installed by Hunch."),
        UpkeepState.ASKING: QCoreApplication.translate("Models", "Contacting hub…"),
        UpkeepState.CURRENT: QCoreApplication.translate("Models", "Up to date."),
        UpkeepState.OUTDATED: QCoreApplication.translate("Models", "Update available."),
        UpkeepState.NOT_ASKED: notice_for(upkeep.error).sentence if upkeep.error else "",
    }[upkeep.state]


def coming_text(state: DownloadState | None) -> str:
    """What is shown in place of Install; "" where nothing is running."""
    if state is DownloadState.PAUSED:
        return QCoreApplication.translate("Models", "Paused")
    return QCoreApplication.translate("Models", "Downloading") if state in UNDER_WAY else ""


def offer_act(offer: PairOffer) -> tuple[str, str]:
    """What the button of an offered pair says, and, for screen readers, of which models."""
    main = human_name(offer.main_name)
    if not offer.missing:
        name = fill(QCoreApplication.translate("Models", "Use %1 and its draft"), main)
        return QCoreApplication.translate("Models", "Use both"), name
    if offer.draft in offer.missing and offer.main in offer.missing:
        name = fill(QCoreApplication.translate("Models", "Install %1 and its draft"), main)
        return QCoreApplication.translate("Models", "Install both"), name
    half = human_name(offer.draft_name) if offer.draft in offer.missing else main
    return install_text(), fill(QCoreApplication.translate("Models", "Install %1"), half)


def offer_text(offer: PairOffer) -> str:
    """ "about 16.2 GB to download · sees pictures · fits this Mac · 2.3× faster in chats on an M4 Pro 48 GB"."""
    parts = []
    if offer.download_bytes:
        parts.append(fill(QCoreApplication.translate("Models", "about %1 to download"), size(offer.download_bytes)))
    parts += [seeing_text()] if offer.sees else []
    parts.append(fit_text(offer.fit.level))
    if offer.gain is not None:
        parts.append(gain_text(offer.gain))
    return " · ".join(parts)
