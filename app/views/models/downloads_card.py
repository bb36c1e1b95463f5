"""Models → Yours: what is on its way, first on the page and only while there is something."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.controllers.models import ModelController
from app.theme import Theme
from app.views.models.download_row import DownloadRow
from app.views.widgets.cards import Card


class DownloadsCard(Card):
    def __init__(self, theme: Theme, models: ModelController, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._models = models
        self._rows: dict[int, DownloadRow] = {}
        models.downloads.changed.connect(self.show_downloads)
        self.show_downloads()

    def show_downloads(self) -> None:
        """Existing rows are updated in place, so that their buttons do not move under the pointer."""
        entries = {entry.id: entry for entry in self._models.downloads.entries}
        for gone in self._rows.keys() - entries.keys():
            row = self._rows.pop(gone)
            row.hide()
            row.deleteLater()
        for key, entry in entries.items():
            if key not in self._rows:
                self._rows[key] = self._download_row()
            self._rows[key].show_entry(entry)
        self.setVisible(bool(entries))

    def _download_row(self) -> DownloadRow:
        row = DownloadRow(self.theme, self)
        row.bind(self._models)
        self.column.addWidget(row)
        return row
