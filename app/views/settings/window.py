"""The settings window: a search and the list of pages on the left, the chosen page on the right.

During a search the list has the results; choosing one shows the page, highlights the control and focuses it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QCloseEvent, QResizeEvent
from PySide6.QtWidgets import QStackedWidget
from shiboken6 import isValid

from app.controllers.chat_options import ChatOptions
from app.controllers.machines import MachinesController
from app.controllers.models import ModelController
from app.controllers.server import ServerController
from app.controllers.tool_servers import ToolServersController
from app.controllers.tools import ToolsController
from app.settings import Settings
from app.system.paths import Paths
from app.theme import Theme
from app.views.settings.advanced import AdvancedPage
from app.views.settings.appearance import AppearancePage
from app.views.settings.general import GeneralPage
from app.views.settings.machines import MachinesPage
from app.views.settings.sampling import ChatCard, SamplingPage
from app.views.settings.search import Place, places, search
from app.views.settings.server import ServerPage
from app.views.settings.tools import ToolsPage
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import PillButton
from app.views.widgets.cards import Card, Page
from app.views.widgets.flow import Flow
from app.views.widgets.focus import OwnFindKey, put_in_tab_order
from app.views.widgets.labels import TextLabel, describe
from app.views.widgets.page_list import SIDE_PX, PageEntry, PagesSide
from app.views.widgets.side_window import SideWindow
from app.views.widgets.spotlight import Spotlight
from app.views.widgets.translated import Translated

_LIST_PX = 200
_LIST_GROWS_PX = 100
_PAGE_PX = 460
_PAGE_GROWS_PX = 80  # what the widest page needs at 100 %, and more at 200 %
_ICONS = {
    "general": "settings",
    "models": "box",
    "chat": "message-square",
    "appearance": "sun",
    "tools": "wrench",
    "server": "globe",
    "machines": "monitor",
    "advanced": "sliders-horizontal",
}


@dataclass(frozen=True, slots=True)
class SettingsParts:
    """What the pages show and change."""

    options: ChatOptions
    models: ModelController
    server: ServerController
    machines: MachinesController
    tools: ToolsController
    tool_servers: ToolServersController
    paths: Paths


class SettingsWindow(Translated, OwnFindKey, SideWindow):
    elsewhere_requested = Signal(str)  # another window's place: a tab of the models, activity

    def __init__(self, theme: Theme, settings: Settings, parts: SettingsParts) -> None:
        super().__init__(theme)
        models = parts.models
        self._settings = settings
        self.general = GeneralPage(theme, settings)
        self.sampling = SamplingPage(theme, settings, parts.options, lambda: models.pair)
        models.pair_changed.connect(self.sampling.show_words)
        self.chat = ChatCard(theme, settings)
        self.appearance = AppearancePage(theme, settings)
        self.server = ServerPage(theme, settings, parts.server)
        self.advanced = AdvancedPage(theme, settings, models, parts.paths)
        self.pages: dict[str, Page] = {
            "general": self.general,
            "models": ModelLinksPage(theme, self.elsewhere_requested.emit),
            "chat": self.sampling,
            "appearance": self.appearance,
            "tools": ToolsPage(theme, parts.tools, parts.tool_servers),
            "server": self.server,
            "machines": MachinesPage(theme, parts.machines, models),
            "advanced": self.advanced,
        }
        self.shown = "general"
        self._list_px = 0
        self._found: list[Place] | None = None  # None: the list has the pages
        self._stack = QStackedWidget()
        self._side = PagesSide(theme, self, self._stack)
        self.index = self._side.index
        self.search = self._side.search
        self.list = self._side.list
        self.nothing = self._side.nothing
        self._arrange()
        self._connect()
        self._restyle()
        self._retranslate()
        self.show_page("general")

    def _arrange(self) -> None:
        self.begin_with(1000, 680)
        self.restoreGeometry(QByteArray.fromBase64(self._settings.settings_geometry.encode()))
        self.sampling.column.insertWidget(1, self.chat)
        self.chat.stackUnder(self.sampling.first)  # where screen readers read it
        for page in self.pages.values():
            self._stack.addWidget(page)

    def _connect(self) -> None:
        self._theme.changed.connect(self._restyle)
        self.search.words_changed.connect(self._fill)
        self.search.words_changed.connect(self._side.say_found)
        self.search.returnPressed.connect(self._go_to_current)
        self.index.chosen.connect(self._choose)
        self.list.currentRowChanged.connect(self._on_row)
        self.list.itemClicked.connect(lambda _item: self._go_to_current())
        self.list.itemActivated.connect(lambda _item: self._go_to_current())

    def show_page(self, name: str) -> None:
        self.shown = name if name in self.pages else "general"
        page = self.pages[self.shown]
        if page is not self._stack.currentWidget():
            page.verticalScrollBar().setValue(0)
        self._stack.setCurrentWidget(page)
        self._select_shown()

    def _select_shown(self) -> None:
        row = list(self.pages).index(self.shown)
        self.index.set_value(row)
        if self._found is None:
            self.list.blockSignals(True)
            self.list.setCurrentRow(row)
            self.list.blockSignals(False)

    def _choose(self, row: int) -> None:
        """A page, whatever is searched for."""
        self.search.clear()
        self.show_page(list(self.pages)[row])

    def _on_row(self, row: int) -> None:
        if self._found is None and row >= 0:
            self.show_page(list(self.pages)[row])

    def places(self) -> list[Place]:
        """Everything that a search can lead to; also for the command palette."""
        pages = {name: page for name, page in self.pages.items() if name != "models"}
        return [*places(pages, self._titles()), *self._places_elsewhere()]

    def _places_elsewhere(self) -> list[Place]:
        """Places in other windows, for users who look for models or figures here."""
        title = self.tr("Models")
        here = self.list
        yours = self.tr("Installed, downloads, folders, deleting.")
        find = self.tr("Recommended models and search.")
        activity = self.tr("Activity")
        figures = self.tr("Speed-up, accept rate, tokens per second, statistics.")
        return [
            Place("yours", title, title, yours, 0, here, here),
            Place("find", title, self.tr("Find models"), find, 1, here, here),
            Place("activity", activity, self.tr("Requests and totals"), figures, 2, here, here),
        ]

    def _fill(self) -> None:
        query = self.search.words().strip()
        self._found = search(query, self.places()) if query else None
        if self._found is None:
            titles = self._titles()
            self.list.set_entries([PageEntry(titles[name], _ICONS[name]) for name in self.pages])
            self._select_shown()
        else:
            self.list.set_entries([PageEntry(each.name, "", each.page_title) for each in self._found])
            self.list.setCurrentRow(0 if self._found else -1)
        self.nothing.setVisible(self._found == [])
        self._fold()

    def _go_to_current(self) -> None:
        row = self.list.currentRow()
        if self._found is not None and 0 <= row < len(self._found):
            self.go_to(self._found[row])

    def go_to(self, place: Place) -> None:
        """Go to a place; if its widget was deleted meanwhile, only the page is shown."""
        if place.page not in self.pages:
            self.elsewhere_requested.emit(place.page)
            return
        self.come_to_front()
        self.show_page(place.page)
        if not (isValid(place.spot) and isValid(place.control)):
            return
        page = self.pages[place.page]
        card = place.spot.parentWidget()
        if isinstance(card, Card) and card.shown_by_search:
            card.show()
        if (content := page.widget()) is not None:
            content.adjustSize()
            page.ensureWidgetVisible(place.spot, 0, 60)
        place.control.setFocus(Qt.FocusReason.ShortcutFocusReason)
        Spotlight(self._theme, place.spot)

    def _titles(self) -> dict[str, str]:
        return {
            "general": self.tr("General"),
            "models": self.tr("Models"),
            "chat": self.tr("Chat"),
            "appearance": self.tr("Appearance"),
            "tools": self.tr("Tools"),
            "server": self.tr("Server"),
            "machines": self.tr("Other Macs"),
            "advanced": self.tr("Advanced"),
        }

    def _retranslate(self) -> None:
        self.setWindowTitle(self.tr("Settings"))
        describe(self.search, self.tr("Search"), self.tr("Search settings"))
        self.nothing.setText(self.tr("No results."))
        self.list.setAccessibleName(self.tr("Pages"))
        self.index.setAccessibleName(self.tr("Pages"))
        self.index.set_choices(list(enumerate(self._titles().values())))
        for name, title in self._titles().items():
            self.pages[name].title.setText(title)
        self._fill()

    def _restyle(self) -> None:
        self.setMinimumSize(self._page_px(), 420)
        self._fold()
        self.update()

    def _page_px(self) -> int:
        return round(_PAGE_PX + _PAGE_GROWS_PX * (self._theme.scale - 1))

    def _fold(self) -> None:
        """The list is as wide as the longest name of a page, which differs much between languages."""
        if self._found is None:
            names_px = self.list.words_width() + 2 * SIDE_PX
            self._list_px = max(round(_LIST_PX + _LIST_GROWS_PX * (self._theme.scale - 1)), names_px)
        narrow = self.width() < self._list_px + self._page_px()
        self._side.fold(narrow=narrow, list_px=self._list_px, finds=bool(self._found))

    def focusNextPrevChild(self, forward: bool) -> bool:
        put_in_tab_order(self.list, self.pages[self.shown])
        return super().focusNextPrevChild(forward)

    def begin_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._settings.settings_geometry = bytes(self.saveGeometry().toBase64().data()).decode()
        super().closeEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()


class ModelLinksPage(Translated, Page):
    """Settings → Models: has no options, but leads to the Models view."""

    def __init__(self, theme: Theme, show: Callable[[str], object]) -> None:
        """`show` leads to a tab of the models."""
        super().__init__(theme)
        self.buttons = {"yours": PillButton(theme), "find": PillButton(theme)}
        self._where = TextLabel(theme)
        card = Card(theme)
        arrange(card.column, self._where, Flow(None, *self.buttons.values()))
        for tab, button in self.buttons.items():
            button.clicked.connect(lambda _checked=False, tab=tab: show(tab))
        self.column.addWidget(card)
        self.end()
        self._retranslate()

    def _retranslate(self) -> None:
        self._where.setText(self.tr("Models are in the sidebar of the main window."))
        self.buttons["yours"].setText(self.tr("Your models"))
        self.buttons["find"].setText(self.tr("Find models"))
