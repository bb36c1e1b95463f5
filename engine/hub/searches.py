"""What a person asks of a hub while looking around: lists of models, and one model's page.

There is one search and one page at a time; a newer one shuts the line of the one before it, and nothing more is heard
of that. Each step has a thread of its own and ends by itself. Installing is download.py's business.
"""

from __future__ import annotations

import itertools
import logging
import math
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
    RepositoryNotFound,
)
from engine.api.events import PageFailed, PageRead, SearchFailed, SearchResults, Sink, StoreEvent
from engine.api.hub import HubModel, HubPage, HubQuery, SearchId
from engine.hub.client import Hub, HubClient, from_any
from engine.hub.listing import hub_model, hub_models, is_wanted, questions, rank
from engine.hub.repository import drafter_in, is_repository, listed_files
from engine.hub.retries import Patience
from engine.hub.silence import without_password
from engine.hub.stop import StopKind, Stopped, StopSignal
from engine.models.model_files import KIB

_STEP_MODELS = 40  # a step goes on until so many were found …
_STEP_ANSWERS = 8  # … or so many answers were read
_CARD = "README.md"
_CARD_BYTES = 256 * KIB
_LONGEST_ASKED_S = 3.0  # somebody looks at an empty list
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)

_log = logging.getLogger(__name__)


@dataclass
class _List:
    """One list of the hub, in the order that was asked for. What it has told is not shown yet."""

    path: str | None  # of its next page, below the hub's address; None: it has ended
    told: deque[HubModel] = field(default_factory=deque)
    lowest: float = math.inf  # nothing that it will tell ranks above that
    failed: bool = False

    @property
    def can_go_on(self) -> bool:
        return self.path is not None and not self.failed


@dataclass
class _Search:
    """Several lists as one: what they tell is merged by the order that was asked for."""

    number: SearchId
    query: HubQuery
    places: list[Hub]
    lists: list[_List]
    error: EngineError | None = None  # why some of them failed
    answered: bool = False  # any of them
    seen: set[str] = field(default_factory=set)
    stop: StopSignal = field(default_factory=StopSignal)
    turn: threading.Lock = field(default_factory=threading.Lock)  # steps of one search follow each other

    def to_ask(self) -> _List | None:
        """A list that may have what comes next; of several the one that has most to say. None: that is known."""
        best = max((rank(each.told[0], self.query) for each in self.lists if each.told), default=-1.0)
        unknown = [each for each in self.lists if each.can_go_on and not each.told and each.lowest > best]
        return max(unknown, key=lambda each: each.lowest, default=None)

    def ready(self, *, at_any_rate: bool = False) -> list[HubModel]:
        """What comes next, as far as that is known, or as if the lists had no more than they have told."""
        models: list[HubModel] = []
        while (told := [each for each in self.lists if each.told]) and (at_any_rate or self.to_ask() is None):
            models.append(max(told, key=lambda each: rank(each.told[0], self.query)).told.popleft())
        return models

    def ask_again(self) -> None:
        for each in self.lists:
            each.failed = False
        self.error = None

    def go_on_without(self, asked: _List, error: EngineError) -> None:
        """With the other lists. Raises `error` where they will hardly be answered, either."""
        _log.info("A part of a search has no answer: %s", error)
        asked.failed = True
        self.error = self.error or error
        failed = sum(each.failed for each in self.lists)
        hopeless = not self.answered and (failed > 1 or self.to_ask() is None)
        if hopeless or not _may_pass(error, self.answered):
            raise error

    def results(self, models: list[HubModel], reading: bool) -> SearchResults:
        more = any(each.can_go_on or each.told for each in self.lists)
        return SearchResults(self.number, tuple(models), reading, more, None if reading else self.error)


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
        search = _Search(SearchId(next(self._ids)), query, hub.places(), [_List(path) for path in questions(query)])
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
            if (asked := search.to_ask()) is not None:
                try:
                    self._read_on(search, asked)
                except EngineError as error:
                    search.go_on_without(asked, error)
                    continue
            models = search.ready()
            found += len(models)
            if search.to_ask() is None or found >= _STEP_MODELS or answer + 1 == _STEP_ANSWERS:
                # Where one list goes on and on with what is not wanted, those that wait for it are not held back.
                models += search.ready(at_any_rate=not found)
                self._tell(search.results(models, reading=False), search.stop)
                return
            self._tell(search.results(models, reading=True), search.stop)
        self._tell(search.results(search.ready(at_any_rate=not found), reading=False), search.stop)

    def _read_on(self, search: _Search, asked: _List) -> None:
        """The next page of a list: what is new and wanted there waits for its turn."""
        assert asked.path is not None
        path = asked.path
        answer, asked.path = from_any(search.places, lambda hub: self._ask(hub, path, search.stop))
        search.answered = True
        told = {model.repository: model for model in hub_models(answer)}
        fresh = [model for name, model in told.items() if name not in search.seen]
        search.seen |= told.keys()
        asked.told.extend(model for model in fresh if is_wanted(model, search.query))
        asked.lowest = rank(list(told.values())[-1], search.query) if told else asked.lowest

    def _ask(self, hub: Hub, path: str, stop: StopSignal) -> tuple[list[object], str | None]:
        client = HubClient(hub, hub.endpoint, stop, self._patience)
        try:
            return client.ask_list(path)
        finally:
            client.close()

    def _read_page(self, hub: Hub, repository: str, stop: StopSignal) -> None:
        try:
            if not is_repository(repository):
                raise RepositoryNotFound(repository)
            from_any(hub.places(), lambda place: self._page(place, repository, stop))
        except Stopped:
            if stop.kind is StopKind.OFFLINE:
                self._sink(PageFailed(repository, HubOffline(repository)))
        except Exception as error:  # noqa: BLE001 - the thread's boundary
            self._tell(PageFailed(repository, _told(error)), stop)

    def _page(self, hub: Hub, repository: str, stop: StopSignal) -> None:
        """Tells of the page at once, and again with its card, which nothing waits for."""
        client = HubClient(hub, repository, stop, self._patience)
        try:
            info, _ = client.ask(f"api/models/{repository}/revision/main")
            commit, model = client.commit_of(info), hub_model(info)
            if model is None or model.repository.casefold() != repository.casefold():
                raise HubMisbehaved(repository, "the page of another repository")
            files = tuple(listed_files(repository, client.entries(commit)))
            drafters = tuple(found for file in files if (found := drafter_in(repository, file.name)))
            page = HubPage(model, f"{hub.endpoint.rstrip('/')}/{repository}", commit, "", files, drafters)
            self._tell(PageRead(page), stop)
            if any(file.name == _CARD for file in files) and (card := _card(client, commit)):
                self._tell(PageRead(replace(page, card=card)), stop)
        finally:
            client.close()


def _card(client: HubClient, commit: str) -> str:
    try:
        card = client.head_of(commit, _CARD, _CARD_BYTES).decode("utf-8", "replace")
    except (EngineError, Stopped) as error:
        _log.info("The hub did not answer for a model's card: %s", type(error).__name__)
        return ""
    return _FRONT_MATTER.sub("", card, count=1)


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
