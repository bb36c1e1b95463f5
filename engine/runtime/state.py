"""The engine's state, derived from its events. Pure: a state and an event make the next state."""

from __future__ import annotations

from dataclasses import replace

from engine.api.events import (
    Event,
    Failed,
    Finished,
    ModelFailed,
    ModelLoading,
    ModelReady,
    ModelUnloaded,
    PromptProgress,
    Queued,
    TextDelta,
)
from engine.api.types import DraftingState, EngineState, ModelRole, RequestId


def state_after(state: EngineState, event: Event) -> EngineState:
    match event:
        case ModelLoading() | ModelReady() | ModelFailed() | ModelUnloaded():
            return _after_model_event(state, event)
        case Queued(request=request, background=background, guest=guest):
            background_ids = (*state.background, request) if background else state.background
            guests = (*state.guests, request) if guest else state.guests
            return replace(state, queued=(*state.queued, request), background=background_ids, guests=guests)
        case PromptProgress(request=request) if request not in state.running:
            queued = tuple(each for each in state.queued if each != request)
            return replace(state, queued=queued, running=(*state.running, request))
        case TextDelta(stats=stats) if stats.drafting is not state.drafting:
            return replace(state, drafting=stats.drafting)
        case Finished(request=request) | Failed(request=request):
            return _without(state, request)
    return state


def _after_model_event(
    state: EngineState, event: ModelLoading | ModelReady | ModelFailed | ModelUnloaded
) -> EngineState:
    main = event.role is ModelRole.MAIN
    match event:
        case ModelLoading(folder=folder):
            return replace(state, loading_main=folder, again_at=None) if main else replace(state, loading_draft=folder)
        case ModelReady(info=info, choice=choice):
            state = replace(state, main=info, choice=choice) if main else replace(state, draft=info)
        case ModelUnloaded():
            if main:
                return replace(state, main=None, choice=None, again_at=None)
            return replace(state, draft=None, drafting=DraftingState.NO_DRAFT)
        case ModelFailed(began=False):
            return state
        case ModelFailed(again_at=again_at) if main:
            state = replace(state, again_at=again_at)
    return replace(state, loading_main=None) if main else replace(state, loading_draft=None)


def _without(state: EngineState, request: RequestId) -> EngineState:
    return replace(
        state,
        queued=tuple(each for each in state.queued if each != request),
        running=tuple(each for each in state.running if each != request),
        background=tuple(each for each in state.background if each != request),
        guests=tuple(each for each in state.guests if each != request),
    )
