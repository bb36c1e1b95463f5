"""A model in words: what it is, where it comes from, what it takes and whether that fits."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLocale

from app.words.formats import count, fill, number, size
from engine import DrafterKind, FitLevel, MemoryFit, ModelAbout, ModelSource

_DRAFTERS = {
    DrafterKind.DFLASH: "DFlash",
    DrafterKind.DSPARK: "DSpark",
    DrafterKind.DFLASH2: "DFlash2",
    DrafterKind.EAGLE3: "EAGLE-3",
    DrafterKind.MTP: "MTP",
}
_MOST_NAMES = 3
_OWN_NAMES = {"en": "English", "es": "español", "pt": "português", "zh": "中文"}  # Qt's name a country, too


def source_text(source: ModelSource) -> str:
    return {
        ModelSource.STARTER: QCoreApplication.translate("Models", "Comes with Hunch"),
        ModelSource.OWN: QCoreApplication.translate("Models", "Installed by Hunch"),
        ModelSource.HUB_CACHE: QCoreApplication.translate("Models", "Hugging Face cache"),
        ModelSource.LM_STUDIO: "LM Studio",
        ModelSource.OMLX: "oMLX",
        ModelSource.ADDED: QCoreApplication.translate("Models", "Added folder"),
    }[source]


def drafter_text(drafter: DrafterKind) -> str:
    return fill(QCoreApplication.translate("Models", "%1 drafter"), _DRAFTERS[drafter])


def model_details(
    size_bytes: int, bits: float | None, source: ModelSource, drafter: DrafterKind | None = None
) -> list[str]:
    """The parts of the line under a model's name."""
    return [*model_kind(drafter), size(size_bytes), *bits_text(bits), source_text(source)]


def model_kind(drafter: DrafterKind | None) -> list[str]:
    """Of a drafter; nothing of other models."""
    return [] if drafter is None else [drafter_text(drafter)]


def bits_text(bits: float | None) -> list[str]:
    return [] if bits is None else [fill(QCoreApplication.translate("Models", "%1-bit"), number(bits))]


def fit_text(level: FitLevel) -> str:
    return {
        FitLevel.FITS: QCoreApplication.translate("Models", "fits this Mac"),
        FitLevel.TIGHT: QCoreApplication.translate("Models", "tight on this Mac"),
        FitLevel.TOO_LARGE: QCoreApplication.translate("Models", "too large for this Mac"),
    }[level]


def memory_text(fit: MemoryFit, context_tokens: int) -> str:
    """What it needs, what there is, and what would fit."""
    needs = fill(
        QCoreApplication.translate("Models", "%1 with a chat of %2 tokens, of %3"),
        size(fit.needed_bytes),
        count(context_tokens),
        size(fit.available_bytes),
    )
    if fit.largest_context_tokens:
        most = fill(QCoreApplication.translate("Models", "%1 tokens fit"), count(fit.largest_context_tokens))
        return f"{needs} · {most}"
    return needs


def parameters_text(parameters: int) -> str:
    """As everybody writes it: "8.2B", "135M", "0.7M"; "" for none."""
    if parameters >= 1e9:
        return f"{number(parameters / 1e9, 1 if parameters < 1e11 else 0)}B"
    return f"{number(parameters / 1e6, 0 if parameters >= 1e7 else 1)}M" if parameters else ""


def languages_text(languages: tuple[str, ...]) -> str:
    """The first few by their own names."""
    names = [_OWN_NAMES.get(code) or QLocale(code).nativeLanguageName() or code for code in languages]
    return ", ".join(names[:8]) + (" …" if len(names) > 8 else "")


def gain_text(times: float, on: str, machine: str) -> str:
    """`on`: what it was measured with, as the catalog says it."""
    sentence = {
        "chat": QCoreApplication.translate("Models", "%1× faster in chats on an %2"),
        "code": QCoreApplication.translate("Models", "%1× faster in code on an %2"),
        "math": QCoreApplication.translate("Models", "%1× faster in maths on an %2"),
    }.get(on, QCoreApplication.translate("Models", "%1× faster on an %2"))
    return fill(sentence, number(times, 1), machine)


def kind_text(drafter: DrafterKind | None, has_template: bool) -> str:
    if drafter is not None:
        return drafter_text(drafter)
    if not has_template:
        return QCoreApplication.translate("Models", "Text model without a chat template")
    return QCoreApplication.translate("Models", "Chat model")


def abilities_text(about: ModelAbout) -> str:
    able = (
        (about.thinking, QCoreApplication.translate("Models", "thinking")),
        (about.tools, QCoreApplication.translate("Models", "tools")),
    )
    return ", ".join(word for has, word in able if has)


def drafting_text(about: ModelAbout, drafts_for: tuple[str, ...], *, is_drafter: bool, own_head: bool) -> str:
    """What it drafts for, or why nothing can draft for it."""
    if drafts_for:
        return fill(QCoreApplication.translate("Models", "drafts for %1"), some(drafts_for))
    if about.made_for:
        return fill(QCoreApplication.translate("Models", "made for %1"), about.made_for)
    if is_drafter:
        return QCoreApplication.translate("Models", "its main model is not installed")
    if not about.speculates:
        return QCoreApplication.translate("Models", "not possible with this family")
    return QCoreApplication.translate("Models", "brings a drafter of its own") if own_head else ""


def tokens_text(tokens: int) -> str:
    return fill(QCoreApplication.translate("Models", "%1 tokens"), count(tokens)) if tokens else ""


def some(names: tuple[str, ...]) -> str:
    """The first few."""
    return ", ".join(names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")
