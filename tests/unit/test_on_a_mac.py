"""The command that a user with a Mac runs once, on Linux: with stand-ins for macOS's programs and for Hunch."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.project import ROOT
from tests.as_mac.hunch import WORDS
from tests.as_mac.programs import put, put_app, put_programs

STAND_IN = f"exec '{sys.executable}' '{ROOT}/tests/as_mac/hunch.py' \"$@\""
SERIAL, UUID, COMPUTER = "C02SECRET123", "00001111-AAAA-BBBB-CCCC-222233334444", "Grace’s MacBook Pro"  # of programs.py


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "packaging" / "mac"))
    module = importlib.import_module("on_a_mac")
    monkeypatch.setattr(module, "_WATCHED_S", 0.01)
    monkeypatch.setattr(module, "_AFTER_REPLY_S", 0.0)
    monkeypatch.setattr(module, "slept_s", lambda: 31.0 * (tmp_path / "slept").exists())
    monkeypatch.setenv("HOME", str(tmp_path / "Users" / "grace"))
    monkeypatch.setenv("USER", "grace")
    monkeypatch.setenv("LOGNAME", "grace")
    return module


@pytest.fixture
def mac(tmp_path: Path) -> Path:
    """A folder with macOS's programs, an image, and a checkout with nothing but stand-ins."""
    put_programs(tmp_path)
    put(tmp_path, "checkout/packaging/bootstrap.sh", "exit 0")
    put(tmp_path, "checkout/.venv/bin/python", STAND_IN)
    (tmp_path / "checkout" / "pyproject.toml").write_text('version = "1.2"\n')
    return tmp_path


@pytest.fixture
def look(command: Any, mac: Path) -> Callable[..., tuple[int, str]]:
    def look(*arguments: str) -> tuple[int, str]:
        given = [str(put_app(mac, STAND_IN)), *arguments]
        status = command.main(given, root=mac, checkout=mac / "checkout")
        return status, (mac / "checkout" / "build" / "on-a-mac.md").read_text(encoding="utf-8")

    return look


def states(report: str) -> dict[str, str]:
    return {f"{step} {of}": state for step, of, state in re.findall(r"(?m)^## (\w+), (\w+): (.+)$", report)}


def test_all_is_seen_that_needs_no_hands(look: Callable[..., tuple[int, str]], mac: Path) -> None:
    status, report = look("--sleep")
    found = states(report)
    unseen = {step for step, state in found.items() if state != "seen"}
    assert unseen == {"fresh checkout"}, report
    assert {"drafters checkout", "calibration app", "race app", "tests checkout", "seal app"} <= set(found)
    assert status == 0
    assert "| Mac | Mac15,3, Apple M3 Max, 12+4 cores, 64 GB |" in report
    assert "eagle3: the same tokens, 3.00 tokens a pass, 3.00 on the CPU" in report
    assert report.count("- ms a forward by width") == 4, "two measurements of each"
    assert "dspark: the same tokens, 1.00 tokens a pass" in report
    assert "greedy: 200 tokens/s without, 400 with the draft (2.00×)" in report
    assert WORDS not in report
    assert not (mac / "checkout" / "build" / "mac-report").exists()


@pytest.mark.parametrize(
    ("fault", "step", "why"),
    [
        ("wheel", "mlx", "macosx_26_0_arm64 on macOS 15.6"),
        ("libraries", "libraries", "/opt/lib/libz.dylib"),
        ("drafts", "start", "no drafted token was accepted"),
        ("ctrl-c", "ask", "exit status 1"),
        ("tokens", "drafters", "eagle3: other tokens from the 3. on"),
        ("prices", "calibration", "the prices differ by more than 10%"),
        ("texts", "race", "question 1, sampled"),
        ("quit", "ends", "after Quit its exit status is 3"),
        ("copies", "ends", "a second copy ends with 1"),
    ],
)
def test_what_is_wrong_is_told(
    look: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch, fault: str, step: str, why: str
) -> None:
    monkeypatch.setenv("FAULT", fault)
    of = "app" if step == "libraries" else "checkout"
    status, report = look("--of", of, "--only", step)
    assert (status, states(report)[f"{step} {of}"]) == (1, "failed")
    assert why in report


def test_without_sleep_it_is_only_offered(look: Callable[..., tuple[int, str]], mac: Path) -> None:
    status, report = look("--only", "sleep")
    assert (status, states(report)["sleep checkout"]) == (0, "not seen")
    assert not (mac / "slept").exists()


@pytest.mark.parametrize(("machine", "state"), [("arm64", "seen"), ("x86_64", "failed")])
def test_a_fresh_clone_has_a_python_for_apple_silicon_below_rosetta(
    look: Callable[..., tuple[int, str]], mac: Path, machine: str, state: str
) -> None:
    made = (
        f"mkdir -p .venv/bin && printf '#!/bin/sh\\necho {machine}\\n' >.venv/bin/python && chmod +x .venv/bin/python"
    )
    put(mac, "checkout/packaging/bootstrap.sh", made)
    put(mac, "usr/bin/make", made)
    put(mac, "usr/bin/arch", 'shift; exec "$@"')
    git = ["git", "-C", str(mac / "checkout"), "-c", "user.name=a", "-c", "user.email=b@c"]
    for words in (["init", "--quiet"], ["add", "packaging"], ["commit", "--quiet", "--message", "a"]):
        subprocess.run([*git, *words], check=True)
    report = look("--only", "fresh")[1]
    assert states(report)["fresh checkout"] == state, report
    assert f"- below Rosetta: {machine}" in report


