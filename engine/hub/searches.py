"""What a person asks of a hub while looking around: lists of models, and one model's page.

There is one search and one page at a time; a newer one shuts the line of the one before it, and nothing more is heard
of that. Each step has a thread of its own and ends by itself. Installing is download.py's business.
"""

from __future__ import annotations

import itertools
import logging
import re
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from engine.api.errors import (
    EngineError,
    HubMisbehaved,
    HubOffline,
    HubSilence,
    HubUnreachable,
    InternalError,
)
from engine.api.events import PageFailed, PageRead, SearchFailed, SearchResults, Sink, StoreEvent
from engine.api.hub import HubModel, HubPage, HubQuery, SearchId
from engine.hub.client import Hub, HubClient, Patience, from_any
from engine.hub.listing import hub_model, hub_models, is_wanted, questions
from engine.hub.repository import check_repository, listed_files
from engine.hub.silence import without_password
from engine.hub.stop import StopKind, Stopped, StopSignal
from engine.models.model_files import KIB

_STEP_MODELS = 40  # a step goes on until so many were found …
_STEP_ANSWERS = 8  # … or so many answers were read
_CARD_BYTES = 256 * KIB
_LONGEST_ASKED_S = 3.0  # somebody looks at an empty list
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)

_log = logging.getLogger(__name__)


@dataclass
class _Search:
    number: SearchId
    query: HubQuery
    places: list[Hub]
    left: deque[str]  # questions, as paths below the hub's address
    unanswered: list[str] = field(default_factory=list)  # those that failed
    error: EngineError | None = None  # why
    answered: bool = False  # any of them
    seen: set[str] = field(default_factory=set)
    stop: StopSignal = field(default_factory=StopSignal)
    turn: threading.Lock = field(default_factory=threading.Lock)  # steps of one search follow each other

    def ask_again(self) -> None:
        self.left.extendleft(reversed(self.unanswered))
        self.unanswered, self.error = [], None

    def go_on_without(self, error: EngineError) -> None:
        """With the other questions. Raises `error` where they will hardly be answered, either."""
        _log.info("A part of a search has no answer: %s", error)
        self.unanswered.append(self.left.popleft())
        self.error = self.error or error
        hopeless = not self.answered and (len(self.unanswered) > 1 or not self.left)
        if hopeless or not _may_pass(error, self.answered):
            raise error

    def results(self, models: list[HubModel], reading: bool) -> SearchResults:
        return SearchResults(self.number, tuple(models), reading, bool(self.left), None if reading else self.error)


