"""What a Mac's GPU does not have, and how the system is asked for, so that tests can answer as a Mac."""

from __future__ import annotations

import re
from re import Pattern

import pytest

from tests.architecture.project import name_of, python_files

# Float64 is of CPUs alone; complex numbers have few kernels, and fft makes them.
_NOT_ON_METAL = re.compile(r"\bmx\.(float64|complex\w*|fft)\b|dtype=(float|complex)\b|\.astype\((float|complex)\)")
# Tests that behave as on a Mac (tests/as_mac/darwin.py) answer `sys.platform` alone.
_ASKED_OTHERWISE = re.compile(r"[\"']Darwin[\"']|\bfrom sys import|\bimport sys as\b|mac_ver\(")
_FINDS = ("mx.zeros(3, mx.float64)", "mx.fft.rfft(x)", "x.astype(complex)", 'platform.system() == "Darwin"')


@pytest.mark.parametrize("rule", [_NOT_ON_METAL, _ASKED_OTHERWISE])
def test_no_module_has_it(rule: Pattern[str]) -> None:
    files = [name_of(path) for path in python_files("app", "engine") if rule.search(path.read_text(encoding="utf-8"))]
    assert files == []


def test_the_rules_find_what_they_look_for() -> None:
    assert [bool(_NOT_ON_METAL.search(line)) for line in _FINDS] == [True, True, True, False]
    assert [bool(_ASKED_OTHERWISE.search(line)) for line in _FINDS] == [False, False, False, True]
