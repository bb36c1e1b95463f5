"""Installed models, the loaded pair and the possible drafts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.discover import DiscoverController
from app.controllers.downloads import DownloadController
from app.controllers.draft_choices import USUAL_CONTEXT_TOKENS, best_draft, draft_choice, mains_of, model_entry
from app.controllers.loaded_pair import LoadedPair
from app.controllers.pair_offers import pair_offers
from app.controllers.starter_setting import as_setting, from_setting
from app.settings import STARTER_FOLDER, Settings
from app.view_models.installed_list import PairOffer, reading_order
from app.view_models.model_list import (
    DraftChoice,
    DraftGroup,
    ModelEntry,
    PairState,
    PairView,
    Upkeep,
    UpkeepState,
)
from engine import (
    Catalog,
    ChatEngine,
    DeleteFailed,
    DeleteRefusal,
    DrafterExamined,
    Event,
    Failed,
    Finished,
    HubAccess,
    InstalledModel,
    LibraryScanned,
    LoadAborted,
    ModelChecking,
    ModelDeleted,
    ModelFailed,
    ModelInfo,
    ModelLibrary,
    ModelLoading,
    ModelReady,
    ModelRole,
    ModelUnloaded,
    ModelVerified,
    NoModelLoaded,
    TextDelta,
    UpdateChecked,
    VerifyProgress,
    draft_problem,
)

_MOST_REMEMBERED = 200


@dataclass(frozen=True, slots=True)
class StarterPair:
    """The two folders that come with the app."""

    main: Path
    draft: Path


class ModelController(QObject):
    models_changed = Signal()
    pair_changed = Signal()
    problem_raised = Signal(object)  # EngineError or DeleteFailed, for words.notices_for_errors
    chat_wanted = Signal()  # what was downloaded is to be used now

    def __init__(
        self,
        engine: ChatEngine,
        store: ModelLibrary,
        bridge: EngineBridge,
        settings: Settings,
        starter: StarterPair,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._store = store
        self._bridge = bridge
        self._settings = settings
        self._starter = starter
        self._loaded = LoadedPair()
        self._installed: tuple[InstalledModel, ...] = ()
        self._mains: dict[str, tuple[str, ...]] = {}
        self.scanned = False
        self._checking = ""
        self._upkeep: dict[str, Upkeep] = {}
        self.usual_context_tokens = USUAL_CONTEXT_TOKENS
        self.catalog = Catalog()
        self._to_use = 0  # a finished download that the person wants to use
        self.discover = DiscoverController(store, bridge, lambda: self.catalog, self)
        self.downloads = DownloadController(store, bridge, settings, self)
        self.downloads.installed.connect(self._on_installed)
        bridge.event_arrived.connect(self._on_event)
        settings.changed.connect(self._on_setting)

    def start(self) -> None:
        """Loads what was used last, or the pair that comes with the app, and looks at what is installed."""
        self._tell_hub()
        self._store.set_folders(self._settings.model_folders)
        self._store.scan()
        main = from_setting(self._settings.main_folder, self._starter.main)
        draft = from_setting(self._settings.draft_folder, self._starter.draft)
        if main:
            self._load(main, draft)

    @property
    def pair(self) -> PairView:
        return self._loaded.view(self._settings.speculation())

    @property
    def can_reply(self) -> bool:
        """True when a main model is loaded or loading."""
        return self._loaded.state in (PairState.READY, PairState.LOADING)

    @property
    def models(self) -> list[ModelEntry]:
        return [self._entry(model) for model in sorted(self._installed, key=lambda model: reading_order(model.name))]

    def offers(self, language: str) -> list[PairOffer]:
        """Pairs of the catalog for this machine and for people who write `language`; the best first."""
        return pair_offers(self.catalog, language, self._installed)

    def drafts_for_main(self) -> list[DraftChoice]:
        """Every installed model: recommended, compatible, and not compatible with the reason; small ones first."""
        main = self._main_info()
        if main is None:
            return []
        choices = [draft_choice(main, model, self._entry(model)) for model in self._installed]
        order = list(DraftGroup)
        return sorted(choices, key=lambda choice: (order.index(choice.group), choice.model.parameters))

    def refresh(self) -> None:
        self._store.scan()

    def choose_main(self, folder: str) -> None:
        """Loads another main model; the draft stays if it fits, else the best that is installed comes with it."""
        draft = self._draft_to_go_with(folder)
        self._settings.draft_folder = as_setting(draft, self._starter.draft)
        self._load(folder, draft)

    def choose_draft(self, folder: str | None) -> None:
        """Changes the draft at once, without loading the main model again."""
        self._settings.draft_folder = as_setting(folder or "", self._starter.draft)
        self._loaded.begin_loading_draft(folder or "")
        self._engine.set_draft(folder, self._bridge.post)
        self._emit_pair_changed()

    def set_speculation(self, mode: str, tokens: int) -> None:
        """For the next request."""
        self._settings.speculation_mode = mode
        self._settings.speculation_tokens = tokens

    def install(self, repository: str) -> int:
        return self.downloads.install(repository)

    def install_pair(self, main: str, draft: str) -> int:
        return self.downloads.install_pair(main, draft)

    def use_downloaded(self, download: int) -> None:
        """Loads what a finished download brought: a pair, a model, or a draft for the loaded main model."""
        folders = self.downloads.folders(download)
        if not folders:
            return
        if not set(folders) <= {model.folder for model in self._installed}:
            self._to_use = download  # what it is, the scan under way will tell
            return
        as_draft = self.downloads.is_draft(download) or self._is_drafter(folders[0])
        self.downloads.dismiss(download)
        if len(folders) > 1:
            self.choose_pair(folders[0], folders[1])
        elif as_draft and self._main_info() is not None:
            self.choose_draft(folders[0])
        else:
            self.choose_main(folders[0])
        self.chat_wanted.emit()

    def choose_pair(self, main: str, draft: str) -> None:
        self._settings.draft_folder = as_setting(draft, self._starter.draft)
        self._load(main, draft)

    def use(self, folder: str) -> None:
        """A drafter drafts for the loaded main model; anything else becomes the main model."""
        if self._is_drafter(folder):
            self.choose_draft(folder)
        else:
            self.choose_main(folder)
        self.chat_wanted.emit()

    def verify(self, folder: str) -> None:
        self._set_upkeep(folder, Upkeep(UpkeepState.VERIFYING))
        self._store.verify(folder)

    def check_for_update(self, folder: str) -> None:
        self._set_upkeep(folder, Upkeep(UpkeepState.ASKING))
        self._store.check_for_update(folder)

    def mend(self, folder: str) -> None:
        """Downloads what is damaged or newer. The model stays in its place until that is whole."""
        repository = next((model.repository for model in self._installed if model.folder == folder), "")
        if repository:
            self._set_upkeep(folder, Upkeep())
            self.install(repository)

    def delete(self, folder: str) -> None:
        state = self._engine.state()
        if folder == self._loaded.main_folder and (state.running or state.queued):
            self.problem_raised.emit(DeleteFailed(folder, "", DeleteRefusal.IN_USE))
            return
        if folder == self._loaded.draft_folder:
            self.choose_draft(None)
        if folder == self._loaded.main_folder:
            self._load_starter_or_nothing()
        self._store.delete(folder)

    def add_folder(self, path: str) -> None:
        if path not in self._settings.model_folders:
            self._set_folders((*self._settings.model_folders, path))

    def remove_folder(self, path: str) -> None:
        self._set_folders(tuple(each for each in self._settings.model_folders if each != path))

    def set_hub(self, endpoint: str, token: str) -> None:
        endpoint, token = _as_address(endpoint.strip()), token.strip()
        self._settings.hub_endpoint, self._settings.hub_token = endpoint, token

    def set_mirrors(self, typed: Sequence[str]) -> None:
        self._settings.hub_mirrors = tuple(dict.fromkeys(_as_address(mirror) for mirror in typed))

    def allow_token_in_clear(self, allowed: bool) -> None:
        """Whether the token may go to another machine over plain http, where it can be read on the way."""
        self._settings.hub_token_in_clear = allowed

    # What arrives

    def _on_event(self, event: Event) -> None:
        match event:
            case ModelChecking(folder=folder):
                self._set_checking(folder)
            case ModelLoading() | ModelReady() | ModelFailed() | ModelUnloaded():
                self._on_model_event(event)
            case TextDelta(stats=stats) | Finished(stats=stats) | Failed(stats=stats):
                if self._loaded.apply_drafting(stats.drafting):
                    self.pair_changed.emit()
            case DrafterExamined(folder=folder, poor=True) if folder == self._loaded.draft_folder:
                self.problem_raised.emit(event)
            case LibraryScanned(models=models):
                self._installed, self.scanned = models, True
                self._mains = mains_of(models)
                self.models_changed.emit()
                wanted, self._to_use = self._to_use, 0
                self.use_downloaded(wanted)
            case ModelDeleted():
                self._store.scan()
            case DeleteFailed():
                self.problem_raised.emit(event)
            case VerifyProgress() | ModelVerified() | UpdateChecked():
                self._set_upkeep(event.folder, _upkeep(event))

    def _on_setting(self, name: str) -> None:
        if name.startswith("hub_") or name == "download_limit":
            self._tell_hub()
        if name in ("speculation_mode", "speculation_tokens"):
            self.pair_changed.emit()

    def _set_checking(self, folder: str) -> None:
        if folder != self._checking:
            self._checking = folder
            self.models_changed.emit()

    def _on_model_event(self, event: ModelLoading | ModelReady | ModelFailed | ModelUnloaded) -> None:
        if isinstance(event, ModelFailed) and isinstance(event.error, LoadAborted):
            return  # this app has requested another model meanwhile
        self._checking = ""
        self._loaded.apply_event(event)
        if isinstance(event, ModelReady):
            self._remember_use(event.info.folder)
        if isinstance(event, ModelReady) and event.role is ModelRole.MAIN:
            self._settings.main_folder = as_setting(event.info.folder, self._starter.main)
        if isinstance(event, ModelFailed) and not isinstance(event.error, NoModelLoaded):
            self.problem_raised.emit(event.error)  # a draft without its main model has nothing to report
            if event.role is ModelRole.DRAFT and event.folder == self._loaded.draft_folder:
                # Otherwise the engine would keep the previous draft, which the pair chip no longer shows.
                self._engine.set_draft(None, self._bridge.post)
        self._emit_pair_changed()

    # Small parts

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

    def _load(self, main: str, draft: str) -> None:
        self._loaded.begin_loading(main, draft)
        self._engine.load(main, self._bridge.post, draft=draft or None)
        self._emit_pair_changed()

    def _load_starter_or_nothing(self) -> None:
        """Replaces a deleted main model, also in the settings for the next start."""
        self._settings.main_folder = self._settings.draft_folder = STARTER_FOLDER
        if self._starter.main.is_dir():
            self._load(str(self._starter.main), from_setting(STARTER_FOLDER, self._starter.draft))
        else:
            self._loaded.clear()
            self._engine.unload(self._bridge.post)
            self._emit_pair_changed()

    def _emit_pair_changed(self) -> None:
        self.pair_changed.emit()
        self.models_changed.emit()  # which of them are loaded is part of the list

    def _set_folders(self, folders: tuple[str, ...]) -> None:
        self._settings.model_folders = folders
        self._store.set_folders(folders)
        self._store.scan()

    def _main_info(self) -> ModelInfo | None:
        return self._loaded.main or self._info_of(self._loaded.main_folder)

    def _info_of(self, folder: str) -> ModelInfo | None:
        return next((model.info for model in self._installed if model.folder == folder), None)

    def _is_drafter(self, folder: str) -> bool:
        info = self._info_of(folder)
        return info is not None and info.drafter is not None

    def _draft_to_go_with(self, main_folder: str) -> str:
        if main_folder == str(self._starter.main):
            return str(self._starter.draft)
        main, draft = self._info_of(main_folder), self._loaded.draft
        if main is None:
            return ""
        if draft is not None and draft_problem(main, draft) is None:
            return draft.folder
        return best_draft(main, self._installed)

    def _entry(self, model: InstalledModel) -> ModelEntry:
        entry = model_entry(model, self._loaded.main_folder, self._loaded.draft_folder)
        recent = self._settings.recent_models
        used = len(recent) - recent.index(model.folder) if model.folder in recent else 0
        return replace(
            entry,
            drafts_for=self._mains.get(model.folder, ()),
            last_used=used,
            is_checking=model.folder == self._checking,
            upkeep=self._upkeep.get(model.folder, Upkeep()),
        )

    def _on_installed(self, _repository: str, folder: str) -> None:
        self._upkeep.pop(folder, None)
        self._store.scan()

    def _set_upkeep(self, folder: str, upkeep: Upkeep) -> None:
        self._upkeep[folder] = upkeep
        self.models_changed.emit()

    def _remember_use(self, folder: str) -> None:
        others = tuple(each for each in self._settings.recent_models if each != folder)
        self._settings.recent_models = (folder, *others)[:_MOST_REMEMBERED]


def _upkeep(event: VerifyProgress | ModelVerified | UpdateChecked) -> Upkeep:
    match event:
        case VerifyProgress(done_bytes=done, total_bytes=total):
            return Upkeep(UpkeepState.VERIFYING, done / total if total else 0.0)
        case ModelVerified(known=False):
            return Upkeep(UpkeepState.UNKNOWN)
        case ModelVerified(damaged=damaged):
            return Upkeep(UpkeepState.DAMAGED if damaged else UpkeepState.SOUND, files=damaged)
        case UpdateChecked(error=error) if error is not None:
            return Upkeep(UpkeepState.NOT_ASKED, error=error)
        case UpdateChecked(repository=repository, has_update=newer):
            state = UpkeepState.OUTDATED if newer else UpkeepState.CURRENT
            return Upkeep(state if repository else UpkeepState.UNKNOWN)


def _as_address(typed: str) -> str:
    """Adds the scheme that people leave out."""
    return f"https://{typed}" if typed and "://" not in typed else typed
