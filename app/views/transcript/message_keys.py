"""The message in focus: moving from one to the next by keys, and what screen readers hear of it."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractScrollArea

from app.view_models.transcript import TranscriptModel
from app.views.transcript.highlights import Highlights
from app.views.transcript.message_column import MessageColumn
from app.views.transcript.sight import Sight

_TOLD_CHARS = 2000


class MessageKeys:
    def __init__(
        self,
        view: QAbstractScrollArea,
        model: TranscriptModel,
        column: MessageColumn,
        sight: Sight,
        highlights: Highlights,
    ) -> None:
        self._view = view
        self._model = model
        self._column = column
        self._sight = sight
        self.highlights = highlights
        highlights.changed.connect(self.describe)
        for keys, delta in (("Ctrl+Up", -1), ("Ctrl+Down", 1)):
            shortcut = QShortcut(QKeySequence(keys), view, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(lambda delta=delta: self.step(delta))
        self.describe()

    def step(self, delta: int) -> None:
        """Moves the focus to the message before (-1) or after (+1) and brings it into sight."""
        count, focused = len(self._column.items), self.highlights.focused
        if not count:
            return
        row = self._in_sight(last=delta < 0) if focused is None else max(0, min(count - 1, focused + delta))
        self.show(row)

    def show(self, row: int) -> None:
        """Moves the focus to a message, brings it into sight and has it read."""
        self._view.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.highlights.focus(row)
        anchor = self._column.anchor_to_show(row, self._sight.top_px(), self._sight.page_px())
        if anchor is not None:
            self._sight.show_at(anchor)
        self.announce(f"{self._column.items[row].name}. {self._words(row)}")

    def describe(self) -> None:
        """Names the transcript by the message in focus and its words."""
        row = self.highlights.focused
        usual = QCoreApplication.translate("TranscriptView", "Messages")
        self._view.setAccessibleName(usual if row is None else self._column.items[row].name)
        self._view.setAccessibleDescription("" if row is None else self._words(row))

    def announce(self, words: str) -> None:
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._view, words))

    def _words(self, row: int) -> str:
        return self._model.messages[row].text[:_TOLD_CHARS]

    def _in_sight(self, *, last: bool) -> int:
        top = self._sight.top_px()
        rows = self._column.rows_between(top, top + self._sight.page_px())
        return rows[-1] if last else rows[0]
