"""The installed models: results of checking them, pairs to offer, and the folders that are searched."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.draft_choices import CHAT_TOKENS, good_pairs, has_known_draft, model_entry, pair_gain, pair_offers
from app.settings import Settings
from app.storage.pair_records import PairRecords
from app.view_models.installed_list import ModelOffer, PairOffer
from app.view_models.model_list import ModelEntry, Upkeep, UpkeepState
from app.words.pairs import PairGain
from engine import (
    Catalog,
    DeleteFailed,
    Event,
    ForwardTimes,
    HubAccess,
    HubSource,
    InstalledModel,
    LibraryScanned,
    ModelChecking,
    ModelDeleted,
    ModelFailed,
    ModelLibrary,
    ModelMeasured,
    ModelReady,
    ModelSource,
    ModelVerified,
    PeerModel,
    TemplateRead,
    UpdateChecked,
    VerifyProgress,
    load_catalog,
    model_memory_bytes,
    published_acceptance,
)

_MOST_REMEMBERED = 200
_CATALOG = Path(__file__).resolve().parents[2] / "resources" / "catalog.json"
_STARTER_ACCEPTED = 0.9  # by the starter's README, with its draft model and each of its drafters, in four languages
_BUSY = UpkeepState.VERIFYING, UpkeepState.DELETING

_log = logging.getLogger(__name__)


def open_catalog() -> Catalog:
    """The catalog; an empty one if it cannot be read."""
    try:
        return load_catalog(_CATALOG)
    except ValueError:
        _log.exception("The catalog of models cannot be read")
        return Catalog()


def accept_rate(starter: Path, main: str, draft: str) -> float:
    """What is known of a pair's accept rate before it is used here; 0: nothing. Called on the engine thread."""
    return _STARTER_ACCEPTED if Path(main) == starter / "main" else published_acceptance(_CATALOG, main, draft)


