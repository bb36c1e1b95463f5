"""Speculation in plain words: what the inspector says of a reply, and what each figure means.

Formats what `RequestStats` says and computes no rate of its own. The meanings are worded here and nowhere else.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QCoreApplication

from app.words import formats
from app.words.notices import QT_TRANSLATE_NOOP
from app.words.pairs import PairGain
from app.words.pairs import gain_text as pair_gain_text
from app.words.replies import (
    Tone,
    against_text,
    break_even_text,
    drafted_enough,
    gain_text,
    next_sentence,
    source_sentence,
    tone_of,
)
from engine import DraftingState, RequestStats

MOST_POSITIONS = 8
_LEAST_PASSES = 3  # that a chart is drawn of
_LEAST_SAVED_S = 0.05  # less is no figure
NOT_KNOWN = "–"
_MEANINGS = (
    (
        QT_TRANSLATE_NOOP("Inspector", "Pass"),
        QT_TRANSLATE_NOOP(
            "Inspector",
            "One check: the main model keeps the guesses before the first mismatch and adds a token.",
        ),
    ),
    (
        QT_TRANSLATE_NOOP("Inspector", "Accept rate"),
        QT_TRANSLATE_NOOP("Inspector", "Share of guesses kept."),
    ),
    (
        QT_TRANSLATE_NOOP("Inspector", "Tokens per pass"),
        QT_TRANSLATE_NOOP("Inspector", "Without a draft: 1."),
    ),
    (
        QT_TRANSLATE_NOOP("Inspector", "Break-even"),
        QT_TRANSLATE_NOOP("Inspector", "Above this, replies are faster."),
    ),
    (
        QT_TRANSLATE_NOOP("Inspector", "Faster, slower"),
        QT_TRANSLATE_NOOP("Inspector", "Speed with the draft against without, on this Mac."),
    ),
    (
        QT_TRANSLATE_NOOP("Inspector", "Accepted by position"),
        QT_TRANSLATE_NOOP("Inspector", "Share kept, once all before were."),
    ),
)


def headline(stats: RequestStats | None, *, running: bool) -> str:
    """ "1.6× faster"; where nothing can be judged, why not in a word or two."""
    if stats is None:
        return QCoreApplication.translate("Inspector", "No reply yet")
    said = gain_text(stats)
    if said:
        return said
    if not stats.generated_tokens:
        return "" if running else QCoreApplication.translate("Inspector", "Nothing was written")
    if running and stats.drafting in (DraftingState.ACTIVE, DraftingState.CATCHING_UP):
        return QCoreApplication.translate("Inspector", "Measuring…")
    if stats.shared_rounds and not stats.drafted:
        return QCoreApplication.translate("Inspector", "Answered together")
    if stats.drafted and drafted_enough(stats):
        unclear = QCoreApplication.translate("Inspector", "Too close to call")
    else:
        unclear = QCoreApplication.translate("Inspector", "Too short to judge")
    return {
        DraftingState.OFF: QCoreApplication.translate("Inspector", "Drafting is off"),
        DraftingState.NO_DRAFT: QCoreApplication.translate("Inspector", "No draft"),
        DraftingState.BATCHED: QCoreApplication.translate("Inspector", "Answered together"),
        DraftingState.UNSUPPORTED: QCoreApplication.translate("Inspector", "Drafting not supported"),
        DraftingState.FAILED: QCoreApplication.translate("Inspector", "The draft failed"),
    }.get(stats.drafting, unclear)


def measured_against(stats: RequestStats | None, pair_gain: PairGain | None = None) -> str:
    """What the headline compares with; where it compares nothing, what this pair brings elsewhere."""
    if stats is None:
        return ""
    known = against_text(stats)
    if known or pair_gain is None or not stats.generated_tokens:
        return known
    return formats.fill(QCoreApplication.translate("Inspector", "This pair: %1."), pair_gain_text(pair_gain))


def plain_sentence(stats: RequestStats | None) -> str:
    """The result in one sentence."""
    if stats is None:
        return QCoreApplication.translate("Inspector", "Send a message first.")
    if not stats.generated_tokens:
        return ""
    if not stats.drafted or tone_of(stats) is Tone.NONE:
        return _why_not(stats)
    words = QCoreApplication.translate("Inspector", "%1 of guesses were right.")
    return formats.fill(words, formats.percent(stats.accept_rate or 0.0))


def _why_not(stats: RequestStats) -> str:
    """The reason; what happens next where the headline has it."""
    too_short = not drafted_enough(stats) and stats.drafting is not DraftingState.PARKED
    return next_sentence() if stats.drafted and (too_short or stats.speed_up is None) else source_sentence(stats)


def has_charts(stats: RequestStats) -> bool:
    """Whether enough passes verified a draft for charts."""
    return stats.drafted > 0 and stats.draft_rounds >= _LEAST_PASSES


def positions_words(stats: RequestStats) -> str:
    """The chart as text, for those who cannot see it."""
    words = QCoreApplication.translate("Inspector", "position %1: %2")
    return formats.listed(
        *(
            formats.fill(words, formats.count(number), formats.percent(rate))
            for number, rate in enumerate(stats.accept_rate_by_position[:MOST_POSITIONS], start=1)
        )
    )


def passes_words(stats: RequestStats) -> str:
    words = QCoreApplication.translate("Inspector", "%1 accepted: %2 of the passes")
    return formats.listed(
        *(
            formats.fill(words, formats.count(number), formats.percent(share))
            for number, share in enumerate(stats.share_by_accepted)
        )
    )


def break_even_words(stats: RequestStats) -> str:
    if stats.break_even is None:
        return ""
    words = QCoreApplication.translate("Inspector", "break-even %1")
    return formats.fill(words, break_even_text(stats))


def time_parts(stats: RequestStats) -> list[tuple[str, float]]:
    """The names of the parts and their seconds, in the order in which they are shown."""
    return [
        (QCoreApplication.translate("Inspector", "draft"), stats.draft_s),
        (QCoreApplication.translate("Inspector", "main model"), stats.verify_s),
        (QCoreApplication.translate("Inspector", "other"), stats.other_s),
    ]


def time_words(stats: RequestStats) -> str:
    names = [name for name, _ in time_parts(stats)]
    return formats.listed(*(f"{name} {share}" for name, share in zip(names, time_shares(stats), strict=True)))


def time_shares(stats: RequestStats) -> list[str]:
    """Each part's percentage, rounded so that they add up to 100."""
    seconds = [part_s for _, part_s in time_parts(stats)]
    if sum(seconds) <= 0:
        return [NOT_KNOWN] * len(seconds)
    exact = [100 * part_s / sum(seconds) for part_s in seconds]
    whole = [math.floor(each) for each in exact]
    for part in sorted(range(len(exact)), key=lambda part: whole[part] - exact[part])[: 100 - sum(whole)]:
        whole[part] += 1
    return [formats.percent(each / 100) for each in whole]


