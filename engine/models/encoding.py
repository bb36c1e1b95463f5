"""Text to tokens, so that nobody has to wait for the end: a text may be megabytes, and a stranger's tokenizer slow.

A library's call cannot be ended. It is made on a thread of its own and left to itself when nobody wants the result.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, Generic, TypeVar

from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from engine.models.watch import Aborted, Question, never

BETWEEN_S = 0.01  # from look to look
_MOST_CALLS = 4  # of this process under way, those that nobody waits for included
_calls = threading.BoundedSemaphore(_MOST_CALLS)

T = TypeVar("T")


class Ahead(Generic[T]):
    """Work that goes on ahead of its turn, on a thread of its own. It may use `apart`, and must ask its question."""

    def __init__(self, work: Callable[[Question], T]) -> None:
        """`work` is given the question whether nobody wants the result any more; then it is to raise Aborted."""
        self._result: Future[T] = Future()
        self._unwanted = threading.Event()
        self._thread = _start(partial(work, self._unwanted.is_set), self._result)

    def wait(self, patience_s: float | None = None) -> bool:
        """Whether it is done, for which it waits so long."""
        return bool(wait((self._result,), patience_s).done)

    def result(self) -> T:
        """What came of it, or raises what the work raised."""
        self._thread.join()
        try:
            return self._result.result()
        finally:
            del self  # as in `_run`

    def stop(self) -> None:
        """Nobody wants it; when this returns the thread has ended, and holds nothing."""
        self._unwanted.set()
        self._thread.join()


def encode(tokenizer: Any, text: str, *, special: bool = True, aborted: Question = never) -> list[int]:
    """`special`: with the tokens that begin a text. Raises Aborted when `aborted` says so."""
    return apart(partial(_encode, tokenizer, text, special), aborted)


def apart(work: Callable[[], T], aborted: Question) -> T:
    """What `work` returns or raises on a thread of its own; Aborted as soon as `aborted` says so."""
    calls = _calls
    while not calls.acquire(timeout=BETWEEN_S):
        _ask(aborted)
    result: Future[T] = Future()
    try:
        _start(work, result, calls.release)
    except RuntimeError:  # there is room for no more threads
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
    thread = threading.Thread(target=_run, args=(work, result, ended), name="encoding", daemon=True)
    thread.start()
    return thread


def _run(work: Callable[[], T], result: Future[T], ended: Callable[[], None]) -> None:
    try:
        result.set_result(work())
    except BaseException as error:  # noqa: BLE001  a tokenizer's Rust panic is a BaseException
        result.set_exception(error)
    finally:
        ended()
        del work, result  # or an error's frames would hold the error, and with it a model, in a circle


def _encode(tokenizer: Any, text: str, special: bool) -> list[int]:
    theirs: Any = getattr(tokenizer, "_tokenizer", None)  # under mlx-lm's wrapper
    if _calls_the_library(type(theirs)):
        # MEASURED: of 5 MB other threads notice 30 ms; by `theirs.encode`, which asks for offsets and masks, 180 ms
        (encoding,) = theirs.backend_tokenizer.encode_batch_fast([text], add_special_tokens=special)
        return list(encoding.ids)
    return list(tokenizer.encode(text, add_special_tokens=special))


def _calls_the_library(kind: type) -> bool:
    """Whether `encode` of a tokenizer of that kind only hands the text to the tokenizers library."""
    return (
        issubclass(kind, PreTrainedTokenizerFast)
        and kind.encode is PreTrainedTokenizerBase.encode
        and kind._encode_plus is PreTrainedTokenizerFast._encode_plus  # noqa: SLF001
    )
