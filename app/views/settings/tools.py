"""Settings → Tools: what is built in, servers of tools with what they offer, adding and importing them.

A server runs as the user: it is switched on only after its whole command, or address, was shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.tool_servers import ToolServersController
from app.controllers.tools import ToolsController
from app.theme import Theme
from app.tools.wire import ConnectionState
from app.view_models.tools import AddedServers, ServerRow, SignIn, ToolRow
from app.views.link_dialog import ask_to_open, open_page
from app.views.settings.options import PromptField
from app.views.settings.server import PastedText
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import OpeningLine, PillButton
from app.views.widgets.cards import Card, Page, SettingRow, Words, clear
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.fields import LineField, Switch
from app.views.widgets.flow import Flow
from app.views.widgets.focus import focus_row, row_in_focus
from app.views.widgets.labels import NameLabel, TextLabel, TextStyle, say
from app.views.widgets.long_text import FramedText
from app.views.widgets.roles import announce
from app.views.widgets.translated import Translated
from app.words.formats import fill, labelled, listed, quoted, sentences
from app.words.tools import (
    ask_again_text,
    built_in_name,
    never_asks_text,
    problem_text,
    program_name,
    program_page,
    sign_in_pages,
    state_text,
    tokens_text,
    tool_words,
    waits_for_sign_in_text,
)

_FIELD_PX = 220  # whatever the text's size, so that large text leaves a page its width
_SHEET_PX = 560


class ToolsPage(Translated, Page):
    def __init__(self, theme: Theme, tools: ToolsController, servers: ToolServersController) -> None:
        super().__init__(theme)
        self._tools = tools
        self._servers = servers
        self._note = TextLabel(theme, TextStyle.FINE)
        self.built_in = BuiltInCard(theme, tools.ask_again)
        self.empty = TextLabel(theme, TextStyle.FINE)
        self.cards: dict[str, ServerCard | RemovedCard] = {}  # by server
        self._list = arrange(QVBoxLayout(), spacing=12)
        self.add_card = AddCard(theme, servers)
        self.import_card = ImportCard(theme, servers, self.add_card.say)
        self._arrange()
        tools.changed.connect(self._show)  # also when the servers change
        servers.browse.connect(open_page)
        self._retranslate()

    def _arrange(self) -> None:
        self.column.addWidget(self._note)
        self._built_in_heading = self.add_heading()
        self.column.addWidget(self.built_in)
        self._servers_heading = self.add_heading()
        arrange(self.column, self.empty, self._list)
        self._add_heading = self.add_heading()
        arrange(self.column, self.add_card, self.import_card)
        self.end()

    def _show(self) -> None:
        groups = {group.id: group.tools for group in self._tools.chat_tools()}
        self.built_in.show_tools(groups[""])
        rows = self._servers.rows()
        if [(row.id, row.is_removed) for row in rows] != [
            (server, isinstance(card, RemovedCard)) for server, card in self.cards.items()
        ]:
            self._make_cards(rows)
        for row in rows:
            card = self.cards[row.id]
            if isinstance(card, ServerCard):
                card.show_server(row, groups.get(row.id, ()))
        self.empty.setVisible(not self.cards)

    def _make_cards(self, rows: Iterable[ServerRow]) -> None:
        """Those that stay keep what is opened and typed in them."""
        former = self.cards
        kept = {
            row.id: card for row in rows if not row.is_removed and isinstance(card := former.get(row.id), ServerCard)
        }
        cards = list(former.values())
        at = row_in_focus(cards)
        for card in kept.values():
            self._list.removeWidget(card)
        clear(self._list)
        self.cards = {row.id: kept.get(row.id) or self._card(row) for row in rows}
        for card in self.cards.values():
            self._list.addWidget(card)
        if at is not None and cards[at] not in kept.values():
            focus_row(list(self.cards.values()), at)

    def _card(self, row: ServerRow) -> ServerCard | RemovedCard:
        if row.is_removed:
            return RemovedCard(self.theme, row.name, lambda: self._servers.put_back(row.id))
        return ServerCard(self.theme, self._servers, self._tools.ask_again, row.id)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.import_card.show_sources()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._servers.forget_removed()

    def _retranslate(self) -> None:
        self._note.setText(
            self.tr("What a model may do besides writing. Which of them, you choose for each chat, in the composer.")
        )
        self._built_in_heading.setText(built_in_name())
        self._servers_heading.setText(self.tr("Tool servers (MCP)"))
        self._add_heading.setText(self.tr("Add a server"))
        self.empty.setText(
            self.tr("None yet. A server gives models more tools: for files, calendars, code, the web and others.")
        )
        self.import_card.show_sources()
        self._show()


class BuiltInCard(Translated, Card):
    def __init__(self, theme: Theme, ask_again: Callable[[str], None]) -> None:
        super().__init__(theme)
        self._ask_again = ask_again
        self._tools: tuple[ToolRow, ...] = ()
        self.rows: list[ToolWords] = []

    def show_tools(self, tools: tuple[ToolRow, ...]) -> None:
        if tools == self._tools:
            return
        if len(tools) != len(self.rows):
            self.rows = [ToolWords(self.theme, self._ask_again) for _ in tools]
            self.set_rows(self.rows)
        self._tools = tools
        self._retranslate()

    def _retranslate(self) -> None:
        for row, tool in zip(self.rows, self._tools, strict=True):
            name, about = tool_words(tool.name)
            row.show_tool(tool, name or tool.name, about or tool.description)


class ToolWords(QWidget):
    """A tool: its name, its tokens beside that, and all of its description; and what ends a consent for every chat."""

    def __init__(self, theme: Theme, ask_again: Callable[[str], None]) -> None:
        super().__init__()
        self._id = ""
        self.words = Words(theme)
        self.tokens = TextLabel(theme, TextStyle.FINE, wraps=False)
        self.ask_again = PillButton(theme)
        self.ask_again.clicked.connect(lambda: ask_again(self._id))
        top = Qt.AlignmentFlag.AlignTop
        row = (self.words.column, 1), (self.ask_again, 0, top), (self.tokens, 0, top)
        arrange(QHBoxLayout(self), *row, spacing=16, margins=(0, 0, 0, 0))

    def show_tool(self, tool: ToolRow, name: str, about: str) -> None:
        self._id = tool.id
        self.words.set_words(name, sentences(about, never_asks_text() if tool.always else ""))
        say(self.tokens, tokens_text(tool.tokens))
        self.ask_again.set_words(ask_again_text(), labelled(name, ask_again_text()))
        self.ask_again.setVisible(tool.always)


class ServerCard(Translated, Card):
    def __init__(
        self, theme: Theme, servers: ToolServersController, ask_again: Callable[[str], None], server: str
    ) -> None:
        super().__init__(theme)
        self._servers = servers
        self._ask_again = ask_again
        self._row = ServerRow(server, "")
        self._tools: tuple[ToolRow, ...] = ()
        self.on = Switch(theme)
        self.head = SettingRow(theme, self.on)
        self.place = NameLabel(theme, TextStyle.FINE)
        self.fault = TextLabel(theme, TextStyle.FAULT)
        self.secrets: dict[str, LineField] = {}
        self._secret_rows: dict[str, SettingRow] = {}
        self._secret_column = QVBoxLayout()
        self.offers = OpeningLine(theme)
        self._offered = QVBoxLayout()
        self.last_words = OpeningLine(theme)
        self.stderr = PastedText(theme, self)
        self.get_program, self.sign_in, self.restart, self.remove = (PillButton(theme) for _ in range(4))
        self._arrange()
        self.on.chosen.connect(self._switch)
        for fold, show in ((self.offers, self._show_offers), (self.last_words, self._show_last_words)):
            fold.clicked.connect(lambda _checked=False, fold=fold: fold.set_opened(not fold.opened))
            fold.clicked.connect(show)
        self.get_program.clicked.connect(lambda: ask_to_open(program_page(self._row.detail), self.theme, self))
        self.sign_in.clicked.connect(self._sign_in)
        self.restart.clicked.connect(lambda: servers.restart(self._row.id))
        self.remove.clicked.connect(lambda: servers.remove(self._row.id))

    def _arrange(self) -> None:
        for layout in (self._secret_column, self._offered):
            layout.setSpacing(8)
        foot = Flow(None, self.get_program, self.sign_in, self.restart, self.remove)
        offers, last_words = ((fold, 0, Qt.AlignmentFlag.AlignLeft) for fold in (self.offers, self.last_words))
        arrange(self.column, self.head, self.place, self.fault, self._secret_column, spacing=8)
        arrange(self.column, offers, self._offered, last_words, self.stderr, foot)

    def show_server(self, row: ServerRow, tools: tuple[ToolRow, ...]) -> None:
        tools_changed = tools != self._tools
        self.on.set_value(row.state is not ConnectionState.OFF)
        if row == self._row and not tools_changed:
            return
        if row.secrets != self._row.secrets:
            self._make_secrets(row.secrets)
        self._row = row
        self._tools = tools
        self._retranslate()
        if tools_changed and self.offers.opened:
            self._show_offers()

    def _make_secrets(self, names: Iterable[str]) -> None:
        clear(self._secret_column)
        self.secrets = {}
        self._secret_rows = {}
        for name in names:
            field = self.secrets[name] = LineField(self.theme)
            field.setEchoMode(LineField.EchoMode.Password)
            field.setMinimumWidth(_FIELD_PX)
            field.editingFinished.connect(lambda name=name: self._keep(name))
            row = self._secret_rows[name] = SettingRow(self.theme, field)
            self._secret_column.addWidget(row)

    def _keep(self, name: str) -> None:
        field = self.secrets[name]
        if value := field.text():
            field.clear()
            if not self._servers.set_secret(self._row.id, name, value):
                self._secret_rows[name].set_words(name, problem_text("value", name))

    def _switch(self, on: bool) -> None:
        if on and not self._row.seen:
            self.on.set_value(False)  # until the whole command was seen
            self.ask()
        else:
            self._servers.set_on(self._row.id, on)

    def ask(self) -> RunSheet:
        row = self._row
        sheet = RunSheet(self.theme, self, row)
        sheet.accepted.connect(lambda: self._confirm(row))
        sheet.open()
        return sheet

    def _confirm(self, row: ServerRow) -> None:
        """And show what it offers."""
        if self._servers.confirm(row.id, row.place):
            self._servers.list_tools(row.id)

    def _sign_in(self) -> None:
        match self._row.sign_in:
            case SignIn.OFFERED:
                self._servers.sign_in(self._row.id, sign_in_pages())
            case SignIn.WAITS:
                self._servers.cancel_sign_in(self._row.id)
            case SignIn.DONE:
                self._servers.sign_out(self._row.id)

    def _show_offers(self) -> None:
        clear(self._offered)
        if not self.offers.opened:
            return
        if not self._tools and self._row.state is not ConnectionState.OFF:
            self._servers.list_tools(self._row.id)
        for tool in self._tools:
            words = ToolWords(self.theme, self._ask_again)
            words.show_tool(tool, tool.name, tool.description)
            self._offered.addWidget(words)

    def _show_last_words(self) -> None:
        self.stderr.setVisible(self.last_words.opened and bool(self._row.stderr))

    def _retranslate(self) -> None:
        row = self._row
        is_off = row.state is ConnectionState.OFF
        waits = row.sign_in is SignIn.WAITS
        failed = row.state is ConnectionState.FAILED and not waits
        state = waits_for_sign_in_text(row.sign_in_at) if waits else state_text(row.state, row.problem, row.detail)
        if row.lacks and not (waits or failed):
            state = problem_text("sign_in_more", row.lacks)
        self.head.set_words(row.name, "" if failed else state)
        self.place.setText(row.place)
        say(self.fault, state if failed else "")
        self._name_secrets(row)
        tokens = tokens_text(sum(tool.tokens for tool in self._tools))
        offered = " · ".join(filter(None, (self.tr("%Ln tool(s)", "", len(self._tools)), tokens)))
        self.offers.setText(offered if self._tools else self.tr("What it offers"))
        self.offers.setVisible(bool(self._tools) or not (is_off or failed or waits))
        self.last_words.setText(self.tr("What it wrote last (stderr)"))
        self.last_words.setVisible(bool(row.stderr))
        self.stderr.show_text(row.stderr)
        self.stderr.setAccessibleName(self.last_words.text())
        self._show_last_words()
        page = program_page(row.detail) if row.problem == "no_command" else ""
        self.get_program.setVisible(failed and bool(page))
        self.get_program.setText(fill(self.tr("Get %1…"), program_name(row.detail)))
        self._name_sign_in(row)
        self.restart.setVisible(not is_off)
        self.restart.set_words(self.tr("Restart"), fill(self.tr("Restart %1"), row.name))
        self.remove.set_words(self.tr("Remove"), fill(self.tr("Remove %1"), row.name))

    def _name_sign_in(self, row: ServerRow) -> None:
        text = {
            SignIn.OFFERED: self.tr("Sign In…"),
            SignIn.WAITS: self.tr("Cancel Sign-In"),
            SignIn.DONE: self.tr("Sign Out"),
        }.get(row.sign_in, "")
        say(self.sign_in, text)
        self.sign_in.setAccessibleName(labelled(row.name, text))

    def _name_secrets(self, row: ServerRow) -> None:
        for name, setting in self._secret_rows.items():
            kept = name not in row.missing
            setting.set_words(name, self.tr("Set.") if kept else self.tr("Not set."))
            self.secrets[name].setPlaceholderText("••••••••" if kept else "")


class CommandText(PastedText):
    """As high as its text, or as a part of the screen: then it scrolls, and says when its end was in sight."""

    read = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.verticalScrollBar().valueChanged.connect(self._judge)
        self.verticalScrollBar().rangeChanged.connect(self._judge)

    @property
    def is_read(self) -> bool:
        return self.verticalScrollBar().value() == self.verticalScrollBar().maximum()

    def _judge(self) -> None:
        if self.is_read:
            self.read.emit()

    def _fit(self) -> None:
        super()._fit()
        most_px = self.screen().availableSize().height() // 3
        is_long = self.height() > most_px
        always = Qt.ScrollBarPolicy.ScrollBarAlwaysOn
        self.setVerticalScrollBarPolicy(always if is_long else Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if is_long:
            self.setFixedHeight(most_px)

    def wheelEvent(self, event: QWheelEvent) -> None:
        FramedText.wheelEvent(self, event)


class RunSheet(Dialog):
    """Before a server is switched on: all of what would run, or its address. Cancel has the focus.

    A command that is longer than the sheet has to be read to its end.
    """

    def __init__(self, theme: Theme, parent: QWidget, row: ServerRow) -> None:
        self._row = row
        self._is_read = False
        super().__init__(theme, parent, self._words, width_px=_SHEET_PX)
        self._first = self.cancel_button
        self.command = CommandText(theme, self)
        self.command.show_text(row.place)
        self.command.read.connect(self._judge)
        self.command.setAccessibleName(self.tr("What runs"))
        self.content.addWidget(self.command)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """The text has the height of its lines only once it has its width."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            QTimer.singleShot(0, self, self._fit)
            QTimer.singleShot(0, self, self._judge)
        return done

    def _judge(self) -> None:
        """It stays enabled once the end was in sight."""
        if self.isVisible():  # before that the text has not its size
            self._is_read = self._is_read or self.command.is_read
        self.act_button.setEnabled(self._is_read)

    def _words(self) -> DialogText:
        row = self._row
        detail = fill(self.tr("It gets the values of %1."), listed(*row.secrets)) if row.secrets else ""
        if row.place.startswith(("https://", "http://")):
            title = fill(self.tr("Connect to %1?"), quoted(row.name))
            sentence = self.tr("What a model gives to its tools is sent to this address.")
        else:
            title = fill(self.tr("Run %1?"), quoted(row.name))
            sentence = self.tr(
                "This command runs as you and can do all that you can. What it touches, macOS counts as Hunch's."
            )
        return DialogText(title, sentence, detail, self.tr("Turn On"), self.tr("Cancel"))


