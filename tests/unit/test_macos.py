"""What is called of macOS: heat, power, activities, Services → Ask Hunch; over libraries that answer as macOS's do."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest

from app.system import bundle_files, energy, notifications, services
from app.system.energy import Activity, EnergySource, Heat, Mac, Power, this_machine
from app.system.notifications import UserNotifications
from app.system.objc import Methods, ServiceMethod
from app.system.services import METHODS, Service, offer_service
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
    mac.hold(Activity.NO_NAP)
    mac.hold(Activity.NO_NAP)
    assert list(fake.held.values()) == [0x00EFFFFF]
    (token,) = fake.held
    assert (token, "retain") in fake.sent
    mac.hold(Activity.NO_SLEEP)
    assert list(fake.held.values()) == [0x00FFFFFF]
    assert (token, "release") in fake.sent
    mac.hold(None)
    assert fake.held == {}
    assert fake.strings == [b"work", b"work"]
    assert [name for _, name in fake.sent].count("release") == [name for _, name in fake.sent].count("retain") == 2


def test_what_macos_does_not_have_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    machine = this_machine()
    machine.hold(Activity.NO_NAP)
    assert type(machine) is EnergySource
    assert machine.power() == Power()


# Services: the object that macOS sends the selected words to.


PASTEBOARD, WORDS, APPLICATION = 1000, 2000, 3000


class FakePasteboard(FakeObjectiveC):
    def __init__(self, words: bytes | None) -> None:
        super().__init__()
        self._words = ctypes.create_string_buffer(words) if words is not None else None

    def answer(self, receiver: int, name: str, first: int) -> int | None:
        match name:
            case "sharedApplication":
                return APPLICATION
            case "stringForType:":
                return WORDS if self._words is not None else None
            case "UTF8String":
                return ctypes.addressof(self._words) if self._words is not None else None
        return receiver

    def choose(self) -> None:
        """In another app's menu; macOS sends the message outside of our pools."""
        ServiceMethod(self.methods["ask:userData:error:"])(5, 6, PASTEBOARD, None, None)


@pytest.mark.parametrize(
    ("selected", "told"), [("안녕 — why?".encode(), "안녕 — why?"), (b"\xff", "\ufffd"), (b"", ""), (None, "")]
)
def test_selected_words_are_taken(selected: bytes | None, told: str) -> None:
    mac, taken = FakePasteboard(selected), list[str]()
    service = Service(taken.append, mac)
    assert (APPLICATION, "setServicesProvider:") in mac.sent
    mac.choose()
    assert taken == [told]
    assert mac.strings == [b"public.utf8-plain-text"]
    assert mac.pools == 0
    del service


@pytest.mark.expect_log("words of a service were not taken: ValueError$")
def test_nothing_that_fails_here_passes_into_macos_or_tells_the_words() -> None:
    def refuse(words: str) -> None:
        raise ValueError(words)

    mac = FakePasteboard(b"secret")
    service = Service(refuse, mac)
    mac.choose()
    assert mac.pools == 0
    del service


def test_each_call_has_the_prototype_of_its_header() -> None:
    """On arm64 another one reads other registers."""
    declared: Methods = {
        "setServicesProvider:": (None, ctypes.c_void_p),
        "stringForType:": (ctypes.c_void_p, ctypes.c_void_p),
        "UTF8String": (ctypes.c_char_p,),
        "stringWithUTF8String:": (ctypes.c_void_p, ctypes.c_char_p),
        "thermalState": (ctypes.c_long,),
        "isLowPowerModeEnabled": (ctypes.c_bool,),
        "beginActivityWithOptions:reason:": (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p),
        "endActivity:": (None, ctypes.c_void_p),
    }
    called = METHODS | energy.METHODS | notifications.METHODS
    assert {selector: called[selector] for selector in declared} == declared
    assert all(len(types) - 1 == selector.count(":") for selector, types in called.items())


@pytest.mark.expect_log("Services cannot ask Hunch: OSError")
def test_where_macos_offers_none_the_app_starts_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(take: Callable[[str], None]) -> Service:
        return Service(take, taken)

    taken = FakePasteboard(b"")
    taken.names.append(b"HunchService")
    monkeypatch.setattr("sys.platform", "linux")
    assert offer_service(print) is None
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(services, "Service", refused)
    assert offer_service(print) is None
    taken = FakePasteboard(b"")
    assert offer_service(print) is not None


# Notifications: blocks of Objective-C in both directions.


BUNDLE, RESPONSE = 4000, 5000


