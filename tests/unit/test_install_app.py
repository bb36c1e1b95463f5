"""The command line beside running: the version, and the Hunch.app of a Hunch that a tool installed."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app import __main__ as command_line
from app import application
from app.system import bundle, bundle_files
from app.system.build import own_version
from app.system.logs import earlier_crash, put_aside
from tests.architecture.project import ROOT


def test_an_app_is_written_that_starts_this_python(tmp_path: Path) -> None:
    python = tmp_path / "it's here" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    app = bundle.write_app(tmp_path / "Applications", str(python))
    contents = app / "Contents"
    info = plistlib.loads((contents / "Info.plist").read_bytes())
    assert (info["CFBundleName"], info["CFBundleVersion"]) == ("Hunch", own_version())
    assert (contents / "MacOS" / info["CFBundleExecutable"]).stat().st_mode & 0o111 == 0o111
    assert (contents / "Resources" / "Hunch.icns").read_bytes().startswith(b"icns")
    assert (contents / "Resources" / "zh-Hans.lproj").is_dir()
    launcher = contents / "MacOS" / "Hunch"
    tell = "-c 'import os, sys; print(sys.argv[1:], os.environ[\"CFProcessPath\"])'"
    launcher.write_text(launcher.read_text("utf-8").replace("-I -m app", tell), "utf-8")
    told = subprocess.run([launcher, "--a", "b c"], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == f"['--a', 'b c'] {launcher}"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """With stand-ins for what only macOS has: what a window would say is in the file `said`."""
    home = tmp_path / "home"
    home.mkdir()
    command(home / "osascript", 'printf "%s\\n" "$@" > "$(dirname "$0")/said"')
    command(home / "defaults", 'cat "$(dirname "$0")/languages"')
    return home


def command(path: Path, line: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return path


def started(app: Path, home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    alert = app / "Contents" / "Resources" / "alert.sh"
    alert.write_text(alert.read_text("utf-8").replace("/usr/bin/", f"{home}/"), "utf-8")
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], **more}
    run = [str(app / "Contents" / "MacOS" / "Hunch"), *arguments]
    return subprocess.run(run, env=environment, capture_output=True, text=True, check=False)


SAID = {
    '(\n    "fr-FR",\n    "ko-KR",\n    "en-US"\n)': "Hunch가 더 이상 설치되어 있지 않아요",
    '(\n    "zh-Hans-CN"\n)': "Hunch 已不在这台 Mac 上",
    "(\n    ja\n)": "Hunch はもうインストールされていません",
    "": "Hunch is no longer installed",
}


def test_where_the_tool_is_gone_the_app_says_so_in_the_users_language(tmp_path: Path, home: Path) -> None:
    python = command(tmp_path / "tool" / "python", "exit 0")
    app = bundle.write_app(tmp_path / "Applications", str(python))
    python.unlink()
    for languages, title in SAID.items():
        (home / "languages").write_text(languages)
        assert started(app, home).returncode == 1
        *_, shown, sentence = (home / "said").read_text("utf-8").splitlines()
        assert shown == title
        assert "hunch --install-app" in sentence


def test_no_python_of_this_folder_is_started(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = command(tmp_path / "tool" / "python", "exit 0")
    app = bundle.write_app(tmp_path / "Applications", str(python))
    python.unlink()
    command(tmp_path / "here" / "python", "echo another one")
    monkeypatch.chdir(tmp_path / "here")
    (home / "languages").write_text("")
    assert started(app, home).stdout == ""
    assert (home / "said").exists()


def test_a_tool_that_was_installed_elsewhere_since_then_is_started(tmp_path: Path, home: Path) -> None:
    answers = 'case "$2" in -c) exit 0 ;; *) echo "$@" ;; esac'
    former, new = tmp_path / "former", tmp_path / "new tool" / "bin"
    python = command(former / "python", 'echo "the former one"')
    tool = command(former / "hunch", "")
    app = bundle.write_app(tmp_path / "Applications", str(python))
    assert started(app, home).stdout == "the former one\n"
    tool.unlink()  # the Python it ran with stays
    command(new / "python", answers)
    (home / ".local" / "bin").mkdir(parents=True)
    (home / ".local" / "bin" / "hunch").symlink_to(command(new / "hunch", ""))
    assert started(app, home, "--quick-ask").stdout == "-I -m app --quick-ask\n"
    command(new / "python", "exit 1")  # another program of that name
    assert started(app, home).returncode == 1
    assert (home / "said").exists()


@pytest.fixture
def assembled(tmp_path: Path) -> Path:
    """Without a Python in it."""
    app = tmp_path / "Hunch.app"
    (app / "Contents" / "MacOS").mkdir(parents=True)
    source, made = ROOT / "packaging" / "mac" / "launcher.c", app / "Contents" / "MacOS" / "Hunch"
    subprocess.run(["cc", '-DPYTHON_VERSION="3.13"', source, "-o", made, "-ldl"], check=True)
    bundle_files.write(app, "1")
    return app


@pytest.mark.skipif(shutil.which("cc") is None, reason="it is compiled")
def test_an_assembled_app_that_is_damaged_says_so(assembled: Path, home: Path) -> None:
    assert started(assembled, home, "ask", "What?").returncode == 1
    assert not (home / "said").exists()  # somebody reads the terminal, or a program does
    assert started(assembled, home).returncode == 1
    assert "Hunch cannot start" in (home / "said").read_text("utf-8")


PYTHON = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
void *Py_DecodeLocale() { return 0; }
void Py_SetPythonHome() {}
static int begun;
int Py_IsInitialized() { return begun; }
int Py_BytesMain(int count) {
    if (getenv("INCOMPLETE")) exit(1);
    begun = 1;
    if (getenv("PLACE")) puts((const char *)getauxval(AT_EXECFN));
    if (getenv("STATUS")) return atoi(getenv("STATUS"));
    return count - 3;
}
"""
for_linux = pytest.mark.skipif(
    shutil.which("cc") is None or sys.platform != "linux", reason="it is compiled, for Linux"
)