class RemovedCard(Translated, Card):
    """In place of a server that was removed, until the page is left."""

    def __init__(self, theme: Theme, name: str, put_back: Callable[[], None]) -> None:
        super().__init__(theme)
        self._name = name
        self.undo = PillButton(theme)
        self.row = SettingRow(theme, self.undo)
        self.column.addWidget(self.row)
        self.undo.clicked.connect(put_back)
        self._retranslate()

    def _retranslate(self) -> None:
        self.row.set_words(fill(self.tr("%1 was removed."), self._name))
        self.undo.setText(self.tr("Undo"))


class AddCard(Translated, Card):
    """A command line, an address, or JSON as the pages of servers have it."""

    def __init__(self, theme: Theme, servers: ToolServersController) -> None:
        super().__init__(theme)
        self._servers = servers
        self.words = Words(theme)
        self.field = PromptField(theme)
        self.add_button = PillButton(theme)
        self.outcome = TextLabel(theme, TextStyle.FINE)
        self._added: AddedServers | None = None
        button = (self.add_button, 0, Qt.AlignmentFlag.AlignLeft)
        arrange(self.column, self.words.column, self.field, button, self.outcome)
        self.add_button.clicked.connect(self._add)
        self.field.textChanged.connect(self._on_edit)
        self._retranslate()

    def _on_edit(self) -> None:
        self.add_button.setEnabled(bool(self.field.text().strip()))

    def _add(self) -> None:
        added = self._servers.add_text(self.field.text().strip())
        if added.names:
            self.field.set_text("")
            self._on_edit()
        self.say(added)

    def say(self, added: AddedServers) -> None:
        self._added = added
        self._retranslate()
        announce(self, self.outcome.text())

    def _outcome(self, added: AddedServers) -> str:
        if not added.understood:
            return self.tr("That is no command, no address and no JSON with servers.")
        lines = [labelled(each.name, problem_text(each.problem, each.detail)) for each in added.refused]
        if added.names:
            lines.insert(0, fill(self.tr("Added, and off until you turn it on: %1"), listed(*added.names)))
        return "\n".join(lines) or self.tr("Nothing new was found.")

    def _retranslate(self) -> None:
        self.words.set_words(
            self.tr("Command, address or JSON"),
            self.tr("Such as %1 or %2. Keys in it go to the keychain.").replace("%1", _COMMAND).replace("%2", _ADDRESS),
        )
        self.field.setAccessibleName(self.words.name.text())
        self.add_button.setText(self.tr("Add"))
        say(self.outcome, "" if self._added is None else self._outcome(self._added))
        self._on_edit()


