"""Models → Yours: what is on its way, what is installed, and the folders that are looked in."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QVBoxLayout

from app.controllers.models import ModelController
from app.settings import Settings
from app.theme import COLUMN_PX, Theme
from app.view_models.model_list import ModelEntry
from app.views.models.download_row import DownloadsCard
from app.views.models.installed_card import InstalledCard
from app.views.models.model_facts import uses_text
from app.views.models.model_row import FolderRow
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card, Page
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.translated import Translated
from app.words.formats import fill, size
from app.words.model_names import human_name


class ModelsPage(Translated, Page):
    most_px = COLUMN_PX

    def __init__(self, theme: Theme, settings: Settings, models: ModelController) -> None:
        super().__init__(theme)
        self._settings = settings
        self._models = models
        self.downloads = DownloadsCard(theme, models)
        self.installed = InstalledCard(theme, models)
        self.refresh_button = PillButton(theme, Emphasis.PLAIN, "refresh-cw")
        self.add_folder_button = PillButton(theme, Emphasis.PLAIN, "folder-plus")
        self.title.hide()  # the header says it
        self.column.setContentsMargins(28, 12, 28, 28)
        self.column.addWidget(self.downloads)
        self._build_installed()
        self._build_folders()
        self.end()
        self._connect()
        self._retranslate()

    # Parts

    def _build_installed(self) -> None:
        row = QHBoxLayout()
        self._installed_heading = TextLabel(self.theme, TextStyle.HEADING)
        row.addWidget(self._installed_heading, 1)
        row.addWidget(self.refresh_button)
        self.column.addLayout(row)
        self.column.addWidget(self.installed)

    def _build_folders(self) -> None:
        self._folders_heading = self.add_heading()
        self._folders_explained = TextLabel(self.theme, TextStyle.FINE)
        self._folders = QVBoxLayout()
        foot = QHBoxLayout()
        foot.addWidget(self._folders_explained, 1)
        foot.addWidget(self.add_folder_button)
        card = Card(self.theme)
        card.column.addLayout(self._folders)
        card.column.addLayout(foot)
        self.column.addWidget(card)

    def _connect(self) -> None:
        self.refresh_button.clicked.connect(self._models.refresh)
        self.add_folder_button.clicked.connect(self._ask_for_folder)
        self.installed.delete_requested.connect(self.ask_to_delete)
        self._settings.changed.connect(lambda name: self._show_folders() if name == "model_folders" else None)

    def showEvent(self, event: QShowEvent) -> None:
        """Other programs may have added or deleted models."""
        super().showEvent(event)
        self._models.refresh()

    # What is installed

    def ask_to_delete(self, entry: ModelEntry) -> Dialog:
        def text() -> DialogText:
            frees = fill(self.tr("Frees %1."), size(entry.size_bytes))
            title = fill(self.tr("Delete %1?"), human_name(entry.name))
            return DialogText(title, uses_text(entry), frees, self.tr("Delete"), self.tr("Cancel"))

        dialog = Dialog(self.theme, self, text, danger=True)
        dialog.accepted.connect(lambda: self._models.delete(entry.folder))
        dialog.open()
        return dialog

    # Folders

    def _show_folders(self) -> None:
        while (item := self._folders.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for path in self._settings.model_folders:
            self._folders.addWidget(self._folder_row(path))

    def _folder_row(self, path: str) -> FolderRow:
        row = FolderRow(self.theme, path)
        row.remove_requested.connect(lambda: self._models.sources.remove_folder(path))
        return row

    def _ask_for_folder(self) -> None:
        dialog = QFileDialog(self, self.tr("Models folder"), str(Path.home()))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._models.sources.add_folder)
        dialog.open()

    def _retranslate(self) -> None:
        self._installed_heading.setText(self.tr("Installed"))
        self.refresh_button.setText(self.tr("Refresh"))
        self._folders_heading.setText(self.tr("More folders"))
        self._folders_explained.setText(self.tr("Their models are listed, never changed."))
        self.add_folder_button.setText(self.tr("Add folder…"))
        self._show_folders()
