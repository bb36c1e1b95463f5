"""An app that runs from a mount: it copies itself to Applications, whole or not at all, and ends for the copy."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QProcess
from pytestqt.qtbot import QtBot

from app import application
from app.system.bundle import copy_to, is_mounted, own_bundle, start
from app.views.shell.start_notices import MoveOffer
from tests.helpers.app_harness import AppHarness


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    bundle = tmp_path / "Volumes" / "Hunch" / "Hunch.app"
    (bundle / "Contents" / "MacOS").mkdir(parents=True)
    (bundle / "Contents" / "MacOS" / "Hunch").write_text("new")
    (bundle / "Contents" / "link").symlink_to("MacOS")
    return bundle


def test_which_app_runs(bundle: Path) -> None:
    assert own_bundle(str(bundle / "Contents" / "MacOS" / "Hunch")) == bundle
    assert own_bundle("/usr/bin/python3") is None
    assert not is_mounted(bundle)  # the disk of the tests can be written


@pytest.mark.parametrize(
    ("place", "flags", "is_offered"),
    [
        ("private/var/folders/T/AppTranslocation/0-1/d", os.ST_RDONLY, True),  # as a browser left it
        ("Volumes/Hunch", os.ST_RDONLY, True),
        ("Volumes/Disk/Apps", 0, False),
        ("Applications", os.ST_RDONLY, False),
    ],
)
def test_where_a_place_is_offered(monkeypatch: pytest.MonkeyPatch, place: str, flags: int, is_offered: bool) -> None:
    monkeypatch.setattr("app.system.bundle.os.statvfs", lambda _: SimpleNamespace(f_flag=flags))
    assert is_mounted(Path("/") / place / "Hunch.app") == is_offered


def test_the_offer_is_made_at_the_start(harness: AppHarness, monkeypatch: pytest.MonkeyPatch, bundle: Path) -> None:
    monkeypatch.setattr(application, "own_bundle", lambda: bundle)
    application.offer_to_move(harness.application)
    assert not harness.window.findChildren(MoveOffer)
    monkeypatch.setattr("app.system.bundle.os.statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    application.offer_to_move(harness.application)
    assert harness.window.banner.title.text() == "Move Hunch to Applications?"


def test_a_copy_takes_the_place_of_an_older_one(bundle: Path, tmp_path: Path) -> None:
    folder = tmp_path / "Applications"
    (folder / "Hunch.app").mkdir(parents=True)
    (folder / "Hunch.app" / "old").touch()
    target = copy_to(folder, bundle)
    assert (target / "Contents" / "MacOS" / "Hunch").read_text() == "new"
    assert (target / "Contents" / "link").is_symlink()
    assert list(folder.iterdir()) == [target]
    assert not (target / "old").exists()


def test_the_mark_of_a_download_goes_first(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the thread that copies: for thousands of files it takes a while."""
    folder, tool = tmp_path / "Applications", tmp_path / "xattr"
    folder.mkdir()
    tool.write_text(f'#!/bin/sh\nls -A "{folder}" > "{tmp_path}/seen"; echo "$@" >> "{tmp_path}/seen"\n')
    tool.chmod(0o755)
    monkeypatch.setattr("app.system.bundle._XATTR", str(tool))
    monkeypatch.setattr("sys.platform", "darwin")
    copy_to(folder, bundle)
    seen = (tmp_path / "seen").read_text().splitlines()
    assert seen == [".new-Hunch.app", f"-dr com.apple.quarantine {folder}/.new-Hunch.app"]


def test_a_copy_is_started_beside_this_app(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = list[tuple[object, ...]]()
    monkeypatch.setattr(QProcess, "startDetached", lambda *command: started.append(command))
    monkeypatch.setattr("sys.platform", "darwin")
    start(bundle)
    assert started == [("/usr/bin/open", ["-n", str(bundle)])]


@pytest.mark.expect_log("not put into Applications")
def test_it_is_moved_or_that_is_refused(harness: AppHarness, qtbot: QtBot, bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    parts = harness.window
    MoveOffer(parts, harness.application.calls.post, harness.close, bundle, tmp_path / "a file")
    harness.window.banner.button.click()
    qtbot.waitUntil(lambda: "Finder" in harness.window.banner.sentence.text())
    assert harness.window.isVisible()

    harness.window.banner.close_button.click()
    folder, ended = tmp_path / "Applications", list[bool]()
    folder.mkdir()
    MoveOffer(parts, harness.application.calls.post, lambda: ended.append(True), bundle, folder)
    assert "Applications" in harness.window.banner.title.text()
    harness.window.banner.button.click()
    qtbot.waitUntil(lambda: bool(ended))
    assert (folder / "Hunch.app").is_dir()
