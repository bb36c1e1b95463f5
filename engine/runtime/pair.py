"""The loaded models, and what outlives their replies: kept caches, costs of rounds, whether they can run in batches.

Measured while the engine is idle. Engine thread only.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from functools import partial

from engine.api.events import DrafterExamined, ModelMeasured
from engine.api.station import StationPlace
from engine.decoding.steps import Steps
from engine.drafting.calibration import Tuner
from engine.drafting.controller import History, make_controller
from engine.drafting.costs import acceptance_of
from engine.drafting.drafters import proposer_of
from engine.drafting.examination import LONGEST
from engine.drafting.planner import Drafting
from engine.drafting.proposers.base import Proposer
from engine.drafting.proposers.forced import ForcedProposer
from engine.drafting.proposers.lookup import LookupProposer
from engine.drafting.text_kind import KindReader
from engine.models.fit import LEAST_CONTEXT_TOKENS, takes_eight_bits
from engine.models.loading import LoadedModel
from engine.models.memory import is_short, lacks, most_bytes, set_limits
from engine.prefix.memory import PrefixStore
from engine.runtime.batch import Batching, Trial, try_batching, try_draft_rows
from engine.runtime.queued import QueuedReply
from engine.runtime.reply import Reply
from engine.runtime.sharing import Sharing
from engine.station.connection import CONVERSATIONS, DraftOrder, Report, StationConnection, StationProcess, lent_station
from engine.station.prices import SOURCE
from engine.station.proposer import StationProposer

_log = logging.getLogger(__name__)

_ASKED_MESSAGES = 3  # that say what kind of text is asked for
SAVING_S = 4.0  # for writing caches before their models are dropped


class LoadedPair:
    """A main model with or without a draft, or nothing. Each change makes a new `history` and `sharing`."""

    def __init__(self, tuner: Tuner, store: PrefixStore) -> None:
        self.main: LoadedModel | None = None
        self.draft: LoadedModel | None = None
        self._with_eight_bits: tuple[LoadedModel | None, LoadedModel | None] = (None, None)  # main model and draft
        self.store = store
        self.spares = False  # nothing is measured: the machine is hot or saves energy
        self.on_battery = False  # only first prices are measured
        self.station: StationConnection | None = None  # drafts for this pair as well
        self._tuner = tuner
        self._rates = tuner.rates
        self._reported: bool  # the measurements were posted
        self._batching = Batching()  # of the main model, once its trial has ended
        self._trial: Trial | None = None
        self._draft_trial: Trial | None = None  # after which it may draft for all replies of a batch in one forward
        self._recall_costs()

    def set_main(self, main: LoadedModel | None) -> None:
        """Another main model, without a draft. No reply of the former one may run any more."""
        try:
            self.store.save(SAVING_S)
        except Exception:  # noqa: BLE001  the pair is dropped all the same
            _log.exception("caches could not be saved")
        self.store.clear()
        self._batching = Batching()
        self._trial = None if main is None else try_batching(main)
        self._draft_trial = None
        self.main = main
        self.draft = None
        self._with_eight_bits = None if main is None else main.with_eight_bits(), None
        self._tell_station()
        self._recall_costs()
        self._set_limits()

    def set_draft(self, draft: LoadedModel | None, replies: Iterable[Reply]) -> None:
        """Set another draft, or none; `replies` use it from their next round on."""
        self.draft = draft
        main = self._with_eight_bits[0]
        self._with_eight_bits = main, draft if draft is None or main is self.main else draft.with_eight_bits()
        self._recall_costs()
        self._draft_trial = None if draft is None else try_draft_rows(draft)
        self._tell_station()
        for reply in replies:
            self.draft_for(reply)
        self.store.drop_other_models(self.main, draft, *self._with_eight_bits)
        self._set_limits()

    def set_station(self, place: StationPlace | None, report: Report, replies: Iterable[Reply]) -> None:
        """`report`: gets each state of the station, on any thread."""
        self.close_station()
        if place is not None:
            helping = place.helping
            start = StationProcess if helping is None else partial(lent_station, helping)
            self.station = StationConnection(start, report, "" if helping is None else helping.machine.name)
            self._tell_station()
        for reply in replies:
            self.draft_for(reply)

    def close_station(self) -> None:
        if self.station is not None:
            self.station.close()
            self.station = None

    def set_sparing(self, on: bool, on_battery: bool) -> None:
        """See `ChatEngine.set_sparing`."""
        self.spares = on
        self.on_battery = on_battery

    def start(self, queued: QueuedReply) -> Reply:
        """Make the reply of a request. A main model has to be loaded."""
        main, draft = self.at(queued.request.kv_bits)
        assert main is not None
        may_copy = draft is None or draft.info.drafter is None  # a drafter needs its states
        reply = queued.start(main, self.store, self.history, may_copy=may_copy)
        self.draft_for(reply)
        return reply

    def draft_for(self, reply: Reply) -> None:
        """Let a reply draft with this pair, from its next round on."""
        chat = reply.sequence
        proposers: list[Proposer] = []
        if reply.sampler.guide is not None:
            proposers.append(ForcedProposer(reply.sampler.guide))
        proposers += reply.predicted()
        if self.station is not None and not reply.sampler.rejects:
            begins = reply.rounds.may_draft
            proposers.append(StationProposer(self.station, self.history, reply.sampler, chat.tokens, begins=begins))
        main, draft = self._with_eight_bits
        draft = draft if chat.model is main else self.draft
        if draft is not None:
            proposers.append(proposer_of(draft, chat.model, self.store, chat.turn_end, chat.tokens, chat))
        proposers.append(LookupProposer(chat.model.ends))
        controller = make_controller(reply.request.speculation, self.history)
        asked = [message.content for message in reply.request.messages[-_ASKED_MESSAGES:]]
        kind = KindReader(asked, chat.model.tokenizer.decode, reply.stats.prompt_tokens).kind
        reply.draft_with(Drafting(proposers, controller, kind_of=kind), self.history)

    def _tell_station(self) -> None:
        """The draft of the present pair. A drafter reads the main model's states, so it stays here."""
        main = self.main
        draft = self.draft
        if self.station is None:
            return
        if main is None or draft is None or draft.info.drafter is not None or draft.translation is not None:
            self.station.use(None)
            return
        self.history.same[SOURCE] = draft.source
        needed_bytes = draft.need.at(CONVERSATIONS * LEAST_CONTEXT_TOKENS)
        ends = tuple(sorted(draft.ends))
        self.station.use(DraftOrder(draft.info.folder, main.logit_width, ends, needed_bytes))

    def at(self, kv_bits: int | None) -> tuple[LoadedModel | None, LoadedModel | None]:
        """Main model and draft with keys and values of so many bits; None: as many as memory allows."""
        bits = self._usual_bits if kv_bits is None else kv_bits
        return self._with_eight_bits if bits == 8 else (self.main, self.draft)

    @property
    def _usual_bits(self) -> int:
        if self.main is None or self.main.eight_bits is None:
            return 16
        fitting = self.main.need.fitting_tokens(most_bytes())  # with another draft the text stays the same
        return 8 if takes_eight_bits(fitting, self.main.info.context_tokens) else 16

    def keep_only(self, conversations: Collection[str]) -> None:
        """Delete what is kept of all other conversations; what has no conversation's name stays."""
        self.store.keep_only(conversations)
        if self.station is not None:
            self.station.forget()
        if self.main is not None:
            Steps.of(self.main).keep_only(conversations)

    @property
    def batching(self) -> Batching:
        """What batches of the main model can do; tried while idle, or now if that was not possible yet."""
        while self._may_be_tried:
            self._try_batching()
        return self._batching

    @property
    def _may_be_tried(self) -> bool:
        return self._trial is not None or self._draft_trial is not None

    def _try_batching(self) -> None:
        """A forward of a trial. One that is interrupted is over, and has found nothing."""
        trial = self._trial
        draft_trial = self._draft_trial
        if trial is not None:
            self._trial = None
            self._trial, self._batching = _tried(trial, self._batching)
        elif draft_trial is not None and self.draft is not None:
            self._draft_trial = None
            self._draft_trial, found = _tried(draft_trial, Batching())
            if found.drafts:
                self.history.draft_in_rows(self.draft.source)

    def make_room(self, needed_bytes: int) -> tuple[bool, bool]:
        """Free what is held for measuring, then kept caches, while memory is short or lacks `needed_bytes`.

        Returns whether it still is short, and whether only `needed_bytes` are lacking.
        """
        short = is_short() or (self.main is not None and self.main.short())
        while short or lacks(needed_bytes):
            if not (self._tuner.let_go() or self.store.evict_oldest()):
                return short, not short
            short = is_short()  # what that frees on other ranks is known after their next step
        return False, False

    @property
    def has_idle_work(self) -> bool:
        return self.store.has_unwritten or self._rates.has_news or self._may_try or self._may_measure

    def idle_step(self) -> None:
        """A slice of writing kept caches and accept rates to disk, or of measuring."""
        if self.store.has_unwritten:
            self.store.write_step()
        elif self._rates.has_news:
            self._rates.write()
        elif self._may_try:
            self._try_batching()
        elif self._may_measure:
            self._tuner.step()

    def news(self) -> list[DrafterExamined | ModelMeasured]:
        """The drafter's examination and the main model's times, once, when all is measured."""
        if self._reported or self._tuner.pending or self.main is None:
            return []
        self._reported = True
        self._expect_as_examined()
        news: list[DrafterExamined | ModelMeasured] = []
        known = self.history.costs.calibration
        if self.draft is not None and known.per_pass is not None:
            news.append(DrafterExamined(self.draft.info.folder, known.per_pass, known.misread))
        if self.history.costs.calibrated:
            times, *others = self._tuner.measured(self.main)
            news.append(ModelMeasured(self.main.info.folder, times, tuple(others), known.rounding))
        return news

    @property
    def _may_try(self) -> bool:
        """The first prices come before: a single reply needs them."""
        return self._may_be_tried and not self.spares and (self._tuner.refines or not self._tuner.pending)

    @property
    def _may_measure(self) -> bool:
        return self._tuner.pending and not (self.spares or (self.on_battery and self._tuner.refines))

    def _recall_costs(self) -> None:
        """Load the calibration and the accept rates of a new pair, so that its first reply has them too."""
        self.history = History()
        self.sharing = Sharing(self.history)
        self._tuner.stop()
        self._rates.begin(self.main, self.draft, self.history)
        self._reported = False
        main, draft = self.at(None)
        if main is not None:
            try:
                self._tuner.begin(main, draft, self.history.costs)
            except Exception:  # noqa: BLE001  replies can run without prices
                _log.warning("%s cannot be measured", main.info.name, exc_info=True)
        self._expect_as_examined()

    def _expect_as_examined(self) -> None:
        """A drafter's examination says more than what is published."""
        per_pass = self.history.costs.calibration.per_pass
        if self.draft is not None and per_pass is not None:
            self.history.expect(self.draft.source, acceptance_of(per_pass, LONGEST))

    def _set_limits(self) -> None:
        set_limits(*(model.need for model in self.at(None) if model is not None))


def _tried(trial: Trial, so_far: Batching) -> tuple[Trial | None, Batching]:
    """The trial after its next forward, None: it has ended; and what it has found."""
    try:
        next(trial)
    except StopIteration as end:
        return None, end.value
    return trial, so_far