@pytest.fixture
def with_python(assembled: Path, home: Path) -> Path:
    """One that ends with the status that it is told to."""
    source, library = home / "python.c", assembled / "Contents/Resources/python/lib/libpython3.13.so.1.0"
    source.write_text(PYTHON)
    library.parent.mkdir(parents=True)
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
    (home / "languages").write_text("")
    return assembled


@for_linux
def test_an_assembled_app_ends_with_the_exit_status_of_its_python(with_python: Path, home: Path) -> None:
    """By which scripts tell a refusal from a command that nothing understands."""
    assert started(with_python, home).returncode == 2
    assert started(with_python, home, "ask").returncode == 3


@for_linux
def test_by_a_link_an_app_starts_at_its_own_place(with_python: Path, home: Path) -> None:
    """By which macOS takes the process for the app."""
    place, link = with_python / "Contents" / "MacOS" / "Hunch", home / "hunch"
    link.symlink_to(place)
    told = subprocess.run([link, "ask", "a b"], env={"PLACE": "1"}, capture_output=True, text=True, check=False)
    assert (told.stdout, told.returncode) == (f"{place}\n", 4)


@for_linux
def test_an_app_that_ends_with_an_error_says_how_and_where_its_report_is(with_python: Path, home: Path) -> None:
    (home / "languages").write_text("ko")
    started(with_python, home)
    assert "Hunch가 오류로 종료됐어요\n종료 상태는 2이고, 보고서는 남지" in (home / "said").read_text("utf-8")
    report = home / "Library/Logs/Hunch/crash.log"
    report.parent.mkdir(parents=True)
    report.write_text("ValueError")
    started(with_python, home)
    assert "상태는 2이고, 보고서는 ~/Library/Logs/Hunch/crash.log에" in (home / "said").read_text("utf-8")
    os.utime(report, (1, 1))  # of another day
    started(with_python, home)
    assert "보고서는 남지 않았어요" in (home / "said").read_text("utf-8")


@for_linux
def test_an_app_whose_python_misses_its_own_modules_is_damaged(with_python: Path, home: Path) -> None:
    assert started(with_python, home, INCOMPLETE="1").returncode == 1
    assert "Hunch cannot start" in (home / "said").read_text("utf-8")
    (home / "said").unlink()
    assert started(with_python, home, STATUS="0").returncode == 0
    assert not (home / "said").exists()


def test_every_alert_is_there_in_every_language() -> None:
    files = [ROOT / "resources" / "alerts" / f"{each}.txt" for each in bundle_files.LANGUAGES]
    lines = [[line.split("|") for line in each.read_text("utf-8").splitlines()] for each in files]
    names = [[(name, sentence.count("%1")) for name, _title, sentence in each] for each in lines]
    assert names == [[("gone", 0), ("damaged", 0), ("ended", 1), ("silent", 1)]] * len(files)


def test_a_start_that_fails_leaves_a_report_without_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise ValueError("secret")

    monkeypatch.setattr(application, "run", fail)
    with pytest.raises(ValueError, match="secret"):
        command_line.main(["--profile-dir", str(tmp_path)])
    report = (tmp_path / "logs" / "crash.log").read_text("utf-8")
    assert report.startswith("ValueError\n  ")
    assert "secret" not in report
    put_aside(tmp_path / "logs")
    assert report.strip() in earlier_crash(tmp_path / "logs")


def test_it_takes_the_place_of_an_older_one_or_leaves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = bundle.write_app(tmp_path) / "old"
    old.touch()

    def fail(*_: object) -> None:
        raise OSError(28, "full")

    with monkeypatch.context() as patch:
        patch.setattr("app.system.bundle_files.write", fail)
        with pytest.raises(OSError, match="full"):
            bundle.write_app(tmp_path)
    assert old.exists()
    bundle.write_app(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["Hunch.app"]
    assert not old.exists()


@pytest.mark.parametrize("what", ["another", "empty", "file", "link"])
def test_an_app_of_the_same_name_that_is_not_hunch_stays(tmp_path: Path, what: str) -> None:
    there = tmp_path / "Hunch.app"
    info = there / "Contents" / "Info.plist"
    if what == "file":
        there.touch()
    elif what == "link":
        there.symlink_to(tmp_path / "gone")
    else:
        info.parent.mkdir(parents=True)
    if what == "another":
        info.write_bytes(plistlib.dumps({"CFBundleIdentifier": "com.example.hunch"}))
    with pytest.raises(FileExistsError, match="another app"):
        bundle.write_app(tmp_path)
    assert info.exists() == (what == "another")
    assert list(tmp_path.iterdir()) == [there]


def test_the_command_is_for_a_mac_and_an_installed_hunch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["--version"]) == 0
    assert capsys.readouterr().out == f"Hunch {own_version()}\n"
    assert command_line.main(["--install-app", str(tmp_path)]) == 1
    monkeypatch.setattr(bundle, "_IS_MAC", True)
    assert command_line.main(["--install-app", str(tmp_path)]) == 1  # a checkout
    assert list(tmp_path.iterdir()) == []
    assert "uv tool or pipx" in capsys.readouterr().err
    monkeypatch.setattr(bundle, "ROOT", tmp_path)
    assert command_line.main(["--install-app", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'Hunch.app'}\n"
    (tmp_path / "file").touch()
    assert command_line.main(["--install-app", str(tmp_path / "file")]) == 1
    assert "cannot be written" in capsys.readouterr().err
