"""Lists of models on a hub and one model's page, for display, and which fields of them are accepted.

There is one search and one page at a time; a newer one closes the older one's socket, which then sends no more events.
Each step has a thread of its own and ends by itself. download.py installs.
"""

from __future__ import annotations

import itertools
import logging
import math
import re
import threading
from collections import deque
from collections.abc import Collection, Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from urllib.parse import urlencode

from engine.api.errors import (
    EngineError,
    HubMisbehaved,
    HubOffline,
    HubSilence,
    HubUnreachable,
    RepositoryNotFound,
    as_engine_error,
)
from engine.api.events import PageFailed, PageRead, SearchFailed, SearchResults, Sink, StoreEvent
from engine.api.hub import HubKind, HubModel, HubPage, HubQuery, HubSort, SearchId
from engine.api.types import DrafterKind, ModelInfo
from engine.hub.client import HubClient, from_any
from engine.hub.http import Hub
from engine.hub.repository import drafter_in, listed_files
from engine.hub.stop import HubPatience, Jobs, StopKind, Stopped, StopSignal, without_password
from engine.models.drafter_kinds import KINDS, drafter_kind, kind_in_name, searched_words
from engine.models.drafters import MTP
from engine.models.fit import estimated_weight_bytes
from engine.models.model_files import KIB, JsonObject, object_at
from engine.models.names import is_named_after, is_repository, stem
from engine.models.vision_config import tower_of

_STEP_MODELS = 40  # a step ends after so many models …
_STEP_ANSWERS = 8  # … or after so many answers
_THREAD = "hub-search"
_CARD = "README.md"
_CARD_BYTES = 256 * KIB
_LONGEST_ASKED_S = 3.0  # seconds: a user is looking at an empty list
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)

_log = logging.getLogger(__name__)


# A hub's lists of models as values. Pure: anyone can run a hub, so every field is checked and bounded. An entry with an
# impossible name is left out; any other invalid field counts as missing.


PAGE = 50
_MOST = 2**53  # above, a number in JSON is no exact integer
_MOST_TAGS = 500
_MOST_BASES = 4
_FIELDS = ("config", "downloads", "gated", "lastModified", "likes", "safetensors", "tags")
_SORTS = {HubSort.DOWNLOADS: "downloads", HubSort.LIKES: "likes", HubSort.UPDATED: "lastModified"}
_WIDTHS = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "I16": 2, "U16": 2}
_SEEING = "image-text-to-text"
_PACKED = "U32"
_FULL_BITS = 16.0
_PLAIN = re.compile(r"[\w.-]{1,60}", re.ASCII)
_SIZE_IN_NAME = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d{1,3})?)([bm])(?![a-z0-9])", re.IGNORECASE)
_BITS_IN_NAME = re.compile(r"(?<!\d)([2-8])-?bit", re.IGNORECASE)
_BASE = re.compile(r"base_model:(?:[a-z]+:)?([^:\s]{3,200})")
_MTP_NAME = re.compile(r"(?:^|[-_.])mtp(?:$|[-_.])", re.IGNORECASE)
_ASSISTANT_NAME = re.compile(r"gemma-?4.*-it-(?:qat-)?assistant\b", re.IGNORECASE)
_HEAD_SHARE = 0.4  # a head alone is smaller than this share of the size in its name; a model with its head is larger


def questions(query: HubQuery) -> list[str]:
    """The first page of each list for the query, as paths at the hub, the most specific first.

    Drafters are rarely tagged as MLX, because they are published as trained; so they are searched by name.
    """
    main = query.drafts_for
    words = f"{query.text} {query.family}".strip()[:200]
    if main is not None:
        named = [f"{stem(main.name)} {word}" for word in _words_of_drafters(main)]
        words = words or re.split(r"[-_]", main.name)[0]
        return [*(_question(query, each, mlx=False) for each in named), _question(query, words, mlx=True)]
    if query.kind is HubKind.DRAFTER:
        return [_question(query, f"{words} {kind}".strip(), mlx=False) for kind in searched_words()]
    return [_question(query, words, mlx=True)]


def _words_of_drafters(main: ModelInfo) -> list[str]:
    head = KINDS[MTP].searched
    assisted = main.model_type.startswith("gemma4")
    return ["assistant" if assisted and word == head else word for word in searched_words()]


def rank(model: HubModel, query: HubQuery) -> float:
    """The sort key of a query's lists, highest first."""
    return {HubSort.DOWNLOADS: model.downloads, HubSort.LIKES: model.likes, HubSort.UPDATED: model.updated_at}[
        query.sort
    ]


def hub_models(answer: Iterable[object]) -> list[HubModel]:
    return [model for model in map(hub_model, answer) if model is not None]


