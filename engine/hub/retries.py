"""How long a hub is waited for, and how long a download waits before it asks again: a person sees it, and may go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from engine.api.hub import Retry
from engine.hub.stop import StopSignal

_LOOK_S = 0.1  # how soon a wish is noticed


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for a hub. Tests are less patient."""

    read_s: float = 20.0
    connect_s: float = 10.0
    question_tries: int = 3  # somebody waits for the answer
    silent_tries: int = 2  # of either, in a row, that fell silent or dripped; more where no other place has the file
    file_tries: int = 7  # in a row that bring next to nothing, where another place can be asked: half a minute
    last_tries: int = 60  # where there is none: a quarter of an hour, for nobody may be there to try again
    first_delay_s: float = 0.5
    longest_delay_s: float = 15.0
    longest_asked_s: float = 300.0  # a hub that wants to be left alone for longer is busy for good

    @property
    def first_byte_s(self) -> float:
        """Of a file: a gateway may read all of it, for half a minute, before it hands on any."""
        return 1.75 * self.read_s

    def delay_s(self, failures: int) -> float:
        return min(self.first_delay_s * 2.0 ** (failures - 1), self.longest_delay_s)


class Retries:
    """Of one download; all of its threads wait here. `on_wait` is called now and then by those that wait."""

    def __init__(self, stop: StopSignal) -> None:
        self.on_wait: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._stop = stop
        self._waiting: dict[int, tuple[float, bool]] = {}  # thread: until when, and whether the hub is busy
        self._wishes = 0

    def wait(self, seconds: float, hub_is_busy: bool) -> None:
        """Raises Stopped. Ends early when somebody does not want to wait."""
        until, me = time.monotonic() + seconds, threading.get_ident()
        with self._lock:
            wishes = self._wishes
            self._waiting[me] = until, hub_is_busy
        try:
            while (left_s := until - time.monotonic()) > 0 and wishes == self._wishes:
                self.on_wait()
                self._stop.wait(min(left_s, _LOOK_S))
        finally:
            with self._lock:
                del self._waiting[me]

    def go_on(self) -> None:
        """Whoever waits asks again now."""
        with self._lock:
            self._wishes += 1

    def soonest(self) -> Retry | None:
        with self._lock:
            if not self._waiting:
                return None
            until, busy = min(self._waiting.values())
        return Retry(max(0.0, until - time.monotonic()), busy)


def seconds_asked(headers: Mapping[str, str], now: float) -> float:
    """What Retry-After asks for, in seconds or as a date; 0 when it makes no sense.

    That date is by the hub's clock, as the answer's own date is. `now` counts where it has none: it may be wrong.
    """
    asked = headers.get("Retry-After", "")
    if asked.isascii() and asked.isdecimal():
        return float(asked[:9])
    until, told = _moment(asked), _moment(headers.get("Date", ""))
    return 0.0 if until is None else max(0.0, until - (now if told is None else told))


def _moment(header: str) -> float | None:
    try:
        date = parsedate_to_datetime(header)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, IndexError, OverflowError):
        return None
