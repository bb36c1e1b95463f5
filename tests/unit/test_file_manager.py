"""A file or folder is shown, and never opened or started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QProcess, QUrl
from PySide6.QtGui import QDesktopServices

from app.system.file_manager import reveal


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    result: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: result.append(QUrl(url).toLocalFile()))
    monkeypatch.setattr(QProcess, "startDetached", lambda *command: result.append(repr(command)))
    return result


def test_on_a_mac_any_folder_is_shown(opened: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    (tmp_path / "x.app").mkdir()
    reveal(str(tmp_path / "x.app"))
    assert opened == [repr(("/usr/bin/open", ["-R", str(tmp_path / "x.app")]))]


@pytest.mark.parametrize("platform", ["darwin", "linux"])
def test_of_what_is_not_there_any_more_the_folder_is_shown_that_is(
    opened: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    reveal(tmp_path / "moved" / "chats.md")
    assert opened == [repr(("/usr/bin/open", ["-R", str(tmp_path)])) if platform == "darwin" else str(tmp_path)]


def test_elsewhere_a_folder_is_shown_or_that_of_a_file(
    opened: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "chats.md").write_text("x")
    reveal(tmp_path)
    reveal(tmp_path / "chats.md")
    assert opened == [str(tmp_path)] * 2
