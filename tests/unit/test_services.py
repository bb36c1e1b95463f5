"""Services → Ask Hunch: the object that macOS sends the selected words to, over libraries that answer as macOS's do."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from app.system import energy, services
from app.system.objc import Methods, ServiceMethod
from app.system.services import METHODS, Service, offer_service
from tests.helpers.fake_objc import FakeObjectiveC

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
    called = METHODS | energy.METHODS
    assert {selector: called[selector] for selector in declared} == declared
    assert all(len(types) - 1 == selector.count(":") for selector, types in called.items())


@pytest.mark.expect_log("Services cannot ask Hunch: OSError")
def test_where_macos_offers_none_the_app_starts_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(take: Callable[[str], None]) -> Service:
        return Service(take, taken)

    taken = FakePasteboard(b"")
    taken.names.append(b"HunchService")
    assert offer_service(print) is None  # no Mac
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(services, "Service", refused)
    assert offer_service(print) is None
