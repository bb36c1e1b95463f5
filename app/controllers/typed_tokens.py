"""How many tokens the words in the composer are, for the context meter: counted by the engine between its steps.

One count at a time, of what is there when the one before it is answered. Without a loaded model nothing is counted.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.models import ModelController
from app.view_models.model_list import PairState
from engine import ChatEngine, CountId, Event, TokensCounted

_Counted = tuple[str, str]  # by which main model, which text


class TypedTokens(QObject):
    changed = Signal(int)

    def __init__(self, engine: ChatEngine, bridge: EngineBridge, models: ModelController, parent: QObject) -> None:
        super().__init__(parent)
        self._engine, self._bridge, self._models = engine, bridge, models
        self._text = ""  # as it is now
        self._asked: tuple[CountId, _Counted] | None = None  # under way
        self._told: _Counted = ("", "")
        self.tokens = 0
        bridge.event_arrived.connect(self._on_event)
        models.pair_changed.connect(self._go_on)

    def count(self, text: str) -> None:
        """Not to be called with every key: the composer does when the last one is a moment ago."""
        self._text = text.encode("utf-8", "replace").decode("utf-8")
        self._go_on()

    def _go_on(self) -> None:
        info = self._models.main_info()
        if not self._text.strip():
            self._tell(("", ""), 0)
        elif self._asked is None and info is not None and self._models.pair.state is PairState.READY:
            wanted = info.folder, self._text
            if wanted != self._told:
                self._asked = self._engine.count_tokens(self._text, self._bridge.post), wanted

    def _on_event(self, event: Event) -> None:
        if isinstance(event, TokensCounted) and self._asked is not None and event.count == self._asked[0]:
            (_, counted), self._asked = self._asked, None
            if counted[1] == self._text:
                self._tell(counted, self.tokens if event.error else event.tokens)  # a refusal is not asked again
            self._go_on()

    def _tell(self, counted: _Counted, tokens: int) -> None:
        self._told = counted
        if tokens != self.tokens:
            self.tokens = tokens
            self.changed.emit(tokens)
