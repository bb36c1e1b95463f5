"""The line under a reply: what drafting gained. Formats what `RequestStats` says; computes no rate of its own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QCoreApplication

from app.words import formats
from app.words.notices import drafting_sentence
from engine import DraftingState, RequestStats

# Within this distance of 1× a difference is noise, and the line says that drafting neither gained nor cost.
PAR_MARGIN = 0.05
# A verdict needs this many tokens, and this share of them from rounds that drafted: the pace of a few words, or of a
# reply that was written plainly but for one probe, says nothing about drafting.
VERDICT_TOKENS = 12
VERDICT_SHARE = 0.2
SEPARATOR = " · "
_LEAST_LOSS = 0.01  # what is less is not worth a figure
_LOOKUP = "lookup"  # the engine's name for guesses that no model makes


class Tone(StrEnum):
    GAIN = "gain"
    PAR = "par"
    COST = "cost"
    NONE = "none"  # nothing to compare: no draft, or not measured yet


@dataclass(frozen=True, slots=True)
class FooterLine:
    gain: str  # "1.6× faster"; empty when there is nothing to say
    details: str  # "38 tok/s · 71 % accepted · 2.9 tok/pass"
    tone: Tone
    tooltip: str
    way_out: str = ""  # what to press when drafting costs time

    @property
    def text(self) -> str:
        return SEPARATOR.join(part for part in (self.gain, self.details) if part)


def footer_line(stats: RequestStats, *, running: bool = False) -> FooterLine:
    gain, tone = _gain_text(stats, running), tone_of(stats)
    return FooterLine(gain, details_text(stats), tone, _tooltip(stats), _way_out(stats, tone))


def stopped_line() -> FooterLine:
    """Under a reply that was stopped before it began, which would be an empty place."""
    words = QCoreApplication.translate("ReplyStats", "stopped before the first word")
    return FooterLine("", words, Tone.NONE, "")


def tone_of(stats: RequestStats) -> Tone:
    if stats.speed_up is None or not _drafted_enough(stats):
        return Tone.NONE
    if abs(stats.speed_up - 1) <= PAR_MARGIN:
        return Tone.PAR
    return Tone.GAIN if stats.speed_up > 1 else Tone.COST


def _drafted_enough(stats: RequestStats) -> bool:
    drafted = stats.accepted + stats.draft_rounds  # a round emits what it accepted and one token more
    return stats.generated_tokens >= VERDICT_TOKENS and drafted >= VERDICT_SHARE * stats.generated_tokens


def speed_up_text(stats: RequestStats) -> str:
    """ "1.6×", or a dash where there is nothing to judge by."""
    if stats.speed_up is None or tone_of(stats) is Tone.NONE:
        return "–"
    return f"{formats.number(max(stats.speed_up, 0.01), 1 if stats.speed_up >= 1 else 2)}×"


def _gain_text(stats: RequestStats, running: bool) -> str:
    tone = tone_of(stats)
    if stats.speed_up is None or tone is Tone.NONE:
        drafts = stats.drafting in (DraftingState.ACTIVE, DraftingState.CATCHING_UP)
        return QCoreApplication.translate("ReplyStats", "measuring…") if running and drafts else ""
    if tone is Tone.PAR:
        return QCoreApplication.translate("ReplyStats", "same speed as without a draft")
    if tone is Tone.GAIN:
        factor = formats.number(stats.speed_up, 1)
        return formats.fill(QCoreApplication.translate("ReplyStats", "%1× faster"), factor)
    lost = formats.percent(min(1 - stats.speed_up, 0.99))
    return formats.fill(QCoreApplication.translate("ReplyStats", "%1 slower"), lost)


def _way_out(stats: RequestStats, tone: Tone) -> str:
    """A draft at rest has found its own."""
    if tone is not Tone.COST or stats.drafting is DraftingState.PARKED:
        return ""
    return QCoreApplication.translate("ReplyStats", "Change drafting…")


def details_text(stats: RequestStats) -> str:
    parts: list[str] = []
    if stats.tokens_per_second is not None:
        rate = formats.number(stats.tokens_per_second, 0 if stats.tokens_per_second >= 10 else 1)
        parts.append(formats.fill(QCoreApplication.translate("ReplyStats", "%1 tok/s"), rate))
    if stats.accept_rate is not None:
        rate = formats.percent(stats.accept_rate)
        parts.append(formats.fill(QCoreApplication.translate("ReplyStats", "%1 accepted"), rate))
        parts.append(_per_pass_text(stats))
    if at_rest := _at_rest_text(stats.drafting):
        parts.append(at_rest)
    return SEPARATOR.join(parts)


def _per_pass_text(stats: RequestStats) -> str:
    """With what would have been needed, where it was not enough."""
    each = formats.number(stats.tokens_per_pass or 0.0, 1)
    if stats.break_even is None or tone_of(stats) is not Tone.COST:
        return formats.fill(QCoreApplication.translate("ReplyStats", "%1 tok/pass"), each)
    needed = QCoreApplication.translate("ReplyStats", "%1 tok/pass, pays from %2")
    return formats.fill(needed, each, formats.number(stats.break_even, 1))


def _at_rest_text(drafting: DraftingState) -> str:
    """A draft that is loaded and does not draft says so; why is in the tooltip."""
    if drafting is DraftingState.PARKED:
        return QCoreApplication.translate("ReplyStats", "draft at rest")
    if drafting is DraftingState.FAILED:
        return QCoreApplication.translate("ReplyStats", "draft failed")
    if drafting is DraftingState.UNSUPPORTED:
        return QCoreApplication.translate("ReplyStats", "cannot be drafted for")
    return ""


def _source_sentence(stats: RequestStats) -> str:
    if stats.drafting is DraftingState.ACTIVE and stats.proposer == _LOOKUP:
        return QCoreApplication.translate("ReplyStats", "The guesses are taken from the text of this chat.")
    if stats.drafting is DraftingState.PARKED and 0 < stats.draft_speed <= 1 - _LEAST_LOSS:
        rests = QCoreApplication.translate(
            "ReplyStats", "Drafting was %1 slower than plain decoding here, so it rests."
        )
        return formats.fill(rests, formats.percent(1 - stats.draft_speed))
    return drafting_sentence(stats.drafting)


def _tooltip(stats: RequestStats) -> str:
    lines = [_source_sentence(stats)]
    if stats.drafted:
        kept = QCoreApplication.translate("ReplyStats", "The main model kept %1 of %2 drafted tokens, in %3 passes.")
        numbers = (formats.count(value) for value in (stats.accepted, stats.drafted, stats.rounds))
        lines.append(formats.fill(kept, *numbers))
    if stats.break_even is not None and _drafted_enough(stats):
        even = QCoreApplication.translate("ReplyStats", "Drafting pays from %1 tokens per pass on.")
        lines.append(formats.fill(even, formats.number(stats.break_even, 1)))
    return "\n".join(lines)
