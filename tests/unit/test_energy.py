"""Heat, power and activities of a Mac, over libraries that answer through real prototypes as macOS's do."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, c_char_p, c_double, c_uint64, c_void_p
from types import SimpleNamespace
from typing import Any

import pytest

from app.system.energy import Activity, Heat, Mac, Power, StillMachine, this_machine

INFO, TOKEN = 1000, 2000


class FakeLibraries:
    """`objc_msgSend` is one C function for every prototype, as on a Mac."""

    def __init__(self) -> None:
        self.names: list[bytes] = [b""]
        self.heat, self.saves, self.time_left = 0, 0, -2.0
        self.sent: list[tuple[int, str]] = []
        self.reasons: list[bytes] = []
        self.held: dict[int, int] = {}  # options by token
        self.pools = 0
        self.objc = SimpleNamespace(
            objc_getClass=CFUNCTYPE(c_void_p, c_char_p)(self._number),
            sel_registerName=CFUNCTYPE(c_void_p, c_char_p)(self._number),
            objc_autoreleasePoolPush=CFUNCTYPE(c_void_p)(self._push),
            objc_autoreleasePoolPop=CFUNCTYPE(None, c_void_p)(self._pop),
            objc_msgSend=CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_uint64, c_void_p)(self._answer),
        )
        self.iokit = SimpleNamespace(IOPSGetTimeRemainingEstimate=CFUNCTYPE(c_double)(lambda: self.time_left))

    def __call__(self, path: str) -> Any:
        return self.iokit if "IOKit" in path else self.objc

    def _number(self, name: bytes) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def _push(self) -> int:
        self.pools += 1
        return 77

    def _pop(self, pool: int) -> None:
        assert pool == 77
        self.pools -= 1

    def _answer(self, receiver: int, selector: int, first: int, _second: int) -> int | None:
        assert self.pools == 1
        name = self.names[selector].decode()
        self.sent.append((receiver, name))
        match name:
            case "processInfo":
                return INFO
            case "thermalState":
                return self.heat
            case "isLowPowerModeEnabled":
                return self.saves
            case "stringWithUTF8String:":
                self.reasons.append(ctypes.string_at(first))
                return 3000
            case "beginActivityWithOptions:reason:":
                token = TOKEN + len(self.reasons)
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
    assert fake.reasons == [b"reply", b"download"]
    assert [name for _, name in fake.sent].count("release") == [name for _, name in fake.sent].count("retain") == 2


def test_what_macos_does_not_have_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    machine = this_machine()
    machine.hold(Activity.REPLY)
    assert isinstance(machine, StillMachine)
    assert machine.power() == Power()
