"""One installed model, and one folder that models are looked for in."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Theme
from app.view_models.model_list import ModelEntry
from app.views.widgets.buttons import IconButton
from app.views.widgets.labels import ElidedLabel, TextLabel, TextStyle
from app.words.formats import fill
from app.words.models import model_details
from app.words.notices_for_errors import notice_for


class ModelRow(QWidget):
    """Does not follow the language: the page creates all rows again when the list or the language changes."""

    delete_requested = Signal()

    def __init__(self, theme: Theme, entry: ModelEntry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.details = TextLabel(theme, TextStyle.FINE)
        self.details.setText(self._details(entry))
        self.delete_button = IconButton(theme, "trash-2", 28)
        self.delete_button.set_name(fill(self.tr("Delete %1"), entry.name))
        self.delete_button.setVisible(entry.can_delete)
        self.delete_button.clicked.connect(self.delete_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addLayout(self._words(theme, entry), 1)
        row.addWidget(self.delete_button)

    def _words(self, theme: Theme, entry: ModelEntry) -> QVBoxLayout:
        name = ElidedLabel(theme, TextStyle.BODY, Qt.TextElideMode.ElideMiddle)
        name.setText(entry.name)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(name)
        words.addWidget(self.details)
        if entry.error is not None:
            problem = TextLabel(theme, TextStyle.FAULT)
            problem.setText(notice_for(entry.error).sentence)
            words.addWidget(problem)
        return words

    def _details(self, entry: ModelEntry) -> str:
        parts = model_details(entry.size_bytes, entry.bits, entry.source, entry.drafter)
        if entry.is_main:
            parts.append(self.tr("main model now"))
        if entry.is_draft:
            parts.append(self.tr("draft model now"))
        return " · ".join(parts)


class FolderRow(QWidget):
    remove_requested = Signal()

    def __init__(self, theme: Theme, path: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name = ElidedLabel(theme, TextStyle.BODY, Qt.TextElideMode.ElideMiddle)
        name.setText(path)
        self.remove_button = IconButton(theme, "x", 28)
        self.remove_button.set_name(fill(self.tr("No longer look in %1"), path))
        self.remove_button.clicked.connect(self.remove_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(name, 1)
        row.addWidget(self.remove_button)
