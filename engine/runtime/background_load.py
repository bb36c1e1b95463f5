"""A model that is loaded in slices, between the steps of replies."""

from __future__ import annotations

import logging
from collections.abc import Callable

from engine.api.types import ModelRole
from engine.models.loading import LoadedModel, Slices
from engine.models.networks import LoadProgress
from engine.models.watch import Aborted

_log = logging.getLogger(__name__)


class BackgroundLoad:
    """Loads a model; calls `ready` or `failed` once, in `deliver` or in `abort`. `report` gets the progress."""

    def __init__(
        self,
        role: ModelRole,
        folder: str,
        slices: Slices,
        ready: Callable[[LoadedModel], None],
        failed: Callable[[BaseException], None],
        report: Callable[[LoadProgress], None] = lambda _progress: None,
    ) -> None:
        self.role = role
        self.folder = folder
        self._slices = slices
        self._ready = ready
        self._failed = failed
        self._report = report
        self._result: LoadedModel | BaseException | None = None
        self.aborted = False  # by a command in the queue: `abort` will be called

    def load_slice(self) -> bool:
        """Load one slice; returns whether it was the last. After that call `deliver`, or `abort` if it was aborted."""
        if self.aborted:
            return False
        try:
            progress: LoadProgress | None = next(self._slices)
            if progress is not None:
                self._report(progress)
        except Aborted:
            self.aborted = True
        except StopIteration as done:
            self._result = done.value
        except BaseException as error:  # noqa: BLE001  a model's files may cause any error; the engine goes on
            self._result = error
        return self._result is not None

    def deliver(self) -> None:
        """Call `ready` with the model, or `failed` with the error."""
        if self._result is None:
            raise RuntimeError("the model is not loaded yet")
        if isinstance(self._result, BaseException):
            self._failed(self._result)
            return
        try:
            self._ready(self._result)
        except BaseException as error:  # noqa: BLE001  as above
            self._failed(error)

    def abort(self, reason: BaseException) -> None:
        """Drop what was loaded, and call `failed` with `reason`."""
        try:
            self._slices.close()
        except BaseException:  # noqa: BLE001  as above
            _log.exception("aborting a load raised")
        self._failed(reason)
