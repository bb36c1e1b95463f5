"""Loading and unloading the pair: what is loaded, what is requested, and the engine's events about both.

`models` decides which models go together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.bridge import EngineBridge
from app.settings import STARTER_FOLDER, Settings, as_setting, from_setting
from app.storage.pair_records import PairRecords
from app.view_models.model_list import DraftState, PairState, PairView
from engine import (
    ChatEngine,
    DownloadFinished,
    DrafterExamined,
    DraftingState,
    EngineError,
    EngineState,
    Event,
    Failed,
    Finished,
    Helping,
    LoadAborted,
    Machine,
    MachineUnavailable,
    ModeChoice,
    ModelFailed,
    ModelInfo,
    ModelLoading,
    ModelLoadProgress,
    ModelMeasured,
    ModelReady,
    ModelRole,
    ModelUnloaded,
    NoModelLoaded,
    Queued,
    RankLost,
    RankMode,
    Speculation,
    SpeculationMode,
    StationPhase,
    StationState,
    TextDelta,
    model_name,
)

_MOST_REMEMBERED = 200  # last drafts that are remembered
_HELPING = ("name", "fingerprint", "address", "identity")  # stored fields of a machine
_MODE = "mode"  # beside them
# Drafting states of the draft itself or of all running replies; other states belong to one request.
_LASTING = (
    *(DraftingState.ACTIVE, DraftingState.PARKED, DraftingState.UNSUPPORTED, DraftingState.FAILED),
    DraftingState.BATCHED,
)

LEAST_PROGRESS = 0.01


@dataclass(frozen=True, slots=True)
class StarterPair:
    """The two folders that come with the app, and a model that sees, with a draft beside it."""

    main: Path
    draft: Path

    @property
    def eyes(self) -> Path:
        return self.main.with_name("eyes") / "main"


class LastDrafts:
    """The last draft of each main model."""

    def __init__(self, settings: Settings, starter: StarterPair) -> None:
        self._settings = settings
        self._starter = starter

    def of(self, main: str) -> str | None:
        """The draft's folder, "" for no draft; None: not known."""
        stored = self._settings.last_drafts.get(as_setting(main, self._starter.main))
        return None if stored is None else from_setting(stored, self._starter.draft)

    def mains(self) -> list[str]:
        """Folders of main models with a last draft, the latest first; the starter's is always included."""
        had = [from_setting(each, self._starter.main) for each in reversed(self._settings.last_drafts)]
        return [*had, str(self._starter.main)]

    def note(self, main: str, draft: str) -> None:
        """Remember the draft for the next time `main` is loaded."""
        if not main:
            return
        key = as_setting(main, self._starter.main)
        others = self._settings.last_drafts
        kept = [each for each in others.items() if each[0] != key][1 - _MOST_REMEMBERED :]
        self._settings.last_drafts = dict([*kept, (key, as_setting(draft, self._starter.draft))])


class Helpers:
    """Which machines help with which main model."""

    def __init__(self, settings: Settings, starter: StarterPair) -> None:
        self._settings = settings
        self._starter = starter
        self._forgotten: set[str] = set()  # fingerprints of removed machines

    def of(self, main: str) -> tuple[Helping, ...]:
        """Machines that hold some of its layers."""
        stored = self._settings.helped_models.get(as_setting(main, self._starter.main), {})
        name, fingerprint, address, identity = (str(stored.get(field, "")) for field in _HELPING)
        if not (fingerprint and address and identity):  # none, or as another version stores it
            return ()
        return (Helping(Machine(name, fingerprint, address), identity),)

    @property
    def fingerprints(self) -> set[str]:
        return {str(each.get("fingerprint")) for each in self._settings.helped_models.values()}

    def mode_of(self, main: str) -> RankMode | None:
        """The mode that the user wants it to run in with them; None: whichever is faster."""
        stored = self._settings.helped_models.get(as_setting(main, self._starter.main), {})
        return next((mode for mode in RankMode if mode == stored.get(_MODE)), None)

    def note(self, main: str, helping: tuple[Helping, ...], mode: RankMode | None = None) -> None:
        """Set the machines for its next load; none: this machine alone."""
        key = as_setting(main, self._starter.main)
        kept = {name: stored for name, stored in self._settings.helped_models.items() if name != key}
        for each in helping:
            values = each.machine.name, each.machine.fingerprint, each.machine.address, each.identity
            kept[key] = dict(zip(_HELPING, values, strict=True)) | {_MODE: mode or ""}
            self._forgotten.discard(each.machine.fingerprint)
        self._settings.helped_models = kept

    def return_to(self, pair: RequestedPair) -> None:
        """Restore former machines, except those that were removed meanwhile."""
        if any(each.machine.fingerprint in self._forgotten for each in pair.helping):
            pair.helping = ()
            pair.state = PairState.NO_MODEL
        self.note(pair.main_folder, pair.helping, pair.mode)

    def note_address(self, machine: Machine) -> None:
        """Update the machine's address for all models that it helps with."""
        stored = self._settings.helped_models
        now = {"name": machine.name, "address": machine.address}
        self._settings.helped_models = {
            name: each | now if each.get("fingerprint") == machine.fingerprint else each
            for name, each in stored.items()
        }

    def forget(self, fingerprint: str) -> None:
        """The machine was removed: no model uses it any more."""
        self._forgotten.add(fingerprint)
        stored = self._settings.helped_models.items()
        self._settings.helped_models = {name: each for name, each in stored if each.get("fingerprint") != fingerprint}


