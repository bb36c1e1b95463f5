"""Models → Find: a repository to install, by its name or address."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.controllers.downloads import NEWEST
from app.controllers.models import ModelController
from app.theme import Theme
from app.view_models.downloads import repository_in, revision_in
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card
from app.views.widgets.fields import LineField
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.translated import Translated


class InstallCard(Translated, Card):
    installing = Signal()

    def __init__(self, theme: Theme, models: ModelController, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._downloads = models.downloads
        self.repository = LineField(theme)
        self.install_button = PillButton(theme, Emphasis.PLAIN)
        self._title = TextLabel(theme, TextStyle.BODY)
        self._explained = TextLabel(theme, TextStyle.FINE)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.repository, 1)
        row.addWidget(self.install_button)
        self.column.setSpacing(8)
        self.column.addWidget(self._title)
        self.column.addLayout(row)
        self.column.addWidget(self._explained)
        self.repository.returnPressed.connect(self._install)
        self.repository.textChanged.connect(self._show_button)
        self.install_button.clicked.connect(self._install)
        self._retranslate()
        self._show_button()

    def _show_button(self) -> None:
        self.install_button.setEnabled(bool(repository_in(self.repository.text())))

    def _install(self) -> None:
        text = self.repository.text()
        if repository := repository_in(text):
            self._downloads.install(repository, revision_in(text) or NEWEST)
            self.repository.clear()
            self.installing.emit()

    def _retranslate(self) -> None:
        self._title.setText(self.tr("Install from the Hub"))
        self._explained.setText(self.tr("Repository name or page address."))
        self.repository.setPlaceholderText("mlx-community/Qwen3-4B-4bit")
        self.repository.setAccessibleName(self.tr("Repository"))
        self.install_button.setText(self.tr("Install"))
