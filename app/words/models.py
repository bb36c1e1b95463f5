"""A model in words: what it is, where it comes from, what it takes and whether that fits."""

from __future__ import annotations

import re

from PySide6.QtCore import QCoreApplication, QLocale

from app.words.formats import count, fill, listed, number, size
from engine import DrafterKind, FitLevel, MemoryFit, ModelAbout, ModelSource

_DRAFTERS = {
    DrafterKind.DFLASH: "DFlash",
    DrafterKind.DSPARK: "DSpark",
    DrafterKind.DFLASH2: "DFlash2",
    DrafterKind.EAGLE3: "EAGLE-3",
    DrafterKind.MTP: "MTP",
}
_MOST_NAMES = 3
_NAME_WORD = re.compile(r"[^\s_/-]+")
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
    size_bytes: int, precision: str, source: ModelSource, drafter: DrafterKind | None = None
) -> list[str]:
    """The parts of the line under a model's name."""
    return [*model_kind(drafter), size(size_bytes), *filter(None, (precision,)), source_text(source)]


def model_kind(drafter: DrafterKind | None) -> list[str]:
    """Of a drafter; nothing of other models."""
    return [] if drafter is None else [drafter_text(drafter)]


def precision_text(bits: float | None, full_bits: int = 0, method: str = "") -> str:
    """ "4-bit", "4-bit MXFP4" or "16-bit, not quantized"; "" where nobody knows. `full_bits`: not quantized."""
    if bits is not None:
        return f"{_bits_text(bits)} {method}".rstrip()
    sentence = QCoreApplication.translate("Models", "%1, not quantized")
    return fill(sentence, _bits_text(full_bits)) if full_bits else ""


def _bits_text(bits: float) -> str:
    """With a hyphen, or a space, at which no line ends."""
    text = fill(QCoreApplication.translate("Models", "%1-bit"), number(bits))
    return text.replace("-", "\N{NON-BREAKING HYPHEN}").replace(" ", "\N{NO-BREAK SPACE}")


def fit_text(level: FitLevel) -> str:
    return {
        FitLevel.FITS: QCoreApplication.translate("Models", "fits this Mac"),
        FitLevel.TIGHT: QCoreApplication.translate("Models", "tight on this Mac"),
        FitLevel.TOO_LARGE: QCoreApplication.translate("Models", "too large for this Mac"),
    }[level]


def unfit_text(fit: MemoryFit | None) -> list[str]:
    """That a model is tight or too large, as a part of a line; nothing of one that fits."""
    return [] if fit is None or fit.level is FitLevel.FITS else [fit_text(fit.level)]


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
    if times < 1:
        return fill(QCoreApplication.translate("Models", "slower on %2 (%1×)"), number(times, 2), machine)
    sentence = {
        "chat": QCoreApplication.translate("Models", "%1× faster in chats on %2"),
        "code": QCoreApplication.translate("Models", "%1× faster in code on %2"),
        "math": QCoreApplication.translate("Models", "%1× faster in maths on %2"),
    }.get(on, QCoreApplication.translate("Models", "%1× faster on %2"))
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
    return listed(*(word for has, word in able if has))


def drafting_text(
    about: ModelAbout,
    drafts_for: tuple[str, ...],
    drafts: tuple[str, ...],
    *,
    is_drafter: bool,
    own_head: bool,
    drafts_now: bool = False,
) -> str:
    """What it drafts for, and what can draft for it, or why nothing can."""
    if drafts_for:
        parts = [fill(QCoreApplication.translate("Models", "drafts for %1"), some(drafts_for))]
    elif about.made_for:
        parts = [fill(QCoreApplication.translate("Models", "made for %1"), about.made_for)]
    elif is_drafter and not drafts_now:
        parts = [QCoreApplication.translate("Models", "its main model is not installed")]
    else:
        parts = []
    if not is_drafter:
        parts += _drafted_text(about, drafts, own_head=own_head, is_draft=bool(drafts_for))
    return " · ".join(parts)


def _drafted_text(about: ModelAbout, drafts: tuple[str, ...], *, own_head: bool, is_draft: bool) -> list[str]:
    """Of what is used as a draft nobody asks what could draft for it."""
    if not about.speculates:
        sentence = QCoreApplication.translate(
            "Models", "no draft works with it: its family gives different results when it reads several tokens at once"
        )
        return [sentence]
    parts = [QCoreApplication.translate("Models", "brings a drafter of its own")] if own_head else []
    if drafts:
        parts.append(fill(QCoreApplication.translate("Models", "%1 can draft for it"), some(drafts)))
    if parts or is_draft:
        return parts
    sentence = QCoreApplication.translate(
        "Models",
        "a drafter made for it, or a much smaller model with the same vocabulary, can draft for it; none is installed",
    )
    return [sentence]


def tokens_text(tokens: int) -> str:
    return fill(QCoreApplication.translate("Models", "%1 tokens"), count(tokens)) if tokens else ""


def some(names: tuple[str, ...]) -> str:
    """The first few."""
    return listed(*names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")


def name_beside(name: str, other: str) -> str:
    """What of a model's name the other one's does not say: "0.6B" of Qwen3-0.6B-4bit beside Qwen3-8B-4bit."""
    known = {word.casefold() for word in _NAME_WORD.findall(other)}
    return " ".join(word for word in _NAME_WORD.findall(name) if word.casefold() not in known) or name
