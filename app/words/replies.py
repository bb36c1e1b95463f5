"""A reply in words: its footer, a notice at its end, its state in the table.

Formats `RequestStats` and computes no rates of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

from PySide6.QtCore import QCoreApplication, QObject

from app.storage import ReplyStatus
from app.system.energy import Slowdown
from app.words import formats
from app.words.notices import QT_TRANSLATE_NOOP, Notice, NoticeAction, drafting_sentence, translated
from app.words.notices_for_errors import notice_for
from engine import DraftingState, EngineError, RequestStats

# Within this distance of 1× a difference is noise, and the line says that drafting neither gained nor cost.
PAR_MARGIN = 0.05
# A verdict needs this many tokens, and this share of them from drafted rounds: few words, or a mostly plain reply, say
# nothing about drafting.
VERDICT_TOKENS = 12
VERDICT_SHARE = 0.2
SEPARATOR = " · "
# of a speed-up that is only roughly known
_TENTHS_BELOW = 1.75
_HALVES_BELOW = 3.25
_LEAST_PLAIN_PASSES = 4  # fewer are not what a figure rests on
_LEAST_LOSS = 0.01  # smaller losses are not shown
_ROUNDING = 1e-6  # of a sum, which moves no figure to the next
LOOKUP = "lookup"  # the engine's name for guesses that no model makes
# By how a reply ended. One with no words that was cut short is not continued but tried again.
_ENDS = {
    ReplyStatus.INTERRUPTED: Notice(
        QT_TRANSLATE_NOOP("Messages", "Reply interrupted"),
        QT_TRANSLATE_NOOP("Messages", "It was cut short."),
        action=NoticeAction.CONTINUE,
    ),
    ReplyStatus.UNSAVED: Notice(
        QT_TRANSLATE_NOOP("Messages", "Not saved yet"),
        QT_TRANSLATE_NOOP("Messages", "Hunch keeps trying to save this reply."),
        QT_TRANSLATE_NOOP("Messages", "Free some space and keep Hunch open."),
    ),
    ReplyStatus.UNREADABLE: Notice(
        QT_TRANSLATE_NOOP("Messages", "Message unreadable"),
        QT_TRANSLATE_NOOP("Messages", "The chat file is damaged here."),
    ),
    ReplyStatus.MODEL_CHANGED: Notice(
        QT_TRANSLATE_NOOP("Messages", "Model changed"),
        QT_TRANSLATE_NOOP("Messages", "Its model was unloaded."),
        action=NoticeAction.CONTINUE,
    ),
    ReplyStatus.MEMORY: Notice(
        QT_TRANSLATE_NOOP("Messages", "Memory full"),
        QT_TRANSLATE_NOOP("Messages", "Start a new chat, or choose a smaller model."),
        action=NoticeAction.NEW_CHAT,
    ),
    ReplyStatus.CONTEXT: Notice(
        QT_TRANSLATE_NOOP("Messages", "Context full"),
        QT_TRANSLATE_NOOP("Messages", "Continue without the oldest messages, or start a new chat."),
        action=NoticeAction.CONTINUE,
        others=(NoticeAction.NEW_CHAT,),
    ),
    ReplyStatus.LENGTH: Notice(
        QT_TRANSLATE_NOOP("Messages", "Reply limit reached"),
        QT_TRANSLATE_NOOP("Messages", "Continue, or raise the limit."),
        action=NoticeAction.CONTINUE,
    ),
}
_CUT_SHORT = (ReplyStatus.INTERRUPTED, ReplyStatus.MODEL_CHANGED)


class Tone(StrEnum):
    GAIN = "gain"
    PAR = "par"
    COST = "cost"
    NONE = "none"  # nothing to compare: no draft, or not measured yet


@dataclass(frozen=True, slots=True)
class FooterLine:
    gain: str  # "1.6× faster"; "" if nothing is known
    details: str  # "38 tok/s · 71 % accepted · 2.9 tok/pass", if the user shows figures
    tone: Tone
    tooltip: str
    link: str = ""  # text of the link to drafting options, where drafting costs time
    note: str = ""  # what slowed it down, and whether it was stopped

    @property
    def text(self) -> str:
        return SEPARATOR.join(part for part in (self.gain, self.note, self.details) if part)


def reply_footer(
    stats: RequestStats | None, status: ReplyStatus, *, empty: bool, slowdown: Slowdown = Slowdown.NONE
) -> FooterLine | None:
    """`empty`: the reply has neither an answer nor thinking. `slowdown` explains why it was slow."""
    if stats is not None and stats.generated_tokens and status is not ReplyStatus.WAITS_FOR_YOU:
        line = footer_line(stats)
        stopped = _stopped_text() if status is ReplyStatus.STOPPED else ""
        return replace(line, note=SEPARATOR.join(filter(None, (slowdown_text(slowdown), stopped))))
    if status is ReplyStatus.WAITS_FOR_YOU:
        return FooterLine("", "", Tone.NONE, "", note=waits_text())
    if status is ReplyStatus.STOPPED and empty:
        return FooterLine(QCoreApplication.translate("ReplyStats", "stopped before the first word"), "", Tone.NONE, "")
    return FooterLine("", "", Tone.NONE, "", note=_stopped_text()) if status is ReplyStatus.STOPPED else None


def waits_text() -> str:
    return QCoreApplication.translate("ReplyStats", "waits for you")


def _stopped_text() -> str:
    return QCoreApplication.translate("ReplyStats", "stopped")


def footer_line(stats: RequestStats) -> FooterLine:
    tone = tone_of(stats)
    return FooterLine(gain_text(stats), details_text(stats), tone, _tooltip(stats), _link_text(stats, tone))


def slowdown_text(slowdown: Slowdown) -> str:
    match slowdown:
        case Slowdown.HOT:
            return QCoreApplication.translate("ReplyStats", "this Mac is hot")
        case Slowdown.SAVING:
            return QCoreApplication.translate("ReplyStats", "this Mac saves energy")
        case Slowdown.BATTERY:
            return QCoreApplication.translate("ReplyStats", "no drafting on battery")
        case Slowdown.NONE:
            return ""


def tone_of(stats: RequestStats) -> Tone:
    return Tone.NONE if stats.speed_up is None or not drafted_enough(stats) else factor_tone(stats.speed_up)


def drafted_enough(stats: RequestStats) -> bool:
    drafted = stats.accepted + stats.draft_rounds  # a round emits what it accepted and one token more
    return stats.generated_tokens >= VERDICT_TOKENS and drafted >= VERDICT_SHARE * stats.generated_tokens


def speed_up_text(stats: RequestStats) -> str:
    """ "1.6×", "≈2×", or a dash where there is nothing to judge by."""
    if stats.speed_up is None or tone_of(stats) is Tone.NONE:
        return "–"
    if stats.is_speed_up_certain or stats.speed_up < 1:
        return formats.times(stats.speed_up)
    return f"≈{formats.exact_times(*_rounded(stats.speed_up, stats))}"


def gain_text(stats: RequestStats) -> str:
    """The footer's verdict; none while unknown, and no gain while the draft is parked."""
    tone = tone_of(stats)
    if stats.drafting is DraftingState.PARKED and tone is not Tone.GAIN:
        return QCoreApplication.translate("ReplyStats", "no draft used: no gain here") if _was_tried(stats) else ""
    if tone is Tone.GAIN and not stats.is_speed_up_certain:
        figure = formats.number(*_rounded(stats.speed_up or 1.0, stats))
        return formats.fill(QCoreApplication.translate("ReplyStats", "about %1× faster"), figure)
    if tone is Tone.COST and not stats.is_speed_up_certain:
        return _about_slower(stats)
    return "" if tone is Tone.NONE else factor_text(stats.speed_up or 1.0)


