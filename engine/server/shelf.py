"""The models of a command line: the pair that it names, and others in folders, which are loaded when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from engine.api.errors import EngineError
from engine.api.events import Event
from engine.api.protocols import ChatEngine
from engine.api.types import EngineState, ModelInfo
from engine.hub.library import scan_folders
from engine.models.compatibility import best_draft
from engine.server.options import ServedModel


class EngineShelf:
    """See ModelShelf. Clients alone use the engine: its models are exchanged as soon as no client's is used."""

    def __init__(self, engine: ChatEngine, models: Sequence[ServedModel], drafts: Sequence[ModelInfo] = ()) -> None:
        self._engine = engine
        self._models = tuple(models)
        self._drafts = tuple(drafts)

    def models(self) -> Sequence[ServedModel]:
        return self._models

    def drafts(self) -> Sequence[ModelInfo]:
        return self._drafts

    def bring(self, model: ServedModel, refuse: Callable[[EngineError], None]) -> None:
        state, draft = self._engine.state(), None if model.draft is None else model.draft.folder
        if model.exact and state.main is not None and _key(state.main.folder) == _key(model.main.folder):
            self._engine.set_draft(draft, _unheard)
        else:
            self._engine.load(model.main.folder, _unheard, draft=draft)

    def take_away(self, model: ServedModel) -> None:
        """Of the chosen pair only a draft that a client has named goes."""
        chosen = next((each for each in self._models if each.chosen), None)
        if chosen is None or _key(chosen.main.folder) != _key(model.main.folder):
            self._engine.unload(_unheard)
        elif chosen.draft is None:
            self._engine.load(chosen.main.folder, _unheard)
        else:
            self._engine.set_draft(chosen.draft.folder, _unheard)


def served_models(state: EngineState, folders: Sequence[Path], drafts: Mapping[Path, Path | None]) -> list[ServedModel]:
    """The loaded pair, which stays, and the models in `folders`, each with its draft of `drafts`, or the best one."""
    infos = [model.info for model in scan_folders(folders) if model.info is not None]
    here = [] if state.main is None else [ServedModel(state.main, state.draft, chosen=True)]
    known = {_key(each.main.folder) for each in here}
    others = [info for info in infos if info.drafter is None and _key(info.folder) not in known]
    return [*here, *(ServedModel(info, _draft_of(info, infos, drafts)) for info in others)]


def served_drafts(state: EngineState, folders: Sequence[Path]) -> list[ModelInfo]:
    """The loaded draft, and all models in `folders`: whether one fits is known by its main model."""
    infos = [model.info for model in scan_folders(folders) if model.info is not None]
    return infos if state.draft is None else [state.draft, *infos]


def _draft_of(main: ModelInfo, infos: Sequence[ModelInfo], drafts: Mapping[Path, Path | None]) -> ModelInfo | None:
    key = _key(main.folder)
    if key not in drafts:
        return best_draft(main, infos)
    return next((info for info in infos if drafts[key] is not None and _key(info.folder) == drafts[key]), None)


def _key(folder: Path | str) -> Path:
    return Path(folder).resolve()


def _unheard(_event: Event) -> None:
    """The server has a subscription for models."""
