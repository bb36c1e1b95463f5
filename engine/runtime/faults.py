"""Errors that end a reply, as its caller gets them."""

from __future__ import annotations

import logging

from engine.api.errors import EngineError, as_engine_error

_log = logging.getLogger(__name__)


def logged(error: BaseException) -> EngineError:
    """As a typed error; an unexpected one is logged with its traceback."""
    if not isinstance(error, EngineError):
        _log.error("a reply failed", exc_info=error)
    return as_engine_error(error)
