"""Settings → Models: has no options, but links to the Models view."""

from __future__ import annotations

from collections.abc import Callable

from app.theme import Theme
from app.views.widgets.buttons import PillButton
from app.views.widgets.cards import Card, Page, SettingRow
from app.views.widgets.translated import Translated


class ModelLinksPage(Translated, Page):
    def __init__(self, theme: Theme, show: Callable[[str], object]) -> None:
        """`show` leads to a tab of the models."""
        super().__init__(theme)
        self.buttons = {tab: PillButton(theme) for tab in ("yours", "find")}
        self._rows = {tab: SettingRow(theme, button) for tab, button in self.buttons.items()}
        card = Card(theme)
        for tab, button in self.buttons.items():
            card.add(self._rows[tab])
            button.clicked.connect(lambda _checked=False, tab=tab: show(tab))
        self.column.addWidget(card)
        self.end()
        self._retranslate()

    def _retranslate(self) -> None:
        self._rows["yours"].set_words(self.tr("Your models"), self.tr("Models are in the sidebar of the main window."))
        self._rows["find"].set_words(self.tr("Find models"), self.tr("Recommended models and search."))
        for button in self.buttons.values():
            button.setText(self.tr("Open"))
