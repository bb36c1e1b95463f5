"""The menu of what was deleted lately; choosing an entry brings it back."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from app.controllers.deletions import Deletions
from app.words.formats import fill


class TrashMenu(QObject):
    """Fills itself each time that it is opened."""

    def __init__(self, menu: QMenu, deletions: Deletions) -> None:
        super().__init__(menu)
        self._menu = menu
        self._deletions = deletions
        menu.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        self._menu.clear()
        for deletion in self._deletions.latest():
            title = deletion.title if deletion.whole_chat else fill(self.tr("Messages in “%1”"), deletion.title)
            action = self._menu.addAction(title.replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, deletion=deletion: self._deletions.restore(deletion))
        if self._menu.isEmpty():
            self._menu.addAction(self.tr("Nothing in the last 30 days")).setEnabled(False)
