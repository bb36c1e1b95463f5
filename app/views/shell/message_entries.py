"""The Message menu: what can be done with the message in focus, or else with the latest of the open chat."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu, QWidget

from app.view_models.transcript import TranscriptMessage, TranscriptModel
from app.views.transcript import TranscriptView
from app.views.transcript.message_footer import add_message_acts


class MessageEntries(QObject):
    """Fills the menu each time that it is opened."""

    def __init__(
        self, menu: QMenu, view: TranscriptView, model: TranscriptModel, focused: Callable[[], QWidget | None]
    ) -> None:
        super().__init__(menu)
        self._menu = menu
        self._view = view
        self._model = model
        self._focused = focused
        menu.aboutToShow.connect(self._fill)
        for signal in (model.was_reset, model.message_inserted, model.messages_removed):
            signal.connect(self._judge)
        self._judge()

    def _judge(self) -> None:
        self._menu.menuAction().setEnabled(bool(self._model.messages))  # not the menu: its entry would stay

    def _fill(self) -> None:
        self._menu.clear()
        message = self._message()
        if message is not None:
            add_message_acts(self._menu, self._view.copier.context, message)

    def _message(self) -> TranscriptMessage | None:
        messages, row, focused = self._model.messages, self._view.focused_row(), self._focused()
        in_transcript = focused is not None and (focused is self._view or self._view.isAncestorOf(focused))
        if row is not None and row < len(messages) and in_transcript:
            return messages[row]
        return messages[-1] if messages else None
