"""The menu of what was deleted lately: an entry brings it back, as it says, and the last one shows all."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from app.controllers.deletions import Deletions
from app.words.trash import restore_words

SHOW_ALL = "show_all"


class TrashMenu(QObject):
    """Fills itself each time that it is opened."""

    def __init__(self, menu: QMenu, deletions: Deletions, show_all: Callable[[], object]) -> None:
        super().__init__(menu)
        self._menu = menu
        self._deletions = deletions
        self._show_all = show_all
        menu.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        self._menu.clear()
        for deletion in self._deletions.latest():
            action = self._menu.addAction(restore_words(deletion))
            action.triggered.connect(lambda _checked=False, deletion=deletion: self._deletions.restore(deletion))
        if self._menu.isEmpty():
            self._menu.addAction(self.tr("Nothing in the last 30 days")).setEnabled(False)
        self._menu.addSeparator()
        show_all = self._menu.addAction(self.tr("Show All…"))
        show_all.setObjectName(SHOW_ALL)
        show_all.triggered.connect(self._show_all)
