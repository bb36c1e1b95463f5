"""Finding in the open chat: the bar, the menu's entries, and results of a search over all chats, which open here."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.controllers.chat import ChatController
from app.theme import Theme
from app.view_models.conversation_rows import Match
from app.views.shell.chat_list import ChatList
from app.views.shell.find_bar import FindBar
from app.views.shell.menu import MenuBar
from app.views.shell.menu_editing import selected_in_field
from app.views.transcript import TranscriptView


class FindWiring(QObject):
    def __init__(
        self, chats: ChatController, view: TranscriptView, listed: ChatList, menu: MenuBar, theme: Theme
    ) -> None:
        super().__init__(view)
        self._chats = chats
        self._view = view
        self._finder = view.finder
        self._chat_id = chats.shown_id
        self.bar = FindBar(theme, view)
        self.bar.words_changed.connect(self._finder.find)
        self.bar.step_requested.connect(self._step)
        self.bar.closed.connect(self._finder.close)
        self._finder.changed.connect(self._show_count)
        menu.find.triggered.connect(self.open)
        menu.find_next.triggered.connect(lambda: self._step(1))
        menu.find_previous.triggered.connect(lambda: self._step(-1))
        menu.use_selection.triggered.connect(self.use_selection)
        listed.match_opened.connect(self.open_match)
        chats.current_chat_changed.connect(lambda _chat_id, _title: self._on_chat(chats.shown_id))

    def open(self) -> None:
        """Where there is nothing to find, nothing opens."""
        if self._chats.transcript.messages:
            self.bar.open()
            self._finder.find(self.bar.field.words())

    def use_selection(self) -> None:
        """The first line of what is selected, in the field in focus or else in the chat, is what is looked for now."""
        selected = selected_in_field() or self._view.copier.selected_text()
        words = next((line.strip() for line in selected.splitlines() if line.strip()), "")
        if words and self._chats.transcript.messages:
            self.bar.open(words)
            self._finder.find(words)

    def open_match(self, chat_id: int, match: Match) -> None:
        """Opens a chat at what a search found in it. What is not to be read there, as an address, is at its message.

        Of what stands in an attachment that one is lit, and no bar opens: it finds what is on the page.
        """
        self._chats.open_at(chat_id, match.message_id)
        if self._chats.transcript.row_of(match.message_id) is None:
            return
        self._chat_id = chat_id
        self._view.show_message(match.message_id)
        if match.attachment is not None:
            self.bar.leave()
            self._finder.show_attachment(match.message_id, match.attachment, match.words)
        else:
            self.bar.open(" ".join(match.words))
            self._finder.find(self.bar.field.words(), match.message_id, match.words)

    def _step(self, direction: int) -> None:
        if not self.bar.isVisible():
            self.open()
            return
        self._finder.step(direction)
        self.bar.tell_count()

    def _show_count(self) -> None:
        self.bar.show_count(self._finder.number, self._finder.count, self._finder.is_reading)

    def _on_chat(self, chat_id: int) -> None:
        """Another chat has other words; a new chat that gets its number is the same one."""
        if chat_id != self._chat_id and self._chat_id:
            self.bar.leave()
            self._finder.close()  # also of what no bar is open for
        self._chat_id = chat_id
