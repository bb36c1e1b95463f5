"""Settings → Models: a repository to install, and the downloads."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.controllers.downloads import NEWEST
from app.controllers.models import ModelController
from app.theme import Theme
from app.view_models.downloads import repository_in, revision_in
from app.views.settings.download_row import DownloadRow
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card
from app.views.widgets.fields import LineField
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.translated import Translated


class InstallCard(Translated, Card):
    def __init__(self, theme: Theme, models: ModelController, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._models = models
        self._controller = models.downloads
        self._rows: dict[int, DownloadRow] = {}
        self.repository = LineField(theme)
        self.install_button = PillButton(theme, Emphasis.PRIMARY)
        self._title = TextLabel(theme, TextStyle.BODY)
        self._explained = TextLabel(theme, TextStyle.FINE)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.repository, 1)
        row.addWidget(self.install_button)
        self._download_column = QVBoxLayout()
        self._download_column.setSpacing(10)
        self.column.setSpacing(8)
        self.column.addWidget(self._title)
        self.column.addLayout(row)
        self.column.addWidget(self._explained)
        self.column.addLayout(self._download_column)
        self.repository.returnPressed.connect(self._install)
        self.repository.textChanged.connect(self._show_button)
        self.install_button.clicked.connect(self._install)
        self._controller.changed.connect(self._show_downloads)
        self._retranslate()
        self._show_button()
        self._show_downloads()

    def _show_button(self) -> None:
        self.install_button.setEnabled(bool(repository_in(self.repository.text())))

    def _install(self) -> None:
        text = self.repository.text()
        if repository := repository_in(text):
            self._controller.install(repository, revision_in(text) or NEWEST)
            self.repository.clear()

    def _show_downloads(self) -> None:
        """Existing rows are updated in place, so that their buttons do not move under the pointer."""
        entries = {entry.id: entry for entry in self._controller.entries}
        for gone in self._rows.keys() - entries.keys():
            row = self._rows.pop(gone)
            row.hide()
            row.deleteLater()
        for key, entry in entries.items():
            if key not in self._rows:
                self._rows[key] = self._download_row(key)
            self._rows[key].show_entry(entry)

    def _download_row(self, key: int) -> DownloadRow:
        row = DownloadRow(self.theme)
        row.bind(self._models)
        self._download_column.addWidget(row)
        return row

    def _retranslate(self) -> None:
        self._title.setText(self.tr("Install from the Hub"))
        self._explained.setText(
            self.tr(
                "A repository with MLX weights, by its name or the address of its page."
                " Several can be installed at once."
            )
        )
        self.repository.setPlaceholderText("mlx-community/Qwen3-4B-4bit")
        self.repository.setAccessibleName(self.tr("Repository"))
        self.install_button.setText(self.tr("Install"))
