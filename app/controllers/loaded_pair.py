"""The state of the loaded pair, built from engine events alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app.view_models.model_list import DraftState, PairState, PairView
from engine import (
    DraftingState,
    EngineError,
    EngineState,
    Helping,
    MachineUnavailable,
    ModelFailed,
    ModelInfo,
    ModelLoading,
    ModelLoadProgress,
    ModelMeasured,
    ModelReady,
    ModelRole,
    ModelUnloaded,
    RankLost,
    Speculation,
    SpeculationMode,
    model_name,
)

# States that hold for the draft itself, or for all running replies; the others hold for one request only.
_LASTING = (
    *(DraftingState.ACTIVE, DraftingState.PARKED, DraftingState.UNSUPPORTED, DraftingState.FAILED),
    DraftingState.BATCHED,
)


LEAST_PROGRESS = 0.01
IsOff = Callable[[str, str], bool]  # whether drafting was turned off for a main model's folder and a draft's


class LoadedPair:
    """`main_folder` and `draft_folder` were requested; `main` and `draft` are loaded."""

    def __init__(self, is_off: IsOff) -> None:
        self.is_off = is_off
        self.main_folder = self._main_name = ""
        self.draft_folder = self._draft_name = ""
        self.helping: tuple[Helping, ...] = ()  # other machines that hold some of the main model's layers
        self.main: ModelInfo | None = None
        self.draft: ModelInfo | None = None
        self.state = PairState.NO_MODEL
        self.outdated: set[str] = set()  # folders of the two that have other files than what was loaded from them
        self.main_stays = False  # while it rests: a program has exchanged its draft alone
        self._draft_loading = False
        self._main_error: EngineError | None = None
        self._draft_error: EngineError | None = None
        self._drafting = DraftingState.ACTIVE
        self._loaded_share = 0.0
        self._tie_nats: float | None = None

    def begin_loading(self, main_folder: str, draft_folder: str, helping: tuple[Helping, ...] = ()) -> None:
        self.main_folder, self._main_name, self.helping = main_folder, _name(main_folder), helping
        self.outdated.clear()
        self.state, self.main, self._main_error, self._tie_nats = PairState.LOADING, None, None, None
        self._loaded_share = 0.0
        self.begin_loading_draft(draft_folder)

    def begin_loading_draft(self, draft_folder: str) -> None:
        self.draft_folder, self._draft_name = draft_folder, _name(draft_folder)
        self.outdated &= {self.main_folder}
        self.draft, self._draft_error = None, None
        self._draft_loading = bool(draft_folder)
        if self.state is not PairState.LOADING:
            self._loaded_share = 0.0
        self._drafting = DraftingState.ACTIVE

    def clear(self) -> None:
        self.begin_loading("", "")
        self.state = PairState.NO_MODEL

    def rest(self) -> None:
        """Out of memory, to be loaded again when it is needed."""
        self.state, self.main, self.draft, self._draft_loading = PairState.UNLOADED, None, None, False
        self.outdated.clear()

    def regain(self, state: EngineState) -> bool:
        """Whether the engine still has what rests."""
        if self.state is not PairState.UNLOADED or state.main is None or state.main.folder != self.main_folder:
            return False
        self.main_stays = False
        self.apply_event(ModelReady(ModelRole.MAIN, state.main))
        if state.draft is not None and state.draft.folder == self.draft_folder:
            self.apply_event(ModelReady(ModelRole.DRAFT, state.draft))
        return True

    def note_other_files(self, folder: str) -> bool:
        """A download has put other files into `folder`; returns whether they are to be loaded again for that."""
        self.main_stays &= folder != self.main_folder
        loaded = {self.main_folder, self.draft_folder} if self.state in (PairState.READY, PairState.LOADING) else set()
        if folder in loaded:
            self.outdated.add(folder)
        return folder in loaded

    @property
    def comes_when_needed(self) -> bool:
        """It rests, or a machine that is to help was away, which may be back."""
        was_away = self.state is PairState.FAILED and isinstance(self._main_error, MachineUnavailable | RankLost)
        return was_away or self.state is PairState.UNLOADED

    @property
    def draft_is_loading(self) -> bool:
        return self._draft_loading

    def drafts_with(self, folder: str) -> bool:
        """Else it may draft for a program's model."""
        return self.state is PairState.READY and folder == self.draft_folder

    def in_use(self) -> tuple[str, str]:
        """The folders of main model and draft, except of one that could not be loaded."""
        return "" if self._main_error else self.main_folder, "" if self._draft_error else self.draft_folder

    def apply_progress(self, event: ModelLoadProgress) -> bool:
        """Returns whether there is anything new to show: one per cent more of what is shown to be loading."""
        of_main = event.role is ModelRole.MAIN
        is_shown = self.state is PairState.LOADING if of_main else self._draft_loading and self.state is PairState.READY
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
        self._tie_nats = 2 * event.rounding
        return True

    def apply_drafting(self, drafting: DraftingState, *, running: bool) -> bool:
        """Takes over the drafting state of a request; returns whether it changed. `running`: a reply still is."""
        if drafting is DraftingState.BATCHED and not running:
            drafting = DraftingState.ACTIVE  # no reply shares its forwards any more
        if self.draft is None or drafting not in _LASTING or drafting is self._drafting:
            return False
        self._drafting = drafting
        return True

    def view(self, speculation: Speculation) -> PairView:
        off = bool(self.draft_folder) and self.is_off(self.main_folder, self.draft_folder)
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
            loaded_share=self._loaded_share,
            off_for_pair=off,
            tie_nats=self._tie_nats,
            sees=self.main is not None and self.main.sees,
        )

    def _apply_main_event(self, event: ModelLoading | ModelReady | ModelFailed | ModelUnloaded) -> None:
        match event:
            case ModelLoading(folder=folder) if folder == self.main_folder:  # else it is not wanted any more
                self.state, self.main = PairState.LOADING, None
            case ModelReady(info=info):
                self.state, self.main, self._loaded_share = PairState.READY, info, 0.0
            case ModelFailed(error=error):
                self.state, self.main, self._main_error = PairState.FAILED, None, error
                self._draft_loading = False
            case ModelUnloaded():
                self.main = None
                if self.state is PairState.READY:  # not while the next one is on its way
                    self.state = PairState.NO_MODEL

    def _apply_draft_event(self, event: ModelLoading | ModelReady | ModelFailed | ModelUnloaded) -> None:
        match event:
            case ModelLoading():
                self._draft_loading = True
            case ModelReady(info=info):
                self.draft, self._draft_loading, self._draft_error = info, False, None
            case ModelFailed(error=error):
                self.draft, self._draft_loading, self._draft_error = None, False, error
            case ModelUnloaded():
                self.draft = None

    def _draft_view(self, mode: SpeculationMode) -> tuple[DraftState, DraftingState | None]:
        if self._draft_error is not None:
            return DraftState.REFUSED, None
        if self.state is PairState.UNLOADED and self.draft_folder:
            return DraftState.PARKED, None
        if self.draft is None:
            return DraftState.LOADING if self._draft_loading else DraftState.NONE, None
        drafting = DraftingState.OFF if mode is SpeculationMode.OFF else self._drafting
        if drafting is DraftingState.ACTIVE:
            return DraftState.ACTIVE, None
        refused = drafting is DraftingState.UNSUPPORTED
        return DraftState.REFUSED if refused else DraftState.PARKED, drafting


def _name(folder: str) -> str:
    return model_name(Path(folder)) if folder else ""
