"""A method that does nothing while it is at work already, as it may be called by what it does itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Protocol, TypeVar


class Settles(Protocol):
    is_settling: bool


T = TypeVar("T", bound=Settles)


def in_turn(settle: Callable[[T], None]) -> Callable[[T], None]:
    """Whatever one call raises, the next one counts again."""

    @wraps(settle)
    def settle_once(view: T) -> None:
        if view.is_settling:
            return
        view.is_settling = True
        try:
            settle(view)
        finally:
            view.is_settling = False

    return settle_once
