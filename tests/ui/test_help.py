"""About with the licences, and diagnostics that hold nothing of the user's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.views.shell.help_menu import LicencesDialog, ReportDialog, redacted
from app.views.widgets.dialog import Dialog
from tests.helpers.app_harness import AppHarness, open_app

SECRET = "zebra"


@pytest.fixture
def app(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppHarness]:
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "anna"))
    with open_app(tmp_path, qtbot) as harness:
        yield harness


def test_diagnostics_hold_nothing_of_the_user(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, f"What is a {SECRET}?")
    settings = app.application.settings
    settings.system_prompt = settings.hub_proxy = settings.hub_endpoint = f"http://{SECRET}"
    settings.hub_mirrors, settings.model_folders = (f"http://{SECRET}",), (f"/{SECRET}",)
    settings.presets = ({"id": "1", "name": SECRET, "values": {}},)
    settings.hub_token, settings.server_key = f"token-{SECRET}", f"key-{SECRET}"
    settings.temperature, settings.motion = 0.3, "off"
    settings.recent_models = (f"/Volumes/{SECRET}/Qwen",)
    log = f"a {Path.home()}/Models/Qwen, sent token-{SECRET}\ncould not load /Volumes/{SECRET}/Qwen\n"
    (app.paths.logs / "hunch.log").write_text(log, "utf-8")
    (app.paths.logs / "earlier-crash.log").write_text("Fatal Python error: Segmentation fault\n", "utf-8")
    QGuiApplication.clipboard().clear()
    app.window.menu.copy_diagnostics.trigger()
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() != "")
    text = QGuiApplication.clipboard().text()
    assert SECRET not in text
    assert "anna" not in text
    for told in (
        "Hunch 0.",
        "temperature = 0.3",
        "motion = off",
        "Segmentation fault",
        "a ~/Models/Qwen, sent …",
        "load Qwen",
    ):
        assert told in text
    app.window.banner.button.click()
    (dialog,) = app.window.findChildren(ReportDialog)
    qtbot.waitUntil(lambda: "Segmentation fault" in dialog.text.text())

    dialog.close()

    app.application.help.show_licences().close()
    qtbot.waitUntil(lambda: not app.window.findChildren(LicencesDialog))
    with qtbot.waitSignal(app.window.banner.appeared):
        app.window.menu.copy_diagnostics.trigger()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/Users/anna/x", "~/x"),
        ('File "/home/anna/.venv/a.py"', 'File "~/.venv/a.py"'),
        ("token hf_abcdefghij", "token …"),
        ("/opt/homebrew", "/opt/homebrew"),
    ],
)
def test_homes_and_tokens_are_hidden(line: str, told: str) -> None:
    assert redacted(line, [], []) == told


def test_about_leads_to_the_licences_of_all_that_is_shipped(app: AppHarness, qtbot: QtBot) -> None:
    app.window.menu.about.trigger()
    (about,) = app.window.findChildren(Dialog)
    assert about.title.text().startswith("Hunch 0.")
    assert "MLX 0." in about.detail.text()
    about.other_button.click()
    (dialog,) = app.window.findChildren(LicencesDialog)
    qtbot.waitUntil(lambda: "Apache License" in dialog.text.text())
