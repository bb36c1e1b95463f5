"""The composer's button for tools, and its panel: which of them the open chat may use, and what they cost in tokens."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.controllers.tools import ToolsController
from app.theme import Theme
from app.view_models.tools import CanCall, ServerRow, ToolRow, chosen_tokens, takes_much
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import IconButton, PillButton
from app.views.widgets.cards import Hairline, Page, clear
from app.views.widgets.fields import Switch
from app.views.widgets.flow import Flow
from app.views.widgets.focus import focus_row, row_in_focus
from app.views.widgets.labels import ElidedLabel, TextLabel, TextStyle
from app.views.widgets.panel import Panel
from app.views.widgets.translated import Translated
from app.words.formats import fill, labelled, sentences
from app.words.tools import (
    ask_again_text,
    built_in_name,
    cannot_call,
    never_asks_text,
    state_text,
    tokens_text,
    tool_words,
    tools_on_text,
    who_can,
)

_WIDTH_PX = 400
_OF_FILES = ("/read_file", "/list_folder")


class ToolLine(Translated, QWidget):
    """A tool, or all of a server, with a switch; and what ends the consent to a tool."""

    def __init__(self, theme: Theme, *, is_head: bool) -> None:
        super().__init__()
        self.ask_again = PillButton(theme)
        self.ask_again.hide()
        self.switch = Switch(theme)
        self.name = ElidedLabel(theme, TextStyle.HEADING if is_head else TextStyle.BODY)
        self.about = ElidedLabel(theme, TextStyle.FINE)
        self._tool: ToolRow | None = None
        self._server: ServerRow | None = None
        words = arrange(QVBoxLayout(), self.name, self.about, spacing=0)
        arrange(QHBoxLayout(self), (words, 1), self.ask_again, self.switch, spacing=12, margins=(0, 0, 2, 0))

    def show_tool(self, tool: ToolRow, *, enabled: bool) -> None:
        self._tool = tool
        self.switch.set_value(tool.on)
        self.switch.setEnabled(enabled)
        self.ask_again.setVisible(tool.always or tool.in_chat)
        self._retranslate()

    def show_server(self, server: ServerRow, *, enabled: bool) -> None:
        """Its switch is on where all of its tools are, and in the middle where some are."""
        self._server = server
        on = [tool.on for tool in server.tools]
        self.switch.set_value(bool(on) and all(on), partly=any(on) and not all(on))
        self.switch.setEnabled(enabled and bool(server.tools))
        self._retranslate()

    def _retranslate(self) -> None:
        if self._tool is not None:
            own, explained = tool_words(self._tool.name) if self._tool.id.startswith("/") else ("", "")
            about = " ".join((explained or self._tool.description).split())
            consent = never_asks_text() if self._tool.always or self._tool.in_chat else ""
            self._say(own or self._tool.name, tokens_text(self._tool.tokens), sentences(consent, about))
            self.ask_again.set_words(ask_again_text(), labelled(self.name.text(), ask_again_text()))
        elif self._server is not None:
            server = self._server
            is_known = bool(server.tools) or not server.id
            self._say(
                server.name or built_in_name(),
                "",
                "" if is_known else state_text(server.state, server.problem, server.detail),
            )
            self.switch.setAccessibleName(fill(self.tr("All of %1"), self._server.name or built_in_name()))
            if self.switch.is_partly_on:
                self.switch.setAccessibleDescription(tools_on_text(sum(tool.on for tool in server.tools), 0))

    def _say(self, name: str, tokens: str, about: str) -> None:
        self.name.setText(name)
        self.about.setText(" · ".join(filter(None, (tokens, about))))
        self.about.set_tooltip_text(about)
        self.about.setVisible(bool(self.about.text()))
        self.switch.setAccessibleName(name)
        self.switch.setAccessibleDescription(self.about.text())


class FoldersRow(Translated, QWidget):
    """The files and folders that the chat's tools may read: shown where one of them reads files."""

    def __init__(self, theme: Theme, tools: ToolsController) -> None:
        super().__init__()
        self._theme = theme
        self._tools = tools
        self.name = TextLabel(theme, TextStyle.BODY)
        self.none = TextLabel(theme, TextStyle.FINE)
        self.add_folder, self.add_file = (PillButton(theme) for _ in range(2))
        self._list = arrange(QVBoxLayout(), spacing=2)
        buttons = Flow(None, self.add_folder, self.add_file)
        arrange(QVBoxLayout(self), self.name, self.none, self._list, buttons, spacing=4, margins=(0, 0, 0, 0))
        self.add_folder.clicked.connect(lambda: self._choose(QFileDialog.FileMode.Directory))
        self.add_file.clicked.connect(lambda: self._choose(QFileDialog.FileMode.ExistingFiles))
        self._shown: tuple[str, ...] = ()
        self._rows: list[QWidget] = []
        self._retranslate()

    def show_paths(self, *, wanted: bool) -> None:
        self.setVisible(wanted)
        self.none.setVisible(not self._tools.folders)
        if self._tools.folders != self._shown:
            self._shown = self._tools.folders
            at = row_in_focus(self._rows)
            clear(self._list)
            self._rows = [self._path_row(path) for path in self._shown]
            for row in self._rows:
                self._list.addWidget(row)
            focus_row(self._rows, at, self.add_folder)

    def _path_row(self, path: str) -> QWidget:
        row = QWidget()
        name = ElidedLabel(self._theme, TextStyle.FINE, Qt.TextElideMode.ElideMiddle)
        name.setText(path)
        remove = IconButton(self._theme, "x", 24)
        remove.set_name(fill(self.tr("Remove %1"), path))
        remove.clicked.connect(lambda: self._tools.choose_folders([each for each in self._shown if each != path]))
        arrange(QHBoxLayout(row), (name, 1), remove, spacing=4, margins=(0, 0, 0, 0))
        return row

    def _choose(self, mode: QFileDialog.FileMode) -> None:
        dialog = QFileDialog(self.window(), self.name.text())
        dialog.setFileMode(mode)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(partial(self.add, self._tools.chat_id))
        dialog.open()

    def add(self, chat_id: int, paths: list[str]) -> None:
        """Not to another chat that was opened meanwhile."""
        if chat_id == self._tools.chat_id:
            self._tools.choose_folders(dict.fromkeys((*self._tools.folders, *paths)))

    def _retranslate(self) -> None:
        self.name.setText(self.tr("Files and folders to read"))
        self.none.setText(self.tr("None yet."))
        self.add_folder.setText(self.tr("Add Folder…"))
        self.add_file.setText(self.tr("Add Files…"))


