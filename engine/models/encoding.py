"""Text to tokens, so that nobody has to wait for the end: a text may be megabytes, and a stranger's tokenizer slow.

A library's call cannot be ended. It is made on a thread of its own and left to itself when nobody wants the result.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, TypeVar

from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from engine.models.watch import Aborted, Question, never

_BETWEEN_S = 0.01
_MOST_LEFT = 4  # calls of this process under way that nobody waits for
_left: list[threading.Thread] = []  # the calls under way, and some that have ended

T = TypeVar("T")


def encode(tokenizer: Any, text: str, *, special: bool = True, aborted: Question = never) -> list[int]:
    """`special`: with the tokens that begin a text. Raises Aborted when `aborted` says so."""
    return apart(partial(_encode, tokenizer, text, special), aborted)


def apart(work: Callable[[], T], aborted: Question) -> T:
    """What `work` returns or raises on a thread of its own; Aborted as soon as `aborted` says so."""
    while sum(thread.is_alive() for thread in _left) >= _MOST_LEFT:
        time.sleep(_BETWEEN_S)
        _ask(aborted)
    result: Future[T] = Future()
    thread = threading.Thread(target=_run, args=(work, result), name="encoding", daemon=True)
    thread.start()
    try:
        while not wait((result,), _BETWEEN_S).done:
            _ask(aborted)
    except Aborted:
        _left[:] = [*(each for each in _left if each.is_alive()), thread]
        raise
    return result.result()


def _ask(aborted: Question) -> None:
    if aborted():
        raise Aborted


def _run(work: Callable[[], T], result: Future[T]) -> None:
    try:
        result.set_result(work())
    except BaseException as error:  # noqa: BLE001  a tokenizer's Rust panic is a BaseException
        result.set_exception(error)


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
