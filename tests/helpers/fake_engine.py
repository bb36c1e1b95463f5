"""A scripted ChatEngine with a thread of its own, for tests of the app: surface and order of events are Engine's.

A `Gate` lets a test stop it between pieces and let pieces through one by one, so that no test needs to sleep.
The contract in tests/engine/test_engine_contract.py runs over it and over the real one. No MLX.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine import (
    CountId,
    DraftingState,
    DraftMark,
    EmptyConversation,
    EngineClosed,
    EngineError,
    EngineState,
    Event,
    Failed,
    Finished,
    FinishReason,
    Helping,
    InvalidRequest,
    LoadAborted,
    Message,
    MessageRole,
    ModeChoice,
    ModelEvent,
    ModelFailed,
    ModelInfo,
    ModelLoading,
    ModelNotFound,
    ModelReady,
    ModelRole,
    ModelUnloaded,
    NoModelLoaded,
    PromptProgress,
    PromptTruncated,
    Queued,
    RankMode,
    RepliesUnderWay,
    Request,
    RequestId,
    RequestStats,
    Sink,
    SpanKind,
    Speculation,
    SpeculationMode,
    StationPlace,
    TextDelta,
    TokensCounted,
    ToolCall,
    ToolCalled,
    draft_problem,
)
from engine.runtime.state import state_after
from tests.helpers.gate import Gate

DRAFTED_PER_ROUND = 4
ACCEPTED_PATTERN = (3, 2, 4, 1)
PLAIN_TOKEN_S = 0.04
ROUND_S = 0.06
WANTED = " perhaps"  # what its draft wanted wherever it was overruled
_MAIN, _DRAFT = ModelRole.MAIN, ModelRole.DRAFT


def model_info(folder: str, parameters: int = 8_000_000_000, digest: str = "vocabulary-a") -> ModelInfo:
    return ModelInfo(
        folder=folder,
        name=Path(folder).name,
        model_type="qwen3",
        parameters=parameters,
        weight_bytes=parameters // 2,
        bits=4.0,
        vocabulary_tokens=151_936,
        vocabulary_digest=digest,
        context_tokens=4096,
    )


MAIN = model_info("/models/Main-8B")
DRAFT = model_info("/models/Draft-1B", parameters=600_000_000)


@dataclass(frozen=True, slots=True)
class Script:
    """How one reply goes: what it says in which pieces, and how it ends."""

    pieces: tuple[str, ...] = ("A draft ", "guesses, ", "the main ", "model checks.")
    thinking: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()  # come after the pieces
    unread_calls: int = 0  # that are text
    error: EngineError | None = None  # comes after the pieces
    finish: FinishReason = FinishReason.STOP
    drafting: DraftingState = DraftingState.ACTIVE
    round_s: float = ROUND_S  # what the statistics say that a round took; nothing waits
    drafts: bool = True  # where there is a draft and the request asks for it
    first: int = 0  # message of the request from which on it is read; 0: all


@dataclass(slots=True)
class _Job:
    id: RequestId
    request: Request
    sink: Sink
    interrupted: FinishReason | None = None


@dataclass(slots=True)
class _Counters:
    script: Script
    drafts: bool
    rounds: int = 0
    generated: int = 0
    accepted_at: list[int] = field(default_factory=lambda: [0] * DRAFTED_PER_ROUND)
    by_accepted: list[int] = field(default_factory=lambda: [0] * (DRAFTED_PER_ROUND + 1))
    by_stretch: list[int] = field(default_factory=list)
    chars: dict[SpanKind, int] = field(default_factory=lambda: dict.fromkeys(SpanKind, 0))

    def count_round(self) -> None:
        accepted = ACCEPTED_PATTERN[self.rounds % len(ACCEPTED_PATTERN)] if self.drafts else 0
        for position in range(accepted):
            self.accepted_at[position] += 1
        self.by_accepted[accepted] += self.drafts
        self.rounds += 1
        self.generated += accepted + 1
        if self.rounds > 1:
            self.by_stretch.append(accepted + 1)

    def marks(self, kind: SpanKind, text: str) -> tuple[DraftMark, ...]:
        """The first half of each piece was foreseen, and its second half overruled."""
        start = self.chars[kind]
        middle, self.chars[kind] = start + len(text) // 2, start + len(text)
        if not self.drafts or len(text) < 2:
            return ()
        position = ACCEPTED_PATTERN[(self.rounds - 1) % len(ACCEPTED_PATTERN)] + 1
        overruled = DraftMark(middle, start + len(text), WANTED, position, DRAFTED_PER_ROUND, self.rounds)
        return (DraftMark(start, middle), overruled)

    def freeze(self) -> RequestStats:
        draft_rounds = self.rounds if self.drafts else 0
        return RequestStats(
            prompt_tokens=20,
            generated_tokens=self.generated,
            rounds=self.rounds,
            draft_rounds=draft_rounds,
            drafted=draft_rounds * DRAFTED_PER_ROUND,
            accepted=sum(self.accepted_at),
            drafted_by_position=(draft_rounds,) * DRAFTED_PER_ROUND if self.drafts else (),
            accepted_by_position=tuple(self.accepted_at) if self.drafts else (),
            rounds_by_accepted=tuple(self.by_accepted) if self.drafts else (),
            emitted_by_stretch=tuple(self.by_stretch),
            proposer="draft model" if self.drafts else "",
            drafting=self.script.drafting if self.drafts else DraftingState.OFF,
            decode_s=max(0, self.rounds - 1) * self.script.round_s,  # from the first token on
            draft_s=draft_rounds * self.script.round_s / 4,
            verify_s=self.rounds * self.script.round_s / 2,
            plain_rounds=max(0, self.rounds - 1) * self.script.round_s / PLAIN_TOKEN_S,
            context_tokens=20 + self.generated,
            context_limit_tokens=4096,
        )


class FakeEngine:
    """`requests` keeps the submitted requests; each reply takes one of `scripts`, then the default script."""

    def __init__(self, models: Mapping[str, ModelInfo | EngineError] | None = None) -> None:
        self.gate = Gate()
        self.requests: list[Request] = []
        self.scripts: deque[Script] = deque()
        self.loads: list[tuple[str, str | None]] = []
        self.helping: list[tuple[Helping, ...]] = []  # machines, of each of the loads
        self.modes: list[RankMode | None] = []  # in which those help
        self.choice = ModeChoice()  # how models run over several of them
        self.drafts: list[str | None] = []
        self.sparing: list[tuple[bool, bool]] = []  # what it was told of that, and of the battery
        self.kept: list[frozenset[str]] = []  # which conversations it was told to keep, each time
        self.speculations: list[tuple[RequestId, Speculation]] = []  # set for requests under way
        self.answers_now: list[RequestId] = []
        self.stations: list[StationPlace | None] = []  # where it was told to draft as well, each time
        self.races: list[tuple[str, float]] = []  # what it was told of them
        known: Mapping[str, ModelInfo | EngineError] = {MAIN.folder: MAIN, DRAFT.folder: DRAFT}
        self.models = dict(known if models is None else models)
        self.damaged: set[str] = set()  # folders of which that shows only when the loaded pair is gone
        self._main: ModelInfo | None = None
        self._why_no_main: EngineError = NoModelLoaded()
        self._draft: ModelInfo | None = None
        self._jobs: dict[RequestId, _Job] = {}
        self._behind: deque[_Job] = deque()  # background requests that came while another was under way
        self._ids = itertools.count(1)
        self._writing: _Job | None = None
        self._paused: _Job | None = None  # a background request
        self._state = EngineState()
        self._subscribers: dict[object, Sink] = {}
        self._commands: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._counts: queue.SimpleQueue[tuple[CountId, str | Request, Sink]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="fake-engine", daemon=True)
        self._thread.start()

    def load(
        self,
        folder: Path | str,
        sink: Sink,
        draft: Path | str | None = None,
        *,
        end_replies: bool = False,
        helping: Sequence[Helping] = (),
        mode: RankMode | None = None,
    ) -> None:
        if self._writing is not None and not (end_replies or self._writing.request.background):
            self.tell(sink, ModelFailed(_MAIN, str(folder), RepliesUnderWay(str(folder)), began=False))
            if draft is not None:
                self.tell(sink, ModelFailed(_DRAFT, str(draft), RepliesUnderWay(str(folder)), began=False))
            return
        self.loads.append((str(folder), None if draft is None else str(draft)))
        self.helping.append(tuple(helping))
        self.modes.append(mode)
        if isinstance(self.models.get(str(folder)), ModelInfo) or str(folder) in self.damaged:
            self._end_under_way()
        refusal = ModelFailed(_MAIN, str(folder), EngineClosed(), began=False)
        choice = self.choice if helping else None
        self.send(lambda: self._load_main(str(folder), sink, choice), sink, refusal)
        if draft is not None:
            refusal = ModelFailed(_DRAFT, str(draft), EngineClosed(), began=False)
            self.send(lambda: self._load_draft_of(str(folder), str(draft), sink), sink, refusal)

    def set_draft(self, folder: Path | str | None, sink: Sink) -> None:
        self.drafts.append(None if folder is None else str(folder))
        if folder is None:
            self.send(lambda: self._drop_draft(sink, answers=True), sink, ModelUnloaded(_DRAFT))
        else:
            self._set_draft(str(folder), sink)

    def unload(self, sink: Sink) -> None:
        self._end_under_way()
        self.send(lambda: self._drop_pair(sink, answers=True), sink, ModelUnloaded(_MAIN))

    def submit(self, request: Request, sink: Sink) -> RequestId:
        job = _Job(RequestId(next(self._ids)), request, sink)
        self.requests.append(request)
        self._jobs[job.id] = job
        self.tell(sink, Queued(job.id, request.background, request.guest))
        self.send(lambda: self._write(job), sink, Failed(job.id, EngineClosed(), RequestStats()))
        return job.id

    def count_tokens(self, text: str | Request, sink: Sink) -> CountId:
        """A token a word."""
        number = CountId(next(self._ids))
        self._counts.put((number, text, sink))
        self.send(self._count, sink, TokensCounted(number, 0, EngineClosed()))
        return number

    def cancel(self, request: RequestId) -> None:
        self._interrupt(self._jobs.get(request), FinishReason.CANCELLED)

    def answer_now(self, request: RequestId) -> None:
        self.answers_now.append(request)

    def set_speculation(self, request: RequestId, speculation: Speculation) -> None:
        self.speculations.append((request, speculation))

    def keep_only(self, conversations: Collection[str]) -> None:
        self.kept.append(frozenset(conversations))

    def set_sparing(self, on: bool, *, on_battery: bool = False) -> None:
        self.sparing.append((on, on_battery))

    def set_station(self, place: StationPlace | None) -> None:
        self.stations.append(place)

    def note_race(self, source: str, longer: float) -> None:
        self.races.append((source, longer))

    def subscribe(self, sink: Sink) -> Callable[[], None]:
        key = object()
        self._subscribers[key] = sink
        return lambda: self._subscribers.pop(key, None) and None

    def state(self) -> EngineState:
        return self._state

    def close(self, timeout_s: float = 10.0) -> bool:
        with self._lock:
            if not self._closed:
                self._closed = True
                self._commands.put(None)
        for job in list(self._jobs.values()):
            self.cancel(job.id)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _interrupt(self, job: _Job | None, reason: FinishReason) -> None:
        if job is not None and job.interrupted is None:
            job.interrupted = reason
            self.gate.wake()

    def _end_under_way(self) -> None:
        for job in (self._writing, self._paused):
            self._interrupt(job, FinishReason.MODEL_CHANGED)

    def _set_draft(self, folder: str, sink: Sink) -> None:
        refusal = ModelFailed(_DRAFT, folder, EngineClosed(), began=False)
        self.send(lambda: self._load_draft(folder, sink), sink, refusal)

    def send(self, command: Callable[[], None], sink: Sink, refusal: Event) -> None:
        """On the engine's thread; after close() the answer is `refusal`."""
        with self._lock:
            closed = self._closed
            if not closed:
                self._commands.put(command)
        self.gate.wake()
        if closed:
            self.tell(sink, refusal)

    def tell(self, sink: Sink | None, event: Event) -> None:
        with self._lock:
            self._state = state_after(self._state, event)
        listeners = list(self._subscribers.values()) if isinstance(event, ModelEvent) else []
        for listener in [*([] if sink is None else [sink]), *(each for each in listeners if each != sink)]:
            try:
                listener(event)
            except BaseException:  # noqa: BLE001  the real engine logs it and goes on
                continue

    def _run(self) -> None:
        while (command := self._commands.get()) is not None:
            command()
            while self._behind:
                self._write(self._behind.popleft())
        self._drop_pair(None)

    # On the engine's thread

    def _load_main(self, folder: str, sink: Sink, choice: ModeChoice | None) -> None:
        self.tell(sink, ModelLoading(_MAIN, folder))
        found = self.models.get(folder, ModelNotFound(folder))
        if isinstance(found, ModelInfo) or folder in self.damaged:
            self._drop_pair(sink)
        if isinstance(found, EngineError):
            self._why_no_main = found
            self.tell(sink, ModelFailed(_MAIN, folder, found))
        else:
            self._main = found
            self.tell(sink, ModelReady(_MAIN, found, choice))

    def _load_draft_of(self, main: str, folder: str, sink: Sink) -> None:
        """It is to draft for that main model only."""
        if self._main is not None and self._main.folder != main:
            self.tell(sink, ModelFailed(_DRAFT, folder, LoadAborted(folder), began=False))
        else:
            self._load_draft(folder, sink)

    def _load_draft(self, folder: str, sink: Sink) -> None:
        self.tell(sink, ModelLoading(_DRAFT, folder))
        found = self.models.get(folder, ModelNotFound(folder))
        problem = found if isinstance(found, EngineError) else self._draft_problem(found)
        if problem is not None:
            self.tell(sink, ModelFailed(_DRAFT, folder, problem))
        elif isinstance(found, ModelInfo):
            self._drop_draft(sink)
            self._draft = found
            self.tell(sink, ModelReady(_DRAFT, found))

    def _draft_problem(self, draft: ModelInfo) -> EngineError | None:
        return NoModelLoaded() if self._main is None else draft_problem(self._main, draft)

    def _drop_draft(self, sink: Sink | None, *, answers: bool = False) -> None:
        if self._draft is not None or answers:
            self._draft = None
            self.tell(sink, ModelUnloaded(_DRAFT))

    def _drop_pair(self, sink: Sink | None, *, answers: bool = False) -> None:
        self._drop_draft(sink)
        self._why_no_main = NoModelLoaded()
        if self._main is not None or answers:
            self._main = None
            self.tell(sink, ModelUnloaded(_MAIN))

    def _count(self) -> None:
        """Answers what waits, as the real one does between the steps of a reply."""
        while not self._counts.empty():
            number, text, sink = self._counts.get()
            problem = self._count_problem(text)
            words = text if isinstance(text, str) else " ".join(message.content for message in text.messages)
            self.tell(sink, TokensCounted(number, 0 if problem else len(words.split()), problem))

    def _count_problem(self, text: str | Request) -> EngineError | None:
        if isinstance(text, str) and any("\ud800" <= letter <= "\udfff" for letter in text):
            return InvalidRequest("text", "surrogate", "Unicode")
        return NoModelLoaded() if self._main is None else None

    def _give_way(self, job: _Job) -> None:
        """A background request is paused for all that has come meanwhile."""
        while job.request.background and job.interrupted is None and not self._commands.empty():
            if (command := self._commands.get()) is None:
                self._commands.put(None)  # for `_run`; whoever closes cancels the job
                return
            self._writing, self._paused = None, job
            command()
            self._writing, self._paused = job, None

    def _write(self, job: _Job) -> None:
        if self._paused is not None and job.request.background:
            self._behind.append(job)
            return
        self._writing = job
        self._give_way(job)
        if self._main is not None and job.request.model not in ("", self._main.folder):
            job.interrupted = FinishReason.MODEL_CHANGED
        problem = self._problem(job.request)
        if job.interrupted is None and problem is not None:
            self._end(job, Failed(job.id, problem, RequestStats()))
            return
        script = self.scripts.popleft() if self.scripts else Script()
        wanted = job.request.speculation.mode is not SpeculationMode.OFF and (
            script.drafts or job.request.speculation.insists
        )
        drafts = self._draft is not None and wanted
        self._say(job, script, _Counters(script, drafts))

    def _say(self, job: _Job, script: Script, counters: _Counters) -> None:
        if job.interrupted is None:
            if script.first:
                self.tell(job.sink, PromptTruncated(job.id, script.first))
            self.tell(job.sink, PromptProgress(job.id, 10, 20))
        spans = [(SpanKind.THINKING, text) for text in script.thinking]
        spans += [(SpanKind.ANSWER, text) for text in script.pieces]
        for number, (kind, text) in enumerate(spans):
            self._wait(job)
            self._count()
            if job.interrupted is not None or number == job.request.max_tokens:
                break
            counters.count_round()
            self.tell(job.sink, TextDelta(job.id, kind, text, counters.freeze(), counters.marks(kind, text)))
        for call in script.calls if job.interrupted is None else ():
            self.tell(job.sink, ToolCalled(job.id, call))
        self._end(job, self._ending(job, script, counters, len(spans)))

    def _wait(self, job: _Job) -> None:
        """Until the gate lets a piece through; a background request meanwhile gives way."""
        background = job.request.background
        while job.interrupted is None:
            self._give_way(job)
            came = self.gate.wait(lambda: job.interrupted is not None or (background and not self._commands.empty()))
            if not came:
                return

    def _ending(self, job: _Job, script: Script, counters: _Counters, pieces: int) -> Finished | Failed:
        stats, tokens, seed = counters.freeze(), tuple(range(counters.generated)), job.request.sampling.seed or 0
        if job.interrupted is not None:
            return Finished(job.id, job.interrupted, stats, tokens, seed)
        if job.request.max_tokens is not None and job.request.max_tokens < pieces:
            return Finished(job.id, FinishReason.LENGTH, stats, tokens, seed)
        if script.error is not None:
            return Failed(job.id, script.error, stats)
        return Finished(job.id, script.finish, stats, tokens, seed, unread_calls=script.unread_calls)

    def _end(self, job: _Job, event: Finished | Failed) -> None:
        self._writing = None
        del self._jobs[job.id]
        self.tell(job.sink, event)

    def _problem(self, request: Request) -> EngineError | None:
        if self._main is None:
            return self._why_no_main
        if request.sampling.temperature < 0:
            return InvalidRequest("temperature", str(request.sampling.temperature), "0..10")
        turns: tuple[Message, ...] = request.messages
        if not (request.tokens or request.text) and (not turns or turns[-1].role is MessageRole.SYSTEM):
            return EmptyConversation()
        return None
