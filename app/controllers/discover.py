"""Searching models on a hub: the search, its results, and the page of one model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal

from app.bridge import EngineBridge
from app.controllers.draft_choices import CHAT_TOKENS, has_known_draft
from app.controllers.library import LibraryController
from app.view_models.downloads import repository_in
from app.view_models.hub import DiscoverFilter, DiscoverState, HubEntry, HubList, Partner
from engine import (
    CatalogDraft,
    EngineError,
    Event,
    FitLevel,
    HubKind,
    HubModel,
    HubOffline,
    HubPage,
    HubQuery,
    HubSort,
    LibraryScanned,
    ModelInfo,
    ModelLibrary,
    ModelMeasured,
    PageFailed,
    PageRead,
    SearchFailed,
    SearchId,
    SearchResults,
    is_wanted,
    memory_fit,
    model_memory_bytes,
)

_SIZE = re.compile(r"(?<![\d.a-z])\d+(?:\.\d+)?[bm](?![a-z0-9])")  # in a name, such as 4b
_FITTING = tuple(FitLevel)  # best first
_PATIENCE_MS = 600  # after this wait for the hub, models known without it are shown


class DiscoverController(QObject):
    changed = Signal()
    page_changed = Signal()

    def __init__(
        self,
        store: ModelLibrary,
        bridge: EngineBridge,
        library: LibraryController,
        main: Callable[[], str],
        parent: QObject | None = None,
    ) -> None:
        """`main`: the repository of the chosen main model, or ""."""
        super().__init__(parent)
        self._store = store
        self._library = library
        self._main = main
        self._search: SearchId | None = None
        self.filter = DiscoverFilter()
        self.results = HubList()
        self.state = DiscoverState.RESTING
        self.error: EngineError | None = None
        self.missing: EngineError | None = None  # why some of what was asked got no answer
        self.from_hub = False  # what is shown; else it is what is known without it
        self.page_of = ""  # repository of the open page; "": none
        self.page: HubPage | None = None
        self.page_error: EngineError | None = None
        self._page_model: HubModel | None = None  # as a list, the catalog or its files have it
        self._patience = QTimer(self, singleShot=True, interval=_PATIENCE_MS)
        self._patience.timeout.connect(self._show_known)
        bridge.event_arrived.connect(self._on_event)

    def search(self, wanted: DiscoverFilter) -> None:
        self.filter = wanted
        self.results.clear()
        self.from_hub = False
        self._read_on()
        self._search = self._store.search(_query(wanted))
        self._patience.start()
        self.changed.emit()

    def more(self) -> None:
        """Load more results; after a failure, try again."""
        if self._search is not None and self.state is not DiscoverState.READING:
            self._read_on()
            self._store.more(self._search)
            self.changed.emit()

    def again(self) -> None:
        """Ask again for failed results; earlier ones stay."""
        if self.from_hub or self.missing is not None:
            self.more()
        else:
            self.search(self.filter)

    def go_on(self) -> None:
        """Ask again what offline mode refused."""
        if isinstance(self.error or self.missing, HubOffline):
            self.again()
        if self.page_of and isinstance(self.page_error, HubOffline):
            self.read_page(self.page_of)

    def ask_new_hub(self) -> None:
        """What the former address, mirror or token brought or failed with is not the present one's."""
        if self._search is not None:
            self.search(self.filter)
        if self.page_of:
            self.read_page(self.page_of)

    def read_page(self, repository: str) -> None:
        """Load a model's page, or retry it. Until then `page_entry` is known without the hub."""
        self.page_of = repository
        self.page = None
        self.page_error = None
        listed = {entry.model.repository: entry.model for entry in self.results.entries}
        self._page_model = listed.get(repository) or self._known().get(repository)
        self._store.read_page(repository)
        self.page_changed.emit()

    def close_page(self) -> None:
        self.page_of = ""
        self.page = None
        self.page_error = None
        self._page_model = None
        self.page_changed.emit()

    @property
    def page_entry(self) -> HubEntry | None:
        """What is known of the open page's model: by its page once loaded."""
        model = self.page.model if self.page is not None else self._page_model
        return self.entry(model) if model is not None else None

    def folder_of(self, repository: str) -> str:
        """The folder where it is installed and usable, else ""."""
        found = (
            each.folder for each in self._library.installed if each.repository == repository and each.info is not None
        )
        return next(found, "")

    def is_main(self, repository: str) -> bool:
        return bool(repository) and self._main() == repository

    def as_main(self, model: HubModel) -> ModelInfo:
        """What a hub knows of a model, and where it is installed: to look for drafts."""
        return replace(_info(model), folder=self.folder_of(model.repository))

    def partners(self, model: HubModel) -> list[Partner]:
        """Models to pair it with, the best first: drafters in its repository and those of the catalog.

        For a drafter one main model: the chosen one if it fits, else one like those it was measured with.
        """
        name = model.repository
        if model.drafter is None:
            within = self.page.drafters if self.page is not None and self.page.model == model else ()
            name = self._library.catalog.listed_as(name)
            drafts = self._library.catalog.drafts_for(name)
            return [
                *(self._partner(draft, name, draft) for draft in within),
                *(self._draft_of(name, draft) for draft in drafts),
            ]
        drafter = next((each for each in self._library.catalog.drafts if each.repository == name), None)
        if drafter is None:
            return []
        partners = [self._partner(main, main, name) for main in drafter.mains]
        chosen = [each for each in partners if self.is_main(each.repository)]
        measured = [each for each in partners if each.gain is not None and not each.gain.machine]
        return (chosen + measured + partners)[:1]

    def _draft_of(self, main: str, draft: CatalogDraft) -> Partner:
        partner = self._partner(draft.repository, main, draft.repository)
        return replace(partner, drafter=draft.kind, size_bytes=draft.download_bytes)

    def _partner(self, repository: str, main: str, draft: str) -> Partner:
        return Partner(repository, self._library.gain(main, draft), self.folder_of(repository))

    def entry(self, model: HubModel) -> HubEntry:
        here = model.repository in {each.repository for each in self._library.installed}
        has_draft = model.drafter is None and has_known_draft(self._library.catalog, model.repository)
        return HubEntry(model, self._fit(model), here, has_draft)

    def _fit(self, model: HubModel) -> FitLevel | None:
        """With what the files on disk or the catalog say of its caches, as wherever else its fit is shown."""
        if not model.size_bytes:
            return None
        catalog = self._library.catalog
        here = next((each.info for each in self._library.installed if each.repository == model.repository), None)
        listed = catalog.model(catalog.listed_as(model.repository))
        info = here or _info(model)
        if here is None and listed is not None:
            same = listed.repository == model.repository
            info = listed.info() if same else replace(listed.info(), weight_bytes=model.size_bytes)
        return memory_fit(info, CHAT_TOKENS).level

    def _on_event(self, event: Event) -> None:
        match event:
            case SearchResults(search=search) if search == self._search:
                self._on_results(event)
            case SearchFailed(search=search, error=error) if search == self._search:
                self._on_failure(error)
            case PageRead(page=page) if page.model.repository.casefold() == self.page_of.casefold():
                self.page = page
                self.page_changed.emit()
            case PageFailed(repository=repository, error=error) if repository == self.page_of:
                self.page_error = error
                self.page_changed.emit()
            case ModelMeasured():
                self.page_changed.emit()  # predicted gains have changed
            case LibraryScanned():
                self.results.replace([self.entry(entry.model) for entry in self.results.entries])
                self.page_changed.emit()

    def _read_on(self) -> None:
        self.error = None
        self.missing = None
        self.state = DiscoverState.READING

    def _on_results(self, event: SearchResults) -> None:
        if not self.from_hub and (event.models or not event.reading):
            self._patience.stop()
            self.results.clear()  # of what was shown meanwhile
        self.results.append([entry for model in event.models if self._may_show(entry := self.entry(model))])
        self.from_hub = self.from_hub or bool(event.models)
        self.missing = event.missing
        self.results.has_more = event.has_more and not event.reading
        self.state = DiscoverState.READING if event.reading else DiscoverState.RESTING
        self.changed.emit()
        if event.models and not self.results.entries and self.results.has_more:  # none of them fits
            self.more()

    def _may_show(self, entry: HubEntry) -> bool:
        return entry.fit is not FitLevel.TOO_LARGE or not self.filter.fits_only

    def _on_failure(self, error: EngineError) -> None:
        """Show what is known without the hub."""
        self._patience.stop()
        self.error = error
        self.state = DiscoverState.FAILED
        self._show_known()

    def _show_known(self) -> None:
        if not self.results.entries:
            known = map(self.entry, self._known_without_hub())
            self.results.append([entry for entry in known if self._may_show(entry)])
        self.changed.emit()

    def _known_without_hub(self) -> Sequence[HubModel]:
        """Models of catalog and disk within the search's limits: installed, then fitting, chat models before drafts."""
        query = _query(self.filter)
        words = query.text.casefold().split()
        known = self._known().values()
        named = [model for model in known if all(has_word(model.repository, word) for word in words)]
        mains = {model.repository for model in self._library.catalog.models}
        here = {each.repository for each in self._library.installed}

        def rank(model: HubModel) -> tuple[bool, int, bool]:
            fit = self._fit(model)
            return model.repository not in here, _FITTING.index(fit) if fit else 0, model.repository not in mains

        return sorted((model for model in named if is_wanted(model, query)), key=rank)

    def _known(self) -> dict[str, HubModel]:
        """By repository; what files say takes precedence over the catalog."""
        installed = ((each.repository, each.info) for each in self._library.installed if each.repository)
        here = [_of_info(repository, info) for repository, info in installed if info is not None]
        catalog = self._library.catalog
        listed = [_of_info(model.repository, model.info()) for model in catalog.models]
        drafts = [_of_info(draft.repository, draft.info(), draft.mains) for draft in catalog.drafts]
        return {model.repository: model for model in (*drafts, *listed, *here)}