def factor_tone(factor: float) -> Tone:
    if abs(factor - 1) <= PAR_MARGIN:
        return Tone.PAR
    return Tone.GAIN if factor > 1 else Tone.COST


def factor_text(factor: float) -> str:
    """Of a speed-up that is certain."""
    if factor_tone(factor) is Tone.PAR:
        return QCoreApplication.translate("ReplyStats", "as fast as without")
    if factor > 1:
        return formats.fill(QCoreApplication.translate("ReplyStats", "%1× faster"), formats.number(factor, 1))
    return formats.fill(QCoreApplication.translate("ReplyStats", "%1 slower"), formats.percent(min(1 - factor, 0.99)))


def _rounded(speed_up: float, stats: RequestStats) -> tuple[float, int]:
    """A gain and its decimals: a tenth, or while it is not certain a half or whole number within its interval."""
    steps = 2 if speed_up < _HALVES_BELOW else 1
    rough = round(steps * speed_up) / steps
    low, high = stats.speed_up_interval or (speed_up, speed_up)
    if stats.is_speed_up_certain or speed_up < _TENTHS_BELOW or not low <= rough <= high:
        return speed_up, 1
    return rough, int(rough != int(rough))


def _about_slower(stats: RequestStats) -> str:
    lost = min(1 - (stats.speed_up or 1.0), 0.99)
    rough = round(20 * lost) / 20
    low, high = stats.speed_up_interval or (1 - lost, 1 - lost)
    said = rough if low <= 1 - rough <= high else lost
    return formats.fill(QCoreApplication.translate("ReplyStats", "about %1 slower"), formats.percent(said))


