"""Settings → Models: has no options, but leads to the Models view."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.views.widgets.buttons import PillButton
from app.views.widgets.cards import Card, Page
from app.views.widgets.flow import Flow
from app.views.widgets.labels import TextLabel
from app.views.widgets.translated import Translated


class ModelLinksPage(Translated, Page):
    def __init__(self, theme: Theme, show: Callable[[str], object]) -> None:
        """`show` leads to a tab of the models."""
        super().__init__(theme)
        self.buttons = {"yours": PillButton(theme), "find": PillButton(theme)}
        self._where = TextLabel(theme)
        card = Card(theme)
        card.column.addWidget(self._where)
        buttons = QWidget()
        flow = Flow(buttons)
        for tab, button in self.buttons.items():
            flow.addWidget(button)
            button.clicked.connect(lambda _checked=False, tab=tab: show(tab))
        card.column.addWidget(buttons)
        self.column.addWidget(card)
        self.end()
        self._retranslate()

    def _retranslate(self) -> None:
        self._where.setText(self.tr("Models are in the sidebar of the main window."))
        self.buttons["yours"].setText(self.tr("Your models"))
        self.buttons["find"].setText(self.tr("Find models"))
