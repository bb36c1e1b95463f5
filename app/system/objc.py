"""Objective-C by ctypes: classes and methods of macOS's frameworks.

On arm64 a method is called by its own prototype, as its header has it: each caller lists those that it sends.
"""

from __future__ import annotations

import ctypes
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, c_bool, c_char_p, c_size_t, c_void_p
from typing import Any, TypeVar

_OBJC = "/usr/lib/libobjc.dylib"
_FUNCTIONS: dict[str, tuple[Any, ...]] = {  # name -> result and argument types
    "objc_getClass": (c_void_p, c_char_p),
    "sel_registerName": (c_void_p, c_char_p),
    "objc_autoreleasePoolPush": (c_void_p,),
    "objc_autoreleasePoolPop": (None, c_void_p),
    "objc_allocateClassPair": (c_void_p, c_void_p, c_char_p, c_size_t),
    "class_addMethod": (c_bool, c_void_p, c_void_p, c_void_p, c_char_p),
    "objc_registerClassPair": (None, c_void_p),
}

Library = Callable[[str], Any]
Methods = dict[str, tuple[Any, ...]]  # selector -> result and further argument types
# void method(self, selector, three objects): as macOS asks for a service
ServiceMethod = CFUNCTYPE(None, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)
_SERVICE_TYPES = b"v@:@@^@"

_log = logging.getLogger(__name__)
T = TypeVar("T")


def on_a_mac(make: Callable[[], T], lacks: str, level: int = logging.WARNING) -> T | None:
    """None on other systems, and where macOS does not have what is called: the app starts without."""
    if sys.platform == "darwin":
        try:
            return make()
        except Exception as error:  # noqa: BLE001  of any version of macOS
            _log.log(level, "%s: %s", lacks, type(error).__name__)
    return None


class ObjectiveC:
    def __init__(self, framework: str, methods: Methods, library: Library = ctypes.CDLL) -> None:
        """Raises OSError or AttributeError if macOS lacks something that is called."""
        self._methods = methods
        self._objc = library(_OBJC)
        library(framework)  # registers its classes
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(self._objc, name)
            function.restype = result
            function.argtypes = arguments
        self._send_at = ctypes.cast(self._objc.objc_msgSend, c_void_p).value or 0

    def send(self, receiver: int, selector: str, *arguments: Any) -> Any:
        """Send a message; a receiver of 0 or None returns 0."""
        result, *types = self._methods[selector]
        method = CFUNCTYPE(result, c_void_p, c_void_p, *types)(self._send_at)
        return method(receiver, self._selector(selector), *arguments)

    def class_named(self, name: str) -> int:
        found: int = self._objc.objc_getClass(name.encode())
        return found

    def string(self, words: str) -> int:
        """An NSString, which the pool releases."""
        made: int = self.send(self.class_named("NSString"), "stringWithUTF8String:", words.encode())
        return made

    @contextmanager
    def pool(self) -> Iterator[None]:
        pool = self._objc.objc_autoreleasePoolPush()
        try:
            yield
        finally:
            self._objc.objc_autoreleasePoolPop(pool)

    def add_class(self, name: str, selector: str, method: Any) -> int:
        """Register a class with one ServiceMethod, which the caller keeps. Raises OSError if the class exists."""
        made: int | None = self._objc.objc_allocateClassPair(self.class_named("NSObject"), name.encode(), 0)
        if not made:
            raise OSError(f"there is a class {name}")
        self._objc.class_addMethod(made, self._selector(selector), ctypes.cast(method, c_void_p), _SERVICE_TYPES)
        self._objc.objc_registerClassPair(made)
        return made

    def _selector(self, name: str) -> int:
        found: int = self._objc.sel_registerName(name.encode())
        return found
