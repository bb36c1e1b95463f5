"""Models: choosing the main model and its draft, and the actions on installed models."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.discover import DiscoverController
from app.controllers.downloads import DownloadController
from app.controllers.draft_choices import (
    PairChecks,
    best_installed_draft,
    draft_choice,
    draft_order,
    needs_check,
    pair_problem,
)
from app.controllers.library import LibraryController, ModelSources
from app.controllers.pair_loading import PairLoading, StarterPair
from app.settings import STARTER_EYES, Settings, as_setting, from_setting
from app.storage.pair_records import PairRecords
from app.view_models.installed_list import PairOffer, reading_order
from app.view_models.model_list import DraftChoice, ModelEntry, PairState, PairView
from engine import (
    ChatEngine,
    DeleteFailed,
    DeleteRefusal,
    Event,
    Helping,
    InstalledModel,
    LibraryScanned,
    ModelDeleted,
    ModelInfo,
    ModelLibrary,
    ModelNotFound,
    PairCheck,
    PairChecked,
    RankMode,
    SpeculationMode,
    StationChanged,
    fit_together,
)


class ModelController(PairLoading):
    models_changed = Signal()
    fixed_chosen = Signal(object)  # a fixed mode replaced another one, for all chats; a call that takes it back
    chat_wanted = Signal()  # a downloaded model is to be used in a chat

    def __init__(
        self,
        engine: ChatEngine,
        store: ModelLibrary,
        bridge: EngineBridge,
        settings: Settings,
        starter: StarterPair,
        records: PairRecords,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(engine, bridge, settings, starter, records, parent)
        self._store = store
        self._to_compare: tuple[str, str] | None = None  # a main model, and the draft that stays if their files fit
        self._to_use = 0  # a finished download that is to be used
        self.sources = ModelSources(store, settings, self)
        self.downloads = DownloadController(store, bridge, settings, self)
        self.install = self.downloads.install
        self.install_pair = self.downloads.install_pair
        self.library = LibraryController(store, bridge, settings, self.install, records, self)
        self.discover = DiscoverController(store, bridge, self.library, self._main_repository, self)
        self.checks = PairChecks(store)
        self.library.changed.connect(self.models_changed)
        self.pair_exchanged.connect(self.models_changed)  # the list marks loaded models
        self.problem_raised.connect(self._on_problem)
        self.downloads.installed.connect(self.library.on_installed)
        self.downloads.paired.connect(self.last_drafts.note)
        self.sources.went_online.connect(self.downloads.go_on)
        self.sources.went_online.connect(self.discover.go_on)
        self.sources.hub_changed.connect(self.discover.ask_new_hub)
        bridge.text_arrived.connect(self._on_pair_event)  # whether the pair drafts may have changed
        bridge.event_arrived.connect(self._on_pair_event)
        bridge.event_arrived.connect(self._on_event)

    def _on_problem(self, problem: object) -> None:
        if isinstance(problem, ModelNotFound):
            self._store.scan()  # its folder was deleted

    def start(self) -> None:
        """Load the last pair, or the one that comes with the app, and scan for models."""
        self.sources.start()
        self.load_last()

    def main_info(self) -> ModelInfo | None:
        """The chosen main model, loaded or not."""
        return self._requested.main or self.info_of(self._requested.main_folder)

    def efforts(self) -> tuple[str, ...]:
        """How much the chosen main model can be asked to think; () if it does not think."""
        info = self.main_info()
        if info is None or not info.about.thinking:
            return ()
        off = ("off",) if info.about.thinking_off else ()
        return (*off, *info.efforts(loaded=self.pair.state is PairState.READY))

    @property
    def keeps_forms(self) -> bool:
        """Whether the chosen main model can be held to a schema, as far as that is known."""
        info = self.main_info()
        return info is None or not info.no_grammar

    def info_of(self, folder: str) -> ModelInfo | None:
        return next((model.info for model in self.library.installed if model.folder == folder), None)

    def is_drafter(self, folder: str) -> bool:
        info = self.info_of(folder)
        return info is not None and info.drafter is not None

    def choose_main(self, folder: str) -> None:
        """Load another main model with its last draft, once no reply is running (`main_waits`).

        Without a last draft the present draft stays if it fits. Choosing the present main model keeps it and its draft,
        and cancels what waited to replace it.
        """
        self._to_use = 0
        if self.has_main(folder):
            self.forget_wait()
            self.wake()
            return
        self.when_free(folder, lambda: self._change_main(folder))

    def used_before(self) -> tuple[str, str]:
        """Name and folder of the main model that was used before the present one; "" where there is none."""
        here = {each.folder: each.name for each in self.models if each.error is None and not each.is_main}
        folder = next((each for each in self.last_drafts.mains() if each in here), "")
        return here.get(folder, ""), folder

    @property
    def main_for_words(self) -> str:
        """The main model that a question without pictures goes to, as the settings name it."""
        chosen = self._settings.main_folder
        before = self.used_before()[1] if chosen == STARTER_EYES else ""
        return as_setting(before, self.starter.main) if before else chosen

    def leave_eyes(self) -> None:
        """What comes next has no pictures: a model that only answers about them gives way to the one before it."""
        before = self.used_before()[1] if self.main_setting == STARTER_EYES else ""
        if before:
            self.choose_main(before)

    def choose_draft(self, folder: str | None) -> None:
        """Change the draft at once; the main model stays loaded. Choosing the present draft does nothing."""
        self._to_use = 0
        self.last_drafts.note(self._requested.main_folder, folder or "")
        self._change_draft(folder)

    def _change_draft(self, folder: str | None) -> None:
        self._to_compare = None
        if not (folder and self.has_draft(folder)):
            self.load_draft(folder)

    def choose_pair(self, main: str, draft: str) -> None:
        self._to_use = 0
        is_loaded = main == self._requested.main_folder and self.pair.state is PairState.READY
        if is_loaded and main not in self._requested.outdated:
            self.forget_wait()
            self.choose_draft(draft)
            return
        self._to_compare = None
        self.when_free(main, lambda: self.load(main, draft))

    def present_pair(self) -> tuple[str, str]:
        """The main model and the draft that the next reply comes from, as the settings name them."""
        draft = self._requested.draft_folder
        return self.main_setting, as_setting(draft, self.starter.main) if draft else ""

    def names_of(self, main: str, draft: str) -> tuple[str, str, bool]:
        """Of models as the settings name them; and whether both are installed."""
        named = [each for each in (main, draft) if each]
        infos = [self.info_of(from_setting(each, self.starter.main)) for each in named]
        names = [Path(each).name if info is None else info.name for each, info in zip(named, infos, strict=True)]
        return names[0], names[1] if draft else "", None not in infos

    def use_in_project(self, main: str, draft: str) -> None:
        """Load these, as the settings name them, as if they were chosen; nothing where one is not installed."""
        folders = [from_setting(each, self.starter.main) for each in (main, draft) if each]
        if not all(self.info_of(folder) for folder in folders):
            return
        if draft:
            self.choose_pair(folders[0], folders[1])
        else:
            self.choose_main(folders[0])

    def try_again(self, refused: tuple[str, str] | None = None) -> None:
        """Load again what of the pair failed to load. `refused`: as it was chosen, in place of what is loaded now."""
        main, draft = refused or (self._requested.main_folder, self._requested.draft_folder)
        if main and not self.has_main(main):
            if draft and refused:
                self.choose_pair(main, draft)
            else:
                self.choose_main(main)
        elif draft:
            self.choose_draft(draft)

    def reload(self, folder: str) -> None:
        """Load the main model or the draft again from its files; a main model once no reply is running."""
        if folder != self._requested.main_folder:
            self._to_compare = None
            self.load_draft(folder)
            return
        self.when_free(folder, lambda: self.load(folder, self._requested.draft_folder))

    def run_with(self, folder: str, helping: tuple[Helping, ...], mode: RankMode | None) -> None:
        """Load it with the help of these machines, once no reply is running; what is chosen meanwhile replaces that."""

        def change() -> None:
            self.helpers.note(folder, helping, mode)
            if folder == self._requested.main_folder:
                self.load(folder, self._requested.draft_folder)
            else:
                self._change_main(folder)

        self._to_use = 0
        self.when_free(folder, change)

    def eject(self) -> None:
        """Unload the pair after the running replies; the next message loads it again."""
        self.when_free("", self.unload)

    def _change_main(self, folder: str) -> None:
        """With its last draft, or the present one if it fits; that may need a comparison of files first."""
        last = self.last_drafts.of(folder)
        main = self.info_of(folder)
        present = self.info_of(last or "") or self.info_of(self._requested.draft_folder)
        self._to_compare = None
        if last == "" or (last and self.records.get(folder, last).loses):
            self.load(folder, "")
            return
        if main is None or present is None or not needs_check(main, present) or self.checks.known(main, present):
            self.load(folder, self._draft_to_go_with(folder, present.folder if present else ""))
            return
        self._to_compare = (folder, present.folder)
        self.load(folder, "")
        self.checks.ask(main, present)

    def _draft_to_go_with(self, main_folder: str, present: str) -> str:
        """`present` if it can draft for that main model, else the best installed draft."""
        folder = Path(main_folder)
        main = self.info_of(main_folder)
        draft = self.info_of(present)
        if folder in (self.starter.main, self.starter.eyes):
            best = str(folder.with_name(self.starter.draft.name))
        elif main is None:
            best = ""
        elif draft is not None and pair_problem(main, draft, self.checks.known(main, draft)) is None:
            best = draft.folder
        else:
            best = best_installed_draft(main, self.library.installed)
        return "" if self.records.get(main_folder, best).loses else best

    def _leave(self, folder: str) -> None:
        """Use another model in place of this one, which will be deleted. Its deletion may fail."""
        self.forget_former(folder)
        if folder == self._requested.draft_folder:
            self._change_draft(None)
        if folder == self._requested.main_folder:
            starter = self.starter.main
            instead = str(starter) if starter.is_dir() else ""
            self.when_free(instead, self.load_starter_or_nothing)

    def _take_check(self, check: PairCheck) -> None:
        """The comparison of two models' files is done."""
        self.checks.take(check, self.info_of(check.main), self.info_of(check.draft))
        if self._to_compare == (check.main, check.draft) == (self._requested.main_folder, check.draft):
            self._change_draft(self._draft_to_go_with(check.main, check.draft) or None)

    def choose_speculation(self, mode: str, tokens: int) -> None:
        """Set how to draft, for all chats without their own option."""
        settings = self._settings
        before = settings.speculation_mode
        undo = partial(self._choose_again, before, settings.speculation_tokens, self.pair)
        settings.speculation_mode = mode
        settings.speculation_tokens = tokens
        self.note_chosen(mode)
        if mode == "fixed" != before:
            self.fixed_chosen.emit(undo)

    def _choose_again(self, mode: str, tokens: int, pair: PairView) -> None:
        """For all chats; a pair chosen since stays on or off."""
        self._settings.speculation_mode = mode
        self._settings.speculation_tokens = tokens
        self.set_off_for_pair(pair.off_for_pair, pair)

    def note_chosen(self, mode: str) -> None:
        """Choosing how to draft, for all chats or for one, turns drafting on for this pair."""
        if mode != SpeculationMode.OFF:
            self.set_off_for_pair(False)

    def set_off_for_pair(self, off: bool, of: PairView | None = None) -> None:
        """Whether drafting is turned off for a pair; without one, for the loaded or requested."""
        pair = of or self.pair
        if pair.draft_folder and off != self.records.get(pair.main_folder, pair.draft_folder).off:
            self.records.put_off(pair.main_folder, pair.draft_folder, off)
            self.pair_changed.emit()

    def context_room(self, kv_bits: int | None = None) -> tuple[int, int]:
        """About how many context tokens the main model and the memory allow; 0: not known. `kv_bits`: of a request."""
        main = self.main_info()
        draft = self._requested.draft
        if main is None or not main.context_tokens:
            return 0, 0
        pair = [main] if draft is None or draft.folder == main.folder else [main, draft]
        return main.context_tokens, fit_together(pair, main.context_tokens, kv_bits=kv_bits).largest_context_tokens

    @property
    def models(self) -> list[ModelEntry]:
        return sorted(map(self._entry, self.library.installed), key=lambda entry: reading_order(entry.name))

    def drafts_for_main(self) -> list[DraftChoice]:
        """Every installed model: recommended, compatible, and not compatible with the reason.

        In each group first what is made to draft for one main model, then chat models; small ones first.
        """
        main = self.main_info()
        if main is None:
            return []
        choices = [self._choice(main, model) for model in self.library.installed]
        return sorted(choices, key=draft_order)

    def check_pair(self, draft: str) -> None:
        """Compare the files of the main model and `draft`; the result comes with the list of drafts."""
        main = self.main_info()
        info = self.info_of(draft)
        if main is not None and info is not None:
            self.checks.ask(main, info)

    def refresh(self) -> None:
        self._store.scan()

    def use_downloaded(self, download: int) -> None:
        """Load a finished download: a pair, a model, or a draft with its main model."""
        self._to_use = download
        if self._has_scanned(self.downloads.folders(download)):
            self._use_scanned()
        else:
            self._store.scan()

    def _use_scanned(self) -> None:
        """Use it once the scan has listed it; drop it if it was deleted."""
        download = self._to_use
        folders = self.downloads.folders(download)
        if self._has_scanned(folders):
            self._to_use = 0
            if folders:
                self._use(download, folders)
        elif gone := [folder for folder in folders if not Path(folder).is_dir()]:
            self._to_use = 0
            self.downloads.dismiss(download)
            self.problem_raised.emit(ModelNotFound(gone[0]))

    def _has_scanned(self, folders: tuple[str, ...]) -> bool:
        return set(folders) <= {model.folder for model in self.library.installed}

    def _use(self, download: int, folders: tuple[str, ...]) -> None:
        main = self.downloads.main_for(download)
        self.downloads.dismiss(download)
        if len(folders) > 1:
            self.choose_pair(folders[0], folders[1])
        elif self.info_of(main) is not None:
            self.choose_pair(main, folders[0])
        elif self.is_drafter(folders[0]) and self.main_info() is not None:
            self.choose_draft(folders[0])
        else:
            self.choose_main(folders[0])
        self.chat_wanted.emit()

    def use(self, folder: str) -> None:
        """Use a drafter for the loaded main model; anything else as the main model."""
        choose = self.choose_draft if self.is_drafter(folder) else self.choose_main
        choose(folder)
        self.chat_wanted.emit()

    def uses(self, main: str, draft: str) -> bool:
        """Whether the pair has these repositories."""
        return (main, draft) == (self._main_repository(), self.library.repository(self._requested.draft_folder))

    def use_pair(self, main: str, draft: str) -> None:
        self.choose_pair(main, draft)
        self.chat_wanted.emit()

    def take_offer(self, offer: PairOffer) -> None:
        """Use a pair of the catalog, or install what of it is missing."""
        if offer.missing:
            self.install_pair(offer.main, offer.draft)
        else:
            self.use_pair(self.discover.folder_of(offer.main), self.discover.folder_of(offer.draft))

    def delete(self, folder: str) -> None:
        if folder == self._requested.main_folder and self.busy:
            self.problem_raised.emit(DeleteFailed(folder, DeleteRefusal.IN_USE))
            return
        if self.waits_for(folder):
            self.forget_wait()
        if self._to_compare is not None and folder in self._to_compare:
            self._to_compare = None
        if self.pair.state is PairState.LOADING:
            self._leave(folder)  # its remaining files would be missing
        self.library.note_deletion(folder)
        self._store.delete(folder)

    def _on_event(self, event: Event) -> None:
        match event:
            case LibraryScanned():
                self.checks.forget_failures()
                self.models_changed.emit()
                self._use_scanned()
            case ModelDeleted(folder=folder):
                self._leave(folder)
                self._store.scan()
            case DeleteFailed():
                self.problem_raised.emit(event)
                self._store.scan()  # what is listed may be deleted
            case StationChanged(station=station):
                self._note_station(station)
            case PairChecked(check=check):
                self._take_check(check)
                self.models_changed.emit()

    def _choice(self, main: ModelInfo, model: InstalledModel) -> DraftChoice:
        if model.info is None:
            return draft_choice(main, model, self._entry(model))
        if needs_check(main, model.info):
            self.checks.ask(main, model.info)
        choice = draft_choice(main, model, self._entry(model), self.checks.known(main, model.info))
        return replace(choice, gain=self.library.gain_of(main.folder, model.folder))

    def _main_repository(self) -> str:
        return self.library.repository(self._requested.main_folder)

    def _entry(self, model: InstalledModel) -> ModelEntry:
        entry = self.library.entry(model, *self._requested.in_use())
        draft = self.last_drafts.of(model.folder)
        gain = self.library.gain_of(model.folder, draft) if draft else None
        return replace(entry, is_outdated=model.folder in self._requested.outdated, gain=gain)
