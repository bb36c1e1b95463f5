"""Connects the window with what comes from files and goes to them: attachments, export, import."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.controllers.files import FileControllers
from app.theme import Theme
from app.views.shell.attachment_wiring import AttachmentWiring
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
        window.send_text = files.attachments.send
        window.menu.attach.triggered.connect(self.attachments.choose_files)
