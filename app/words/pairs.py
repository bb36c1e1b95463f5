"""Models in words, and pairs of them: how their tokens compare, what the draft takes and what it brings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QLocale

from app.words.formats import count, fill, listed, number, size, times
from app.words.model_names import human_name
from app.words.notices_for_errors import notice_for
from engine import (
    DrafterKind,
    FitLevel,
    MemoryFit,
    ModelAbout,
    ModelSource,
    PairCheck,
    Probe,
    Vocabularies,
    drafter_names,
)

LEAST_TOLD = 1.05  # smaller estimates are not shown

_MOST_NAMES = 3
_UNITS = (("T", 1e12, 99.95), ("B", 1e9, 99.95), ("M", 1e6, 9.95))  # of parameters; fewer have a decimal
_NAME_WORD = re.compile(r"[^\s_/-]+")
_OWN_NAMES = {"en": "English", "es": "español", "pt": "português", "zh": "中文"}  # Qt's name a country, too


@dataclass(frozen=True, slots=True)
class PairGain:
    """What a draft brings its main model: measured here, else estimated for this machine, else measured elsewhere."""

    times: float
    on: str = ""  # "chat", "code", "math", "mixed"; "" for what was measured here
    machine: str = ""  # that measured it, where that was another one
    is_estimate: bool = False
    loses: bool = False  # it is known that it makes this pair slower here


def source_text(source: ModelSource) -> str:
    return {
        ModelSource.STARTER: QCoreApplication.translate("Models", "comes with Hunch"),
        ModelSource.OWN: QCoreApplication.translate("Models", "installed by Hunch"),
        ModelSource.HUB_CACHE: QCoreApplication.translate("Models", "Hugging Face cache"),
        ModelSource.LM_STUDIO: "LM Studio",
        ModelSource.OMLX: "oMLX",
        ModelSource.ADDED: QCoreApplication.translate("Models", "added folder"),
    }[source]


def drafter_text(drafter: DrafterKind) -> str:
    return fill(QCoreApplication.translate("Models", "%1 drafter"), drafter_names()[drafter])


def seeing_text() -> str:
    return QCoreApplication.translate("Models", "sees pictures")


def model_kind(drafter: DrafterKind | None) -> list[str]:
    """Of a drafter; nothing of other models."""
    return [] if drafter is None else [drafter_text(drafter)]


def precision_text(bits: float | None, full_bits: int = 0, method: str = "") -> str:
    """ "4-bit", "4-bit MXFP4" or "16-bit"; "" where not known. `full_bits`: not quantized."""
    if bits is not None:
        return f"{_bits_text(bits)} {method}".rstrip()
    return _bits_text(full_bits) if full_bits else ""


def _bits_text(bits: float) -> str:
    """With a hyphen or space where no line breaks."""
    text = fill(QCoreApplication.translate("Models", "%1-bit"), number(bits, int(bits != int(bits))))
    return text.replace("-", "\N{NON-BREAKING HYPHEN}").replace(" ", "\N{NO-BREAK SPACE}")


def fit_text(level: FitLevel) -> str:
    return {
        FitLevel.FITS: QCoreApplication.translate("Models", "runs well"),
        FitLevel.TIGHT: QCoreApplication.translate("Models", "may be slow"),
        FitLevel.TOO_LARGE: QCoreApplication.translate("Models", "too large"),
    }[level]


def unfit_text(fit: MemoryFit | None) -> list[str]:
    """That a model is tight or too large, as a part of a line; nothing of one that fits."""
    return [] if fit is None or fit.level is FitLevel.FITS else [fit_text(fit.level)]


def memory_text(fit: MemoryFit, context_tokens: int) -> str:
    """What it needs, what there is, and what would fit."""
    needs = fill(
        QCoreApplication.translate("Models", "%1 of %3 with a chat of %2 tokens"),
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
    letter, unit, few = next((each for each in _UNITS if parameters >= 0.9995 * each[1]), _UNITS[-1])
    return f"{number(parameters / unit, int(parameters < few * unit))}{letter}" if parameters else ""


def languages_text(languages: tuple[str, ...]) -> str:
    """The first few by their own names."""
    return some([_OWN_NAMES.get(code) or QLocale(code).nativeLanguageName() or code for code in languages], 8)


def gain_text(gain: PairGain) -> str:
    """The one figure of a pair: measured here, or said to be an estimate or of another machine."""
    if gain.machine:
        return _elsewhere_text(gain)
    if gain.is_estimate:
        return _estimate_text(gain)
    if gain.loses:
        return fill(QCoreApplication.translate("Pairs", "slower here (%1)"), times(gain.times))
    return fill(QCoreApplication.translate("Pairs", "%1 on this Mac"), times(gain.times))


def gain_figure(gain: PairGain | None) -> str:
    """ "2.1×", if the pair was measured here; of one that loses only that, since its draft is not used then.

    A loss that no race has found is not shown: the machine may have been busy.
    """
    if gain is None or gain.machine or gain.is_estimate:
        return ""
    if gain.loses:
        return QCoreApplication.translate("Pairs", "slower")
    return times(gain.times) if gain.times > 1 / LEAST_TOLD else ""


def is_known_gain(gain: PairGain | None) -> bool:
    return bool(gain_figure(gain)) and gain is not None and gain.times >= LEAST_TOLD


def _elsewhere_text(gain: PairGain) -> str:
    """`on`: what it was measured with, as the catalog says it."""
    if gain.times < 1:
        return fill(QCoreApplication.translate("Models", "slower on %2 (%1×)"), number(gain.times, 2), gain.machine)
    sentence = {
        "chat": QCoreApplication.translate("Models", "%1× faster in chats on %2"),
        "code": QCoreApplication.translate("Models", "%1× faster in code on %2"),
        "math": QCoreApplication.translate("Models", "%1× faster in math on %2"),
    }.get(gain.on, QCoreApplication.translate("Models", "%1× faster on %2"))
    return fill(sentence, number(gain.times, 1), gain.machine)


def kind_text(drafter: DrafterKind | None, has_template: bool) -> str:
    if drafter is not None:
        return drafter_text(drafter)
    if not has_template:
        return QCoreApplication.translate("Models", "Text model, no chat template")
    return QCoreApplication.translate("Models", "Chat model")


def abilities_text(about: ModelAbout, *, sees: bool) -> str:
    able = (
        (sees, QCoreApplication.translate("Models", "pictures")),
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
    drafts_now: bool,
) -> str:
    """What it drafts for, and what can draft for it, or why nothing can."""
    if drafts_for:
        parts = [fill(QCoreApplication.translate("Models", "drafts for %1"), some(drafts_for))]
    elif about.made_for:
        parts = [fill(QCoreApplication.translate("Models", "made for %1"), about.made_for)]
    elif is_drafter and not drafts_now:
        parts = [QCoreApplication.translate("Models", "main model not installed")]
    else:
        parts = []
    if not is_drafter:
        parts += _drafted_text(about, drafts, own_head=own_head, is_draft=bool(drafts_for))
    return " · ".join(parts)


def _drafted_text(about: ModelAbout, drafts: tuple[str, ...], *, own_head: bool, is_draft: bool) -> list[str]:
    """For what is used as a draft no draft is offered."""
    if not about.speculates:
        return [QCoreApplication.translate("Models", "not supported: several tokens at once change its results")]
    parts = [QCoreApplication.translate("Models", "has its own drafter")] if own_head else []
    if drafts:
        parts.append(fill(QCoreApplication.translate("Models", "%1 can draft for it"), some(drafts)))
    return parts if parts or is_draft else [QCoreApplication.translate("Models", "none installed")]


def tokens_text(tokens: int) -> str:
    return fill(QCoreApplication.translate("Models", "%1 tokens"), count(tokens)) if tokens else ""


def some(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """The first few."""
    return listed(*names[:most]) + (" …" if len(names) > most else "")


def name_beside(name: str, other: str) -> str:
    """The part of a model's name that differs from another's: "0.6B" of Qwen3-0.6B-4bit beside Qwen3-8B-4bit."""
    known = {word.casefold() for word in _NAME_WORD.findall(other)}
    return " ".join(word for word in _NAME_WORD.findall(name) if word.casefold() not in known) or name


def _estimate_text(predicted: PairGain) -> str:
    if predicted.times < LEAST_TOLD:
        return QCoreApplication.translate("Pairs", "no gain expected (estimate)")
    sentence = {
        "chat": QCoreApplication.translate("Pairs", "about %1 in chats (estimate)"),
        "code": QCoreApplication.translate("Pairs", "about %1 in code (estimate)"),
        "math": QCoreApplication.translate("Pairs", "about %1 in math (estimate)"),
    }.get(predicted.on, QCoreApplication.translate("Pairs", "about %1 (estimate)"))
    return fill(sentence, times(predicted.times))


def partner_text(name: str, gain: PairGain | None) -> str:
    """ "With Qwen3 0.6B: about 1.6× in chats (estimate)" """
    not_known = QCoreApplication.translate("Pairs", "not measured here yet")
    words = QCoreApplication.translate("Pairs", "With %1: %2")
    return fill(words, human_name(name), not_known if gain is None else gain_text(gain))


def partner_details(drafter: DrafterKind | None, size_bytes: int) -> str:
    """ "MTP drafter · about 290 MB to download"; nothing where nothing is known."""
    parts = model_kind(drafter)
    if size_bytes:
        parts.append(fill(QCoreApplication.translate("Models", "about %1 to download"), size(size_bytes)))
    return " · ".join(parts)


def draft_details(extra_bytes: int, gain: PairGain | None) -> list[str]:
    """The parts of the line under a draft's name: what it takes, and what it brings."""
    parts = [fill(QCoreApplication.translate("Pairs", "%1 more memory"), size(extra_bytes))] if extra_bytes else []
    return parts if gain is None else [*parts, gain_text(gain)]


