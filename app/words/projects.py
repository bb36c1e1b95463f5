"""Files of projects in words."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.documents.problems import WhyNot
from app.words.formats import size
from app.words.notices import translated
from app.words.notices_for_errors import NOT_ATTACHED

_WITH_LIMIT = (WhyNot.TOO_LARGE, WhyNot.TOO_LONG)


def file_words(size_bytes: int, state: str, problem: str, *, is_whole: bool) -> str:
    """Its size, and what becomes of it: read whole in every chat, or searched, or why neither."""
    return " · ".join(filter(None, (size(size_bytes) if size_bytes else "", _state_words(state, problem, is_whole))))


def _state_words(state: str, problem: str, is_whole: bool) -> str:
    if state == "ready":
        if is_whole:
            return QCoreApplication.translate("ProjectFiles", "read whole in every chat")
        return QCoreApplication.translate("ProjectFiles", "searched when needed")
    if state == "unreadable":
        return _reason(problem)
    return {
        "waits": QCoreApplication.translate("ProjectFiles", "waiting"),
        "reading": QCoreApplication.translate("ProjectFiles", "being read"),
        "missing": QCoreApplication.translate("ProjectFiles", "not found where it was"),
    }[state]


def _reason(problem: str) -> str:
    if problem not in NOT_ATTACHED or problem in _WITH_LIMIT:
        return QCoreApplication.translate("ProjectFiles", "too large to read")
    return translated(NOT_ATTACHED[WhyNot(problem)][0], "Files")
