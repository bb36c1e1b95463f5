"""Every page with small and with large text: no two cards touch."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.views.widgets.cards import Card
from tests.helpers.app_harness import open_app
from tests.helpers.samples import fair
from tests.helpers.window_pages import PAGES, SETTINGS_PAGES

_LEAST_PX = 6
_LEAVE_THE_CHAT = ("empty chat", "trash reading", "editor")


def touching(shown: QWidget) -> list[tuple[str, str, int]]:
    """Pairs of cards, none of which is inside the other, with less than that between them."""
    cards = [card for card in shown.findChildren(Card) if card.isVisibleTo(shown) and not card.visibleRegion().isNull()]
    places = {card: QRect(card.mapTo(shown, QPoint()), card.size()) for card in cards}
    found = []
    for first, second in combinations(cards, 2):
        if first.isAncestorOf(second) or second.isAncestorOf(first):
            continue
        around = places[first].adjusted(-_LEAST_PX, -_LEAST_PX, _LEAST_PX, _LEAST_PX)
        if around.intersects(places[second]):
            gap = max(places[second].top() - places[first].bottom(), places[first].top() - places[second].bottom()) - 1
            found.append((type(first).__name__, type(second).__name__, gap))
    return found


@pytest.mark.parametrize("scale", fair([0.85, 2.0], 2.0))
def test_cards_stand_apart(tmp_path: Path, qtbot: QtBot, scale: float) -> None:
    with open_app(tmp_path, qtbot) as app:
        app.ask(qtbot, "1 + 1?")
        app.application.settings.text_scale = scale
        app.window.resize(1120, 900)
        QApplication.processEvents()
        with_cards = set[str]()
        for name in [each for each in PAGES if each not in _LEAVE_THE_CHAT]:
            shown = PAGES[name](app)
            shown.grab()  # lays out what has just come
            assert touching(shown) == [], name
            if shown.findChildren(Card):
                with_cards.add(name)
            for window in QApplication.topLevelWidgets():
                if window is not app.window and window.isVisible():
                    window.close()
        assert {"models, yours", "models, find", *SETTINGS_PAGES} <= with_cards
