"""How many tokens texts are: counted by the engine, between its steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.controllers.models import ModelController
from app.system.worker import Deliver
from app.view_models.model_list import PairState
from engine import ChatEngine, Event, TokensCounted

_Counted = tuple[str, str]  # by which main model, which text


def count_tokens(engine: ChatEngine, deliver: Deliver, text: str, done: Callable[[int | None], None]) -> None:
    """`done` gets the tokens of the loaded main model; None: it was refused."""

    def hear(event: Event) -> None:
        tokens = event.tokens if isinstance(event, TokensCounted) and event.error is None else None
        deliver(partial(done, tokens))

    engine.count_tokens(text, hear)


class TypedTokens(QObject):
    """How many tokens a text is, such as that in the composer.

    One count at a time, of what is there when the one before it is answered. Without a loaded model nothing is counted.
    """

    changed = Signal(int)

    def __init__(self, engine: ChatEngine, deliver: Deliver, models: ModelController, parent: QObject) -> None:
        super().__init__(parent)
        self._engine = engine
        self._deliver = deliver
        self._models = models
        self._text = ""  # as it is now
        self._is_counting = False
        self._last_counted: _Counted = ("", "")
        self.tokens = 0
        models.pair_changed.connect(self._go_on)

    def count(self, text: str) -> None:
        """Not to be called with every key: the composer does when the last one is a moment ago."""
        self._text = text.encode("utf-8", "replace").decode("utf-8")
        self._go_on()

    def _go_on(self) -> None:
        info = self._models.main_info()
        if not self._text.strip():
            self._report(("", ""), 0)
        elif self._is_counting:
            return
        elif info is not None and self._models.pair.state is PairState.READY:
            wanted = info.folder, self._text
            if wanted != self._last_counted:
                self._is_counting = True
                count_tokens(self._engine, self._deliver, self._text, partial(self._on_counted, wanted))
        elif self._text != self._last_counted[1]:
            self._report(("", ""), 0)  # what is known is another text's

    def _on_counted(self, counted: _Counted, tokens: int | None) -> None:
        self._is_counting = False
        if counted[1] == self._text:
            self._report(counted, self.tokens if tokens is None else tokens)  # a refusal is not asked again
        self._go_on()

    def _report(self, counted: _Counted, tokens: int) -> None:
        self._last_counted = counted
        if tokens != self.tokens:
            self.tokens = tokens
            self.changed.emit(tokens)
