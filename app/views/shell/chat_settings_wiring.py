"""When a chat's settings are shown: by a key, or a button behind the pair chip that tells whether the chat differs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHBoxLayout

from app.controllers.chat import ChatController
from app.controllers.models import ModelController
from app.theme import Theme
from app.views.shell.chat_settings import ChatSettings
from app.views.widgets.buttons import IconButton
from app.views.widgets.translated import Translated

if TYPE_CHECKING:
    from app.views.shell.main_window import MainWindow

SHORTCUT = "Ctrl+Alt+,"
_DOT_PX = 6


class SettingsButton(Translated, IconButton):
    """With a dot where the chat asks for anything otherwise than the settings."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "sliders-horizontal")
        self._differs = False
        self._retranslate()

    def set_differs(self, differs: bool) -> None:
        self._differs = differs
        self._retranslate()
        self.update()

    def _retranslate(self) -> None:
        self.set_name(self.tr("Chat settings (changed here)") if self._differs else self.tr("Chat settings"))

    def paint_content(self, painter: QPainter) -> None:
        super().paint_content(painter)
        if self._differs:
            side = self.theme.px(_DOT_PX)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.palette.ink)
            painter.drawEllipse(QRectF(self.width() - side - 3, 3, side, side))


class ChatSettingsWiring(QObject):
    """The panel is made when it is first opened, and holds the values that apply only while it is."""

    def __init__(self, window: MainWindow, theme: Theme) -> None:
        super().__init__(window)
        self._window, self._theme = window, theme
        self.button = SettingsButton(theme)
        self.action = window.menu.add("chat", SHORTCUT)
        header = window.header.layout()
        assert isinstance(header, QHBoxLayout)
        header.insertWidget(header.indexOf(window.header.chip) + 1, self.button)
        window.header.let_give_way(self.button)
        self.button.clicked.connect(self.toggle)
        self.action.triggered.connect(self.toggle)
        self._allow(False)
        window.language_changed.connect(self._retranslate)
        window.resized.connect(self._follow_button)
        self._retranslate()

    def bind(self, chats: ChatController, models: ModelController) -> None:
        self._options, self._models = chats.options, models
        chats.options.changed.connect(self.show)
        chats.chat_left.connect(lambda _chat_id: self._close())  # what is being typed is that chat's
        models.pair_changed.connect(self.show)
        chats.current_chat_changed.connect(lambda _chat_id, _title: self._allow(not chats.reading.chat_id))
        self._allow(True)
        self.show()

    def _allow(self, allowed: bool) -> None:
        """Not for a chat that is read in the Trash: nothing of it changes there."""
        self.button.setEnabled(allowed)
        self.action.setEnabled(allowed)

    @cached_property
    def panel(self) -> ChatSettings:
        options, panel = self._options, ChatSettings(self._theme, self._window)
        panel.focus_before.otherwise = self._window.composer.take_focus
        panel.put_requested.connect(options.put)
        panel.drop_requested.connect(lambda scope, names: options.drop(scope, *names))
        panel.scope_changed.connect(self.show)
        panel.opened.connect(lambda opened: None if opened else options.keep())
        panel.presets.chosen.connect(options.choose_preset)
        panel.presets.saved.connect(options.save_preset)
        panel.presets.updated.connect(options.update_preset)
        panel.presets.renamed.connect(options.rename_preset)
        panel.presets.deleted.connect(options.delete_preset)
        return panel

    def toggle(self) -> None:
        if not self._is_open:
            self._show_values()
        self.panel.toggle(self.button)

    def show(self) -> None:
        if self._is_open:
            self._show_values()
        self.button.set_differs(self._options.differs)

    @property
    def _is_open(self) -> bool:
        """Also while the window itself is hidden."""
        return "panel" in vars(self) and not self.panel.isHidden()

    def _show_values(self) -> None:
        self.panel.show_options(self._options.view(self.panel.scope), self._models.pair.main_name)

    def _close(self) -> None:
        if self._is_open:
            self.panel.hide()

    def _follow_button(self) -> None:
        if self._is_open:
            self.panel.open_under(self.button)

    def _retranslate(self) -> None:
        self.action.setText(self.tr("Chat Settings…"))
