"""This machine announces itself in its network, and finds what it has announced."""

from __future__ import annotations

import queue
import secrets
from collections.abc import Callable, Iterator

import pytest

from engine.machines.discovery import Announcement, Browsing, FoundMachine, _own_addresses

pytestmark = pytest.mark.drill

PORT = 49_152
PATIENCE_S = 60.0


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
def found(monkeypatch: pytest.MonkeyPatch) -> Iterator[Found]:
    monkeypatch.delenv("HUNCH_BONJOUR")
    if not _own_addresses():
        pytest.skip("no network here")
    made = Found()
    yield made
    made.browsing.stop()
    made.browsing._thread.join(PATIENCE_S)


@pytest.mark.parametrize("name", ["Studio", "Jun’s Büro. Mac – 스튜디오" * 4])
def test_a_machine_that_lends_is_found_until_it_no_longer_does(found: Found, name: str) -> None:
    announcement = Announcement(name, found.fingerprint, PORT)
    (machine,) = found.until(bool)
    assert machine.is_same_version
    assert name.replace(".", " ").startswith(machine.name)
    assert all(address.endswith(f":{PORT}") for address in machine.addresses)
    announcement.stop()
    found.until(lambda own: not own)
    again = Announcement(name, found.fingerprint, PORT + 1)
    (later,) = found.until(bool)
    assert later.id != machine.id
    again.stop()
    again._thread.join(PATIENCE_S)
