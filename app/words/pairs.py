"""A main model and a draft in words: how their tokens compare, what the draft takes and what it brings."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.words.formats import count, fill, size, times
from app.words.models import drafter_text, gain_text, languages_text
from app.words.notices_for_errors import notice_for
from engine import TYPICAL_OF_KIND, CacheKind, CatalogGain, DrafterKind, PairCheck, PredictedGain, Probe, Vocabularies

LEAST_TOLD = 1.05  # below, an estimate promises nothing


def predicted_text(predicted: PredictedGain) -> str:
    """What a draft may bring on this machine, said to be an estimate."""
    if predicted.times < LEAST_TOLD:
        return QCoreApplication.translate("Pairs", "no gain expected here (estimate)")
    sentence = {
        "chat": QCoreApplication.translate("Pairs", "about %1 in chats here (estimate)"),
        "code": QCoreApplication.translate("Pairs", "about %1 in code here (estimate)"),
        "math": QCoreApplication.translate("Pairs", "about %1 in maths here (estimate)"),
        TYPICAL_OF_KIND: QCoreApplication.translate("Pairs", "about %1 here (estimate, as drafts of its kind)"),
    }.get(predicted.on, QCoreApplication.translate("Pairs", "about %1 here (estimate)"))
    return fill(sentence, times(predicted.times))


def partner_text(name: str, predicted: PredictedGain | None, gain: CatalogGain | None = None) -> str:
    """ "With Qwen3-0.6B-4bit: about 1.6× in chats here (estimate)"; `gain` is on somebody else's machine."""
    said = [gain_text(gain.times, gain.on, gain.machine)] if gain is not None else []
    if predicted is not None:
        said.append(predicted_text(predicted))
    not_known = QCoreApplication.translate("Pairs", "what it brings is not measured on this Mac yet")
    words = QCoreApplication.translate("Pairs", "With %1: %2")
    return fill(words, name, " · ".join(said or [not_known]))


def partner_details(drafter: DrafterKind | None, size_bytes: int) -> str:
    """ "MTP drafter · about 290 MB to download"; nothing where nothing is known."""
    parts = [drafter_text(drafter)] if drafter is not None else []
    if size_bytes:
        parts.append(fill(QCoreApplication.translate("Models", "about %1 to download"), size(size_bytes)))
    return " · ".join(parts)


def draft_details(extra_bytes: int, gain: float | None, estimate: PredictedGain | None = None) -> list[str]:
    """The parts of the line under a draft's name: what it takes, what it brought last, and what was to be expected."""
    parts = [fill(QCoreApplication.translate("Pairs", "%1 more memory"), size(extra_bytes))] if extra_bytes else []
    if gain is not None:
        parts.append(fill(QCoreApplication.translate("Pairs", "%1 last time"), times(gain)))
    if estimate is not None:
        parts.append(predicted_text(estimate))
    return parts


def pair_sentence(check: PairCheck, *, is_recommended: bool = True) -> str:
    """One sentence on how the two compare. Of drafters, those that are named after the main model are recommended."""
    if check.error is not None:
        return notice_for(check.error).sentence
    found = check.vocabularies
    if found is None and not is_recommended:
        return QCoreApplication.translate(
            "Pairs", "Its sizes fit this main model, but it is named after another one: it may seldom guess right."
        )
    if found is None:
        return QCoreApplication.translate("Pairs", "Made for this main model.")
    if not check.by_text:
        return fill(QCoreApplication.translate("Pairs", "Both know the same %1 tokens."), count(found.main_tokens))
    of = count(max(found.main_tokens, found.draft_tokens))
    if not found.differing_text_tokens:
        sentence = QCoreApplication.translate(
            "Pairs", "These two disagree on %1 of %2 tokens, none of which is text. The draft leaves them out."
        )
        return fill(sentence, count(found.differing_tokens), of)
    sentence = QCoreApplication.translate(
        "Pairs", "%1 of %2 tokens mean the same to both. The draft guesses only with these."
    )
    return fill(sentence, count(found.shared_tokens), of)


def pair_details(check: PairCheck) -> list[str]:
    """What else there is to know, a line each."""
    found = check.vocabularies
    lines = [*_vocabulary_lines(found)] if found is not None else []
    if found is not None:
        lines.append(_yes_no(check.ends_alike, *_ends_words()))
        lines.append(_yes_no(check.template_alike, *_template_words()))
    sizes = QCoreApplication.translate("Pairs", "Weights: main model %1, draft %2")
    lines.append(fill(sizes, size(check.main_bytes), size(check.draft_bytes)))
    memory = QCoreApplication.translate("Pairs", "Kept of a chat: main model %1, draft %2")
    lines.append(fill(memory, _caches(check.main_caches), _caches(check.draft_caches)))
    return lines


def _vocabulary_lines(found: Vocabularies) -> list[str]:
    words = QCoreApplication.translate("Pairs", "Vocabularies: main model %1 tokens, draft %2, shared %3")
    shared = max(found.shared_tokens, 0)
    lines = [fill(words, count(found.main_tokens), count(found.draft_tokens), count(shared))]
    example = QCoreApplication.translate("Pairs", "Token %1: “%2” to the main model, “%3” to the draft")
    lines += [fill(example, str(each.token), each.main or "–", each.draft or "–") for each in found.examples[:4]]
    if found.cut_alike:
        rules = QCoreApplication.translate("Pairs", "Both cut texts into tokens alike")
        samples = QCoreApplication.translate("Pairs", "Both cut sample texts in four languages into the same tokens")
        lines.append(samples if found.probes else rules)
    elif found.cut_alike is None and found.shared_tokens > 0:
        lines.append(QCoreApplication.translate("Pairs", "How they cut texts into tokens could not be compared"))
    return [*lines, *(_probe_line(each) for each in found.probes if not each.alike)]


def _probe_line(probe: Probe) -> str:
    language, main, draft = languages_text((probe.language,)), count(probe.main_tokens), count(probe.draft_tokens)
    if probe.main_tokens == probe.draft_tokens:
        words = QCoreApplication.translate("Pairs", "Sample text (%1): %2 tokens for each, but not the same ones")
        return fill(words, language, main)
    words = QCoreApplication.translate("Pairs", "Sample text (%1): %2 tokens for the main model, %3 for the draft")
    return fill(words, language, main, draft)


def _ends_words() -> tuple[str, str]:
    return (
        QCoreApplication.translate("Pairs", "The same tokens end a reply"),
        QCoreApplication.translate("Pairs", "Different tokens end a reply"),
    )


def _template_words() -> tuple[str, str]:
    return (
        QCoreApplication.translate("Pairs", "The same chat template"),
        QCoreApplication.translate("Pairs", "Different chat templates; the main model's is used for both"),
    )


def _yes_no(yes: bool, yes_words: str, no_words: str) -> str:
    return yes_words if yes else no_words


def _caches(kinds: tuple[CacheKind, ...]) -> str:
    words = {
        CacheKind.ROWS: QCoreApplication.translate("Pairs", "every token"),
        CacheKind.WINDOW: QCoreApplication.translate("Pairs", "a window"),
        CacheKind.STATE: QCoreApplication.translate("Pairs", "a state"),
    }
    return " + ".join(words[kind] for kind in kinds) or "–"
