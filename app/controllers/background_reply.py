"""A reply of the main model for the app itself: after the user's requests, neither from caches nor kept in them."""

from __future__ import annotations

from collections.abc import Callable

from app.bridge import EngineBridge
from engine import (
    ChatEngine,
    Event,
    Failed,
    Finished,
    Message,
    MessageRole,
    Request,
    RequestId,
    Sampling,
    SpanKind,
    Speculation,
    TextDelta,
)


class BackgroundReply:
    """One at a time. `ended` is called with its end."""

    def __init__(
        self, engine: ChatEngine, bridge: EngineBridge, ended: Callable[[Finished | Failed], None], longest: float
    ) -> None:
        """`longest`: characters after which it is cancelled."""
        self._engine = engine
        self._bridge = bridge
        self._ended = ended
        self._longest = longest
        self._request: RequestId | None = None
        self.text = ""
        bridge.text_arrived.connect(self._on_event)
        bridge.event_arrived.connect(self._on_event)

    @property
    def is_running(self) -> bool:
        return self._request is not None

    def ask(self, prompt: str, max_tokens: int) -> None:
        request = Request(
            messages=(Message(MessageRole.USER, prompt),),
            sampling=Sampling(temperature=0.0),
            speculation=Speculation.off(),
            max_tokens=max_tokens,
            transient=True,
            background=True,
        )
        self.text = ""
        self._request = self._engine.submit(request, self._bridge.post)

    def cancel(self) -> None:
        if self._request is not None:
            self._engine.cancel(self._request)

    def _on_event(self, event: Event) -> None:
        match event:
            case TextDelta(request=request, kind=SpanKind.ANSWER, text=text) if request == self._request:
                self.text += text
                if len(self.text) > self._longest:
                    self.cancel()
            case Finished(request=request) | Failed(request=request) if request == self._request:
                self._request = None
                self._ended(event)
