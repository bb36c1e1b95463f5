"""What macOS hands to the app: files to attach, and addresses such as hunch://ask?text=… with words for the composer.

Neither is ever sent by itself: the user sees it first.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs

from PySide6.QtCore import QUrl

from app.controllers.chat import ChatController
from app.markup.safe_code import safe_code
from app.views.shell.composer import Composer
from app.views.widgets.side_window import bring_to_front

SCHEME, _ASK = "hunch", "ask"
_MOST_CHARACTERS = 20_000  # of any program's; a longer text comes as a file
_MOST_FIELDS = 8


class Opener:
    def __init__(self, composer: Composer, chats: ChatController, attach: Callable[[str], None]) -> None:
        self._composer, self._chats, self._attach = composer, chats, attach

    def open(self, url: QUrl) -> None:
        """In the chat that is open; one in the Trash takes nothing, so a new one begins there."""
        prompt = prompt_in(url)
        if not (url.isLocalFile() or prompt):
            return
        bring_to_front(self._composer.window())
        if self._chats.reading.chat_id:
            self._chats.new_chat()
        self._chats.chat_wanted.emit()
        if url.isLocalFile():
            self._attach(url.toLocalFile())
        else:
            there = self._composer.edit.text_with_composed()
            self._composer.set_text("\n\n".join(filter(None, (there, prompt))))
            self._composer.take_focus()


def prompt_in(url: QUrl) -> str:
    """Without what a terminal or a reader would not see; "" where the address is for nothing that Hunch knows."""
    if url.scheme() != SCHEME or url.host() != _ASK:
        return ""
    try:
        query = url.query(QUrl.ComponentFormattingOption.FullyEncoded)
        words = parse_qs(query, errors="replace", max_num_fields=_MOST_FIELDS).get("text", [""])
    except ValueError:
        return ""
    return safe_code(words[0][:_MOST_CHARACTERS])[0].strip()