class PairLoading(QObject):
    """Loads the pair. Changes that would end foreground replies wait until they have ended."""

    pair_changed = Signal()  # the pair or its state
    pair_exchanged = Signal()  # the models, or their files; `pair_changed` comes with the former
    main_waits = Signal(str)  # name of the model that waits for running replies; "": none
    wait_ended = Signal()  # the waiting change was made or cancelled
    problem_raised = Signal(object)  # EngineError, DrafterExamined or DeleteFailed, for words.notices_for_errors

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        settings: Settings,
        starter: StarterPair,
        records: PairRecords,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.starter = starter
        self.records = records
        self.last_drafts = LastDrafts(settings, starter)
        self.helpers = Helpers(settings, starter)
        self._engine = engine
        self._bridge = bridge
        self._settings = settings
        self._requested = RequestedPair()
        self._former: RequestedPair | None = None  # the last pair that worked, while another is loading
        self._station = ""  # the name of another machine that drafts now
        self.refused = ("", "")  # main model and draft of the latest load that failed
        self._known_problem = ""  # of the latest failure, until a main model is loaded
        self._waiting: Callable[[], None] | None = None  # called when no reply is running
        self._awaited = ""  # the main model after that call; "": none
        self._has_replies = False  # also between two requests of one that calls tools
        self.idle_timer = QTimer(self, singleShot=True)  # runs out after the last reply, by the settings
        self.idle_timer.timeout.connect(self._on_idle)
        settings.changed.connect(self._on_setting)
        engine.subscribe(bridge.post_figures)

    @property
    def pair(self) -> PairView:
        main = self._requested.main_folder
        draft = self._requested.draft_folder
        off = bool(draft) and self.records.get(main, draft).off
        return replace(self._requested.view(self._settings.speculation(), off), station=self._station)

    @property
    def main_setting(self) -> str:
        """The main model of the next reply, loaded or loading, as the settings name it."""
        chosen = self._requested.main_folder
        return as_setting(chosen, self.starter.main) if chosen else self._settings.main_folder

    @property
    def can_reply(self) -> bool:
        """Whether a main model is loaded, loading, or will be loaded when needed."""
        return self._requested.comes_when_needed or self._requested.state in (PairState.READY, PairState.LOADING)

    @property
    def in_memory(self) -> set[str]:
        """Folders of what the engine has loaded: the pair, or a program's models."""
        state = self._engine.state()
        return {each.folder for each in (state.main, state.draft) if each is not None}

    @property
    def busy(self) -> bool:
        """Whether a foreground reply is queued or running."""
        return bool(self._engine.state().foreground)

    @property
    def _is_free(self) -> bool:
        """Whether no reply would be ended, or go on with another model, by a change."""
        return not (self.busy or self._has_replies)

    def has_main(self, folder: str) -> bool:
        """Whether it is the main model (loaded, loading or resting), with unchanged files."""
        requested = self._requested
        return self.can_reply and folder == requested.in_use()[0] and folder not in requested.outdated

    def has_draft(self, folder: str) -> bool:
        """Whether it is the draft, and usable."""
        serves = self.pair.draft_state not in (DraftState.NONE, DraftState.REFUSED)
        return serves and folder == self._requested.draft_folder and folder not in self._requested.outdated

    def load_last(self) -> None:
        """Load the last pair, or the one that comes with the app."""
        main = from_setting(self._settings.main_folder, self.starter.main)
        if main:
            self.load(main, from_setting(self._settings.draft_folder, self.starter.draft))

    def load_draft(self, folder: str | None) -> None:
        """Change the draft at once, without reloading the main model."""
        self._requested.begin_loading_draft(folder or "")
        if self._requested.state in (PairState.READY, PairState.UNLOADED):
            self._keep_draft()
        if self._requested.state is PairState.UNLOADED:
            self._requested.rest()  # it comes with the main model
        else:
            self._engine.set_draft(folder, self._bridge.post)
        self._emit_exchanged()

    def load_starter_or_nothing(self) -> None:
        """Replace a deleted main model, also in the settings."""
        self._settings.main_folder = self._settings.draft_folder = STARTER_FOLDER
        if self.starter.main.is_dir():
            self.load(str(self.starter.main), from_setting(STARTER_FOLDER, self.starter.draft))
            self._former = None
        else:
            self._former = None
            self._requested.clear()
            self._engine.unload(self._bridge.post)
            self._emit_exchanged()

    def forget_former(self, folder: str) -> None:
        """A deleted model is not restored after a failed load."""
        if self._former is not None and self._former.main_folder == folder:
            self._former = RequestedPair()
            self._former.begin_loading(str(self.starter.main), from_setting(STARTER_FOLDER, self.starter.draft))
            self._former.state = PairState.NO_MODEL

    def wake(self) -> None:
        """Load what was unloaded, for a message about to be sent."""
        if self._requested.main_stays and self._requested.regain(self._engine.state()):
            self.load_draft(self._requested.draft_folder or None)
        elif self._requested.comes_when_needed:
            self.load(self._requested.main_folder, self._requested.draft_folder)

    def unload(self) -> None:
        if self.rest_pair():
            self._engine.unload(self._bridge.post)

    def rest_pair(self, *, main_stays: bool = False) -> bool:
        """Mark the pair as resting until `wake`; False: none was loaded. The caller loads another model or unloads."""
        self._requested.main_stays = main_stays
        if self._requested.state is not PairState.READY:
            return False
        self._requested.rest()
        self._emit_exchanged()
        return True

    def regain(self) -> None:
        """What should have replaced the pair failed to load: if the pair is still loaded, it is in use again."""
        if self._requested.regain(self._engine.state()):
            self._emit_exchanged()

    def when_free(self, folder: str, change: Callable[[], None]) -> None:
        """Call `change` when no reply would be ended by it. `folder`: the main model afterwards; "": none."""
        self.forget_wait()
        if self._requested.state is not PairState.READY or self._is_free:
            change()
            return
        self._waiting = change
        self._awaited = folder
        self.main_waits.emit(_name(folder))

    def waits_for(self, folder: str) -> bool:
        return self._waiting is not None and self._awaited == folder

    def forget_wait(self) -> None:
        if self._waiting is not None:
            self._waiting = None
            self.wait_ended.emit()

    def switch_now(self) -> None:
        """Make the waiting change, even if replies are running."""
        act = self._waiting
        self.forget_wait()
        if act is not None:
            act()

    def _note_use(self, event: Event) -> None:
        if isinstance(event, Queued):
            self.idle_timer.stop()
        elif isinstance(event, Finished | Failed | ModelReady):
            self._look_whether_free()

    def note_replies(self, running: bool) -> None:
        """Whether any reply of a chat has begun and not ended."""
        self._has_replies = running
        self._look_whether_free()

    def _look_whether_free(self) -> None:
        if self._is_free:
            self._start_idle_timer()
            self.switch_now()

    def _start_idle_timer(self) -> None:
        if minutes := self._settings.unload_after_min:
            self.idle_timer.start(minutes * 60_000)
        else:
            self.idle_timer.stop()

    def _on_idle(self) -> None:
        state = self._engine.state()
        if self._is_free and not (state.running or state.queued):  # of other programs; the last end starts the timer
            self.unload()

    def _on_setting(self, name: str) -> None:
        if name == "unload_after_min":
            self._start_idle_timer()
        elif name in ("speculation_mode", "speculation_tokens"):
            self.pair_changed.emit()

    def _on_pair_event(self, event: Event) -> None:
        self._note_use(event)
        match event:
            case ModelLoadProgress():
                if self._requested.apply_progress(event):
                    self.pair_changed.emit()
            case ModelLoading() | ModelReady() | ModelFailed() | ModelUnloaded():
                self._on_model_event(event)
            case TextDelta(stats=stats) | Finished(stats=stats) | Failed(stats=stats):
                if self._requested.apply_drafting(stats.drafting, running=bool(self._engine.state().running)):
                    self.pair_changed.emit()
            case ModelMeasured():
                if self._requested.apply_measured(event):
                    self.pair_changed.emit()
            case DrafterExamined(folder=folder, poor=True) if self._requested.drafts_with(folder):
                self.problem_raised.emit(event)
            case DownloadFinished(folder=folder, changed=True) if self._note_other_files(folder):
                self.pair_exchanged.emit()

    def _note_station(self, station: StationState) -> None:
        before = self._station
        self._station = station.machine if station.phase is StationPhase.READY else ""
        if self._station != before:
            self.pair_changed.emit()

    def _on_model_event(self, event: ModelLoading | ModelReady | ModelFailed | ModelUnloaded) -> None:
        if isinstance(event, ModelFailed) and isinstance(event.error, LoadAborted):
            return  # another model was requested meanwhile
        if self._is_former(event):
            return
        self._requested.apply_event(event)
        if isinstance(event, ModelUnloaded) and self._former is not None:
            self._former.apply_event(event)
        if isinstance(event, ModelReady) and event.role is ModelRole.MAIN:
            self._former = None
            self._known_problem = ""
            self._settings.main_folder = as_setting(event.info.folder, self.starter.main)
            self._keep_draft()
        if isinstance(event, ModelFailed) and not isinstance(event.error, NoModelLoaded):
            # A draft without its main model has nothing to report, and what is tried again and again only once.
            self.refused = (self._requested.main_folder, self._requested.draft_folder)
            if event.again_at is None or str(event.error) != self._known_problem:
                self.problem_raised.emit(event.error)
            self._known_problem = str(event.error)
            if event.role is ModelRole.DRAFT:
                # Otherwise the engine would keep the previous draft, which the pair chip no longer shows.
                self._engine.set_draft(None, self._bridge.post)
            else:
                self._go_back(event.folder)
        self._emit_exchanged()

    def _note_other_files(self, folder: str) -> bool:
        if self._former is not None:
            self._former.note_other_files(folder)
        return self._requested.note_other_files(folder)

    def _go_back(self, failed: str) -> None:
        """A chosen main model could not be loaded: restore the last pair that worked."""
        former = self._former
        self._former = None
        if former is None or (former.main_folder == failed and former.state is not PairState.READY):
            return
        self.helpers.return_to(former)
        if former.state is PairState.NO_MODEL:  # unloaded to make room
            self.load(former.main_folder, former.draft_folder)
            return
        self._requested = former
        if former.draft_is_loading:  # the other main model's load aborted it
            self._engine.set_draft(former.draft_folder, self._bridge.post)

    def _is_former(self, event: ModelLoading | ModelReady | ModelFailed | ModelUnloaded) -> bool:
        """Whether the event is about a model that is not requested any more."""
        if isinstance(event, ModelUnloaded):
            return False
        if event.role is ModelRole.DRAFT and self._requested.state is PairState.LOADING:
            return True  # a draft is dropped with its main model
        folder = event.info.folder if isinstance(event, ModelReady) else event.folder
        wanted = self._requested.main_folder if event.role is ModelRole.MAIN else self._requested.draft_folder
        return Path(folder) != Path(wanted)

    def _keep_draft(self) -> None:
        self._settings.draft_folder = as_setting(self._requested.draft_folder, self.starter.draft)
        if self._requested.draft_folder:  # without one, none may be installed
            self.last_drafts.note(self._requested.main_folder, self._requested.draft_folder)

    def load(self, main: str, draft: str) -> None:
        """Load the pair; ends background replies, and others if the user chose so (`when_free`).

        The settings name the pair once its main model is loaded, so that the next start does not load half a pair.
        """
        if self._requested.state in (PairState.READY, PairState.UNLOADED):
            self._former = self._requested
        self._requested = RequestedPair()
        helping = self.helpers.of(main)
        mode = self.helpers.mode_of(main)
        self._requested.begin_loading(main, draft, helping, mode)
        self._engine.load(main, self._bridge.post, draft=draft or None, end_replies=True, helping=helping, mode=mode)
        self._emit_exchanged()

    def _emit_exchanged(self) -> None:
        self.pair_changed.emit()
        self.pair_exchanged.emit()


