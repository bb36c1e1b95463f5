"""What the caller of a reply is told of an error that ends it."""

from __future__ import annotations

import logging

from engine.api.errors import EngineError, as_engine_error

_log = logging.getLogger(__name__)


def logged(error: BaseException) -> EngineError:
    """As a typed error; one that nobody foresaw goes to the log whole."""
    if not isinstance(error, EngineError):
        _log.error("a reply failed", exc_info=error)
    return as_engine_error(error)