class Searches:
    def __init__(self, sink: Sink, patience: Patience) -> None:
        self._sink = sink
        self._patience = replace(patience, longest_asked_s=_LONGEST_ASKED_S)
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._search: _Search | None = None
        self._page_stop = StopSignal()
        self._threads: list[threading.Thread] = []
        self._closed = False

    def search(self, hub: Hub, query: HubQuery) -> SearchId:
        search = _Search(SearchId(next(self._ids)), query, hub.places(), deque(questions(query)))
        with self._lock:
            former, self._search = self._search, search
        if former is not None:
            former.stop.request(StopKind.CANCEL)
        self._start(lambda: self._step(search), search.stop)
        return search.number

    def more(self, hub: Hub, number: SearchId) -> None:
        with self._lock:
            search = self._search
        if search is not None and search.number == number:
            search.places = hub.places()
            if search.stop.kind is StopKind.OFFLINE:
                search.stop = StopSignal()
            self._start(lambda: self._step(search), search.stop)

    def read_page(self, hub: Hub, repository: str) -> None:
        stop = StopSignal()
        with self._lock:
            former, self._page_stop = self._page_stop, stop
        former.request(StopKind.CANCEL)
        self._start(lambda: self._read_page(hub, repository, stop), stop)

    def go_offline(self) -> None:
        """What is being asked fails with HubOffline, at once."""
        with self._lock:
            self._stop_all(StopKind.OFFLINE)

    def close(self, deadline: float) -> bool:
        with self._lock:
            self._closed = True
            self._stop_all(StopKind.CANCEL)
            threads = list(self._threads)
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _start(self, work: Callable[[], None], stop: StopSignal) -> None:
        thread = threading.Thread(target=work, name="hub-search", daemon=True)
        with self._lock:
            self._threads = [each for each in self._threads if each.is_alive()] + [thread]
            if self._closed:
                stop.request(StopKind.CANCEL)
            thread.start()

    def _stop_all(self, kind: StopKind) -> None:
        self._page_stop.request(kind)
        if self._search is not None:
            self._search.stop.request(kind)

    def _tell(self, event: StoreEvent, stop: StopSignal) -> None:
        if stop.kind is not StopKind.CANCEL:
            self._sink(event)

    def _step(self, search: _Search) -> None:
        with search.turn:
            try:
                self._read_lists(search)
            except Stopped:
                if search.stop.kind is StopKind.OFFLINE:
                    error = HubOffline(without_password(search.places[0].endpoint))
                    self._sink(SearchFailed(search.number, error))
            except Exception as error:  # noqa: BLE001 - the thread's boundary
                self._tell(SearchFailed(search.number, _told(error)), search.stop)

    def _read_lists(self, search: _Search) -> None:
        search.ask_again()
        found = 0
        for answer in range(_STEP_ANSWERS):
            if not search.left:
                break
            try:
                models = self._next_answer(search)
            except EngineError as error:
                search.go_on_without(error)
                continue
            found += len(models)
            reading = bool(search.left) and found < _STEP_MODELS and answer + 1 < _STEP_ANSWERS
            self._tell(search.results(models, reading), search.stop)
            if not reading:
                return
        self._tell(search.results([], reading=False), search.stop)

    def _next_answer(self, search: _Search) -> list[HubModel]:
        """What is new and wanted in the next list; that list is then behind us."""
        path = search.left[0]
        answer, following = from_any(search.places, lambda hub: self._ask(hub, path, search.stop))
        search.answered = True
        search.left.popleft()
        if following is not None:
            search.left.appendleft(following)
        told = {model.repository: model for model in hub_models(answer)}
        fresh = [model for name, model in told.items() if name not in search.seen]
        search.seen |= told.keys()
        return [model for model in fresh if is_wanted(model, search.query)]

    def _ask(self, hub: Hub, path: str, stop: StopSignal) -> tuple[list[object], str | None]:
        client = HubClient(hub, hub.endpoint, stop, self._patience)
        try:
            return client.ask_list(path)
        finally:
            client.close()

    def _read_page(self, hub: Hub, repository: str, stop: StopSignal) -> None:
        try:
            check_repository(repository)
            page = from_any(hub.places(), lambda place: self._page(place, repository, stop))
        except Stopped:
            if stop.kind is StopKind.OFFLINE:
                self._sink(PageFailed(repository, HubOffline(repository)))
        except Exception as error:  # noqa: BLE001 - the thread's boundary
            self._tell(PageFailed(repository, _told(error)), stop)
        else:
            self._tell(PageRead(page), stop)

    def _page(self, hub: Hub, repository: str, stop: StopSignal) -> HubPage:
        client = HubClient(hub, repository, stop, self._patience)
        try:
            info, _ = client.ask(f"api/models/{repository}/revision/main")
            commit, model = client.commit_of(info), hub_model(info)
            if model is None or model.repository.casefold() != repository.casefold():
                raise HubMisbehaved(repository, "the page of another repository")
            files = tuple(listed_files(repository, client.entries(commit)))
            card = client.head_of(commit, "README.md", _CARD_BYTES).decode("utf-8", "replace")
        finally:
            client.close()
        return HubPage(
            model, f"{hub.endpoint.rstrip('/')}/{repository}", commit, _FRONT_MATTER.sub("", card, count=1), files
        )


def _may_pass(error: EngineError, answered: bool) -> bool:
    """Whether another question may be answered: this one was too much for the hub, or its answer made no sense.

    A hub that has `answered` nothing so far is not waited for again and again.
    """
    if isinstance(error, HubUnreachable):
        slow = error.reason is HubSilence.TIMED_OUT and answered
        return slow or error.reason in (HubSilence.BUSY, HubSilence.BROKE_OFF)
    return isinstance(error, HubMisbehaved)


def _told(error: Exception) -> EngineError:
    if isinstance(error, EngineError):
        _log.info("The hub did not answer: %s", error)  # a person reads no more than the reason
        return error
    _log.error("A question to the hub failed", exc_info=error)
    return InternalError(f"{type(error).__name__}: {error}")