def hub_model(entry: object) -> HubModel | None:
    """None for an entry that cannot be a repository."""
    if not isinstance(entry, dict):
        return None
    repository = entry.get("id") or entry.get("modelId")
    if not is_repository(repository):
        return None
    name = str(repository).partition("/")[2]
    tags = _tags(entry)
    config = object_at(entry, "config")
    counts = _counts(object_at(entry, "safetensors"))
    bits = _bits(config, tags, name, counts)
    parameters = _parameters(counts, bits) or _size_in(name)
    size_bytes = sum(_WIDTHS.get(kind, 1) * number for kind, number in counts.items())
    drafter = _drafter(config, name, size_bytes, bits)
    packed_bits = bits if 0 < bits < _FULL_BITS else None
    estimated_bytes = 0 if size_bytes else estimated_weight_bytes(parameters, packed_bits)
    return HubModel(
        repository=str(repository),
        model_type=_plain(config.get("model_type")),
        parameters=parameters,
        bits=bits,
        size_bytes=size_bytes or estimated_bytes,
        size_is_estimated=bool(estimated_bytes),
        downloads=_whole(entry.get("downloads")),
        likes=_whole(entry.get("likes")),
        updated_at=_time(entry.get("lastModified")),
        gated=entry.get("gated") in (True, "auto", "manual"),
        license=_license(tags),
        drafter=drafter,
        sees=drafter is None and tower_of(config) is not None and _SEEING in (*tags, entry.get("pipeline_tag")),
        base_models=_bases(tags),
    )


def is_wanted(model: HubModel, query: HubQuery) -> bool:
    """Whether the model is within the query's limits. Hubs do not support all of them, and may ignore any."""
    author = query.author.strip().casefold()
    return (
        (not author or model.author.casefold() == author)
        and _is_of_family(model, query.family)
        and (not query.bits or round(model.bits) == query.bits)
        and (not query.most_bytes or 0 < model.size_bytes <= query.most_bytes)
        and (query.kind is HubKind.ANY or (model.drafter is not None) == (query.kind is HubKind.DRAFTER))
        and (query.drafts_for is None or drafts_for(model, query.drafts_for))
    )


def drafts_for(model: HubModel, main: ModelInfo) -> bool:
    """Whether it may draft for this main model, by its entry: its drafter, or a smaller model of its family."""
    if model.drafter is not None:
        bases = (stem(base.partition("/")[2]) for base in model.base_models)
        return is_named_after(model.name, main.name) or stem(main.name) in bases
    family = model.model_type or _family(model.name)
    same = family == (main.model_type if model.model_type else _family(main.name))
    return same and 0 < model.parameters <= main.parameters // 2


def _is_of_family(model: HubModel, family: str) -> bool:
    """ "Qwen3" does not include "Qwen3.5-4B" or "Qwen2"."""
    wanted = re.escape(family.strip().casefold())
    return re.search(rf"(?<![a-z\d]){wanted}(?!\.\d)", model.name.casefold()) is not None


def _question(query: HubQuery, words: str, mlx: bool) -> str:
    """In the form of the hub's own client; sorted in descending order."""
    asked = [("limit", str(PAGE)), ("sort", _SORTS[query.sort])]
    asked += [("search", words)] if words else []
    asked += [("author", query.author.strip()[:100])] if query.author.strip() else []
    asked += [("filter", "mlx")] if mlx else []
    return "api/models?" + urlencode([*asked, *(("expand", field) for field in _FIELDS)])


# Fields of an entry


def _whole(value: object) -> int:
    return value if type(value) is int and 0 <= value < _MOST else 0


def _plain(value: object) -> str:
    return value if isinstance(value, str) and _PLAIN.fullmatch(value) else ""


def _tags(entry: JsonObject) -> list[str]:
    tags = entry.get("tags")
    return [tag for tag in tags[:_MOST_TAGS] if isinstance(tag, str)] if isinstance(tags, list) else []


def _license(tags: Iterable[str]) -> str:
    return next((_plain(tag[len("license:") :]) for tag in tags if tag.startswith("license:")), "")


def _bases(tags: Iterable[str]) -> tuple[str, ...]:
    found = [match[1] for tag in tags if (match := _BASE.fullmatch(tag)) and is_repository(match[1])]
    return tuple(dict.fromkeys(found))[:_MOST_BASES]


def _time(value: object) -> float:
    if not isinstance(value, str) or len(value) > 40:
        return 0.0
    try:
        date = datetime.fromisoformat(value)
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return 0.0


def _counts(safetensors: JsonObject) -> dict[str, int]:
    """Number of weights by type."""
    parameters = object_at(safetensors, "parameters")
    if len(parameters) > len(_WIDTHS) * 2:
        return {}
    return {kind: number for kind, value in parameters.items() if (number := _whole(value))}


