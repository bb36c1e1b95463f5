"""What macOS hands to the app: files to attach, and words for the composer, which come by an address such as
hunch://ask?text=… or from another app's Services menu.

None is ever sent by itself: the user sees it first.
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
_MOST_CHARACTERS = 20_000  # in an address, which any program may send, and in the composer
_MOST_FIELDS = 8


class Opener:
    """`attach` takes the path of a file, `attach_text` what is longer than one reads in a composer."""

    def __init__(
        self,
        composer: Composer,
        chats: ChatController,
        attach: Callable[[str], None],
        attach_text: Callable[[str], None],
    ) -> None:
        self._composer, self._chats, self._attach, self._attach_text = composer, chats, attach, attach_text

    def open(self, given: QUrl | str) -> None:
        """In the chat that is open; one in the Trash takes nothing, so a new one begins there."""
        file = given.toLocalFile() if isinstance(given, QUrl) and given.isLocalFile() else ""
        prompt = _visible(given) if isinstance(given, str) else prompt_in(given)
        if not (file or prompt):
            return
        bring_to_front(self._composer.window())
        if self._chats.reading.chat_id:
            self._chats.new_chat()
        self._chats.chat_wanted.emit()
        if file:
            self._attach(file)
        elif len(prompt) > _MOST_CHARACTERS:
            self._attach_text(prompt)
        else:
            there = self._composer.edit.text_with_composed()
            self._composer.set_text("\n\n".join(filter(None, (there, prompt))))
            self._composer.take_focus()


def prompt_in(url: QUrl) -> str:
    """ "" where the address is for nothing that Hunch knows."""
    if url.scheme() != SCHEME or url.host() != _ASK:
        return ""
    try:
        query = url.query(QUrl.ComponentFormattingOption.FullyEncoded)
        words = parse_qs(query, errors="replace", max_num_fields=_MOST_FIELDS).get("text", [""])
    except ValueError:
        return ""
    return _visible(words[0][:_MOST_CHARACTERS])


def _visible(words: str) -> str:
    """Without what a terminal or a reader would not see."""
    return safe_code(words)[0].strip()
