"""From nothing to a fast pair, as a person does it: with the real app, its windows and the mouse, and a hub nearby.

The hub has the starter pair under the names of the pair that is recommended first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.application import STARTER, Application
from app.settings import Settings
from app.system.paths import Paths
from app.view_models.downloads import DownloadState
from app.view_models.model_list import DraftState, PairState
from app.views.settings.download_row import DownloadRow
from app.views.settings.model_row import ModelRow
from app.views.settings.recommended_card import OfferRow
from app.views.settings.window import SettingsWindow
from app.views.widgets.dialog import Dialog
from tests.helpers.tinyhub import Fault, TinyHub

OTHER = "org/Starter-DFlash"
HELD_BYTES = 200_000
PATIENCE_MS = 120_000


def model(name: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (STARTER / name).iterdir() if path.is_file()}


@pytest.fixture
def hub() -> Iterator[TinyHub]:
    hub = TinyHub()
    hub.add(OTHER, model("dflash"))
    yield hub
    hub.close()


class Person:
    """Looks at the windows, and has a mouse and a keyboard."""

    def __init__(self, folder: Path, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.application = Application(Paths.for_user(folder), starter=folder / "no-starter")
        with qtbot.waitSignal(self.application.opened, timeout=PATIENCE_MS):
            self.application.show()

    def wait(self, condition: Callable[[], object]) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=PATIENCE_MS)

    def click(self, widget: QWidget, place: QRect | None = None) -> None:
        """On what is in sight: a button that is hidden or covered cannot be clicked."""
        self.wait(widget.isVisible)
        QApplication.processEvents()
        at = place.center() if place is not None else QPoint(widget.width() // 2, widget.height() // 2)
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at)

    def settings(self, page: str) -> SettingsWindow:
        window = self.application.show_settings(page)
        assert window is not None
        return window

    def row(self) -> DownloadRow:
        """The one row of downloads."""
        self.wait(self._rows)
        (row,) = self._rows()
        return row

    def _rows(self) -> list[DownloadRow]:
        page = self.settings("models").models
        return [row for row in page.findChildren(DownloadRow) if row.isVisible()]

    def model_rows(self, name: str) -> list[ModelRow]:
        rows = self.settings("models").models.findChildren(ModelRow)
        return [row for row in rows if row.isVisible() and name in row.delete_button.accessibleName()]

    def ask(self, text: str) -> None:
        window = self.application.window
        QTest.keyClicks(window.composer.edit, text)
        QTest.keyClick(window.composer.edit, Qt.Key.Key_Return)
        self.wait(lambda: self.application.chats.generating or self.application.chats.transcript.messages)
        self.wait(lambda: not self.application.chats.generating and not self.application.storage.pending)

    def leave(self) -> None:
        self.application.window.close_at_once()
        self.application.translation.switch("en")
        QApplication.processEvents()
        for window in QApplication.topLevelWidgets():
            window.deleteLater()
        QApplication.processEvents()


@pytest.fixture
def come(tmp_path: Path, qtbot: QtBot, hub: TinyHub) -> Iterator[Callable[[], Person]]:
    """Starts the app, again and again with what it kept."""
    paths = Paths.for_user(tmp_path)
    settings = Settings(paths.settings, paths.hub_token)
    settings.language, settings.hub_endpoint = "en", hub.endpoint
    settings.main_folder = settings.draft_folder = ""
    settings.speculation_mode = "fixed"  # it drafts whatever this machine measures
    settings.save()
    here: list[Person] = []

    def start() -> Person:
        here.append(Person(tmp_path, qtbot))
        return here[-1]

    yield start
    if here and not here[-1].application.is_open:
        return
    here[-1].leave()


def test_a_pair_is_installed_used_changed_and_deleted(hub: TinyHub, come: Callable[[], Person], tmp_path: Path) -> None:
    person = come()
    offer = person.settings("models").models.recommended.findChildren(OfferRow)[0]
    main, draft = offer.offer.main, offer.offer.draft
    for repository, name in ((main, "main"), (draft, "draft")):
        hub.add(repository, model(name))
        # Both halves hold still in the middle, so that both are seen on their way.
        hub.faults[f"{repository}/model.safetensors"] = Fault(times=1, hold_after=HELD_BYTES)
    person.click(offer.install_button)
    row = person.row()
    assert row.name.text() == f"{main} + {draft}"
    downloads = person.application.models.downloads
    person.wait(lambda: downloads.entries[0].done_bytes > 2 * HELD_BYTES and downloads.entries[0].total_bytes)
    assert downloads.entries[0].state is DownloadState.RUNNING
    assert "of" in row.words.text()
    person.click(row.go_button)
    person.wait(lambda: row.words.text().startswith("Paused"))
    person.leave()

    person = come()
    row = person.row()
    assert row.name.text() == f"{main} + {draft}"
    person.wait(lambda: row.words.text().startswith("Paused"))
    person.click(row.go_button)
    person.wait(row.use_button.isVisible)
    assert row.words.text() == "Installed"
    ranged = [seen for seen in hub.requests_for("model.safetensors") if "Range" in seen.headers]
    assert len(ranged) == 2  # each half went on where it was
    person.click(row.use_button)
    pair = person.application.models
    person.wait(lambda: pair.pair.state is PairState.READY and pair.pair.draft_state is DraftState.ACTIVE)
    person.wait(lambda: not downloads.entries or not person._rows())

    person.ask("What is a draft model?")
    stats = person.application.chats.transcript.messages[-1].stats
    assert stats is not None
    assert stats.generated_tokens > 0
    assert 0 < stats.accepted <= stats.drafted
    assert person.application.chats.requests.rows[0].stats == stats  # what Settings → Speculation shows

    page = person.settings("models").models
    page.install.repository.setText(OTHER)
    person.click(page.install.install_button)
    row = person.row()
    person.wait(row.use_button.isVisible)
    person.click(row.use_button)
    person.wait(
        lambda: pair.pair.draft_folder.endswith("Starter-DFlash") and pair.pair.draft_state is DraftState.ACTIVE
    )

    page = person.settings("models").models
    person.wait(lambda: person.model_rows("Starter-DFlash"))  # a layout shows new rows a little later
    person.click(person.model_rows("Starter-DFlash")[0].delete_button)
    box = next(each for each in page.findChildren(Dialog) if each.isVisible())
    person.click(box.act_button)
    person.wait(lambda: not (tmp_path / "data" / "models" / OTHER).exists())
    person.wait(lambda: pair.pair.draft_state is DraftState.NONE)
    assert pair.pair.state is PairState.READY
