"""Bonjour's calls, made: on a Mac by its own library, on Linux by Avahi's, where `dbus` and `avahi-daemon` run.

This machine announces itself, and finds what it has announced.
"""

from __future__ import annotations

import queue
import secrets
import select
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.cluster.bonjour import Bonjour
from engine.cluster.discovery import KIND, Announcement, Browsing, FoundMachine

pytestmark = pytest.mark.drill

PORT = 49_152
PATIENCE_S = 60.0
ROUNDS = 20


@pytest.fixture(autouse=True)
def _daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HUNCH_BONJOUR")
    try:
        Bonjour().browse(KIND).close()
    except (OSError, AttributeError):
        pytest.skip("no Bonjour here")


class Found:
    """Of the machines nearby, the one with this certificate."""

    def __init__(self) -> None:
        self.fingerprint = secrets.token_hex(32)
        self._told: queue.SimpleQueue[tuple[FoundMachine, ...]] = queue.SimpleQueue()
        self.browsing = Browsing(self._told.put)

    def until(self, holds: Callable[[list[FoundMachine]], bool]) -> list[FoundMachine]:
        while not holds(own := [each for each in self._told.get(timeout=PATIENCE_S) if each.may_be(self.fingerprint)]):
            pass
        return own


@pytest.fixture
def found() -> Iterator[Found]:
    made = Found()
    yield made
    made.browsing.stop()
    made.browsing._thread.join(PATIENCE_S)


def test_a_machine_that_lends_is_found_until_it_no_longer_does(found: Found) -> None:
    announcement = Announcement(found.fingerprint, PORT)
    (machine,) = found.until(bool)
    assert machine.is_same_version
    assert machine.name
    assert all(address.endswith(f":{PORT}") for address in machine.addresses)
    announcement.stop()
    found.until(lambda own: not own)
    again = Announcement(found.fingerprint, PORT + 1)
    (later,) = found.until(bool)
    assert later.id != machine.id
    again.stop()


def descriptors() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


def test_nothing_of_it_is_left_however_often_it_is_begun(found: Found) -> None:
    announcement = Announcement(found.fingerprint, PORT)
    found.until(bool)
    before = descriptors()
    for _ in range(ROUNDS):
        again = Found()
        again.fingerprint = found.fingerprint
        again.until(bool)
        again.browsing.stop()
        again.browsing._thread.join(PATIENCE_S)
    announcement.stop()
    announcement._thread.join(PATIENCE_S)
    assert descriptors() <= before


def test_a_name_that_nobody_has_keeps_nobody_waiting() -> None:
    bonjour = Bonjour()
    asked = bonjour.look_up(b"hunch-is-not-here.local.", 1, 0)
    assert select.select([asked], [], [], 0.5)[0] == [] or asked.hear() == []
    asked.close()
    asked.close()
