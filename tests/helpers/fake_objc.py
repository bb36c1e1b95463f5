"""Libraries of a Mac that answer through real prototypes, as macOS's do, and note what is sent."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, c_bool, c_char_p, c_double, c_size_t, c_uint64, c_void_p
from types import SimpleNamespace
from typing import Any


class FakeObjectiveC:
    """`objc_msgSend` is one C function for every prototype, as on a Mac. Each message is sent within a pool.

    `answer` gives what a method returns; by itself the receiver.
    """

    def __init__(self) -> None:
        self.names: list[bytes] = [b""]  # a class or a selector is its place here
        self.sent: list[tuple[int, str]] = []
        self.strings: list[bytes] = []
        self.methods: dict[str, int] = {}  # the address of each that was added to a class
        self.pools = 0
        self.objc = SimpleNamespace(
            objc_getClass=CFUNCTYPE(c_void_p, c_char_p)(self._number),
            sel_registerName=CFUNCTYPE(c_void_p, c_char_p)(self._number),
            objc_autoreleasePoolPush=CFUNCTYPE(c_void_p)(self._push),
            objc_autoreleasePoolPop=CFUNCTYPE(None, c_void_p)(self._pop),
            objc_allocateClassPair=CFUNCTYPE(c_void_p, c_void_p, c_char_p, c_size_t)(self._allocate),
            class_addMethod=CFUNCTYPE(c_bool, c_void_p, c_void_p, c_void_p, c_char_p)(self._add_method),
            objc_registerClassPair=CFUNCTYPE(None, c_void_p)(lambda _made: None),
            objc_msgSend=CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_uint64, c_void_p)(self._answer),
        )
        self.iokit = SimpleNamespace(IOPSGetTimeRemainingEstimate=CFUNCTYPE(c_double)(self.time_remaining))

    def __call__(self, path: str) -> Any:
        return self.iokit if "IOKit" in path else self.objc

    def time_remaining(self) -> float:
        return -2.0

    def answer(self, receiver: int, name: str, first: int) -> int | None:
        return receiver

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

    def _allocate(self, parent: int, name: bytes, _extra: int) -> int | None:
        assert self.names[parent] == b"NSObject"
        return None if name in self.names else self._number(name)

    def _add_method(self, _made: int, selector: int, method: int, types: bytes) -> bool:
        assert types == b"v@:@@^@"
        self.methods[self.names[selector].decode()] = method
        return True

    def _answer(self, receiver: int, selector: int, first: int, _second: int) -> int | None:
        assert self.pools == 1
        name = self.names[selector].decode()
        self.sent.append((receiver, name))
        if name == "stringWithUTF8String:":
            self.strings.append(ctypes.string_at(first))
        return self.answer(receiver, name, first)
