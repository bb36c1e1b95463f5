"""A transcript on the screen for tests, with messages to put on it."""

from __future__ import annotations

from collections.abc import Callable

from app.theme import Theme
from app.view_models.transcript import ReplyStatus, TranscriptMessage, TranscriptModel
from app.views.transcript import TranscriptView
from app.views.transcript.parts import Part, PartKind
from app.views.transcript.text_parts import ReadOnlyText
from engine import DraftingState, RequestStats
from tests.helpers.stillness import still

# A gain; were its rounds as long as 329 plain ones it would be a cost.
STATS = RequestStats(
    generated_tokens=291,
    rounds=101,
    draft_rounds=100,
    drafted=268,
    accepted=190,
    drafting=DraftingState.ACTIVE,
    decode_s=5.0,
    plain_rounds=181.0,
)
PARAGRAPH = "Some words that fill a line or two of the column, so that there is something to scroll through. " * 3


def question(number: int, text: str = "") -> TranscriptMessage:
    return TranscriptMessage(number, from_user=True, text=text or f"Question {number}?")


def reply(number: int, text: str = "", status: ReplyStatus = ReplyStatus.DONE) -> TranscriptMessage:
    return TranscriptMessage(number, from_user=False, text=text, status=status, stats=STATS)


def long_chat(turns: int) -> list[TranscriptMessage]:
    messages: list[TranscriptMessage] = []
    for turn in range(turns):
        messages.append(question(2 * turn + 1))
        messages.append(reply(2 * turn + 2, f"# Reply {turn}\n\n{PARAGRAPH}\n\n- one\n- two\n\n{PARAGRAPH}"))
    return messages


class TranscriptHarness:
    """The view over its model, and how to look at it."""

    def __init__(self, messages: list[TranscriptMessage]) -> None:
        self.theme = Theme()
        self.model = TranscriptModel()
        self.model.set_messages(messages)
        self.view = TranscriptView(self.theme, self.model)
        for part in (self.theme, self.model):
            part.setParent(self.view)  # what is connected to a lambda is freed with its sender only
        self.view.resize(800, 600)
        self.view.show()
        still()
        self.settle()

    @property
    def value(self) -> int:
        return self.view.verticalScrollBar().value()

    @property
    def bottom(self) -> int:
        return self.view.verticalScrollBar().maximum()

    def scroll_to(self, value: int) -> None:
        self.view.verticalScrollBar().setValue(value)
        self.settle()

    def settle(self) -> None:
        """On a busy machine what is in sight takes several turns of the event loop to be laid out."""
        while self.view.visible_parts.has_more:
            still()

    def parts(self, kind: PartKind) -> list[Part]:
        """The parts of a kind that have a widget, from above."""
        live = [part for part, _ in self.view.visible_parts.shown() if part.kind is kind]
        return sorted(live, key=top_of)

    def texts(self) -> list[ReadOnlyText]:
        """Those that have a widget, from above."""
        parts = sorted((part for part, _ in self.view.visible_parts.shown()), key=top_of)
        return [part.selectable for part in parts if isinstance(part.selectable, ReadOnlyText)]

    def place_of(self, message_id: int, kind: PartKind) -> int:
        """Where the first part of that kind of a message is on the screen."""
        return next(top_of(part) for part in self.parts(kind) if part.message_id == message_id)


Opener = Callable[[list[TranscriptMessage]], TranscriptHarness]


def top_of(part: Part) -> int:
    assert part.widget is not None
    return part.widget.y()


def selected_words(text: ReadOnlyText) -> list[str]:
    """What is shown as selected; in a table, cell by cell."""
    return [cursor.selectedText().replace("\u2029", "\n") for cursor in text.lit_cursors]
