"""A race in words: the two lanes, how far they are, and the verdict."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QObject

from app.view_models.race import Lap, LapState, RaceState, RaceView
from app.words import formats
from app.words.replies import why_undrafted

_PAR = 0.03  # of a whole: less is noise
_FINE_BELOW_S = 10.0  # shorter times are told to the hundredth: what they differ by is a part of a second


def lane_name(number: int) -> str:
    return (
        QCoreApplication.translate("Race", "Without the draft"),
        QCoreApplication.translate("Race", "With the draft"),
    )[number]


def lap_text(lap: Lap) -> str:
    if lap.state is LapState.WAITING:
        return QCoreApplication.translate("Race", "waiting for its turn")
    if lap.state is LapState.LEFT_OUT:
        return QCoreApplication.translate("Race", "not written")
    figures = QCoreApplication.translate("Race", "%1 · %2 s · %3 tok/s")
    rate = lap.stats.tokens_per_second
    return formats.fill(
        figures,
        _RaceCounts().tokens(lap.stats.generated_tokens),
        formats.number(lap.stats.decode_s, _decimals(lap)),
        formats.number(rate, 0 if rate >= 10 else 1) if rate is not None else "–",
    )


def _decimals(*laps: Lap) -> int:
    return 2 if max(lap.stats.decode_s for lap in laps) < _FINE_BELOW_S else 1


def _apart(view: RaceView) -> str:
    """By how many seconds the last tokens were apart, counted from the first; by the times that stand above them."""
    decimals = _decimals(*view.laps)
    one, other = (round(lap.stats.decode_s, decimals) for lap in view.laps)
    return formats.number(abs(one - other), decimals)


def race_sentence(view: RaceView) -> str:
    return {
        RaceState.IDLE: QCoreApplication.translate(
            "Race",
            "One prompt, written twice with the same seed. One after the other: at the same time the two would share"
            " their passes, and neither would draft.",
        ),
        RaceState.RUNNING: QCoreApplication.translate("Race", "The two are written one after the other."),
        RaceState.WAITING: QCoreApplication.translate("Race", "A reply is being written; the race goes on after it."),
        RaceState.CANCELLED: QCoreApplication.translate("Race", "The race was stopped."),
        RaceState.FAILED: QCoreApplication.translate("Race", "The prompt could not be written; the log says why."),
        RaceState.DONE: "",
    }[view.state] or verdict(view)


def verdict(view: RaceView) -> str:
    return formats.sentences(_words(view), _time(view))


def _words(view: RaceView) -> str:
    if view.identical:
        return _RaceCounts().identical(len(view.laps[0].tokens))
    differ = QCoreApplication.translate(
        "Race",
        "The words differ from token %1 on. Rounding can do that where two tokens are as good as tied; "
        "if it happens often, please report it.",
    )
    pairs = zip(*(lap.tokens for lap in view.laps), strict=False)
    first = next((at for at, (one, other) in enumerate(pairs, start=1) if one != other), None)
    return formats.fill(differ, formats.count(first or min(len(lap.tokens) for lap in view.laps) + 1))


class _RaceCounts(QObject):
    """Plural forms are only read from the source where an object says them."""

    def tokens(self, number: int) -> str:
        return self.tr("%Ln token(s)", "written", number)

    def identical(self, number: int) -> str:
        return self.tr("The same words: all %Ln token(s) are identical.", "", number)


def _time(view: RaceView) -> str:
    factor, drafted = view.factor, view.laps[1].stats
    if factor is None:
        return QCoreApplication.translate("Race", "Too short to tell a speed.")
    if not drafted.drafted:
        nothing = QCoreApplication.translate(
            "Race", "Nothing was drafted the second time, so this says nothing about the draft."
        )
        return formats.sentences(nothing, why_undrafted(drafted))
    seconds = _apart(view)
    if abs(factor - 1) <= _PAR or seconds == formats.number(0, _decimals(*view.laps)):
        return QCoreApplication.translate("Race", "Both took the same time.")
    if factor > 1:
        saved = QCoreApplication.translate("Race", "The draft saved %1 s: %2× as fast.")
        return formats.fill(saved, seconds, formats.number(factor, 1))
    lost = QCoreApplication.translate("Race", "The draft cost %1 s: %2 of the speed without it.")
    return formats.fill(lost, seconds, formats.percent(factor))
