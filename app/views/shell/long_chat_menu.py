"""What the model no longer reads of a long chat and what it still reads, and the choice of what becomes of the rest."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QWidget

from app.controllers.chat import ChatController
from app.settings import LONG_CHATS
from app.theme import Theme
from app.view_models.chat_options import Scope
from app.views.widgets.held_keys import Menu
from app.words.formats import in_menu
from app.words.options import long_chats_words, option_name

_OPTION = "long_chats"


class LongChatMenu(Menu):
    """Opened once, at the line from which on the model reads."""

    def __init__(
        self,
        theme: Theme,
        chats: ChatController,
        first_id: int,
        show_message: Callable[[int], object],
        parent: QWidget,
    ) -> None:
        super().__init__(parent, theme)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFont(theme.ui_font())
        self._options = chats.options
        values = self._options.generation(chats.chat_id).values
        left_out, pinned = chats.transcript.left_out(first_id)
        self._say(self.tr("%Ln earlier message(s) not read", "", left_out))
        if values["system_prompt"]:
            self._say(self.tr("Still read: the system prompt"))
        if chats.projects.instructions(self._options.folder_of(chats.chat_id)):
            self._say(self.tr("Still read: the project's instructions"))
        if pinned:
            self._say(self.tr("Still read: %Ln pinned message(s)", "", len(pinned)))
        for message in pinned:
            action = self.addAction(in_menu(" ".join(message.written.split())))
            action.triggered.connect(lambda _checked=False, shown=message.id: show_message(shown))
        if not pinned:
            self._say(self.tr("Pin a message to keep it"))
        self.addSeparator()
        self._say(option_name(_OPTION))
        group = QActionGroup(self)
        for each in LONG_CHATS:
            action = group.addAction(long_chats_words(each))
            action.setCheckable(True)
            action.setChecked(each == values[_OPTION])
            action.triggered.connect(lambda _checked=False, each=each: self._options.put(Scope.CHAT, _OPTION, each))
            self.addAction(action)

    def open_below(self, line: QWidget) -> None:
        place = line.mapToGlobal(QPoint(line.width() // 2, line.height()))
        self.popup(place - QPoint(self.sizeHint().width() // 2, 0))

    def _say(self, words: str) -> None:
        self.addAction(words).setEnabled(False)
