"""When the picker is shown, and what follows from a choice in it. Not here: the picker itself (`picker.py`)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

from app.controllers.models import ModelController
from app.theme import Theme
from app.views.shell.picker import Picker
from app.views.widgets.banner import BannerText
from app.words.formats import fill

if TYPE_CHECKING:
    from app.views.shell.main_window import MainWindow


class PickerWiring(QObject):
    """The picker is made when it is first opened, and kept up to date while it is open."""

    speculation_chosen = Signal(str, int)  # mode, tokens

    def __init__(self, window: MainWindow, theme: Theme) -> None:
        super().__init__(window)
        self._window, self._theme = window, theme
        self._models: ModelController | None = None
        self._filled_for: object = None  # what of the pair was shown last

    def bind(self, models: ModelController) -> None:
        self._models = models
        models.models_changed.connect(self._refresh)
        models.main_waits.connect(lambda name: self._show_wait(models, name))

    def _show_wait(self, models: ModelController, name: str) -> None:
        """Another model was chosen, or none (""), while a reply is written."""
        loads = self.tr("A reply is being written. %1 is loaded when it ends.")
        unloads = self.tr("A reply is being written. The model is unloaded when it ends.")

        def text() -> BannerText:
            return BannerText(fill(loads, name) if name else unloads, button=self.tr("Don't wait"))

        banner = self._window.banner
        banner.show_info(text, models.switch_now)
        once = Qt.ConnectionType.SingleShotConnection
        models.wait_ended.connect(lambda: banner.withdraw(text), once)

    @cached_property
    def panel(self) -> Picker:
        window, models, picker = self._window, self._models, Picker(self._theme, self._window)
        assert models is not None
        picker.main_chosen.connect(models.choose_main)
        picker.draft_chosen.connect(lambda folder: models.choose_draft(folder or None))
        picker.check_requested.connect(models.check_pair)
        picker.eject_requested.connect(models.eject)
        picker.models_requested.connect(lambda: window.settings_requested.emit("models"))
        picker.search_requested.connect(window.draft_search_requested)
        picker.tuning_requested.connect(lambda: window.settings_requested.emit("speculation"))
        picker.speculation.chosen.connect(self.speculation_chosen)
        return picker

    def open(self) -> None:
        """With what is known; meanwhile models may have come or gone by other programs."""
        if self._models is not None:
            self._fill(self._models)
            self.panel.open_under(self._window.header.chip)
            self._models.refresh()

    def show_pair(self) -> None:
        """Anew only where the lists say something else.

        MEASURED: filling them takes 70 ms with 200 models, and a load tells a hundred steps.
        """
        if self._models is not None and self._part_of_pair(self._models) != self._filled_for:
            self._refresh()

    def _refresh(self) -> None:
        if "panel" in vars(self) and self._models is not None and self.panel.isVisible():
            self._fill(self._models)

    def _part_of_pair(self, models: ModelController) -> object:
        pair, chats = models.pair, self._window.chats
        drafting = None
        if chats is not None:
            drafting = chats.options.pair_here(pair).speculation, chats.options.has_own_speculation
        return pair.main_folder, pair.draft_folder, pair.state, drafting

    def _fill(self, models: ModelController) -> None:
        self._filled_for = self._part_of_pair(models)
        self.panel.show_models(models.models, models.drafts_for_main(), models.pair)
        if self._window.chats is not None:
            options = self._window.chats.options
            drafting = options.pair_here(models.pair).speculation
            self.panel.speculation.set_values(drafting.mode, drafting.tokens, only_here=options.has_own_speculation)
