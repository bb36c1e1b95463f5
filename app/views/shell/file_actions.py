"""Exporting and importing chats, and files and texts that macOS opens with the app."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from urllib.parse import parse_qs

from PySide6.QtCore import QCoreApplication, QObject, QTimer, QUrl

from app.controllers.chat import ChatController
from app.controllers.files import FileControllers
from app.markup.safe_code import safe_code
from app.system.qt_application import HunchApplication
from app.theme import Theme
from app.views.files.export_dialog import ExportDialog
from app.views.files.import_dialog import ImportDialog
from app.views.shell.attachment_actions import AttachmentActions
from app.views.shell.shell_window import ShellWindow
from app.views.widgets.side_window import bring_to_front

SCHEME = "hunch"
_ASK = "ask"
_MOST_CHARACTERS = 20_000  # in an address, which any program may send, and in the composer
_MOST_FIELDS = 8


class FileActions(QObject):
    def __init__(
        self,
        window: ShellWindow,
        theme: Theme,
        files: FileControllers,
        chats: ChatController,
        attachments: AttachmentActions,
    ) -> None:
        super().__init__(window)
        menu = window.menu
        composer = window.composer
        self._window = window
        self._theme = theme
        self._files = files
        self._chats = chats
        self._attachments = attachments
        self._importing: ImportDialog | None = None  # while it is open
        composer.unsent.settled.connect(files.typed.count)
        files.typed.changed.connect(composer.show_typed_tokens)
        files.typed.count(composer.text())
        application = QCoreApplication.instance()
        if isinstance(application, HunchApplication):
            application.open_with(self.open)
        menu.import_chats.triggered.connect(self.import_chats)
        menu.export_chat.triggered.connect(lambda: self.export(window.sidebar.meant(), chats.title))
        window.sidebar.chats.export_requested.connect(self.export)
        menu.export_all.triggered.connect(lambda: self.export(None, ""))
        chats.current_chat_changed.connect(lambda: menu.export_chat.setEnabled(not chats.is_new))
        menu.export_chat.setEnabled(not chats.is_new)

    def open(self, given: QUrl | str) -> None:
        """What macOS opens with the app, in the open chat: files to attach, and texts for the composer, by an address
        such as hunch://ask?text=… or from the Services menu. Nothing is sent automatically.
        """
        file = given.toLocalFile() if isinstance(given, QUrl) and given.isLocalFile() else ""
        prompt = _visible(given) if isinstance(given, str) else prompt_in(given)
        if not (file or prompt):
            return
        composer = self._window.composer
        bring_to_front(self._window)
        self._chats.chat_wanted.emit()
        if file:
            self._take_opened(file)
        elif len(prompt) > _MOST_CHARACTERS:
            self._files.attachments.add_text(prompt)
        else:
            there = composer.edit.text_with_composed()
            composer.set_text("\n\n".join(filter(None, (there, prompt))))
            composer.take_focus()

    def _take_opened(self, path: str) -> None:
        """Import our own exports, after a question; attach any other file to the chat that is open now."""
        chat_id = self._chats.chat_id

        def answer(is_ours: bool) -> None:
            if is_ours:
                self._import(path)
            else:
                self._attachments.take_files([path], chat_id)

        if path.lower().endswith(".json"):
            self._files.imports.ask_whether_ours(path, answer)
        else:
            answer(False)

    def export(self, chats: Sequence[int] | None, title: str) -> ExportDialog:
        """Export one chat, which has the title, several, or all (None)."""
        dialog = ExportDialog(self._theme, self._window, self._files.exports, self._window.banner, chats, title)
        dialog.open()
        return dialog

    def import_chats(self) -> ImportDialog:
        """One dialog at a time: reading other files would discard the current import."""
        if self._importing is None:
            self._importing = ImportDialog(self._theme, self._window, self._files.imports, self._window.banner)
            self._importing.finished.connect(self._on_import_ended)
            self._importing.open()
        return self._importing

    def _on_import_ended(self) -> None:
        self._importing = None

    def _import(self, path: str) -> None:
        """Of several files, each after the one before it."""
        dialog = self.import_chats()
        if dialog.is_choosing:
            dialog.look([path])
        else:
            again = partial(QTimer.singleShot, 0, self, partial(self._import, path))
            dialog.finished.connect(lambda _result: again())


def prompt_in(url: QUrl) -> str:
    """The text in an address; "" for unknown addresses."""
    if url.scheme() != SCHEME or url.host() != _ASK:
        return ""
    try:
        query = url.query(QUrl.ComponentFormattingOption.FullyEncoded)
        words = parse_qs(query, errors="replace", max_num_fields=_MOST_FIELDS).get("text", [""])
    except ValueError:
        return ""
    return _visible(words[0][:_MOST_CHARACTERS])


def _visible(words: str) -> str:
    """Without control and invisible characters."""
    return safe_code(words)[0].strip()
