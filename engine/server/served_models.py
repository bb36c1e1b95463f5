"""Which models and drafts clients may name, and which of them is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engine.api.errors import DraftVocabularyDiffers, NoModelLoaded
from engine.api.protocols import ChatEngine
from engine.api.types import ModelInfo
from engine.models.compatibility import draft_problem, may_share_tokens
from engine.server.options import ModelShelf, ServedModel
from engine.server.parameters import identifier, names_of
from engine.server.problems import Problem, draft_not_loaded, not_loaded, problem_of, rank_lost, unknown_model


class ServedModels:
    def __init__(self, engine: ChatEngine, shelf: ModelShelf | None, *, any_name: bool) -> None:
        """`any_name`: unknown names mean the chosen model."""
        self._engine = engine
        self._shelf = shelf
        self._any_name = any_name

    @property
    def loaded(self) -> ModelInfo | None:
        """The loaded model; None while another is loading."""
        state = self._engine.state()
        return state.main if state.loading_main is None else None

    def all(self) -> list[ServedModel]:
        """All that clients may use, the loaded one first, with what is known of it once it is loaded."""
        state = self._engine.state()
        others = self._installed()
        if state.main is None:
            return [each for each in others if each.loads]
        here = next((each for each in others if same(each.main, state.main)), ServedModel(state.main, chosen=True))
        rest = [each for each in others if each.loads and each is not here]
        return [replace(here, main=state.main, draft=state.draft), *rest]

    def find(self, name: str) -> ServedModel:
        """As `named`; "", "default" and perhaps any other: what the user chose, else the loaded one. Raises Problem."""
        if not (name in {"", "default"} or self._any_name):
            return self.named(name)
        models = self.all()
        if not models:
            raise self._none()
        chosen = replace(next((model for model in models if model.chosen), models[0]), default=True)
        return next((model for model in models if name in names_of(model.main.name)), chosen)

    def named(self, name: str) -> ServedModel:
        """Raises Problem."""
        models = self.all()
        for model in models:
            if name in names_of(model.main.name):
                return model
        if any(name in names_of(each.main.name) for each in self._installed()):
            raise not_loaded(name)
        if not models:
            raise self._none()
        raise unknown_model(name, [identifier(model.main.name) for model in models])

    def _none(self) -> Problem:
        """Where there is no model now."""
        again_at = self._engine.state().again_at
        return problem_of(NoModelLoaded()) if again_at is None else rank_lost(again_at)

    def with_draft(self, model: ServedModel, name: str) -> ServedModel:
        """The same with the draft of that name and no other. Raises Problem."""
        draft = next((each for each in self._drafts(model) if name in names_of(each.name)), None)
        if draft is None:
            raise draft_not_loaded(name)
        problem = draft_problem(model.main, draft)
        if isinstance(problem, DraftVocabularyDiffers) and may_share_tokens(model.main, draft):
            problem = None  # loading it looks closer
        if problem is not None:
            raise problem_of(problem)
        own = next((each.draft for each in self._installed() if same(each.main, model.main)), model.draft)
        return replace(model, draft=draft, chosen=model.chosen and same(own, draft), exact=True)

    def drafts_of(self, model: ServedModel) -> list[str]:
        """What a client may name as its draft."""
        named = [each for each in self._drafts(model) if each is model.draft or draft_problem(model.main, each) is None]
        return list(dict.fromkeys(identifier(each.name) for each in named))

    def _drafts(self, model: ServedModel) -> list[ModelInfo]:
        """Its own, and all installed ones."""
        own = [] if model.draft is None else [model.draft]
        return own if self._shelf is None else [*own, *self._shelf.drafts()]

    def _installed(self) -> Sequence[ServedModel]:
        return () if self._shelf is None else self._shelf.models()

    def is_replaced(self, model: ServedModel) -> bool:
        """Whether the user has chosen another one since it was found by default."""
        chosen = next((each.main for each in self._installed() if each.chosen), model.main)
        return model.default and not same(chosen, model.main)

    def is_loaded(self, main: ModelInfo) -> bool:
        return same(self.loaded, main)

    def is_here(self, model: ServedModel) -> bool:
        """Loaded, with the draft that it has to have."""
        state = self._engine.state()
        draft = state.draft if state.loading_draft is None else None
        return self.is_loaded(model.main) and (not model.exact or same(model.draft, draft))


def same(one: ModelInfo | None, other: ModelInfo | None) -> bool:
    return one is not None and other is not None and Path(one.folder) == Path(other.folder)