def _bits(config: JsonObject, tags: Collection[str], name: str, counts: dict[str, int]) -> float:
    received = object_at(config, "quantization_config").get("bits") or object_at(config, "quantization").get("bits")
    if type(received) in (int, float) and 1 <= received <= 16:  # type: ignore[operator]
        return float(received)  # type: ignore[arg-type]
    tagged = next((tag for tag in tags if re.fullmatch(r"[2-8]-bit", tag)), "")
    if found := _BITS_IN_NAME.search(tagged) or _BITS_IN_NAME.search(name):
        return float(found[1])
    return _FULL_BITS if counts and _PACKED not in counts else 0.0


def _parameters(counts: dict[str, int], bits: float) -> int:
    """Quantized weights are packed into words of 32 bits; all others are scales and norms."""
    packed = counts.get(_PACKED, 0)
    if packed and 0 < bits < _FULL_BITS:
        return round(packed * 32 / bits)
    return sum(counts.values())


def _size_in(name: str) -> int:
    found = _SIZE_IN_NAME.search(name)
    return round(float(found[1]) * (1e9 if found[2] in "bB" else 1e6)) if found else 0


def _drafter(config: JsonObject, name: str, size_bytes: int, bits: float) -> DrafterKind | None:
    if (kind := drafter_kind(config)) is not None:
        return kind
    whole_bytes = _size_in(name) * (bits or _FULL_BITS) / 8
    is_head = _MTP_NAME.search(name) is not None and 0 < size_bytes < _HEAD_SHARE * whole_bytes
    return kind_in_name(name) or (MTP if is_head or _ASSISTANT_NAME.search(name) else None)


def _family(name: str) -> str:
    return re.split(r"[-_]", name)[0].casefold()


@dataclass
class _List:
    """One list of the hub, in the requested order. Its received models are not all sent yet."""

    path: str | None  # of its next page; None: the list has ended
    received: deque[HubModel] = field(default_factory=deque)
    lowest: float = math.inf  # no later model of it ranks above that
    failed: bool = False

    @property
    def can_go_on(self) -> bool:
        return self.path is not None and not self.failed


@dataclass
class _Search:
    """Several lists merged into one in the requested order."""

    number: SearchId
    query: HubQuery
    places: list[Hub]
    lists: list[_List]
    error: EngineError | None = None  # why some lists failed
    answered: bool = False  # whether any list was answered
    seen: set[str] = field(default_factory=set)
    stop: StopSignal = field(default_factory=StopSignal)
    turn: threading.Lock = field(default_factory=threading.Lock)  # serialises the steps of one search

    def to_ask(self) -> _List | None:
        """The list to read next: the one that may have the highest rank. None: the next result is known."""
        best = max((rank(each.received[0], self.query) for each in self.lists if each.received), default=-1.0)
        unknown = [each for each in self.lists if each.can_go_on and not each.received and each.lowest > best]
        return max(unknown, key=lambda each: each.lowest, default=None)

    def ready(self, *, at_any_rate: bool = False) -> list[HubModel]:
        """The next results as far as known; `at_any_rate`: as if the lists had ended."""
        models: list[HubModel] = []
        while (received := [each for each in self.lists if each.received]) and (at_any_rate or self.to_ask() is None):
            models.append(max(received, key=lambda each: rank(each.received[0], self.query)).received.popleft())
        return models

    def ask_again(self) -> None:
        for each in self.lists:
            each.failed = False
        self.error = None

    def go_on_without(self, asked: _List, error: EngineError) -> None:
        """Continue without this list. Raises `error` if the others will hardly answer, either."""
        _log.info("A part of a search has no answer: %s", error)
        asked.failed = True
        self.error = self.error or error
        failed = sum(each.failed for each in self.lists)
        hopeless = not self.answered and (failed > 1 or self.to_ask() is None)
        if hopeless or not _may_pass(error, self.answered):
            raise error

    def results(self, models: list[HubModel], reading: bool) -> SearchResults:
        more = any(each.can_go_on or each.received for each in self.lists)
        return SearchResults(self.number, tuple(models), reading, more, None if reading else self.error)


