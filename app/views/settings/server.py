"""Settings → Server: other programs use the loaded models; who may ask, and how they are connected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent, QTextCursor
from PySide6.QtWidgets import QWidget

from app.controllers.server import LAST_PORT, ServerController
from app.settings import Settings
from app.theme import Theme
from app.views.settings.options import OptionRow
from app.views.widgets import clipboard
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import ChoiceButton, PillButton
from app.views.widgets.cards import Card, Page, SettingRow
from app.views.widgets.fields import LineField, Switch, WheelPasses, WholeField, take_typed
from app.views.widgets.flow import Flow
from app.views.widgets.labels import TextLabel, TextStyle, say
from app.views.widgets.long_text import FramedText
from app.views.widgets.translated import Translated
from app.words.clients import CLIENTS, lack_of
from app.words.formats import fill, listed, sentences
from app.words.model_names import human_name
from app.words.server import is_port_problem, key_missing_words, state_words

_FIRST_PORT = 1024
_PORT_PX = 110
_KEY_PX = 260
_KEPT_MINUTES = (5, 15, 60, 240)
_COPIED_MS = 1400
_SPARE_PX = FramedText.MARGIN_PX + 2  # Qt scrolls by a line where less than a margin is left below the last one
_HIDDEN = "••••••••"


class ServerPage(Translated, Page):
    def __init__(self, theme: Theme, settings: Settings, server: ServerController) -> None:
        super().__init__(theme)
        self._settings = settings
        self._server = server
        self.on, self.in_network, self.any_name = (Switch(theme) for _ in range(3))
        self.others = ChoiceButton(theme)
        self.another = PillButton(theme)
        self.copy_address = CopyButton(theme, lambda: server.reached.address)
        self.port = WholeField(theme, _FIRST_PORT, LAST_PORT, _PORT_PX)
        self.key = LineField(theme)
        self.show_key, self.new_key, self.remove_key = (PillButton(theme) for _ in range(3))
        self.copy_key = CopyButton(theme, lambda: settings.server_key)
        self.connect_card = ConnectCard(theme, server)
        self.on_row = SettingRow(theme, self.on)
        self.another_row = SettingRow(theme, self.another)
        self._address_row = SettingRow(theme, self.copy_address)
        self._port_row = OptionRow(theme, settings, "server_port", self.port)
        self._key_row = SettingRow(theme, self.key)
        self._key_buttons = QWidget()
        self._network_row = SettingRow(theme, self.in_network)
        self._name_row = OptionRow(theme, settings, "server_any_name", self.any_name)
        self._others_row = OptionRow(theme, settings, "server_keep_min", self.others)
        self._note = TextLabel(theme, TextStyle.FINE)
        self._arrange()
        self._connect()
        self._retranslate()

    def _arrange(self) -> None:
        self.key.setReadOnly(True)
        self.key.setEchoMode(LineField.EchoMode.Password)
        self.key.setMinimumWidth(_KEY_PX)
        Flow(self._key_buttons, self.show_key, self.copy_key, self.new_key, self.remove_key)
        main = Card(self.theme)
        access = Card(self.theme)
        main.add(self.on_row)
        main.column.addWidget(self.another_row)
        main.add(self._address_row, self._port_row, self._others_row)
        access.add(self._key_row)
        access.column.addWidget(self._key_buttons)
        access.add(self._network_row, self._name_row)
        arrange(self.column, main, self._note)
        self._connect_heading = self.add_heading()
        self.column.addWidget(self.connect_card)
        self._access_heading = self.add_heading()
        self.column.addWidget(access)
        self.end()

    def _connect(self) -> None:
        server = self._server
        self.on.chosen.connect(server.set_on)
        self.another.clicked.connect(server.try_another_port)
        self.in_network.chosen.connect(server.set_in_network)
        self.show_key.clicked.connect(lambda: self._show_in_clear(self.key.echoMode() == LineField.EchoMode.Password))
        self.new_key.clicked.connect(server.make_key)
        self.remove_key.clicked.connect(server.remove_key)
        server.changed.connect(self._show)

    def _show_in_clear(self, clear: bool) -> None:
        self.key.setEchoMode(LineField.EchoMode.Normal if clear else LineField.EchoMode.Password)
        self.connect_card.show_key(clear)
        self._show()

    def _show(self) -> None:
        server = self._server
        settings = self._settings
        for switch, on in ((self.on, server.is_on), (self.in_network, settings.server_in_network)):
            switch.set_value(on)
        self._show_others()
        self._show_state()
        self._show_key()

    def _show_others(self) -> None:
        minutes = self._settings.server_keep_min
        choices = sorted({*_KEPT_MINUTES, minutes} - {0})
        self.others.set_choices([(0, self.tr("Off")), *((n, self.tr("%Ln minute(s)", "", n)) for n in choices)])

    def _show_state(self) -> None:
        server = self._server
        port = self._settings.server_port
        state = state_words(server.state, server.reached.address, port, on=server.is_on)
        self.on_row.set_words(self.tr("Server for other programs"), state)
        self.another_row.setVisible(is_port_problem(server.state))
        self.another.setText(fill(self.tr("Use %1"), str(server.other_port)))
        self.another.updateGeometry()
        self.another_row.set_words(self.tr("Another port"))
        self._address_row.set_words(self.tr("Address"), listed(server.reached.address, server.network_address))

    def _show_key(self) -> None:
        key = self._settings.server_key
        self.key.setText(key)
        self.key.setCursorPosition(0)
        if key:
            self._key_row.set_words(self.tr("Key"), self.tr("Programs without it are refused."))
        elif self._settings.server_has_key:
            self._key_row.set_words(self.tr("Key"), key_missing_words())
        else:
            self._key_row.set_words(self.tr("Key"), self.tr("No key. Any program on this Mac can connect."))
        for widget in (self.key, self.show_key, self.copy_key):
            widget.setVisible(bool(key))
        self.remove_key.setVisible(self._settings.server_has_key)
        hidden = self.key.echoMode() == LineField.EchoMode.Password
        self.show_key.setText(self.tr("Show") if hidden else self.tr("Hide"))
        self._key_buttons.updateGeometry()

    def _retranslate(self) -> None:
        self._connect_heading.setText(self.tr("Connect"))
        self._access_heading.setText(self.tr("Access"))
        self._port_row.set_words(self.tr("Port"))
        self.new_key.setText(self.tr("New key"))
        self.remove_key.setText(self.tr("Remove"))
        self._network_row.set_words(
            self.tr("Other machines in this network"),
            self.tr("They need the key. Not encrypted: others can read along."),
        )
        self._name_row.set_words(
            self.tr("Answer to any model name"),
            self.tr("Unknown ones mean the model that you chose."),
        )
        self._others_row.set_words(
            self.tr("Load other models for programs"),
            self.tr("Only while you are not chatting. Unloads after this long."),
        )
        self._note.setText(self.tr("Programs never see chats, files or settings. Your messages come first."))
        self._show()


class CopyButton(Translated, PillButton):
    """Says for a moment that it has copied."""

    def __init__(self, theme: Theme, text: Callable[[], str]) -> None:
        super().__init__(theme, icon_name="copy")
        self._timer = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._timer.timeout.connect(self._retranslate)
        self._text = text
        self.clicked.connect(self._copy)
        self._retranslate()

    def _copy(self) -> None:
        take_typed(self.window())  # another port, say
        clipboard.copy(self._text(), self)
        self._timer.start()
        self._retranslate()

    def _retranslate(self) -> None:
        copied = self._timer.isActive()
        self.set_icon("check" if copied else "copy")
        self.setText(self.tr("Copied") if copied else self.tr("Copy"))
        self.updateGeometry()


class ConnectCard(Translated, Card):
    """What to run or to paste so that another program uses the server, and whether the model can serve that."""

    def __init__(self, theme: Theme, server: ServerController) -> None:
        super().__init__(theme)
        self._server = server
        self._shows_key = False
        self.client = ChoiceButton(theme)
        self.client.set_choices([(key, client.name) for key, client in CLIENTS.items()])
        self.client.set_value(next(iter(CLIENTS)))
        self.text = PastedText(theme, self)
        self.copy_button = CopyButton(theme, self.pasted)
        self.note = TextLabel(theme, TextStyle.FINE)
        self._client_row = SettingRow(theme, self.client)
        button = (self.copy_button, 0, Qt.AlignmentFlag.AlignLeft)
        arrange(self.column, self._client_row, self.note, self.text, button)
        self.client.chosen.connect(lambda _client: self._retranslate())
        server.changed.connect(self._retranslate)
        self._retranslate()

    def pasted(self) -> str:
        return CLIENTS[str(self.client.value)].text(self._server.reached)

    def show_key(self, shown: bool) -> None:
        self._shows_key = shown
        self._retranslate()

    def _retranslate(self) -> None:
        client = CLIENTS[str(self.client.value)]
        reached = self._server.reached
        place = client.place(reached)
        if reached.key and reached.key not in client.text(reached):
            place = sentences(place, self.tr("Enter the key there as well."))
        self._client_row.set_words(self.tr("Connect a program"), place)
        hidden = bool(reached.key) and not self._shows_key
        self.text.show_text(client.text(replace(reached, key=_HIDDEN) if hidden else reached))
        self.text.setAccessibleName(self.tr("Text to paste"))
        lack = lack_of(client, reached)
        say(self.note, sentences(lack, self._way_out()) if lack else "")

    def _way_out(self) -> str:
        name, is_installed = self._server.model_for_agents
        if is_installed:
            return fill(self.tr("%1 is installed and can serve it."), human_name(name))
        return fill(self.tr("%1 can serve it: see Models."), human_name(name)) if name else ""


class PastedText(WheelPasses, FramedText):
    """As high as its text."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def show_text(self, text: str) -> None:
        text = text.removesuffix("\n")
        if text != self.text():
            self.set_text(text)
            self.moveCursor(QTextCursor.MoveOperation.Start)
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _restyle(self) -> None:
        super()._restyle()
        self._fit()

    def _fit(self) -> None:
        block = self.document().firstBlock()
        height = 0.0
        while block.isValid():
            height += self.blockBoundingRect(block).height()
            block = block.next()
        self.setFixedHeight(ceil(height) + _SPARE_PX)
        self.verticalScrollBar().setValue(0)