def pair_sentence(check: PairCheck, *, is_recommended: bool) -> str:
    """One sentence on how the two compare. Of drafters, those that are named after the main model are recommended."""
    if check.error is not None:
        return notice_for(check.error).sentence
    found = check.vocabularies
    if found is None and not is_recommended:
        return QCoreApplication.translate("Pairs", "Named after another model: may guess poorly.")
    if found is None:
        return QCoreApplication.translate("Pairs", "Made for this main model.")
    if not check.by_text:
        return fill(QCoreApplication.translate("Pairs", "Both know the same %1 tokens."), count(found.main_tokens))
    of = count(max(found.main_tokens, found.draft_tokens))
    if not found.differing_text_tokens:
        sentence = QCoreApplication.translate("Pairs", "%1 of %2 tokens differ; none is text.")
        return fill(sentence, count(found.differing_tokens), of)
    sentence = QCoreApplication.translate("Pairs", "%1 of %2 tokens match.")
    return fill(sentence, count(found.shared_tokens), of)


def pair_details(check: PairCheck) -> list[str]:
    """What else there is to know, a line each."""
    found = check.vocabularies
    lines = [*_vocabulary_lines(found)] if found is not None else []
    if found is not None:
        ends = QCoreApplication.translate("Pairs", "Same end tokens")
        lines.append(ends if check.ends_alike else QCoreApplication.translate("Pairs", "Different end tokens"))
        template = QCoreApplication.translate("Pairs", "Same chat template")
        other = QCoreApplication.translate("Pairs", "Different chat templates; the main model's is used")
        lines.append(template if check.template_alike else other)
    sizes = QCoreApplication.translate("Pairs", "Weights: %1, draft %2")
    lines.append(fill(sizes, size(check.main_bytes), size(check.draft_bytes)))
    return lines


def _vocabulary_lines(found: Vocabularies) -> list[str]:
    words = QCoreApplication.translate("Pairs", "Vocabularies: %1 tokens, draft %2, shared %3")
    shared = max(found.shared_tokens, 0)
    lines = [fill(words, count(found.main_tokens), count(found.draft_tokens), count(shared))]
    if found.cut_alike:
        rules = QCoreApplication.translate("Pairs", "Same tokenization")
        samples = QCoreApplication.translate("Pairs", "Same tokens in four languages")
        lines.append(samples if found.probes else rules)
    elif found.cut_alike is None and found.shared_tokens > 0:
        lines.append(QCoreApplication.translate("Pairs", "Tokenization could not be compared"))
    return [*lines, *(_probe_line(each) for each in found.probes if not each.alike)]


def _probe_line(probe: Probe) -> str:
    language = languages_text((probe.language,))
    main = count(probe.main_tokens)
    draft = count(probe.draft_tokens)
    if probe.main_tokens == probe.draft_tokens:
        words = QCoreApplication.translate("Pairs", "Sample (%1): %2 tokens each, but different")
        return fill(words, language, main)
    words = QCoreApplication.translate("Pairs", "Sample (%1): %2 tokens, draft %3")
    return fill(words, language, main, draft)