def against_text(stats: RequestStats) -> str:
    """What the speed-up compares with, and how certain that is; nothing where nothing is compared."""
    rate = stats.plain_tokens_per_second
    if rate is None or stats.speed_up_interval is None or tone_of(stats) is Tone.NONE:
        return ""
    plain = formats.number(rate, 0 if rate >= 10 else 1)
    low, high = _interval_texts(*stats.speed_up_interval)
    if stats.plain_passes < _LEAST_PLAIN_PASSES:
        words = QCoreApplication.translate(
            "ReplyStats", "Without a draft: about %1 tok/s, measured while idle. Between %2× and %3×."
        )
        return formats.fill(words, plain, low, high)
    return formats.fill(_Passes().against(stats.plain_passes), plain, low, high)


def _interval_texts(low: float, high: float) -> tuple[str, str]:
    """Both ends rounded outwards, so that the figure, which is rounded too, lies between them."""
    decimals = 1 if high > 1 else 2
    scale = 10**decimals
    lowest = math.floor(low * scale + _ROUNDING) / scale
    highest = math.ceil(high * scale - _ROUNDING) / scale
    return formats.number(lowest, decimals), formats.number(highest, decimals)


class _Passes(QObject):
    """Plural forms are only read from the source where an object says them."""

    def against(self, passes: int) -> str:
        return self.tr("Without a draft: %1 tok/s, measured on %Ln token(s). Between %2× and %3×.", "", passes)


def break_even_text(stats: RequestStats) -> str:
    """ "2.4", or "≈2.4" while it is not certain whether drafting pays."""
    figure = formats.number(stats.break_even or 0.0, 1)
    return figure if stats.is_speed_up_certain or not stats.drafted else f"≈{figure}"


def _link_text(stats: RequestStats, tone: Tone) -> str:
    """Empty for a draft that is parked already: it costs no more time."""
    if tone is not Tone.COST or stats.drafting is DraftingState.PARKED:
        return ""
    return QCoreApplication.translate("ReplyStats", "Turn off for this pair")


def details_text(stats: RequestStats) -> str:
    parts: list[str] = []
    if stats.tokens_per_second is not None:
        rate = formats.number(stats.tokens_per_second, 0 if stats.tokens_per_second >= 10 else 1)
        parts.append(formats.fill(QCoreApplication.translate("ReplyStats", "%1 tok/s"), rate))
    if stats.accept_rate is not None and shown_drafting(stats) is not DraftingState.PARKED:  # then of a few tries only
        rate = formats.percent(stats.accept_rate)
        parts.append(formats.fill(QCoreApplication.translate("ReplyStats", "%1 accepted"), rate))
        parts.append(_per_pass_text(stats))
    return SEPARATOR.join(parts)


def _per_pass_text(stats: RequestStats) -> str:
    """Where drafting costs time, with the tokens per pass from which on it would pay."""
    each = formats.number(stats.tokens_per_pass or 0.0, 1)
    if stats.break_even is None or tone_of(stats) is not Tone.COST:
        return formats.fill(QCoreApplication.translate("ReplyStats", "%1 tok/pass"), each)
    needed = QCoreApplication.translate("ReplyStats", "%1 tok/pass (break-even: %2)")
    return formats.fill(needed, each, formats.number(stats.break_even, 1))


def shown_drafting(stats: RequestStats) -> DraftingState:
    """ACTIVE for a draft that was paused only after the reply had gained by it."""
    paused = stats.drafting is DraftingState.PARKED
    return DraftingState.ACTIVE if paused and tone_of(stats) is Tone.GAIN else stats.drafting


def is_company_why(stats: RequestStats) -> bool:
    """Whether sharing passes with other replies is why little or nothing was drafted."""
    if not stats.shared_rounds or stats.drafting in (DraftingState.NO_DRAFT, DraftingState.OFF):
        return False
    return not stats.drafted or (not drafted_enough(stats) and 2 * stats.shared_rounds > stats.rounds)


def _was_tried(stats: RequestStats) -> bool:
    """Whether a paused draft was measured, in this reply or before it."""
    return stats.drafted > 0 or stats.draft_speed > 0


def next_sentence() -> str:
    """What happens next, where too little was drafted to judge."""
    return QCoreApplication.translate("ReplyStats", "The next reply measures more.")


