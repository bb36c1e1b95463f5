"""Requests of other programs: their events reach the app too, and they are rows of the table of requests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.bridge import EngineBridge
from app.controllers.replies import status_after
from app.storage import ReplyStatus
from app.view_models.request_table import RequestRow, RequestTableModel
from app.words.model_names import ARROW
from engine import (
    ChatEngine,
    Event,
    Failed,
    Finished,
    PromptProgress,
    Queued,
    Request,
    RequestId,
    Sink,
    TextDelta,
    TokensScored,
)

NUMBERS_INTERVAL_MS = 100


class WatchedEngine:
    """The engine, but that the app gets the events of requests as well, but for TokensScored."""

    def __init__(self, engine: ChatEngine, post: Sink) -> None:
        self._engine = engine
        self._post = post
        self.programs: set[RequestId] = set()  # requests that came by here and have not ended

    def submit(self, request: Request, sink: Sink) -> RequestId:
        def hear(event: Event) -> None:
            self.programs.add(_request_of(event))
            sink(event)
            if not isinstance(event, TokensScored):
                self._post(event)

        return self._engine.submit(request, hear)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


class ProgramRequests(QObject):
    """Requests of other programs as rows of the table, for as long as the app runs."""

    asked = Signal()  # the first of several began, or the last ended

    def __init__(
        self,
        engine: ChatEngine,
        programs: set[RequestId],
        bridge: EngineBridge,
        table: RequestTableModel,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._programs = programs
        self._table = table
        self._rows: dict[RequestId, RequestRow] = {}
        self._timer = QTimer(self, singleShot=True, interval=NUMBERS_INTERVAL_MS)
        self._timer.timeout.connect(self._show)
        bridge.text_arrived.connect(self._on_event)
        bridge.event_arrived.connect(self._on_event)

    @property
    def is_asked(self) -> bool:
        return bool(self._rows)

    def _on_event(self, event: Event) -> None:
        request = _request_of(event)
        if request not in self._programs:
            if isinstance(event, Queued | Finished | Failed):  # theirs pause for it, or go on
                self._show_soon()
            return
        row = self._rows.get(request) or self._new_row(request)
        match event:
            case PromptProgress():
                row = replace(row, status=ReplyStatus.READING)
            case TextDelta(stats=stats):
                row = replace(row, status=ReplyStatus.STREAMING, stats=stats)
            case Finished(reason=reason, stats=stats):
                row = replace(row, status=status_after(reason), stats=stats)
            case Failed(stats=stats):
                row = replace(row, status=ReplyStatus.FAILED, stats=stats)
        begins = not self._rows
        self._rows[request] = row
        if begins:
            self.asked.emit()
        if isinstance(event, Finished | Failed):
            self._programs.discard(request)
            self._table.put(self._rows.pop(request))
            if not self._rows:
                self.asked.emit()
        else:
            self._show_soon()

    def _show_soon(self) -> None:
        if self._rows and not self._timer.isActive():
            self._timer.start()

    def _new_row(self, request: RequestId) -> RequestRow:
        state = self._engine.state()
        names = [model.name for model in (state.main, state.draft) if model is not None]
        return RequestRow(request, "", ARROW.join(names), of_program=True)

    def _show(self) -> None:
        pauses = bool(self._engine.state().foreground)
        for row in self._rows.values():
            self._table.put(replace(row, pauses=pauses and row.status is not ReplyStatus.QUEUED))


def _request_of(event: Event) -> RequestId:
    """The request that the event belongs to; 0 if to none."""
    return RequestId(getattr(event, "request", 0))
