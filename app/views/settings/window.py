"""The settings window: a list of pages at the left, the chosen one at the right. A page's content is its own file's."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.controllers.speculation import SpeculationParts
from app.settings import Settings
from app.theme import Theme
from app.views.settings.discover import DiscoverPanel
from app.views.settings.general import GeneralPage
from app.views.settings.models import ModelsPage
from app.views.settings.sampling import SamplingPage
from app.views.settings.speculation import SpeculationPage
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Page
from app.views.widgets.translated import Translated

_LIST_WIDTH, _LIST_SIDE_PX = 190, 10
_LEAST_WIDTH, _LEAST_WIDTH_GROWS = 640, 160  # what the widest page needs at 100 %, and more at 200 %
_ICONS = {
    "general": "settings",
    "models": "box",
    "discover": "search",
    "speculation": "zap",
    "sampling": "sliders-horizontal",
}


class SettingsWindow(Translated, QWidget):
    def __init__(
        self,
        theme: Theme,
        settings: Settings,
        chats: ChatController,
        models: ModelController,
        speculation: SpeculationParts,
    ) -> None:
        super().__init__()
        self._theme = theme
        self.general = GeneralPage(theme, settings)
        self.models = ModelsPage(theme, settings, models)
        self.discover = DiscoverPanel(theme, models)
        self.discover.shown_for_download.connect(lambda: self.show_page("models"))
        self.speculation = SpeculationPage(theme, settings, models, chats.requests, speculation)
        self.sampling = SamplingPage(theme, settings)
        self._pages: dict[str, Page | DiscoverPanel] = {
            "general": self.general,
            "models": self.models,
            "discover": self.discover,
            "speculation": self.speculation,
            "sampling": self.sampling,
        }
        self._tabs = {name: PageButton(theme, _ICONS[name]) for name in self._pages}
        self._stack = QStackedWidget()
        self._list = QWidget()
        self._arrange()
        theme.changed.connect(self._restyle)
        self._restyle()
        self._retranslate()
        self.show_page("general")

    def _arrange(self) -> None:
        self.resize(960, 680)
        group = QButtonGroup(self)
        column = QVBoxLayout(self._list)
        column.setContentsMargins(_LIST_SIDE_PX, 16, _LIST_SIDE_PX, 10)
        column.setSpacing(2)
        for name, tab in self._tabs.items():
            group.addButton(tab)
            column.addWidget(tab)
            tab.clicked.connect(lambda _checked=False, name=name: self.show_page(name))
            self._stack.addWidget(self._pages[name])
        column.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._list)
        row.addWidget(self._stack, 1)

    def show_page(self, name: str) -> None:
        name = name if name in self._pages else "general"
        self._tabs[name].setChecked(True)
        self._stack.setCurrentWidget(self._pages[name])

    def _retranslate(self) -> None:
        self.setWindowTitle(self.tr("Settings"))
        titles = {
            "general": self.tr("General"),
            "models": self.tr("Models"),
            "discover": self.tr("Find models"),
            "speculation": self.tr("Speculation"),
            "sampling": self.tr("Sampling"),
        }
        for name, title in titles.items():
            self._tabs[name].setText(title)
            self._pages[name].title.setText(title)
        self._fit_list()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        close_keys = event.key() == Qt.Key.Key_W and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_Escape or close_keys:
            self.close()
        else:
            super().keyPressEvent(event)

    def _restyle(self) -> None:
        self.setMinimumSize(round(_LEAST_WIDTH + _LEAST_WIDTH_GROWS * (self._theme.scale - 1)), 420)
        self._fit_list()
        self.update()

    def _fit_list(self) -> None:
        """As wide as the longest name of a page, which differs much between languages."""
        names_px = max(tab.sizeHint().width() for tab in self._tabs.values()) + 2 * _LIST_SIDE_PX
        self._list.setFixedWidth(max(round(_LIST_WIDTH * (1 + (self._theme.scale - 1) * 0.5)), names_px))

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors = self._theme.palette
        painter = QPainter(self)
        painter.fillRect(self.rect(), colors.window)
        painter.fillRect(self._list.geometry(), colors.sidebar)
        painter.end()


class PageButton(PillButton):
    """One page's name in the list; stays tinted while its page is shown."""

    def __init__(self, theme: Theme, icon_name: str) -> None:
        super().__init__(theme, Emphasis.QUIET, icon_name)
        self.left_aligned = True
        self.setCheckable(True)

    def paint_content(self, painter: QPainter) -> None:
        if self.isChecked():
            self.fill(painter, self.theme.palette.hover)
        super().paint_content(painter)
