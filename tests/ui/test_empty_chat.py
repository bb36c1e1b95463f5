"""What a chat without messages offers: questions of the starter pair, and the best pair for this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale, QPoint, QRect
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.controllers import library
from app.view_models.downloads import DownloadState
from app.view_models.installed_list import PairOffer
from app.view_models.model_list import PairState
from app.views.shell.chat_settings import ChatSettings
from app.views.shell.empty_chat import EmptyChat
from app.views.widgets.labels import TextLabel
from app.words.model_names import human_name
from engine import TYPICAL_OF_KIND, HubSilence, HubUnreachable, PredictedGain
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import MAIN
from tests.helpers.figures import read


@pytest.fixture
def harness(tmp_path: Path, qtbot: QtBot) -> Iterator[AppHarness]:
    with open_app(tmp_path, qtbot, with_starter=True) as harness:
        yield harness


@pytest.fixture
def empty(harness: AppHarness) -> EmptyChat:
    return harness.window.empty_chat


def best(harness: AppHarness) -> PairOffer:
    return harness.models.library.offers(QLocale().name())[0]


def test_the_best_pair_is_installed_by_one_click_and_offered_again_when_that_failed(
    harness: AppHarness, empty: EmptyChat, qtbot: QtBot
) -> None:
    offer = best(harness)
    assert empty.install_button.isVisible()
    assert human_name(offer.main_name) in empty.install_button.accessibleName()
    assert human_name(offer.main_name) in empty.offer_reason.text()
    for half in (offer.main, offer.draft):
        harness.store.failures[half] = HubUnreachable(half, "https://hub.test", "", HubSilence.NAME)
    empty.install_button.click()
    (entry,) = harness.models.downloads.entries
    assert entry.repositories == (offer.main, offer.draft)
    qtbot.waitUntil(lambda: harness.models.downloads.entries[0].state is DownloadState.FAILED)
    assert empty.install_button.isVisible()


def test_what_is_on_its_way_says_how_far_can_be_held_and_is_used_from_here_when_it_is_there(
    harness: AppHarness, empty: EmptyChat, qtbot: QtBot
) -> None:
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


def test_what_runs_is_shown_before_what_is_paused(
    harness: AppHarness, empty: EmptyChat, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted: list[None] = []
    monkeypatch.setattr(EmptyChat, "_fit", lambda _self: fitted.append(None))
    harness.models.models_changed.emit()
    assert not fitted, "and for nothing else"
    harness.store.gate.hold()
    downloads = harness.models.downloads
    downloads.pause(downloads.install("org/First"))
    downloads.install("org/Second")
    qtbot.waitUntil(lambda: [each.state for each in downloads.entries][:1] == [DownloadState.PAUSED])
    qtbot.waitUntil(lambda: "Second" in " ".join(label.text() for label in empty.download.findChildren(TextLabel)))
    assert fitted, "it is laid out anew for what has changed"
    harness.store.gate.open()


def test_nothing_is_worked_out_for_what_is_not_shown(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finding the best pair takes ten milliseconds, and making the panel of a chat's settings twenty."""
    asked: list[str] = []

    def offers(_catalog: object, language: str, *_: object, **__: object) -> Sequence[PairOffer]:
        asked.append(language)
        return []

    monkeypatch.setattr(library, "pair_offers", offers)
    with open_app(tmp_path, qtbot) as harness:
        harness.ask(qtbot, "Hello")
        assert asked == []
        assert not harness.window.findChildren(ChatSettings)
        harness.models.delete(MAIN.folder)
        qtbot.waitUntil(lambda: bool(asked))
        assert harness.models.pair.state is PairState.NO_MODEL


def test_in_a_low_window_the_card_is_in_sight_and_nothing_moves_when_this_machine_has_been_measured(
    harness: AppHarness, empty: EmptyChat, qtbot: QtBot
) -> None:
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

    harness.ask(qtbot, "Hello")
    harness.window.resize(720, 480)
    harness.application.settings.text_scale = 2.0
    QApplication.processEvents()
    harness.chats.new_chat()
    for _ in range(5):  # layouts in layouts come round one after the other
        QApplication.processEvents()
    viewport, card = empty.viewport(), empty.card
    assert viewport.rect().contains(QRect(card.mapTo(viewport, QPoint()), card.size()))

    harness.application.settings.text_scale = 2.0
    harness.window.resize(760, 700)
    qtbot.waitUntil(lambda: empty.width() <= 760 and empty.questions[0].width() > 300)
    places = []
    for letters in range(1, 60):  # of some name the last line is just full
        for predicted in (None, PredictedGain(1.8, TYPICAL_OF_KIND)):
            empty._pair = replace(best(harness), main_name="a" * letters, predicted=predicted)
            empty._describe_offer()
            for _ in range(5):  # layouts in layouts come round one after the other
                QApplication.processEvents()
            places.append((empty.offer_reason.height(), empty.questions[0].y(), empty.install_button.y()))
    assert places[::2] == places[1::2]
