"""A model that is read in slices while replies go on, and who is told when it is there or has failed."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.models.loading import LoadedModel


class Arrival:
    def __init__(
        self,
        slices: Generator[None, None, LoadedModel],
        arrived: Callable[[LoadedModel], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._slices = slices
        self._arrived = arrived
        self._failed = failed
        self._model: LoadedModel | None = None
        self._error: BaseException | None = None

    def over(self) -> bool:
        """Read one slice; whether it was the last."""
        try:
            next(self._slices)
        except StopIteration as done:
            self._model = done.value
        except BaseException as error:  # noqa: BLE001  whatever a model's files do, the engine goes on
            self._error = error
        return self._model is not None or self._error is not None

    def give_up(self, reason: BaseException) -> None:
        self._slices.close()
        self._failed(reason)

    def hand_over(self) -> None:
        """Tell how it ended, exactly once."""
        if self._error is None and self._model is not None:
            try:
                self._arrived(self._model)
            except BaseException as error:  # noqa: BLE001  as above
                self._error = error
        if self._error is not None:
            self._failed(self._error)
