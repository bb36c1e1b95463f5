"""What tuning a pair does and has found, in words."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.view_models.tuning import AUTO, PLAIN, Content, TuningState, TuningView, Way, mean_gains
from app.words.downloads import time_left
from app.words.formats import count, exact_times, fill, labelled, listed, sentences, times
from app.words.notices_for_errors import notice_for
from app.words.replies import SEPARATOR


def way_text(way: Way) -> str:
    """Short enough to stand under a column of the chart."""
    if way == PLAIN:
        return QCoreApplication.translate("Tuning", "Plain")
    return QCoreApplication.translate("Tuning", "Auto") if way == AUTO else count(way.tokens)


def content_text(content: Content) -> str:
    return {
        Content.CODE: QCoreApplication.translate("Tuning", "Code"),
        Content.PROSE: QCoreApplication.translate("Tuning", "English prose"),
        Content.LANGUAGE: QCoreApplication.translate("Tuning", "Story"),
    }[content]


def tuning_sentence(view: TuningView) -> str:
    if view.state is TuningState.WAITING:
        return _why_it_waits(view)
    if view.state is TuningState.RUNNING:
        words = QCoreApplication.translate("Tuning", "Measuring %1 of %2…")
        done = fill(words, count(view.done_steps + 1), count(view.steps))
        return done if view.seconds_left is None else f"{done}{SEPARATOR}{time_left(view.seconds_left)}"
    result = _result(view) if view.state is TuningState.DONE else ""
    if view.is_loading:
        loading = QCoreApplication.translate("Tuning", "Loading this pair…")
        return sentences(loading, result)
    if trouble := _trouble(view):
        return sentences(trouble, result)
    return result


def _why_it_waits(view: TuningView) -> str:
    if view.spares:
        return QCoreApplication.translate("Tuning", "Waiting: this Mac is hot or saves energy.")
    return QCoreApplication.translate("Tuning", "Waiting for a reply to finish.")


def _trouble(view: TuningView) -> str:
    """Why nothing can be measured, or the last attempt brought nothing; "" where it did."""
    if view.refused is not None:
        return notice_for(view.refused).sentence
    if view.error is not None:
        notice = notice_for(view.error)
        stopped = QCoreApplication.translate("Tuning", "Stopped: a reply failed.")
        return sentences(stopped, notice.sentence, notice.hint)
    if view.too_short:
        return QCoreApplication.translate("Tuning", "Replies were too short to measure.")
    return ""


def _result(view: TuningView) -> str:
    if view.best is None:
        words = QCoreApplication.translate("Tuning", "Drafting does not pay here: %1 at best. Auto pauses it.")
        return fill(words, times(view.gain))
    if view.best == AUTO:
        words = QCoreApplication.translate("Tuning", "Auto is best: %1 plain speed.")
        return fill(words, times(view.gain))
    words = QCoreApplication.translate("Tuning", "Fastest: %1 ahead, %2 plain speed. Auto has learned this.")
    return fill(words, count(view.best.tokens), times(view.gain))


def chart_sentence(view: TuningView) -> str:
    """All of the chart, for those who do not see it."""
    return listed(*(labelled(way_text(way), exact_times(gain)) for way, gain in mean_gains(view.readings).items()))
