"""Several replies in one forward a step: one token of each, or its token and draft.

`scheduler.py` decides which replies are in it. Each row is sampled by its reply's own sampler at its own position, as
it would be alone: so its text does not depend on the other rows. Engine thread only.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

import mlx.core as mx

from engine.caches.merging import MergedCaches, can_merge, is_near
from engine.decoding.accept import NO_DRAFT, Draft, integers
from engine.decoding.round import Round, failure_of
from engine.decoding.sequence import Sequence as Conversation
from engine.decoding.sequence import within_vocabulary
from engine.drafting.controller import History
from engine.drafting.costs import RoundCosts
from engine.drafting.planner import evened
from engine.drafting.plans import PLAIN
from engine.drafting.proposers.base import draft_together
from engine.drafting.proposers.rows import HeadRows
from engine.models.loading import LoadedModel
from engine.runtime.reply import Reply
from engine.vision.seeing import together

_log = logging.getLogger(__name__)

_MOST_TOKENS = 128  # of a step with drafts, in all rows: bounds the memory of logits
_PADDED_TOKENS = 2048  # attending to a copied row of a longer chat costs as much as the wider forward saves

# These models select keys in blocks from the start of the cache: padding shifts them, in texts longer than
# `_rows_agree` compares.
_UNEVEN = ("mlx_lm.models.minimax_m3_vl",)


class Batch:
    """Between steps its caches hold n - 1 tokens of each reply; n if a step is in flight."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self._caches = MergedCaches()
        self.typical = False  # the latest step can be measured: no reply joined, and drafts, if wanted, were verified
        self._padded = False  # the last row is a copy of the first
        self._states: mx.array | None = None  # of a wide step, for drafters: (rows, width, layers × width)
        self._joined = False  # a reply has joined since the latest step
        self._drawn: mx.array | None = None  # tokens (rows,) drawn by a step started ahead, not read on the host

    @property
    def in_flight(self) -> bool:
        return self._drawn is not None

    def join(self, replies: Sequence[Reply]) -> None:
        """Add replies that are past prefill. Their caches are moved to the batch."""
        if self.in_flight:
            raise RuntimeError("no reply can join while a step is in flight")
        self._pad(wanted=False)
        self._joined = True
        self.replies.extend(replies)
        for reply in replies:
            reply.sequence.discard_in_flight()
        self._caches.append([reply.sequence.caches for reply in replies])
        for reply in replies:
            reply.sequence.caches = reply.sequence.model.make_caches()

    def step(self, history: History, *, look_ahead: bool, drafts: bool = False) -> None:
        """Emit a token of each reply. Ended replies leave the batch; one that fails alone has posted Failed.

        `look_ahead`: queue the next forward before this one's tokens are read. `drafts`: verify each reply's draft,
        unless a step is in flight. Where `history` has lower prices for a larger forward it is padded: by tokens of
        each row, or by a copied row if the chat is short. What this raises fails all replies.
        """
        started = time.perf_counter()
        costs = history.shared_by(len(self.replies)).costs
        self._pad(wanted=not drafts and self._is_faster_with_a_row_more(history.costs))
        drafted = [NO_DRAFT] * len(self.replies)
        draft_s = 0.0
        failure = None
        if drafts and not self.in_flight:
            drafted = self._drafted(together=bool(history.in_rows))
            draft_s = time.perf_counter() - started
        else:
            for reply in self.replies:
                reply.rounds.rest()
        width = 1 + max(draft.tokens.size for draft in drafted)
        if width > 1:
            padded = costs.padded(width)
            width = padded if padded <= 1 + self._longest_draft() else width
            verdicts, failure = self._verified(drafted, width)
        if width == 1 or failure is not None:
            drafted = [NO_DRAFT] * len(self.replies)
            width = 1
            verdicts = self._drawn_alone(look_ahead=look_ahead)
        seconds = time.perf_counter() - started
        measured = failure is None and not self._joined
        self._joined = False
        self.typical = measured and (width > 1 or not drafts)
        if measured:
            longest, reply = max(
                zip((draft.tokens.size for draft in drafted), self.replies, strict=True), key=itemgetter(0)
            )
            costs.observe(reply.rounds.drafting.source if longest else "", longest, seconds)
        self._hand_out(drafted, verdicts, width, seconds, draft_s, failure)

    def release(self, replies: Sequence[Reply]) -> None:
        """Remove replies, each with its caches."""
        for reply in replies:
            sequence = reply.sequence
            fresh = sequence.model.make_caches()
            held = len(sequence.tokens) - 1
            row = self.replies.index(reply)
            sequence.caches = self._caches.extract(row, fresh, held, back=self.in_flight)
        self._forget(replies)

    def clear(self) -> list[Reply]:
        """Remove all replies and drop the caches, which an error may have left inconsistent."""
        replies = self.replies
        self.replies = []
        self._caches = MergedCaches()
        self._drawn = None
        self._padded = False
        return replies

    def _is_faster_with_a_row_more(self, costs: RoundCosts) -> bool:
        rows = len(self.replies)
        longest = max(len(reply.sequence.tokens) for reply in self.replies)
        return costs.padded(rows) == rows + 1 and longest < _PADDED_TOKENS

    def _pad(self, *, wanted: bool) -> None:
        if wanted and not self._padded:
            self._caches.keep([*range(len(self.replies)), 0])
        elif self._padded and not wanted:
            self._caches.keep(list(range(len(self.replies))))
        self._padded = wanted

    def _drawn_alone(self, *, look_ahead: bool) -> list[list[int]]:
        """One token a row."""
        drawn = self._drawn
        if drawn is None:
            drawn = self._forward(mx.array([reply.sequence.tokens[-1] for reply in self.replies]), ahead=False)
        go_on = sum(reply.room > 1 for reply in self.replies)
        self._drawn = self._forward(drawn, ahead=True) if look_ahead and go_on > 1 else None
        return [[token] for token in integers(drawn)]

    def _drafted(self, *, together: bool) -> list[Draft]:
        """The draft of each reply. `together`: those of the draft model in the same forwards."""
        most = self._longest_draft()
        count = len(self.replies)
        for reply in self.replies:
            reply.attempt(partial(reply.rounds.plan_draft, count, most))
        rows = [reply.rounds for reply in self.replies]
        for row, plan in zip(rows, evened([(row.drafting, row.shared_plan or PLAIN) for row in rows]), strict=True):
            row.shared_plan = plan
        if together:
            wanted = [reply.rounds.wanted for reply in self.replies if not reply.ended]
            draft_together([each for each in wanted if each is not None])
        drafts = [reply.attempt(reply.rounds.draft) for reply in self.replies]
        return [NO_DRAFT if draft is None else draft for draft in drafts]

    def _longest_draft(self) -> int:
        """Most drafted tokens. All rows are as wide as the widest, and none may exceed its context."""
        context = self.replies[0].sequence.model.info.context_tokens
        left = min(context - len(reply.sequence.tokens) for reply in self.replies)
        return min(left, _MOST_TOKENS // len(self.replies) - 1)

    def _verified(self, drafts: Sequence[Draft], width: int) -> tuple[list[list[int]], Exception | None]:
        """The verdicts on each row's draft, by one forward over (rows, width); or the error of that forward.

        Each reply has waited for its own draft, so what fails now concerns all.
        """
        model = self.replies[0].sequence.model
        rows = [
            _fed(reply.sequence.tokens[-1], draft, width) for reply, draft in zip(self.replies, drafts, strict=True)
        ]
        recorder = next((kept for reply in self.replies if (kept := reply.sequence.hidden_states) is not None), None)
        with self._seeing(), recorder.step() if recorder is not None else nullcontext():
            logits = self._run(mx.stack(rows), model)
        self._states = recorder.latest() if recorder is not None else None
        verdicts = [
            self._verdict(reply, logits[row, : draft.tokens.size + 1], draft)
            for row, (reply, draft) in enumerate(zip(self.replies, drafts, strict=True))
        ]
        failure = failure_of(verdicts)
        if failure is not None:
            self._states = None
            self._caches.commit([0] * len(drafts))
            return [], failure
        return [integers(verdict) for verdict in verdicts], None

    def _verdict(self, reply: Reply, logits: mx.array, draft: Draft) -> mx.array:
        position = len(reply.sequence.tokens)
        verdict = reply.attempt(lambda: reply.sampler.verify(_masked(reply, logits, draft), position, draft))
        return _noted(reply, logits, position, verdict)

    def _forward(self, tokens: mx.array, *, ahead: bool) -> mx.array:
        """The tokens after `tokens`, one a row (rows,), not evaluated. `ahead`: `tokens` are not committed yet."""
        model = self.replies[0].sequence.model
        rows = mx.concatenate([tokens, tokens[:1]]) if self._padded else tokens
        with self._seeing(), self._keeping_states(ahead=ahead):
            logits = self._run(rows[:, None], model)[:, -1, :]
        logits = logits[: len(self.replies)]
        samplers = [reply.sampler for reply in self.replies]
        if all(sampler.draws_alike(samplers[0]) for sampler in samplers):
            positions = [len(reply.sequence.tokens) + ahead for reply in self.replies]
            drawn = samplers[0].draw_together(samplers, logits, positions)
        else:
            drawn = mx.concatenate(self._draws(logits, tokens if ahead else None))
        mx.async_eval(drawn)
        return drawn

    def _run(self, tokens: mx.array, model: LoadedModel) -> mx.array:
        """A forward over (rows, width)."""
        inputs = within_vocabulary(tokens, model)
        return self._caches.forward(tokens.shape[1], lambda: model.network(inputs, cache=self._caches.layers))

    def _seeing(self) -> AbstractContextManager[None]:
        """In this block forwards give rows after a picture their own positions."""
        sequences = [reply.sequence for reply in self.replies]
        sequences += sequences[:1] * self._padded
        return together([sequence.pictures for sequence in sequences], [len(each.tokens) for each in sequences])

    @contextmanager
    def _keeping_states(self, *, ahead: bool) -> Iterator[None]:
        """In this block forwards record the hidden states of rows whose drafter needs them."""
        keeping = [(row, reply) for row, reply in enumerate(self.replies) if reply.sequence.hidden_states is not None]
        recorder = keeping[0][1].sequence.hidden_states if keeping else None
        with recorder.step() if recorder is not None else nullcontext():
            yield
        for row, reply in keeping:
            if recorder is not None and reply.sequence.hidden_states is not None:
                position = len(reply.sequence.tokens) - 1 + ahead
                reply.sequence.hidden_states.add(position, recorder.latest()[row])

    def _draws(self, logits: mx.array, ahead: mx.array | None) -> list[mx.array]:
        return [
            self._draw(reply, logits[row : row + 1], None if ahead is None else ahead[row : row + 1])
            for row, reply in enumerate(self.replies)
        ]

    def _draw(self, reply: Reply, logits: mx.array, ahead: mx.array | None) -> mx.array:
        position = len(reply.sequence.tokens) + (ahead is not None)
        before = NO_DRAFT if ahead is None else Draft(ahead)
        drawn = reply.attempt(lambda: reply.sampler.draw(_masked(reply, logits, before), position, ahead))
        return _noted(reply, logits, position, drawn)

    def _hand_out(
        self,
        drafts: Sequence[Draft],
        verdicts: Sequence[list[int]],
        width: int,
        seconds: float,
        draft_s: float,
        failure: Exception | None,
    ) -> None:
        """Give each reply its tokens; one that ends gets its caches back before it posts its last event.

        A reply that fails posts Failed at once, so that a later fault can neither hide nor replace its error.
        """
        drawn = zip(self.replies, drafts, verdicts, strict=True)
        rounds = {
            reply: reply.attempt(partial(reply.rounds.receive, draft, verdict, seconds, draft_s, failure))
            for reply, draft, verdict in drawn
        }
        if width > 1:
            self._commit(width, list(rounds.values()))
        self._forget([reply for reply in self.replies if reply.ended])
        self.release([reply for reply in self.replies if reply.complete])
        for reply, done in rounds.items():
            if done is not None:
                reply.attempt(partial(reply.take, done))
        self._forget([reply for reply in self.replies if reply.ended])

    def _commit(self, width: int, rounds: Sequence[Round | None]) -> None:
        """Keep as many of the step's `width` tokens of each row as its round emitted."""
        kept = [1 if done is None else len(done.emitted) for done in rounds]
        self._caches.commit(kept)
        states = self._states
        self._states = None
        for row, (reply, tokens) in enumerate(zip(self.replies, kept, strict=True)):
            if states is not None and reply.sequence.hidden_states is not None:
                position = len(reply.sequence.tokens) - tokens - 1
                reply.sequence.hidden_states.add(position, states[row, :tokens])

    def _forget(self, replies: Sequence[Reply]) -> None:
        if not replies:
            return
        rows = [row for row, reply in enumerate(self.replies) if reply not in replies]
        self._caches.keep(rows)
        self._padded = False
        self.replies = [self.replies[row] for row in rows]
        if self._drawn is not None:
            self._drawn = self._drawn[mx.array(rows)] if rows else None


def _masked(reply: Reply, logits: mx.array, draft: Draft) -> mx.array:
    guide = reply.sampler.guide
    return logits if guide is None else guide.masked(logits, draft)


def _noted(reply: Reply, logits: mx.array, position: int, drawn: mx.array | None) -> mx.array:
    """The drawn tokens, or a placeholder for a reply that has failed."""
    if drawn is None:
        return mx.zeros((1,), dtype=mx.uint32)
    reply.sampler.note(logits, position, drawn)
    return drawn


def _fed(newest: int, draft: Draft, width: int) -> mx.array:
    """The input (width,) of a row: the newest token and its draft, padded with the newest token."""
    missing = width - 1 - draft.tokens.size
    return mx.concatenate([mx.array([newest]), draft.tokens, mx.array([newest] * missing)]).astype(mx.uint32)


@dataclass(frozen=True, slots=True)
class Batching:
    """What a batch of a main model's replies can do; without it they take turns."""

    shares: bool = False  # one forward for all: its caches merge, and each row has its own position
    drafts: bool = False  # a wide forward, of which each row keeps any number of tokens


Trial = Generator[None, None, Batching]


def try_batching(model: LoadedModel) -> Trial:
    """Find out by short forwards; yields after each of them.

    No batches for models with chunked or unknown caches, networks known to treat rows unevenly, and networks that fail
    the trial or treat all rows as equally long in it.
    """
    caches = model.make_caches()
    if type(model.network).__module__ in _UNEVEN or caches.others is not None or not can_merge(caches.layers):
        return Batching()
    for one in (model, model.with_eight_bits()):
        if not (yield from _agrees(one, _rows_agree(one))):
            return Batching()
    return Batching(shares=True, drafts=(yield from _agrees(model, _rows_agree(model, after=[3, 1]), "draft")))


def try_draft_rows(draft: LoadedModel) -> Trial:
    """The same for a draft: `drafts` if it can draft for several replies in the same forwards."""
    if draft.info.drafter is None:
        return (yield from try_batching(draft))
    models = (draft, draft.with_eight_bits())
    if not draft.network.proposer.drafts_in_rows or not all(can_merge(one.make_caches().layers) for one in models):
        return Batching()
    for one in models:
        if not (yield from _agrees(one, _head_rows_agree(one), "draft")):
            return Batching()
    return Batching(drafts=True)


def _agrees(model: LoadedModel, trial: Generator[None, None, bool], to_do: str = "run") -> Generator[None, None, bool]:
    try:
        return (yield from trial)
    except Exception:  # noqa: BLE001  a network may raise anything; its replies can take turns
        _log.warning("%s cannot %s in a batch", model.info.model_type, to_do, exc_info=True)
        return False


def _rows_agree(model: LoadedModel, after: Sequence[int] = ()) -> Generator[None, None, bool]:
    """Whether two short texts of different lengths have the same logits in a batch as alone, but for rounding.

    `after`: do so after a forward over four tokens of each, of which row i keeps `after[i]`.
    """
    texts = [[1, 2, 3, 4, 5, 6, 7, 8], [6, 7, 1, 2, 3]]
    merged = MergedCaches()
    rows = [Conversation(model, text[:-3]) for text in texts]
    for row in rows:
        row.prefill_chunk()
        yield
    merged.append([row.caches for row in rows])
    if after:
        wide = mx.array([text[-4:] for text in texts])
        mx.eval(merged.forward(4, lambda: model.network(wide, cache=merged.layers)))
        merged.commit(after)
        yield
    ends = [len(text) - 4 + kept for text, kept in zip(texts, after or (0, 0), strict=True)]
    newest = [text[end : end + 1] for text, end in zip(texts, ends, strict=True)]
    together = model.network(mx.array(newest), cache=merged.layers)[:, -1, :]
    mx.eval(together)
    yield
    uncached = [text[row.caches.position : end + 1] for row, text, end in zip(rows, texts, ends, strict=True)]
    alone = mx.concatenate([row.feed(mx.array(tokens))[-1:] for row, tokens in zip(rows, uncached, strict=True)])
    return is_near(together, alone)


def _head_rows_agree(drafter: LoadedModel) -> Generator[None, None, bool]:
    """Whether two texts of different lengths get the same states of a drafter in a batch as alone, but for rounding."""
    head = drafter.network
    texts = []
    alone = []
    for length in (6, 3):
        tokens = mx.arange(1, length + 1, dtype=mx.uint32)
        states = mx.sin(mx.arange(length * head.reads_width)).reshape(length, -1)
        row, other = (Conversation(drafter, tokens.tolist()) for _ in range(2))  # type: ignore[arg-type]
        for each in (row, other):
            mx.eval(head.read(tokens[:-2], states[:-2], each.caches))
            yield
        read = head.read(tokens[-2:], states[-2:], other.caches)[-1:]
        alone.append(other.caches.forward(1, partial(head.ahead, tokens[-1:], read, other.caches.layers)))
        mx.eval(alone[-1])
        yield
        texts.append((row, tokens, states))
    rows = HeadRows(head)
    rows.hold([row for row, *_ in texts])
    read = rows.read([(tokens[-2:], states[-2:]) for _, tokens, states in texts])
    assert read is not None
    together = head.ahead(mx.concatenate([tokens[-1:] for _, tokens, _ in texts]), read, rows.layers)
    mx.eval(together)
    yield
    return is_near(together, mx.concatenate(alone))
