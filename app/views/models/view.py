"""Models, in place of the chat: two tabs, what is here (*Yours*) and what can be had (*Find*)."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.settings import Settings
from app.theme import Theme
from app.views.models.find import DiscoverPanel
from app.views.models.yours import YoursPage
from app.views.widgets.arrange import arrange
from app.views.widgets.fields import Segments
from app.views.widgets.focus import OwnFindKey, in_reading_order
from app.views.widgets.translated import Translated

YOURS = "yours"
FIND = "find"


class ModelsView(Translated, OwnFindKey, QWidget):
    def __init__(
        self, theme: Theme, settings: Settings, models: ModelController, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.tabs = Segments(theme)
        self.yours = YoursPage(theme, settings, models)
        self.discover = DiscoverPanel(theme, models)
        self._pages: dict[str, QWidget] = {YOURS: self.yours, FIND: self.discover}
        self._stack = QStackedWidget()
        self._arrange()
        self.tabs.chosen.connect(lambda tab: self.show_tab(str(tab)))
        self.show_tab(YOURS)
        self._retranslate()

    def _arrange(self) -> None:
        strip = arrange(QHBoxLayout(), 1, self.tabs, 1, margins=(28, 4, 28, 4))
        for page in self._pages.values():
            self._stack.addWidget(page)
        arrange(QVBoxLayout(self), strip, (self._stack, 1), spacing=0, margins=(0, 0, 0, 0))

    @property
    def tab(self) -> str:
        return str(self.tabs.value)

    def show_tab(self, tab: str) -> None:
        self.tabs.set_value(tab)
        self._stack.setCurrentWidget(self._pages[tab])

    def take_focus(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        for button in self.tabs.buttons:
            button.clearFocus()  # Qt moved the focus here from the composer
        self.tabs.setFocus(reason)

    def tab_stops(self) -> list[QWidget]:
        """The tabs first, even when they are scrolled out of view."""
        chosen = (each for each in self.tabs.buttons if each.isChecked())
        return [self.tabs, *chosen, *in_reading_order(self._pages[self.tab])]

    def go_back(self) -> bool:
        """From a model's page to the list that it was opened from; False: there is nothing to go back from."""
        return self.tab == FIND and self.discover.go_back()

    def begin_search(self) -> None:
        self.show_tab(FIND)
        self.discover.focus_search()

    def _retranslate(self) -> None:
        self.setAccessibleName(self.tr("Models"))
        self.tabs.setAccessibleName(self.tr("Models"))
        self.tabs.set_choices([(YOURS, self.tr("Yours")), (FIND, self.tr("Find"))])
