"""A reply from its prompt to its last event. Engine thread only.

Its rounds are in `rounds.py`, and what they write in `output.py`. `scheduler.py` decides which reply runs next.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from enum import Enum, auto
from math import inf
from typing import TypeVar

from engine.api.errors import EngineError, as_engine_error
from engine.api.events import Failed, Finished, PromptProgress, Sink
from engine.api.stats import RequestStats, StatsRecorder
from engine.api.types import Effort, FinishReason, Request, RequestId, Speculation
from engine.decoding.prompt import Prompt, spared_tokens
from engine.decoding.round import Round
from engine.decoding.sampling import Sampler
from engine.decoding.sequence import Sequence
from engine.decoding.steps import Steps
from engine.decoding.text import TextDecoder
from engine.decoding.turns import goes_on
from engine.drafting.controller import History
from engine.drafting.planner import Drafting
from engine.drafting.proposers.base import Proposer
from engine.drafting.proposers.predicted import PredictedProposer
from engine.models.effort import LOW_THINKING_TOKENS
from engine.models.loading import LoadedModel
from engine.prefix.memory import PrefixStore
from engine.runtime.output import Output
from engine.runtime.requests import speculating
from engine.runtime.rounds import Rounds
from engine.vision.values import without_names

_log = logging.getLogger(__name__)

T = TypeVar("T")


class ReplyState(Enum):
    READING = auto()  # prefill: its caches lack some of the prompt
    WRITING = auto()
    INTERRUPTED = auto()  # cancelled or ended from outside: its next step is the last
    ENDED = auto()  # its last event is posted


class Submitted:
    """A request when its reply starts; seconds are those of `time.perf_counter`."""

    id: RequestId
    request: Request
    sink: Sink
    seed: int
    submitted_at: float
    started_at: float


class Reply:
    """A running reply. Posts exactly one Finished or Failed, and nothing after it."""

    def __init__(
        self, submitted: Submitted, sequence: Sequence, prompt: Prompt, store: PrefixStore, history: History
    ) -> None:
        self.id = submitted.id
        self.request = request = submitted.request
        self._sink = submitted.sink
        self._seed = submitted.seed
        self._store = store
        self._interruption: FinishReason | None = None  # set with INTERRUPTED
        self._expected = prompt.prediction
        self.sequence = sequence
        model = sequence.model
        sequence.costs = history.costs
        sequence.turn_end = prompt.turn_end
        sequence.shared_end = prompt.shared_end
        if sequence.caches.position == prompt.shared_end and prompt.shared_end not in sequence.checkpoints:
            sequence.keep_checkpoint()  # the caches came from the disk
        self.output = Output(self.id, request, self._sink, sequence, prompt)
        self.sampler = _sampler_of(request, self._seed, model, prompt, self.output.text)
        if self.output.scores is not None:
            self.sampler.scores = self.output.scores.scores
            sequence.scores = self.output.scores if request.prompt_logprobs else None
        self.stats = StatsRecorder(
            submitted_at=submitted.submitted_at,
            started_at=submitted.started_at,
            prompt_tokens=len(prompt.tokens),
            cached_tokens=sequence.caches.position,
            context_tokens=len(prompt.tokens),
            context_limit_tokens=self.output.limit_tokens,
        )
        self.rounds = Rounds(request, sequence, self.sampler, self.output, self.stats, history)
        self._state = ReplyState.READING  # until `draft_with` has decided whether its last token is prefilled again

    def draft_with(self, drafting: Drafting, history: History) -> None:
        """Draft with this pair from the next round on, if the request may draft. Called once before the first step."""
        self.rounds.draft_with(drafting, history, reading=self.reading)
        self._look_past_the_prompt()

    def steer(self, speculation: Speculation, history: History) -> bool:
        """Speculate like this from the next round on; False if `draft_with` has to follow."""
        self.request = speculating(self.request, speculation)
        return self.rounds.steer(self.request, history)

    def predicted(self) -> list[Proposer]:
        """The proposer that follows the request's prediction, if it has one."""
        return [PredictedProposer(self._expected, self.stats.prompt_tokens)] if self._expected else []

    def attempt(self, act: Callable[[], T]) -> T | None:
        """Run `act` unless the reply has ended; if it raises, only this reply fails."""
        try:
            return None if self.ended else act()
        except BaseException as error:  # noqa: BLE001  a tokenizer's Rust panic is a BaseException
            self.fail(error)
            return None

    def pause(self) -> None:
        """No step until `resume`. Leaves nothing in flight."""
        self.rounds.statistics.pause()
        self.rounds.drafting.settle()
        self.sequence.discard_in_flight()

    def resume(self) -> None:
        """Continue; statistics leave out the pause."""
        self.rounds.statistics.resume()

    def answer_now(self) -> None:
        """End its thinking at the next token that is not drawn yet."""
        if self.sampler.guide is not None:
            self.sampler.guide.end_thinking()

    def keep_only(self, conversations: Collection[str]) -> None:
        """As `QueuedReply.keep_only`."""
        self.sequence.forgotten |= self.request.conversation not in {"", *conversations}

    @property
    def reading(self) -> bool:
        return self._state is ReplyState.READING

    @property
    def room(self) -> int:
        """Tokens that may still be emitted."""
        return self.output.room

    @property
    def interrupted(self) -> bool:
        return self._state is ReplyState.INTERRUPTED

    @property
    def complete(self) -> bool:
        """Whether its last token is drawn, but that round's text is not posted yet."""
        return self.output.reason is not None and not self.ended

    @property
    def ended(self) -> bool:
        return self._state is ReplyState.ENDED

    @property
    def draft_lags(self) -> bool:
        """Whether its fixed draft has uncached tokens; if that raises, the reply fails."""
        return bool(self.attempt(lambda: self.rounds.lags))

    @property
    def encoding_bytes(self) -> int:
        """Memory that encoding the next picture takes; 0: none is left, or its encoding has begun."""
        view = self.sequence.pictures
        return 0 if view is None else view.encoding_bytes(self.sequence.caches.position)

    def interrupt(self, reason: FinishReason) -> None:
        """Make the next step the last. If called again, the first reason counts."""
        if self._state in (ReplyState.READING, ReplyState.WRITING) and not self.complete:
            self._state = ReplyState.INTERRUPTED
            self._interruption = reason

    def step(self, *, alone: bool = True) -> bool:
        """One prefill chunk, perhaps of the draft, or one round; True when the reply has ended.

        Unless `alone`, no forward is left in flight: it would delay the steps of other replies.
        """
        if self._state is ReplyState.INTERRUPTED:
            self._finish()
        elif not (self.sequence.ready and alone) and self.sequence.uncached > 1:
            self._read_on()
        elif not self.rounds.catch_up():
            done = self.rounds.run(alone=alone)
            self.take(done, others_s=0.0 if alone else self.rounds.statistics.since_last_token_s - done.seconds)
        self._look_past_the_prompt()
        return self.ended

    def _read_on(self) -> None:
        self.sequence.prefill_chunk()
        self.rounds.pass_hidden_states()
        self._sink(PromptProgress(self.id, self.sequence.caches.position, self.stats.prompt_tokens))

    def _look_past_the_prompt(self) -> None:
        """A prompt of a single token needs no prefill: the first round feeds it."""
        if self._state is ReplyState.READING and self.sequence.uncached == 1 and self.sequence.caches.position:
            self._state = ReplyState.WRITING

    def take(self, done: Round, *, others_s: float | None = None) -> None:
        """Finish a round (see `RoundStatistics.take`): post its text, and end the reply if it was the last."""
        if others_s is None:
            self.rounds.learn(done)
        self.rounds.statistics.take(done, self.rounds.drafting, others_s)
        self.output.take(done, self.stats.rounds, self.rounds.drafting.source_of(done))
        if self.complete:
            self._finish()
        else:
            self.output.post_text(self.stats)

    def _finish(self) -> None:
        reason = self.output.reason or self._interruption
        if reason is None:
            raise RuntimeError("nothing has ended this reply")
        self.output.finish()
        self.output.post_text(self.stats)
        self.rounds.close()
        sequence = self.sequence
        output = self.output
        text = self.output.text
        sequence.discard_in_flight()
        sequence.scores = None
        sequence.pictures = None  # the caches are enough, and pixels are large
        if not self.request.transient:
            self._store.put(sequence)
            whole = reason is FinishReason.STOP and not (text.stop or text.left_out or sequence.forgotten)
            if output.calls and whole:
                Steps.of(sequence.model).keep(self.request, sequence.tokens, output.message)
        stats = self.stats.freeze()
        tokens = tuple(output.tokens)
        trace = tuple(output.trace)
        finished = Finished(self.id, reason, stats, tokens, self._seed, trace, text.stop, text.unread_calls)
        self._state = ReplyState.ENDED
        self._sink(finished)

    def fail(self, error: BaseException) -> None:
        """End with an error, unless it has ended. Its caches are dropped: they may be wrong."""
        if self._state is not ReplyState.ENDED:
            self._state = ReplyState.ENDED
            self.rounds.forget()
            self._sink(Failed(self.id, logged(error), self._last_stats()))

    def _last_stats(self) -> RequestStats:
        """Empty statistics if computing them fails."""
        try:
            return self.stats.freeze()
        except BaseException:  # noqa: BLE001  see above
            return RequestStats()


