"""Says that there is a newer Hunch, what is new in it, and how this copy is updated."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QObject, QUrl
from PySide6.QtGui import QDesktopServices

from app.controllers.updates import Updates
from app.system.updates import Channel, UpdateNotice, update_command
from app.theme import Theme
from app.views.shell.shell_window import ShellWindow
from app.views.widgets import clipboard
from app.views.widgets.banner import BannerText
from app.views.widgets.dialog import Dialog, DialogText
from app.words.formats import fill
from app.words.languages import Translation


class UpdateOffer(QObject):
    def __init__(
        self, window: ShellWindow, theme: Theme, updates: Updates, channel: Channel, translation: Translation
    ) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._updates = updates  # keeps the object alive
        self._channel = channel
        self._translation = translation
        updates.found.connect(self._offer)

    def _offer(self, notice: UpdateNotice) -> None:
        self._window.banner.show_offer(lambda: _available(notice), lambda: self._show_notes(notice))

    def _show_notes(self, notice: UpdateNotice) -> None:
        command = update_command()
        dialog = Dialog(self._theme, self._window, lambda: _notes(notice, self._translation.language, command))
        dialog.accepted.connect(lambda: self._open(notice))
        dialog.other_chosen.connect(lambda: clipboard.copy(command, self._window))
        dialog.open()

    def _open(self, notice: UpdateNotice) -> None:
        QDesktopServices.openUrl(QUrl(self._channel.pages + notice.page, QUrl.ParsingMode.StrictMode))


def _available(notice: UpdateNotice) -> BannerText:
    return BannerText(
        fill(QCoreApplication.translate("Updates", "Hunch %1 is available"), notice.version),
        button=QCoreApplication.translate("Updates", "What's New"),
    )


def _notes(notice: UpdateNotice, language: str, command: str) -> DialogText:
    how = QCoreApplication.translate("Updates", "To update, run in a terminal: %1")
    return DialogText(
        fill(QCoreApplication.translate("Updates", "Hunch %1"), notice.version),
        notice.notes_in(language),
        fill(how, command) if command else "",
        act=QCoreApplication.translate("Updates", "Open Page"),
        cancel=QCoreApplication.translate("Updates", "Close"),
        other=QCoreApplication.translate("Updates", "Copy Command") if command else "",
    )