class Searches:
    def __init__(self, sink: Sink, patience: HubPatience, jobs: Jobs) -> None:
        self._sink = sink
        self._jobs = jobs
        self._patience = replace(patience, longest_asked_s=_LONGEST_ASKED_S)
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._search: _Search | None = None
        self._page_stop = StopSignal()

    def search(self, hub: Hub, query: HubQuery) -> SearchId:
        search = _Search(SearchId(next(self._ids)), query, hub.places(), [_List(path) for path in questions(query)])
        with self._lock:
            former = self._search
            self._search = search
        if former is not None:
            former.stop.request(StopKind.CANCEL)
        self._jobs.start(_THREAD, lambda: self._step(search), search.stop)
        return search.number

    def more(self, hub: Hub, number: SearchId) -> None:
        with self._lock:
            search = self._search
        if search is not None and search.number == number:
            search.places = hub.places()
            if search.stop.kind is StopKind.OFFLINE:
                search.stop = StopSignal()
            self._jobs.start(_THREAD, lambda: self._step(search), search.stop)

    def read_page(self, hub: Hub, repository: str) -> None:
        stop = StopSignal()
        with self._lock:
            former = self._page_stop
            self._page_stop = stop
        former.request(StopKind.CANCEL)
        self._jobs.start(_THREAD, lambda: self._read_page(hub, repository, stop), stop)

    def _send(self, event: StoreEvent, stop: StopSignal) -> None:
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
                self._send(SearchFailed(search.number, _as_reported(error)), search.stop)

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
                # A list that goes on without wanted models does not hold back the others.
                models += search.ready(at_any_rate=not found)
                self._send(search.results(models, reading=False), search.stop)
                return
            self._send(search.results(models, reading=True), search.stop)
        self._send(search.results(search.ready(at_any_rate=not found), reading=False), search.stop)

    def _read_on(self, search: _Search, asked: _List) -> None:
        """The next page of a list: its new and wanted models join the merge."""
        assert asked.path is not None
        path = asked.path
        answer, asked.path = from_any(search.places, lambda hub: self._ask(hub, path, search.stop))
        search.answered = True
        received = {model.repository: model for model in hub_models(answer)}
        fresh = [model for name, model in received.items() if name not in search.seen]
        search.seen |= received.keys()
        asked.received.extend(model for model in fresh if is_wanted(model, search.query))
        asked.lowest = rank(list(received.values())[-1], search.query) if received else asked.lowest

    def _ask(self, hub: Hub, path: str, stop: StopSignal) -> tuple[list[object], str | None]:
        with closing(HubClient(hub, hub.endpoint, stop, self._patience)) as client:
            return client.ask_list(path)

    def _read_page(self, hub: Hub, repository: str, stop: StopSignal) -> None:
        try:
            if not is_repository(repository):
                raise RepositoryNotFound(repository)
            from_any(hub.places(), lambda place: self._page(place, repository, stop))
        except Stopped:
            if stop.kind is StopKind.OFFLINE:
                self._sink(PageFailed(repository, HubOffline(repository)))
        except Exception as error:  # noqa: BLE001 - the thread's boundary
            self._send(PageFailed(repository, _as_reported(error)), stop)

    def _page(self, hub: Hub, repository: str, stop: StopSignal) -> None:
        """Sends the page at once, and again with its card, which nothing waits for."""
        with closing(HubClient(hub, repository, stop, self._patience)) as client:
            info, _ = client.ask(f"api/models/{repository}/revision/main")
            commit = client.commit_of(info)
            model = hub_model(info)
            if model is None:
                raise HubMisbehaved(repository, "a page without a repository")
            if model.repository.casefold() != repository.casefold():  # it was renamed
                model = replace(model, repository=repository)
            files = tuple(listed_files(repository, client.entries(commit)))
            drafters = tuple(found for file in files if (found := drafter_in(repository, file.name)))
            page = HubPage(model, f"{hub.endpoint.rstrip('/')}/{repository}", "", files, drafters)
            self._send(PageRead(page), stop)
            if any(file.name == _CARD for file in files) and (card := _card(client, commit)):
                self._send(PageRead(replace(page, card=card)), stop)


def _card(client: HubClient, commit: str) -> str:
    try:
        card = client.head_of(commit, _CARD, _CARD_BYTES).decode("utf-8", "replace")
    except (EngineError, Stopped) as error:
        _log.info("The hub did not answer for a model's card: %s", type(error).__name__)
        return ""
    return _FRONT_MATTER.sub("", card, count=1)


def _may_pass(error: EngineError, answered: bool) -> bool:
    """Whether another question may succeed: this one was too large for the hub, or its answer was invalid.

    A hub that has `answered` nothing so far is not tried again and again.
    """
    if isinstance(error, HubUnreachable):
        slow = error.reason is HubSilence.TIMED_OUT and answered
        return slow or error.reason in (HubSilence.BUSY, HubSilence.BROKE_OFF)
    return isinstance(error, HubMisbehaved)


def _as_reported(error: Exception) -> EngineError:
    if isinstance(error, EngineError):
        _log.info("The hub did not answer: %s", error)  # the user is shown the reason only
    else:
        _log.error("A question to the hub failed", exc_info=error)
    return as_engine_error(error)
