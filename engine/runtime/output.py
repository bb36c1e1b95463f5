"""The output of one reply: where it ends, and the events of its text. Engine thread only.

Text comes with statistics and draft marks; tool calls and log-probabilities have events of their own. The reply's other
events are in `reply.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from collections.abc import Sequence as Tokens
from dataclasses import replace
from itertools import groupby

import mlx.core as mx

from engine.api.events import Sink, TextDelta, TokensScored, ToolCalled
from engine.api.stats import StatsRecorder
from engine.api.types import (
    DraftMark,
    FinishReason,
    Message,
    MessageRole,
    Request,
    RequestId,
    RoundTrace,
    SpanKind,
    TokenScore,
    ToolCall,
)
from engine.decoding.accept import integers
from engine.decoding.prompt import Prompt
from engine.decoding.round import Round
from engine.decoding.scores import Score, Scores
from engine.decoding.sequence import Sequence
from engine.decoding.sources import Run
from engine.decoding.text import TextDecoder, TextSpan
from engine.decoding.tool_calls import ToolSyntax
from engine.decoding.turns import goes_on, takes_several
from engine.models.loading import LoadedModel
from engine.runtime.requests import context_limit

_ACCEPTED = DraftMark(0, 0)
_PART_OF_A_CHARACTER = "\ufffd"
_LONGEST_WORD = 40  # characters


class Output:
    """For each round call `ending` with its tokens before they are committed, then `take` and `post_text`."""

    def __init__(self, request_id: RequestId, request: Request, sink: Sink, sequence: Sequence, prompt: Prompt) -> None:
        model = sequence.model
        self.text = _text_of(request, model, prompt)
        self.limit_tokens = context_limit(request, model.info.context_tokens)  # of prompt and reply
        self.tokens: list[int] = []
        self.reason: FinishReason | None = None  # set once the last token is drawn
        self.calls: list[ToolCall] = []
        self.trace: list[RoundTrace] = []  # filled if the request has `trace`
        self.scores = ReplyScores(model.ends, prompt, request) if prompt.spelling is not None else None
        self._id = request_id
        self._sink = sink
        self._sequence = sequence
        self._request = request
        self._ends = model.ends
        self._most = min(request.max_tokens or self.limit_tokens, self.limit_tokens - len(prompt.tokens))
        self._spans: list[TextSpan] = []
        self._marks = DraftMarks(model)
        self._said = dict.fromkeys(SpanKind, "")  # filled if the request has tools

    @property
    def message(self) -> Message:
        """The reply to a request with tools, as far as it is posted."""
        said = self._said
        return Message(MessageRole.ASSISTANT, said[SpanKind.ANSWER], said[SpanKind.THINKING], tuple(self.calls))

    @property
    def room(self) -> int:
        """Tokens that may still be emitted."""
        return self._most - len(self.tokens)

    def ending(self, emitted: Tokens[int]) -> int:
        """Turn a round's tokens into text; returns how many of them to keep (fewer at the reply's end)."""
        for count, token in enumerate(emitted, start=1):
            self.reason = self._ending_at(token, count)
            if self.reason is not None:
                return count
        return len(emitted)

    def _ending_at(self, token: int, count: int) -> FinishReason | None:
        """Why `token`, the round's `count`th, is the reply's last; None if it is not."""
        if token in self._ends:
            return FinishReason.STOP
        self._spans.extend(self.text.push(token))
        if self.text.stopped:
            return FinishReason.STOP
        if count < self.room:
            return None
        return FinishReason.LENGTH if self._most == self._request.max_tokens else FinishReason.CONTEXT

    def take(self, done: Round, number: int, source: str) -> None:
        """Round `number`, in which `source` drafted, is committed. Posts the log-probabilities of its tokens."""
        committed = self._sequence.tokens
        if done.drafted:
            ahead = committed[done.accepted - len(done.emitted) - 1]
            self._marks.note(done, len(self.tokens), number, ahead)
        if self._request.trace:
            drafted = tuple(integers(done.draft.tokens)[: done.drafted])
            self.trace.append(RoundTrace(len(committed) - len(done.emitted), drafted, done.accepted, source))
        self.tokens.extend(done.emitted)
        if self.scores is not None:
            for event in self.scores.events(self._id):
                self._sink(event)

    def finish(self) -> None:
        """Release text that was held back."""
        self._spans.extend(self.text.finish(cut=self.reason is not FinishReason.STOP))

    def post_text(self, recorder: StatsRecorder) -> None:
        """Post the text written since the last call, if any."""
        spans = self._spans
        self._spans = []
        if not spans:
            return
        stats = recorder.freeze()
        for (kind, call), same in groupby(spans, key=lambda span: (span.kind, span.call)):
            if call is not None:
                self.calls.append(call)
                self._sink(ToolCalled(self._id, call))
                continue
            spans_of_kind = list(same)
            text = "".join(span.text for span in spans_of_kind)
            if self._request.tools:
                self._said[kind] += text
            marks = self._marks.place(kind, spans_of_kind)
            self._sink(TextDelta(self._id, kind, text, stats, marks))


def _text_of(request: Request, model: LoadedModel, prompt: Prompt) -> TextDecoder:
    decoder = TextDecoder(
        model,
        prompt.tokens,
        request.stop,
        within=goes_on(request) or bool(request.tokens),
        begin=prompt.begin,
        tools=ToolSyntax(model, request.tools) if request.tools and request.may_call else None,
        several_calls=request.several_calls and (not request.tools or takes_several(model)),
    )
    decoder.raw = bool(request.text)
    return decoder


class ReplyScores:
    """A reply's log-probabilities as events, with the text of each token."""

    def __init__(self, ends: Collection[int], prompt: Prompt, request: Request) -> None:
        """The prompt has a spelling; the request says how many tokens of each position are wanted."""
        assert prompt.spelling is not None
        assert request.logprobs is not None
        self.scores = Scores(request.logprobs, len(prompt.tokens))
        self._ends = ends
        self._spell = prompt.spelling
        self._prompt = [TokenScore(prompt.tokens[0], self._spell(prompt.tokens[0]), None)]
        self._reads = request.prompt_logprobs

    def read(self, logits: mx.array, position: int, following: list[int]) -> None:
        """`following`: the prompt's tokens after the fed ones, from `position` on; some may come again."""
        del self._prompt[position + 1 :]
        self._prompt.extend(self._spelled(self.scores.of_prompt(logits, following)))

    def events(self, request: RequestId) -> Iterator[TokensScored]:
        """The events of the latest round; before the first round, those of the prompt."""
        if self._reads:
            self._reads = False
            yield TokensScored(request, tuple(self._prompt), of_prompt=True)
        yield TokensScored(request, tuple(self._spelled(self.scores.take())))

    def _spelled(self, scores: Iterable[Score]) -> Iterator[TokenScore]:
        for score in scores:
            likeliest = (TokenScore(token, self._spell(token), logprob) for token, logprob in score.likeliest)
            text = b"" if score.token in self._ends else self._spell(score.token)
            yield TokenScore(score.token, text, score.logprob, tuple(likeliest))