class ChatToolsPanel(Translated, Panel):
    def __init__(
        self,
        theme: Theme,
        parent: QWidget,
        tools: ToolsController,
        models: ModelController,
        otherwise: Callable[[], None],
    ) -> None:
        super().__init__(theme, parent, _WIDTH_PX, otherwise)
        self._tools = tools
        self._models = models
        self.lines: dict[str, ToolLine] = {}  # of tools, by id
        self.heads: dict[str, ToolLine] = {}  # of servers, by id
        self.title = TextLabel(theme, TextStyle.HEADING, self)
        self.sum = TextLabel(theme, TextStyle.FINE, self)
        self.note = TextLabel(theme, TextStyle.FINE, self)
        self.close_button = IconButton(theme, "x", 26, self)
        self.much = TextLabel(theme, TextStyle.COST, self)
        self.settings_button = PillButton(theme, parent=self)
        self.find_button = PillButton(theme, parent=self)
        self.page = Page(theme, self)
        self.folders = FoldersRow(theme, tools)
        self._arrange()
        self.close_button.clicked.connect(self.leave)
        tools.changed.connect(self._on_changed)
        self._retranslate()

    def _on_changed(self) -> None:
        if not self.isHidden():
            self.show_tools()

    def _arrange(self) -> None:
        head = arrange(QHBoxLayout(), (self.title, 1), self.close_button)
        foot = arrange(QHBoxLayout(), self.settings_button, 1, self.find_button)
        self._column = arrange(
            QVBoxLayout(self),
            head,
            self.note,
            (self.page, 1),
            Hairline(self._theme),
            self.sum,
            self.much,
            foot,
            spacing=8,
            margins=(16, 12, 10, 10),
        )
        self.page.side_px = 0  # the panel has its own
        self.page.column.setContentsMargins(0, 0, 0, 0)
        self.page.column.setSpacing(8)
        self.page.title.hide()
        self._rows = arrange(QVBoxLayout(), spacing=8)
        arrange(self.page.column, self._rows, self.folders, 1)

    @property
    def first(self) -> QWidget:
        enabled = (line.switch for line in (*self.heads.values(), *self.lines.values()) if line.switch.isEnabled())
        return next(enabled, self.close_button)

    def wanted_px(self, width_px: int) -> int:
        others_px = self._column.totalMinimumHeightForWidth(width_px) - self.page.minimumSizeHint().height()
        return others_px + self.page.column.totalSizeHint().height()

    def show_tools(self) -> None:
        servers = self._tools.chat_tools()
        can = self._tools.can_call()
        ids = [tool.id for server in servers for tool in server.tools]
        if [server.id for server in servers] != list(self.heads) or ids != list(self.lines):
            self._make_lines(servers)
        for server in servers:
            self.heads[server.id].show_server(server, enabled=can is CanCall.YES)
            for tool in server.tools:
                self.lines[tool.id].show_tool(tool, enabled=(can is CanCall.YES or tool.on) and not tool.fixed)
        tools_on = (tool.id for server in servers for tool in server.tools if tool.on)
        self.folders.show_paths(wanted=any(tool in _OF_FILES for tool in tools_on))
        self._show_words(servers, can)

    def _make_lines(self, servers: tuple[ServerRow, ...]) -> None:
        clear(self._rows)
        self.heads = {}
        self.lines = {}
        for server in servers:
            head = self.heads[server.id] = ToolLine(self._theme, is_head=True)
            head.switch.chosen.connect(lambda on, server=server.id: self._set_all(server, on))
            self._rows.addWidget(head)
            for tool in server.tools:
                line = self.lines[tool.id] = ToolLine(self._theme, is_head=False)
                line.switch.chosen.connect(lambda on, tool=tool.id: self._tools.set_on((tool,), on))
                line.ask_again.clicked.connect(lambda _=False, tool=tool.id: self._tools.ask_again(tool))
                self._rows.addWidget(line)

    def _set_all(self, server: str, on: bool) -> None:
        tools = next((row.tools for row in self._tools.chat_tools() if row.id == server), ())
        self._tools.set_on([tool.id for tool in tools], on)

    def _show_words(self, servers: tuple[ServerRow, ...], can: CanCall) -> None:
        tokens = chosen_tokens(servers)
        count = sum(tool.on for server in servers for tool in server.tools)
        takes_part = can is not CanCall.MODEL_CANNOT
        self.sum.setText(tools_on_text(count, tokens))
        self.sum.setVisible(takes_part)
        self.much.setVisible(takes_part and takes_much(tokens, self._models.context_room()[0]))
        self.note.setText(self._note(can))
        self.find_button.setVisible(can is not CanCall.YES and not self._tools.models_that_can())

    def _note(self, can: CanCall) -> str:
        if can is CanCall.NO_MODEL:
            return self.tr("Choose a model first.")
        if can is CanCall.MODEL_CANNOT:
            return sentences(cannot_call(self._models.pair.main_name), who_can(self._tools.models_that_can()))
        return self.tr("After a change the model reads the whole chat again.")

    def _retranslate(self) -> None:
        self.title.setText(self.tr("Tools in this chat"))
        self.setAccessibleName(self.title.text())
        self.close_button.set_name(self.tr("Close"))
        self.much.setText(self.tr("That is a lot: less of the chat fits, and small models choose worse among many."))
        self.settings_button.setText(self.tr("Manage Tools…"))
        self.find_button.setText(self.tr("Find one that can"))
        self.show_tools()


