"""Free space as macOS would make it: by CoreFoundation, over a library that answers as it does."""

from __future__ import annotations

import ctypes
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.hub import disk_space
from engine.hub.disk_space import bytes_for_important_usage, bytes_to_have, free_bytes

URL, NUMBER, KEY = 11, 12, 13


def foundation(folder: Path, available: int | None, released: list[int], *, has_url: bool = True) -> Any:
    """`available`: None where the disk does not say."""

    def release(each: Any) -> None:
        released.append(getattr(each, "value", each))

    def make_url(allocator: None, path: bytes, length: int, is_folder: bool) -> int:
        assert (allocator, path, length, is_folder) == (None, os.fsencode(folder), len(os.fsencode(folder)), True)
        return URL * has_url

    def copy(url: int, key: int, to: Any, error: None) -> bool:
        assert (url, key, error) == (URL, KEY, None)
        to._obj.value = None if available is None else NUMBER
        return available is not None

    def read(number: ctypes.c_void_p, kind: int, to: Any) -> bool:
        assert (number.value, kind) == (NUMBER, 4)
        to._obj.value = available
        return True

    return SimpleNamespace(
        kCFURLVolumeAvailableCapacityForImportantUsageKey=ctypes.pointer(ctypes.c_void_p(KEY)),
        CFURLCreateFromFileSystemRepresentation=make_url,
        CFURLCopyResourcePropertyForKey=copy,
        CFNumberGetValue=read,
        CFRelease=release,
    )


def test_what_macos_makes_free_counts(tmp_path: Path) -> None:
    released: list[int] = []
    mac = foundation(tmp_path, 2**40, released)
    assert bytes_for_important_usage(tmp_path, lambda _: mac) == 2**40
    assert released == [NUMBER, URL]
    assert [mac.CFURLCopyResourcePropertyForKey.restype, len(mac.CFNumberGetValue.argtypes)] == [ctypes.c_ubyte, 3]


@pytest.mark.parametrize(("has_url", "released"), [(True, [URL]), (False, [])])
def test_a_disk_that_does_not_say_has_what_is_free(tmp_path: Path, has_url: bool, released: list[int]) -> None:
    seen: list[int] = []
    mac = foundation(tmp_path, None, seen, has_url=has_url)
    assert bytes_for_important_usage(tmp_path, lambda _: mac) == 0
    assert seen == released


@pytest.mark.parametrize("more", [-1, 1])
def test_downloads_have_the_larger_of_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(disk_space, "bytes_for_important_usage", lambda folder: usage.free + more)
    assert bytes_to_have(tmp_path / "not there") == max(usage.free, usage.free + more)
    assert free_bytes(tmp_path / "not there") == usage.free