class DraftMarks:
    """Which characters of a reply come from accepted drafted tokens, and what a draft had where it was rejected.

    Derived from rounds alone, so equal for every proposer. Plain rounds leave no marks.
    """

    def __init__(self, model: LoadedModel) -> None:
        self._model = model
        self._origins: dict[int, DraftMark] = {}  # by index of the token in the reply; start and end are 0
        self._chars = dict.fromkeys(SpanKind, 0)  # posted so far

    def note(self, done: Round, first: int, number: int, before: int) -> None:
        """Round `number` emitted the reply's tokens from `first` on; `before` precedes the rejected token."""
        for place in range(done.accepted):
            self._origins[first + place] = _ACCEPTED
        if done.accepted < done.drafted:
            wanted = self._word(integers(done.draft.tokens)[done.accepted], before)
            origin = DraftMark(0, 0, wanted, done.accepted + 1, done.drafted, number)
            self._origins[first + done.accepted] = origin

    def place(self, kind: SpanKind, spans: Tokens[TextSpan]) -> tuple[DraftMark, ...]:
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
        for old in [number for number in self._origins if number < posted]:
            del self._origins[old]
        return tuple(replace(origin, start=start, end=end) for start, end, origin in segments)

    def _origin(self, run: Run) -> DraftMark | None:
        """A character is accepted only if all of its tokens were."""
        origins = [self._origins.get(number) for number in range(run.first, run.end)]
        overruled = next((each for each in origins if each is not None and each is not _ACCEPTED), None)
        return overruled or (_ACCEPTED if all(origins) else None)

    def _word(self, token: int, before: int) -> str:
        """The token's text after the token before it; alone, many tokenizers drop a leading space."""
        if token in self._model.ends:
            return ""
        try:
            whole, start = (self._model.tokenizer.decode(tokens) for tokens in ([before, token], [before]))
        except Exception:  # noqa: BLE001  a third-party tokenizer may raise anything; the word is optional
            return _PART_OF_A_CHARACTER
        word: str = whole.removeprefix(start)
        return word.strip(_PART_OF_A_CHARACTER)[:_LONGEST_WORD] or _PART_OF_A_CHARACTER
