"""Settings → Models: installing from the hub, what is installed, where it comes from."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMessageBox, QVBoxLayout, QWidget

from app.controllers.models import ModelController
from app.settings import Settings
from app.theme import Theme
from app.view_models.model_list import ModelEntry
from app.views.settings.download_row import DownloadRow
from app.views.settings.model_row import FolderRow, ModelRow
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card, Page, Row
from app.views.widgets.fields import LineField, Switch
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.translated import Translated
from app.words.formats import fill, size

_FIELD_PX = 260  # whatever the text's size, so that large text leaves a page its width


class ModelsPage(Translated, Page):
    def __init__(self, theme: Theme, settings: Settings, models: ModelController) -> None:
        super().__init__(theme)
        self._settings = settings
        self._models = models
        self._downloads: dict[int, DownloadRow] = {}
        self.repository = LineField(theme)
        self.install_button = PillButton(theme, Emphasis.PRIMARY)
        self.refresh_button = PillButton(theme, Emphasis.QUIET, "refresh-cw")
        self.add_folder_button = PillButton(theme, Emphasis.PLAIN, "folder-plus")
        self.endpoint = LineField(theme)
        self.token = LineField(theme)
        self.token_in_clear = Switch(theme)
        self._build_install()
        self._build_installed()
        self._build_folders()
        self._build_hub()
        self.end()
        self._connect()
        self._retranslate()

    # Parts

    def _build_install(self) -> None:
        self._install_words = TextLabel(self.theme, TextStyle.BODY)
        self._install_explained = TextLabel(self.theme, TextStyle.FINE)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.repository, 1)
        row.addWidget(self.install_button)
        card = Card(self.theme)
        card.column.setSpacing(8)
        card.column.addWidget(self._install_words)
        card.column.addLayout(row)
        card.column.addWidget(self._install_explained)
        self._download_column = QVBoxLayout()
        self._download_column.setSpacing(10)
        card.column.addLayout(self._download_column)
        self.column.addWidget(card)

    def _build_installed(self) -> None:
        row = QHBoxLayout()
        self._installed_heading = TextLabel(self.theme, TextStyle.HEADING)
        row.addWidget(self._installed_heading, 1)
        row.addWidget(self.refresh_button)
        self.column.addSpacing(8)
        self.column.addLayout(row)
        self._installed = Card(self.theme)
        self.column.addWidget(self._installed)

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

    def _build_hub(self) -> None:
        self._hub_heading = self.add_heading()
        for field in (self.endpoint, self.token):
            field.setMinimumWidth(_FIELD_PX)
        self.token.setEchoMode(LineField.EchoMode.Password)
        self._endpoint_row = Row(self.theme, self.endpoint)
        self._token_row = Row(self.theme, self.token)
        self._token_in_clear_row = Row(self.theme, self.token_in_clear)
        card = Card(self.theme)
        card.add(self._endpoint_row)
        card.add(self._token_row)
        card.add(self._token_in_clear_row)
        self.column.addWidget(card)

    def _connect(self) -> None:
        self.endpoint.setText(self._settings.hub_endpoint)
        self.token.setText(self._settings.hub_token)
        self.repository.returnPressed.connect(self._install)
        self.install_button.clicked.connect(self._install)
        self.repository.textChanged.connect(self._show_install_button)
        self.refresh_button.clicked.connect(self._models.refresh)
        self.add_folder_button.clicked.connect(self._ask_for_folder)
        for field in (self.endpoint, self.token):
            field.editingFinished.connect(self._keep_hub)
        self.token_in_clear.setChecked(self._settings.hub_token_in_clear)
        self.token_in_clear.toggled.connect(self._models.allow_token_in_clear)
        self._models.models_changed.connect(self._show_installed)
        self._models.downloads_changed.connect(self._show_downloads)
        self._settings.changed.connect(lambda name: self._show_folders() if name == "model_folders" else None)
        self._show_install_button()
        self._show_downloads()

    # Installing

    def _show_install_button(self) -> None:
        self.install_button.setEnabled(_is_repository(self.repository.text()))

    def _install(self) -> None:
        if _is_repository(self.repository.text()):
            self._models.install(self.repository.text())
            self.repository.clear()

    def _show_downloads(self) -> None:
        """Existing rows are updated in place, so that their buttons do not move under the pointer."""
        entries = {entry.id: entry for entry in self._models.downloads}
        for gone in self._downloads.keys() - entries.keys():
            row = self._downloads.pop(gone)
            row.hide()
            row.deleteLater()
        for key, entry in entries.items():
            if key not in self._downloads:
                self._downloads[key] = self._download_row(key)
            self._downloads[key].show_entry(entry)

    def _download_row(self, key: int) -> DownloadRow:
        row = DownloadRow(self.theme)
        row.pause_requested.connect(lambda: self._models.pause(key))
        row.resume_requested.connect(lambda: self._models.resume(key))
        row.cancel_requested.connect(lambda: self._models.cancel(key))
        self._download_column.addWidget(row)
        return row

    # Installed

    def _show_installed(self) -> None:
        rows: list[QWidget] = [self._model_row(entry) for entry in self._models.models]
        self._installed.set_rows(rows or [self._nothing_installed()])

    def _model_row(self, entry: ModelEntry) -> ModelRow:
        row = ModelRow(self.theme, entry)
        row.delete_requested.connect(lambda: self.ask_to_delete(entry))
        return row

    def _nothing_installed(self) -> TextLabel:
        words = TextLabel(self.theme, TextStyle.SECONDARY)
        words.setText(self.tr("Nothing is installed yet."))
        return words

    def ask_to_delete(self, entry: ModelEntry) -> QMessageBox:
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIcon(QMessageBox.Icon.Question)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(fill(self.tr("Delete %1?"), entry.name))
        box.setInformativeText(fill(self.tr("This frees %1. It can be installed again."), size(entry.size_bytes)))
        delete = box.addButton(self.tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        delete.clicked.connect(lambda: self._models.delete(entry.folder))
        box.open()
        return box

    # Folders and hub

    def _show_folders(self) -> None:
        while (item := self._folders.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for path in self._settings.model_folders:
            self._folders.addWidget(self._folder_row(path))

    def _folder_row(self, path: str) -> FolderRow:
        row = FolderRow(self.theme, path)
        row.remove_requested.connect(lambda: self._models.remove_folder(path))
        return row

    def _ask_for_folder(self) -> None:
        dialog = QFileDialog(self, self.tr("Folder with models"), str(Path.home()))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._models.add_folder)
        dialog.open()

    def _keep_hub(self) -> None:
        if (self.endpoint.text(), self.token.text()) != (self._settings.hub_endpoint, self._settings.hub_token):
            self._models.set_hub(self.endpoint.text(), self.token.text())
            self.endpoint.setText(self._settings.hub_endpoint)

    def _retranslate(self) -> None:
        self._install_words.setText(self.tr("Install from the Hub"))
        self._install_explained.setText(self.tr("A repository with MLX weights. Several can be installed at once."))
        self.repository.setPlaceholderText("mlx-community/Qwen3-4B-4bit")
        self.repository.setAccessibleName(self.tr("Repository"))
        self.install_button.setText(self.tr("Install"))
        self._installed_heading.setText(self.tr("Installed"))
        self.refresh_button.setText(self.tr("Refresh"))
        self._folders_heading.setText(self.tr("More folders"))
        self._folders_explained.setText(self.tr("Models in these folders are listed too. Nothing in them is changed."))
        self.add_folder_button.setText(self.tr("Add a folder…"))
        self._hub_heading.setText(self.tr("Hub"))
        self._endpoint_row.set_words(self.tr("Address"), self.tr("Leave empty for the public hub."))
        self.endpoint.setPlaceholderText("https://huggingface.co")
        self._token_row.set_words(self.tr("Token"), self.tr("Only for private and gated models. Kept on this machine."))
        self._token_in_clear_row.set_words(
            self.tr("Send the token unencrypted"),
            self.tr("For an http address on another machine. Anyone on the way can read the token."),
        )
        self._show_installed()
        self._show_folders()


def _is_repository(text: str) -> bool:
    """owner/name, as the hub writes it; whether it exists is for the hub to say."""
    owner, slash, name = text.strip().partition("/")
    return bool(owner and slash and name) and "/" not in name and " " not in owner + name
