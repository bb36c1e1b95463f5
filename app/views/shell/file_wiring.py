"""Connects the window with what comes from files and goes to them: attachments, export, import."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.controllers.files import FileControllers
from app.theme import Theme
from app.views.shell.attachment_wiring import AttachmentWiring
from app.views.shell.export_dialog import ExportDialog
from app.views.shell.import_dialog import ImportDialog
from app.views.shell.main_window import MainWindow


class FileWiring(QObject):
    def __init__(self, window: MainWindow, theme: Theme, files: FileControllers) -> None:
        super().__init__(window)
        assert window.chats is not None
        assert window.transcript is not None
        composer, transcript, banner = window.composer, window.transcript, window.banner
        self.attachments = AttachmentWiring(
            window, theme, composer, transcript, banner, window.chats, files.attachments
        )
        self.typed = files.typed
        composer.words_settled.connect(self.typed.count)
        self.typed.changed.connect(composer.show_typed_tokens)
        self.typed.count(composer.text())
        self._window, self._theme, self._files = window, theme, files
        menu, chats = window.menu, window.chats
        menu.attach.triggered.connect(self.attachments.choose_where_typed)
        menu.import_chats.triggered.connect(self.import_chats)
        menu.export_chat.triggered.connect(lambda: self.export(chats.chat_id, chats.title))
        window.sidebar.chats.export_requested.connect(self.export)
        menu.export_all.triggered.connect(lambda: self.export(None, ""))
        chats.current_chat_changed.connect(lambda chat_id, _title: menu.export_chat.setEnabled(chat_id != 0))
        menu.export_chat.setEnabled(chats.chat_id != 0)

    def export(self, chat_id: int | None, title: str) -> ExportDialog:
        """One chat, or all (None)."""
        dialog = ExportDialog(self._theme, self._window, self._files.exports, self._window.banner, chat_id, title)
        dialog.open()
        return dialog

    def import_chats(self) -> ImportDialog:
        dialog = ImportDialog(self._theme, self._window, self._files.imports, self._window.banner)
        dialog.open()
        return dialog
