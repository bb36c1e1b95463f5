"""Free space of a disk, as far as the system would make it."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from ctypes import POINTER, byref, c_bool, c_char_p, c_int64, c_long, c_ubyte, c_void_p, cast
from pathlib import Path
from typing import Any

_FRAMEWORK = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "CFURLCreateFromFileSystemRepresentation": (c_void_p, c_void_p, c_char_p, c_long, c_bool),
    "CFURLCopyResourcePropertyForKey": (c_ubyte, c_void_p, c_void_p, c_void_p, c_void_p),
    "CFNumberGetValue": (c_ubyte, c_void_p, c_long, c_void_p),
    "CFRelease": (None, c_void_p),
}
_SINT64 = 4  # kCFNumberSInt64Type


def free_bytes(folder: Path) -> int:
    """On the disk of a folder that need not be there: it may be removed, or there was no room for it."""
    return shutil.disk_usage(_there(folder)).free


def bytes_to_have(folder: Path) -> int:
    """With what the system makes free for a download."""
    free = free_bytes(folder)
    if sys.platform == "darwin":
        with suppress(OSError, AttributeError):  # of a macOS that has no such function
            return max(free, bytes_for_important_usage(_there(folder)))
    return free


def _there(folder: Path) -> Path:
    return next(each for each in (folder, *folder.parents) if each.exists())


def bytes_for_important_usage(folder: Path, library: Callable[[str], Any] = ctypes.CDLL) -> int:
    """What macOS has, or makes free for what the user asks for: as Finder says, with snapshots and copies of what is in
    iCloud, which are tens of gigabytes. 0: not known.
    """
    foundation = library(_FRAMEWORK)
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(foundation, name)
        function.restype = result
        function.argtypes = arguments
    key = cast(foundation.kCFURLVolumeAvailableCapacityForImportantUsageKey, POINTER(c_void_p))[0]
    path = os.fsencode(folder)
    url = foundation.CFURLCreateFromFileSystemRepresentation(None, path, len(path), True)
    if not url:
        return 0
    number = c_void_p()
    value = c_int64()
    if foundation.CFURLCopyResourcePropertyForKey(url, key, byref(number), None) and number:
        foundation.CFNumberGetValue(number, _SINT64, byref(value))
        foundation.CFRelease(number)
    foundation.CFRelease(url)
    return value.value