class ChatToolsButton(Translated, IconButton):
    """In the composer, with a dot where the chat may use tools. The panel is made at first use."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, "wrench", parent=parent)
        self._tools: ToolsController | None = None
        self._models: ModelController | None = None
        self._make_panel: Callable[[], ChatToolsPanel] | None = None
        self.clicked.connect(self.toggle_panel)
        self.hide()

    def bind(self, tools: ToolsController, models: ModelController, make_panel: Callable[[], ChatToolsPanel]) -> None:
        self._tools = tools
        self._models = models
        self._make_panel = make_panel
        tools.changed.connect(self._retranslate)
        self._retranslate()
        self.show()

    @cached_property
    def panel(self) -> ChatToolsPanel:
        assert self._make_panel is not None
        return self._make_panel()

    def toggle_panel(self) -> None:
        if self._tools is not None:
            self.panel.show_tools()
            self.panel.toggle(self)
            if self.panel.isVisible():
                self._tools.list_unknown()

    def _retranslate(self) -> None:
        if self._tools is None or self._models is None:
            return
        on = len(self._tools.chosen)
        can = self._tools.can_call()
        self.has_dot = bool(on) and can is not CanCall.MODEL_CANNOT
        if can is CanCall.MODEL_CANNOT:
            self.set_name(fill(self.tr("Tools: %1"), cannot_call(self._models.pair.main_name)))
        elif on:  # where none is, nothing is imported or counted for them
            tokens = chosen_tokens(self._tools.chat_tools())
            self.set_name(fill(self.tr("Tools: %1"), tools_on_text(on, tokens)))
        else:
            self.set_name(self.tr("Tools"))
        self.update()