def has_word(repository: str, word: str) -> bool:
    """A size is meant whole: no 4B in 14B, nor in 4bit."""
    name = repository.casefold()
    return word in name if _SIZE.fullmatch(word) is None else word in _SIZE.findall(name)


def _query(wanted: DiscoverFilter) -> HubQuery:
    limits = [wanted.most_gigabytes * 10**9] if wanted.most_gigabytes else []
    limits += [model_memory_bytes()] if wanted.fits_only else []  # at most; what a chat takes beside is looked at here
    pasted = repository_in(wanted.text) if "://" in wanted.text else ""  # the address of a model's page
    author, slash, words = ("/".join(pasted.split("/")[:2]) or wanted.text.strip()).partition("/")
    return HubQuery(
        text=words.strip() if slash else author,
        author=author.strip() if slash else "",
        family=wanted.family,
        bits=wanted.bits,
        most_bytes=min(limits, default=0),
        kind=HubKind(wanted.kind),
        drafts_for=wanted.drafts_for,
        sort=HubSort(wanted.sort),
    )


def _info(model: HubModel) -> ModelInfo:
    return ModelInfo("", model.name, model.model_type, model.parameters, model.size_bytes, model.bits or None, 0, "", 0)


def _of_info(repository: str, info: ModelInfo, mains: tuple[str, ...] = ()) -> HubModel:
    return HubModel(
        repository,
        info.model_type,
        info.parameters,
        info.bits or 0.0,
        info.weight_bytes,
        size_is_estimated=not info.folder,
        drafter=info.drafter.kind if info.drafter is not None else None,
        sees=info.sees,
        base_models=mains,
    )