def test_red_tests_and_crashes_are_named(look: Callable[..., tuple[int, str]], mac: Path) -> None:
    put(mac, "usr/bin/make", "echo 'FAILED tests/unit/test_a.py::test_b'; echo '= 1 failed, 2 passed in 3s ='; exit 2")
    crash = Path.home() / "Library" / "Logs" / "DiagnosticReports" / "Hunch-2030.ips"
    crash.parent.mkdir(parents=True)
    told = {"procName": "Hunch", "exception": {"type": "EXC_BAD_ACCESS", "signal": "SIGSEGV"}, "faultingThread": 0}
    told["threads"] = [{"frames": [{"symbol": "mlx::eval"}, {"symbol": "main"}]}]
    crash.write_text("{}\n" + json.dumps(told))
    os.utime(crash, (4e9, 4e9))
    status, report = look("--only", "tests,crashes")
    assert status == 1
    assert "- FAILED tests/unit/test_a.py::test_b" in report
    assert "1 failed, 2 passed in 3s" in report
    assert "Hunch: EXC_BAD_ACCESS SIGSEGV: mlx::eval < main" in report


def steps(command: Any, monkeypatch: pytest.MonkeyPatch, *taken: tuple[Callable[..., None], float]) -> None:
    of_checkout = [command.STEPS[0].__class__(take, ("checkout",), seconds) for take, seconds in taken]
    monkeypatch.setattr(command, "STEPS", of_checkout)


def test_a_step_that_fails_or_does_not_end_keeps_no_other_from_its_turn(
    command: Any, look: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def hangs(run: Any, _: Any) -> None:
        started.append(run.start(["sleep", "600"]))
        run.call("sleep", "600", within=0.1)

    def is_late(run: Any, _: Any) -> None:
        run.call("sleep", "600")

    def raises(run: Any, _: Any) -> None:
        run.note("a figure")
        raise ZeroDivisionError("by chance")

    def works(run: Any, _: Any) -> None:
        run.note("another figure")

    steps(command, monkeypatch, (hangs, 60), (is_late, 0), (raises, 60), (works, 60))
    status, report = look()
    assert status == 1
    ends = {"hangs": "failed", "is_late": "failed", "raises": "failed", "works": "seen"}
    assert states(report) == {f"{name} checkout": state for name, state in ends.items()}
    assert "sleep: no end in" in report
    assert "not finished in its time" in report
    assert "- a figure\n- ZeroDivisionError: by chance" in report
    assert started[0].returncode is not None, "what a step has started ends with it"


def test_ctrl_c_writes_what_there_is(
    command: Any, look: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(run: Any, _: Any) -> None:
        run.note("a figure")
        raise KeyboardInterrupt

    steps(command, monkeypatch, (lambda *_: None, 60), (stopped, 60), (stopped, 60))
    status, report = look()
    assert status == 130
    assert list(states(report)) == ["stopped checkout"]
    assert "- a figure\n- stopped by Ctrl-C" in report


def test_after_its_minutes_nothing_more_is_begun(look: Callable[..., tuple[int, str]]) -> None:
    status, report = look("--minutes", "0")
    assert status == 0
    assert set(states(report).values()) == {"not seen"}


def test_whatever_steps_say_nothing_tells_whose_mac_it_is(
    command: Any, look: Callable[..., tuple[int, str]], mac: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the user, the Mac, and of others who use it."""
    host = "graces-macbook"
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Darwin", f"{host}.corp.example", "24.6", "", "arm64")))
    home, other = str(Path.home()), "/Users/ada"
    private = [home, other, host, f"{host}.corp.example", COMPUTER, SERIAL, UUID, "grace", "GRACE", "10.1.2.3"]
    private += [
        str(mac / "checkout"),
        "/private/var/folders/x1/y2/T/a",
        "/Volumes/Ada",
        "grace@corp.example",
        "a1:b2:c3:d4:e5:f6",
    ]

    def leaks(run: Any, _: Any) -> None:
        for each in private:
            run.note(f"in {each}/file: {each}, '{each}'")
            run.note("x" * 390 + f" {each}")
        run.note(unicodedata.normalize("NFD", f"{home}/é of {COMPUTER}"))
        raise OSError(2, "not there", f"{home}/secret")

    steps(command, monkeypatch, (leaks, 60))
    report = look()[1]
    lower = report.lower()
    assert [each for each in private if each.lower() in lower] == []
    assert "macbook" not in lower
    assert "not there: '~/secret'" in report
    assert "Apple M3 Max" in report


@pytest.mark.parametrize("host", ["Mac.local", "MacBook-Pro", "Mac mini (2)", "localhost"])
def test_a_name_that_many_macs_have_stays(command: Any, mac: Path, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Darwin", host, "24.6", "", "arm64")))
    put(mac, "usr/sbin/scutil", f"echo '{host}'")
    scrubber = sys.modules["report"].scrubber_for(sys.modules["report"].Run(mac, mac, 1))
    assert scrubber.clean("This Mac has not slept") == "This Mac has not slept\n"


def test_what_is_given_lies_where_the_command_was_called(tmp_path: Path) -> None:
    (tmp_path / "Hunch.dmg").touch()
    command = ["bash", str(ROOT / "packaging" / "mac" / "on_a_mac.sh"), "Hunch.dmg", "--only", "nothing"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, text=True)
    assert done.stderr.splitlines()[-1].endswith("no step: nothing")