def _sampler_of(request: Request, seed: int, model: LoadedModel, prompt: Prompt, text: TextDecoder) -> Sampler:
    sampling = request.sampling
    calls = None if request.may_call or not request.tools else model.marks.calls
    opener = () if calls is None else calls.opening
    if len(opener) == 1 and opener[0] < model.logit_width:
        sampling = replace(sampling, logit_bias=(*sampling.logit_bias, (opener[0], -inf)))
    sampler = Sampler(
        sampling,
        seed,
        model.logit_width,
        without_names(prompt.tokens),
        spared_tokens(model),
        request.speculation.acceptance,
    )
    most = request.thinking_tokens if request.thinking_tokens is not None else _most_thinking(request, model)
    sampler.guide = text.guide(prompt.grammar, may_open=request.thinking and not goes_on(request), most_thinking=most)
    return sampler


def _most_thinking(request: Request, model: LoadedModel) -> int | None:
    """The limit that is low effort for a model whose template does not know low."""
    low = request.thinking and request.effort is Effort.LOW and Effort.LOW not in model.info.about.efforts
    return LOW_THINKING_TOKENS if low else None


def logged(error: BaseException) -> EngineError:
    """The error as an EngineError; an unexpected one is logged with its traceback."""
    if not isinstance(error, EngineError):
        _log.error("a reply failed", exc_info=error)
    return as_engine_error(error)