class RequestedPair:
    """The state of the requested pair, derived from engine events.

    `main_folder` and `draft_folder` were requested; `main` and `draft` are loaded.
    """

    def __init__(self) -> None:
        self.main_folder = ""
        self.draft_folder = ""
        self._main_name = ""  # until it is loaded; cached, because it may take reading files
        self._draft_name = ""
        self.helping: tuple[Helping, ...] = ()  # other machines that hold some of the main model's layers
        self.mode: RankMode | None = None  # in which it is to run over them
        self.choice: ModeChoice | None = None  # how a loaded main model runs over them
        self.main: ModelInfo | None = None
        self.draft: ModelInfo | None = None
        self.state = PairState.NO_MODEL
        self.outdated: set[str] = set()  # folders whose files have changed since they were loaded
        self.main_stays = False  # still loaded while the pair rests: a program replaced only the draft
        self.draft_is_loading = False
        self._main_error: EngineError | None = None
        self._draft_error: EngineError | None = None
        self._drafting = DraftingState.ACTIVE
        self._loaded_share = 0.0
        self._exact = False

    def begin_loading(
        self, main_folder: str, draft_folder: str, helping: tuple[Helping, ...] = (), mode: RankMode | None = None
    ) -> None:
        self.main_folder = main_folder
        self._main_name = _name(main_folder)
        self.helping = helping
        self.mode = mode
        self.outdated.clear()
        self.state = PairState.LOADING
        self.main = None
        self._main_error = None
        self._exact = False
        self._loaded_share = 0.0
        self.begin_loading_draft(draft_folder)

    def begin_loading_draft(self, draft_folder: str) -> None:
        self.draft_folder = draft_folder
        self._draft_name = _name(draft_folder)
        self.outdated &= {self.main_folder}
        self.draft = None
        self._draft_error = None
        self.draft_is_loading = bool(draft_folder)
        if self.state is not PairState.LOADING:
            self._loaded_share = 0.0
        self._drafting = DraftingState.ACTIVE

    def clear(self) -> None:
        self.begin_loading("", "")
        self.state = PairState.NO_MODEL

    def rest(self) -> None:
        """Unloaded, to be loaded when needed."""
        self.state = PairState.UNLOADED
        self.main = None
        self.draft = None
        self.draft_is_loading = False
        self.outdated.clear()

    def regain(self, state: EngineState) -> bool:
        """Use a resting pair again if the engine still has it; returns whether it does."""
        if self.state is not PairState.UNLOADED or state.main is None or state.main.folder != self.main_folder:
            return False
        self.main_stays = False
        self.apply_event(ModelReady(ModelRole.MAIN, state.main, state.choice))
        if state.draft is not None and state.draft.folder == self.draft_folder:
            self.apply_event(ModelReady(ModelRole.DRAFT, state.draft))
        return True

    def note_other_files(self, folder: str) -> bool:
        """A download replaced files in `folder`; returns whether they have to be loaded again."""
        self.main_stays &= folder != self.main_folder
        loaded = {self.main_folder, self.draft_folder} if self.state in (PairState.READY, PairState.LOADING) else set()
        if folder in loaded:
            self.outdated.add(folder)
        return folder in loaded

    @property
    def comes_when_needed(self) -> bool:
        """It rests, or a helping machine was away and may be back."""
        was_away = self.state is PairState.FAILED and isinstance(self._main_error, MachineUnavailable | RankLost)
        return was_away or self.state is PairState.UNLOADED

    def drafts_with(self, folder: str) -> bool:
        """Whether that main model is the pair's; a program's model may use the draft otherwise."""
        return self.state is PairState.READY and folder == self.draft_folder

    def in_use(self) -> tuple[str, str]:
        """Folders of main model and draft, without one that failed to load."""
        return "" if self._main_error else self.main_folder, "" if self._draft_error else self.draft_folder

    def apply_progress(self, event: ModelLoadProgress) -> bool:
        """Returns whether the shown progress changed by at least one per cent."""
        of_main = event.role is ModelRole.MAIN
        is_shown = (
            self.state is PairState.LOADING if of_main else self.draft_is_loading and self.state is PairState.READY
        )
        is_wanted = event.folder == (self.main_folder if of_main else self.draft_folder)
        share = event.done_bytes / event.total_bytes if event.total_bytes else 0.0
        if not is_shown or not is_wanted or abs(share - self._loaded_share) < LEAST_PROGRESS:
            return False
        self._loaded_share = share
        return True

    def apply_event(self, event: ModelLoading | ModelReady | ModelFailed | ModelUnloaded) -> None:
        if event.role is ModelRole.MAIN:
            self._apply_main_event(event)
        else:
            self._apply_draft_event(event)

    def apply_measured(self, event: ModelMeasured) -> bool:
        """Returns whether it was about this pair."""
        if event.folder != self.main_folder:
            return False
        self._exact = not event.rounding
        return True

    def apply_drafting(self, drafting: DraftingState, *, running: bool) -> bool:
        """Take the drafting state of a request; returns whether it changed. `running`: another reply is running."""
        if drafting is DraftingState.BATCHED and not running:
            drafting = DraftingState.ACTIVE  # batching has ended
        if self.draft is None or drafting not in _LASTING or drafting is self._drafting:
            return False
        self._drafting = drafting
        return True

    def view(self, speculation: Speculation, off: bool) -> PairView:
        """`off`: drafting is turned off for the pair."""
        if off:
            speculation = replace(speculation, mode=SpeculationMode.OFF)
        draft_state, drafting = self._draft_view(speculation.mode)
        return PairView(
            main_name=self._main_name if self.main is None else self.main.name,
            draft_name=self._draft_name if self.draft is None else self.draft.name,
            speculation=speculation,
            state=self.state,
            draft_state=draft_state,
            error=self._main_error or self._draft_error,
            drafting=drafting,
            main_folder=self.main_folder,
            draft_folder=self.draft_folder,
            helper=next((each.machine for each in self.helping), None),
            choice=self.choice,
            loaded_share=self._loaded_share,
            off_for_pair=off,
            exact=self._exact,
            sees=self.main is not None and self.main.sees,
        )

    def _apply_main_event(self, event: ModelLoading | ModelReady | ModelFailed | ModelUnloaded) -> None:
        match event:
            case ModelLoading(folder=folder) if folder == self.main_folder:  # else another one is requested
                self.state = PairState.LOADING
                self.main = None
                self._main_error = None
            case ModelReady(info=info, choice=choice):
                self.state = PairState.READY
                self.main = info
                self.choice = choice
                self._loaded_share = 0.0
            case ModelFailed(error=error):
                self.state = PairState.FAILED
                self.main = None
                self._main_error = error
                self.draft_is_loading = False
            case ModelUnloaded():
                self.main = None
                if self.state is PairState.READY:  # not while another pair is loading
                    self.state = PairState.NO_MODEL

    def _apply_draft_event(self, event: ModelLoading | ModelReady | ModelFailed | ModelUnloaded) -> None:
        match event:
            case ModelLoading():
                self.draft_is_loading = True
            case ModelReady(info=info):
                self.draft = info
                self.draft_is_loading = False
                self._draft_error = None
            case ModelFailed(error=error):
                self.draft = None
                self.draft_is_loading = False
                self._draft_error = error
            case ModelUnloaded():
                self.draft = None

    def _draft_view(self, mode: SpeculationMode) -> tuple[DraftState, DraftingState | None]:
        if self._draft_error is not None:
            return DraftState.REFUSED, None
        if self.state is PairState.UNLOADED and self.draft_folder:
            return DraftState.PARKED, None
        if self.draft is None:
            return DraftState.LOADING if self.draft_is_loading else DraftState.NONE, None
        drafting = DraftingState.OFF if mode is SpeculationMode.OFF else self._drafting
        if drafting is DraftingState.ACTIVE:
            return DraftState.ACTIVE, None
        refused = drafting is DraftingState.UNSUPPORTED
        return DraftState.REFUSED if refused else DraftState.PARKED, drafting


def _name(folder: str) -> str:
    return model_name(Path(folder)) if folder else ""
