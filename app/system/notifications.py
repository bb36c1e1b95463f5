"""Notifications by macOS's UserNotifications; Qt's own use a class that macOS has given up since version 11.

Only for an app: macOS ends another process that asks for its notification centre, also one that a script of an app
has become, as the apps that `bundle` writes.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_int, c_ulong, c_void_p, cast, pointer
from functools import partial
from typing import ClassVar

from app.system.bundle import own_bundle
from app.system.bundle_files import IDENTIFIER
from app.system.objc import Library, Methods, ObjectiveC, ServiceMethod, on_a_mac

METHODS: Methods = {
    "mainBundle": (c_void_p,),
    "bundleIdentifier": (c_void_p,),
    "UTF8String": (c_char_p,),
    "stringWithUTF8String:": (c_void_p, c_char_p),
    "currentNotificationCenter": (c_void_p,),
    "setDelegate:": (None, c_void_p),
    "new": (c_void_p,),
    "setTitle:": (None, c_void_p),
    "setBody:": (None, c_void_p),
    "requestAuthorizationWithOptions:completionHandler:": (None, c_ulong, c_void_p),
    "requestWithIdentifier:content:trigger:": (c_void_p, c_void_p, c_void_p, c_void_p),
    "addNotificationRequest:withCompletionHandler:": (None, c_void_p, c_void_p),
    "release": (None,),
    "notification": (c_void_p,),
    "request": (c_void_p,),
    "identifier": (c_void_p,),
}
_FRAMEWORK = "/System/Library/Frameworks/UserNotifications.framework/UserNotifications"
_SYSTEM = "/usr/lib/libSystem.B.dylib"
_CLICKED = "userNotificationCenter:didReceiveNotificationResponse:withCompletionHandler:"
_ALERT = 1 << 2  # UNAuthorizationOptionAlert
_GLOBAL_BLOCK = 1 << 28
_HAS_SIGNATURE = 1 << 30  # without it macOS raises where it hands a block to another of its processes
_Asked = CFUNCTYPE(None, c_void_p, c_bool, c_void_p)  # void (^)(BOOL granted, NSError *)
_ASKED_TYPES = b"v@?B@"
_Done = CFUNCTYPE(None, c_void_p)  # void (^)(void)

_log = logging.getLogger(__name__)


class _Descriptor(Structure):
    _fields_: ClassVar = [("reserved", c_ulong), ("size", c_ulong), ("signature", c_char_p)]


class _Block(Structure):
    """As compilers lay out a block of Objective-C."""

    _fields_: ClassVar = [
        ("isa", c_void_p),
        ("flags", c_int),
        ("reserved", c_int),
        ("invoke", c_void_p),
        ("descriptor", POINTER(_Descriptor)),
    ]


class UserNotifications:
    """Exists until the process ends: macOS keeps its address. Made on the GUI thread."""

    def __init__(
        self, clicked: Callable[[str], None], refused: Callable[[str, str, str], None], library: Library = ctypes.CDLL
    ) -> None:
        """`clicked` gets the name of a notification, `refused` one that is not shown; both on any thread.

        Raises OSError or AttributeError where macOS has none for this process.
        """
        self.is_refused = False  # by the user, or by macOS
        self._clicked = clicked
        self._refused = refused
        self._waiting: dict[str, tuple[str, str]] = {}  # for the user's answer: title and body, by name
        self._objc = ObjectiveC(_FRAMEWORK, METHODS, library)
        self._on_click = ServiceMethod(self._take_click)
        self._on_answer = _Asked(self._take_answer)
        isa = cast(library(_SYSTEM)._NSConcreteGlobalBlock, c_void_p)  # noqa: SLF001  its name
        self._descriptor = _Descriptor(0, ctypes.sizeof(_Block), _ASKED_TYPES)
        invoke = cast(self._on_answer, c_void_p)
        self._answer_block = _Block(isa, _GLOBAL_BLOCK | _HAS_SIGNATURE, 0, invoke, pointer(self._descriptor))
        with self._objc.pool():
            bundle = self._send(self._objc.class_named("NSBundle"), "mainBundle")
            if self._text(self._send(bundle, "bundleIdentifier")) != IDENTIFIER:
                raise OSError("not an app")
            self._center = self._send(self._objc.class_named("UNUserNotificationCenter"), "currentNotificationCenter")
            delegate = self._send(self._objc.add_class("HunchNotifications", _CLICKED, self._on_click), "new")
            self._send(self._center, "setDelegate:", delegate)

    def show(self, name: str, title: str, body: str) -> None:
        """Replaces one of this name. macOS asks the user the first time whether Hunch may."""
        self._waiting = self._waiting | {name: (title, body)}  # a new one: the former may be read
        with self._objc.pool():
            ask = "requestAuthorizationWithOptions:completionHandler:"
            self._send(self._center, ask, _ALERT, ctypes.addressof(self._answer_block))

    def _take_answer(self, _block: int, granted: bool, _error: int) -> None:
        """On a thread of macOS's."""
        waiting = self._waiting
        self._waiting = {}
        self.is_refused = not granted
        for name, (title, body) in waiting.items():
            (self._put if granted else self._refused)(name, title, body)

    def _put(self, name: str, title: str, body: str) -> None:
        with self._objc.pool():
            content = self._send(self._objc.class_named("UNMutableNotificationContent"), "new")
            self._send(content, "setTitle:", self._objc.string(title))
            self._send(content, "setBody:", self._objc.string(body))
            make = "requestWithIdentifier:content:trigger:"
            request = self._send(
                self._objc.class_named("UNNotificationRequest"), make, self._objc.string(name), content, None
            )
            self._send(self._center, "addNotificationRequest:withCompletionHandler:", request, None)
            self._send(content, "release")

    def _take_click(self, _delegate: int, _selector: int, _center: int, response: int, done: int) -> None:
        """No exception may reach macOS."""
        try:
            with self._objc.pool():
                request = self._send(self._send(response, "notification"), "request")
                self._clicked(self._text(self._send(request, "identifier")))
        except Exception as error:  # noqa: BLE001
            _log.error("a click on a notification was lost: %s", type(error).__name__)
        finally:
            block = cast(done, POINTER(_Block)).contents
            _Done(block.invoke)(done)

    def _send(self, receiver: int, selector: str, *arguments: object) -> int:
        result: int = self._objc.send(receiver, selector, *arguments)
        return result

    def _text(self, string: int) -> str:
        said: bytes | None = self._objc.send(string, "UTF8String")
        return (said or b"").decode("utf-8", "replace")


def user_notifications(
    clicked: Callable[[str], None], refused: Callable[[str, str, str], None]
) -> UserNotifications | None:
    """What is returned has to be kept. None where Qt's are used."""
    if own_bundle() is None:
        return None
    return on_a_mac(partial(UserNotifications, clicked, refused), "macOS's notifications are not used", logging.INFO)
