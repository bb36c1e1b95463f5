"""What the system says of free memory, on Linux and on a Mac, and where it says nothing."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.machines import lend_child
from engine.models import first_use_child, fit, memory
from engine.models.fit import physical_bytes
from engine.models.memory import free_bytes

MEMINFO = b"MemTotal:       24683420 kB\nMemFree:          120000 kB\nMemAvailable:   10400300 kB\nBuffers: 1 kB\n"


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    memory._free_in.cache_clear()
    monkeypatch.setattr(memory, "time", Clock())


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.mark.skipif(sys.platform != "linux", reason="its own figures")
def test_this_machine_says_something_possible() -> None:
    free = free_bytes()
    assert free is not None
    assert 0 < free <= physical_bytes()


@pytest.mark.parametrize(
    ("content", "expected"), [(MEMINFO, 10_400_300 * 1024), (b"MemAvailable: many kB\n", None), (None, None)]
)
def test_linux_tells_what_is_available(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, expected: int | None
) -> None:
    if content is not None:
        (tmp_path / "meminfo").write_bytes(content)
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(sys, "platform", "linux")
    assert free_bytes() == expected


class Mac:
    """As <mach/mach_host.h> declares it."""

    def __init__(self, answer: int = 0) -> None:
        self.answer, self.hosts = answer, 0

    def mach_host_self(self) -> int:
        self.hosts += 1
        return 0x1203

    def host_statistics64(self, host: Any, flavor: int, words: Any, count: Any) -> int:
        assert (host.value, flavor, count._obj.value) == (0x1203, 4, 38)
        for at, pages in enumerate((1000, 20_000, 3000, 40_000)):  # free, active, inactive, wired
            words._obj[at] = pages
        assert ctypes.sizeof(words._obj) == 152
        return self.answer


@pytest.mark.parametrize(("answer", "pages"), [(0, 4000), (5, None)])
def test_a_mac_tells_its_free_pages(monkeypatch: pytest.MonkeyPatch, answer: int, pages: int | None) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    mac = Mac(answer)
    monkeypatch.setattr(memory, "_system", lambda: mac)
    monkeypatch.setattr(memory, "_host", lambda system: ctypes.c_uint32(system.mach_host_self()))
    assert free_bytes() == (None if pages is None else pages * os.sysconf("SC_PAGE_SIZE"))


def test_a_mac_without_that_call_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(memory, "_system", lambda: ctypes.CDLL(None))
    if sys.platform == "darwin" and hasattr(ctypes.CDLL(None), "host_statistics64"):
        pytest.skip("it has")
    assert free_bytes() is None


def test_the_system_is_asked_twice_a_second_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(memory, "time", clock)
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(sys, "platform", "linux")
    found = []
    for number, now in enumerate((0.0, 0.4, 0.5, 0.9, 1.1)):
        (tmp_path / "meminfo").write_text(f"MemAvailable: {number} kB\n")
        clock.now = now
        found.append(free_bytes())
    assert found == [0, 0, 2048, 2048, 4096]


@pytest.mark.parametrize(
    ("failed", "limit_mb", "gib"), [(0, 56 << 10, 56), (0, 0, 48), (-1, 56 << 10, 48), (0, 64 << 10, 62)]
)
def test_a_mac_gives_models_what_its_user_lets_the_gpu_have(
    monkeypatch: pytest.MonkeyPatch, failed: int, limit_mb: int, gib: int
) -> None:
    def sysctlbyname(name: bytes, into: Any, _size: Any, _new: object, _new_size: int) -> int:
        assert name == b"iogpu.wired_limit_mb"
        ctypes.memmove(into, limit_mb.to_bytes(4, "little"), 4)  # an int, of four bytes
        return failed

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(fit, "physical_bytes", lambda: 64 << 30)
    monkeypatch.setattr(fit, "_limit_bytes", fit._limit_bytes.__wrapped__)
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: SimpleNamespace(sysctlbyname=sysctlbyname))
    assert fit.model_memory_bytes() == gib << 30


class Process:
    """As <libproc.h> and <sys/resource.h> declare it: what counts for a process is the tenth number."""

    def proc_pid_rusage(self, pid: int, flavor: int, into: Any) -> int:
        into._obj[9] = 4096 * pid
        return flavor


def test_a_mac_tells_what_counts_for_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: Process())
    assert lend_child.memory_of(7) == 7 * 4096


def test_a_mac_without_that_library_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: object())
    assert lend_child.memory_of(7) == 0


def test_a_mac_counts_the_most_resident_memory_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    for platform in ("linux", "darwin"):
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.setattr(resource, "getrusage", lambda _who: SimpleNamespace(ru_maxrss=3))
        counted.append(first_use_child._most_resident_bytes())
    assert counted == [3 * 1024, 3]
