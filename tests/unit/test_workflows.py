"""What the workflows run: commands that are here, with few rights; and the Mac's script, with stand-ins."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.architecture.project import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCRIPT = ROOT / "packaging" / "mac" / "on_a_mac.sh"
# Programs of a Mac, or of a network: each notes its name and arguments, and does what the script goes on with.
STAND_INS = {
    "brew": 'case "$1" in --repository) echo tap ;; esac',
    "codesign": "",
    "ditto": 'case "$1" in -c) echo zip >"$5" ;; *) cp -R "$PWD$1" "$2" ;; esac',
    "hdiutil": 'case "$1" in attach) printf "/dev/disk4\\tApple_HFS\\t/Volumes/Hunch\\n" ;; esac',
    "lsappinfo": 'echo "name=\\"Hunch\\""; echo pid; echo bundle',
    "make": "mkdir -p build/app/Hunch.app && echo image | tee build/app/Hunch.dmg && echo zip >build/app/Hunch.zip",
    "open": "",
    "osascript": "",
    "shasum": 'shift 2; sha256sum "$@"',
    "sleep": "",
    "spctl": 'echo "Hunch.app: rejected"; exit 3',
    "sw_vers": "echo 15.0",
    "sysctl": "echo Apple M4",
    "xattr": "",
    "xcrun": 'for each in "$@"; do case "$each" in *.p8) cat "$each" >>"$LOG" ;; esac; done',
}
PYTHON = (
    'case "$1" in *cask.py) echo "cask of $2 at $3, $4${5:+, $5}" ;; *on_metal.py) echo "same"; exit $FAILS ;; esac'
)
UV = 'case "$*" in "tool dir --bin") echo "$PWD/bin" ;; python*) mkdir -p build/python/cpython-3.13.1-macos ;; esac'
HUNCH = 'echo "{\\"reply\\": \\"$*\\"}"'


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_every_step_runs_what_is_here(workflow: Path) -> None:
    told = yaml.safe_load(workflow.read_text("utf-8"))
    assert told["permissions"] == {"contents": "read"}
    commands = set(re.findall(r"^(\w+)\(\) \{", SCRIPT.read_text("utf-8"), re.MULTILINE))
    for step in _steps(told):
        assert ("run" in step) != ("uses" in step)
        words = re.sub(r"^env -i( \S+=\S+)+ ", "", step.get("run", "")).split()
        if words[:1] == ["make"]:
            assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text("utf-8")
        elif words:
            assert os.access(ROOT / words[0], os.X_OK)
            assert words[0] != "packaging/mac/on_a_mac.sh" or words[1] in commands
        else:
            assert re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"])
            assert "checkout" not in step["uses"] or step["with"] == {"persist-credentials": False}


def _steps(told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in told["jobs"].values():
        assert job["timeout-minutes"] < 360  # GitHub ends a job then
        yield from job["steps"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "a checkout"
    for name, line in STAND_INS.items():
        program(folder / "bin" / name, line)
    program(folder / ".venv" / "bin" / "python", PYTHON)
    program(folder / ".venv" / "bin" / "uv", UV)
    for app in (folder / "Volumes" / "Hunch", folder / "home" / "Applications"):
        program(app / "Hunch.app" / "Contents" / "MacOS" / "Hunch", HUNCH)
    program(folder / "bin" / "hunch", HUNCH)
    (folder / "packaging" / "mac").mkdir(parents=True)
    shutil.copy(SCRIPT, folder / "packaging" / "mac")
    (folder / "build" / "app").mkdir(parents=True)
    return folder


def program(path: Path, line: str, log: str = "$LOG") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "$(basename "$0") $*" >>"{log}"\n{line}\n')
    path.chmod(0o755)


def ran(checkout: Path, command: str, **more: str) -> tuple[str, str]:
    """What the programs were told, and the summary."""
    log, summary = checkout / "log", checkout / "summary"
    environment = {"PATH": f"{checkout / 'bin'}:{os.environ['PATH']}", "LOG": str(log), **more}
    environment |= {"GITHUB_STEP_SUMMARY": str(summary), "HOME": str(checkout / "home")}
    script = checkout / "packaging" / "mac" / "on_a_mac.sh"
    done = subprocess.run([script, command], env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == int(more.get("FAILS", "0")), done.stderr
    return log.read_text("utf-8"), summary.read_text("utf-8") if summary.exists() else ""


def test_a_macs_script_assembles_starts_installs_and_audits(checkout: Path) -> None:
    app, page = checkout / "build" / "app", "https://hub.example/me/hunch"
    told, summary = ran(checkout, "assemble", GITHUB_SERVER_URL="https://hub.example", GITHUB_REPOSITORY="me/hunch")
    assert "make app ARGS=--python build/python/cpython-3.13.1-macos\n" in told
    assert "codesign --verify --strict" in told
    assert (app / "Hunch.sha256").read_text().count("build/app/Hunch.") == 2
    cask = f"cask of build/app/Hunch.dmg at {page}/releases/download/v#{{version}}/Hunch.dmg, {page}\n"
    assert (app / "Hunch.rb").read_text() == cask
    assert "image" in summary
    assert "xcrun" not in told
    assert not (app / "Hunch.app").exists()
    told, summary = ran(checkout, "start")
    assert "xattr -w com.apple.quarantine" in told
    assert "Gatekeeper: Hunch.app: rejected" in summary
    assert '{"reply": "--smoke build/smoke.png"}' in summary
    for fails in "01":
        assert ran(checkout, "metal", FAILS=fails)[1].endswith("\nsame\n")
    told, summary = ran(checkout, "tool")
    assert "hunch --install-app\n" in told
    assert "the app of the tool" in summary.lower()
    assert ran(checkout, "tests")[1].endswith("\nimage\n")  # the last line of its make
    told, _ = ran(checkout, "cask")
    assert "brew audit --cask hunch/local/hunch\n" in told
    assert (checkout / "tap" / "Casks" / "hunch.rb").read_text() == cask


def test_with_a_key_of_apples_the_image_and_the_app_are_notarized_before_their_checksums(checkout: Path) -> None:
    keys = {"HUNCH_NOTARY_KEY": "a secret", "HUNCH_NOTARY_KEY_ID": "ID", "HUNCH_NOTARY_ISSUER": "WHO"}
    keys |= {"GITHUB_SERVER_URL": "https://hub.example", "GITHUB_REPOSITORY": "me/hunch"}
    told, _ = ran(checkout, "assemble", HUNCH_P12_BASE64="YQ==", TMPDIR=str(checkout), **keys)
    lines = told.splitlines()
    assert lines.index("a secret") < lines.index("xcrun stapler staple build/app/Hunch.dmg")
    assert lines.index("ditto -c -k --keepParent build/app/Hunch.app build/app/Hunch.zip") < next(
        at for at, line in enumerate(lines) if line.startswith("shasum")
    )
    assert not list(checkout.glob("tmp.*"))  # nor any key
    assert (checkout / "build" / "app" / "Hunch.rb").read_text().endswith(", notarized\n")


@pytest.mark.parametrize("fails", ["", "lint"])
def test_a_checkout_is_proved_as_newcomers_are_told_and_then_with_more_fonts(tmp_path: Path, fails: str) -> None:
    """`make` is a stand-in, and so is what installs packages."""
    for name in (".ci/run", "tests/README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    log = tmp_path / "log"
    stand_ins = {"make": 'echo "3 passed in 1.0s"', "apt-get": "", "dpkg-query": "exit 1", "sudo": 'shift; "$@"'}
    for name, line in stand_ins.items():
        program(tmp_path / "bin" / name, f'[ "$1" != "{fails or "-"}" ] || exit 1\n{line}', str(log))
    path = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run([tmp_path / ".ci" / "run", "app"], env=path, capture_output=True, text=True, check=False)
    told = log.read_text("utf-8").splitlines()
    makes = [line for line in told if line.startswith("make")]
    installed = " ".join(line for line in told if line.startswith("apt-get install"))
    assert {"python3-venv", "libegl1", "fonts-noto-cjk"} <= set(installed.split())
    if fails:
        assert makes[-1] == "make lint"
        assert done.returncode != 0
    else:
        assert makes == ["make run", "make test", "make lint", "make test ARGS=tests/ui", "make smoke", "make app"]
        assert done.stdout.splitlines()[-2:] == ["3 passed in 1.0s"] * 2
        assert done.returncode == 0
