"""On a Mac, a Hunch that a tool installed offers once to become an app."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app import application
from app.application import offer_app
from app.system import bundle
from app.views.shell.start_notices import AppOffer
from app.views.widgets.banner import BannerText
from tests.helpers.app_harness import AppHarness


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bundle, "_IS_MAC", True)
    monkeypatch.setattr(application, "home_applications", lambda: tmp_path / "Applications")
    monkeypatch.setattr(application, "is_in_applications", (tmp_path / "Applications").exists)
    monkeypatch.setattr(bundle, "ROOT", tmp_path)
    return tmp_path


def test_it_is_offered_once_and_written(harness: AppHarness, qtbot: QtBot, home: Path) -> None:
    offer_app(harness.application)
    banner = harness.window.banner
    assert banner.title.text() == "Add Hunch to your Applications?"
    offer_app(harness.application)
    assert len(harness.window.findChildren(AppOffer)) == 1
    banner.show_info(lambda: BannerText("Chat deleted"))  # it is offered only once, so this does not drop it
    banner.close_button.click()
    assert banner.title.text() == "Add Hunch to your Applications?"
    harness.application.settings.reset_all()
    assert harness.application.settings.app_offered
    banner.button.click()
    qtbot.waitUntil(lambda: banner.sentence.text().startswith("Hunch is in"))
    assert (home / "Applications" / "Hunch.app" / "Contents" / "Info.plist").is_file()


@pytest.mark.expect_log("not put into Applications")
def test_elsewhere_no_offer(harness: AppHarness, qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_offered() -> bool:
        offer_app(harness.application)
        return bool(harness.window.findChildren(AppOffer)) or harness.application.settings.app_offered

    monkeypatch.setattr(bundle, "_IS_MAC", False)
    assert not is_offered()
    monkeypatch.setattr(bundle, "_IS_MAC", True)
    (home / "pyproject.toml").touch()  # a checkout
    assert not is_offered()
    (home / "pyproject.toml").unlink()
    (home / "Applications").mkdir()
    assert not is_offered()

    (home / "Applications").rmdir()
    offer_app(harness.application)
    (home / "Applications").touch()  # a file
    harness.window.banner.button.click()
    qtbot.waitUntil(lambda: harness.window.banner.title.text() == "Hunch was not added")