def over_time_words(stats: RequestStats) -> str:
    values = stats.tokens_per_pass_over_time
    if not values:
        return ""
    words = QCoreApplication.translate("Inspector", "first %1, last %2, from %3 to %4")
    figures = (values[0], values[-1], min(values), max(values))
    return formats.fill(words, *(formats.number(value, 1) for value in figures))


def saved_text(stats: RequestStats) -> str:
    """ "4.2 s saved" or "1.3 s lost"; a dash where there is nothing to judge by."""
    if stats.saved_s is None or tone_of(stats) is Tone.NONE or abs(stats.saved_s) < _LEAST_SAVED_S:
        return NOT_KNOWN
    saved = QCoreApplication.translate("Inspector", "%1 s saved")
    lost = QCoreApplication.translate("Inspector", "%1 s lost")
    seconds = abs(stats.saved_s)
    return formats.fill(saved if stats.saved_s >= 0 else lost, formats.number(seconds, 0 if seconds >= 100 else 1))


def question() -> str:
    return QCoreApplication.translate("Inspector", "What do these mean?")


def meanings() -> list[tuple[str, str]]:
    """Each figure's name and what it means."""
    translate = QCoreApplication.translate
    return [(translate("Inspector", name), translate("Inspector", meaning)) for name, meaning in _MEANINGS]
