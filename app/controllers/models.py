"""Installed models, the loaded pair and the possible drafts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.discover import DiscoverController
from app.controllers.downloads import DownloadController
from app.controllers.draft_choices import (
    best_draft,
    draft_choice,
    needs_check,
)
from app.controllers.library import LibraryController
from app.controllers.loaded_pair import IsOff, LoadedPair
from app.controllers.pair_checks import PairChecks
from app.controllers.residence import Residence
from app.controllers.starter_setting import as_setting, from_setting
from app.settings import STARTER_FOLDER, Settings
from app.view_models.installed_list import reading_order
from app.view_models.model_list import (
    DraftChoice,
    DraftGroup,
    ModelEntry,
    PairState,
    PairView,
)
from engine import (
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
    ModelDeleted,
    ModelFailed,
    ModelInfo,
    ModelLibrary,
    ModelLoading,
    ModelLoadProgress,
    ModelMeasured,
    ModelReady,
    ModelRole,
    ModelUnloaded,
    NoModelLoaded,
    PairChecked,
    TextDelta,
    draft_problem,
    model_name,
)


@dataclass(frozen=True, slots=True)
class StarterPair:
    """The two folders that come with the app."""

    main: Path
    draft: Path


class ModelController(QObject):
    models_changed = Signal()
    pair_changed = Signal()
    speculation_chosen = Signal(str)  # mode
    main_waits = Signal(str)  # name of the model that is loaded when the replies under way have ended; "": none
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
        self.library = LibraryController(store, bridge, settings, self.install, self)
        self.library.changed.connect(self.models_changed)
        self.discover = DiscoverController(store, bridge, lambda: self.library.catalog, self)
        self._to_use = 0  # a finished download that the person wants to use
        self.downloads = DownloadController(store, bridge, settings, self)
        self.downloads.installed.connect(self.library.on_installed)
        self.checks = PairChecks(store)
        self.residence = Residence(engine, settings, self)
        self.residence.idle.connect(self._unload)
        self.residence.free.connect(self.switch_now)
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
        """True when a main model is loaded or loading, or will be when it is needed."""
        return self._loaded.state in (PairState.READY, PairState.LOADING, PairState.UNLOADED)

    @property
    def models(self) -> list[ModelEntry]:
        return sorted(map(self._entry, self.library.installed), key=lambda entry: reading_order(entry.name))

    def drafts_for_main(self) -> list[DraftChoice]:
        """Every installed model: recommended, compatible, and not compatible with the reason; small ones first."""
        main = self.main_info()
        if main is None:
            return []
        choices = [self._choice(main, model) for model in self.library.installed]
        order = list(DraftGroup)
        return sorted(choices, key=lambda choice: (order.index(choice.group), choice.model.parameters))

    def eject(self) -> None:
        """Take the pair out of memory, after the replies under way; the next message loads it again."""
        if not self._waits_for_replies(""):
            self._unload()

    def wake(self) -> None:
        """A message is about to be sent: whatever was taken out of memory is loaded for it."""
        if self._loaded.state is PairState.UNLOADED:
            self._load(self._loaded.main_folder, self._loaded.draft_folder)

    def switch_now(self) -> None:
        """Load the model that waits for replies to end, or unload; the replies end as they are."""
        folder = self.residence.take_waiting()
        if folder == "":
            self._unload()
        elif folder is not None:
            self._change_main(folder)

    def check_pair(self, draft: str) -> None:
        """Have the files of the main model and `draft` compared; the answer comes with the list of drafts."""
        main, info = self.main_info(), self._info_of(draft)
        if main is not None and info is not None:
            self.checks.ask(main, info)

    def refresh(self) -> None:
        self._store.scan()

    def choose_main(self, folder: str) -> None:
        """Loads another main model once no reply is under way (`main_waits`); the draft stays if it fits."""
        if not self._waits_for_replies(folder):
            self._change_main(folder)

    def choose_draft(self, folder: str | None) -> None:
        """Changes the draft at once, without loading the main model again."""
        self._settings.draft_folder = as_setting(folder or "", self._starter.draft)
        self._loaded.begin_loading_draft(folder or "")
        self._engine.set_draft(folder, self._bridge.post)
        self._emit_pair_changed()

    def set_speculation(self, mode: str, tokens: int) -> None:
        self._settings.speculation_mode = mode
        self._settings.speculation_tokens = tokens
        self.speculation_chosen.emit(mode)

    def tell_pairs_off(self, is_off: IsOff) -> None:
        self._loaded.is_off = is_off

    def install(self, repository: str) -> int:
        return self.downloads.install(repository)

    def install_pair(self, main: str, draft: str) -> int:
        return self.downloads.install_pair(main, draft)

    def use_downloaded(self, download: int) -> None:
        """Loads what a finished download brought: a pair, a model, or a draft for the loaded main model."""
        folders = self.downloads.folders(download)
        if not folders:
            return
        if not set(folders) <= {model.folder for model in self.library.installed}:
            self._to_use = download  # what it is, the scan under way will tell
            return
        as_draft = self.downloads.is_draft(download) or self._is_drafter(folders[0])
        self.downloads.dismiss(download)
        if len(folders) > 1:
            self.choose_pair(folders[0], folders[1])
        elif as_draft and self.main_info() is not None:
            self.choose_draft(folders[0])
        else:
            self.choose_main(folders[0])
        self.chat_wanted.emit()

    def choose_pair(self, main: str, draft: str) -> None:
        self._settings.draft_folder = as_setting(draft, self._starter.draft)
        self._load(main, draft)

    def use(self, folder: str) -> None:
        """A drafter drafts for the loaded main model; anything else becomes the main model."""
        choose = self.choose_draft if self._is_drafter(folder) else self.choose_main
        choose(folder)
        self.chat_wanted.emit()

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
        self.residence.note(event)
        match event:
            case ModelLoadProgress():
                if self._loaded.apply_progress(event):
                    self.pair_changed.emit()
            case ModelLoading() | ModelReady() | ModelFailed() | ModelUnloaded():
                self._on_model_event(event)
            case TextDelta(stats=stats) | Finished(stats=stats) | Failed(stats=stats):
                if self._loaded.apply_drafting(stats.drafting):
                    self.pair_changed.emit()
            case DrafterExamined(folder=folder, poor=True) if folder == self._loaded.draft_folder:
                self.problem_raised.emit(event)
            case _:
                self._on_library_event(event)

    def _waits_for_replies(self, folder: str) -> bool:
        """Whether `folder` is loaded (unloaded, where it is "") only when the replies under way have ended."""
        self.residence.waiting = None
        if self._loaded.state is not PairState.READY or not self.residence.busy:
            return False
        if folder != self._loaded.main_folder:
            self.residence.waiting = folder
            self.main_waits.emit(model_name(Path(folder)) if folder else "")
        return True

    def _on_library_event(self, event: Event) -> None:
        match event:
            case LibraryScanned():
                self.models_changed.emit()
                wanted, self._to_use = self._to_use, 0
                self.use_downloaded(wanted)
            case ModelDeleted():
                self._store.scan()
            case DeleteFailed():
                self.problem_raised.emit(event)
            case ModelMeasured():
                self.checks.take_measured(event)
            case PairChecked(check=check):
                self.checks.take(check, self._info_of(check.main), self._info_of(check.draft))
                self.models_changed.emit()

    def _on_setting(self, name: str) -> None:
        if name.startswith("hub_") or name == "download_limit":
            self._tell_hub()
        if name in ("speculation_mode", "speculation_tokens"):
            self.pair_changed.emit()

    def _on_model_event(self, event: ModelLoading | ModelReady | ModelFailed | ModelUnloaded) -> None:
        if isinstance(event, ModelFailed) and isinstance(event.error, LoadAborted):
            return  # this app has requested another model meanwhile
        self._loaded.apply_event(event)
        if isinstance(event, ModelReady) and event.role is ModelRole.MAIN:
            self._settings.main_folder = as_setting(event.info.folder, self._starter.main)
        if isinstance(event, ModelFailed) and not isinstance(event.error, NoModelLoaded):
            self.problem_raised.emit(event.error)  # a draft without its main model has nothing to report
            if event.role is ModelRole.DRAFT and event.folder == self._loaded.draft_folder:
                # Otherwise the engine would keep the previous draft, which the pair chip no longer shows.
                self._engine.set_draft(None, self._bridge.post)
        self._emit_pair_changed()

    def _choice(self, main: ModelInfo, model: InstalledModel) -> DraftChoice:
        if model.info is None:
            return draft_choice(main, model, self._entry(model))
        if needs_check(main, model.info):
            self.checks.ask(main, model.info)
        gain = self.checks.gain_of(main.folder, model.folder)
        return draft_choice(main, model, self._entry(model), self.checks.known(main, model.info), gain)

    def _change_main(self, folder: str) -> None:
        draft = self._draft_to_go_with(folder)
        self._settings.draft_folder = as_setting(draft, self._starter.draft)
        self._load(folder, draft)

    def _unload(self) -> None:
        if self._loaded.state is not PairState.READY:
            return
        self._loaded.rest()
        self._engine.unload(self._bridge.post)
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

    def main_info(self) -> ModelInfo | None:
        """Of the main model that was chosen, loaded or not."""
        return self._loaded.main or self._info_of(self._loaded.main_folder)

    def _info_of(self, folder: str) -> ModelInfo | None:
        return next((model.info for model in self.library.installed if model.folder == folder), None)

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
        return best_draft(main, self.library.installed)

    def _entry(self, model: InstalledModel) -> ModelEntry:
        return self.library.entry(model, self._loaded.main_folder, self._loaded.draft_folder)


def _as_address(typed: str) -> str:
    """Adds the scheme that people leave out."""
    return f"https://{typed}" if typed and "://" not in typed else typed
