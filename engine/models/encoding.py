"""Text to tokens, abortable: a text may be megabytes, and a third-party tokenizer slow.

A library's call cannot be stopped. It runs on its own thread, which is abandoned when the result is no longer needed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, Generic, TypeVar

from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from engine.api.events import OwnThread
from engine.models.watch import Aborted, Question, never

BETWEEN_S = 0.01  # between two calls of `aborted`
_LEAD = "\n"  # before what is in the middle of a text: some tokenizers put a space before the first word
_MOST_CALLS = 4  # at once in this process, abandoned ones included
_calls = threading.BoundedSemaphore(_MOST_CALLS)

T = TypeVar("T")


class AwaitedThread(Generic[T]):
    """Work on its own thread, started before its result is needed. It may use `apart`; it must ask whether to abort."""

    def __init__(self, work: Callable[[Question], T]) -> None:
        """`work` gets a function that says whether its result is no longer needed; then it has to raise Aborted."""
        self._result: Future[T] = Future()
        self._unwanted = threading.Event()
        self._thread = _start(partial(work, self._unwanted.is_set), self._result)

    def wait(self, patience_s: float | None = None) -> bool:
        """Whether it is done, after waiting up to `patience_s` seconds."""
        return bool(wait((self._result,), patience_s).done)

    def result(self) -> T:
        """Waits; returns or raises what the work did."""
        self._thread.join()
        try:
            return self._result.result()
        finally:
            del self  # as in `_run`

    def stop(self) -> None:
        """Abort the work; afterwards its thread has ended, and holds nothing."""
        self._unwanted.set()
        self._thread.join()


def encode(tokenizer: Any, pieces: Sequence[str], *, special: bool = True, aborted: Question = never) -> list[int]:
    """Of a text in pieces, so that no token is of two of them.

    `special`: add the tokens that begin a text (BOS). Raises Aborted when `aborted` returns True.
    """
    return apart(partial(_encode, tokenizer, pieces, special), aborted)


def apart(work: Callable[[], T], aborted: Question) -> T:
    """The result or exception of `work` on its own thread; Aborted as soon as `aborted` returns True."""
    calls = _calls
    while not calls.acquire(timeout=BETWEEN_S):
        _ask(aborted)
    result: Future[T] = Future()
    try:
        _start(work, result, calls.release)
    except RuntimeError:  # no more threads can be started
        calls.release()
        raise
    while not wait((result,), BETWEEN_S).done:
        _ask(aborted)
    try:
        return result.result()
    finally:
        del result  # as in `_run`


def _ask(aborted: Question) -> None:
    if aborted():
        raise Aborted


def _start(work: Callable[[], T], result: Future[T], ended: Callable[[], None] = lambda: None) -> threading.Thread:
    thread = OwnThread(target=_run, args=(work, result, ended), name="encoding", daemon=True)
    thread.start()
    return thread


def _run(work: Callable[[], T], result: Future[T], ended: Callable[[], None]) -> None:
    try:
        result.set_result(work())
    except BaseException as error:  # noqa: BLE001  a tokenizer's Rust panic is a BaseException
        result.set_exception(error)
    finally:
        ended()
        del work, result  # else the error's frames would hold the error, and a model, in a cycle


def _encode(tokenizer: Any, pieces: Sequence[str], special: bool) -> list[int]:
    (tokens,) = _encoded(tokenizer, pieces[:1], special)
    if len(pieces) > 1:
        lead, *others = _encoded(tokenizer, [_LEAD, *(_LEAD + piece for piece in pieces[1:])], False)
        for piece, found in zip(pieces[1:], others, strict=True):
            begins = found[: len(lead)] == lead
            tokens += found[len(lead) :] if begins else _encoded(tokenizer, [piece], False)[0]
    return tokens


def _encoded(tokenizer: Any, texts: Sequence[str], special: bool) -> list[list[int]]:
    theirs: Any = getattr(tokenizer, "_tokenizer", None)  # inside mlx-lm's wrapper
    if _calls_the_library(type(theirs)):
        # MEASURED: for 5 MB other threads are blocked 30 ms; by `theirs.encode`, which computes offsets and masks, 180
        # ms
        found = theirs.backend_tokenizer.encode_batch_fast(texts, add_special_tokens=special)
        return [list(encoding.ids) for encoding in found]
    return [list(tokenizer.encode(text, add_special_tokens=special)) for text in texts]


def _calls_the_library(kind: type) -> bool:
    """Whether `encode` of such a tokenizer only calls the tokenizers library."""
    return (
        issubclass(kind, PreTrainedTokenizerFast)
        and kind.encode is PreTrainedTokenizerBase.encode
        and kind._encode_plus is PreTrainedTokenizerFast._encode_plus  # noqa: SLF001
    )