class LibraryController(QObject):
    changed = Signal()
    template_read = Signal(str, str)  # folder, text
    verify_progressed = Signal(str)  # folder

    def __init__(
        self,
        store: ModelLibrary,
        bridge: EngineBridge,
        settings: Settings,
        install: Callable[[str, str], object],
        records: PairRecords,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._settings = settings
        self._install = install
        self._records = records
        self._upkeep: dict[str, Upkeep] = {}
        self._mains: dict[str, list[str]] = {}  # main models by the folder of a good draft
        self._drafts: dict[str, list[str]] = {}  # good drafts by the folder of a main model
        # Cached: used at each step of a download.
        self._offers: dict[tuple[str, int], list[PairOffer]] = {}
        self._seeing: dict[tuple[str, int], ModelOffer | None] = {}
        self._checking = ""
        self._measured: tuple[ForwardTimes, ...] = ()
        self.installed: tuple[InstalledModel, ...] = ()
        self.scanned = False
        bridge.event_arrived.connect(self._on_event)
        settings.changed.connect(lambda name: self.changed.emit() if name == "context_tokens" else None)

    @cached_property
    def catalog(self) -> Catalog:
        """MEASURED: reading it takes ten milliseconds, and a start needs it only to offer a pair."""
        return open_catalog()

    @property
    def context_tokens(self) -> int:
        """Length of the chat for which memory is computed."""
        return self._settings.context_tokens or CHAT_TOKENS

    def entry(self, model: InstalledModel, main_folder: str, draft_folder: str) -> ModelEntry:
        recent = self._settings.recent_models
        entry = model_entry(model, main_folder, draft_folder, self.context_tokens)
        is_main = entry.drafter is None and entry.about.speculates
        here = entry.own_head or bool(self._drafts.get(model.folder))
        return replace(
            entry,
            has_draft=is_main and (here or has_known_draft(self.catalog, model.repository)),
            asked_tokens=self._settings.context_tokens or 0,
            drafts_for=tuple(self._mains.get(model.folder, ())),
            drafts=tuple(self._drafts.get(model.folder, ())),
            last_used=len(recent) - recent.index(model.folder) if model.folder in recent else 0,
            is_checking=model.folder == self._checking,
            upkeep=self.upkeep(model.folder),
        )

    def offers(self, language: str) -> list[PairOffer]:
        """Pairs of the catalog for this machine and users who write `language`, the best first."""
        key = (language, id(self.catalog))
        if key not in self._offers:
            self._offers = {key: pair_offers(self.catalog, language, self.installed, self.gain)}
        return self._offers[key]

    def offer_that_sees(self, language: str) -> ModelOffer | None:
        """The best model of the catalog that sees pictures and is not installed; arguments as in `offers`."""
        key = (language, id(self.catalog))
        if key not in self._seeing:
            here = {model.repository for model in self.installed}
            found = self.catalog.best_that_sees(model_memory_bytes(), language, here)
            offer = ModelOffer(found.repository, found.name, found.download_bytes) if found is not None else None
            self._seeing = {key: offer}
        return self._seeing[key]

    def gain(self, main: str, draft: str) -> PairGain | None:
        """What a draft brings a main model, by repositories."""
        folders = {model.repository: model.folder for model in self.installed if model.info is not None}
        record = self._records.get(folders.get(main, ""), folders.get(draft, ""))
        return pair_gain(record, self.catalog, main, draft, self._measured)

    def gain_of(self, main_folder: str, draft_folder: str) -> PairGain | None:
        """The same of two installed models."""
        record = self._records.get(main_folder, draft_folder)
        main, draft = map(self.repository, (main_folder, draft_folder))
        return pair_gain(record, self.catalog, main, draft, self._measured)

    def note_gain(self, main_folder: str, draft_folder: str, gain: float, *, of_race: bool = False) -> None:
        """A reply or a race has measured it. Lists that are open are filled again after a race alone, which is rare."""
        self._offers = {}
        if not of_race:
            self._records.put_gain(main_folder, draft_folder, gain)
            return
        self._records.put_race(main_folder, draft_folder, gain)
        self.changed.emit()

    def repository(self, folder: str) -> str:
        """Its repository; "" if not known."""
        return next((model.repository for model in self.installed if model.folder == folder), "")

    def source(self, folder: str) -> HubSource:
        """Where the same files can be downloaded; empty if not known."""
        known = (model for model in self.installed if model.folder == folder and model.revision)
        return next((HubSource(model.repository, model.revision) for model in known), HubSource())

    def verify(self, folder: str) -> None:
        self._set_upkeep(folder, Upkeep(UpkeepState.VERIFYING))
        self._store.verify(folder)

    def stop_verifying(self, folder: str) -> None:
        self._store.stop_verifying(folder)
        self._set_upkeep(folder, Upkeep())

    @property
    def is_verifying(self) -> bool:
        return any(each.state is UpkeepState.VERIFYING for each in self._upkeep.values())

    def note_deletion(self, folder: str) -> None:
        """Deletion was requested; an event reports the result."""
        self._set_upkeep(folder, Upkeep(UpkeepState.DELETING))

    def upkeep(self, folder: str) -> Upkeep:
        return self._upkeep.get(folder, Upkeep())

    def read_template(self, folder: str) -> None:
        """Read its chat template; emits `template_read`."""
        self._store.read_template(folder)

    def check_for_update(self, folder: str) -> None:
        self._set_upkeep(folder, Upkeep(UpkeepState.ASKING))
        self._store.check_for_update(folder)

    def mend(self, folder: str) -> None:
        """Download damaged or outdated files again. The model stays until the download is complete."""
        if repository := self.repository(folder):
            revision = self.upkeep(folder).revision
            self._set_upkeep(folder, Upkeep())
            self._install(repository, revision)

    def on_installed(self, _repository: str, folder: str) -> None:
        """Drop results about the former files."""
        self._upkeep.pop(folder, None)
        self._store.scan()

    def _on_event(self, event: Event) -> None:
        match event:
            case LibraryScanned(models=models):
                self.installed = models
                self.scanned = True
                self._note_pairs(models)
            case TemplateRead(folder=folder, text=text):
                self.template_read.emit(folder, text)
            case UpdateChecked(folder=folder) if self.upkeep(folder).state not in _BUSY:
                self._set_upkeep(folder, _upkeep(event))
            case VerifyProgress() | ModelVerified():
                self._on_verifying(event)
            case DeleteFailed() | ModelDeleted():
                self._on_deletion(event)
            case ModelMeasured(times=times, others=others):
                self._measured = (times, *others)
                self._offers = {}
                self.changed.emit()
            case ModelChecking(folder=folder):
                self._checking = folder
                self.changed.emit()
            case ModelReady(info=info):
                self._checking = ""
                self._remember_use(info.folder)
            case ModelFailed(began=True):
                self._checking = ""

    def _on_verifying(self, event: VerifyProgress | ModelVerified) -> None:
        if self.upkeep(event.folder).state is not UpkeepState.VERIFYING:
            return  # it was stopped meanwhile
        if isinstance(event, ModelVerified):
            self._set_upkeep(event.folder, _upkeep(event))
        else:
            self._upkeep[event.folder] = _upkeep(event)
            self.verify_progressed.emit(event.folder)

    def _on_deletion(self, event: DeleteFailed | ModelDeleted) -> None:
        """Remove a deleted model from the list before the next scan."""
        if isinstance(event, ModelDeleted):
            self.installed = tuple(model for model in self.installed if model.folder != event.folder)
            self._note_pairs(self.installed)
        self._set_upkeep(event.folder, Upkeep())

    def _note_pairs(self, models: tuple[InstalledModel, ...]) -> None:
        self._mains = {}
        self._drafts = {}
        self._offers = {}
        self._seeing = {}
        for main, draft in good_pairs(models):
            self._mains.setdefault(draft.folder, []).append(main.name)
            self._drafts.setdefault(main.folder, []).append(draft.name)

    def _remember_use(self, folder: str) -> None:
        """Remember the use of a model, except what a start loads and the pair that comes with Hunch."""
        if not any(model.folder == folder and model.source is not ModelSource.STARTER for model in self.installed):
            return
        others = tuple(each for each in self._settings.recent_models if each != folder)
        self._settings.recent_models = (folder, *others)[:_MOST_REMEMBERED]

    def _set_upkeep(self, folder: str, upkeep: Upkeep) -> None:
        self._upkeep[folder] = upkeep
        self.changed.emit()


def _upkeep(event: VerifyProgress | ModelVerified | UpdateChecked) -> Upkeep:
    match event:
        case VerifyProgress(done_bytes=done, total_bytes=total):
            return Upkeep(UpkeepState.VERIFYING, done / total if total else 0.0)
        case ModelVerified(error=error) | UpdateChecked(error=error) if error is not None:
            return Upkeep(UpkeepState.NOT_ASKED, error=error)
        case ModelVerified(known=False):
            return Upkeep(UpkeepState.UNKNOWN)
        case ModelVerified(damaged=damaged, revision=revision):
            return Upkeep(UpkeepState.DAMAGED if damaged else UpkeepState.SOUND, files=damaged, revision=revision)
        case UpdateChecked(repository=repository, has_update=newer, revision=revision):
            state = UpkeepState.OUTDATED if newer else UpkeepState.CURRENT
            return Upkeep(state if repository else UpkeepState.UNKNOWN, revision=revision)


class ModelSources(QObject):
    went_online = Signal()  # after the store has applied it
    hub_changed = Signal()  # another address, mirror, proxy or token; after the store has applied it

    def __init__(self, store: ModelLibrary, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._settings = settings
        settings.changed.connect(self._on_setting)

    def start(self) -> None:
        self._tell_hub()
        self._store.set_folders(self._settings.model_folders)
        self._store.scan()

    def add_folder(self, path: str) -> None:
        if path not in self._settings.model_folders:
            self._set_folders((*self._settings.model_folders, path))

    def remove_folder(self, path: str) -> None:
        self._set_folders(tuple(each for each in self._settings.model_folders if each != path))

    def set_peer_model(self, model: PeerModel | None) -> None:
        """A paired machine supplies this model: downloads use it first."""
        self._store.set_peer_model(model)

    def _on_setting(self, name: str) -> None:
        if name.startswith("hub_") or name == "download_limit":
            self._tell_hub()
        if name == "hub_offline" and not self._settings.hub_offline:
            self.went_online.emit()
        elif name.startswith("hub_") and name != "hub_offline":
            self.hub_changed.emit()

    def _tell_hub(self) -> None:
        settings = self._settings
        self._store.set_hub(
            HubAccess(
                settings.hub_endpoint,
                settings.hub_token,
                settings.hub_token_in_clear,
                settings.hub_mirrors,
                settings.hub_proxy,
                settings.hub_offline,
            )
        )
        self._store.set_limit(settings.download_limit)

    def _set_folders(self, folders: tuple[str, ...]) -> None:
        self._settings.model_folders = folders
        self._store.set_folders(folders)
        self._store.scan()
