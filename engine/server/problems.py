"""Refusals and failures; each dialect has its own form for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from time import monotonic

from engine.api.errors import (
    CannotSee,
    ContextTooLong,
    DraftError,
    EmptyConversation,
    EngineClosed,
    EngineError,
    InvalidRequest,
    MachineUnavailable,
    ModelTooLarge,
    NoModelLoaded,
    OutOfMemory,
    PictureTooLarge,
    RankLost,
    RepliesUnderWay,
    TemplateFailed,
)
from engine.api.types import FinishReason

_MOST_NAMES = 20  # of models, in a sentence
_LONGEST = 10_000  # characters of a message


@dataclass(eq=False)
class Problem(Exception):
    """Why a request is refused, or has failed, as its client is to read it."""

    status: int
    message: str
    kind: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None
    cause: EngineError | None = None
    retry_after_s: int | None = None
    retry: bool = True  # False: clients that would try again by themselves must not
    of_picture: bool = False  # without it the request could be answered

    def __post_init__(self) -> None:
        self.message = self.message[:_LONGEST]  # it repeats what a client sent

    def __str__(self) -> str:
        return self.message

    @property
    def headers(self) -> dict[str, str]:
        headers = {} if self.retry else {"x-should-retry": "false"}
        if self.retry_after_s is not None:
            headers["retry-after"] = str(self.retry_after_s)
        return headers


def invalid(message: str, param: str | None = None, code: str = "invalid_value") -> Problem:
    return Problem(400, message, code=code, param=param)


def unsupported(param: str, why: str) -> Problem:
    return invalid(f"'{param}' is not supported{why}.", param, "unsupported_parameter")


def unknown_model(name: str, known: Sequence[str]) -> Problem:
    """`known`: what clients may name instead."""
    names = ", ".join(known[:_MOST_NAMES]) + (", …" if len(known) > _MOST_NAMES else "")
    message = f"The model '{name[:200]}' does not exist here. Installed: {names or 'none'}."
    return Problem(404, message, code="model_not_found", param="model")


def _conflict(message: str, param: str | None = "model") -> Problem:
    return Problem(409, message, code="model_busy", param=param, retry=False)


def not_loaded(name: str) -> Problem:
    """One that is installed, where the owner alone loads models."""
    return _conflict(f"The model '{name[:200]}' is installed, but not loaded, and this server loads none for programs.")


def draft_not_loaded(name: str) -> Problem:
    message = f"'{name[:200]}' is not the loaded draft model, and none that this server loads for programs."
    return _conflict(message, "draft_model")


def chosen_stays(name: str) -> Problem:
    return _conflict(f"The model '{name}' was chosen by the user and stays loaded.")


def overloaded(most: int) -> Problem:
    message = f"{most} requests are queued or running already."
    return Problem(429, message, "rate_limit_error", "queue_full", retry_after_s=5)


def full(what: str) -> Problem:
    message = f"The {what} of other requests take all memory that there is for them."
    return Problem(503, message, "server_error", "memory_full", retry_after_s=5)


def too_many_connections() -> Problem:
    message = "Too many connections are open."
    return Problem(503, message, "server_error", "too_many_connections", retry_after_s=5)


def shutting_down() -> Problem:
    return Problem(503, "The server is shutting down.", "server_error", "shutting_down", retry_after_s=5)


def problem_of(error: EngineError, again_at: float | None = None) -> Problem:
    """An error of the engine as a client gets it: no folder of this machine in it. `again_at`: see `rank_lost`."""
    match error:
        case RankLost() | MachineUnavailable():
            return rank_lost(again_at)
        case ContextTooLong(limit_tokens=limit, actual_tokens=actual):
            return Problem(
                400,
                f"This model's maximum context length is {limit} tokens. However, your messages resulted in "
                f"{actual} tokens.",
                code="context_length_exceeded",
                param="messages",
                cause=error,
            )
        case InvalidRequest():
            return _invalid_field(error)
        case TemplateFailed(detail=detail):
            return invalid(f"The model's chat template refused these messages: {detail}", "messages")
        case DraftError():
            why = type(error).__name__
            return invalid(f"This model cannot draft for the loaded one: {why}.", "draft_model", "draft_misfit")
    message = f"The engine failed: {type(error).__name__}."
    unknown = partial(Problem, 500, message, "server_error", "internal", retry=False)
    return next((say for kind, say in _FIXED.items() if isinstance(error, kind)), unknown)()


def _invalid_field(error: InvalidRequest) -> Problem:
    match error.field:
        case "constraint":
            return invalid(f"The answer's schema cannot be enforced: {error.value}", code="unsupported_schema")
        case "tools":
            return invalid("The loaded model calls no tools.", error.field)
        case "must_call":
            return invalid(f"'tool_choice' cannot be enforced: {error.value}.", "tool_choice", "unsupported_parameter")
    return invalid(f"'{error.field}' is {error.value}; allowed: {error.allowed}.", error.field)


def rank_lost(again_at: float | None = None) -> Problem:
    """`again_at`: when the model is loaded again, in seconds of `time.monotonic`; None: at once."""
    wait_s = 1 if again_at is None else max(1, ceil(again_at - monotonic()))
    message = f"A process with some of the model's layers is lost. It is started again in about {wait_s} s."
    return Problem(503, message, "server_error", "rank_lost", retry_after_s=wait_s)


def no_sight() -> Problem:
    return picture_refused("The loaded model cannot see pictures.")


def picture_refused(message: str, code: str = "invalid_value") -> Problem:
    return Problem(400, message, code=code, param="messages", of_picture=True)


_no_memory = partial(
    Problem, 503, "There is not enough memory for this request.", "server_error", "out_of_memory", retry=False
)

_FIXED: dict[type[EngineError], Callable[[], Problem]] = {
    CannotSee: no_sight,
    EmptyConversation: partial(invalid, "There is nothing to answer: the last message must have content.", "messages"),
    EngineClosed: shutting_down,
    RepliesUnderWay: partial(_conflict, "Another request is running with the loaded model.", None),
    NoModelLoaded: partial(Problem, 503, "No model is loaded.", "server_error", "model_not_loaded", retry_after_s=10),
    OutOfMemory: _no_memory,
    ModelTooLarge: _no_memory,
    PictureTooLarge: _no_memory,
}


def model_changed(when: str = "before the reply began") -> Problem:
    return Problem(503, f"The model was replaced {when}.", "server_error", "model_changed", retry_after_s=5)


def problem_of_end(reason: FinishReason) -> Problem | None:
    """Why a reply that has finished is no answer; None: it is one."""
    match reason:
        case FinishReason.MODEL_CHANGED:
            return model_changed("while the reply was written")
        case FinishReason.CANCELLED:
            return Problem(503, "The reply was stopped.", "server_error", "cancelled", retry=False)
    return None
