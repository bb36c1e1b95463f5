"""Rows of the chat list as a screen reader says them: dots, icons and indents in words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Protocol

from PySide6.QtCore import QCoreApplication

from app.words.chat_groups import ChatGroup, group_text
from app.words.formats import count, fill, listed


class Row(Protocol):
    @property
    def chat_id(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def generating(self) -> bool: ...
    @property
    def pinned(self) -> bool: ...
    @property
    def unseen(self) -> bool: ...
    @property
    def snippet(self) -> str: ...
    @property
    def opened(self) -> bool: ...
    @property
    def depth(self) -> int: ...
    @property
    def group(self) -> ChatGroup | date | None: ...


def spoken_row(row: Row) -> str:
    if row.group is not None:
        return group_text(row.group)
    details = [row.title, *_states(row)]
    if row.depth:
        details.append(fill(QCoreApplication.translate("ChatRows", "level %1"), count(row.depth + 1)))
    return listed(*details)


def _states(row: Row) -> Iterator[str]:
    if not row.chat_id:
        yield (
            QCoreApplication.translate("ChatRows", "open folder")
            if row.opened
            else QCoreApplication.translate("ChatRows", "closed folder")
        )
    if row.pinned:
        yield QCoreApplication.translate("ChatRows", "pinned")
    if row.generating:
        yield QCoreApplication.translate("ChatRows", "writing a reply")
    if row.unseen:
        yield QCoreApplication.translate("ChatRows", "new reply")
    yield row.snippet
