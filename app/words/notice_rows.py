"""One row of the tables of refusals in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.storage import StorageProblem
from app.words.notices import NoticeAction
from engine import DeleteFailed, DrafterExamined, EngineError


@dataclass(frozen=True, slots=True)
class Row:
    """`values` names the fields of the error that fill %1, %2 … of the sentence; "model" is the folder's last part."""

    kind: type[EngineError] | type[DeleteFailed] | type[DrafterExamined] | type[StorageProblem]
    title: str
    sentence: str
    hint: str = ""
    action: NoticeAction | None = None
    values: tuple[str, ...] = ()
    when: Callable[[Any], bool] = lambda _error: True  # of several rows for one error the first that holds is taken


def QT_TRANSLATE_NOOP(_context: str, source: str) -> str:  # noqa: N802 - lupdate looks for this name; Qt's own has no types
    return source


def translated(source: str) -> str:
    """The words of a row, now that they are shown."""
    return QCoreApplication.translate("Messages", source) if source else ""
