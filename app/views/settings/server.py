"""Settings → Server: other programs use the loaded models; who may ask, and how they are connected."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.controllers.server import LAST_PORT, ServerController
from app.settings import Settings
from app.theme import Theme
from app.views.settings.connect_card import ConnectCard, CopyButton
from app.views.settings.options import Kept
from app.views.widgets.buttons import ChoiceButton, PillButton
from app.views.widgets.cards import Card, Page, Row
from app.views.widgets.fields import LineField, Switch, WholeField
from app.views.widgets.flow import Flow
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.translated import Translated
from app.words.formats import fill, listed
from app.words.server import is_port_problem, state_words

_FIRST_PORT = 1024
_PORT_PX, _KEY_PX = 110, 260
_KEPT_MINUTES = (5, 15, 60, 240)


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
        self._on_row = Row(theme, self.on)
        self._another_row = Row(theme, self.another)
        self._address_row = Row(theme, self.copy_address)
        self._port_row = Row(theme, self.port)
        self._key_row = Row(theme, self.key)
        self._key_buttons = QWidget()
        self._network_row = Row(theme, self.in_network)
        self._name_row = Row(theme, self.any_name)
        self._others_row = Row(theme, self.others)
        self._note = TextLabel(theme, TextStyle.FINE)
        self._arrange()
        self._connect()
        self._retranslate()

    def _arrange(self) -> None:
        self.key.setReadOnly(True)
        self.key.setEchoMode(LineField.EchoMode.Password)
        self.key.setMinimumWidth(_KEY_PX)
        buttons = Flow(self._key_buttons)
        for button in (self.show_key, self.copy_key, self.new_key, self.remove_key):
            buttons.addWidget(button)
        main, access = Card(self.theme), Card(self.theme)
        main.add(self._on_row)
        main.column.addWidget(self._another_row)
        for row in (self._address_row, self._port_row, self._others_row):
            main.add(row)
        access.add(self._key_row)
        access.column.addWidget(self._key_buttons)
        for row in (self._network_row, self._name_row):
            access.add(row)
        self.column.addWidget(main)
        self.column.addWidget(self._note)
        self._connect_heading = self.add_heading()
        self.column.addWidget(self.connect_card)
        self._access_heading = self.add_heading()
        self.column.addWidget(access)
        self.end()

    def _connect(self) -> None:
        server, settings = self._server, self._settings
        self.on.chosen.connect(server.set_on)
        self.another.clicked.connect(server.try_another_port)
        Kept(settings, "server_port", self.port)
        self.in_network.chosen.connect(server.set_in_network)
        Kept(settings, "server_any_name", self.any_name)
        Kept(settings, "server_keep_min", self.others)
        self.show_key.clicked.connect(lambda: self._show_in_clear(self.key.echoMode() == LineField.EchoMode.Password))
        self.new_key.clicked.connect(server.make_key)
        self.remove_key.clicked.connect(server.remove_key)
        server.changed.connect(self._show)

    def _show_in_clear(self, clear: bool) -> None:
        self.key.setEchoMode(LineField.EchoMode.Normal if clear else LineField.EchoMode.Password)
        self.connect_card.show_key(clear)
        self._show()

    def _show(self) -> None:
        server, settings = self._server, self._settings
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
        server, port = self._server, self._settings.server_port
        self._on_row.set_words(
            self.tr("Server for other programs"), state_words(server.state, server.reached.address, port)
        )
        self._another_row.setVisible(is_port_problem(server.state))
        self.another.setText(fill(self.tr("Use %1"), str(server.other_port)))
        self.another.updateGeometry()
        self._another_row.set_words(self.tr("Another port"))
        self._address_row.set_words(self.tr("Address"), listed(server.reached.address, server.network_address))

    def _show_key(self) -> None:
        key = self._settings.server_key
        self.key.setText(key)
        self.key.setCursorPosition(0)
        self._key_row.set_words(
            self.tr("Key"),
            self.tr("Programs without it are refused.") if key else self.tr("None: any program on this Mac may ask."),
        )
        self.key.setVisible(bool(key))
        for button in (self.show_key, self.copy_key, self.remove_key):
            button.setVisible(bool(key))
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
            self.tr("Always the loaded one."),
        )
        self._others_row.set_words(
            self.tr("Load other models for programs"),
            self.tr("While you are not chatting; unloaded when idle this long. Your next message brings yours back."),
        )
        self._note.setText(self.tr("Programs never see chats, files or settings. Your messages come first."))
        self._show()
