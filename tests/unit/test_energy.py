"""Heat, power and activities of a Mac, over libraries that answer through real prototypes as macOS's do."""

from __future__ import annotations

import pytest

from app.system.energy import Activity, Heat, Mac, Power, StillMachine, this_machine
from tests.helpers.fake_objc import FakeObjectiveC

INFO, TOKEN = 1000, 2000


class FakeLibraries(FakeObjectiveC):
    def __init__(self) -> None:
        super().__init__()
        self.heat, self.saves, self.time_left = 0, 0, -2.0
        self.held: dict[int, int] = {}  # options by token

    def time_remaining(self) -> float:
        return self.time_left

    def answer(self, receiver: int, name: str, first: int) -> int | None:
        match name:
            case "processInfo":
                return INFO
            case "thermalState":
                return self.heat
            case "isLowPowerModeEnabled":
                return self.saves
            case "beginActivityWithOptions:reason:":
                token = TOKEN + len(self.strings)
                self.held[token] = first
                return token
            case "endActivity:":
                del self.held[first]
        return receiver


@pytest.fixture
def fake() -> FakeLibraries:
    return FakeLibraries()


@pytest.mark.parametrize(
    ("heat", "saves", "time_left", "power", "spares"),
    [
        (0, 0, -2.0, Power(), False),
        (1, 0, 3600.0, Power(Heat.FAIR, on_battery=True), False),
        (2, 0, -1.0, Power(Heat.SERIOUS, on_battery=True), True),
        (9, 0, -2.0, Power(Heat.CRITICAL), True),
        (0, 1, -2.0, Power(saves=True), True),
    ],
)
def test_heat_and_power(
    fake: FakeLibraries, heat: int, saves: int, time_left: float, power: Power, spares: bool
) -> None:
    fake.heat, fake.saves, fake.time_left = heat, saves, time_left
    mac = Mac(fake)
    assert mac.power() == power
    assert power.spares is spares
    assert fake.pools == 0


def test_one_activity_is_held_at_a_time_and_none_at_rest(fake: FakeLibraries) -> None:
    mac = Mac(fake)
    mac.hold(None)
    assert fake.sent == []
    mac.hold(Activity.REPLY)
    mac.hold(Activity.REPLY)
    assert list(fake.held.values()) == [0x00EFFFFF]
    (token,) = fake.held
    assert (token, "retain") in fake.sent
    mac.hold(Activity.DOWNLOAD)
    assert list(fake.held.values()) == [0x00FFFFFF]
    assert (token, "release") in fake.sent
    mac.hold(None)
    assert fake.held == {}
    assert fake.strings == [b"reply", b"download"]
    assert [name for _, name in fake.sent].count("release") == [name for _, name in fake.sent].count("retain") == 2


def test_what_macos_does_not_have_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    machine = this_machine()
    machine.hold(Activity.REPLY)
    assert isinstance(machine, StillMachine)
    assert machine.power() == Power()