def source_sentence(stats: RequestStats) -> str:
    if is_company_why(stats):
        return QCoreApplication.translate("ReplyStats", "Answered together, so little was drafted.")
    if stats.proposer == LOOKUP and stats.drafted:
        return QCoreApplication.translate("ReplyStats", "Guesses come from this chat's text.")
    drafting = shown_drafting(stats)
    if drafting is DraftingState.PARKED and not _was_tried(stats):
        return next_sentence()
    if drafting is DraftingState.PARKED and 0 < stats.draft_speed <= 1 - _LEAST_LOSS:
        rests = QCoreApplication.translate("ReplyStats", "Paused: drafting would be about %1 slower.")
        return formats.fill(rests, formats.percent(1 - stats.draft_speed))
    return drafting_sentence(drafting)


def why_undrafted(stats: RequestStats) -> str:
    """Why nothing was drafted; "" if the draft was ready."""
    return "" if stats.drafting is DraftingState.ACTIVE else source_sentence(stats)


def _tooltip(stats: RequestStats) -> str:
    lines = [details_text(stats), source_sentence(stats), against_text(stats)]
    return "\n".join(line for line in lines if line)


def reply_notice(status: ReplyStatus, error: EngineError | None, *, empty: bool) -> Notice | None:
    """The notice after a reply that was cut short; `empty` as in `reply_footer`."""
    if status is ReplyStatus.FAILED and error is not None:
        return notice_for(error)
    row = _ENDS.get(status)
    if row is None:
        return None
    title, sentence, hint = map(translated, (row.title, row.sentence, row.hint))
    if empty and status in _CUT_SHORT:
        return Notice(title, sentence, action=NoticeAction.RETRY)
    return Notice(title, sentence, hint, row.action, others=row.others)


def install_notice() -> Notice:
    """Under a refusal of the starter pair."""
    return Notice(
        QCoreApplication.translate("Messages", "The starter pair knows only Hunch"),
        QCoreApplication.translate("Messages", "For anything else, install a larger model."),
        action=NoticeAction.INSTALL_MODEL,
    )


def status_text(status: ReplyStatus) -> str:
    """In the table of requests."""
    return {
        ReplyStatus.QUEUED: QCoreApplication.translate("Requests", "Waiting"),
        ReplyStatus.READING: QCoreApplication.translate("Requests", "Reading"),
        ReplyStatus.STREAMING: QCoreApplication.translate("Requests", "Writing"),
        ReplyStatus.CALLING: QCoreApplication.translate("Requests", "Using a tool"),
        ReplyStatus.WAITS_FOR_YOU: QCoreApplication.translate("Requests", "Waits for you"),
        ReplyStatus.STOPPING: QCoreApplication.translate("Requests", "Stopping…"),
        ReplyStatus.STOPPED: QCoreApplication.translate("Requests", "Stopped"),
        ReplyStatus.INTERRUPTED: QCoreApplication.translate("Requests", "Interrupted"),
        ReplyStatus.LENGTH: QCoreApplication.translate("Requests", "Length limit"),
        ReplyStatus.CONTEXT: QCoreApplication.translate("Requests", "Context full"),
        ReplyStatus.MEMORY: QCoreApplication.translate("Requests", "Memory full"),
        ReplyStatus.MODEL_CHANGED: QCoreApplication.translate("Requests", "Model changed"),
        ReplyStatus.FAILED: QCoreApplication.translate("Requests", "Failed"),
    }.get(status, QCoreApplication.translate("Requests", "Done"))


def end_sentence(status: ReplyStatus) -> str:
    """The reply's end, or that it waits, for screen readers."""
    if status is ReplyStatus.WAITS_FOR_YOU:
        return QCoreApplication.translate("ReplyEnds", "Reply waits for you.")
    if status is ReplyStatus.FAILED:
        return QCoreApplication.translate("ReplyEnds", "Reply failed.")
    if status is ReplyStatus.DONE:
        return QCoreApplication.translate("ReplyEnds", "Reply finished.")
    return QCoreApplication.translate("ReplyEnds", "Reply ended early.")


def end_sentence_elsewhere(status: ReplyStatus) -> str:
    if status is ReplyStatus.WAITS_FOR_YOU:
        return QCoreApplication.translate("ReplyEnds", "Reply waits for you in another chat.")
    if status is ReplyStatus.FAILED:
        return QCoreApplication.translate("ReplyEnds", "Reply failed in another chat.")
    if status is ReplyStatus.DONE:
        return QCoreApplication.translate("ReplyEnds", "Reply finished in another chat.")
    return QCoreApplication.translate("ReplyEnds", "Reply ended early in another chat.")
