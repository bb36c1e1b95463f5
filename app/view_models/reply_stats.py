"""The line under a reply: what drafting gained. Formats what `RequestStats` says; computes no rate of its own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QCoreApplication

from app import wording
from app.notices import drafting_sentence
from engine import DraftingState, RequestStats

# Within this distance of 1× a difference is noise, and the line says that drafting neither gained nor cost.
PAR_MARGIN = 0.05
SEPARATOR = " · "


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

    @property
    def text(self) -> str:
        return SEPARATOR.join(part for part in (self.gain, self.details) if part)


def footer_line(stats: RequestStats) -> FooterLine:
    return FooterLine(_gain_text(stats), details_text(stats), tone_of(stats), _tooltip(stats))


def tone_of(stats: RequestStats) -> Tone:
    if stats.speed_up is None:
        return Tone.NONE
    if abs(stats.speed_up - 1) <= PAR_MARGIN:
        return Tone.PAR
    return Tone.GAIN if stats.speed_up > 1 else Tone.COST


def speed_up_text(stats: RequestStats) -> str:
    """ "1.6×", or a dash until it is measured."""
    return "–" if stats.speed_up is None else f"{wording.number(stats.speed_up, 1)}×"


def _gain_text(stats: RequestStats) -> str:
    if stats.speed_up is None:
        drafts = stats.drafting in (DraftingState.ACTIVE, DraftingState.CATCHING_UP) or stats.drafted
        return QCoreApplication.translate("ReplyStats", "measuring…") if drafts else ""
    tone = tone_of(stats)
    if tone is Tone.PAR:
        return QCoreApplication.translate("ReplyStats", "same speed as without a draft")
    factor = wording.number(stats.speed_up, 1 if tone is Tone.GAIN else 2)
    if tone is Tone.GAIN:
        return wording.fill(QCoreApplication.translate("ReplyStats", "%1× faster"), factor)
    return wording.fill(QCoreApplication.translate("ReplyStats", "%1× the plain speed"), factor)


def details_text(stats: RequestStats) -> str:
    parts: list[str] = []
    if stats.tokens_per_second is not None:
        rate = wording.number(stats.tokens_per_second, 0 if stats.tokens_per_second >= 10 else 1)
        parts.append(wording.fill(QCoreApplication.translate("ReplyStats", "%1 tok/s"), rate))
    if stats.accept_rate is not None:
        rate = wording.percent(stats.accept_rate)
        parts.append(wording.fill(QCoreApplication.translate("ReplyStats", "%1 accepted"), rate))
        if stats.tokens_per_pass is not None:
            each = wording.number(stats.tokens_per_pass, 1)
            parts.append(wording.fill(QCoreApplication.translate("ReplyStats", "%1 tok/pass"), each))
    if at_rest := _at_rest_text(stats.drafting):
        parts.append(at_rest)
    return SEPARATOR.join(parts)


def _at_rest_text(drafting: DraftingState) -> str:
    """A draft that is loaded and does not draft says so; why is in the tooltip."""
    if drafting is DraftingState.PARKED:
        return QCoreApplication.translate("ReplyStats", "draft at rest")
    if drafting is DraftingState.FAILED:
        return QCoreApplication.translate("ReplyStats", "draft failed")
    if drafting is DraftingState.UNSUPPORTED:
        return QCoreApplication.translate("ReplyStats", "cannot be drafted for")
    return ""


def _tooltip(stats: RequestStats) -> str:
    lines = [drafting_sentence(stats.drafting)]
    if stats.drafted:
        kept = QCoreApplication.translate("ReplyStats", "The main model kept %1 of %2 drafted tokens, in %3 passes.")
        numbers = (wording.count(value) for value in (stats.accepted, stats.drafted, stats.rounds))
        lines.append(wording.fill(kept, *numbers))
    if stats.break_even is not None and stats.drafted:
        even = QCoreApplication.translate("ReplyStats", "Drafting pays from %1 tokens per pass on.")
        lines.append(wording.fill(even, wording.number(stats.break_even, 1)))
    return "\n".join(lines)
