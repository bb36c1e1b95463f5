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
    "codesign": "",
    "ditto": 'echo zip >"$5"',
    "hdiutil": "",
    "make": "mkdir -p build/app/Hunch.app && echo image | tee build/app/Hunch.dmg && echo zip >build/app/Hunch.zip",
    "shasum": 'shift 2; sha256sum "$@"',
    "xcrun": 'for each in "$@"; do case "$each" in *.p8) cat "$each" >>"$LOG" ;; esac; done',
}
PYTHON = 'case "$1" in *cask.py) echo "cask of $2 at $3, $4${5:+, $5}" ;; esac'
UV = 'case "$*" in "tool dir --bin") echo "$PWD/bin" ;; python*) mkdir -p build/python/cpython-3.13.1-macos ;; esac'


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
    program(folder / "build" / "uv" / "bin" / "uv", UV)  # as bootstrap.sh leaves it; without it pip fetches it there
    (folder / "packaging" / "mac").mkdir(parents=True)
    shutil.copy(SCRIPT, folder / "packaging" / "mac")
    (folder / "build" / "app").mkdir(parents=True)
    return folder


def program(path: Path, line: str, log: str = "$LOG") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "$(basename "$0") $*" >>"{log}"\n{line}\n')
    path.chmod(0o755)


def test_with_a_key_of_apples_the_image_and_the_app_are_notarized_before_their_checksums(checkout: Path) -> None:
    app, page, log = checkout / "build" / "app", "https://hub.example/me/hunch", checkout / "log"
    environment = {"PATH": f"{checkout / 'bin'}:{os.environ['PATH']}", "LOG": str(log), "TMPDIR": str(checkout)}
    environment |= {"HUNCH_NOTARY_KEY": "a secret", "HUNCH_NOTARY_KEY_ID": "ID", "HUNCH_NOTARY_ISSUER": "WHO"}
    environment |= {"HUNCH_P12_BASE64": "YQ==", "GITHUB_STEP_SUMMARY": str(checkout / "summary")}
    environment |= {"GITHUB_SERVER_URL": "https://hub.example", "GITHUB_REPOSITORY": "me/hunch"}
    script = checkout / "packaging" / "mac" / "on_a_mac.sh"
    subprocess.run([script, "assemble"], env=environment, capture_output=True, check=True, timeout=60)
    lines = log.read_text("utf-8").splitlines()
    assert lines.index("a secret") < lines.index("xcrun stapler staple build/app/Hunch.dmg")
    assert lines.index("ditto -c -k --keepParent build/app/Hunch.app build/app/Hunch.zip") < next(
        at for at, line in enumerate(lines) if line.startswith("shasum")
    )
    assert not list(checkout.glob("tmp.*"))  # nor any key
    assert not [line for line in lines if line.startswith("python -m pip")]  # which a .venv that uv made does not have
    cask = f"cask of build/app/Hunch.dmg at {page}/releases/download/v#{{version}}/Hunch.dmg, {page}, notarized\n"
    assert (app / "Hunch.rb").read_text() == cask


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        (["start"], "--of app --only image,gatekeeper,libraries,start,seal"),
        (["metal"], "--of checkout --only mlx,drafters"),
        ([], ""),
        (["--only", "race", "Hunch.dmg"], "--only race Hunch.dmg"),
    ],
)
@pytest.mark.parametrize("python", [".venv/bin/python", "bin/python3"])
def test_its_words_take_steps_with_the_python_that_is_there(
    checkout: Path, python: str, words: list[str], steps: str
) -> None:
    shutil.rmtree(checkout / ".venv")
    program(checkout / python, "exit 1")  # a step has failed
    (checkout / "build" / "on-a-mac.md").write_text("a report")
    log, summary = checkout / "log", checkout / "summary"
    environment = {"PATH": f"{checkout / 'bin'}:{os.environ['PATH']}", "LOG": str(log)}
    environment |= {"GITHUB_STEP_SUMMARY": str(summary)}
    script = checkout / "packaging" / "mac" / "on_a_mac.sh"
    assert subprocess.run([script, *words], env=environment, check=False, timeout=60).returncode == 1
    called = f"{Path(python).name} {script.with_suffix('.py')} {steps}"
    assert log.read_text("utf-8").split() == called.split()
    assert summary.read_text("utf-8") == "a report"


def test_uv_comes_by_the_pip_of_a_folder_of_its_own(checkout: Path) -> None:
    """The .venv that uv itself has made has none."""
    (checkout / "build" / "uv" / "bin" / "uv").rename(checkout / "uv")
    program(checkout / "python", "mv uv build/uv/bin/uv")  # with pip
    venv = 'case "$2" in pip) exit 1 ;; venv) mkdir -p "$3/bin" && mv python "$3/bin/python" ;; esac'
    program(checkout / ".venv" / "bin" / "python", venv)
    (checkout / "packaging" / "requirements-uv.lock").touch()
    log = checkout / "log"
    environment = {"PATH": f"{checkout / 'bin'}:{os.environ['PATH']}", "LOG": str(log), "TMPDIR": str(checkout)}
    script = checkout / "packaging" / "mac" / "on_a_mac.sh"
    subprocess.run([script, "assemble"], env=environment, capture_output=True, check=True, timeout=60)
    assert [line for line in log.read_text("utf-8").splitlines() if line.startswith("uv python install")]


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
    again = {"tests.as_mac.darwin": "make test as on a Mac", "tests.as_mac.half": "make test in half precision"}
    makes = [again.get(line.rpartition(" -p ")[2], line) for line in told if line.startswith("make")]
    installed = " ".join(line for line in told if line.startswith("apt-get install"))
    assert {"python3-venv", "libegl1", "fonts-noto-cjk"} <= set(installed.split())
    if fails:
        assert makes[-1] == "make lint"
        assert done.returncode != 0
    else:
        assert makes == [
            "make run",
            "make test",
            "make lint",
            "make test as on a Mac",
            "make test in half precision",
            "make smoke",
            "make wheels",
            "make app",
        ]
        assert done.stdout.splitlines()[-3:] == ["3 passed in 1.0s"] * 3
        assert done.returncode == 0
