"""The command line beside running: the version, and the Hunch.app of a Hunch that a tool installed."""

from __future__ import annotations

import plistlib
import subprocess
import sys
from pathlib import Path

import pytest

from app import __main__ as command_line
from app.system import bundle
from app.system.build import own_version
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


def test_it_takes_the_place_of_an_older_one_and_a_refusal_leaves_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["--version"]) == 0
    assert capsys.readouterr().out == f"Hunch {own_version()}\n"


def test_this_repository_is_a_checkout() -> None:
    assert (ROOT / "pyproject.toml").is_file()
    assert not bundle.can_write_app()
