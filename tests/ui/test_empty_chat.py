"""What a chat without messages offers: questions of the starter pair, and the best pair for this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from pytestqt.qtbot import QtBot

from app.view_models.downloads import DownloadState
from app.view_models.installed_list import PairOffer
from app.views.shell.empty_chat import EmptyChat
from app.words.model_names import human_name
from engine import HubSilence, HubUnreachable
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.figures import read
from tests.helpers.stillness import still


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[AppHarness]:
    with open_app(tmp_path, qtbot, with_starter=True) as harness:
        yield harness


@pytest.fixture
def empty(harness: AppHarness) -> EmptyChat:
    return harness.window.empty_chat


def best(harness: AppHarness) -> PairOffer:
    return harness.models.library.offers(QLocale().name())[0]


def test_the_best_pair_is_offered_until_it_is_installed(harness: AppHarness, empty: EmptyChat, qtbot: QtBot) -> None:
    offer = best(harness)
    assert empty.install_button.isVisible()
    assert human_name(offer.main_name) in empty.install_button.accessibleName()
    assert human_name(offer.main_name) in empty.offer_reason.text()
    harness.window.resize(harness.window.minimumSize())
    harness.application.settings.text_scale = 2.0
    still()
    assert (empty.offer_reason.isVisible(), empty.questions[0].isVisible()) == (True, False)
    for half in (offer.main, offer.draft):
        harness.store.failures[half] = HubUnreachable(half, "https://hub.test", "", HubSilence.NAME)
    empty.install_button.click()
    (entry,) = harness.models.downloads.entries
    assert entry.repositories == (offer.main, offer.draft)
    qtbot.waitUntil(lambda: harness.models.downloads.entries[0].state is DownloadState.FAILED)
    assert empty.install_button.isVisible()


def test_a_pair_on_its_way_is_shown_held_and_used(harness: AppHarness, empty: EmptyChat, qtbot: QtBot) -> None:
    offer, ring = best(harness), harness.window.sidebar.downloads
    assert not ring.isVisible()
    harness.store.gate.hold()
    empty.install_button.click()
    qtbot.waitUntil(lambda: empty.download.isVisible() and ring.isVisible())
    assert human_name(offer.main) in empty.download.name.text()
    assert offer.main in empty.download.name.toolTip()
    assert not empty.offer.isVisible()
    assert not empty.install_button.isVisible()
    assert empty.offer_button.isVisible()
    empty.download.go_button.click()
    qtbot.waitUntil(lambda: empty.download.words.text().startswith("Paused"))
    assert read(ring.accessibleName()).startswith("Downloads paused at")
    empty.download.go_button.click()
    harness.store.gate.open()
    qtbot.waitUntil(lambda: not ring.isVisible())
    qtbot.waitUntil(lambda: empty.install_button.text() == "Use both" and empty.install_button.isVisible())
    assert empty.offer_reason.text() == f"{human_name(offer.main_name)} and its draft are installed."
    empty.install_button.click()
    qtbot.waitUntil(lambda: harness.models.pair.main_name == offer.main_name)


def test_in_a_low_window_the_card_is_in_sight(harness: AppHarness, empty: EmptyChat, qtbot: QtBot) -> None:
    def foot() -> int:
        return empty.install_button.mapTo(empty.viewport(), empty.install_button.rect().bottomLeft()).y()

    harness.window.resize(720, 480)
    qtbot.waitUntil(lambda: empty.install_button.isVisible() and foot() < empty.viewport().height())
    assert empty.questions[0].isVisible()
    harness.application.settings.text_scale = 1.3
    qtbot.waitUntil(lambda: not empty.questions[2].isVisible())
    harness.application.settings.text_scale = 2.0
    qtbot.waitUntil(lambda: foot() < empty.viewport().height())
    assert empty.questions[0].isVisible()
    harness.application.settings.text_scale = 1.0
    harness.window.resize(1200, 900)
    qtbot.waitUntil(lambda: empty.mark.isVisible() and all(each.isVisible() for each in empty.questions))