_COMMAND = "npx -y @modelcontextprotocol/server-filesystem ~/Documents"
_ADDRESS = "https://example.com/mcp"


class ImportCard(Translated, Card):
    """Servers that other programs have: read from their files, which are never written."""

    def __init__(self, theme: Theme, servers: ToolServersController, say: Callable[[AddedServers], None]) -> None:
        super().__init__(theme)
        self._servers = servers
        self._say = say
        self.rows: dict[str, SettingRow] = {}
        self.buttons: dict[str, PillButton] = {}

    def show_sources(self) -> None:
        sources = self._servers.sources()
        self.setVisible(bool(sources))
        if list(sources) == list(self.rows):
            return
        self.buttons = {name: PillButton(self.theme) for name in sources}
        self.rows = {name: SettingRow(self.theme, button) for name, button in self.buttons.items()}
        self.set_rows(list(self.rows.values()))
        for name, button in self.buttons.items():
            button.clicked.connect(lambda _checked=False, name=name: self._say(self._servers.import_from(name)))
        self._retranslate()

    def _retranslate(self) -> None:
        for name, row in self.rows.items():
            row.set_words(name, self.tr("Its tool servers. Its file is only read."))
            self.buttons[name].set_words(self.tr("Import"), fill(self.tr("Import from %1"), name))
