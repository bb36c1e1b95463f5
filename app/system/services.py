"""Services → Ask Hunch: the entry in other apps' menus on a Mac, which sends their selected text.

Info.plist has the entry (`bundle_files.py`); macOS starts Hunch if necessary, and calls the registered object.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable
from ctypes import c_char_p, c_void_p
from functools import partial

from app.system.objc import Library, Methods, ObjectiveC, ServiceMethod, on_a_mac

MESSAGE = "ask"  # as Info.plist calls it
TEXT = "public.utf8-plain-text"  # NSPasteboardTypeString
METHODS: Methods = {
    "sharedApplication": (c_void_p,),
    "setServicesProvider:": (None, c_void_p),
    "new": (c_void_p,),
    "stringWithUTF8String:": (c_void_p, c_char_p),
    "stringForType:": (c_void_p, c_void_p),
    "UTF8String": (c_char_p,),
}
_SELECTOR = f"{MESSAGE}:userData:error:"
_APPKIT = "/System/Library/Frameworks/AppKit.framework/AppKit"

_log = logging.getLogger(__name__)


class Service:
    """Exists until the process ends: macOS keeps its address. Made on the GUI thread, after the QApplication."""

    def __init__(self, take: Callable[[str], None], library: Library = ctypes.CDLL) -> None:
        """`take` is called on the GUI thread, while the other app waits. Raises OSError or AttributeError."""
        self._take = take
        self._objc = ObjectiveC(_APPKIT, METHODS, library)
        self._method = ServiceMethod(self._on_message)
        with self._objc.pool():
            provider = self._objc.send(self._objc.add_class("HunchService", _SELECTOR, self._method), "new")
            application = self._objc.send(self._objc.class_named("NSApplication"), "sharedApplication")
            self._objc.send(application, "setServicesProvider:", provider)

    def _on_message(self, _provider: int, _selector: int, pasteboard: int, _data: int, _error: int) -> None:
        """No exception may reach macOS; none is logged with its text, which may be the user's."""
        try:
            with self._objc.pool():
                words = self._objc.send(pasteboard, "stringForType:", self._objc.string(TEXT))
                said: bytes | None = self._objc.send(words, "UTF8String")
            self._take((said or b"").decode("utf-8", "replace"))
        except Exception as error:  # noqa: BLE001
            _log.error("words of a service were not taken: %s", type(error).__name__)


def offer_service(take: Callable[[str], None]) -> Service | None:
    """The caller keeps the result. None if there are no services."""
    return on_a_mac(partial(Service, take), "Services cannot ask Hunch")
