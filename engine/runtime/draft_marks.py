"""Which characters of a reply come from accepted drafted tokens, and what a draft had where it was rejected.

Works from rounds alone, so it is the same for every proposer. Plain rounds leave no marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.api.types import DraftMark, SpanKind
from engine.decoding.accept import integers
from engine.decoding.round import Round
from engine.decoding.sources import Run
from engine.decoding.text import Span

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel

_ACCEPTED = DraftMark(0, 0)
_PART_OF_A_CHARACTER = "\ufffd"
_LONGEST_WORD = 40  # characters


class DraftMarks:
    def __init__(self, model: LoadedModel) -> None:
        self._model = model
        self._origins: dict[int, DraftMark] = {}  # by index of the token in the reply; start and end are 0
        self._chars = dict.fromkeys(SpanKind, 0)  # posted so far

    def note(self, done: Round, first: int, number: int, before: int) -> None:
        """Round `number` emitted the reply's tokens from index `first` on; `before` is the token before the rejected
        one.
        """
        for place in range(done.accepted):
            self._origins[first + place] = _ACCEPTED
        if done.accepted < done.drafted:
            wanted = self._word(integers(done.draft.tokens)[done.accepted], before)
            origin = DraftMark(0, 0, wanted, done.accepted + 1, done.drafted, number)
            self._origins[first + done.accepted] = origin

    def place(self, kind: SpanKind, spans: Sequence[Span]) -> tuple[DraftMark, ...]:
        """The marks in the next text of this kind."""
        segments: list[tuple[int, int, DraftMark]] = []  # (start, end, origin)
        posted = 0
        for run in (run for span in spans for run in span.runs):
            start = self._chars[kind]
            self._chars[kind] = end = start + run.chars
            origin = self._origin(run)
            if origin is None:
                continue
            if segments and segments[-1][1:] == (start, origin):
                start = segments.pop()[0]
            segments.append((start, end, origin))
            posted = run.first
        self._forget_before(posted)
        return tuple(
            DraftMark(start, end, origin.wanted, origin.position, origin.drafted, origin.round)
            for start, end, origin in segments
        )

    def _origin(self, run: Run) -> DraftMark | None:
        """A character is accepted only if all of its tokens were."""
        origins = [self._origins.get(number) for number in range(run.first, run.end)]
        overruled = next((each for each in origins if each is not None and each is not _ACCEPTED), None)
        return overruled or (_ACCEPTED if all(origins) else None)

    def _forget_before(self, number: int) -> None:
        for old in [each for each in self._origins if each < number]:
            del self._origins[old]

    def _word(self, token: int, before: int) -> str:
        """The token's text after the token before it; at the start of a text many tokenizers drop a space."""
        if token in self._model.ends:
            return ""
        try:
            whole, start = (self._model.tokenizer.decode(tokens) for tokens in ([before, token], [before]))
        except Exception:  # noqa: BLE001  a third-party tokenizer may raise anything; the word is optional
            return _PART_OF_A_CHARACTER
        word: str = whole.removeprefix(start)
        return word.strip(_PART_OF_A_CHARACTER)[:_LONGEST_WORD] or _PART_OF_A_CHARACTER
