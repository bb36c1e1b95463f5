"""Settings → Server: other programs use the loaded models; who may ask, and how they are connected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QTextEdit, QWidget

from app.client_files.client_file import Proposal
from app.controllers.server import LAST_PORT, ServerController
from app.settings import Settings
from app.theme import Theme
from app.views.settings.options import Kept
from app.views.widgets import clipboard
from app.views.widgets.buttons import ChoiceButton, PillButton
from app.views.widgets.cards import Card, Page, Row
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.fields import LineField, Switch, WheelPasses, WholeField
from app.views.widgets.flow import Flow
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.long_text import FramedText
from app.views.widgets.translated import Translated
from app.words.clients import CLIENTS, path_words, refusal_words, written_words
from app.words.formats import fill, listed, sentences
from app.words.server import is_port_problem, state_words

_FIRST_PORT = 1024
_PORT_PX, _KEY_PX = 110, 260
_KEPT_MINUTES = (5, 15, 60, 240)
_COPIED_MS = 1400
_SPARE_PX = FramedText.MARGIN_PX + 2  # Qt scrolls by a line where less than a margin is left below the last one
_HIDDEN = "••••••••"
_FILE_WIDTH_PX = 620
_MOST_FILE_LINES = 16  # in sight at once
_STRENGTH = 36  # of the ground of lines that come or go, of 255


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
        self.on_row = Row(theme, self.on)
        self.another_row = Row(theme, self.another)
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
        main.add(self.on_row)
        main.column.addWidget(self.another_row)
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
        self.on_row.set_words(
            self.tr("Server for other programs"), state_words(server.state, server.reached.address, port)
        )
        self.another_row.setVisible(is_port_problem(server.state))
        self.another.setText(fill(self.tr("Use %1"), str(server.other_port)))
        self.another.updateGeometry()
        self.another_row.set_words(self.tr("Another port"))
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


class CopyButton(Translated, PillButton):
    """Says for a moment that it has copied."""

    def __init__(self, theme: Theme, text: Callable[[], str]) -> None:
        super().__init__(theme, icon_name="copy")
        self._timer = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._timer.timeout.connect(self._retranslate)
        self.clicked.connect(lambda: self._copy(text()))
        self._retranslate()

    def _copy(self, text: str) -> None:
        clipboard.copy(text, self)
        self._timer.start()
        self._retranslate()

    def _retranslate(self) -> None:
        copied = self._timer.isActive()
        self.set_icon("check" if copied else "copy")
        self.setText(self.tr("Copied") if copied else self.tr("Copy"))
        self.updateGeometry()


class ConnectCard(Translated, Card):
    """What to paste into another program so that it uses the server."""

    def __init__(self, theme: Theme, server: ServerController) -> None:
        super().__init__(theme)
        self._server = server
        self._files = server.client_files
        self._shows_key = False
        self._dialog: ClientFileDialog | None = None
        self.client = ChoiceButton(theme)
        self.client.set_choices([(key, client.name) for key, client in CLIENTS.items()])
        self.client.set_value(next(iter(CLIENTS)))
        self.text = PastedText(theme, self)
        self.copy_button = CopyButton(theme, self.pasted)
        self.write_button, self.undo_button = (PillButton(theme) for _ in range(2))
        self.note = TextLabel(theme, TextStyle.FINE)
        self._client_row = Row(theme, self.client)
        foot = QWidget()
        buttons = Flow(foot)
        for button in (self.copy_button, self.write_button, self.undo_button):
            buttons.addWidget(button)
        for widget in (self._client_row, self.text, foot, self.note):
            self.column.addWidget(widget)
        self.client.chosen.connect(lambda _client: self._retranslate())
        self.write_button.clicked.connect(lambda: self._files.propose(self._key, server.reached))
        self.undo_button.clicked.connect(self._undo)
        self._files.proposed.connect(self._ask)
        self._files.changed.connect(self._on_file)
        server.changed.connect(self._retranslate)
        self._retranslate()

    @property
    def _key(self) -> str:
        """Of the chosen client."""
        return str(self.client.value)

    def pasted(self) -> str:
        return CLIENTS[self._key].text(self._server.reached)

    def show_key(self, shown: bool) -> None:
        self._shows_key = shown
        self._retranslate()

    def _ask(self, client: str, proposal: Proposal) -> None:
        """The user sees what changes, and says whether it does."""
        if client != self._key or self._dialog is not None:
            return
        lines, key = proposal.lines, self._server.reached.key
        if key and not self._shows_key:
            lines = [line.replace(key, _HIDDEN) for line in lines]
        is_new = proposal.former is None
        dialog = self._dialog = ClientFileDialog(self.theme, self, path_words(proposal.path), lines, is_new)
        dialog.accepted.connect(lambda: self._files.write(client, proposal))
        dialog.finished.connect(self._forget_dialog)
        dialog.open()

    def _forget_dialog(self) -> None:
        self._dialog = None

    def _undo(self) -> None:
        self.write_button.setFocus(Qt.FocusReason.OtherFocusReason)  # the other button goes
        self._files.undo(self._key)

    def _on_file(self, client: str) -> None:
        self._retranslate()
        if client == self._key and self._note():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self._note()))

    def _note(self) -> str:
        """What became of the file."""
        path, written = self._files.path(self._key), self._files.written(self._key)
        if path is None:
            return ""
        if (why := self._files.refused(self._key)) is not None:
            return refusal_words(why, path)
        return "" if written is None else written_words(written)

    def _show_file(self) -> None:
        path, note = self._files.path(self._key), self._note()
        self.write_button.setVisible(path is not None)
        self.write_button.setText("" if path is None else fill(self.tr("Write to %1…"), path.name))
        self.undo_button.setVisible(self._files.written(self._key) is not None)
        self.undo_button.setText(self.tr("Undo"))
        self.note.setText(note)
        self.note.setVisible(bool(note))
        for button in (self.write_button, self.undo_button):
            button.updateGeometry()

    def _retranslate(self) -> None:
        client, reached = CLIENTS[self._key], self._server.reached
        place = client.place(reached)
        if reached.key and reached.key not in client.text(reached):
            place = sentences(place, self.tr("Enter the key there as well."))
        self._client_row.set_words(self.tr("Connect a program"), place)
        hidden = bool(reached.key) and not self._shows_key
        self.text.show_text(client.text(replace(reached, key=_HIDDEN) if hidden else reached))
        self.text.setAccessibleName(self.tr("Text to paste"))
        self._show_file()


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
        block, height = self.document().firstBlock(), 0.0
        while block.isValid():
            height += self.blockBoundingRect(block).height()
            block = block.next()
        self.setFixedHeight(ceil(height) + _SPARE_PX)
        self.verticalScrollBar().setValue(0)


class ClientFileDialog(Dialog):
    """`accepted`: it may be written. `path`: as the user knows it."""

    def __init__(self, theme: Theme, parent: QWidget, path: str, lines: list[str], is_new: bool) -> None:
        super().__init__(theme, parent, lambda: self._words(path, is_new), width_px=_FILE_WIDTH_PX)
        self.lines = FramedText(theme, self)
        self.content.addWidget(self.lines)
        self._arrange_lines(lines)
        theme.changed.connect(self._restyle)
        self._restyle()

    def _words(self, path: str, is_new: bool) -> DialogText:
        if is_new:
            sentence = self.tr("The file does not exist yet. It will have these lines:")
        else:
            sentence = self.tr("Only these lines change. A copy of the present file is kept beside it.")
        return DialogText(fill(self.tr("Write to %1?"), path), sentence, "", self.tr("Write"), self.tr("Cancel"))

    def _arrange_lines(self, lines: list[str]) -> None:
        self.lines.setAccessibleName(self.tr("Changes"))
        self.lines.setLineWrapMode(FramedText.LineWrapMode.NoWrap)
        self.lines.set_text("\n".join(lines))
        self.lines.moveCursor(QTextCursor.MoveOperation.Start)

    def _restyle(self) -> None:
        shown = min(self.lines.blockCount(), _MOST_FILE_LINES) + 1
        height = shown * self.lines.fontMetrics().lineSpacing() + 2 * FramedText.MARGIN_PX
        self.lines.setFixedHeight(min(height, self.screen().availableSize().height() // 2))
        self.lines.setExtraSelections(self._grounds())
        self._fit()

    def _grounds(self) -> list[QTextEdit.ExtraSelection]:
        grounds = {"+": self.theme.palette.gain, "-": self.theme.palette.fault}
        marked = []
        block = self.lines.document().begin()
        while block.isValid():
            if (ground := grounds.get(block.text()[:1])) is not None:
                color = ground.toRgb()
                color.setAlpha(_STRENGTH)
                look = QTextCharFormat()
                look.setBackground(color)
                look.setProperty(QTextFormat.Property.FullWidthSelection, True)
                selection = QTextEdit.ExtraSelection()
                selection.format, selection.cursor = look, QTextCursor(block)
                marked.append(selection)
            block = block.next()
        return marked
