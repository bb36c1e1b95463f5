"""Other machines in this network that say that they lend their memory, while they are looked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice

from PySide6.QtCore import QObject, Signal

from engine import DEFAULT_PORT, Browsing, FoundMachine

_MOST_TRIED = 16  # addresses: several may say to be one machine


class MachineDiscovery(QObject):
    changed = Signal()  # `found`, or `strangers`

    def __init__(self, post: Callable[[Callable[[], None]], None], parent: QObject | None = None) -> None:
        """`post` has a call made on the GUI thread."""
        super().__init__(parent)
        self.found: tuple[FoundMachine, ...] = ()
        self._known: tuple[str, ...] = ()  # fingerprints
        self._post = post
        self._browsing: Browsing | None = None
        self._round = 0  # what a former one finds no longer counts

    def browse(self, wanted: bool) -> None:
        if wanted == (self._browsing is not None):
            return
        self._round += 1
        if self._browsing is not None:
            self._browsing.stop()
            self._browsing = None
            self._on_found(self._round, ())
        else:
            self._browsing = Browsing(partial(self._hear, self._round))

    def leave_out(self, *known: str) -> None:
        """These fingerprints: this machine's own, and of those that are paired."""
        before, self._known = self.strangers, known
        if self.strangers != before:
            self.changed.emit()

    @property
    def strangers(self) -> tuple[FoundMachine, ...]:
        return tuple(each for each in self.found if not any(each.may_be(other) for other in self._known))

    def addresses_of(self, fingerprint: str, besides: str) -> tuple[str, ...]:
        """At which a machine says to be that one. None of them is proven."""
        known = besides, f"{besides}:{DEFAULT_PORT}"
        says_so = (machine for machine in self.found if machine.may_be(fingerprint))
        found = (address for machine in says_so for address in machine.addresses if address not in known)
        return tuple(islice(dict.fromkeys(found), _MOST_TRIED))

    def _hear(self, of: int, found: tuple[FoundMachine, ...]) -> None:
        """On a thread."""
        self._post(partial(self._on_found, of, found))

    def _on_found(self, of: int, found: tuple[FoundMachine, ...]) -> None:
        if of == self._round and found != self.found:
            self.found = found
            self.changed.emit()