class FakeCenter(FakeObjectiveC):
    """macOS's centre of notifications."""

    def __init__(self, identifier: str = bundle_files.IDENTIFIER, *, granted: bool = True) -> None:
        super().__init__()
        self.objc._NSConcreteGlobalBlock = self.objc.objc_getClass
        self.granted = granted
        self.texts = {"bundleIdentifier": identifier.encode(), "identifier": b"7"}
        self.shown = list[bytes]()
        self.done = 0

    def answer(self, receiver: int, name: str, first: int) -> int | None:
        if name in self.texts:
            self._last = ctypes.create_string_buffer(self.texts[name])
        if name == "UTF8String":
            return ctypes.addressof(self._last)
        if name == "addNotificationRequest:withCompletionHandler:":
            self.shown = self.strings[-3:]
        return BUNDLE if name == "mainBundle" else receiver

    def decide(self, center: UserNotifications) -> None:
        """What macOS calls once the user has decided. Its messages to other processes read the block's types."""
        assert center._answer_block.flags & notifications._HAS_SIGNATURE
        assert center._answer_block.descriptor.contents.signature == b"v@?B@"
        invoke = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_bool, ctypes.c_void_p)(center._answer_block.invoke)
        invoke(None, self.granted, None)

    def click(self) -> None:
        block = notifications._Block()
        called = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _block: self._end())
        block.invoke = ctypes.cast(called, ctypes.c_void_p)
        ServiceMethod(self.methods[notifications._CLICKED])(5, 6, 8, RESPONSE, ctypes.addressof(block))

    def _end(self) -> None:
        self.done += 1


@pytest.mark.parametrize("granted", [True, False])
def test_a_notification_is_shown_once_the_user_allows_it(granted: bool) -> None:
    mac = FakeCenter(granted=granted)
    refused = list[tuple[str, ...]]()
    center = UserNotifications(print, lambda *words: refused.append(words), mac)
    center.show("7", "제목", "본문 — text")
    assert mac.shown == []
    mac.decide(center)
    assert sorted(mac.shown) == (sorted(text.encode() for text in ("7", "제목", "본문 — text")) if granted else [])
    assert center.is_refused is not granted
    assert refused == ([] if granted else [("7", "제목", "본문 — text")])  # then Qt shows it
    assert mac.pools == 0


@pytest.mark.parametrize("granted", [True, False])
def test_notifications_that_come_while_the_user_is_asked_are_all_shown(granted: bool) -> None:
    mac = FakeCenter(granted=granted)
    refused = list[str]()
    center = UserNotifications(print, lambda name, *_: refused.append(name), mac)
    for name in ("1", "2", "1"):
        center.show(name, "title", "body")
    for _ in range(3):
        mac.decide(center)
    added = [name for _, name in mac.sent if name.startswith("addNotificationRequest")]
    assert (len(added), sorted(refused)) == ((2, []) if granted else (0, ["1", "2"]))
    assert mac.pools == 0


@pytest.mark.expect_log("a click on a notification was lost: ValueError$")
def test_a_click_names_what_was_clicked_and_is_always_acknowledged() -> None:
    clicked = list[str]()
    mac = FakeCenter()
    center = UserNotifications(clicked.append, print, mac)
    mac.click()
    assert (clicked, mac.done) == (["7"], 1)

    def refuse(name: str) -> None:
        raise ValueError(name)

    mac = FakeCenter()
    failing = UserNotifications(refuse, print, mac)
    mac.click()
    assert mac.done == 1
    del center, failing


def test_a_process_that_is_no_app_never_asks_for_the_centre() -> None:
    mac = FakeCenter("org.python.python")
    with pytest.raises(OSError, match="not an app"):
        UserNotifications(print, print, mac)
    assert "currentNotificationCenter" not in [name for _, name in mac.sent]


def test_macos_s_notifications_are_used_where_it_has_them_for_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    used = list[UserNotifications]()

    def made(clicked: Callable[[str], None], refused: Callable[[str, str, str], None]) -> UserNotifications:
        used.append(UserNotifications(clicked, refused, mac))
        return used[-1]

    monkeypatch.setattr(notifications, "UserNotifications", made)
    monkeypatch.setattr("sys.platform", "linux")
    mac = FakeCenter()
    assert notifications.user_notifications(print, print) is None
    monkeypatch.setattr("sys.platform", "darwin")
    assert notifications.user_notifications(print, print) is None  # Python, as the app of a tool starts it
    assert used == []
    monkeypatch.setattr(notifications, "own_bundle", lambda: Path("/Applications/Hunch.app"))
    assert [notifications.user_notifications(print, print)] == used != []
    mac = FakeCenter("org.python.python")
    assert notifications.user_notifications(print, print) is None
