"""A page in place of the chat, shown until a chat is wanted. Which there are, `main_window` says."""

from __future__ import annotations

from abc import abstractmethod

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.views.shell.shell_window import ShellWindow


class PlacePage(QObject):
    changed = Signal()  # whether it is shown, or its title

    def __init__(self, window: ShellWindow) -> None:
        super().__init__(window)
        self.is_shown = False
        self.changed.connect(window.banner.leave_place)

    @property
    @abstractmethod
    def widget(self) -> QWidget:
        """What is shown; created at first use."""

    @abstractmethod
    def title(self) -> str:
        """For the header."""

    @abstractmethod
    def tab_stops(self) -> list[QWidget]:
        """All in it that takes Tab."""

    def go_back(self) -> bool:
        """Within the page; False: there is nothing to go back from."""
        return False

    def leave(self) -> None:
        self.set_shown(False)

    def escape(self) -> bool:
        """Go back within it, or leave it; False if it is not shown."""
        if self.is_shown and not self.go_back():
            self.leave()
            return True
        return self.is_shown

    def set_shown(self, shown: bool) -> None:
        if shown != self.is_shown:
            self.is_shown = shown
            self.changed.emit()
